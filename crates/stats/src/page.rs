//! Figures of one thread, published whole.
//!
//! A sequence lock after Boehm, "Can seqlocks get along with programming language memory models?" (MSPC 2012), with
//! every word an atomic, hence no `unsafe`: the one writer never waits, and a reader that met a publication reads
//! again.

use std::sync::atomic::{AtomicU64, Ordering, fence};

/// `N` figures with one writer.
#[derive(Debug)]
pub(crate) struct Page<const N: usize> {
    version: AtomicU64,
    slots: [AtomicU64; N],
}

impl<const N: usize> Page<N> {
    pub(crate) fn new() -> Self {
        Self { version: AtomicU64::new(0), slots: std::array::from_fn(|_| AtomicU64::new(0)) }
    }

    /// Publishes all figures at once. Only the page's one writer may call this.
    pub(crate) fn write(&self, values: &[u64; N]) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        for (slot, value) in self.slots.iter().zip(values) {
            slot.store(*value, Ordering::Relaxed);
        }
        self.version.store(version + 2, Ordering::Release);
    }

    /// The figures of the last publication.
    pub(crate) fn read(&self) -> [u64; N] {
        loop {
            let before = self.version.load(Ordering::Acquire);
            let mut values = [0; N];
            for (value, slot) in values.iter_mut().zip(&self.slots) {
                *value = slot.load(Ordering::Relaxed);
            }
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && before == self.version.load(Ordering::Relaxed) {
                return values;
            }
            std::hint::spin_loop();
        }
    }
}
