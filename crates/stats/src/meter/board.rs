//! Where threads publish their meters and readers look.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use mem::cycles;

use super::thread::{CURRENT, ENDED, Figure, Meters, SINCE, SLOTS, slot};
use super::{Activity, Crew, Meter};
use crate::page::Page;

type Member = (Crew, Arc<Page<SLOTS>>);

/// The meters of a program's threads.
#[derive(Debug, Clone, Default)]
pub struct MeterBoard {
    threads: Arc<Mutex<Vec<Member>>>,
}

impl MeterBoard {
    /// Adds a thread, in the first stage of its crew.
    pub fn thread(&self, crew: Crew) -> Meters {
        let page = Arc::new(Page::new());
        let meters = Meters::new(crew.first(), Arc::clone(&page));
        self.lock().push((crew, page));
        meters
    }

    /// All figures now: what each thread published, and the stage it is in charged up to this moment.
    pub fn snapshot(&self) -> Snapshot {
        let threads = self.lock().iter().map(|(crew, page)| Thread::read(*crew, page)).collect();
        Snapshot { taken: Instant::now(), cycles: cycles::now(), threads }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Member>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The figures of one thread.
#[derive(Debug, Clone)]
struct Thread {
    crew: Crew,
    values: [u64; SLOTS],
    ended: bool,
}

impl Thread {
    fn read(crew: Crew, page: &Page<SLOTS>) -> Self {
        let mut values = page.read();
        let ended = values[CURRENT] == ENDED;
        let current = Meter::ALL.iter().find(|meter| **meter as u64 == values[CURRENT]);
        if let Some(current) = current {
            let passed = cycles::now().saturating_sub(values[SINCE]);
            if let Some(value) = values.get_mut(slot(*current, Figure::Cycles)) {
                *value = value.wrapping_add(passed);
            }
        }
        Self { crew, values, ended }
    }

    fn get(&self, stage: Meter, figure: Figure) -> u64 {
        self.values.get(slot(stage, figure)).copied().unwrap_or(0)
    }
}

/// The meters of all threads at one moment.
#[derive(Debug, Clone)]
pub struct Snapshot {
    taken: Instant,
    cycles: u64,
    threads: Vec<Thread>,
}

impl Snapshot {
    /// The figures of two boards as one; `other` was taken at the same moment.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.threads.extend(other.threads);
        self
    }

    /// What happened since an earlier snapshot of the same boards, thread by thread.
    pub fn since<'a>(&'a self, earlier: &'a Self) -> Span<'a> {
        Span { from: earlier, to: self }
    }
}

/// What happened between two snapshots.
#[derive(Debug, Clone, Copy)]
pub struct Span<'a> {
    from: &'a Snapshot,
    to: &'a Snapshot,
}

impl Span<'_> {
    /// Its length.
    pub fn seconds(&self) -> f64 {
        self.to.taken.duration_since(self.from.taken).as_secs_f64()
    }

    /// Cycles per second, as counted in this span. 0 for an empty span.
    pub fn cycles_per_second(&self) -> f64 {
        let seconds = self.seconds();
        let cycles = self.to.cycles.saturating_sub(self.from.cycles);
        if seconds > 0.0 { cycles as f64 / seconds } else { 0.0 }
    }

    /// Threads of a crew that have not ended.
    pub fn threads(&self, crew: Crew) -> usize {
        self.to.threads.iter().filter(|thread| thread.crew == crew && !thread.ended).count()
    }

    /// Seconds that all threads of its crew spent in a stage.
    pub fn time(&self, stage: Meter) -> f64 {
        let rate = self.cycles_per_second();
        if rate > 0.0 { self.sum(stage, Figure::Cycles) as f64 / rate } else { 0.0 }
    }

    /// Batches that went through a stage.
    pub fn batches(&self, stage: Meter) -> u64 {
        self.sum(stage, Figure::Batches)
    }

    /// Units that went through a stage.
    pub fn units(&self, stage: Meter) -> u64 {
        self.sum(stage, Figure::Units)
    }

    /// What waits in front of a stage, at the end of the span, and how much may; `None` where there is no queue.
    pub fn queue(&self, stage: Meter) -> Option<(u64, u64)> {
        let all = self.to.threads.iter().filter(|thread| thread.crew == stage.crew() && !thread.ended);
        let (length, limit) = all.fold((0u64, 0u64), |(length, limit), thread| {
            (
                length.saturating_add(thread.get(stage, Figure::Queue)),
                limit.saturating_add(thread.get(stage, Figure::Limit)),
            )
        });
        (limit > 0).then_some((length, limit))
    }

    /// The shares of its time that the busiest thread of a crew spent in each stage; `None` without a thread. Busiest is
    /// who waited for work the least.
    pub fn busiest(&self, crew: Crew) -> Option<Vec<(Meter, f64)>> {
        let shares = |at: usize| -> Vec<(Meter, f64)> {
            let times: Vec<(Meter, u64)> =
                crew.stages().iter().map(|stage| (*stage, self.of(at, *stage, Figure::Cycles))).collect();
            let life = times.iter().map(|(_, cycles)| *cycles).sum::<u64>().max(1);
            times.into_iter().map(|(stage, cycles)| (stage, cycles as f64 / life as f64)).collect()
        };
        let own = (0..self.to.threads.len())
            .filter(|at| self.to.threads.get(*at).is_some_and(|thread| thread.crew == crew && !thread.ended));
        own.map(shares).min_by(|one, other| idle(one).total_cmp(&idle(other)))
    }

    fn sum(&self, stage: Meter, figure: Figure) -> u64 {
        (0..self.to.threads.len())
            .filter(|at| self.to.threads.get(*at).is_some_and(|thread| thread.crew == stage.crew()))
            .map(|at| self.of(at, stage, figure))
            .sum()
    }

    fn of(&self, at: usize, stage: Meter, figure: Figure) -> u64 {
        let get =
            |snapshot: &Snapshot| snapshot.threads.get(at).map_or(0, |thread| thread.get(stage, figure));
        get(self.to).saturating_sub(get(self.from))
    }
}

fn idle(shares: &[(Meter, f64)]) -> f64 {
    shares.iter().filter(|(stage, _)| stage.activity() == Activity::Idle).map(|(_, share)| share).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::{adopt, during};

    /// Turns the core around for some thousand cycles.
    fn spin(cycles: u64) {
        let start = cycles::now();
        while cycles::now().wrapping_sub(start) < cycles {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn every_cycle_of_a_thread_is_in_one_stage() {
        let board = MeterBoard::default();
        let start = cycles::now();
        let mut meters = board.thread(Crew::Shards);
        let before = board.snapshot();
        assert_eq!(meters.enter(Meter::HepReceive), Meter::HepWait);
        meters.sample(100, 300);
        meters.enter(Meter::HepDecode);
        spin(400_000);
        meters.enter(Meter::HepSeal);
        meters.batch(Meter::HepSeal, 12);
        meters.queue(Meter::HepReceive, 3, 10);
        meters.publish();
        // Not published, and yet charged: the reader knows since when.
        spin(100_000);
        let after = board.snapshot();
        let span = after.since(&before);
        let life: u64 = Crew::Shards.stages().iter().map(|stage| span.sum(*stage, Figure::Cycles)).sum();
        assert!(life >= 500_000 && life <= cycles::now() - start, "{life}");
        let decode = span.sum(Meter::HepDecode, Figure::Cycles);
        let append = span.sum(Meter::HepAppend, Figure::Cycles);
        assert!(append.abs_diff(decode * 3) <= 3, "{decode} {append}");
        assert!(span.sum(Meter::HepSeal, Figure::Cycles) >= 100_000);
        assert_eq!((span.batches(Meter::HepSeal), span.units(Meter::HepSeal)), (1, 12));
        assert_eq!((span.queue(Meter::HepReceive), span.queue(Meter::HepSeal)), (Some((3, 10)), None));
        let shares = span.busiest(Crew::Shards).unwrap();
        let sum: f64 = shares.iter().map(|(_, share)| share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{shares:?}");
        assert!(span.busiest(Crew::Writers).is_none());
    }

    #[test]
    fn a_thread_that_ended_grows_no_older() {
        let board = MeterBoard::default();
        drop(board.thread(Crew::Writers));
        let (one, other) = (board.snapshot(), board.snapshot());
        assert_eq!(other.since(&one).sum(Meter::StoreWait, Figure::Cycles), 0);
        assert_eq!(
            (other.since(&one).threads(Crew::Writers), other.since(&one).time(Meter::StoreWait)),
            (0, 0.0)
        );
    }

    #[test]
    fn stages_are_found_by_the_thread() {
        let board = MeterBoard::default();
        let before = board.snapshot();
        during(Meter::StoreSync, 1, || ());
        let meters = board.thread(Crew::Writers);
        std::thread::spawn(move || {
            adopt(meters);
            during(Meter::StoreEncode, 7, || during(Meter::StoreWrite, 4_096, || spin(200_000)));
        })
        .join()
        .unwrap();
        let after = board.snapshot();
        let span = after.since(&before);
        assert_eq!((span.units(Meter::StoreEncode), span.units(Meter::StoreWrite)), (7, 4_096));
        assert_eq!(span.batches(Meter::StoreSync), 0, "that thread had no meters");
        assert!(span.sum(Meter::StoreWrite, Figure::Cycles) >= 200_000);
    }
}
