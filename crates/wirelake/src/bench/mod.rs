//! The benchmark of the program itself: each stage against the bare path of the same run.
//!
//! `decode` runs on one thread without sockets. `udp` and `tcp` run the shards of `serve` with the same
//! sockets and senders as a loop that only receives, in turns. `store` ends with files on the disk. `capture`
//! takes generated frames from memory to columns, on one thread. `tables` and `stream` look up what threads share,
//! protected in several ways; `reader` reads large datagrams: these three have tables of their own.
//! `all` runs every line of [`BENCHES`].
//! Sent and received are counted over the same interval: from the first message to the last.

mod capture;
mod chart;
mod decode;
mod document;
mod loggregator;
mod messages;
mod network;
mod reader;
mod report;
mod store;
mod stream;
mod tables;

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
    run: fn(&Settings) -> Result<Outcome>,
}

/// What a benchmark gives: rows of the common table, or lines of a table of its own.
enum Outcome {
    Rows(Vec<Row>),
    Lines { json: serde_json::Value, table: String },
}

impl Outcome {
    /// The rows of the common table.
    fn rows(&self) -> &[Row] {
        match self {
            Self::Rows(rows) => rows,
            Self::Lines { .. } => &[],
        }
    }
}

fn lines(json: impl serde::Serialize, table: String) -> Result<Outcome> {
    Ok(Outcome::Lines { json: serde_json::to_value(json)?, table })
}

/// Every benchmark, in the order of the pipeline.
const BENCHES: &[Entry] = &[
    Entry {
        kind: BenchKind::Decode,
        name: "decode",
        question: "How long does one message take, from bytes to fields and to columns, on one core without sockets?",
        unit: "million messages per second",
        run: |settings| Ok(Outcome::Rows(decode::run(settings))),
    },
    Entry {
        kind: BenchKind::Udp,
        name: "udp",
        question: "How many messages per second get from UDP sockets into columns?",
        unit: "million messages per second",
        run: |settings| network::udp(settings).map(Outcome::Rows),
    },
    Entry {
        kind: BenchKind::Tcp,
        name: "tcp",
        question: "How many messages per second get from TCP connections into columns?",
        unit: "million messages per second",
        run: |settings| network::tcp(settings).map(Outcome::Rows),
    },
    Entry {
        kind: BenchKind::Store,
        name: "store",
        question: "How many rows per second are decoded, written to Parquet, synced and committed?",
        unit: "million rows per second",
        run: |settings| store::run(settings).map(Outcome::Rows),
    },
    Entry {
        kind: BenchKind::Capture,
        name: "capture",
        question: "How many packets per second become roundtrips in columns, on one core?",
        unit: "million packets per second",
        run: |settings| Ok(Outcome::Rows(capture::run(settings))),
    },
    Entry {
        kind: BenchKind::Loggregator,
        name: "loggregator",
        question: "How many dropsonde envelopes per second get from a UDP socket into encoded batches of version 2?",
        unit: "million envelopes per second",
        run: |settings| loggregator::run(settings).map(Outcome::Rows),
    },
    Entry {
        kind: BenchKind::Reader,
        name: "reader",
        question: "What does a large datagram cost, into pooled memory and into fresh memory?",
        unit: "",
        run: |settings| {
            let found = reader::run(settings)?;
            lines(&found, reader::table(&found))
        },
    },
    Entry {
        kind: BenchKind::Stream,
        name: "stream",
        question: "How many packets per second, each looking up four shared tables, by what protects these?",
        unit: "",
        run: |settings| {
            let found = stream::run(settings)?;
            lines(&found, stream::table(&found))
        },
    },
    Entry {
        kind: BenchKind::Tables,
        name: "tables",
        question: "How many look-ups per second in tables that threads share, by what protects them?",
        unit: "",
        run: |settings| {
            let found = tables::run(settings);
            lines(&found, tables::table(&found))
        },
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
        // As many senders as the experiment has that it repeats, unless a number is asked for.
        let senders = if entry.kind == BenchKind::Stream && bench.senders == 0 {
            stream::SENDERS
        } else {
            settings.senders
        };
        parts.push((entry, (entry.run)(&Settings { senders, ..settings })?));
    }
    if let Some(path) = &bench.report {
        document::write(path, &settings, &parts)?;
    }
    if bench.json {
        let mut all = Vec::new();
        for (_, outcome) in &parts {
            match outcome {
                Outcome::Rows(rows) => {
                    all.extend(rows.iter().map(serde_json::to_value).collect::<Result<Vec<_>, _>>()?)
                }
                Outcome::Lines { json, .. } => all.extend(json.as_array().into_iter().flatten().cloned()),
            }
        }
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<&Row> = parts.iter().flat_map(|(_, outcome)| outcome.rows()).collect();
    let own = (!rows.is_empty()).then(|| report::table(&rows));
    let others = parts.iter().filter_map(|(_, outcome)| match outcome {
        Outcome::Rows(_) => None,
        Outcome::Lines { table, .. } => Some(table.clone()),
    });
    println!("{}", own.into_iter().chain(others).collect::<Vec<_>>().join("\n\n"));
    Ok(ExitCode::SUCCESS)
}
