//! The lake: rows in, files under Delta logs, SQL over both.
//!
//! In: fields of decoded messages from the shards. Out: Parquet files that any engine reads, and answers
//! to queries that see a row a batch after it was decoded. Owned: the data folder. Bounded by: rows and
//! bytes per batch, the flush limits, the engine's memory. Lost: rows that could not be written before
//! the program had to stop; they are counted.

#![forbid(unsafe_code)]

pub mod ask;
pub mod columns;
mod error;
mod file;
mod hot;
mod log;
pub mod rows;
pub mod schema;
mod sql;
mod store;
mod views;

pub use error::LakeError;
pub use file::{Codec, FileOptions, LakeFile};
pub use hot::{Books, FlushLimits, TableView};
pub use sql::{Answer, Engine, EngineOptions, ScanReport};
pub use store::{Backlog, Lake, LakeOptions};
