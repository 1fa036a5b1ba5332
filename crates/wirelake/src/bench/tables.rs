//! `bench tables`: look-ups per second in a table that all threads share, by how it is protected.
//!
//! Every thread looks up endpoints drawn beforehand, 64 to a batch, and replaces one of them now and then. What is
//! measured against is a private table per thread: nothing shared, as many copies as threads. All tables take turns
//! within a cell, so that a drift of the machine favours none.

use std::collections::HashMap;
use std::hint::black_box;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use mem::counting::allocated_bytes;
use mem::map::EpochMap;
use mem::slab::{self, Handle, Record, Slab};
use mem::snapshot::Snapshot;
use model::Endpoint;
use serde::Serialize;

use super::Settings;
use super::report::{median, thread_cpu_ns};

/// Entries of each table.
const ENTRIES: u32 = 16_384;
/// Look-ups of a batch: what one recvmmsg returns.
const BATCH: usize = 64;
/// Keys drawn per thread.
const DRAWN: usize = 65_536;
/// Turns of each table in a cell; the median counts.
const TURNS: usize = 3;
/// Threads of the cells.
const THREADS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Writes in a thousand operations.
const WRITES: [u64; 4] = [0, 1, 10, 100];
/// How often the garbage is looked at.
const LOOK: Duration = Duration::from_millis(2);

type Map<V> = HashMap<Endpoint, V, foldhash::fast::FixedState>;

/// What a look-up finds: a cache line.
#[derive(Debug, Clone, Copy)]
struct Value([u64; 8]);

impl Value {
    const fn new(number: u64) -> Self {
        Self([number; 8])
    }
}

impl Record<8> for Value {
    fn to_words(&self) -> [u64; 8] {
        self.0
    }

    fn from_words(words: [u64; 8]) -> Self {
        Self(words)
    }
}

/// One table in one cell.
#[derive(Debug, Serialize)]
pub struct Line {
    bench: &'static str,
    table: &'static str,
    threads: usize,
    write_percent: f64,
    lookups_per_s: f64,
    /// Against the private table per thread, in the same turns.
    ratio: f64,
    cpu_ns_per_lookup: f64,
    garbage_peak: usize,
    memory_bytes: u64,
    refused: u64,
}

/// What one turn of one table measured.
#[derive(Debug, Default)]
struct Turn {
    rate: f64,
    cpu_ns: f64,
    garbage: usize,
    memory: u64,
    refused: u64,
}

/// What a thread is to do.
struct Job<'a> {
    keys: &'a [Endpoint],
    writes: u64,
    stop: &'a AtomicBool,
}

impl Job<'_> {
    /// Batches until the end; returns the look-ups.
    fn run(&self, mut look: impl FnMut(&[Endpoint]) -> u64, mut write: impl FnMut(Endpoint, Value)) -> u64 {
        let (mut done, mut owed) = (0, 0);
        let mut written = self.keys.iter().rev().cycle();
        for batch in self.keys.chunks_exact(BATCH).cycle() {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            black_box(look(batch));
            done += BATCH as u64;
            owed += self.writes * BATCH as u64;
            while owed >= 1_000 {
                owed -= 1_000;
                if let Some(key) = written.next() {
                    write(*key, Value::new(done));
                }
            }
        }
        done
    }
}

/// A way to share a table.
trait Shared: Sync {
    /// A table of the keys, for so many threads.
    fn new(keys: &[Endpoint], threads: usize) -> Self;
    /// One thread's work; returns its look-ups.
    fn work(&self, number: usize, job: &Job<'_>) -> u64;
    /// Replaced entries that wait to be freed.
    fn garbage(&self) -> usize {
        0
    }
    /// Writes that were refused.
    fn refused(&self) -> u64 {
        0
    }
}

fn filled<V>(keys: &[Endpoint], value: impl Fn(u64) -> V) -> Map<V> {
    let mut map = Map::with_capacity_and_hasher(keys.len(), foldhash::fast::FixedState::default());
    map.extend((0..).zip(keys).map(|(number, key)| (*key, value(number))));
    map
}

fn sum<'a>(found: impl Iterator<Item = Option<&'a Value>>) -> u64 {
    found.flatten().fold(0, |sum, value| sum.wrapping_add(value.0[0]))
}

struct Private(Vec<Mutex<Map<Value>>>);

impl Shared for Private {
    fn new(keys: &[Endpoint], threads: usize) -> Self {
        Self((0..threads).map(|_| Mutex::new(filled(keys, Value::new))).collect())
    }

    fn work(&self, number: usize, job: &Job<'_>) -> u64 {
        // Locked once, for the whole turn.
        let map = std::cell::RefCell::new(self.0[number].lock().unwrap_or_else(PoisonError::into_inner));
        job.run(
            |batch| {
                let map = map.borrow();
                sum(batch.iter().map(|key| map.get(key)))
            },
            |key, value| _ = map.borrow_mut().insert(key, value),
        )
    }
}

struct Rwlock(RwLock<Map<Value>>);

impl Shared for Rwlock {
    fn new(keys: &[Endpoint], _: usize) -> Self {
        Self(RwLock::new(filled(keys, Value::new)))
    }

    fn work(&self, _: usize, job: &Job<'_>) -> u64 {
        let look = |key: &Endpoint| {
            self.0
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .get(key)
                .map_or(0, |value: &Value| value.0[0])
        };
        job.run(
            |batch| batch.iter().fold(0, |sum, key| sum.wrapping_add(look(key))),
            |key, value| _ = self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key, value),
        )
    }
}

struct RwlockBatch(Rwlock);

impl Shared for RwlockBatch {
    fn new(keys: &[Endpoint], threads: usize) -> Self {
        Self(Rwlock::new(keys, threads))
    }

    fn work(&self, _: usize, job: &Job<'_>) -> u64 {
        let lock = &self.0.0;
        job.run(
            |batch| {
                let map = lock.read().unwrap_or_else(PoisonError::into_inner);
                sum(batch.iter().map(|key| map.get(key)))
            },
            |key, value| _ = lock.write().unwrap_or_else(PoisonError::into_inner).insert(key, value),
        )
    }
}

struct Refcount(RwLock<Map<Arc<Value>>>);

impl Shared for Refcount {
    fn new(keys: &[Endpoint], _: usize) -> Self {
        Self(RwLock::new(filled(keys, |number| Arc::new(Value::new(number)))))
    }

    fn work(&self, _: usize, job: &Job<'_>) -> u64 {
        let look =
            |key: &Endpoint| self.0.read().unwrap_or_else(PoisonError::into_inner).get(key).map(Arc::clone);
        job.run(
            |batch| {
                let found = batch.iter().filter_map(look);
                found.fold(0, |sum, value| sum.wrapping_add(value.0[0]))
            },
            |key, value| {
                drop(self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::new(value)));
            },
        )
    }
}

struct Epoch(EpochMap<Endpoint, Value>);

impl Shared for Epoch {
    fn new(keys: &[Endpoint], _: usize) -> Self {
        let map = EpochMap::new(keys.len());
        for (number, key) in (0..).zip(keys) {
            let _ = map.insert(*key, Value::new(number));
        }
        Self(map)
    }

    fn work(&self, _: usize, job: &Job<'_>) -> u64 {
        let mut reader = self.0.reader();
        job.run(
            |batch| {
                let guard = reader.pin();
                sum(batch.iter().map(|key| guard.get(key)))
            },
            |key, value| _ = self.0.insert(key, value),
        )
    }

    fn garbage(&self) -> usize {
        self.0.gauges().waiting
    }

    fn refused(&self) -> u64 {
        let gauges = self.0.gauges();
        gauges.refused_full + gauges.refused_waiting
    }
}

struct EpochEach(Epoch);

impl Shared for EpochEach {
    fn new(keys: &[Endpoint], threads: usize) -> Self {
        Self(Epoch::new(keys, threads))
    }

    fn work(&self, _: usize, job: &Job<'_>) -> u64 {
        let mut reader = self.0.0.reader();
        job.run(
            |batch| {
                let mut look = |key: &Endpoint| reader.pin().get(key).map_or(0, |value: &Value| value.0[0]);
                batch.iter().fold(0, |sum, key| sum.wrapping_add(look(key)))
            },
            |key, value| _ = self.0.0.insert(key, value),
        )
    }

    fn garbage(&self) -> usize {
        self.0.garbage()
    }

    fn refused(&self) -> u64 {
        self.0.refused()
    }
}

struct Whole(Snapshot<Map<Value>>);

impl Shared for Whole {
    fn new(keys: &[Endpoint], _: usize) -> Self {
        Self(Snapshot::new(filled(keys, Value::new)))
    }

    fn work(&self, _: usize, job: &Job<'_>) -> u64 {
        let mut view = self.0.view();
        job.run(
            |batch| {
                let map = view.look();
                sum(batch.iter().map(|key| map.get(key)))
            },
            |key, value| {
                self.0.update(|map| {
                    let mut map = map.clone();
                    map.insert(key, value);
                    map
                });
            },
        )
    }
}

/// Records are found by handle, so the key is only drawn: what is measured is the copy and its check. Each thread
/// writes its own records and reads those of all.
struct Slabs {
    writers: Vec<Mutex<slab::Writer<8>>>,
    records: Map<(Slab<8>, usize, Handle)>,
}

impl Shared for Slabs {
    fn new(keys: &[Endpoint], threads: usize) -> Self {
        let mut writers: Vec<_> =
            (0..threads).map(|_| slab::slab::<8>(keys.len().div_ceil(threads))).collect();
        let mut records = Map::with_capacity_and_hasher(keys.len(), foldhash::fast::FixedState::default());
        for (number, key) in keys.iter().enumerate() {
            let owner = number % threads;
            if let Some(handle) = writers[owner].insert(&Value::new(number as u64)) {
                records.insert(*key, (writers[owner].slab(), owner, handle));
            }
        }
        Self { writers: writers.into_iter().map(Mutex::new).collect(), records }
    }

    fn work(&self, number: usize, job: &Job<'_>) -> u64 {
        let mut writer = self.writers[number].lock().unwrap_or_else(PoisonError::into_inner);
        // What threads pass on to each other: handles, in the order of the draw.
        let drawn: Vec<_> = job.keys.iter().filter_map(|key| self.records.get(key)).collect();
        let own: Vec<Handle> =
            drawn.iter().filter(|(_, owner, _)| *owner == number).map(|(_, _, handle)| *handle).collect();
        let (mut at, mut own) = (0, own.iter().cycle());
        job.run(
            |batch| {
                let mut total = 0u64;
                for (slab, _, handle) in drawn.iter().cycle().skip(at).take(batch.len()) {
                    total = total.wrapping_add(slab.get::<Value>(*handle).map_or(0, |value| value.0[0]));
                }
                at = (at + batch.len()) % drawn.len().max(1);
                total
            },
            |_, value| {
                if let Some(handle) = own.next() {
                    writer.update(*handle, &value);
                }
            },
        )
    }
}

type Case = (&'static str, fn(&Cell<'_>) -> Turn);

const CASES: [Case; 8] = [
    ("private", turn::<Private>),
    ("rwlock", turn::<Rwlock>),
    ("rwlock, per batch", turn::<RwlockBatch>),
    ("refcount", turn::<Refcount>),
    ("epoch, per look-up", turn::<EpochEach>),
    ("epoch", turn::<Epoch>),
    ("snapshot", turn::<Whole>),
    ("slab", turn::<Slabs>),
];

/// Threads, share of writes, and what is looked up.
struct Cell<'a> {
    threads: usize,
    writes: u64,
    time: Duration,
    keys: &'a [Endpoint],
    drawn: &'a [Vec<Endpoint>],
}

fn turn<S: Shared>(cell: &Cell<'_>) -> Turn {
    let before = allocated_bytes();
    let shared = S::new(cell.keys, cell.threads);
    let memory = allocated_bytes() - before;
    let (stop, start) = (AtomicBool::new(false), Barrier::new(cell.threads + 1));
    let mut garbage = 0;
    let (done, cpu, seconds) = thread::scope(|scope| {
        let threads: Vec<_> = (0..cell.threads)
            .map(|number| {
                let job = Job { keys: &cell.drawn[number], writes: cell.writes, stop: &stop };
                let (shared, start) = (&shared, &start);
                scope.spawn(move || {
                    start.wait();
                    let cpu = thread_cpu_ns();
                    let done = shared.work(number, &job);
                    (done, thread_cpu_ns() - cpu)
                })
            })
            .collect();
        start.wait();
        let began = Instant::now();
        while began.elapsed() < cell.time {
            thread::sleep(LOOK.min(cell.time));
            garbage = garbage.max(shared.garbage());
        }
        stop.store(true, Ordering::Relaxed);
        let seconds = began.elapsed().as_secs_f64();
        let counts = threads.into_iter().filter_map(|thread| thread.join().ok());
        let (done, cpu) = counts.fold((0, 0), |(done, cpu), (more, ns)| (done + more, cpu + ns));
        (done, cpu, seconds)
    });
    Turn {
        rate: done as f64 / seconds,
        cpu_ns: cpu as f64 / done.max(1) as f64,
        garbage,
        memory,
        refused: shared.refused(),
    }
}

/// Every cell.
pub fn run(settings: &Settings) -> Vec<Line> {
    let keys: Vec<Endpoint> = (0..ENTRIES)
        .map(|number| {
            Endpoint::new(Ipv4Addr::from_bits(0x0a00_0000 | number >> 2).into(), 16_384 + (number & 3) as u16)
        })
        .collect();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = || {
        // xorshift64*, Vigna 2016.
        random ^= random >> 12;
        random ^= random << 25;
        random ^= random >> 27;
        keys[(random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 50) as usize % keys.len()]
    };
    let drawn: Vec<Vec<Endpoint>> =
        (0..THREADS[THREADS.len() - 1]).map(|_| (0..DRAWN).map(|_| draw()).collect()).collect();
    let mut lines = Vec::new();
    for threads in THREADS {
        for writes in WRITES {
            let time = settings.seconds.div_f64((CASES.len() * TURNS) as f64);
            lines.extend(cell(&Cell { threads, writes, time, keys: &keys, drawn: &drawn }));
        }
    }
    lines
}

fn cell(cell: &Cell<'_>) -> Vec<Line> {
    let mut turns: Vec<Vec<Turn>> = CASES.iter().map(|_| Vec::new()).collect();
    // The first turns are the warm-up.
    for (_, turn) in CASES {
        let _ = turn(&Cell { time: cell.time / 4, ..*cell });
    }
    for _ in 0..TURNS {
        for ((_, turn), all) in CASES.iter().zip(&mut turns) {
            all.push(turn(cell));
        }
    }
    let private: Vec<f64> = turns[0].iter().map(|turn| turn.rate).collect();
    let of = |turns: &[Turn], what: fn(&Turn) -> f64| median(turns.iter().map(what).collect());
    CASES
        .iter()
        .zip(&turns)
        .map(|((table, _), turns)| Line {
            bench: "tables",
            table,
            threads: cell.threads,
            write_percent: cell.writes as f64 / 10.0,
            lookups_per_s: of(turns, |turn| turn.rate),
            ratio: median(turns.iter().zip(&private).map(|(turn, private)| turn.rate / private).collect()),
            cpu_ns_per_lookup: of(turns, |turn| turn.cpu_ns),
            garbage_peak: turns.iter().map(|turn| turn.garbage).max().unwrap_or(0),
            memory_bytes: turns.iter().map(|turn| turn.memory).max().unwrap_or(0),
            refused: turns.iter().map(|turn| turn.refused).sum(),
        })
        .collect()
}

/// The lines as text.
pub fn table(lines: &[Line]) -> String {
    super::report::text(
        &["table", "threads", "writes %", "M look-ups/s", "ratio", "CPU ns", "garbage", "MiB", "refused"],
        lines.iter().map(|line| {
            vec![
                line.table.to_owned(),
                line.threads.to_string(),
                line.write_percent.to_string(),
                format!("{:.1}", line.lookups_per_s / 1e6),
                format!("{:.2}", line.ratio),
                format!("{:.1}", line.cpu_ns_per_lookup),
                line.garbage_peak.to_string(),
                format!("{:.1}", line.memory_bytes as f64 / f64::from(1 << 20)),
                line.refused.to_string(),
            ]
        }),
        &format!(
            "{ENTRIES} endpoints, batches of {BATCH}; ratio to a private table per thread in the same turns.\n\
             The slab is read by handle, without hashing. The snapshot copies the table with each write."
        ),
    )
}
