//! The benchmark of the program itself: each stage against the bare path of the same run.
//!
//! `decode` runs on one thread without sockets. `udp` and `tcp` run the shards of `serve` with the same
//! sockets and senders as a loop that only receives, in turns. `store` ends with files on the disk. `capture`
//! takes generated frames from memory to columns, on one thread. `tables` and `stream` look up what threads share,
//! protected in several ways; `reader` reads large datagrams. These three have tables of their own.
//! Sent and received are counted over the same interval: from the first message to the last.

mod capture;
mod decode;
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
use report::Row;

/// The message of every benchmark: 738 bytes of HEP3 around a SIP INVITE with SDP.
const INVITE: &[u8] = include_bytes!("../../../../tests/vectors/hep3_invite.bin");

/// How a benchmark is run.
#[derive(Debug, Clone, Copy)]
struct Settings {
    seconds: Duration,
    shards: usize,
    senders: usize,
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
    };
    let mut rows: Vec<Row> = Vec::new();
    let mut others: Vec<(serde_json::Value, String)> = Vec::new();
    for what in &bench.what {
        rows.extend(match what {
            BenchKind::Tables => {
                let lines = tables::run(&settings);
                others.push((serde_json::to_value(&lines)?, tables::table(&lines)));
                continue;
            }
            BenchKind::Stream => {
                let senders = if bench.senders == 0 { stream::SENDERS } else { bench.senders };
                let lines = stream::run(&Settings { senders, ..settings })?;
                others.push((serde_json::to_value(&lines)?, stream::table(&lines)));
                continue;
            }
            BenchKind::Reader => {
                let lines = reader::run(&settings)?;
                others.push((serde_json::to_value(&lines)?, reader::table(&lines)));
                continue;
            }
            BenchKind::Decode => decode::run(&settings),
            BenchKind::Udp => network::udp(&settings)?,
            BenchKind::Tcp => network::tcp(&settings)?,
            BenchKind::Store => store::run(&settings)?,
            BenchKind::Capture => capture::run(&settings),
        });
    }
    if bench.json {
        let mut all = serde_json::to_value(&rows)?;
        if let serde_json::Value::Array(all) = &mut all {
            for (lines, _) in &others {
                all.extend(lines.as_array().into_iter().flatten().cloned());
            }
        }
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(ExitCode::SUCCESS);
    }
    let own = (!rows.is_empty()).then(|| report::table(&rows));
    let texts: Vec<String> = own.into_iter().chain(others.into_iter().map(|(_, text)| text)).collect();
    println!("{}", texts.join("\n\n"));
    Ok(ExitCode::SUCCESS)
}
