//! The benchmark of the program itself: each stage against the bare path of the same run.
//!
//! `decode` runs on one thread without sockets. `udp` and `tcp` run the shards of `serve` with the same
//! sockets and senders as a loop that only receives, in turns. `store` ends with files on the disk. `capture`
//! takes generated frames from memory to columns, on one thread.
//! Sent and received are counted over the same interval: from the first message to the last.

mod capture;
mod decode;
mod messages;
mod network;
mod report;
mod store;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use crate::cli::{Bench, BenchKind};
use messages::INVITE;
use report::Row;

/// How a benchmark is run.
#[derive(Debug, Clone, Copy)]
struct Settings {
    seconds: Duration,
    shards: usize,
    senders: usize,
    /// Whether `udp` and `tcp` try every number of shards and senders.
    matrix: bool,
}

/// Runs benchmarks.
///
/// # Errors
/// When sockets or files cannot be used.
pub fn run(bench: &Bench) -> Result<ExitCode> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let shards = if bench.shards == 0 { cores } else { bench.shards };
    let settings = Settings {
        seconds: Duration::from_secs_f64(bench.seconds.clamp(0.1, 600.0)),
        shards,
        senders: if bench.senders == 0 { shards } else { bench.senders },
        matrix: bench.matrix,
    };
    let mut rows: Vec<Row> = Vec::new();
    for what in &bench.what {
        rows.extend(match what {
            BenchKind::Decode => decode::run(&settings),
            BenchKind::Udp => network::udp(&settings)?,
            BenchKind::Tcp => network::tcp(&settings)?,
            BenchKind::Store => store::run(&settings)?,
            BenchKind::Capture => capture::run(&settings),
        });
    }
    if bench.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        println!("{}", report::table(&rows));
    }
    Ok(ExitCode::SUCCESS)
}
