//! One value that all threads read and hardly anybody writes: settings, rules, lists of listeners.
//!
//! In: a new value as a whole. Out: the newest, to whoever looks. Owned: the newest value, and per [`View`] the
//! one that it looked at last. Bounded by: one value per view that has not looked since. Lost: nothing.
//!
//! A look is one load of a version, which stays in the cache of every core until somebody writes. Only after a
//! change the mutex is taken, once per view, so it needs no hazard pointers and no `unsafe`.

use crate::sync::{Arc, AtomicU64, Mutex, MutexGuard, Ordering};

#[derive(Debug)]
struct Newest<T> {
    version: AtomicU64,
    value: Mutex<Arc<T>>,
}

/// A value that is replaced as a whole. A handle: clones are the same value.
#[derive(Debug)]
pub struct Snapshot<T>(Arc<Newest<T>>);

impl<T> Snapshot<T> {
    /// A snapshot of `value`.
    pub fn new(value: T) -> Self {
        Self(Arc::new(Newest { version: AtomicU64::new(0), value: Mutex::new(Arc::new(value)) }))
    }

    /// Replaces the value. Every view takes it up with its next look.
    pub fn set(&self, value: T) {
        self.update(|_| value);
    }

    /// Replaces the value by what `change` makes of it; two changes never overlap.
    pub fn update(&self, change: impl FnOnce(&T) -> T) {
        let mut newest = self.lock();
        *newest = Arc::new(change(&newest));
        // Under the mutex, so that the version never runs ahead of the value.
        let version = self.0.version.load(Ordering::Relaxed);
        self.0.version.store(version.wrapping_add(1), Ordering::Release);
    }

    /// The newest value, for a single use. Takes the mutex.
    pub fn get(&self) -> Arc<T> {
        Arc::clone(&self.lock())
    }

    /// A view for a thread that looks often.
    pub fn view(&self) -> View<T> {
        let newest = self.lock();
        let seen = self.0.version.load(Ordering::Relaxed);
        View { snapshot: self.clone(), seen, value: Arc::clone(&newest) }
    }

    fn lock(&self) -> MutexGuard<'_, Arc<T>> {
        self.0.value.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl<T> Clone for Snapshot<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// One thread's view of a [`Snapshot`].
#[derive(Debug)]
pub struct View<T> {
    snapshot: Snapshot<T>,
    seen: u64,
    value: Arc<T>,
}

impl<T> View<T> {
    /// Looks whether there is a newer value, and returns the newest. Once per batch.
    #[inline]
    pub fn look(&mut self) -> &T {
        if self.snapshot.0.version.load(Ordering::Acquire) != self.seen {
            self.renew();
        }
        &self.value
    }

    /// The value of the last look.
    #[inline]
    pub fn seen(&self) -> &T {
        &self.value
    }

    #[cold]
    fn renew(&mut self) {
        let newest = self.snapshot.lock();
        let seen = self.snapshot.0.version.load(Ordering::Relaxed);
        let value = Arc::clone(&newest);
        drop(newest);
        self.seen = seen;
        self.value = value;
    }
}
