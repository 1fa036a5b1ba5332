//! `bench reader`: large datagrams through the UDP reader, pooled against a fresh buffer each.
//!
//! The table of the pooled Go reader: 8 to 64 KB a datagram, time, bytes allocated and allocations for each. The
//! sender sends no more at a time than the kernel's default buffer holds and waits until they were read, so nothing is
//! lost and both sides are part of the time. `pooled` is the shard of `serve`; `fresh` allocates a buffer of the
//! largest datagram for each; `bare` receives into one.

use std::hint::black_box;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use listen::udp::Gro;
use listen::{Frame, Origin, Shard, ShardConfig, Sink, Stop, UdpOptions, bind_udp};
use mem::block::Shared;
use mem::counting::{allocated_bytes, allocations};
use mem::pool::Pool;
use serde::Serialize;
use stats::{Board, ShardCounters};

use super::Settings;
use super::report::{median, thread_cpu_ns};

/// Bytes of a datagram; 64 KB less the headers of IP and UDP.
const SIZES: [usize; 5] = [8 << 10, 16 << 10, 32 << 10, 48 << 10, 65_507];
/// Turns of each reader; the median counts.
const TURNS: usize = 5;
/// Datagrams sent at a time, at most.
const BURST: usize = 64;
/// Receive buffer that every socket has, as the kernel counts.
const KERNEL_BUFFER: usize = 212_992;
/// What the kernel counts for a byte of a datagram, generously: whole pages and headers.
const OVERHEAD: usize = 3;
/// The largest datagram.
const LARGEST: usize = 65_535;
const BLOCK_BYTES: usize = 1 << 20;
const BLOCKS: usize = 16;
/// How long a reader is waited for before datagrams count as lost.
const PATIENCE: Duration = Duration::from_secs(5);

/// One reader at one size.
#[derive(Debug, Serialize)]
pub struct Line {
    bench: &'static str,
    reader: &'static str,
    bytes: usize,
    /// Time from send to read, sender included.
    ns_per_datagram: f64,
    /// Processor time of the reading thread alone.
    cpu_ns_per_datagram: f64,
    datagrams_per_cpu_s: f64,
    allocated_bytes: f64,
    allocations: f64,
    /// Datagrams per processor second, against the bare loop's in the same turns.
    ratio: f64,
}

/// What was read, for the sender to wait for.
#[derive(Debug, Default, Clone)]
struct Progress(Arc<AtomicU64>);

impl Progress {
    fn one(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    fn wait(&self, for_count: u64) -> Result<()> {
        let start = Instant::now();
        while self.0.load(Ordering::Acquire) < for_count {
            if start.elapsed() > PATIENCE {
                return Err(anyhow!("datagrams were lost between sender and reader on this machine"));
            }
            thread::yield_now();
        }
        Ok(())
    }
}

/// Counts datagrams as they come out of the shard, and lets go of every block.
struct Count {
    progress: Progress,
    bytes: u64,
}

impl Sink for Count {
    fn block(&mut self, _: &Shared) {}

    fn message(&mut self, bytes: &[u8], _: &Origin, _: &mut ShardCounters) {
        self.bytes += bytes.len() as u64;
        self.progress.one();
    }

    fn batch_end(&mut self, _: i64, _: &mut ShardCounters) {}

    fn release(&mut self, _: &mut ShardCounters) {}
}

/// What the reading thread used, with what it used before the first datagram taken off.
#[derive(Debug, Default, Clone, Copy)]
struct Used {
    cpu_ns: u64,
    bytes: u64,
    count: u64,
}

impl Used {
    fn now() -> Self {
        Self { cpu_ns: thread_cpu_ns(), bytes: allocated_bytes(), count: allocations() }
    }

    fn since(self, before: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns - before.cpu_ns,
            bytes: self.bytes - before.bytes,
            count: self.count - before.count,
        }
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct Turn {
    datagrams: u64,
    seconds: f64,
    used: Used,
}

/// Sends for the time in bursts that are read before the next.
fn send(to: SocketAddr, size: usize, time: Duration, progress: &Progress) -> Result<(u64, f64)> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.connect(to)?;
    let datagram = vec![0x5a; size];
    let burst = (KERNEL_BUFFER / (size * OVERHEAD)).clamp(1, BURST);
    let start = Instant::now();
    let mut sent = 0;
    while start.elapsed() < time {
        for _ in 0..burst {
            socket.send(&datagram)?;
        }
        sent += burst as u64;
        progress.wait(sent)?;
    }
    Ok((sent, start.elapsed().as_secs_f64()))
}

fn pooled(size: usize, time: Duration) -> Result<Turn> {
    let options = UdpOptions { gro: Gro::Off, ..UdpOptions::default() };
    let socket = bind_udp((Ipv4Addr::LOCALHOST, 0).into(), 1, &options)?.pop().context("no socket")?;
    let to = socket.local_addr();
    let board = Board::default();
    // Datagrams are not cut into frames.
    let config = ShardConfig::new(|_| Frame::Bad);
    let mut shard = Shard::new(config, Pool::new(BLOCK_BYTES, BLOCKS), board.shard())?;
    shard.add_udp(socket)?;
    let stop = Stop::new()?;
    let progress = Progress::default();
    thread::scope(|scope| {
        let (seen, ended) = (progress.clone(), stop.clone());
        let reading = scope.spawn(move || {
            let mut sink = Count { progress: seen, bytes: 0 };
            let before = Used::now();
            shard.run(&mut sink, &ended)?;
            Ok::<_, std::io::Error>((Used::now().since(before), sink.bytes))
        });
        let sent = send(to, size, time, &progress);
        stop.set();
        let (used, bytes) = reading.join().map_err(|_| anyhow!("the reader panicked"))??;
        let (datagrams, seconds) = sent?;
        anyhow::ensure!(bytes == datagrams * size as u64, "read {bytes} bytes of {datagrams} datagrams");
        Ok(Turn { datagrams, seconds, used })
    })
}

/// Reads with std's socket; `read` takes one datagram and says whether there was one.
fn plain(
    size: usize,
    time: Duration,
    mut read: impl FnMut(&UdpSocket) -> std::io::Result<usize> + Send,
) -> Result<Turn> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.set_read_timeout(Some(Duration::from_millis(20)))?;
    let to = socket.local_addr()?;
    let stop = Stop::new()?;
    let progress = Progress::default();
    thread::scope(|scope| {
        let (seen, ended) = (progress.clone(), stop.clone());
        let reading = scope.spawn(move || {
            let before = Used::now();
            while !ended.is_set() {
                if read(&socket).is_ok() {
                    seen.one();
                }
            }
            Used::now().since(before)
        });
        let sent = send(to, size, time, &progress);
        stop.set();
        let used = reading.join().map_err(|_| anyhow!("the reader panicked"))?;
        let (datagrams, seconds) = sent?;
        Ok(Turn { datagrams, seconds, used })
    })
}

fn fresh(size: usize, time: Duration) -> Result<Turn> {
    plain(size, time, |socket| socket.recv(black_box(&mut vec![0; LARGEST])))
}

fn bare(size: usize, time: Duration) -> Result<Turn> {
    let mut buffer = vec![0; LARGEST];
    plain(size, time, move |socket| socket.recv(black_box(&mut buffer)))
}

type Case = (&'static str, fn(usize, Duration) -> Result<Turn>);

const CASES: [Case; 3] = [("bare", bare), ("fresh", fresh), ("pooled", pooled)];

/// Every size through every reader, in turns.
///
/// # Errors
/// When sockets cannot be used.
pub fn run(settings: &Settings) -> Result<Vec<Line>> {
    let time = settings.seconds.div_f64((TURNS * CASES.len()) as f64);
    let mut lines = Vec::new();
    for size in SIZES {
        let mut turns: Vec<Vec<Turn>> = CASES.iter().map(|_| Vec::new()).collect();
        for (_, turn) in CASES {
            // The warm-up.
            turn(size, time / 4)?;
        }
        for _ in 0..TURNS {
            for ((_, turn), all) in CASES.iter().zip(&mut turns) {
                all.push(turn(size, time)?);
            }
        }
        let rate = |turn: &Turn| turn.datagrams as f64 * 1e9 / turn.used.cpu_ns.max(1) as f64;
        let bare: Vec<f64> = turns[0].iter().map(rate).collect();
        let of = |turns: &[Turn], what: &dyn Fn(&Turn) -> f64| median(turns.iter().map(what).collect());
        let each = |sum: u64, turn: &Turn| sum as f64 / turn.datagrams.max(1) as f64;
        lines.extend(CASES.iter().zip(&turns).map(|((reader, _), turns)| Line {
            bench: "reader",
            reader,
            bytes: size,
            ns_per_datagram: of(turns, &|turn| turn.seconds * 1e9 / turn.datagrams.max(1) as f64),
            cpu_ns_per_datagram: of(turns, &|turn| each(turn.used.cpu_ns, turn)),
            datagrams_per_cpu_s: of(turns, &rate),
            allocated_bytes: of(turns, &|turn| each(turn.used.bytes, turn)),
            allocations: of(turns, &|turn| each(turn.used.count, turn)),
            ratio: median(turns.iter().zip(&bare).map(|(turn, bare)| rate(turn) / bare).collect()),
        }));
    }
    Ok(lines)
}

/// The lines as text.
pub fn table(lines: &[Line]) -> String {
    super::report::text(
        &["datagram", "reader", "us/op", "CPU us", "datagrams/CPU s", "ratio", "B/op", "allocs/op"],
        lines.iter().map(|line| {
            vec![
                format!("{} KB", line.bytes.div_ceil(1 << 10)),
                line.reader.to_owned(),
                format!("{:.2}", line.ns_per_datagram / 1e3),
                format!("{:.2}", line.cpu_ns_per_datagram / 1e3),
                format!("{:.0}", line.datagrams_per_cpu_s),
                format!("{:.2}", line.ratio),
                format!("{:.0}", line.allocated_bytes),
                format!("{:.3}", line.allocations),
            ]
        }),
        "us/op: from send to read, both sides. CPU: of the reading thread. Ratio: datagrams per processor second\n\
         against recv into one buffer. pooled: the shard of serve; fresh: a buffer allocated for each datagram.",
    )
}
