//! Counts what a row costs from the packet to the file.
//!
//! `cargo run --release -p lake --example row_cost [ROWS [CODEC]]` prints the time of each part, the least
//! of some rounds. With `--count N [decode|append|seal|encode] [CODEC]` it takes N rows as far as that and
//! prints nothing, for a profiler that counts instructions (`make instructions`). A part is what its case
//! takes more than the one before it: `encode` ends with a file on the disk, synced, and committed.

use std::{
    hint::black_box, net::IpAddr, net::Ipv4Addr, path::Path, sync::Arc, time::Duration, time::Instant,
};

use decode::sip::{self, Message};
use envelope::hep::{self, Hep};
use lake::rows::{Arrival, Payload, RowOptions, Rows, Sealed};
use lake::{Codec, FileOptions, FlushLimits, Lake, LakeOptions};
use mem::block::Block;
use mem::pool::Pool;

const INVITE: &[u8] = include_bytes!("../../../tests/vectors/hep3_invite.bin");
const NOW: i64 = 1_800_000_000_000_000_000;
const BLOCK_BYTES: usize = 1 << 20;
/// Rows of a batch, as `serve` seals them.
const SEAL_ROWS: usize = 16_384;
/// Rows that a timed round takes through every part.
const ROUND_ROWS: usize = 131_072;

/// How far the rows go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Decode,
    Append,
    Seal,
    Encode,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("--count") => {
            let rows = args.next().and_then(|n| n.parse().ok()).unwrap_or(1_000);
            let part = match args.next().as_deref() {
                Some("decode") => Part::Decode,
                Some("append") => Part::Append,
                Some("seal") => Part::Seal,
                _ => Part::Encode,
            };
            let mut messages = Messages::new();
            run(&mut messages, rows, part, codec(args.next().as_deref()))?;
        }
        first => {
            let rounds = first.and_then(|n| n.parse().ok()).unwrap_or(5);
            times(rounds, codec(args.next().as_deref()))?;
        }
    }
    Ok(())
}

fn codec(name: Option<&str>) -> Codec {
    match name {
        Some("none") => Codec::None,
        Some("lz4") => Codec::Lz4,
        Some("snappy") => Codec::Snappy,
        _ => Codec::Zstd(1),
    }
}

/// The times of the parts, nanoseconds per row: least of the rounds.
fn times(rounds: usize, codec: Codec) -> Result<(), Box<dyn std::error::Error>> {
    let mut messages = Messages::new();
    let parts = [Part::Decode, Part::Append, Part::Seal, Part::Encode];
    let mut least = [f64::INFINITY; 4];
    let mut size = 0;
    for _ in 0..rounds {
        for (part, least) in parts.iter().zip(&mut least) {
            let start = Instant::now();
            size = run(&mut messages, ROUND_ROWS, *part, codec)?;
            *least = least.min(start.elapsed().as_secs_f64() * 1e9 / ROUND_ROWS as f64);
        }
    }
    let mut before = 0.0;
    for (part, all) in parts.iter().zip(least) {
        println!("{:<8} {:>8.1} ns, in all {all:>8.1} ns", format!("{part:?}").to_lowercase(), all - before);
        before = all;
    }
    println!("{:.1} bytes a row in the file", size as f64 / ROUND_ROWS as f64);
    Ok(())
}

/// Takes `count` rows as far as `part`; the bytes of the files.
fn run(
    messages: &mut Messages,
    count: usize,
    part: Part,
    codec: Codec,
) -> Result<u64, Box<dyn std::error::Error>> {
    messages.start();
    if part == Part::Decode {
        for _ in 0..count {
            decode(messages.next(|_| {})?)?;
        }
        return Ok(0);
    }
    let folder = tempfile::tempdir()?;
    let lake = if part == Part::Encode { Some(open(folder.path(), codec)?) } else { None };
    let mut rows = Rows::new(SEAL_ROWS, RowOptions::default());
    let arrival = Arrival { received_ns: NOW, peer: IpAddr::V4(Ipv4Addr::LOCALHOST), key_checked: false };
    for number in 1..=count {
        let packet = messages.next(|block| rows.use_block(&block.share()))?;
        let hep = hep::open(packet).map_err(|error| format!("{error:?}"))?;
        let payload = hep.payload.map_or(Payload::Missing, |payload| Payload::Plain(payload.bytes));
        black_box(rows.append(&hep, payload, &arrival));
        if number % SEAL_ROWS == 0 || number == count {
            if part == Part::Append {
                // Dropping the rows costs next to nothing.
                rows = Rows::new(SEAL_ROWS, RowOptions::default());
                messages.block.iter().for_each(|block| rows.use_block(&block.share()));
                continue;
            }
            rows.seal(|sealed: Sealed| match &lake {
                Some(lake) => lake.append(sealed.table, sealed.rows, sealed.held_bytes),
                None => drop(black_box(sealed)),
            });
        }
    }
    let Some(lake) = lake else { return Ok(0) };
    if lake.close() > 0 {
        return Err("rows were lost".into());
    }
    Ok(lake.books().iter().map(|(_, books)| books.bytes_written).sum())
}

fn decode(packet: &[u8]) -> Result<(), String> {
    let (mut hep, mut message) = (Hep::default(), Message::default());
    hep::open_into(packet, &mut hep).map_err(|error| format!("{error:?}"))?;
    let payload = hep.payload.map_or(&[][..], |payload| payload.bytes);
    sip::parse_into(payload, &mut message).map_err(|error| format!("{error:?}"))?;
    black_box((&hep, &message));
    Ok(())
}

fn open(folder: &Path, compression: Codec) -> Result<Arc<Lake>, lake::LakeError> {
    Lake::open(
        folder,
        LakeOptions {
            flush: FlushLimits { rows: 1 << 20, bytes: 1 << 30, age: Duration::from_secs(3_600) },
            file: FileOptions { compression, row_group_rows: 131_072 },
            writers: 1,
            hot_limit_bytes: 1 << 30,
            close_timeout: Duration::from_secs(60),
        },
    )
}

/// Messages in blocks, as they are received: every Call-ID its own, the rest the same.
struct Messages {
    pool: Pool,
    block: Option<Block>,
    places: Vec<usize>,
    serial: u64,
}

impl Messages {
    fn new() -> Self {
        let places = (0..INVITE.len() - 5).filter(|at| INVITE[*at..].starts_with(b"12345")).collect();
        Self { pool: Pool::new(BLOCK_BYTES, 1_024), block: None, places, serial: 0 }
    }

    fn start(&mut self) {
        self.block = None;
        self.serial = 0;
    }

    fn next(&mut self, begun: impl FnOnce(&Block)) -> Result<&[u8], String> {
        if self.block.as_ref().is_none_or(|block| block.spare_len() < INVITE.len()) {
            self.block = None;
            let block = self.pool.take().ok_or("more rows than the pool has blocks for")?;
            begun(&block);
            self.block = Some(block);
        }
        let Some(block) = &mut self.block else { return Err("no block".into()) };
        let spare = &mut block.spare()[..INVITE.len()];
        spare.copy_from_slice(INVITE);
        self.serial += 1;
        let digits = digits(self.serial);
        for at in &self.places {
            spare[*at..at + 5].copy_from_slice(&digits);
        }
        Ok(block.commit(INVITE.len()))
    }
}

/// Five digits of base 64 that change with every message.
fn digits(serial: u64) -> [u8; 5] {
    const DIGITS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-.";
    std::array::from_fn(|place| DIGITS[(serial >> (6 * (4 - place)) & 63) as usize])
}
