//! The primitives that the shared structures are built on. Their loom tests compile the same files against
//! loom's, so that every order in which threads can meet is tried.

pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// std's cell with the access of loom's, which sees two threads that touch it at once.
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Shows the place to a reader.
    #[inline]
    pub(crate) fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Shows the place to its only user.
    #[inline]
    pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

/// How often a reader looks at a record that is being changed before it leaves it out.
pub(crate) const LOOKS: usize = 64;

/// Another thread is about to finish.
#[inline]
pub(crate) fn spin() {
    std::hint::spin_loop();
}
