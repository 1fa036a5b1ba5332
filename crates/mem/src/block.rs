//! A block of memory with one writer and any number of readers.
//!
//! In: bytes, written by the one [`Block`] into its spare part. Out: [`Shared`] handles that read what
//! was frozen and keep the memory alive. Owned: the memory, until the writer and the last handle are
//! gone; then it goes home to its pool. Bounded by: the pool's block size. Lost: nothing; frozen bytes
//! never change while anyone can see them.
//!
//! The rule that makes sharing sound: the block is split at `frozen`. Below it nobody writes, at and
//! above it only the writer reads or writes, and the border only moves up.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

use crate::memory::Memory;
use crate::pool::Home;

#[derive(Debug)]
struct Inner {
    // Invariant: bytes below `frozen` are never written while `self` lives; bytes at or above it are
    // touched by the one `Block` alone. Taken out only by `Drop`.
    memory: ManuallyDrop<Memory>,
    // Invariant: at most `memory.len()`; stored to by the one `Block` alone; only grows.
    frozen: AtomicUsize,
    home: Arc<Home>,
}

impl Inner {
    fn frozen(&self) -> &[u8] {
        // Acquire pairs with the release in `Block::commit`: whoever sees the length sees the bytes.
        let len = self.frozen.load(Ordering::Acquire);
        // SAFETY: `frozen` never exceeds the memory's size, and what lies below it is never written
        // again while `self` lives (invariants of `Inner`).
        unsafe { self.memory.head(len) }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: `drop` runs once and nothing touches `memory` after this.
        let memory = unsafe { ManuallyDrop::take(&mut self.memory) };
        self.home.give_back(memory);
    }
}

/// The writer's end of a block. Exactly one exists for each block in use.
#[derive(Debug)]
pub struct Block {
    inner: Arc<Inner>,
    // Invariant: equals `inner.frozen`; a copy, so that the writer needs no atomic load.
    filled: usize,
}

impl Block {
    pub(crate) fn new(memory: Memory, home: Arc<Home>) -> Self {
        let inner = Inner { memory: ManuallyDrop::new(memory), frozen: AtomicUsize::new(0), home };
        Self { inner: Arc::new(inner), filled: 0 }
    }

    /// The part that is not frozen, to be written. Its content is arbitrary but initialised: zeros, or
    /// what an earlier use of the memory left.
    #[inline]
    pub fn spare(&mut self) -> &mut [u8] {
        // SAFETY: `filled <= len`. The bytes from `filled` on are not frozen, so no `Shared` reads them,
        // and `&mut self` on the only writer makes this borrow of them the only one.
        unsafe { self.inner.memory.tail_mut(self.filled) }
    }

    /// Freezes the first `n` bytes of the spare part and returns them. The rest stays as it is, now at
    /// the front of the spare part.
    ///
    /// # Panics
    /// If `n` is more than the spare part holds.
    #[inline]
    pub fn commit(&mut self, n: usize) -> &[u8] {
        assert!(n <= self.spare_len(), "commit of more bytes than the block has room for");
        let from = self.filled;
        self.filled += n;
        // Release pairs with the acquire in `Inner::frozen`.
        self.inner.frozen.store(self.filled, Ordering::Release);
        &self.frozen()[from..]
    }

    /// Everything frozen so far.
    #[inline]
    pub fn frozen(&self) -> &[u8] {
        // SAFETY: `filled` equals `frozen`, and what lies below it is never written again while the
        // block lives (invariants of `Inner`).
        unsafe { self.inner.memory.head(self.filled) }
    }

    /// How many bytes are frozen.
    #[inline]
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// How many bytes are not.
    #[inline]
    pub fn spare_len(&self) -> usize {
        self.inner.memory.len() - self.filled
    }

    /// The size of the block.
    pub fn capacity(&self) -> usize {
        self.inner.memory.len()
    }

    /// A handle for readers. One reference count, no allocation.
    pub fn share(&self) -> Shared {
        Shared { inner: Arc::clone(&self.inner) }
    }
}

/// A reader's handle to a block: sees what is frozen, also what is frozen later, and keeps it alive.
#[derive(Debug, Clone)]
pub struct Shared {
    inner: Arc<Inner>,
}

impl Shared {
    /// Everything frozen so far. A later call may return more, with the same bytes in front.
    #[inline]
    pub fn frozen(&self) -> &[u8] {
        self.inner.frozen()
    }

    /// Where `bytes` starts within the block, if all of it lies in the frozen part.
    ///
    /// Compares addresses and nothing else. An empty slice is inside when it starts at or before the end
    /// of the frozen part.
    #[inline]
    pub fn range_of(&self, bytes: &[u8]) -> Option<u32> {
        let at = bytes.as_ptr().addr().checked_sub(self.inner.memory.address())?;
        let end = at.checked_add(bytes.len())?;
        // A block is smaller than 2 GiB, so an offset within it fits.
        if end <= self.inner.frozen.load(Ordering::Acquire) { u32::try_from(at).ok() } else { None }
    }

    /// Where `bytes` starts within the block, as [`range_of`](Self::range_of) says, and the sixteen bytes
    /// from there on in memory's order, unless the frozen part ends before.
    #[inline]
    pub fn locate(&self, bytes: &[u8]) -> Option<(u32, Option<u128>)> {
        let at = bytes.as_ptr().addr().checked_sub(self.inner.memory.address())?;
        let frozen = self.inner.frozen();
        if at > frozen.len() || bytes.len() > frozen.len() - at {
            return None;
        }
        let head =
            frozen.get(at..).and_then(|rest| rest.first_chunk()).map(|head| u128::from_le_bytes(*head));
        // A block is smaller than 2 GiB, so an offset within it fits.
        Some((at as u32, head))
    }

    /// Whether both handles are to the same block.
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// The size of the block, frozen or not: what this handle keeps from being reused.
    pub fn capacity(&self) -> usize {
        self.inner.memory.len()
    }

    /// The bytes frozen at this moment as [`Bytes`], without a copy. Allocates once, for the handle.
    pub fn into_bytes(self) -> Bytes {
        Bytes::from_owner(Frozen(self))
    }
}

struct Frozen(Shared);

impl AsRef<[u8]> for Frozen {
    fn as_ref(&self) -> &[u8] {
        self.0.frozen()
    }
}

#[cfg(test)]
mod tests;
