//! Grace periods: when nobody can still look at what was taken out of a shared structure.
//!
//! In: readers that come and go, and writers that ask. Out: a stamp for what was taken out, and the oldest
//! stamp that a reader may still see. Owned: one word per reader, in a cache line of its own, which only that
//! reader writes. Bounded by: the readers that joined. Lost: nothing.
//!
//! The scheme is epoch-based reclamation (K. Fraser, "Practical lock-freedom", UCAM-CL-TR-579, section 5.2.3)
//! in the form of FreeBSD's epoch(9): a reader announces the time it came, what is taken out is stamped with
//! the time after, and is free once every reader that is in came later than that. Time is a counter that
//! writers move on. A reader that stays holds back what is stamped from then on; how much that may be is up
//! to the structure.
//!
//! Why it is sound, in terms of the C++20 memory model:
//! * A reader stores its time, then passes a sequentially consistent fence, then looks. A writer takes out,
//!   passes such a fence, then scans. Either the scan sees the reader's time, or the reader's fence comes
//!   after the writer's and the reader sees that the thing is gone.
//! * The stamp is read after a fence that follows the taking out. A reader with a later time has read the
//!   counter after it moved past the stamp, so its fence follows the stamp's, and it sees that the thing is
//!   gone, too.
//! * Every store of a reader's word is a release and the scan's load an acquire: what the reader looked at
//!   happened before the place is used again.

use crate::sync::{Arc, AtomicU64, Mutex, MutexGuard, Ordering, fence};

/// The word of a reader that is not in.
const OUT: u64 = u64::MAX;

/// One reader's word. Two cache lines apart, since processors fetch them in pairs.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Place {
    since: AtomicU64,
}

impl Place {
    /// The reader looks no longer at anything.
    #[inline]
    pub(crate) fn leave(&self) {
        self.since.store(OUT, Ordering::Release);
    }
}

/// The readers and writers of one structure.
#[derive(Debug)]
pub(crate) struct Epoch {
    now: AtomicU64,
    places: Mutex<Vec<Arc<Place>>>,
}

impl Epoch {
    pub(crate) fn new() -> Self {
        Self { now: AtomicU64::new(0), places: Mutex::new(Vec::new()) }
    }

    /// A place for one more reader, who is not in.
    pub(crate) fn join(&self) -> Arc<Place> {
        let place = Arc::new(Place { since: AtomicU64::new(OUT) });
        self.places().push(Arc::clone(&place));
        place
    }

    /// Forgets a reader, who is not in.
    pub(crate) fn part(&self, place: &Arc<Place>) {
        self.places().retain(|other| !Arc::ptr_eq(other, place));
    }

    /// The reader is in: from here to [`Place::leave`], nothing that it can find is used again.
    #[inline]
    pub(crate) fn enter(&self, place: &Place) {
        place.since.store(self.now.load(Ordering::Relaxed), Ordering::Release);
        fence(Ordering::SeqCst);
    }

    /// The stamp of what the caller has just taken out.
    pub(crate) fn stamp(&self) -> u64 {
        fence(Ordering::SeqCst);
        self.now.load(Ordering::Relaxed)
    }

    /// Moves time on and looks who is in: what the caller knows to be taken out with a stamp below the
    /// answer is seen by nobody.
    pub(crate) fn horizon(&self) -> u64 {
        self.now.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.oldest()
    }

    /// By how many steps the reader that came first is behind; 0 when none is in.
    pub(crate) fn lag(&self) -> u64 {
        match self.oldest() {
            OUT => 0,
            oldest => self.now.load(Ordering::Relaxed).saturating_sub(oldest),
        }
    }

    /// Readers that joined.
    pub(crate) fn readers(&self) -> usize {
        self.places().len()
    }

    fn oldest(&self) -> u64 {
        self.places().iter().map(|place| place.since.load(Ordering::Acquire)).min().unwrap_or(OUT)
    }

    fn places(&self) -> MutexGuard<'_, Vec<Arc<Place>>> {
        self.places.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
