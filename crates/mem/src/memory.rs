//! One allocation: page-aligned, initialised, with an address that never moves.
//!
//! In: a size. Out: raw access for the one writer and shared access to what it froze; both are wrapped
//! by [`block`](crate::block), which owns the rule of who may touch which bytes. Bounded by: the size
//! given. Lost: nothing.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Alignment of every block, so that a block never shares a page or a cache line with anything else.
pub(crate) const PAGE: usize = 4096;

/// Memory of a fixed size, zeroed once when it is allocated.
#[derive(Debug)]
pub(crate) struct Memory {
    // Invariant: points to `layout.size()` initialised bytes allocated with `layout`, owned by `self`.
    base: NonNull<u8>,
    // Invariant: the size is not zero.
    layout: Layout,
}

// SAFETY: `Memory` owns its allocation and has no thread affinity; it may be dropped on any thread.
unsafe impl Send for Memory {}
// SAFETY: `&Memory` gives safe callers nothing but the address and the size; access to the bytes goes
// through unsafe functions whose callers prove that there is no data race.
unsafe impl Sync for Memory {}

impl Memory {
    /// Allocates `bytes` zeroed bytes. `bytes` is not zero and at most `u32::MAX`.
    pub(crate) fn new(bytes: usize) -> Self {
        assert!(bytes > 0 && u32::try_from(bytes).is_ok(), "block size out of range");
        let layout = Layout::from_size_align(bytes, PAGE).expect("a size below 4 GiB has a layout");
        // SAFETY: the layout's size is not zero (asserted above).
        let base = unsafe { alloc_zeroed(layout) };
        match NonNull::new(base) {
            Some(base) => Self { base, layout },
            None => handle_alloc_error(layout),
        }
    }

    /// The size in bytes.
    pub(crate) fn len(&self) -> usize {
        self.layout.size()
    }

    /// The address of the first byte, for comparisons only.
    pub(crate) fn address(&self) -> usize {
        self.base.as_ptr().addr()
    }

    /// The first `len` bytes.
    ///
    /// # Safety
    /// `len <= self.len()`, and nobody writes to these bytes while the slice lives.
    pub(crate) unsafe fn head(&self, len: usize) -> &[u8] {
        debug_assert!(len <= self.len());
        // SAFETY: the bytes lie inside the allocation (caller), are initialised (zeroed at allocation),
        // are not written while borrowed (caller), and live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), len) }
    }

    /// The bytes from `at` to the end, to be written.
    ///
    /// # Safety
    /// `at <= self.len()`, and nobody else reads or writes these bytes while the slice lives.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn tail_mut(&self, at: usize) -> &mut [u8] {
        debug_assert!(at <= self.len());
        let len = self.len() - at;
        // SAFETY: `at` is at most the size of the allocation (caller), so the result stays within it or
        // one past its end.
        let from = unsafe { self.base.as_ptr().add(at) };
        // SAFETY: `from..from + len` is the rest of the allocation, initialised, exclusive for the life
        // of the slice (caller), and lives as long as `self`.
        unsafe { std::slice::from_raw_parts_mut(from, len) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `base` came from `alloc_zeroed` with this same layout and is freed only here.
        unsafe { dealloc(self.base.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_and_page_aligned() {
        let memory = Memory::new(10_000);
        assert_eq!(memory.len(), 10_000);
        assert_eq!(memory.address() % PAGE, 0);
        // SAFETY: the length is that of the allocation, and nobody writes.
        let bytes = unsafe { memory.head(10_000) };
        assert!(bytes.iter().all(|byte| *byte == 0));
    }

    #[test]
    #[should_panic(expected = "block size out of range")]
    fn a_size_of_zero_is_refused() {
        let _ = Memory::new(0);
    }
}
