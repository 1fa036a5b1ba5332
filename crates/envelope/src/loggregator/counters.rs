//! Totals of counters that come as increments.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::{
    distinct::Distinct,
    view::{Counter, Envelope},
};
use core::hash::{BuildHasher, Hasher};

/// The running total of each counter, told apart by name, source id and tags.
///
/// The rule of the forwarder-agent: an increment without a total adds to what is known, a counter that
/// brings a total sets it, and so does one that brings neither. Where the agent forgets all totals once
/// there are more than 10,000 counters, here the one goes that was not heard of for longest.
///
/// A counter is known by a hash of 128 bits, so that each takes about a hundred bytes whatever its tags are.
#[derive(Debug)]
pub struct Totals {
    places: HashMap<u128, u32, FixedState>,
    counters: Vec<Known>,
    /// The one heard of last, and the one heard of longest ago.
    newest: u32,
    oldest: u32,
    limit: u32,
    hashes: [FixedState; 2],
    evicted: u64,
}

/// One counter, and its neighbours in the order in which they were heard of.
#[derive(Clone, Copy, Debug)]
struct Known {
    id: u128,
    total: u64,
    newer: u32,
    older: u32,
}

/// No neighbour.
const NONE: u32 = u32::MAX;

impl Totals {
    /// Keeps up to `limit` counters, at least one. Let the seed be something that senders cannot guess.
    #[must_use]
    pub fn new(limit: u32, seed: u64) -> Self {
        Self {
            places: HashMap::with_hasher(FixedState::with_seed(seed)),
            counters: Vec::new(),
            newest: NONE,
            oldest: NONE,
            limit: limit.clamp(1, NONE.saturating_sub(1)),
            hashes: [seed.rotate_left(17), !seed].map(FixedState::with_seed),
            evicted: 0,
        }
    }

    /// The total of the counter of an envelope, this one included. It wraps around, as the agent's.
    pub fn total(&mut self, envelope: &Envelope<'_>, counter: &Counter<'_>) -> u64 {
        let place = self.place(self.id(envelope, counter));
        let Some(known) = self.counters.get_mut(place as usize) else { return counter.total };
        known.total = if counter.total == 0 && counter.delta != 0 {
            known.total.wrapping_add(counter.delta)
        } else {
            counter.total
        };
        known.total
    }

    /// How many counters are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counters.len()
    }

    /// Whether no counter is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counters.is_empty()
    }

    /// How many counters were forgotten to make room. Of such a one the total begins anew.
    #[must_use]
    pub const fn evicted(&self) -> u64 {
        self.evicted
    }

    fn id(&self, envelope: &Envelope<'_>, counter: &Counter<'_>) -> u128 {
        let [low, high] = self.hashes.each_ref().map(|state| {
            let pair = |a: &[u8], b: &[u8]| {
                let mut hash = state.build_hasher();
                for part in [a, b] {
                    hash.write_usize(part.len());
                    hash.write(part);
                }
                hash.finish()
            };
            // The order of tags is not to matter, and a sum has none.
            let tags = Distinct::new(envelope.tags())
                .fold(0u64, |sum, (key, value)| sum.wrapping_add(pair(key, value)));
            let mut hash = state.build_hasher();
            hash.write_u64(pair(counter.name, envelope.source_id));
            hash.write_u64(tags);
            hash.finish()
        });
        u128::from(high) << 64 | u128::from(low)
    }

    /// The place of a counter, made the newest; it begins at zero where it is not known.
    fn place(&mut self, id: u128) -> u32 {
        if let Some(place) = self.places.get(&id).copied() {
            if place != self.newest {
                self.unlink(place);
                self.link(place);
            }
            return place;
        }
        let fresh = Known { id, total: 0, newer: NONE, older: NONE };
        let place = if self.counters.len() < self.limit as usize {
            self.counters.push(fresh);
            u32::try_from(self.counters.len().saturating_sub(1)).unwrap_or(NONE)
        } else {
            let place = self.oldest;
            self.unlink(place);
            if let Some(known) = self.counters.get_mut(place as usize) {
                self.places.remove(&known.id);
                *known = fresh;
            }
            self.evicted = self.evicted.saturating_add(1);
            place
        };
        self.places.insert(id, place);
        self.link(place);
        place
    }

    fn unlink(&mut self, place: u32) {
        let Some(Known { newer, older, .. }) = self.counters.get(place as usize).copied() else { return };
        match self.counters.get_mut(newer as usize) {
            Some(known) => known.older = older,
            None => self.newest = older,
        }
        match self.counters.get_mut(older as usize) {
            Some(known) => known.newer = newer,
            None => self.oldest = newer,
        }
    }

    fn link(&mut self, place: u32) {
        let older = self.newest;
        if let Some(known) = self.counters.get_mut(place as usize) {
            (known.newer, known.older) = (NONE, older);
        }
        match self.counters.get_mut(older as usize) {
            Some(known) => known.newer = place,
            None => self.oldest = place,
        }
        self.newest = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loggregator::{Encoder, Message};
    use std::collections::VecDeque;

    fn total(totals: &mut Totals, source: &str, tags: &[(&str, &str)], delta: u64, total: u64) -> u64 {
        let mut bytes = Vec::new();
        Encoder::envelope(&mut bytes, |out| {
            out.source_id(source.as_bytes());
            out.counter(b"requests", delta, total);
            tags.iter().for_each(|(key, value)| out.tag(key.as_bytes(), value.as_bytes()));
        });
        let envelope = Envelope::parse(&bytes).unwrap();
        let Message::Counter(counter) = &envelope.message else { panic!("no counter") };
        totals.total(&envelope, counter)
    }

    #[test]
    fn increments_add_and_totals_set() {
        let mut totals = Totals::new(100, 1);
        assert_eq!(total(&mut totals, "a", &[], 5, 0), 5);
        assert_eq!(total(&mut totals, "a", &[], 2, 0), 7);
        assert_eq!(total(&mut totals, "b", &[], 2, 0), 2);
        assert_eq!(total(&mut totals, "a", &[], 1, 100), 100);
        assert_eq!(total(&mut totals, "a", &[], 1, 0), 101);
        assert_eq!(total(&mut totals, "a", &[], 0, 0), 0);
        assert_eq!(total(&mut totals, "a", &[], u64::MAX, 0), u64::MAX);
        assert_eq!(total(&mut totals, "a", &[], 2, 0), 1);
        assert_eq!(totals.len(), 2);
    }

    #[test]
    fn tags_tell_counters_apart_in_any_order() {
        let mut totals = Totals::new(100, 1);
        assert_eq!(total(&mut totals, "a", &[("x", "1"), ("y", "2")], 1, 0), 1);
        assert_eq!(total(&mut totals, "a", &[("y", "2"), ("x", "1")], 1, 0), 2);
        assert_eq!(total(&mut totals, "a", &[("x", "0"), ("y", "2"), ("x", "1")], 1, 0), 3);
        assert_eq!(total(&mut totals, "a", &[("x", "2"), ("y", "1")], 1, 0), 1);
        assert_eq!(total(&mut totals, "a", &[("x1", ""), ("y", "2")], 1, 0), 1);
        assert_eq!(totals.len(), 3);
    }

    /// Beside a list in the order of use.
    #[test]
    fn the_longest_unused_goes() {
        let (mut totals, mut model) = (Totals::new(8, 7), VecDeque::<(u32, u64)>::new());
        let mut state = 1u32;
        let mut evicted = 0;
        for _ in 0..5_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let source = (state >> 24) % 12;
            let before = model.iter().position(|(one, _)| *one == source);
            let before = before.and_then(|at| model.remove(at)).map_or_else(
                || {
                    if model.len() == 8 {
                        model.pop_front();
                        evicted += 1;
                    }
                    0
                },
                |(_, total)| total,
            );
            model.push_back((source, before + 3));
            assert_eq!(total(&mut totals, &source.to_string(), &[], 3, 0), before + 3);
            assert_eq!((totals.len(), totals.evicted()), (model.len(), evicted));
        }
        assert!(evicted > 100);
    }
}
