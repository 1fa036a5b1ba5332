//! `bench store`: messages to rows in durable Parquet files, every Call-ID its own.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use lake::rows::RowOptions;
use lake::{Codec, FileOptions, FlushLimits, Lake, LakeOptions};
use listen::{Origin, Sink, Transport};
use mem::counting::allocations;
use mem::pool::Pool;
use stats::{Board, Counter};

use super::report::{self, Row};
use super::{INVITE, Settings};
use crate::pipeline::{HepSink, Live, SealLimits};

/// Memory in all, of which five eighths are blocks, as in `serve`.
const BUDGET: usize = 256 << 20;
const BLOCK_BYTES: usize = 1 << 20;
/// Bytes of one write of the bare path.
const CHUNK: usize = 1 << 20;
/// Messages between two looks at the clock.
const BATCH: usize = 64;

/// One row per compression.
pub fn run(settings: &Settings) -> Result<Vec<Row>> {
    [
        ("zstd 1", Codec::Zstd(1)),
        ("lz4", Codec::Lz4),
        ("snappy", Codec::Snappy),
        ("no compression", Codec::None),
    ]
    .into_iter()
    .map(|(name, codec)| one(settings, name, codec))
    .collect()
}

fn one(settings: &Settings, name: &str, compression: Codec) -> Result<Row> {
    let folder = std::env::temp_dir().join(format!("wirelake-bench-{}", std::process::id()));
    let writers = settings.shards.div_ceil(2).max(1);
    let lake = Lake::open(
        &folder,
        LakeOptions {
            flush: FlushLimits { rows: 1 << 20, bytes: 96 << 20, age: Duration::from_secs(10) },
            file: FileOptions { compression, row_group_rows: 131_072 },
            writers,
            hot_limit_bytes: BUDGET / 4 * 3,
            close_timeout: Duration::from_secs(60),
        },
    )?;
    let board = Board::default();
    let start = Instant::now();
    let until = start + settings.seconds;
    let (cpu, allocated) = thread::scope(|scope| {
        let shards: Vec<_> = (0..settings.shards)
            .map(|number| {
                let (lake, counters) = (Arc::clone(&lake), board.shard());
                let memory = BUDGET / 8 * 5 / settings.shards;
                scope.spawn(move || feed(number, memory, lake, counters, until))
            })
            .collect();
        shards.into_iter().try_fold((0, 0), |(cpu, allocated), shard| {
            let (more, allocations) = shard.join().map_err(|_| anyhow!("a shard panicked"))??;
            Ok::<_, anyhow::Error>((cpu + more, allocated + allocations))
        })
    })?;
    let lost = lake.close();
    let seconds = start.elapsed().as_secs_f64();
    let durable: u64 = lake.books().iter().map(|(_, books)| books.durable).sum();
    let bytes: u64 = lake.books().iter().map(|(_, books)| books.bytes_written).sum();
    let made = board.totals().get(Counter::RowsSip);
    drop(lake);
    let bare = durable as f64 / write_bare(&folder, bytes)?.as_secs_f64();
    std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    Ok(Row {
        bench: "store",
        case: format!("{name}, {} B/row", bytes / durable.max(1)),
        shards: settings.shards,
        senders: writers,
        messages: durable,
        ns_per_message: cpu as f64 / durable.max(1) as f64,
        allocs_per_message: allocated as f64 / durable.max(1) as f64,
        rate_per_s: durable as f64 / seconds,
        bare_rate_per_s: Some(bare),
        ratio: Some(durable as f64 / seconds / bare),
        bare: "as many bytes written to one file and synced, nothing else; wall time runs until the last file is synced and \
               committed, `senders` are the writer threads",
        sent: made,
        drops: lost,
        peak_rss_mib: report::peak_rss_mib(),
        ..Row::default()
    })
}

/// How long the disk takes for so many bytes: one file, written and synced.
fn write_bare(folder: &Path, bytes: u64) -> Result<Duration> {
    // Noise, for disks and file systems that compress or that leave zeros out.
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let chunk: Vec<u8> = std::iter::repeat_with(|| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random.to_le_bytes()
    })
    .take(CHUNK / 8)
    .flatten()
    .collect();
    let path = folder.join("bare");
    let start = Instant::now();
    let mut file = File::create_new(&path).with_context(|| format!("cannot make {}", path.display()))?;
    let mut left = usize::try_from(bytes)?;
    while left > 0 {
        let part = left.min(CHUNK);
        file.write_all(&chunk[..part])?;
        left -= part;
    }
    file.sync_all()?;
    Ok(start.elapsed())
}

/// One shard's worth of messages, as fast as the store takes them.
fn feed(
    number: usize,
    memory: usize,
    lake: Arc<Lake>,
    mut counters: stats::ShardCounters,
    until: Instant,
) -> Result<(u64, u64)> {
    let mut pool = Pool::new(BLOCK_BYTES, memory / BLOCK_BYTES);
    let limits = SealLimits { rows: 16_384, bytes: memory / 8, age_ns: 250_000_000 };
    let mut sink = HepSink::new(lake, limits, RowOptions::default(), 1 << 18, &Live::new(b""));
    let places: Vec<usize> = (0..INVITE.len() - 5).filter(|at| INVITE[*at..].starts_with(b"12345")).collect();
    let mut serial = number as u64 * 10_000_000_000;
    let (cpu, allocated) = (report::thread_cpu_ns(), allocations());
    let mut block = None;
    while Instant::now() < until {
        let received =
            i64::try_from(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_nanos())?;
        let origin = Origin { received, transport: Transport::Udp, peer: ([127, 0, 0, 1], 9).into() };
        for _ in 0..BATCH {
            if block.as_ref().is_none_or(|block: &mem::block::Block| block.spare_len() < INVITE.len()) {
                block = None;
                while block.is_none() {
                    match pool.take() {
                        Some(new) => {
                            sink.block(&new.share());
                            block = Some(new);
                        }
                        None => {
                            sink.release(&mut counters);
                            pool.wait(Duration::from_millis(5));
                        }
                    }
                }
            }
            let Some(block) = &mut block else { continue };
            let spare = &mut block.spare()[..INVITE.len()];
            spare.copy_from_slice(INVITE);
            // Five hexadecimal digits at each place make a million Call-IDs, tagged by what is before them.
            serial += 1;
            let text = format_digits(serial);
            for at in &places {
                spare[*at..at + 5].copy_from_slice(&text);
            }
            sink.message(block.commit(INVITE.len()), &origin, &mut counters);
        }
        sink.batch_end(received, &mut counters);
    }
    drop(block);
    sink.release(&mut counters);
    counters.publish();
    Ok((report::thread_cpu_ns() - cpu, allocations() - allocated))
}

/// Five digits of base 64 that change with every message.
fn format_digits(serial: u64) -> [u8; 5] {
    const DIGITS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-.";
    std::array::from_fn(|place| DIGITS[(serial >> (6 * (4 - place)) & 63) as usize])
}
