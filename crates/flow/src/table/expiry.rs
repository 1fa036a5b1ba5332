//! When flows end without saying so.

use super::{EXPIRED_PER_TICK, GRAIN, Table};
use crate::clock::{silent, tick, ticks};
use crate::flow::Class;
use crate::limits::nanos;
use crate::list::NONE;
use crate::reassembly::{Now, RESET};
use crate::{Consumer, End, Limits};
use model::Nanos;

/// One slot in so many is for flows that are not established: while they have more than that, they make room
/// for each other, and a flood of them pushes out nothing else. While they have less, the flow that was seen
/// least recently makes room, or new flows could push out only each other.
const UNESTABLISHED_SHARE: u32 = 16;

/// How long the flows of each class may be silent, in ticks.
pub(super) fn timeouts(limits: &Limits) -> [u32; Class::COUNT] {
    let mut timeouts = [0; Class::COUNT];
    for (class, setting) in [
        (Class::Closed, limits.linger),
        (Class::Opening, limits.opening),
        (Class::Quiet, limits.idle),
        (Class::OneWay, limits.udp),
        (Class::Established, limits.idle),
        (Class::TwoWay, limits.udp),
    ] {
        timeouts[class as usize] = ticks(nanos(setting));
    }
    timeouts
}

impl<S> Table<S> {
    /// Tells the table what time it is, by the packets. Closes what has been silent too long; a bounded number
    /// per call, so that it may be called with every batch.
    pub fn tick<C: Consumer<State = S>>(&mut self, now: Nanos, consumer: &mut C) {
        let now = Now { time: now, elapsed: self.clock.advance(now) };
        for _ in 0..EXPIRED_PER_TICK {
            let acked = self.holes.overdue_acked(now.elapsed, self.hold.reorder);
            let Some(owner) = acked.or_else(|| self.holes.overdue_held(now.elapsed, self.hold.hold)) else {
                break;
            };
            self.expire(owner.slot, now, consumer);
        }
        let mut left = EXPIRED_PER_TICK;
        for class in 0..Class::COUNT {
            while left > 0
                && let at = self.lists[class].oldest()
                && at != NONE
                && self.is_stale(at, now)
            {
                left -= 1;
                self.close(at, self.end_of(at, End::Timeout), now, consumer);
            }
        }
        let counters = &mut self.counters;
        let mut drops = |reason, fragments| counters.drop(reason, fragments, 0);
        self.defrag.expire(now.elapsed, EXPIRED_PER_TICK, &mut drops);
        debug_assert!(self.books());
    }

    /// Closes every flow and drops the fragments that wait: the capture is over.
    pub fn finish<C: Consumer<State = S>>(&mut self, consumer: &mut C) {
        let now = Now { time: self.clock.last, elapsed: self.clock.elapsed };
        for at in 0..self.slots.len() as u32 {
            if self.slots[at as usize].state.is_some() {
                self.close(at, self.end_of(at, End::Stopped), now, consumer);
            }
        }
        let counters = &mut self.counters;
        self.defrag.finish(&mut |reason, fragments| counters.drop(reason, fragments, 0));
        debug_assert!(self.books());
    }

    /// Whether a flow has been silent for longer than it may.
    pub(super) fn is_stale(&self, at: u32, now: Now) -> bool {
        let slot = &self.slots[at as usize];
        silent(tick(now.elapsed), slot.stamp) > self.timeouts[slot.flow.class as usize].saturating_add(GRAIN)
    }

    /// How a flow ended, when it is closed because of `otherwise`: it may have ended long before.
    pub(super) fn end_of(&self, at: u32, otherwise: End) -> End {
        let slot = &self.slots[at as usize];
        if slot.flow.class != Class::Closed {
            otherwise
        } else if slot.lanes.iter().any(|lane| lane.has(RESET)) {
            End::Reset
        } else {
            End::Fin
        }
    }

    /// Makes room for a flow: first those that are closed anyway, then by [`UNESTABLISHED_SHARE`].
    #[cold]
    pub(super) fn evict<C: Consumer<State = S>>(&mut self, consumer: &mut C) {
        let unestablished = Class::UNESTABLISHED.iter().map(|class| self.lists[*class as usize].len());
        let many = unestablished.sum::<u32>() > self.limits.flows / UNESTABLISHED_SHARE;
        let closed = self.lists[Class::Closed as usize].oldest();
        let at = if closed != NONE {
            closed
        } else if many {
            self.least_recent(&Class::UNESTABLISHED)
        } else {
            let all = [Class::Opening, Class::Quiet, Class::OneWay, Class::Established, Class::TwoWay];
            self.least_recent(&all)
        };
        if at == NONE {
            return;
        }
        let end = self.end_of(at, End::Evicted);
        let unestablished = Class::UNESTABLISHED.contains(&self.slots[at as usize].flow.class);
        self.counters.evicted_unestablished += u64::from(unestablished);
        self.close(at, end, Now { time: self.clock.last, elapsed: self.clock.elapsed }, consumer);
    }

    fn least_recent(&self, classes: &[Class]) -> u32 {
        let tick = tick(self.clock.elapsed);
        let oldest = classes.iter().map(|class| self.lists[*class as usize].oldest());
        let silent = |at: &u32| silent(tick, self.slots[*at as usize].stamp);
        oldest.filter(|at| *at != NONE).max_by_key(silent).unwrap_or(NONE)
    }
}
