//! The way home: where unused items wait until their owner takes them again.
//!
//! In: items, from whatever thread let go of them last. Out: the item returned last (its memory is the
//! warmest), to the one owner. Owned: the waiting items. Bounded by: the number of items the owner ever
//! made; the list is allocated for all of them at once. Lost: nothing; after [`Returns::close`] an item
//! that comes back is handed to its caller, who frees it.
//!
//! The primitives come from `crate::sync`, so that a test can compile this same file against loom.

use std::time::Duration;

use crate::sync::{Condvar, Mutex, MutexGuard};

#[derive(Debug)]
struct State<T> {
    waiting: Vec<T>,
    closed: bool,
}

/// A last-in, first-out list of returned items with one taker.
#[derive(Debug)]
pub(crate) struct Returns<T> {
    state: Mutex<State<T>>,
    returned: Condvar,
}

impl<T> Returns<T> {
    /// An empty list with room for `capacity` items.
    pub(crate) fn new(capacity: usize) -> Self {
        let state = State { waiting: Vec::with_capacity(capacity), closed: false };
        Self { state: Mutex::new(state), returned: Condvar::new() }
    }

    /// Gives an item back. `Err(item)` when the owner is gone.
    pub(crate) fn give_back(&self, item: T) -> Result<(), T> {
        let mut state = self.lock();
        if state.closed {
            return Err(item);
        }
        state.waiting.push(item);
        drop(state);
        self.returned.notify_one();
        Ok(())
    }

    /// Takes the item that came back last.
    pub(crate) fn take(&self) -> Option<T> {
        self.lock().waiting.pop()
    }

    /// Waits until an item is there, at most for `limit`. Returns whether one is.
    pub(crate) fn wait(&self, limit: Duration) -> bool {
        let state = self.lock();
        if !state.waiting.is_empty() {
            return true;
        }
        let (state, _) =
            self.returned.wait_timeout(state, limit).unwrap_or_else(std::sync::PoisonError::into_inner);
        !state.waiting.is_empty()
    }

    /// Refuses further items and returns those that wait.
    pub(crate) fn close(&self) -> Vec<T> {
        let mut state = self.lock();
        state.closed = true;
        std::mem::take(&mut state.waiting)
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
