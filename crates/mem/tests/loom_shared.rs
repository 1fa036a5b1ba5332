//! The shared tables under loom: every order in which threads can meet in them, with the reorderings that the
//! memory model allows.
//!
//! The files under test are compiled here a second time, with loom's primitives in place of std's. loom's cells
//! tell when a slot is written while somebody may still read it.

#![cfg(not(miri))]
#![allow(dead_code)]

mod sync {
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
    pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};

    /// Every further look multiplies the orders to be tried.
    pub(crate) const LOOKS: usize = 2;

    pub(crate) fn spin() {
        loom::thread::yield_now();
    }
}

#[path = "../src/epoch.rs"]
mod epoch;
#[path = "../src/groups.rs"]
mod groups;
#[path = "../src/map/mod.rs"]
mod map;
#[path = "../src/slab.rs"]
mod slab;
#[path = "../src/snapshot.rs"]
mod snapshot;

use std::hash::{BuildHasher, Hasher};

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use map::{EpochMap, Refused};

/// Hashes nothing, so that all keys have one home and one tag: the worst case, and the same in every run.
#[derive(Clone, Copy, Default)]
struct Same;

impl BuildHasher for Same {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Self
    }
}

impl Hasher for Same {
    fn write(&mut self, _: &[u8]) {}

    fn finish(&self) -> u64 {
        0
    }
}

/// A value in a tracked cell that its drop writes: a read that is not over by then fails the model.
struct Tracked {
    cell: UnsafeCell<u32>,
    drops: Arc<AtomicUsize>,
}

impl Tracked {
    fn new(value: u32, drops: &Arc<AtomicUsize>) -> Self {
        Self { cell: UnsafeCell::new(value), drops: Arc::clone(drops) }
    }

    fn read(&self) -> u32 {
        // SAFETY: the cell is written only by the drop, which loom would see.
        self.cell.with(|place| unsafe { *place })
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        // SAFETY: nobody reads what is dropped; that is what the model checks.
        self.cell.with_mut(|place| unsafe { *place = u32::MAX });
        self.drops.fetch_add(1, Ordering::Relaxed);
    }
}

fn bounded(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

#[test]
fn what_a_guard_shows_stays_while_it_is_replaced_and_its_slot_is_wanted() {
    bounded(3, || {
        let drops = Arc::new(AtomicUsize::new(0));
        let map = EpochMap::with_hasher(1, Same);
        map.insert(1u32, Tracked::new(0, &drops)).unwrap();
        let mut reader = map.reader();
        let looking = thread::spawn(move || {
            for _ in 0..2 {
                let guard = reader.pin();
                let found = guard.get(&1).expect("a replaced entry is never missing");
                let (first, again) = (found.read(), found.read());
                assert!(first == again && first <= 2);
            }
        });
        for value in 1..=2 {
            map.insert(1, Tracked::new(value, &drops)).unwrap();
            map.reclaim();
        }
        looking.join().unwrap();
        map.reclaim();
        assert_eq!(map.gauges().waiting, 0);
        assert_eq!(drops.load(Ordering::Relaxed), 2);
        drop(map);
        assert_eq!(drops.load(Ordering::Relaxed), 3, "the map drops what it has");
    });
}

#[test]
fn a_slot_is_used_again_only_after_its_readers_left() {
    bounded(3, || {
        let drops = Arc::new(AtomicUsize::new(0));
        let map = EpochMap::with_hasher(1, Same);
        map.insert(1u32, Tracked::new(1, &drops)).unwrap();
        let mut reader = map.reader();
        let looking = thread::spawn(move || {
            let guard = reader.pin();
            if let Some(found) = guard.get(&1) {
                assert_eq!(found.read(), 1);
            }
            if let Some(found) = guard.get(&2) {
                assert_eq!(found.read(), 2);
            }
        });
        assert!(map.remove(&1));
        map.reclaim();
        // Takes the slot of the first if that is free by now, or another.
        map.insert(2, Tracked::new(2, &drops)).unwrap();
        looking.join().unwrap();
    });
}

#[test]
fn readers_that_come_and_go_are_all_waited_for() {
    bounded(2, || {
        let drops = Arc::new(AtomicUsize::new(0));
        let map = EpochMap::with_hasher(1, Same);
        map.insert(1u32, Tracked::new(7, &drops)).unwrap();
        let looking: Vec<_> = (0..2)
            .map(|_| {
                let map = map.clone();
                thread::spawn(move || {
                    let mut reader = map.reader();
                    let value = reader.pin().get(&1).map(Tracked::read);
                    assert!(value.is_none_or(|value| value == 7));
                })
            })
            .collect();
        map.remove(&1);
        map.reclaim();
        looking.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(map.gauges().readers, 0);
        map.reclaim();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn two_writers_and_a_reader_agree_on_one_entry_per_key() {
    bounded(2, || {
        let drops = Arc::new(AtomicUsize::new(0));
        let map = EpochMap::with_hasher(1, Same);
        let writing: Vec<_> = (1..=2)
            .map(|value| {
                let (map, value) = (map.clone(), Tracked::new(value, &drops));
                thread::spawn(move || map.insert(1u32, value).unwrap())
            })
            .collect();
        let mut reader = map.reader();
        if let Some(found) = reader.pin().get(&1) {
            assert!((1..=2).contains(&found.read()));
        }
        for thread in writing {
            thread.join().unwrap();
        }
        assert_eq!(map.gauges().entries, 1);
        drop(reader);
        drop(map);
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn a_reader_that_stays_costs_slots_and_no_more() {
    loom::model(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let map = EpochMap::with_hasher(1, Same);
        map.insert(1u32, Tracked::new(0, &drops)).unwrap();
        let gate = Arc::new((Mutex::new((false, false)), Condvar::new()));
        let mut reader = map.reader();
        let staying = {
            let gate = Arc::clone(&gate);
            thread::spawn(move || {
                let guard = reader.pin();
                let found = guard.get(&1).map(Tracked::read);
                let mut state = gate.0.lock().unwrap();
                state.0 = true;
                gate.1.notify_all();
                while !state.1 {
                    state = gate.1.wait(state).unwrap();
                }
                drop(state);
                assert_eq!(guard.get(&1).map(|found| found.read() < 99), Some(true));
                assert_eq!(found, Some(0));
            })
        };
        let mut state = gate.0.lock().unwrap();
        while !state.0 {
            state = gate.1.wait(state).unwrap();
        }
        drop(state);
        let slots = map.gauges().slots as u32;
        // One slot has the entry that is shown, the others fill up with those that were.
        for value in 1..slots {
            map.insert(1, Tracked::new(value, &drops)).unwrap();
        }
        assert_eq!(map.insert(1, Tracked::new(99, &drops)), Err(Refused::Waiting));
        assert_eq!(map.gauges().waiting as u32, slots - 1);
        assert_eq!(drops.load(Ordering::Relaxed), 1, "only what was refused");
        gate.0.lock().unwrap().1 = true;
        gate.1.notify_all();
        staying.join().unwrap();
        map.insert(1, Tracked::new(100, &drops)).unwrap();
        assert_eq!(map.gauges().waiting, 1);
    });
}

/// Two words that belong together.
#[derive(Debug, PartialEq)]
struct Pair(u64);

impl slab::Record<2> for Pair {
    fn to_words(&self) -> [u64; 2] {
        [self.0, self.0 * 2]
    }

    fn from_words([one, two]: [u64; 2]) -> Self {
        assert_eq!(two, one * 2, "a torn record was shown");
        Self(one)
    }
}

#[test]
fn a_record_is_never_torn_and_never_another_one() {
    bounded(2, || {
        let mut writer = slab::slab::<2>(1);
        let first = writer.insert(&Pair(1)).unwrap();
        let slab = writer.slab();
        let looking = thread::spawn(move || {
            if let Some(found) = slab.get::<Pair>(first) {
                assert!(found.0 == 1 || found.0 == 2, "the handle of the first showed {found:?}");
            }
        });
        writer.update(first, &Pair(2));
        writer.remove(first);
        let second = writer.insert(&Pair(9)).unwrap();
        looking.join().unwrap();
        assert_eq!(writer.slab().get::<Pair>(first), None);
        assert_eq!(writer.slab().get::<Pair>(second), Some(Pair(9)));
    });
}

#[test]
fn a_view_shows_a_whole_value_and_at_last_the_newest() {
    loom::model(|| {
        let snapshot = snapshot::Snapshot::new((0, 0));
        let mut view = snapshot.view();
        let looking = thread::spawn(move || {
            let mut last = 0;
            for _ in 0..2 {
                let (one, two) = *view.look();
                assert!(one == two && one >= last);
                last = one;
            }
            view
        });
        snapshot.set((1, 1));
        snapshot.update(|(one, two)| (one + 1, two + 1));
        let mut view = looking.join().unwrap();
        assert_eq!(*view.look(), (2, 2));
    });
}
