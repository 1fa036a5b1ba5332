//! Memory that is shared without being copied: pools, blocks, and views into blocks.
//!
//! In: the budget of a shard. Out: blocks that one writer fills and any number of readers keep alive.
//! Owned: all receive memory of the program. Bounded by: block size times number of blocks, per pool.
//! Lost: nothing; a spent budget is an answer, not an allocation.
//!
//! Beside them, what threads share otherwise, each for how often it changes: a [`snapshot`] for what is rarely
//! replaced as a whole, a [`map`] for what is looked up per packet and written per call, a [`slab`] for records of
//! one thread that change with every packet and that others glance at.
//!
//! This crate is one of the few that may use `unsafe`; every use states why it is sound.

pub mod block;
pub mod counting;
pub mod cycles;
pub mod gaps;
pub mod map;
pub mod pool;
pub mod slab;
pub mod snapshot;
pub mod views;

mod epoch;
mod groups;
mod memory;
mod returns;
mod sync;
