//! The pool of memory blocks that one shard owns.
//!
//! In: a block size and a number of blocks. Out: [`Block`]s, each with exactly one writer. Owned: every
//! allocated block that nobody uses. Bounded by: `block_bytes * max_blocks`; memory is allocated when it
//! is first needed and kept for reuse, the block returned last first. Lost: nothing; when the budget is
//! spent, [`Pool::take`] says so and [`Pool::wait`] sleeps until a block comes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::block::Block;
use crate::memory::Memory;
use crate::returns::Returns;

/// How much of a pool's budget is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pressure {
    /// Less than three quarters.
    Low,
    /// Three quarters or more: who holds blocks for comfort should let go.
    High,
    /// All of it: the next [`Pool::take`] fails.
    Full,
}

/// What the pool, its blocks and its gauges share.
#[derive(Debug)]
pub(crate) struct Home {
    returns: Returns<Memory>,
    block_bytes: usize,
    capacity: usize,
    allocated: AtomicUsize,
    in_use: AtomicUsize,
}

impl Home {
    /// Takes the memory of a block that nobody uses any more; frees it when the pool is gone.
    pub(crate) fn give_back(&self, memory: Memory) {
        // Counted out before the owner can take it and count it in again, so that it never counts twice.
        self.in_use.fetch_sub(1, Ordering::Relaxed);
        if let Err(orphan) = self.returns.give_back(memory) {
            self.allocated.fetch_sub(1, Ordering::Relaxed);
            drop(orphan);
        }
    }
}

/// Blocks of one size under one budget. Not cloneable: a shard owns it.
#[derive(Debug)]
pub struct Pool {
    home: Arc<Home>,
}

impl Pool {
    /// A pool of at most `max_blocks` blocks of `block_bytes` each. Allocates no block yet.
    ///
    /// # Panics
    /// If either number is zero or a block is larger than `i32::MAX` bytes (offsets into it are `u32`,
    /// and column views limit them to 31 bits).
    pub fn new(block_bytes: usize, max_blocks: usize) -> Self {
        assert!(block_bytes > 0 && i32::try_from(block_bytes).is_ok(), "block size out of range");
        assert!(max_blocks > 0, "a pool needs at least one block");
        let home = Home {
            returns: Returns::new(max_blocks),
            block_bytes,
            capacity: max_blocks,
            allocated: AtomicUsize::new(0),
            in_use: AtomicUsize::new(0),
        };
        Self { home: Arc::new(home) }
    }

    /// An empty block, or `None` when the budget is spent. Reuses the block that came back last and
    /// allocates only when none waits.
    pub fn take(&mut self) -> Option<Block> {
        let memory = match self.home.returns.take() {
            Some(memory) => memory,
            None => {
                // Only this method raises the number, and it has the pool for itself.
                if self.allocated() >= self.home.capacity {
                    return None;
                }
                self.home.allocated.fetch_add(1, Ordering::Relaxed);
                Memory::new(self.home.block_bytes)
            }
        };
        self.home.in_use.fetch_add(1, Ordering::Relaxed);
        Some(Block::new(memory, Arc::clone(&self.home)))
    }

    /// Sleeps until [`take`](Self::take) would succeed, at most for `limit`. Returns whether it would.
    pub fn wait(&mut self, limit: Duration) -> bool {
        self.allocated() < self.home.capacity || self.home.returns.wait(limit)
    }

    /// The size of a block in bytes.
    pub fn block_bytes(&self) -> usize {
        self.home.block_bytes
    }

    /// Blocks that somebody writes or reads.
    pub fn in_use(&self) -> usize {
        self.home.in_use.load(Ordering::Relaxed)
    }

    /// Blocks allocated so far, in use or waiting.
    pub fn allocated(&self) -> usize {
        self.home.allocated.load(Ordering::Relaxed)
    }

    /// The budget in blocks.
    pub fn capacity(&self) -> usize {
        self.home.capacity
    }

    /// How much of the budget is in use.
    pub fn pressure(&self) -> Pressure {
        self.gauge().pressure()
    }

    /// A view of the pool's figures for other threads.
    pub fn gauge(&self) -> PoolGauge {
        PoolGauge { home: Arc::clone(&self.home) }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let waiting = self.home.returns.close();
        self.home.allocated.fetch_sub(waiting.len(), Ordering::Relaxed);
    }
}

/// The figures of a pool, readable from any thread, also after the pool is gone.
#[derive(Debug, Clone)]
pub struct PoolGauge {
    home: Arc<Home>,
}

impl PoolGauge {
    /// Blocks that somebody writes or reads.
    pub fn in_use(&self) -> usize {
        self.home.in_use.load(Ordering::Relaxed)
    }

    /// Blocks allocated, in use or waiting.
    pub fn allocated(&self) -> usize {
        self.home.allocated.load(Ordering::Relaxed)
    }

    /// The budget in blocks.
    pub fn capacity(&self) -> usize {
        self.home.capacity
    }

    /// The size of a block in bytes.
    pub fn block_bytes(&self) -> usize {
        self.home.block_bytes
    }

    /// How much of the budget is in use.
    pub fn pressure(&self) -> Pressure {
        let (used, capacity) = (self.in_use(), self.home.capacity);
        if used >= capacity {
            Pressure::Full
        } else if used * 4 >= capacity * 3 {
            Pressure::High
        } else {
            Pressure::Low
        }
    }
}
