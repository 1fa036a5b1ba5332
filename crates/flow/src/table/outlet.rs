//! Between a lane and the consumer: what passes is counted.

use super::Table;
use super::slots::Slot;
use crate::list::NONE;
use crate::reassembly::{Lane, Note, Now, Pair, Sink};
use crate::{Consumer, Counters, Flow, GapCause};
use model::{Arrival, Dir, Nanos};

/// Where the bytes of a flow's lanes go.
pub(super) struct Outlet<'a, C: Consumer> {
    pub consumer: &'a mut C,
    pub flow: &'a mut Flow,
    pub state: &'a mut C::State,
    pub counters: &'a mut Counters,
}

impl<C: Consumer> Sink for Outlet<'_, C> {
    fn bytes(&mut self, dir: Dir, bytes: &[u8], arrival: Arrival) {
        self.counters.delivered_bytes += bytes.len() as u64;
        self.consumer.bytes(self.flow, self.state, dir, bytes, arrival);
    }

    fn gap(&mut self, dir: Dir, missing: u64, why: GapCause, time: Nanos) {
        self.counters.gaps[why as usize] += 1;
        self.counters.gap_bytes[why as usize] += missing;
        let side = &mut self.flow.sides[dir.index()];
        side.gaps = side.gaps.wrapping_add(1);
        side.gap_bytes += missing;
        self.consumer.gap(self.flow, self.state, dir, missing, time);
    }

    fn eof(&mut self, dir: Dir, time: Nanos) {
        self.consumer.eof(self.flow, self.state, dir, time);
    }

    fn note(&mut self, dir: Dir, note: Note) {
        let side = &mut self.flow.sides[dir.index()];
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
            Note::Early => self.counters.early += 1,
            Note::Dropped(reason, bytes) => self.counters.drop(reason, 1, bytes),
        }
    }
}

impl<S> Table<S> {
    /// Whether something of a flow is missing or held.
    pub(super) fn has_hole(&self, at: u32) -> bool {
        let [client, server] = &self.slots[at as usize].lanes;
        client.hole & server.hole != NONE
    }

    /// Gives up what a flow has waited for long enough.
    #[cold]
    pub(super) fn expire<C: Consumer<State = S>>(&mut self, at: u32, now: Now, consumer: &mut C) {
        let Some((lanes, mut outlet)) = self.slots[at as usize].outlet(&mut self.counters, consumer) else {
            return;
        };
        Pair { lanes, holes: &mut self.holes }.expire(&self.hold, now, &mut outlet);
    }

    /// Gives up everything that a flow waits for.
    #[cold]
    pub(super) fn give_up<C: Consumer<State = S>>(&mut self, at: u32, now: Now, consumer: &mut C) {
        let Some((lanes, mut outlet)) = self.slots[at as usize].outlet(&mut self.counters, consumer) else {
            return;
        };
        Pair { lanes, holes: &mut self.holes }.close(now, &mut outlet);
    }

    /// Looks after the lanes of a flow with holes when a packet of it was taken, and after the budget of all
    /// holes.
    #[cold]
    pub(super) fn poll<C: Consumer<State = S>>(&mut self, at: u32, now: Now, consumer: &mut C) {
        let Some((lanes, mut outlet)) = self.slots[at as usize].outlet(&mut self.counters, consumer) else {
            return;
        };
        let mut pair = Pair { lanes, holes: &mut self.holes };
        pair.settle(now, &mut outlet);
        pair.poll(&self.hold, now, &mut outlet);
        while self.holes.cost() > self.hold.held_bytes {
            let Some(owner) = self.holes.oldest() else { return };
            let slot = &mut self.slots[owner.slot as usize];
            let Some((lanes, mut outlet)) = slot.outlet(&mut self.counters, consumer) else { return };
            let mut pair = Pair { lanes, holes: &mut self.holes };
            if !pair.give_up(owner.dir, GapCause::Budget, now, &mut outlet) {
                return;
            }
        }
    }
}

impl<S> Slot<S> {
    /// The lanes and where their bytes go; `None` in a free slot.
    pub(super) fn outlet<'a, C: Consumer<State = S>>(
        &'a mut self,
        counters: &'a mut Counters,
        consumer: &'a mut C,
    ) -> Option<(&'a mut [Lane; 2], Outlet<'a, C>)> {
        let state = self.state.as_mut()?;
        Some((&mut self.lanes, Outlet { consumer, flow: &mut self.flow, state, counters }))
    }
}
