//! What must hold for any sequence of operations: called by the fuzz target and by a stable test over random
//! input. A function here panics when an invariant is broken.

use crate::testkit::{ACK, FIN, PLAIN, RST, Recorder, SYN, Seg, udp};
use crate::{Limits, Table};
use model::Nanos;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use wire::{Body, Fragment, Packet};

/// Reads the bytes as operations on a small table: segments, datagrams, fragments, ticks. Evictions and full
/// budgets come of themselves. Asserts after each that the books balance and that the budgets hold, and at the
/// end that every flow was closed. Twice the same input must give the same calls.
pub fn table(bytes: &[u8]) {
    let (first, counters) = run(bytes);
    let (second, again) = run(bytes);
    assert_eq!(counters, again);
    assert_eq!(first.calls, second.calls);
}

fn limits() -> Limits {
    Limits {
        flows: 8,
        opening: Duration::from_secs(3),
        idle: Duration::from_secs(30),
        linger: Duration::from_secs(1),
        udp: Duration::from_secs(6),
        held_bytes: 6000,
        lane_bytes: 4000,
        lane_pieces: 8,
        hold: Duration::from_secs(5),
        reorder: Duration::from_millis(50),
        reorder_packets: 4,
        fragment_bytes: 4000,
        fragment_datagrams: 4,
        fragment_wait: Duration::from_secs(3),
        server_ports: vec![80],
        ..Limits::default()
    }
}

/// The operations that bytes stand for.
struct Ops<'a>(&'a [u8]);

impl Ops<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn word(&mut self) -> u32 {
        u32::from(self.byte()) << 8 | u32::from(self.byte())
    }
}

fn run(bytes: &[u8]) -> (Recorder, crate::Counters) {
    let limits = limits();
    let mut table = Table::new(limits.clone(), 1);
    let mut recorder = Recorder::keeping();
    let mut ops = Ops(bytes);
    let mut time = 1_000_000_000i64;
    while !ops.0.is_empty() {
        let op = ops.byte();
        time = time.saturating_add(i64::from(ops.byte()) * 1_000_000);
        match op % 8 {
            0 => {
                let far = [40_000, 3_600_000, -20_000][usize::from(ops.byte() % 3)];
                time = time.saturating_add(far * 1_000_000);
                table.tick(Nanos(time), &mut recorder);
            }
            1 => table.tick(Nanos(time), &mut recorder),
            2 => fragment(&mut table, &mut recorder, &mut ops, time),
            3 => datagram(&mut table, &mut recorder, &mut ops, time),
            _ => segment(&mut table, &mut recorder, &mut ops, op, time),
        }
        assert!(table.books(), "{:#?}", table.counters());
        assert!(table.held_bytes() <= limits.held_bytes);
        assert!(table.len() <= limits.flows as usize);
        assert!(table.flows().count() == table.len());
    }
    table.finish(&mut recorder);
    assert!(table.is_empty() && table.held_bytes() == 0 && table.books());
    assert_eq!(recorder.closed.len() as u64, table.counters().opened);
    (recorder, table.counters().clone())
}

fn ends(ops: &mut Ops<'_>) -> ((IpAddr, u16), (IpAddr, u16)) {
    let who = ops.byte();
    let client = (IpAddr::V4(Ipv4Addr::new(192, 0, 2, who & 3)), 1000 + u16::from(who >> 2 & 3));
    let server = (IpAddr::V4(Ipv4Addr::new(192, 0, 2, 9)), 80);
    if who & 16 == 0 { (client, server) } else { (server, client) }
}

/// A segment near the wrap of the sequence numbers, so that they overlap and wrap often.
fn segment(table: &mut Table<crate::FlowId>, recorder: &mut Recorder, ops: &mut Ops<'_>, op: u8, time: i64) {
    let (src, dst) = ends(ops);
    let flags = match ops.byte() % 16 {
        0 | 1 => SYN,
        2 | 3 => SYN | ACK,
        4 => FIN | ACK,
        5 => RST,
        6 => RST | ACK,
        7 => SYN | FIN | RST | ACK,
        _ => ACK,
    };
    let near = u32::MAX - 2000;
    let far = if op > 250 { ops.word() << 16 } else { 0 };
    let seq = near.wrapping_add(ops.word() % 4096).wrapping_add(far);
    let ack = near.wrapping_add(ops.word() % 4096).wrapping_add(far);
    let len = if op & 8 == 0 { u32::from(ops.byte() % 4) } else { ops.word() % 1500 };
    let payload = (0..len).map(|at| seq.wrapping_add(at) as u8).collect();
    let cut = if op & 0x70 == 0 { ops.word() % 100 } else { 0 };
    let vlan = (op & 0x60 == 0x60).then_some(7);
    let made = Seg { src, dst, seq, ack, flags, window: ops.byte().into(), payload, cut, vlan };
    let bytes = made.bytes();
    let packet = made.packet(&bytes).expect("a segment that was made");
    table.packet(&packet, bytes.len() as u32, Nanos(time), recorder);
}

fn datagram(table: &mut Table<crate::FlowId>, recorder: &mut Recorder, ops: &mut Ops<'_>, time: i64) {
    let (src, dst) = ends(ops);
    let bytes = udp(src.1, dst.1, &[7; 9]);
    let packet = wire::parse_payload(src.0, dst.0, 17, &bytes, PLAIN).expect("a datagram that was made");
    table.packet(&packet, 60, Nanos(time), recorder);
}

fn fragment(table: &mut Table<crate::FlowId>, recorder: &mut Recorder, ops: &mut Ops<'_>, time: i64) {
    let shape = ops.byte();
    let src: IpAddr = match shape & 1 {
        0 => Ipv4Addr::LOCALHOST.into(),
        _ => Ipv6Addr::LOCALHOST.into(),
    };
    let offset = u32::from(ops.byte() % 16) * 8;
    let (more, len) = (shape & 2 != 0, u32::from(ops.byte() % 5) * 8);
    let whole = udp(5000, 5001, &[1; 128]);
    let part = whole.get(offset as usize..).unwrap_or_default();
    let payload = part.get(..len as usize).unwrap_or(part);
    let body = Body::Fragment(Fragment {
        id: u32::from(shape >> 2 & 7),
        offset: if shape > 250 { 65_528 } else { offset },
        more,
        protocol: 17,
        payload,
        payload_len: payload.len() as u32 + u32::from(shape & 0xE0 == 0xE0),
    });
    let packet = Packet { src, dst: src, vlan: None, tunnel: None, ttl: 64, body };
    table.packet(&packet, 60, Nanos(time), recorder);
}
