//! Stages, drop reasons, counters and the ledger; where time goes, and which stage is the limit.
//!
//! In: what each shard and the store count about their own work. Out: one ledger in which
//! `in = out + drops + in flight`, one report of the time of every stage, and the same figures as Prometheus text. Owned: nothing but numbers.
//! Bounded by: the closed lists in [`counter`] and [`reason`]; no label comes from the network. Lost:
//! nothing; a reader sees the last published copy of each shard, whole.

#![forbid(unsafe_code)]

pub mod bottleneck;
pub mod counter;
pub mod ledger;
pub mod meter;
mod page;
pub mod prometheus;
pub mod rate;
pub mod reason;
pub mod shard;

pub use counter::Counter;
pub use ledger::{Check, Ledger, StoreTotals};
pub use meter::{Crew, Meter, MeterBoard, Meters};
pub use reason::{DropReason, Stage};
pub use shard::{Board, ShardCounters, Totals};
