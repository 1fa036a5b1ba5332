//! Between a lane and the consumer: what passes is counted.

use super::Table;
use super::slots::Slot;
use crate::reassembly::{Note, Now, Owner, Sink, Until};
use crate::{Consumer, Counters, Flow, GapCause};
use model::{Dir, Nanos};

/// Where the bytes of one lane go.
pub(super) struct Outlet<'a, C: Consumer> {
    pub consumer: &'a mut C,
    pub flow: &'a mut Flow,
    pub state: &'a mut C::State,
    pub dir: Dir,
    pub counters: &'a mut Counters,
}

impl<C: Consumer> Sink for Outlet<'_, C> {
    fn bytes(&mut self, bytes: &[u8], time: Nanos, segment_start: bool) {
        self.counters.delivered_bytes += bytes.len() as u64;
        self.consumer.bytes(self.flow, self.state, self.dir, bytes, time, segment_start);
    }

    fn gap(&mut self, missing: u64, why: GapCause, time: Nanos) {
        self.counters.gaps[why as usize] += 1;
        self.counters.gap_bytes[why as usize] += missing;
        let side = &mut self.flow.sides[self.dir.index()];
        side.gaps = side.gaps.wrapping_add(1);
        side.gap_bytes += missing;
        self.consumer.gap(self.flow, self.state, self.dir, missing, time);
    }

    fn eof(&mut self, time: Nanos) {
        self.consumer.eof(self.flow, self.state, self.dir, time);
    }

    fn note(&mut self, note: Note) {
        let side = &mut self.flow.sides[self.dir.index()];
        match note {
            Note::Retransmitted(bytes) | Note::Overlap(bytes) => {
                match note {
                    Note::Overlap(_) => self.counters.overlap_bytes += bytes,
                    _ => self.counters.retransmitted_bytes += bytes,
                }
                self.counters.retransmitted += 1;
                side.retransmitted = side.retransmitted.wrapping_add(1);
                side.retransmitted_bytes += bytes;
            }
            Note::OutOfOrder => {
                self.counters.out_of_order += 1;
                side.out_of_order = side.out_of_order.wrapping_add(1);
            }
            Note::Dropped(reason, bytes) => self.counters.drop(reason, 1, bytes),
        }
    }
}

impl<S> Table<S> {
    /// Declares what a lane misses a gap.
    pub(super) fn give_up<C: Consumer<State = S>>(
        &mut self,
        at: u32,
        dir: Dir,
        until: Until,
        why: GapCause,
        now: Now,
        consumer: &mut C,
    ) {
        let slot = &mut self.slots[at as usize];
        if slot.lanes[dir.index()].hole == crate::list::NONE {
            return;
        }
        let Some((lane, mut outlet)) = slot.outlet(dir, &mut self.counters, consumer) else { return };
        lane.give_up(&mut self.holes, until, why, now, &mut outlet);
    }

    /// Looks after the holes of a flow that a packet was seen of, and after the budget of all of them.
    #[cold]
    pub(super) fn poll<C: Consumer<State = S>>(&mut self, at: u32, now: Now, consumer: &mut C) {
        for dir in Dir::BOTH {
            let slot = &mut self.slots[at as usize];
            if let Some((lane, mut outlet)) = slot.outlet(dir, &mut self.counters, consumer)
                && lane.hole != crate::list::NONE
            {
                lane.poll(&mut self.holes, &self.hold, now, &mut outlet);
            }
        }
        while self.holes.cost() > self.hold.held_bytes {
            let Some(Owner { slot, dir }) = self.holes.oldest() else { return };
            let cost = self.holes.cost();
            self.give_up(slot, Dir::BOTH[usize::from(dir)], Until::First, GapCause::Budget, now, consumer);
            if self.holes.cost() >= cost {
                return;
            }
        }
    }
}

impl<S> Slot<S> {
    /// A lane and where its bytes go; `None` in a free slot.
    pub(super) fn outlet<'a, C: Consumer<State = S>>(
        &'a mut self,
        dir: Dir,
        counters: &'a mut Counters,
        consumer: &'a mut C,
    ) -> Option<(&'a mut crate::reassembly::Lane, Outlet<'a, C>)> {
        let state = self.state.as_mut()?;
        let outlet = Outlet { consumer, flow: &mut self.flow, state, dir, counters };
        Some((&mut self.lanes[dir.index()], outlet))
    }
}
