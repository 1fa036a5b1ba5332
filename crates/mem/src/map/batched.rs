//! A guard per batch for a loop that is called back, and so has no scope to keep a guard in.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};

use super::Reader;

/// A reader that enters with the first look-up of a batch and leaves when told that the batch has ended.
///
/// What a look-up shows borrows from this, and leaving needs it back, so nothing shown is kept for the next batch.
/// Who owns one leaves before each wait.
#[derive(Debug)]
pub struct Batched<K, V, S = foldhash::fast::RandomState> {
    reader: Reader<K, V, S>,
    inside: bool,
}

impl<K, V, S> Batched<K, V, S> {
    pub(super) const fn new(reader: Reader<K, V, S>) -> Self {
        Self { reader, inside: false }
    }

    /// The batch has ended.
    #[inline]
    pub fn leave(&mut self) {
        if self.inside {
            self.inside = false;
            self.reader.place.leave();
        }
    }
}

impl<K: Hash + Eq, V, S: BuildHasher> Batched<K, V, S> {
    /// The value of a key, to be looked at until the batch ends.
    #[inline]
    pub fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        if !self.inside {
            self.reader.shared.epoch.enter(&self.reader.place);
            self.inside = true;
        }
        // SAFETY: the reader is in, and stays in while the answer borrows from `self`: to leave takes `&mut self`.
        unsafe { self.reader.shared.get(key) }
    }
}

impl<K, V, S> Drop for Batched<K, V, S> {
    fn drop(&mut self) {
        self.leave();
    }
}
