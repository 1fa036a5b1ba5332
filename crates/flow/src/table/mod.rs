//! The table of one shard: packets in, calls of the [`Consumer`] out.
//!
//! A packet costs one hash, one look into the index and, in order, four cache lines of its flow. Flows wait in
//! one list per [`Class`], oldest first; a packet moves its flow to the end of its list only when it has not
//! been moved for [`GRAIN`], so that the neighbours in the list are rarely touched. Nothing on the packet path
//! visits more flows than it closes.

mod expiry;
mod outlet;
mod slots;
mod tcp;
mod udp;

use crate::clock::Clock;
use crate::defrag::{Defrag, DefragLimits, FragmentKey};
use crate::flow::Class;
use crate::key::{Key, Parts};
use crate::limits::nanos;
use crate::list::List;
use crate::orient::Ports;
use crate::reassembly::{HoldLimits, Holes, Now};
use crate::{Consumer, Counters, DropReason, Flow, FlowId, Limits};
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use model::{Dir, Nanos};
use slots::Slot;
use wire::{Body, Fragment, Packet};

/// How often, in ticks of 1.05 ms, a busy flow is moved to the end of its list. A flow expires up to this much
/// later than its timeout says.
const GRAIN: u32 = 128;

/// Flows, holes and datagrams that one [`Table::tick`] closes, each. What is left waits for the next one.
const EXPIRED_PER_TICK: usize = 1024;

/// How deep fragments may lie within packets made of fragments: a fragmented packet in a fragmented tunnel.
const MAX_DEPTH: u8 = 2;

/// The flows of one shard. `S` is what the consumer keeps for each of them.
#[derive(Debug)]
pub struct Table<S> {
    limits: Limits,
    parts: Parts,
    hold: HoldLimits,
    timeouts: [u32; Class::COUNT],
    ports: Ports,
    clock: Clock,
    seed: FixedState,
    /// Slots by the hash of their key. Twice as large as needed, so that removals leave no tombstones behind
    /// and it never has to be rebuilt while packets wait.
    index: HashTable<u32>,
    slots: Vec<Slot<S>>,
    free: u32,
    lists: [List; Class::COUNT],
    live: u32,
    holes: Holes,
    defrag: Defrag,
    whole: Vec<u8>,
    counters: Counters,
}

impl<S> Table<S> {
    /// An empty table. `seed` should be random: it keeps others from choosing addresses and ports that fall
    /// into one place. Two tables with one seed do the same.
    pub fn new(limits: Limits, seed: u64) -> Self {
        let flows = limits.flows.max(1);
        let defrag = DefragLimits {
            bytes: limits.fragment_bytes,
            datagrams: limits.fragment_datagrams,
            wait: nanos(limits.fragment_wait),
        };
        let hold = HoldLimits {
            lane_bytes: limits.lane_bytes,
            lane_pieces: limits.lane_pieces,
            held_bytes: limits.held_bytes,
            hold: nanos(limits.hold),
            reorder: nanos(limits.reorder),
            reorder_packets: limits.reorder_packets,
        };
        let seed = FixedState::with_seed(seed);
        Self {
            parts: Parts { vlan: limits.vlan_in_key, tunnel: limits.tunnel_in_key },
            timeouts: expiry::timeouts(&limits),
            ports: Ports::new(&limits.server_ports),
            hold,
            clock: Clock::default(),
            index: HashTable::with_capacity(flows as usize * 2),
            slots: Vec::with_capacity(flows as usize),
            free: crate::list::NONE,
            lists: [List::EMPTY; Class::COUNT],
            live: 0,
            holes: Holes::new(),
            defrag: Defrag::new(defrag, seed.clone()),
            whole: Vec::new(),
            counters: Counters::default(),
            limits: Limits { flows, ..limits },
            seed,
        }
    }

    /// Takes a packet of `wire_len` bytes on the wire, its frame included, that was captured at `time`.
    pub fn packet<C: Consumer<State = S>>(
        &mut self,
        packet: &Packet<'_>,
        wire_len: u32,
        time: Nanos,
        consumer: &mut C,
    ) {
        let now = Now { time, elapsed: self.clock.advance(time) };
        self.counters.packets += 1;
        self.counters.bytes += u64::from(wire_len);
        self.route(packet, wire_len, now, consumer, 0);
    }

    fn route<C: Consumer<State = S>>(
        &mut self,
        packet: &Packet<'_>,
        wire_len: u32,
        now: Now,
        consumer: &mut C,
        depth: u8,
    ) {
        match &packet.body {
            Body::Tcp(segment) => self.segment(packet, segment, wire_len, now, consumer),
            Body::Udp(datagram) => self.datagram(packet, datagram, wire_len, now, consumer),
            Body::Fragment(_) if depth >= MAX_DEPTH => self.counters.drop(DropReason::Nested, 1, 0),
            Body::Fragment(fragment) => self.fragment(packet, fragment, wire_len, now, consumer, depth),
            Body::Other(..) => self.counters.other += 1,
        }
    }

    #[cold]
    fn fragment<C: Consumer<State = S>>(
        &mut self,
        packet: &Packet<'_>,
        fragment: &Fragment<'_>,
        wire_len: u32,
        now: Now,
        consumer: &mut C,
        depth: u8,
    ) {
        self.counters.fragments += 1;
        if fragment.offset == 0 && !fragment.more {
            // Whole on its own (RFC 6946): it has nothing to do with others of its id.
            self.counters.fragments_used += 1;
            self.reassembled(packet, fragment.protocol, fragment.payload, wire_len, now, consumer, depth);
            return;
        }
        let key = FragmentKey {
            src: packet.src,
            dst: packet.dst,
            id: fragment.id,
            protocol: fragment.protocol,
            vlan: packet.vlan,
            tunnel: packet.tunnel,
        };
        let mut whole = std::mem::take(&mut self.whole);
        let counters = &mut self.counters;
        let mut drops = |reason, fragments| counters.drop(reason, fragments, 0);
        let done = self.defrag.push(key, fragment, wire_len, now.elapsed, &mut whole, &mut drops);
        if let Some(done) = done {
            self.counters.fragments_used += done.fragments;
            self.reassembled(packet, fragment.protocol, &whole, done.wire_len, now, consumer, depth);
        }
        self.whole = whole;
    }

    #[expect(clippy::too_many_arguments, reason = "the packet and how it came to be")]
    fn reassembled<C: Consumer<State = S>>(
        &mut self,
        outer: &Packet<'_>,
        protocol: u8,
        bytes: &[u8],
        wire_len: u32,
        now: Now,
        consumer: &mut C,
        depth: u8,
    ) {
        self.counters.reassembled += 1;
        match wire::parse_payload(outer.src, outer.dst, protocol, bytes, outer.around()) {
            Ok(inner) => self.route(&inner, wire_len, now, consumer, depth + 1),
            Err(_) => self.counters.drop(DropReason::Unreadable, 1, 0),
        }
    }

    /// What was counted so far.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// How many flows there are, those that are remembered after their close included.
    pub const fn len(&self) -> usize {
        self.live as usize
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Bytes that count against [`Limits::held_bytes`].
    pub const fn held_bytes(&self) -> usize {
        self.holes.cost()
    }

    /// Whether a flow still lives.
    pub fn is_tracked(&self, id: FlowId) -> bool {
        self.flow(id).is_some()
    }

    /// A flow that lives.
    pub fn flow(&self, id: FlowId) -> Option<&Flow> {
        self.entry(id).map(|(flow, _)| flow)
    }

    /// A flow that lives and what its consumer keeps for it.
    pub fn entry(&self, id: FlowId) -> Option<(&Flow, &S)> {
        let slot = self.slots.get(id.slot as usize).filter(|slot| slot.flow.id == id)?;
        Some((&slot.flow, slot.state.as_ref()?))
    }

    /// Every flow that lives, in no order that means anything. Visits each slot that was ever used.
    pub fn flows(&self) -> impl Iterator<Item = (&Flow, &S)> {
        self.slots.iter().filter_map(|slot| Some((&slot.flow, slot.state.as_ref()?)))
    }

    /// Whether the counters add up: everything that came in is delivered, held, or counted as dropped.
    pub fn books(&self) -> bool {
        let c = &self.counters;
        let cut = c.gap_bytes[crate::GapCause::Cut as usize];
        let dropped: u64 = c.dropped_bytes.iter().sum();
        let taken = c.segments + c.datagrams + c.other + c.fragments;
        let unread = c.drops(DropReason::Unreadable) + c.drops(DropReason::Nested);
        let known_before = c.retransmitted_bytes + c.overlap_bytes;
        c.packets + c.reassembled == taken + unread
            && c.fragments == c.fragments_used + c.fragment_drops() + self.defrag.held()
            && c.payload_bytes == c.delivered_bytes + cut + known_before + dropped + self.holes.held()
            && c.opened == c.closed.iter().sum::<u64>() + u64::from(self.live)
            && self.lists.iter().map(List::len).sum::<u32>() == self.live
            && self.index.len() == self.live as usize
    }

    /// The flow of a key, and which way the packet goes in it.
    #[inline(always)]
    fn find(&self, hash: u64, key: &Key) -> Option<(u32, Dir)> {
        let mut dir = None;
        let at = self.index.find(hash, |at| {
            dir = key.dir(&self.slots[*at as usize].flow, self.parts);
            dir.is_some()
        });
        Some((*at?, dir?))
    }
}
