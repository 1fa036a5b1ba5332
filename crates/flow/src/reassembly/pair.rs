//! The two lanes of a flow: in which order they go on, and when they stop waiting.
//!
//! Who sends a segment has received everything that it acknowledges. So what was captured of one lane is not
//! delivered before the other one has come that far: a response is never told before its request, or before the
//! gap where its request was. What waits for the other lane lies at the next byte of its own, as its *head*.
//!
//! Missing bytes are given up: those that their receiver acknowledged after the reorder allowance, those that
//! held data waits for after the hold time or when a budget is met, all when the flow closes. What waits for the
//! other lane lacks nothing itself; the other lane's missing bytes are given up for it.

use super::hole::Head;
use super::{HoldLimits, Holes, Lane, Now, Sink};
use crate::GapCause;
use model::Dir;

/// The lanes of a flow.
pub(crate) struct Pair<'a> {
    /// By [`Dir::index`] of the sender.
    pub lanes: &'a mut [Lane; 2],
    pub holes: &'a mut Holes,
}

impl Pair<'_> {
    const fn lane(&self, dir: Dir) -> &Lane {
        let [client, server] = &*self.lanes;
        match dir {
            Dir::ToServer => client,
            Dir::ToClient => server,
        }
    }

    const fn lane_mut(&mut self, dir: Dir) -> (&mut Lane, &mut Holes) {
        let [client, server] = &mut *self.lanes;
        let lane = match dir {
            Dir::ToServer => client,
            Dir::ToClient => server,
        };
        (lane, self.holes)
    }

    fn head(&self, dir: Dir) -> Option<Head> {
        self.lane(dir).head(self.holes)
    }

    /// Delivers what need not wait any longer, and sees to the clocks of the holes.
    pub fn settle(&mut self, now: Now, sink: &mut impl Sink) {
        loop {
            while let Some(dir) = self.next() {
                let other = Some(*self.lane(dir.reverse()));
                let (lane, holes) = self.lane_mut(dir);
                lane.pop(holes, dir, other, sink);
            }
            let mut closed = false;
            for dir in Dir::BOTH {
                let (lane, holes) = self.lane_mut(dir);
                closed |= lane.rest(holes, now);
            }
            if !closed {
                return;
            }
        }
    }

    /// The lane whose head is to be delivered: of two, the one that was captured first. If each waits for the
    /// other, it is the one that was captured last: its segment is a retransmission and acknowledges more than
    /// its bytes did when they were sent first.
    fn next(&self) -> Option<Dir> {
        let is_free = |dir: Dir, head: Head| {
            let other = self.lane(dir.reverse());
            head.needs.is_none_or(|ack| !other.is_short_of(ack))
        };
        match (self.head(Dir::ToServer), self.head(Dir::ToClient)) {
            (None, None) => None,
            (Some(head), None) => is_free(Dir::ToServer, head).then_some(Dir::ToServer),
            (None, Some(head)) => is_free(Dir::ToClient, head).then_some(Dir::ToClient),
            (Some(request), Some(response)) => {
                let (first, last) = match request.elapsed <= response.elapsed {
                    true => (Dir::ToServer, Dir::ToClient),
                    false => (Dir::ToClient, Dir::ToServer),
                };
                match (is_free(Dir::ToServer, request), is_free(Dir::ToClient, response)) {
                    (true, true) => Some(first),
                    (true, false) => Some(Dir::ToServer),
                    (false, true) => Some(Dir::ToClient),
                    (false, false) => Some(last),
                }
            }
        }
    }

    /// The lane whose missing bytes a lane waits for: its own, or the other's when its head is there.
    fn culprit(&self, dir: Dir) -> Dir {
        if self.head(dir).is_some() { dir.reverse() } else { dir }
    }

    /// Declares the first hole that a lane waits for a gap, and delivers what then follows. Returns whether
    /// there was one.
    pub fn give_up(&mut self, dir: Dir, why: GapCause, now: Now, sink: &mut impl Sink) -> bool {
        let dir = self.culprit(dir);
        let missing = self.lane(dir).missing(self.holes, false);
        self.skip(dir, missing, why, now, sink)
    }

    /// Declares what the receiver has acknowledged of a lane, and was not captured, gaps.
    fn give_up_acked(&mut self, dir: Dir, now: Now, sink: &mut impl Sink) -> bool {
        let mut any = false;
        loop {
            let missing = self.lane(dir).missing(self.holes, true);
            if !self.skip(dir, missing, GapCause::Acked, now, sink) {
                return any;
            }
            any = true;
        }
    }

    fn skip(
        &mut self,
        dir: Dir,
        missing: Option<(u64, model::Nanos)>,
        why: GapCause,
        now: Now,
        sink: &mut impl Sink,
    ) -> bool {
        let Some((mut missing, time)) = missing else { return false };
        while missing > 0 {
            // What the other side said when it had a part of it comes between the parts.
            let part = self.awaited(dir).map_or(missing, |awaited| awaited.min(missing));
            missing = missing.saturating_sub(part);
            let (lane, holes) = self.lane_mut(dir);
            sink.gap(dir, part, why, time);
            lane.skip(holes, part);
            self.settle(now, sink);
        }
        true
    }

    /// How many of the next bytes of a lane the head of the other one waits for.
    fn awaited(&self, dir: Dir) -> Option<u64> {
        let needs = self.head(dir.reverse())?.needs?;
        let lane = self.lane(dir);
        lane.is_short_of(needs).then(|| u64::from(needs.wrapping_sub(lane.next)))
    }

    /// The lane whose hole has waited longest by `since`, which is `None` for those that do not count.
    fn oldest(&self, since: impl Fn(&super::hole::Hole) -> Option<u64>) -> Option<Dir> {
        let age = |dir: Dir| self.holes.get(self.lane(dir).hole).and_then(&since);
        match (age(Dir::ToServer), age(Dir::ToClient)) {
            (Some(request), Some(response)) if response < request => Some(Dir::ToClient),
            (Some(_), _) => Some(Dir::ToServer),
            (None, Some(_)) => Some(Dir::ToClient),
            (None, None) => None,
        }
    }

    /// Gives up what has waited long enough, acknowledged bytes first.
    pub fn expire(&mut self, limits: &HoldLimits, now: Now, sink: &mut impl Sink) {
        let is_due = |since: u64, wait: u64| now.elapsed.saturating_sub(since) >= wait;
        loop {
            let acked = self.oldest(|hole| hole.acked.filter(|since| is_due(*since, limits.reorder)));
            let waiting = |hole: &super::hole::Hole| hole.acked.is_none() && is_due(hole.since, limits.hold);
            let (dir, any) = if let Some(dir) = acked {
                (dir, self.give_up_acked(dir, now, sink))
            } else if let Some(dir) = self.oldest(|hole| waiting(hole).then_some(hole.since)) {
                (dir, self.give_up(dir, GapCause::Hold, now, sink))
            } else {
                return;
            };
            if !any {
                // Nothing was missing, so something will come; no other hole shall wait for it.
                let hole = self.lane(dir).hole;
                self.holes.restart(hole, now, acked.is_some());
                return;
            }
        }
    }

    /// Looks after the holes when a packet of the flow was seen: what was acknowledged has waited for one more,
    /// and a budget may be met.
    pub fn poll(&mut self, limits: &HoldLimits, now: Now, sink: &mut impl Sink) {
        for dir in Dir::BOTH {
            let (lane, holes) = self.lane_mut(dir);
            holes.change(lane.hole, |hole| hole.packets = hole.packets.saturating_add(1));
        }
        let passed = |hole: &super::hole::Hole| hole.acked.filter(|_| hole.packets > limits.reorder_packets);
        while let Some(dir) = self.oldest(passed)
            && self.give_up_acked(dir, now, sink)
        {}
        for dir in Dir::BOTH {
            while let Some(hole) = self.holes.get(self.lane(dir).hole)
                && (hole.cost > limits.lane_bytes || hole.pieces.len() > limits.lane_pieces)
                && self.give_up(dir, GapCause::Budget, now, sink)
            {}
        }
        self.expire(limits, now, sink);
    }

    /// Gives up everything: the flow closes. The hole that has waited longest goes first.
    pub fn close(&mut self, now: Now, sink: &mut impl Sink) {
        self.settle(now, sink);
        while let Some(dir) = self.oldest(|hole| Some(hole.since))
            && self.give_up(dir, GapCause::Close, now, sink)
        {}
        for dir in Dir::BOTH {
            let (lane, holes) = self.lane_mut(dir);
            debug_assert!(holes.get(lane.hole).is_none(), "a lane was given up and still waits");
            holes.close(lane.hole);
            lane.hole = crate::list::NONE;
        }
    }
}
