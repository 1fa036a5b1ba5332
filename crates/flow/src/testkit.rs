//! Packets made by hand, and a consumer that writes down what it is told: for the tests and the fuzz target.

use crate::{Consumer, End, Flow, FlowId};
use model::{Arrival, Dir, Nanos};
use std::collections::HashMap;
use std::net::IpAddr;
use wire::{Around, Body, Packet};

/// Flags of a segment, by their bits.
pub(crate) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(crate) const RST: u8 = 4;
pub(crate) const ACK: u8 = 16;

/// A segment to be made.
#[derive(Debug, Clone)]
pub(crate) struct Seg {
    pub src: (IpAddr, u16),
    pub dst: (IpAddr, u16),
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub window: u16,
    pub payload: Vec<u8>,
    /// Bytes that the snapshot length cut off.
    pub cut: u32,
    pub vlan: Option<u16>,
}

impl Seg {
    /// The transport header and the payload.
    pub fn bytes(&self) -> Vec<u8> {
        // With the options: window scale 7, end of options.
        let options: &[u8] = if self.flags & SYN == 0 { &[] } else { &[3, 3, 7, 0] };
        let mut bytes = Vec::with_capacity(24 + self.payload.len());
        bytes.extend(self.src.1.to_be_bytes());
        bytes.extend(self.dst.1.to_be_bytes());
        bytes.extend(self.seq.to_be_bytes());
        bytes.extend(self.ack.to_be_bytes());
        bytes.push(if options.is_empty() { 0x50 } else { 0x60 });
        bytes.push(self.flags);
        bytes.extend(self.window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(options);
        bytes.extend(&self.payload);
        bytes
    }

    /// The packet in `bytes`, which were made by [`Seg::bytes`].
    pub fn packet<'a>(&self, bytes: &'a [u8]) -> Option<Packet<'a>> {
        let around = Around { vlan: self.vlan, tunnel: None, ttl: 64 };
        let mut packet = wire::parse_payload(self.src.0, self.dst.0, 6, bytes, around).ok()?;
        if let Body::Tcp(segment) = &mut packet.body {
            segment.payload_len = segment.payload_len.saturating_add(self.cut);
        }
        Some(packet)
    }
}

/// A packet in no VLAN.
pub(crate) const PLAIN: Around = Around { vlan: None, tunnel: None, ttl: 64 };

/// A UDP header and its payload.
pub(crate) fn udp(src_port: u16, dst_port: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 + payload.len());
    bytes.extend(src_port.to_be_bytes());
    bytes.extend(dst_port.to_be_bytes());
    bytes.extend((8 + payload.len() as u16).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(payload);
    bytes
}

/// What a consumer was told of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard {
    Bytes(Vec<u8>, bool),
    Gap(u64),
    Eof,
    Datagram(Vec<u8>, u32),
}

/// What a consumer was told, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub id: FlowId,
    pub dir: Dir,
    pub heard: Heard,
    pub time: Nanos,
}

/// Writes down everything, and checks that calls come in an order that makes sense.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub calls: Vec<Call>,
    pub closed: Vec<(Flow, End)>,
    /// What the sender of each piece of a lane had received.
    pub sender_heard: Vec<model::Heard>,
    /// Lanes that ended, of flows that are open.
    open: HashMap<FlowId, [bool; 2]>,
    /// Whether the calls are kept.
    pub keep: bool,
}

impl PartialEq for Flow {
    fn eq(&self, other: &Self) -> bool {
        (self.tuple, self.id, self.start, self.first, self.last, self.sides)
            == (other.tuple, other.id, other.start, other.first, other.last, other.sides)
    }
}

impl Recorder {
    pub fn keeping() -> Self {
        Self { keep: true, ..Self::default() }
    }

    #[cfg(test)]
    /// The bytes of one direction of every flow, gaps as `?`.
    pub fn text(&self, dir: Dir) -> String {
        let mut text = String::new();
        for call in self.calls.iter().filter(|call| call.dir == dir) {
            match &call.heard {
                Heard::Bytes(bytes, _) | Heard::Datagram(bytes, _) => {
                    text.push_str(&String::from_utf8_lossy(bytes));
                }
                Heard::Gap(missing) => text.extend((0..*missing).map(|_| '?')),
                Heard::Eof => text.push('$'),
            }
        }
        text
    }

    fn hear(&mut self, flow: &Flow, state: FlowId, dir: Dir, heard: Heard, time: Nanos) {
        assert_eq!(flow.id, state, "the state is that of another flow");
        let lanes = self.open.get_mut(&flow.id).expect("the flow is open");
        assert!(!lanes[dir.index()], "the lane has ended");
        lanes[dir.index()] = heard == Heard::Eof;
        if self.keep {
            self.calls.push(Call { id: flow.id, dir, heard, time });
        }
    }
}

impl Consumer for Recorder {
    type State = FlowId;

    fn open(&mut self, flow: &Flow, _: Nanos) -> FlowId {
        assert!(self.open.insert(flow.id, [false; 2]).is_none(), "the id is in use");
        flow.id
    }

    fn bytes(&mut self, flow: &Flow, state: &mut FlowId, dir: Dir, bytes: &[u8], arrival: Arrival) {
        assert!(!bytes.is_empty());
        let Arrival { time, segment_start, heard, .. } = arrival;
        self.hear(flow, *state, dir, Heard::Bytes(bytes.to_vec(), segment_start), time);
        self.sender_heard.push(heard);
    }

    fn gap(&mut self, flow: &Flow, state: &mut FlowId, dir: Dir, missing: u64, time: Nanos) {
        assert!(missing > 0);
        self.hear(flow, *state, dir, Heard::Gap(missing), time);
    }

    fn eof(&mut self, flow: &Flow, state: &mut FlowId, dir: Dir, time: Nanos) {
        self.hear(flow, *state, dir, Heard::Eof, time);
    }

    fn datagram(&mut self, flow: &Flow, state: &mut FlowId, dir: Dir, bytes: &[u8], arrival: Arrival) {
        let Arrival { time, cut, .. } = arrival;
        self.hear(flow, *state, dir, Heard::Datagram(bytes.to_vec(), cut), time);
    }

    fn close(&mut self, flow: &Flow, state: FlowId, end: End, _: Nanos) {
        assert_eq!(flow.id, state);
        assert!(self.open.remove(&flow.id).is_some(), "the flow was closed before");
        if self.keep {
            self.closed.push((flow.clone(), end));
        }
    }
}
