//! When a lane stops waiting for what it misses.
//!
//! Bytes that their receiver acknowledged: after the reorder allowance. Data behind a hole: after the hold time,
//! or when a budget is met. Everything: when the flow closes.

use super::lane::{ACKED, low_bits};
use super::seq::after;
use super::{HoldLimits, Holes, Lane, Now, Sink};
use crate::GapCause;
use crate::list::NONE;

/// How much is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// The first hole.
    First,
    /// What the receiver has acknowledged.
    Acked,
    /// Everything.
    End,
}

impl Lane {
    /// Declares what is missing a gap and delivers what follows it.
    pub fn give_up(
        &mut self,
        holes: &mut Holes,
        until: Until,
        why: GapCause,
        now: Now,
        sink: &mut impl Sink,
    ) {
        while let Some(hole) = holes.get(self.hole) {
            let pos = hole.pos;
            let acked = match self.has(ACKED) && after(self.acked, self.next) {
                true => pos.saturating_add(u64::from(self.acked.wrapping_sub(self.next))),
                false => pos,
            };
            let known = match (hole.first(), hole.fin) {
                (Some(first), Some(fin)) => Some(first.min(fin)),
                (first, fin) => first.or(fin),
            };
            let target = match until {
                Until::Acked => known.map_or(acked, |known| known.min(acked)),
                Until::First | Until::End => known.unwrap_or(acked),
            };
            let missing = target.saturating_sub(pos);
            if missing == 0 {
                break;
            }
            let seen = hole.pieces.first_key_value().map_or(now.time, |(_, piece)| piece.seen);
            let time = seen.max(hole.floor);
            sink.gap(missing, why, time);
            self.next = self.next.wrapping_add(low_bits(missing));
            holes.change(self.hole, |hole| {
                hole.pos = target;
                hole.floor = time;
            });
            self.settle(holes, now, true, pos, sink);
            if until == Until::First {
                break;
            }
        }
    }

    /// Forgets the hole of a lane that ends: [`Lane::give_up`] has left nothing in it.
    pub fn release(&mut self, holes: &mut Holes) {
        debug_assert!(holes.get(self.hole).is_none(), "a lane was given up and still waits");
        holes.close(self.hole);
        self.hole = NONE;
    }

    /// Looks after a hole when a packet of its flow was seen: whether it is to be given up.
    pub fn poll(&mut self, holes: &mut Holes, limits: &HoldLimits, now: Now, sink: &mut impl Sink) {
        let due = holes.change(self.hole, |hole| {
            hole.packets = hole.packets.saturating_add(1);
            hole.acked.is_some_and(|since| {
                hole.packets > limits.reorder_packets || now.elapsed.saturating_sub(since) >= limits.reorder
            })
        });
        if due == Some(true) {
            self.give_up(holes, Until::Acked, GapCause::Acked, now, sink);
        }
        while let Some(hole) = holes.get(self.hole)
            && (hole.cost > limits.lane_bytes || hole.pieces.len() > limits.lane_pieces)
        {
            let pos = hole.pos;
            self.give_up(holes, Until::First, GapCause::Budget, now, sink);
            if holes.get(self.hole).is_some_and(|hole| hole.pos == pos) {
                break;
            }
        }
        self.expire(holes, limits, now, sink);
    }

    /// Gives up the holes whose data has waited long enough.
    pub fn expire(&mut self, holes: &mut Holes, limits: &HoldLimits, now: Now, sink: &mut impl Sink) {
        let mut first = true;
        while let Some(hole) = holes.get(self.hole) {
            // Behind the first hole, the age of what waits there decides.
            let piece = hole.pieces.first_key_value().map(|(_, piece)| piece.elapsed);
            let since = if first { hole.since } else { piece.unwrap_or(now.elapsed) };
            if now.elapsed.saturating_sub(since) < limits.hold {
                return;
            }
            first = false;
            let pos = hole.pos;
            self.give_up(holes, Until::First, GapCause::Hold, now, sink);
            if holes.get(self.hole).is_some_and(|hole| hole.pos == pos) {
                return;
            }
        }
    }
}
