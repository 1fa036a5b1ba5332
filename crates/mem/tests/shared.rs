//! The shared tables with real threads: what is read is whole, garbage is bounded, nothing leaks.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use mem::map::{EpochMap, Put, Refused};
use mem::slab::{Record, slab};
use mem::snapshot::Snapshot;
use proptest::prelude::*;

/// Miri and the sanitizers are some hundred times slower.
const ROUNDS: u64 = if cfg!(miri) { 300 } else { 200_000 };

/// A value that knows its key, owns memory, and is counted from birth to death.
struct Value {
    text: Box<str>,
    living: Arc<AtomicU64>,
}

impl Value {
    fn new(key: u64, round: u64, living: &Arc<AtomicU64>) -> Self {
        living.fetch_add(1, Ordering::Relaxed);
        Self { text: format!("{key}/{round}").into(), living: Arc::clone(living) }
    }

    fn belongs_to(&self, key: u64) -> bool {
        self.text.split_once('/').is_some_and(|(text, _)| text.parse() == Ok(key))
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.living.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn readers_see_whole_values_while_writers_replace_and_remove() {
    let living = Arc::new(AtomicU64::new(0));
    let map = EpochMap::new(64);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for seed in 0..2u64 {
            let (mut reader, stop) = (map.reader(), &stop);
            scope.spawn(move || {
                let mut key = seed;
                while !stop.load(Ordering::Relaxed) {
                    let guard = reader.pin();
                    let found: Vec<(u64, &Value)> = (0..32)
                        .filter_map(|_| {
                            key = key.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                            let key = key >> 59;
                            guard.get(&key).map(|value| (key, value))
                        })
                        .collect();
                    // All of them at the end of the stay, when their slots are long wanted by others.
                    assert!(found.iter().all(|(key, value)| value.belongs_to(*key)));
                    drop(guard);
                    thread::yield_now();
                }
            });
        }
        let writers: Vec<_> = (0..2u64)
            .map(|writer| {
                let (map, living) = (&map, &living);
                scope.spawn(move || {
                    for round in 0..ROUNDS / 10 {
                        let key = (round * 7 + writer) % 32;
                        if round % 5 == 4 {
                            map.remove(&key);
                        } else {
                            // Refused where a reader was put aside by the system while it was in.
                            let _ = map.insert(key, Value::new(key, round, living));
                        }
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        stop.store(true, Ordering::Relaxed);
    });
    map.reclaim();
    let gauges = map.gauges();
    assert_eq!((gauges.waiting, gauges.readers, gauges.lag), (0, 0, 0));
    assert_eq!(living.load(Ordering::Relaxed), gauges.entries as u64, "what is not in the map is dropped");
    drop(map);
    assert_eq!(living.load(Ordering::Relaxed), 0);
}

#[test]
fn an_entry_that_is_replaced_is_there_at_every_moment() {
    let map = EpochMap::new(128);
    for key in 0..128u64 {
        map.insert(key, 0u64).unwrap();
    }
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let (mut reader, stop) = (map.reader(), &stop);
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let guard = reader.pin();
                assert!((0..128).all(|key| guard.get(&key).is_some()));
            }
        });
        for round in 0..ROUNDS {
            let _ = map.insert(round % 128, round);
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(map.gauges().entries, 128);
}

#[test]
fn garbage_behind_a_reader_that_stalls_is_bounded_and_gone_when_it_leaves() {
    let living = Arc::new(AtomicU64::new(0));
    let map = EpochMap::new(1_000);
    for key in 0..100u64 {
        map.insert(key, Value::new(key, 0, &living)).unwrap();
    }
    let (entered, leave) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        let mut reader = map.reader();
        let (entered, leave) = (&entered, &leave);
        scope.spawn(move || {
            let guard = reader.pin();
            let before: Vec<&Value> = (0..100u64).map(|key| guard.get(&key).unwrap()).collect();
            entered.wait();
            leave.wait();
            assert!(before.iter().enumerate().all(|(key, value)| *value.text == format!("{key}/0")));
        });
        entered.wait();
        let mut refused = 0;
        for round in 1..ROUNDS {
            let key = round % 100;
            match map.insert(key, Value::new(key, round, &living)) {
                Ok(put) => assert_eq!(put, Put::Replaced),
                Err(why) => {
                    assert_eq!(why, Refused::Waiting);
                    refused += 1;
                }
            }
        }
        let gauges = map.gauges();
        assert_eq!(gauges.entries, 100);
        assert!(gauges.waiting > 0 && gauges.waiting + gauges.entries <= gauges.slots, "{gauges:?}");
        assert!(gauges.lag > 0, "somebody is in, and it can be seen");
        assert_eq!(living.load(Ordering::Relaxed), (gauges.waiting + gauges.entries) as u64);
        if !cfg!(miri) {
            assert_eq!(gauges.refused_waiting, refused);
            assert!(refused > ROUNDS / 2, "the writer was held back only {refused} times");
        }
        leave.wait();
    });
    map.insert(5, Value::new(5, ROUNDS, &living)).unwrap();
    map.reclaim();
    assert_eq!(map.gauges().waiting, 0);
    assert_eq!(living.load(Ordering::Relaxed), 100);
}

#[test]
fn a_full_map_refuses_and_counts() {
    let map = EpochMap::new(50);
    for key in 0..50u32 {
        assert_eq!(map.insert(key, key), Ok(Put::Added));
    }
    assert_eq!(map.insert(50, 50), Err(Refused::Full));
    assert_eq!(map.insert(7, 8), Ok(Put::Replaced), "a key that is there needs no room");
    assert_eq!(map.update(7, |old| old.filter(|old| **old > 9).copied()), Ok(Put::Kept));
    assert!(map.remove(&9) && !map.remove(&9));
    assert_eq!(map.insert(50, 50), Ok(Put::Added));
    let gauges = map.gauges();
    assert_eq!((gauges.entries, gauges.refused_full, gauges.refused_waiting), (50, 1, 0));
}

#[test]
fn a_sweep_is_as_long_as_it_was_told_and_finds_all() {
    let map = EpochMap::new(4_000);
    for key in 0..4_000u64 {
        map.insert(key, key).unwrap();
    }
    let (mut cursor, mut removed, mut seen) = (0, 0, 0);
    let steps = map.groups().div_ceil(64);
    for _ in 0..steps {
        let mut shown = 0;
        removed += map.sweep(&mut cursor, 64, |key, _| {
            shown += 1;
            key % 4 != 0
        });
        assert!(shown <= 64 * 7);
        seen += shown;
    }
    assert_eq!((seen, removed, map.gauges().entries), (4_000, 1_000, 3_000));
    let mut reader = map.reader();
    let guard = reader.pin();
    assert!((0..4_000).all(|key| guard.get(&key).is_some() == (key % 4 != 0)));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 3 } else { 256 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Crowded: thirty keys in groups of seven, so that entries go past their groups and come back.
    #[test]
    fn a_map_is_a_map(steps in prop::collection::vec((0..4u8, 0..30u16, any::<u16>()), 1..300)) {
        let map = EpochMap::new(24);
        let mut model = HashMap::new();
        let mut reader = map.reader();
        for (what, key, value) in steps {
            match what {
                0 | 1 => match map.insert(key, value) {
                    Ok(put) => {
                        let old = model.insert(key, value);
                        prop_assert_eq!(put == Put::Replaced, old.is_some());
                    }
                    Err(why) => {
                        prop_assert_eq!(why, Refused::Full);
                        prop_assert!(model.len() == 24 && !model.contains_key(&key));
                    }
                },
                2 => prop_assert_eq!(map.remove(&key), model.remove(&key).is_some()),
                _ => {
                    let removed = map.sweep(&mut 0, map.groups(), |_, kept| *kept >= value / 8);
                    let before = model.len();
                    model.retain(|_, kept| *kept >= value / 8);
                    prop_assert_eq!(removed, before - model.len());
                }
            }
            prop_assert_eq!(map.gauges().entries, model.len());
            let guard = reader.pin();
            for key in 0..30 {
                prop_assert_eq!(guard.get(&key), model.get(&key));
            }
        }
    }
}

/// Four words that belong together.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Quad(u64);

impl Record<4> for Quad {
    fn to_words(&self) -> [u64; 4] {
        [1, 2, 3, 4].map(|times| self.0.wrapping_mul(times))
    }

    fn from_words(words: [u64; 4]) -> Self {
        assert_eq!(words, Self(words[0]).to_words(), "a torn record was shown");
        Self(words[0])
    }
}

#[test]
fn records_are_never_torn_and_stale_handles_are_told() {
    let mut writer = slab::<4>(8);
    let slab = writer.slab();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let (slab, stop) = (&slab, &stop);
        for _ in 0..2 {
            scope.spawn(move || {
                let mut shown = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    shown.clear();
                    slab.each(|handle, record: Quad| shown.push((handle, record)));
                    for (handle, then) in &shown {
                        if let Some(now) = slab.get::<Quad>(*handle) {
                            assert_eq!(now.0 >> 32, then.0 >> 32, "the handle shows another record");
                        }
                    }
                    thread::yield_now();
                }
            });
        }
        for life in 0..ROUNDS / 8 {
            let handles: Vec<_> =
                (0..8).map(|n| writer.insert(&Quad((life * 8 + n) << 32)).unwrap()).collect();
            assert_eq!(writer.insert(&Quad(0)), None);
            for (n, handle) in handles.iter().enumerate() {
                assert!(writer.update(*handle, &Quad((life * 8 + n as u64) << 32 | 1)));
            }
            for handle in handles {
                assert!(writer.remove(handle) && !writer.remove(handle));
                assert_eq!(slab.get::<Quad>(handle), None);
                assert!(!writer.update(handle, &Quad(1)));
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!((slab.len(), slab.refused()), (0, ROUNDS / 8));
    let handle = writer.insert(&Quad(3)).unwrap();
    let named = mem::slab::Handle::from_bits(handle.to_bits());
    assert_eq!(slab.get(named), Some(Quad(3)));
    drop(writer);
    assert_eq!(slab.get::<Quad>(named), None, "its writer is gone");
    assert!(slab.is_empty());
}

#[test]
fn every_view_takes_up_the_newest_value() {
    let snapshot = Snapshot::new((0u64, 0u64));
    thread::scope(|scope| {
        for _ in 0..2 {
            let mut view = snapshot.view();
            scope.spawn(move || {
                let mut last = 0;
                while last < ROUNDS / 10 {
                    let (one, two) = *view.look();
                    assert!(one == two && one >= last);
                    last = one;
                    thread::yield_now();
                }
            });
        }
        for _ in 0..ROUNDS / 10 {
            snapshot.update(|(one, two)| (one + 1, two + 1));
        }
    });
    assert_eq!(*snapshot.get(), (ROUNDS / 10, ROUNDS / 10));
}
