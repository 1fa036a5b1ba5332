//! Memory that is shared without being copied: pools, blocks, and views into blocks.
//!
//! In: the budget of a shard. Out: blocks that one writer fills and any number of readers keep alive.
//! Owned: all receive memory of the program. Bounded by: block size times number of blocks, per pool.
//! Lost: nothing; a spent budget is an answer, not an allocation.
//!
//! This crate is one of the few that may use `unsafe`; every use states why it is sound.

pub mod block;
pub mod counting;
pub mod gaps;
pub mod pool;
pub mod views;

mod memory;
mod returns;
mod sync;
