//! In-order segments over many flows, or a flood of SYNs (`flood`), for counting instructions:
//!
//! ```text
//! valgrind --tool=callgrind --toggle-collect='steady::measured*' target/release/examples/steady
//! ```
#![expect(clippy::cast_possible_truncation, reason = "the numbers are small")]

use flow::{Consumer, End, Flow, Limits, Table};
use model::{Arrival, Dir, Nanos};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::{Around, Body, Packet};

const FLOWS: u32 = 1000;
const ROUNDS: u32 = 100;

/// Counts bytes and looks at none.
struct Sum(u64);

impl Consumer for Sum {
    type State = u64;

    fn open(&mut self, _: &Flow, _: Nanos) -> u64 {
        0
    }
    fn bytes(&mut self, _: &Flow, seen: &mut u64, _: Dir, bytes: &[u8], _: Arrival) {
        *seen += bytes.len() as u64;
    }
    fn gap(&mut self, _: &Flow, _: &mut u64, _: Dir, _: u64, _: Nanos) {}
    fn eof(&mut self, _: &Flow, _: &mut u64, _: Dir, _: Nanos) {}
    fn datagram(&mut self, _: &Flow, _: &mut u64, _: Dir, _: &[u8], _: Arrival) {}
    fn close(&mut self, _: &Flow, seen: u64, _: End, _: Nanos) {
        self.0 += seen;
    }
}

fn header(port: u16, seq: u32) -> [u8; 120] {
    let mut bytes = [0; 120];
    bytes[..2].copy_from_slice(&port.to_be_bytes());
    bytes[2..4].copy_from_slice(&80u16.to_be_bytes());
    bytes[4..8].copy_from_slice(&seq.to_be_bytes());
    (bytes[12], bytes[13], bytes[14]) = (0x50, 0x10, 0x10);
    bytes
}

#[inline(never)]
fn measured(table: &mut Table<u64>, sum: &mut Sum, packets: &[Packet<'_>], time: &mut i64) {
    for packet in packets {
        *time += 10_000;
        table.packet(packet, 154, Nanos(*time), sum);
    }
}

/// A million SYNs from a million senders, within a second.
fn flood(table: &mut Table<u64>, sum: &mut Sum, time: &mut i64) {
    let mut syn = header(0, 7);
    syn[13] = 2;
    let around = Around { vlan: None, tunnel: None, ttl: 64 };
    for sender in 0..1_000_000u32 {
        let (client, server) = (Ipv4Addr::from_bits(sender), Ipv4Addr::new(192, 0, 2, 2));
        let packet = wire::parse_payload(client.into(), server.into(), 6, &syn[..20], around);
        measured(table, sum, &[packet.expect("a segment")], time);
        if sender % 64 == 0 {
            table.tick(Nanos(*time), sum);
        }
    }
}

fn main() {
    let v6 = std::env::args().nth(1).is_some_and(|arg| arg == "v6");
    let (client, server): (IpAddr, IpAddr) = match v6 {
        true => (Ipv6Addr::LOCALHOST.into(), Ipv6Addr::UNSPECIFIED.into()),
        false => (Ipv4Addr::new(192, 0, 2, 1).into(), Ipv4Addr::new(192, 0, 2, 2).into()),
    };
    let (mut table, mut sum, mut time) = (Table::new(Limits::default(), 1), Sum(0), 0);
    let around = Around { vlan: None, tunnel: None, ttl: 64 };
    let is_flood = std::env::args().nth(1).is_some_and(|arg| arg == "flood");
    if is_flood {
        flood(&mut table, &mut sum, &mut time);
    }
    for round in 0..if is_flood { 0 } else { ROUNDS } {
        let headers: Vec<[u8; 120]> =
            (0..FLOWS).map(|flow| header(flow as u16 + 1000, round * 100)).collect();
        let packets: Vec<Packet<'_>> = headers
            .iter()
            .filter_map(|bytes| wire::parse_payload(client, server, 6, bytes, around).ok())
            .collect();
        assert!(packets.iter().all(|packet| matches!(packet.body, Body::Tcp(_))));
        measured(&mut table, &mut sum, &packets, &mut time);
    }
    table.finish(&mut sum);
    println!("{} segments, {} bytes, books {}", table.counters().segments, sum.0, table.books());
}
