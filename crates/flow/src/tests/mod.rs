//! The table as a whole: every situation of a flow, every budget, every reason.

mod begin;
mod budgets;
mod causal;
mod conversation;
mod end;
mod lanes;
mod model_based;
mod packets;
mod shards;

use crate::testkit::{ACK, Heard, Recorder, SYN, Seg};
use crate::{Counters, DropReason, End, FlowId, GapCause, Limits, Table};
use ::model::{Arrival, Dir, Nanos};
use std::net::{IpAddr, Ipv4Addr};

const CLIENT: (IpAddr, u16) = (IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 40_000);
const SERVER: (IpAddr, u16) = (IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)), 80);
const MS: i64 = 1_000_000;

/// A table, and who listens to it.
struct Bench {
    table: Table<FlowId>,
    told: Recorder,
    now: i64,
    client: (IpAddr, u16),
    server: (IpAddr, u16),
}

impl Bench {
    fn new(limits: Limits) -> Self {
        let table = Table::new(Limits { flows: limits.flows.min(4096), ..limits }, 7);
        Self { table, told: Recorder::keeping(), now: 1_000 * MS, client: CLIENT, server: SERVER }
    }

    /// With a handshake done: client bytes start at 1000, server bytes at 5000.
    fn opened(limits: Limits) -> Self {
        let mut bench = Self::new(limits);
        bench.c(999, 0, SYN, b"").s(4999, 1000, SYN | ACK, b"").c(1000, 5000, ACK, b"");
        bench
    }

    fn send(&mut self, seg: &Seg) -> &mut Self {
        let bytes = seg.bytes();
        let packet = seg.packet(&bytes).unwrap();
        self.table.packet(&packet, bytes.len() as u32 + 34, Nanos(self.now), &mut self.told);
        assert!(self.table.books(), "{:#?}", self.table.counters());
        self
    }

    fn seg(&self, dir: Dir, seq: u32, ack: u32, flags: u8, payload: &[u8]) -> Seg {
        let (src, dst) = match dir {
            Dir::ToServer => (self.client, self.server),
            Dir::ToClient => (self.server, self.client),
        };
        Seg { src, dst, seq, ack, flags, window: 1000, payload: payload.to_vec(), cut: 0, vlan: None }
    }

    /// The client sends, one millisecond later.
    fn c(&mut self, seq: u32, ack: u32, flags: u8, payload: &[u8]) -> &mut Self {
        self.now += MS;
        let seg = self.seg(Dir::ToServer, seq, ack, flags, payload);
        self.send(&seg)
    }

    /// The server sends, one millisecond later.
    fn s(&mut self, seq: u32, ack: u32, flags: u8, payload: &[u8]) -> &mut Self {
        self.now += MS;
        let seg = self.seg(Dir::ToClient, seq, ack, flags, payload);
        self.send(&seg)
    }

    fn wait(&mut self, ms: i64) -> &mut Self {
        self.now += ms * MS;
        self.table.tick(Nanos(self.now), &mut self.told);
        self
    }

    /// What the server got: gaps are `?`, the end is `$`.
    fn request(&self) -> String {
        self.told.text(Dir::ToServer)
    }

    fn response(&self) -> String {
        self.told.text(Dir::ToClient)
    }

    fn counters(&self) -> &Counters {
        self.table.counters()
    }

    fn drops(&self, reason: DropReason) -> u64 {
        self.counters().drops(reason)
    }

    fn gaps(&self, why: GapCause) -> (u64, u64) {
        (self.counters().gaps[why as usize], self.counters().gap_bytes[why as usize])
    }

    fn ends(&self) -> Vec<End> {
        self.told.closed.iter().map(|(_, end)| *end).collect()
    }

    fn finish(&mut self) -> &mut Self {
        self.table.finish(&mut self.told);
        assert!(self.table.books() && self.table.is_empty() && self.table.held_bytes() == 0);
        self
    }
}
