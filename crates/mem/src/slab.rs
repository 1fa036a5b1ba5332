//! Records of one thread that others may look at, without a lock and without garbage.
//!
//! * In: small records of one [`Writer`]: inserted, changed often, removed. Out: copies, to any number of
//!   [`Slab`] handles on other threads; a handle to a record that is gone, or whose slot has another record now,
//!   is told so.
//! * Owned: all slots, allocated when the slab is made. Bounded by: their number.
//! * Lost: records for which there is no slot: the writer gets `None`, and it is counted.
//!
//! Slots never change their type, so looking at one that is in use again is harmless; a version says whether it
//! happened. That is what FreeBSD came to for its connections, where deferred frees were too many (D33022). The
//! version is a sequence lock (H. Boehm, "Can seqlocks get along with programming language memory models?",
//! MSPC 2012, section 4): the words are atomics, so that a torn look is a retry and not a data race. The writer
//! never waits.

use crate::sync::{Arc, AtomicU64, AtomicUsize, LOOKS, Ordering, fence};

/// A record as `N` words.
pub trait Record<const N: usize>: Sized {
    /// The words of the record.
    fn to_words(&self) -> [u64; N];

    /// The record of such words. Only ever given what [`to_words`](Self::to_words) made.
    fn from_words(words: [u64; N]) -> Self;
}

/// Names a record: its slot, and which of those that were there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Handle {
    slot: u32,
    /// Odd, as in [`Slot::version`] shifted by [`CHANGES`].
    life: u32,
}

impl Handle {
    /// The handle as a number, for a name that leaves the process.
    pub const fn to_bits(self) -> u64 {
        (self.slot as u64) << 32 | self.life as u64
    }

    /// The handle of such a number.
    pub const fn from_bits(bits: u64) -> Self {
        Self { slot: (bits >> 32) as u32, life: bits as u32 }
    }
}

/// Bits of a version that count changes; those above count lives: a life begins and ends with one more.
const CHANGES: u32 = 32;

#[derive(Debug)]
struct Slot<const N: usize> {
    /// Life in the upper half: odd while there is a record. Changes in the lower half: odd while one is made.
    version: AtomicU64,
    words: [AtomicU64; N],
}

#[derive(Debug)]
struct Slots<const N: usize> {
    slots: Box<[Slot<N>]>,
    /// Slots that ever had a record: the others need not be looked at.
    used: AtomicUsize,
    live: AtomicUsize,
    refused: AtomicU64,
}

/// Any thread's way to the records. A handle: clones are the same slab.
#[derive(Debug)]
pub struct Slab<const N: usize>(Arc<Slots<N>>);

/// The one thread that writes.
#[derive(Debug)]
pub struct Writer<const N: usize> {
    slab: Slab<N>,
    free: Vec<u32>,
}

/// A slab of at most `capacity` records of `N` words, for its writer.
///
/// # Panics
/// If `capacity` is more than `u32::MAX`.
pub fn slab<const N: usize>(capacity: usize) -> Writer<N> {
    assert!(u32::try_from(capacity).is_ok(), "a slab has at most 4 Gi records");
    let slots = (0..capacity)
        .map(|_| Slot { version: AtomicU64::new(0), words: std::array::from_fn(|_| AtomicU64::new(0)) })
        .collect();
    let slots =
        Slots { slots, used: AtomicUsize::new(0), live: AtomicUsize::new(0), refused: AtomicU64::new(0) };
    Writer { slab: Slab(Arc::new(slots)), free: Vec::new() }
}

impl<const N: usize> Writer<N> {
    /// The readers' handle.
    pub fn slab(&self) -> Slab<N> {
        self.slab.clone()
    }

    /// Shows a record. `None` when all slots are taken.
    pub fn insert(&mut self, record: &impl Record<N>) -> Option<Handle> {
        let slots = &*self.slab.0;
        let number = match self.free.pop() {
            Some(number) => number,
            None => {
                let used = slots.used.load(Ordering::Relaxed);
                if used == slots.slots.len() {
                    slots.refused.fetch_add(1, Ordering::Relaxed);
                    return None;
                }
                slots.used.store(used + 1, Ordering::Release);
                used as u32
            }
        };
        let slot = &slots.slots[number as usize];
        let life = ((slot.version.load(Ordering::Relaxed) >> CHANGES) as u32).wrapping_add(1);
        slot.write(life, Some(record.to_words()));
        slots.live.fetch_add(1, Ordering::Relaxed);
        Some(Handle { slot: number, life })
    }

    /// Changes a record. Returns whether it was there.
    #[inline]
    pub fn update(&mut self, handle: Handle, record: &impl Record<N>) -> bool {
        let Some(slot) = self.slab.0.of(handle) else { return false };
        slot.write(handle.life, Some(record.to_words()));
        true
    }

    /// Removes a record. Returns whether it was there.
    pub fn remove(&mut self, handle: Handle) -> bool {
        let Some(slot) = self.slab.0.of(handle) else { return false };
        slot.write(handle.life.wrapping_add(1), None);
        self.free.push(handle.slot);
        self.slab.0.live.fetch_sub(1, Ordering::Relaxed);
        true
    }
}

impl<const N: usize> Drop for Writer<N> {
    /// What nobody keeps up to date any more is no longer shown.
    fn drop(&mut self) {
        let slots = &*self.slab.0;
        for slot in slots.slots.iter().take(slots.used.load(Ordering::Relaxed)) {
            let life = (slot.version.load(Ordering::Relaxed) >> CHANGES) as u32;
            if life % 2 == 1 {
                slot.write(life.wrapping_add(1), None);
            }
        }
        slots.live.store(0, Ordering::Relaxed);
    }
}

impl<const N: usize> Slab<N> {
    /// A copy of the record; `None` when it is gone, or changes faster than it can be read.
    #[inline]
    pub fn get<T: Record<N>>(&self, handle: Handle) -> Option<T> {
        let slot = self.0.slots.get(handle.slot as usize)?;
        let (life, words) = slot.read()?;
        (life == handle.life).then(|| T::from_words(words))
    }

    /// Gives a copy of every record to `each`, each as it was at some moment of the call.
    pub fn each<T: Record<N>>(&self, mut each: impl FnMut(Handle, T)) {
        let used = self.0.used.load(Ordering::Acquire);
        for (number, slot) in self.0.slots.iter().take(used).enumerate() {
            if let Some((life, words)) = slot.read() {
                each(Handle { slot: number as u32, life }, T::from_words(words));
            }
        }
    }

    /// Records there are.
    pub fn len(&self) -> usize {
        self.0.live.load(Ordering::Relaxed)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Records there may be.
    pub fn capacity(&self) -> usize {
        self.0.slots.len()
    }

    /// Records that found no slot.
    pub fn refused(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }
}

impl<const N: usize> Clone for Slab<N> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<const N: usize> Slots<N> {
    /// The slot of a handle, for the writer.
    fn of(&self, handle: Handle) -> Option<&Slot<N>> {
        let slot = self.slots.get(handle.slot as usize)?;
        let life = (slot.version.load(Ordering::Relaxed) >> CHANGES) as u32;
        (life == handle.life && life % 2 == 1).then_some(slot)
    }
}

impl<const N: usize> Slot<N> {
    /// Writes the words and begins, goes on with or ends a life.
    #[inline]
    fn write(&self, life: u32, words: Option<[u64; N]>) {
        let now = self.version.load(Ordering::Relaxed);
        let changes = now as u32;
        let version = |changes: u32| u64::from(life) << CHANGES | u64::from(changes);
        self.version.store(version(changes.wrapping_add(1)), Ordering::Relaxed);
        // Who sees a word from below sees the odd number from above.
        fence(Ordering::Release);
        for (place, word) in self.words.iter().zip(words.iter().flatten()) {
            place.store(*word, Ordering::Relaxed);
        }
        self.version.store(version(changes.wrapping_add(2)), Ordering::Release);
    }

    /// The words and the life that they belong to, if there is one.
    #[inline]
    fn read(&self) -> Option<(u32, [u64; N])> {
        for _ in 0..LOOKS {
            let before = self.version.load(Ordering::Acquire);
            let words = std::array::from_fn(|at| self.words[at].load(Ordering::Relaxed));
            // The words are read before the version is looked at again.
            fence(Ordering::Acquire);
            let after = self.version.load(Ordering::Relaxed);
            if before == after && before.is_multiple_of(2) {
                let life = (before >> CHANGES) as u32;
                return (life % 2 == 1).then_some((life, words));
            }
            crate::sync::spin();
        }
        None
    }
}
