//! The benchmark of the program itself: each stage against the bare path of the same run.
//!
//! `decode` runs on one thread without sockets. `udp` and `tcp` run the shards of `serve` with the same
//! sockets and senders as a loop that only receives, in turns. `store` ends with files on the disk. `capture`
//! takes generated frames from memory to columns, on one thread.
//! `all` runs every line of [`BENCHES`].
//! Sent and received are counted over the same interval: from the first message to the last.

mod capture;
mod chart;
mod decode;
mod document;
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

/// One benchmark.
struct Entry {
    kind: BenchKind,
    name: &'static str,
    /// The question that it answers.
    question: &'static str,
    /// What its rates count, per second and in millions.
    unit: &'static str,
    run: fn(&Settings) -> Result<Vec<Row>>,
}

/// Every benchmark, in the order of the pipeline.
const BENCHES: &[Entry] = &[
    Entry {
        kind: BenchKind::Decode,
        name: "decode",
        question: "How long does one message take, from bytes to fields and to columns, on one core without sockets?",
        unit: "million messages per second",
        run: |settings| Ok(decode::run(settings)),
    },
    Entry {
        kind: BenchKind::Udp,
        name: "udp",
        question: "How many messages per second get from UDP sockets into columns?",
        unit: "million messages per second",
        run: network::udp,
    },
    Entry {
        kind: BenchKind::Tcp,
        name: "tcp",
        question: "How many messages per second get from TCP connections into columns?",
        unit: "million messages per second",
        run: network::tcp,
    },
    Entry {
        kind: BenchKind::Store,
        name: "store",
        question: "How many rows per second are decoded, written to Parquet, synced and committed?",
        unit: "million rows per second",
        run: store::run,
    },
    Entry {
        kind: BenchKind::Capture,
        name: "capture",
        question: "How many packets per second become roundtrips in columns, on one core?",
        unit: "million packets per second",
        run: |settings| Ok(capture::run(settings)),
    },
];

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
    let all = bench.what.contains(&BenchKind::All);
    let mut parts = Vec::new();
    for entry in BENCHES.iter().filter(|entry| all || bench.what.contains(&entry.kind)) {
        if all {
            eprintln!("{}: {}", entry.name, entry.question);
        }
        parts.push((entry, (entry.run)(&settings)?));
    }
    if let Some(path) = &bench.report {
        document::write(path, &settings, &parts)?;
    }
    let rows: Vec<Row> = parts.into_iter().flat_map(|(_, rows)| rows).collect();
    if bench.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        println!("{}", report::table(&rows));
    }
    Ok(ExitCode::SUCCESS)
}
