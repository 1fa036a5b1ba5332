//! The allocator, with a count per thread, so that a benchmark can say how often a stage allocates.
//!
//! In: allocations. Out: mimalloc's memory, and two numbers. Counting is two adds to thread-local words.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

use mimalloc::MiMalloc;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// mimalloc, counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counting;

/// Allocations that the calling thread made so far; growing an allocation counts as one.
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// Bytes that the calling thread asked for so far, whatever it gave back; growing an allocation counts what it grew.
pub fn allocated_bytes() -> u64 {
    BYTES.get()
}

/// A thread whose locals are gone already still allocates; that is not counted.
fn count(bytes: usize) {
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get().wrapping_add(1)));
    let _ = BYTES.try_with(|sum| sum.set(sum.get().wrapping_add(bytes as u64)));
}

// SAFETY: every call is handed to mimalloc as it came, so its guarantees hold. Counting touches a
// thread-local word that needs no set-up and no destructor, and so never allocates itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is the same.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and the memory came from mimalloc.
        unsafe { MiMalloc.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.saturating_sub(layout.size()));
        // SAFETY: the caller keeps the contract of `realloc`, and the memory came from mimalloc.
        unsafe { MiMalloc.realloc(pointer, layout, size) }
    }
}
