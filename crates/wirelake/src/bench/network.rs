//! `bench udp` and `bench tcp`: sockets to columns, against the bare receive loop, in turns.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use lake::rows::{RowOptions, Sealed};
use listen::send::{self, Mode, Until};
use listen::udp::Gro;
use listen::{Shard, ShardConfig, Sink, Stop, TcpOptions, UdpOptions, bare, bind_tcp, bind_udp};
use mem::counting::allocations;
use mem::pool::Pool;
use stats::{Board, Counter, DropReason};

use super::report::{self, Row};
use super::{INVITE, Settings, messages};
use crate::pipeline::{Handover, HepSink, Live, SealLimits, frame};

/// Turns of each side; the median counts.
const TURNS: u32 = 5;
/// Receive memory per shard: batches are dropped when sealed, so little is needed.
const BLOCK_BYTES: usize = 1 << 20;
const BLOCKS: usize = 64;
/// Messages per write of a TCP sender.
const MESSAGES_PER_WRITE: usize = 256;
/// How long a receiver goes on after the senders ended.
const SETTLE: Duration = Duration::from_millis(150);

/// A store that keeps nothing, so that memory returns at once.
#[derive(Debug)]
struct Discard;

impl Handover for Discard {
    fn take(&mut self, sealed: Sealed) {
        drop(sealed);
    }
}

/// What one turn measured.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Turn {
    received: u64,
    sent: u64,
    drops: u64,
    kernel_drops: u64,
    seconds: f64,
    cpu_ns: u64,
    allocations: u64,
}

/// What is sent, over and over.
pub(super) struct Traffic {
    pub name: &'static str,
    pub messages: Vec<Vec<u8>>,
}

impl Traffic {
    /// One message, the one that all figures are of.
    fn one() -> Self {
        Self { name: "one message", messages: vec![INVITE.to_vec(); 64] }
    }

    /// What a busy proxy mirrors.
    fn mixed() -> Self {
        Self { name: "mixed messages", messages: messages::mix() }
    }

    fn mean_bytes(&self) -> f64 {
        let bytes: usize = self.messages.iter().map(Vec::len).sum();
        bytes as f64 / self.messages.len() as f64
    }
}

/// The numbers of shards and senders to measure: those asked for, or up to one shard per core with one sender, as many
/// and twice as many.
fn shapes(settings: &Settings) -> Vec<Settings> {
    if !settings.matrix {
        return vec![*settings];
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let shards =
        std::iter::successors(Some(1), |shards| Some(shards * 2)).take_while(|shards| *shards <= cores);
    shards
        .flat_map(|shards| {
            let mut senders = vec![1, shards, 2 * shards];
            senders.dedup();
            senders.into_iter().map(move |senders| Settings { shards, senders, ..*settings })
        })
        .collect()
}

/// UDP from ordinary senders, and with segmentation offload on both sides (of messages of one size, which it needs).
pub fn udp(settings: &Settings) -> Result<Vec<Row>> {
    let (one, mixed) = (Traffic::one(), Traffic::mixed());
    let mut rows = Vec::new();
    for settings in &shapes(settings) {
        for (case, traffic, mode, gro) in [
            ("ordinary senders", &one, Mode::Plain, Gro::Exact),
            ("ordinary senders", &mixed, Mode::Plain, Gro::Exact),
            ("GSO senders, GRO", &one, Mode::Gso, Gro::Exact),
            ("GSO senders, no GRO", &one, Mode::Gso, Gro::Off),
        ] {
            let turn = |ours: bool| udp_turn(settings, traffic, mode, gro, ours);
            let case = format!("{case}, {}", traffic.name);
            let bare = "recvmmsg of 64 into a fixed buffer, same sockets and senders";
            rows.push(compare(settings, "udp", case, traffic, bare, turn)?);
        }
    }
    Ok(rows)
}

/// TCP, one connection per sender.
pub fn tcp(settings: &Settings) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for settings in &shapes(settings) {
        for traffic in [Traffic::one(), Traffic::mixed()] {
            let turn = |ours: bool| tcp_turn(settings, &traffic, ours);
            let case = format!("one connection per sender, {}", traffic.name);
            let bare = "read into one 256 KiB buffer, same sockets and senders";
            rows.push(compare(settings, "tcp", case, &traffic, bare, turn)?);
        }
    }
    Ok(rows)
}

/// Runs both sides in turns and takes the medians; the ratio is the median of the turns' ratios.
pub(super) fn compare(
    settings: &Settings,
    bench: &'static str,
    case: String,
    traffic: &Traffic,
    what_is_bare: &'static str,
    turn: impl Fn(bool) -> Result<Turn>,
) -> Result<Row> {
    turn(true)?;
    let (mut ours, mut bare, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut total = Turn::default();
    for number in 0..TURNS {
        // Who goes first changes, so that a drift of the machine favours neither.
        let (first, second) = (turn(number % 2 == 0)?, turn(number % 2 != 0)?);
        let (own, other) = if number % 2 == 0 { (first, second) } else { (second, first) };
        let rate = |turn: &Turn| turn.received as f64 / turn.seconds;
        ratios.push(rate(&own) / rate(&other));
        ours.push(rate(&own));
        bare.push(rate(&other));
        total.received += own.received;
        total.sent += own.sent;
        total.drops += own.drops;
        total.kernel_drops += own.kernel_drops;
        total.cpu_ns += own.cpu_ns;
        total.allocations += own.allocations;
    }
    let each = |sum: u64| sum as f64 / total.received.max(1) as f64;
    let rate = report::median(ours);
    let unaccounted = i128::from(total.sent) - i128::from(total.received) - i128::from(total.drops);
    Ok(Row {
        bench,
        case,
        shards: settings.shards,
        senders: settings.senders,
        messages: total.received,
        ns_per_message: each(total.cpu_ns),
        allocs_per_message: each(total.allocations),
        rate_per_s: rate,
        gbit_per_s: Some(rate * traffic.mean_bytes() * 8.0 / 1e9),
        bare_rate_per_s: Some(report::median(bare)),
        ratio: Some(report::median(ratios)),
        bare: what_is_bare,
        sent: total.sent,
        drops: total.drops,
        kernel_drops: total.kernel_drops,
        unaccounted: i64::try_from(unaccounted).unwrap_or(i64::MAX),
        peak_rss_mib: report::peak_rss_mib(),
        ..Row::default()
    })
}

/// Each side gets an equal part of the time.
fn turn_time(settings: &Settings) -> Duration {
    settings.seconds.div_f64(f64::from(TURNS))
}

fn udp_turn(settings: &Settings, traffic: &Traffic, mode: Mode, gro: Gro, ours: bool) -> Result<Turn> {
    let options = UdpOptions { gro, ..UdpOptions::default() };
    let sockets = bind_udp(SocketAddr::from(([127, 0, 0, 1], 0)), settings.shards, &options)?;
    let address = sockets.first().context("no socket")?.local_addr();
    let senders = |until: Until| -> Result<u64> { Ok(send::udp(address, &traffic.messages, mode, &until)?) };
    if ours {
        let mut shards = shards(settings)?;
        for ((shard, _), socket) in shards.iter_mut().zip(sockets) {
            shard.add_udp(socket)?;
        }
        return ours_turn(settings, shards, hep_sink, senders);
    }
    let receivers = sockets.into_iter().map(|socket| move |stop: &Stop| bare::udp(&socket, stop)).collect();
    bare_turn(settings, receivers, senders, |count| count.datagrams)
}

fn tcp_turn(settings: &Settings, traffic: &Traffic, ours: bool) -> Result<Turn> {
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let repeats = (MESSAGES_PER_WRITE / traffic.messages.len()).max(1);
    let bytes = traffic.messages.concat().repeat(repeats);
    let messages_per_write = (repeats * traffic.messages.len()) as u64;
    // A bare loop serves one connection, so each sender has a listener of its own, on both sides.
    let listeners = (0..settings.senders)
        .map(|_| bind_tcp(address, 1, &TcpOptions::default())?.pop().context("no listener"))
        .collect::<Result<Vec<_>>>()?;
    let addresses: Vec<SocketAddr> = listeners.iter().map(listen::TcpListener::local_addr).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let senders = |until: Until| -> Result<u64> {
        let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let address = addresses.get(number).context("no address")?;
        Ok(send::tcp(*address, &bytes, &until)? * messages_per_write)
    };
    if ours {
        let mut shards = shards(settings)?;
        let count = shards.len();
        for (number, listener) in listeners.into_iter().enumerate() {
            shards[number % count].0.add_tcp(listener)?;
        }
        return ours_turn(settings, shards, hep_sink, senders);
    }
    let receivers =
        listeners.into_iter().map(|listener| move |stop: &Stop| bare::tcp(&listener, stop)).collect();
    bare_turn(settings, receivers, senders, |count| (count.bytes as f64 / traffic.mean_bytes()) as u64)
}

type Bench = (Shard, Board);

fn shards(settings: &Settings) -> Result<Vec<Bench>> {
    (0..settings.shards)
        .map(|_| {
            let board = Board::default();
            let config = ShardConfig::new(frame);
            Ok((Shard::new(config, Pool::new(BLOCK_BYTES, BLOCKS), board.shard())?, board))
        })
        .collect()
}

/// Sends for the turn's time on every sender; returns what was sent and how long it took.
fn send_all(settings: &Settings, senders: &(impl Fn(Until) -> Result<u64> + Sync)) -> Result<(u64, f64)> {
    let stop = Stop::new()?;
    let start = Instant::now();
    let sent = thread::scope(|scope| {
        let threads: Vec<_> = (0..settings.senders)
            .map(|_| {
                let until = Until::Stop(stop.clone());
                scope.spawn(move || senders(until))
            })
            .collect();
        thread::sleep(turn_time(settings));
        stop.set();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("a sender panicked"))))
            .sum::<Result<u64>>()
    })?;
    Ok((sent, start.elapsed().as_secs_f64()))
}

/// What `serve` does with HEP, but for the lake.
fn hep_sink() -> HepSink<Discard> {
    let limits = SealLimits { rows: 8_192, bytes: 16 << 20, age_ns: 250_000_000 };
    HepSink::new(Discard, limits, RowOptions::default(), 1 << 18, &Live::new(b""))
}

/// One turn of dropsonde: sockets to encoded batches, or the bare loop.
pub(super) fn dropsonde_turn<S: Sink>(
    settings: &Settings,
    traffic: &Traffic,
    sink: fn() -> S,
    ours: bool,
) -> Result<Turn> {
    let options = UdpOptions { gro: Gro::Off, ..UdpOptions::default() };
    let sockets = bind_udp(SocketAddr::from(([127, 0, 0, 1], 0)), settings.shards, &options)?;
    let address = sockets.first().context("no socket")?.local_addr();
    let senders =
        |until: Until| -> Result<u64> { Ok(send::udp(address, &traffic.messages, Mode::Plain, &until)?) };
    if ours {
        let mut shards = shards(settings)?;
        for ((shard, _), socket) in shards.iter_mut().zip(sockets) {
            shard.add_udp(socket)?;
        }
        return ours_turn(settings, shards, sink, senders);
    }
    let receivers = sockets.into_iter().map(|socket| move |stop: &Stop| bare::udp(&socket, stop)).collect();
    bare_turn(settings, receivers, senders, |count| count.datagrams)
}

fn ours_turn<S: Sink>(
    settings: &Settings,
    shards: Vec<Bench>,
    sink: fn() -> S,
    senders: impl Fn(Until) -> Result<u64> + Sync,
) -> Result<Turn> {
    let stop = Stop::new()?;
    thread::scope(|scope| {
        let receivers: Vec<_> = shards
            .into_iter()
            .map(|(mut shard, board)| {
                let stop = stop.clone();
                scope.spawn(move || {
                    let mut sink = sink();
                    let (cpu, allocated) = (report::thread_cpu_ns(), allocations());
                    shard.run(&mut sink, &stop)?;
                    Ok::<_, std::io::Error>((report::thread_cpu_ns() - cpu, allocations() - allocated, board))
                })
            })
            .collect();
        let (sent, seconds) = send_all(settings, &senders)?;
        thread::sleep(SETTLE);
        stop.set();
        let mut turn = Turn { sent, seconds, ..Turn::default() };
        for receiver in receivers {
            let (cpu, allocated, board) = receiver.join().map_err(|_| anyhow!("a shard panicked"))??;
            let totals = board.totals();
            // A sink makes of each message that was read a row or a drop. A sender that ends within a frame sent none.
            let kernel = totals.dropped(DropReason::KernelBuffer);
            let unread = [DropReason::Stopping, DropReason::ConnectionLimit].map(|why| totals.dropped(why));
            let read = totals.get(Counter::UdpDatagrams) + totals.get(Counter::TcpFrames);
            turn.received += read - (totals.drops() - kernel - unread.iter().sum::<u64>());
            turn.drops += totals.drops() - totals.dropped(DropReason::FrameIncomplete);
            turn.kernel_drops += kernel;
            turn.cpu_ns += cpu;
            turn.allocations += allocated;
        }
        Ok(turn)
    })
}

fn bare_turn<R>(
    settings: &Settings,
    receivers: Vec<R>,
    senders: impl Fn(Until) -> Result<u64> + Sync,
    messages: impl Fn(bare::BareCount) -> u64,
) -> Result<Turn>
where
    R: FnOnce(&Stop) -> std::io::Result<bare::BareCount> + Send,
{
    let stop = Stop::new()?;
    thread::scope(|scope| {
        let receivers: Vec<_> = receivers
            .into_iter()
            .map(|receive| {
                let stop = stop.clone();
                scope.spawn(move || receive(&stop))
            })
            .collect();
        let (sent, seconds) = send_all(settings, &senders)?;
        thread::sleep(SETTLE);
        stop.set();
        let mut turn = Turn { sent, seconds, ..Turn::default() };
        for receiver in receivers {
            let count = receiver.join().map_err(|_| anyhow!("a receiver panicked"))??;
            turn.received += messages(count);
        }
        Ok(turn)
    })
}
