//! SQL over hot rows and files.
//!
//! In: one statement that reads. Out: Arrow batches, at most as many rows as asked for, and a report of
//! which files were read. Owned: one DuckDB in memory, closed to the world but for the lake's folder.
//! Bounded by: the engine's memory limit, its threads, a time-out and a row limit per query. Lost:
//! nothing; a query that is cut says so.

mod bloom;
mod condition;
mod engine;
mod guard;
mod hot_scan;
mod plan;

pub use engine::{Answer, Engine, EngineOptions, ScanReport};
