//! `bench stream`: many senders of one-byte datagrams, each of which looks up four tables per packet.
//!
//! The experiment of FreeBSD's epoch(9): 64 `netperf -t UDP_STREAM -- -m 1`, where the output path looks up the
//! interface, its address, the neighbour and the endpoint, and the input path the endpoint once more. Here the
//! kernel's own tables stay as they are, and the four are ours, protected in five ways. The bare path is the same
//! senders and receivers without tables. A writer replaces a neighbour a thousand times a second.

use std::collections::HashMap;
use std::hint::black_box;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use mem::map::{EpochMap, Reader};
use mem::slab::{self, Handle, Record, Slab};
use mem::snapshot::{Snapshot, View};
use serde::Serialize;

use super::Settings;
use super::report::{median, thread_cpu_ns};

/// Senders, where none are asked for.
pub const SENDERS: usize = 64;
/// Turns of each case; the median counts.
const TURNS: usize = 3;
/// One packet in so many is timed.
const TIMED: u64 = 64;
/// Entries: interfaces, addresses, neighbours, endpoints.
const SIZES: [u32; 4] = [8, 32, 1_024, 16_384];
const NEIGHBOURS: usize = 2;
const ENDPOINTS: usize = 3;
/// How often a neighbour is replaced.
const WRITE_EVERY: Duration = Duration::from_millis(1);

type Map<V> = HashMap<u32, V, foldhash::fast::FixedState>;

#[derive(Debug, Clone, Copy)]
struct Value([u64; 4]);

impl Record<4> for Value {
    fn to_words(&self) -> [u64; 4] {
        self.0
    }

    fn from_words(words: [u64; 4]) -> Self {
        Self(words)
    }
}

/// One way of protecting the tables.
#[derive(Debug, Serialize)]
pub struct Line {
    bench: &'static str,
    protection: &'static str,
    senders: usize,
    receivers: usize,
    packets_per_s: f64,
    /// Against the senders without tables, in the same turns.
    ratio: f64,
    /// Part of the senders' time that went to the look-ups.
    lookup_share: f64,
    lookup_ns: f64,
    received_per_s: f64,
    /// The receivers', likewise.
    receive_lookup_share: f64,
    cpu_ns_per_packet: f64,
}

/// The four tables, for all threads.
trait Tables: Sync {
    type Lane: Send;
    fn new() -> Self;
    fn lane(&self) -> Self::Lane;
    /// Looks a key up in the tables from `first` on.
    fn look(&self, lane: &mut Self::Lane, key: u32, first: usize) -> u64;
    /// Replaces a neighbour.
    fn write(&self, key: u32);
}

fn keys(table: usize) -> std::ops::Range<u32> {
    0..SIZES[table]
}

const fn key_in(key: u32, table: usize) -> u32 {
    key % SIZES[table]
}

fn maps<V>(value: impl Fn(u32) -> V) -> [Map<V>; 4] {
    std::array::from_fn(|table| keys(table).map(|key| (key, value(key))).collect())
}

const fn value(key: u32) -> Value {
    Value([key as u64; 4])
}

struct Bare;

impl Tables for Bare {
    type Lane = ();

    fn new() -> Self {
        Self
    }

    fn lane(&self) {}

    fn look(&self, (): &mut (), key: u32, _: usize) -> u64 {
        u64::from(key)
    }

    fn write(&self, _: u32) {}
}

struct Rwlock([RwLock<Map<Value>>; 4]);

impl Tables for Rwlock {
    type Lane = ();

    fn new() -> Self {
        Self(maps(value).map(RwLock::new))
    }

    fn lane(&self) {}

    fn look(&self, (): &mut (), key: u32, first: usize) -> u64 {
        let found = (first..4).filter_map(|table| {
            let map = self.0[table].read().unwrap_or_else(PoisonError::into_inner);
            map.get(&key_in(key, table)).map(|value| value.0[0])
        });
        found.sum()
    }

    fn write(&self, key: u32) {
        let mut map = self.0[NEIGHBOURS].write().unwrap_or_else(PoisonError::into_inner);
        map.insert(key_in(key, NEIGHBOURS), value(key));
    }
}

struct Refcount([RwLock<Map<Arc<Value>>>; 4]);

impl Tables for Refcount {
    type Lane = ();

    fn new() -> Self {
        Self(maps(|key| Arc::new(value(key))).map(RwLock::new))
    }

    fn lane(&self) {}

    fn look(&self, (): &mut (), key: u32, first: usize) -> u64 {
        // All references are held to the end of the packet, as the kernel held them.
        let found: [Option<Arc<Value>>; 4] = std::array::from_fn(|table| {
            let map = self.0[table].read().unwrap_or_else(PoisonError::into_inner);
            (table >= first).then(|| map.get(&key_in(key, table)).map(Arc::clone)).flatten()
        });
        found.iter().flatten().map(|value| value.0[0]).sum()
    }

    fn write(&self, key: u32) {
        let mut map = self.0[NEIGHBOURS].write().unwrap_or_else(PoisonError::into_inner);
        map.insert(key_in(key, NEIGHBOURS), Arc::new(value(key)));
    }
}

struct Epoch([EpochMap<u32, Value>; 4]);

impl Tables for Epoch {
    type Lane = [Reader<u32, Value>; 4];

    fn new() -> Self {
        Self(std::array::from_fn(|table| {
            let map = EpochMap::new(SIZES[table] as usize);
            for key in keys(table) {
                let _ = map.insert(key, value(key));
            }
            map
        }))
    }

    fn lane(&self) -> Self::Lane {
        std::array::from_fn(|table| self.0[table].reader())
    }

    fn look(&self, lane: &mut Self::Lane, key: u32, first: usize) -> u64 {
        // A guard per packet: to send may wait, and no guard is held over a wait.
        let found = lane.iter_mut().enumerate().skip(first).filter_map(|(table, reader)| {
            let guard = reader.pin();
            guard.get(&key_in(key, table)).map(|value| value.0[0])
        });
        found.sum()
    }

    fn write(&self, key: u32) {
        let _ = self.0[NEIGHBOURS].insert(key_in(key, NEIGHBOURS), value(key));
    }
}

struct Whole([Snapshot<Map<Value>>; 4]);

impl Tables for Whole {
    type Lane = [View<Map<Value>>; 4];

    fn new() -> Self {
        Self(maps(value).map(Snapshot::new))
    }

    fn lane(&self) -> Self::Lane {
        std::array::from_fn(|table| self.0[table].view())
    }

    fn look(&self, lane: &mut Self::Lane, key: u32, first: usize) -> u64 {
        let found = lane
            .iter_mut()
            .enumerate()
            .skip(first)
            .filter_map(|(table, view)| view.look().get(&key_in(key, table)).map(|value| value.0[0]));
        found.sum()
    }

    fn write(&self, key: u32) {
        self.0[NEIGHBOURS].update(|map| {
            let mut map = map.clone();
            map.insert(key_in(key, NEIGHBOURS), value(key));
            map
        });
    }
}

/// Records by handle; the handles are what a sender would have kept from its first packet.
struct Slabs {
    tables: [(Slab<4>, Vec<Handle>); 4],
    neighbours: std::sync::Mutex<slab::Writer<4>>,
    _writers: Vec<slab::Writer<4>>,
}

impl Tables for Slabs {
    type Lane = ();

    fn new() -> Self {
        let mut writers: Vec<slab::Writer<4>> = SIZES.map(|size| slab::slab(size as usize)).into();
        let tables = std::array::from_fn(|table| {
            let handles = keys(table).filter_map(|key| writers[table].insert(&value(key))).collect();
            (writers[table].slab(), handles)
        });
        let neighbours = writers.remove(NEIGHBOURS);
        Self { tables, neighbours: std::sync::Mutex::new(neighbours), _writers: writers }
    }

    fn lane(&self) {}

    fn look(&self, (): &mut (), key: u32, first: usize) -> u64 {
        let found = self.tables.iter().enumerate().skip(first).filter_map(|(table, (slab, handles))| {
            slab.get::<Value>(handles[key_in(key, table) as usize]).map(|value| value.0[0])
        });
        found.sum()
    }

    fn write(&self, key: u32) {
        let handle = self.tables[NEIGHBOURS].1[key_in(key, NEIGHBOURS) as usize];
        self.neighbours.lock().unwrap_or_else(PoisonError::into_inner).update(handle, &value(key));
    }
}

type Case = (&'static str, fn(&Settings, Duration) -> Result<Turn>);

const CASES: [Case; 6] = [
    ("none (bare)", turn::<Bare>),
    ("rwlock", turn::<Rwlock>),
    ("refcount", turn::<Refcount>),
    ("epoch", turn::<Epoch>),
    ("snapshot", turn::<Whole>),
    ("slab", turn::<Slabs>),
];

/// What one side did.
#[derive(Debug, Default, Clone, Copy)]
struct Side {
    packets: u64,
    timed: u64,
    timed_ns: u64,
    busy_ns: u64,
    cpu_ns: u64,
}

impl Side {
    fn add(self, other: Self) -> Self {
        Self {
            packets: self.packets + other.packets,
            timed: self.timed + other.timed,
            timed_ns: self.timed_ns + other.timed_ns,
            busy_ns: self.busy_ns + other.busy_ns,
            cpu_ns: self.cpu_ns + other.cpu_ns,
        }
    }

    fn lookup_ns(&self) -> f64 {
        self.timed_ns as f64 / self.timed.max(1) as f64
    }

    /// Part of the threads' time, waits for a processor included on both sides of the fraction.
    fn share(&self) -> f64 {
        self.lookup_ns() * self.packets as f64 / self.busy_ns.max(1) as f64
    }

    /// Looks up, and times one of [`TIMED`].
    fn look(&mut self, look: impl FnOnce() -> u64) {
        self.packets += 1;
        if !self.packets.is_multiple_of(TIMED) {
            black_box(look());
            return;
        }
        let start = Instant::now();
        black_box(look());
        self.timed_ns += start.elapsed().as_nanos() as u64;
        self.timed += 1;
    }
}

#[derive(Debug, Default)]
struct Turn {
    sent: Side,
    received: Side,
    seconds: f64,
}

fn turn<T: Tables>(settings: &Settings, time: Duration) -> Result<Turn> {
    let tables = T::new();
    let receivers = (0..settings.shards)
        .map(|_| {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.set_read_timeout(Some(Duration::from_millis(20)))?;
            Ok(socket)
        })
        .collect::<Result<Vec<_>>>()?;
    let addresses = receivers.iter().map(UdpSocket::local_addr).collect::<std::io::Result<Vec<_>>>()?;
    let senders = (0..settings.senders)
        .map(|number| {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            let to: &SocketAddr = addresses.get(number % addresses.len()).context("no receiver")?;
            socket.connect(to)?;
            Ok(socket)
        })
        .collect::<Result<Vec<_>>>()?;
    let (stop, end) = (AtomicBool::new(false), AtomicBool::new(false));
    Ok(thread::scope(|scope| {
        let (tables, stop, end) = (&tables, &stop, &end);
        let receiving: Vec<_> =
            receivers.into_iter().map(|socket| scope.spawn(move || receive(&socket, tables, end))).collect();
        let sending: Vec<_> = (0..)
            .zip(senders)
            .map(|(number, socket)| scope.spawn(move || send(&socket, number, tables, stop)))
            .collect();
        let start = Instant::now();
        let mut key = 0u32;
        while start.elapsed() < time {
            thread::sleep(WRITE_EVERY);
            key = key.wrapping_add(7);
            tables.write(key);
        }
        stop.store(true, Ordering::Relaxed);
        let sent =
            sending.into_iter().filter_map(|thread| thread.join().ok()).fold(Side::default(), Side::add);
        let seconds = start.elapsed().as_secs_f64();
        end.store(true, Ordering::Relaxed);
        let received = receiving.into_iter().filter_map(|thread| thread.join().ok());
        Turn { sent, received: received.fold(Side::default(), Side::add), seconds }
    }))
}

fn send<T: Tables>(socket: &UdpSocket, number: u32, tables: &T, stop: &AtomicBool) -> Side {
    let mut side = Side::default();
    let mut lane = tables.lane();
    let (start, cpu) = (Instant::now(), thread_cpu_ns());
    while !stop.load(Ordering::Relaxed) {
        side.look(|| tables.look(&mut lane, number, 0));
        // What the kernel refuses (ENOBUFS) cost its look-ups all the same, and is the same with and without.
        let _ = socket.send(&[0]);
    }
    side.busy_ns = start.elapsed().as_nanos() as u64;
    side.cpu_ns = thread_cpu_ns().saturating_sub(cpu);
    side
}

fn receive<T: Tables>(socket: &UdpSocket, tables: &T, end: &AtomicBool) -> Side {
    let mut side = Side::default();
    let mut lane = tables.lane();
    let mut buffer = [0; 64];
    let (start, cpu) = (Instant::now(), thread_cpu_ns());
    while !end.load(Ordering::Relaxed) {
        if let Ok((_, from)) = socket.recv_from(&mut buffer) {
            side.look(|| tables.look(&mut lane, u32::from(from.port()), ENDPOINTS));
        }
    }
    side.busy_ns = start.elapsed().as_nanos() as u64;
    side.cpu_ns = thread_cpu_ns().saturating_sub(cpu);
    side
}

/// Every case, in turns.
///
/// # Errors
/// When sockets cannot be made.
pub fn run(settings: &Settings) -> Result<Vec<Line>> {
    let time = settings.seconds.div_f64(TURNS as f64);
    let mut turns: Vec<Vec<Turn>> = CASES.iter().map(|_| Vec::new()).collect();
    for (_, turn) in CASES {
        // The warm-up.
        turn(settings, time / 4)?;
    }
    for _ in 0..TURNS {
        for ((_, turn), all) in CASES.iter().zip(&mut turns) {
            all.push(turn(settings, time)?);
        }
    }
    let rate = |turn: &Turn| turn.sent.packets as f64 / turn.seconds;
    let bare: Vec<f64> = turns[0].iter().map(rate).collect();
    let of = |turns: &[Turn], what: &dyn Fn(&Turn) -> f64| median(turns.iter().map(what).collect());
    let line = |(name, turns): (&'static str, &Vec<Turn>)| Line {
        bench: "stream",
        protection: name,
        senders: settings.senders,
        receivers: settings.shards,
        packets_per_s: of(turns, &rate),
        ratio: median(turns.iter().zip(&bare).map(|(turn, bare)| rate(turn) / bare).collect()),
        lookup_share: of(turns, &|turn| turn.sent.share()),
        lookup_ns: of(turns, &|turn| turn.sent.lookup_ns()),
        received_per_s: of(turns, &|turn| turn.received.packets as f64 / turn.seconds),
        receive_lookup_share: of(turns, &|turn| turn.received.share()),
        cpu_ns_per_packet: of(turns, &|turn| turn.sent.cpu_ns as f64 / turn.sent.packets.max(1) as f64),
    };
    Ok(CASES.iter().map(|(name, _)| *name).zip(&turns).map(line).collect())
}

/// The lines as text.
pub fn table(lines: &[Line]) -> String {
    super::report::text(
        &[
            "tables",
            "senders",
            "Mpps",
            "ratio",
            "look-ups",
            "ns",
            "CPU ns/packet",
            "received Mpps",
            "look-ups there",
        ],
        lines.iter().map(|line| {
            vec![
                line.protection.to_owned(),
                line.senders.to_string(),
                format!("{:.3}", line.packets_per_s / 1e6),
                format!("{:.2}", line.ratio),
                format!("{:.1} %", line.lookup_share * 100.0),
                format!("{:.0}", line.lookup_ns),
                format!("{:.0}", line.cpu_ns_per_packet),
                format!("{:.3}", line.received_per_s / 1e6),
                format!("{:.1} %", line.receive_lookup_share * 100.0),
            ]
        }),
        "1-byte datagrams over loopback, one send each; four look-ups per packet, a guard per packet; ratio to the\n\
         same senders and receivers without tables. Look-ups: part of the senders' time, and of the receivers'.",
    )
}
