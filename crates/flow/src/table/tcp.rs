//! Segments: which flow they belong to, how it begins and how it ends.

use super::{GRAIN, Table};
use crate::clock::{silent, tick};
use crate::flow::{Class, Seen, UNSET, UNSURE, micros_between};
use crate::key::Key;
use crate::reassembly::{ISN, Lane, Now, Owner, RESET, Run, SYN, Sink};
use crate::{Consumer, DropReason, End};
use model::{Arrival, Dir, Heard, Transport};
use wire::{Packet, Segment, TcpFlags};

/// How long a live flow must have been silent, in ticks of 1.05 ms, before a SYN with another sequence number
/// starts a new one in its place. A host whose connection is alive would not take that SYN either (RFC 5961
/// section 4), and one that has forgotten it has been silent for longer.
const QUIET_BEFORE_SYN: u32 = 1000;

/// The flags that say more than that bytes follow.
const PLAIN_MASK: u8 = TcpFlags::FIN.0 | TcpFlags::SYN.0 | TcpFlags::RST.0 | TcpFlags::ACK.0;

/// What is done with a segment that has found a flow.
enum Fit {
    /// It belongs to it.
    Belongs,
    /// It does not, and changes nothing.
    Foreign,
    /// A new flow takes its place.
    Replaces,
}

impl<S> Table<S> {
    pub(super) fn segment<C: Consumer<State = S>>(
        &mut self,
        packet: &Packet<'_>,
        segment: &Segment<'_>,
        wire_len: u32,
        now: Now,
        consumer: &mut C,
    ) {
        self.counters.segments += 1;
        self.counters.payload_bytes += u64::from(segment.payload_len);
        let key = Key::new(packet, Transport::Tcp, segment.src_port, segment.dst_port);
        let hash = key.hash(&self.seed, self.parts);
        let mut found = self.find(hash, &key);
        if let Some((at, dir)) = found
            && self.take_plain(at, dir, segment, wire_len, now, consumer)
        {
            return;
        }
        // As if the table had been told the time just before.
        if let Some((at, _)) = found.filter(|(at, _)| self.has_hole(*at)) {
            self.expire(at, now, consumer);
        }
        if let Some((at, _)) = found.filter(|(at, _)| self.is_stale(*at, now)) {
            self.close(at, self.end_of(at, End::Timeout), now, consumer);
            found = None;
        }
        if let Some((at, dir)) = found.filter(|_| segment.flags.syn()) {
            match self.fit(at, dir, segment, now) {
                Fit::Belongs => {}
                Fit::Foreign => {
                    let bytes = u64::from(segment.payload_len);
                    self.counters.drop(DropReason::ImplausibleSyn, 1, bytes);
                    return;
                }
                Fit::Replaces => {
                    self.counters.replaced += 1;
                    self.close(at, self.end_of(at, End::Reset), now, consumer);
                    found = None;
                }
            }
        }
        let (at, dir) = match found {
            Some(found) => found,
            None => match self.begin(&key, hash, segment, now, consumer) {
                Some(begun) => begun,
                None => {
                    self.counters.drop(DropReason::Stray, 1, u64::from(segment.payload_len));
                    return;
                }
            },
        };
        self.touch(at, now);
        self.take(at, dir, segment, wire_len, now, consumer);
        if self.has_hole(at) {
            self.poll(at, now, consumer);
        }
        let slot = &self.slots[at as usize];
        if slot.flow.class != Class::Established || slot.lanes.iter().any(Lane::is_finished) {
            self.classify(at, segment.flags.syn(), now);
        }
    }

    /// The short way of nearly every segment: uncut bytes in order, without a flag but ACK, in a flow without
    /// holes that was seen a moment ago and whose side has sent bytes before. Nothing but sums changes then.
    /// Returns whether that was so; if not, nothing was changed.
    #[inline]
    fn take_plain<C: Consumer<State = S>>(
        &mut self,
        at: u32,
        dir: Dir,
        segment: &Segment<'_>,
        wire_len: u32,
        now: Now,
        consumer: &mut C,
    ) -> bool {
        let slot = &mut self.slots[at as usize];
        let [client, server] = &mut slot.lanes;
        let (own, other) = match dir {
            Dir::ToServer => (client, server),
            Dir::ToClient => (server, client),
        };
        let side = &mut slot.flow.sides[dir.index()];
        let len = segment.payload_len;
        let edge = segment.ack.wrapping_add(u32::from(segment.window) << own.scale);
        let Some(state) = slot.state.as_mut() else { return false };
        let is_plain = segment.flags.0 & PLAIN_MASK == TcpFlags::ACK.0
            && matches!(slot.flow.class, Class::Quiet | Class::Established)
            && tick(now.elapsed).wrapping_sub(slot.stamp) < GRAIN
            && segment.window > 0
            && side.payload_bytes > 0
            && len > 0
            && segment.payload.len() == len as usize
            && other.follows(segment.ack)
            && own.take(segment.seq, len);
        if is_plain {
            let heard = other.heard_by(segment.ack);
            other.follow(segment.ack, edge);
            side.packets += 1;
            side.bytes += u64::from(wire_len);
            side.payload_bytes += u64::from(len);
            slot.flow.last = slot.flow.last.max(now.time);
            self.counters.delivered_bytes += u64::from(len);
            let arrival = Arrival { time: now.time, segment_start: true, heard, cut: 0 };
            consumer.bytes(&slot.flow, state, dir, segment.payload, arrival);
        }
        is_plain
    }

    /// Whether a SYN or SYN-ACK belongs to the flow of its five-tuple.
    fn fit(&self, at: u32, dir: Dir, segment: &Segment<'_>, now: Now) -> Fit {
        let slot = &self.slots[at as usize];
        let from_client = dir == Dir::ToServer;
        let isn = slot.lanes[0].has(ISN).then_some(slot.isn);
        let is_opening = slot.flow.class == Class::Opening;
        let silent = silent(tick(now.elapsed), slot.stamp);
        let belongs = match (segment.flags.ack(), from_client) {
            // The SYN again.
            (false, true) | (true, true) if isn.is_some() => isn == Some(segment.seq),
            // Answers the client's SYN.
            (true, false) => {
                isn.is_none_or(|isn| segment.ack.wrapping_sub(1) == isn || slot.took_data(segment))
            }
            // Both sides open at once (RFC 9293 section 3.5): the server's SYN, once or again.
            (false, false) if is_opening => {
                let lane = &slot.lanes[1];
                !lane.is_based() || lane.next == segment.seq.wrapping_add(1)
            }
            _ => false,
        };
        if slot.flow.class == Class::Closed {
            // The last words of the old flow, or the first ones of a new one.
            if belongs && segment.flags.ack() { Fit::Belongs } else { Fit::Replaces }
        } else if belongs {
            Fit::Belongs
        } else if !segment.flags.rst() && (silent >= QUIET_BEFORE_SYN || is_opening && !segment.flags.ack()) {
            Fit::Replaces
        } else {
            Fit::Foreign
        }
    }

    /// Opens the flow of a segment that belongs to none. `None` when it is no reason to open one.
    fn begin<C: Consumer<State = S>>(
        &mut self,
        key: &Key,
        hash: u64,
        segment: &Segment<'_>,
        now: Now,
        consumer: &mut C,
    ) -> Option<(u32, Dir)> {
        let flags = segment.flags;
        if flags.rst() || (!flags.syn() && segment.payload_len == 0) {
            return None;
        }
        let (from_client, start) = if flags.syn() {
            (!flags.ack(), (Seen::Handshake, Class::Opening))
        } else {
            let ports = (segment.src_port, segment.dst_port);
            (self.ports.client_sends(Transport::Tcp, ports.0, ports.1), (Seen::Middle, Class::Quiet))
        };
        let dir = if from_client { Dir::ToServer } else { Dir::ToClient };
        Some((self.open(key, hash, dir, start, now, consumer), dir))
    }

    /// Takes a segment into its flow.
    fn take<C: Consumer<State = S>>(
        &mut self,
        at: u32,
        dir: Dir,
        segment: &Segment<'_>,
        wire_len: u32,
        now: Now,
        consumer: &mut C,
    ) {
        let slot = &mut self.slots[at as usize];
        let flags = segment.flags;
        let flow = &mut slot.flow;
        flow.last = flow.last.max(now.time);
        let side = &mut flow.sides[dir.index()];
        side.packets += 1;
        side.bytes += u64::from(wire_len);
        side.payload_bytes += u64::from(segment.payload_len);
        if flags.syn() || flags.fin() || flags.rst() {
            side.fins = side.fins.saturating_add(u8::from(flags.fin()));
            side.resets = side.resets.saturating_add(u8::from(flags.rst()));
            if flags.rst() {
                self.reset(at, dir, segment, now);
                return;
            }
        }
        if flags.syn() {
            slot.synchronize(dir, segment, now);
        } else if segment.window == 0 {
            side.zero_windows = side.zero_windows.saturating_add(1);
        }
        let (mut needs, mut ack) = (None, None);
        if flags.ack() && slot.lanes[dir.index()].is_near(segment.seq) {
            let shift = if flags.syn() { 0 } else { slot.lanes[dir.index()].scale };
            let edge = segment.ack.wrapping_add(u32::from(segment.window) << shift);
            let owner = Owner { slot: at, dir: dir.reverse() };
            let other = &mut slot.lanes[dir.reverse().index()];
            let plausible = other.may_have_sent(segment.ack);
            other.acknowledged(&mut self.holes, owner, segment.ack, edge, now);
            needs = (plausible && other.is_short_of(segment.ack)).then_some(segment.ack);
            ack = (plausible && !flags.syn()).then_some(segment.ack);
            if slot.flow.class == Class::Opening && !flags.syn() {
                slot.handshake_done(dir, now);
            }
        }
        let len = segment.payload_len;
        if len == 0 && !flags.fin() {
            let lane = &slot.lanes[dir.index()];
            if !flags.syn() && lane.is_based() && segment.seq == lane.next.wrapping_sub(1) {
                self.counters.keep_alives += 1;
            }
            return;
        }
        let beginning = slot.flow.start == Seen::Handshake;
        let seq = if flags.syn() { segment.seq.wrapping_add(1) } else { segment.seq };
        let Some((lanes, mut outlet)) = slot.outlet(&mut self.counters, consumer) else { return };
        let other = &lanes[dir.reverse().index()];
        let heard = ack.map_or(Heard::Unknown, |ack| other.heard_by(ack));
        let lane = &mut lanes[dir.index()];
        let is_plain = !flags.fin() && segment.payload.len() as u64 == u64::from(len) && needs.is_none();
        if is_plain && lane.take(seq, len) {
            let arrival = Arrival { time: now.time, segment_start: true, heard, cut: 0 };
            outlet.bytes(dir, segment.payload, arrival);
            return;
        }
        let owner = Owner { slot: at, dir };
        if !lane.is_based() {
            lane.base_at(seq, beginning, &mut self.holes, owner, now);
        }
        if len == 1 && !flags.syn() && !flags.fin() && seq == lane.next.wrapping_sub(1) {
            // A keep-alive probe may carry the byte before the next one, whatever it says.
            outlet.counters.keep_alives += 1;
            outlet.counters.retransmitted_bytes += 1;
            return;
        }
        let run = Run { seq, bytes: segment.payload, len, fin: flags.fin(), needs, ack, heard };
        lane.accept(&mut self.holes, owner, run, now, &mut outlet);
    }

    /// A reset: ends the flow if its receiver would believe it.
    #[cold]
    fn reset(&mut self, at: u32, dir: Dir, segment: &Segment<'_>, now: Now) {
        let slot = &mut self.slots[at as usize];
        let lane = &slot.lanes[dir.index()];
        let other = &slot.lanes[dir.reverse().index()];
        let believed = if lane.is_based() {
            lane.believes(segment.seq)
        } else {
            // Its sender has said nothing yet: it refuses what the other side sent.
            segment.flags.ack() && other.is_based() && segment.ack == other.next
        };
        let len = u64::from(segment.payload_len);
        if !believed {
            self.counters.drop(DropReason::ImplausibleReset, 1, len);
            return;
        }
        if len > 0 {
            self.counters.drop(DropReason::ResetPayload, 1, len);
        }
        slot.lanes[dir.index()].flags |= RESET;
        if slot.flow.class != Class::Closed {
            self.place(at, Class::Closed, now);
        }
    }

    /// Moves a flow to the list that it belongs to by now.
    fn classify(&mut self, at: u32, syn: bool, now: Now) {
        let slot = &self.slots[at as usize];
        let flow = &slot.flow;
        let class = if flow.class == Class::Closed || slot.lanes.iter().all(|lane| lane.is_finished()) {
            Class::Closed
        } else if flow.sides.iter().all(|side| side.payload_bytes > 0) {
            Class::Established
        } else if syn {
            flow.class
        } else {
            Class::Quiet
        };
        if class != flow.class {
            self.place(at, class, now);
        }
    }
}

impl<S> super::slots::Slot<S> {
    /// Whether a SYN-ACK acknowledges data that came with the SYN (RFC 7413).
    fn took_data(&self, segment: &Segment<'_>) -> bool {
        let taken = segment.ack.wrapping_sub(self.isn);
        taken >= 1 && taken <= self.lanes[0].next.wrapping_sub(self.isn)
    }

    /// Notes a SYN or SYN-ACK.
    #[cold]
    fn synchronize(&mut self, dir: Dir, segment: &Segment<'_>, now: Now) {
        let [client, server] = &mut self.lanes;
        let (own, other) = match dir {
            Dir::ToServer => (client, server),
            Dir::ToClient => (server, client),
        };
        let again = own.has(SYN);
        if !own.is_based() {
            own.base(segment.seq.wrapping_add(1));
        }
        own.flags |= SYN;
        own.offer_scale(segment.options.window_scale(), other);
        match (dir, segment.flags.ack()) {
            (Dir::ToServer, _) if !again => {
                self.isn = segment.seq;
                own.flags |= ISN;
            }
            // Which of two was answered is not known.
            (Dir::ToServer, _) => self.flow.server_us = UNSURE,
            (Dir::ToClient, true) if again => self.flow.client_us = UNSURE,
            (Dir::ToClient, true) if other.has(SYN) => {
                if self.flow.server_us == UNSET {
                    self.flow.server_us = micros_between(self.flow.first, now.time);
                }
            }
            (Dir::ToClient, true) => {
                // The SYN was not captured, but its number is known, and so is what follows it.
                self.flow.server_us = UNSURE;
                self.isn = segment.ack.wrapping_sub(1);
                other.flags |= ISN;
                if !other.is_based() {
                    other.base(segment.ack);
                }
            }
            (Dir::ToClient, false) => (self.flow.server_us, self.flow.client_us) = (UNSURE, UNSURE),
        }
    }

    /// Notes the first segment that is no SYN.
    #[cold]
    fn handshake_done(&mut self, dir: Dir, now: Now) {
        let flow = &mut self.flow;
        let syn = self.lanes[0].has(SYN);
        let synack = self.lanes[1].has(SYN);
        if dir == Dir::ToServer && synack && flow.client_us == UNSET {
            flow.client_us = match (syn, flow.server_us) {
                (true, UNSET | UNSURE) => UNSURE,
                (true, server) => micros_between(flow.first, now.time).saturating_sub(server),
                (false, _) => micros_between(flow.first, now.time),
            };
        }
    }
}
