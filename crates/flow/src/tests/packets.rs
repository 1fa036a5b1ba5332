//! Datagrams, fragments, and what is neither.

use super::*;
use crate::testkit::{PLAIN, udp};
use wire::{Body, Fragment, Packet};

fn datagram(bench: &mut Bench, src: (IpAddr, u16), dst: (IpAddr, u16), payload: &[u8], cut: u32) {
    let bytes = udp(src.1, dst.1, payload);
    let mut packet = wire::parse_payload(src.0, dst.0, 17, &bytes, PLAIN).unwrap();
    if let Body::Udp(datagram) = &mut packet.body {
        datagram.payload_len += cut;
    }
    bench.table.packet(&packet, 60, Nanos(bench.now), &mut bench.told);
    assert!(bench.table.books());
}

#[test]
fn datagrams_are_handed_on_and_flows_of_them_expire() {
    let mut bench = Bench::new(Limits { server_ports: vec![53], ..Limits::default() });
    let (a, b) = ((CLIENT.0, 5353), (SERVER.0, 53));
    datagram(&mut bench, b, a, b"answer", 0);
    datagram(&mut bench, a, b, b"query", 10);
    assert_eq!((bench.request().as_str(), bench.response().as_str()), ("query", "answer"));
    assert_eq!(bench.told.calls[1].heard, Heard::Datagram(b"query".to_vec(), 10));
    assert_eq!(bench.counters().datagrams_cut, 1);
    datagram(&mut bench, (CLIENT.0, 1), (SERVER.0, 2), b"", 0);
    bench.wait(59_000);
    assert_eq!(bench.table.len(), 2);
    bench.wait(2_000);
    assert_eq!(bench.ends(), [End::Timeout, End::Timeout]);
    assert_eq!(bench.told.closed[0].0.tuple.client.port, 1, "who sends first");
    assert_eq!(bench.told.closed[1].0.tuple.client.port, 5353, "the other port is known");
}

fn fragment(bench: &mut Bench, v6: bool, offset: u32, more: bool, payload: &[u8], cut: u32) {
    let (src, dst): (IpAddr, IpAddr) = match v6 {
        true => ("2001:db8::1".parse().unwrap(), "2001:db8::2".parse().unwrap()),
        false => (CLIENT.0, SERVER.0),
    };
    let payload_len = payload.len() as u32 + cut;
    let body = Body::Fragment(Fragment { id: 9, offset, more, protocol: 17, payload, payload_len });
    let packet = Packet { src, dst, vlan: Some(4), tunnel: None, ttl: 64, body };
    bench.table.packet(&packet, 100, Nanos(bench.now), &mut bench.told);
    assert!(bench.table.books(), "{:#?}", bench.table.counters());
}

#[test]
fn fragments_make_a_packet_in_any_order() {
    let whole = udp(5060, 5061, b"0123456789abcdefghijklmnopqrst");
    for v6 in [false, true] {
        let mut bench = Bench::new(Limits::default());
        fragment(&mut bench, v6, 32, false, &whole[32..], 0);
        fragment(&mut bench, v6, 16, true, &whole[16..32], 0);
        fragment(&mut bench, v6, 16, true, &whole[16..32], 0);
        fragment(&mut bench, v6, 0, true, &whole[..16], 0);
        assert_eq!(bench.request(), "0123456789abcdefghijklmnopqrst");
        assert_eq!((bench.drops(DropReason::FragmentDuplicate), bench.counters().fragments_used), (1, 3));
        let flow = bench.table.flows().next().unwrap().0;
        assert_eq!((flow.vlan, flow.sides[0].bytes, flow.sides[0].packets), (Some(4), 300, 1));
    }
}

#[test]
fn a_fragment_that_is_whole_goes_straight_on() {
    let mut bench = Bench::new(Limits::default());
    fragment(&mut bench, true, 0, true, &udp(1, 2, b"12345678"), 0);
    fragment(&mut bench, true, 0, false, &udp(1, 2, b"atomic"), 0);
    assert_eq!((bench.request().as_str(), bench.counters().reassembled), ("atomic", 1));
    fragment(&mut bench, true, 0, false, b"short", 0);
    assert_eq!(bench.drops(DropReason::Unreadable), 1);
}

#[test]
fn a_packet_that_stays_in_pieces_is_counted() {
    let mut bench = Bench::new(Limits::default());
    fragment(&mut bench, false, 0, true, &[0; 8], 0);
    fragment(&mut bench, false, 8, true, &[0; 8], 0);
    bench.wait(31_000);
    assert_eq!(bench.drops(DropReason::FragmentTimeout), 2);
    fragment(&mut bench, false, 0, true, &[0; 8], 0);
    bench.finish();
    assert_eq!(bench.drops(DropReason::FragmentStopped), 1);
    let nested = [1u8; 8];
    let body = Body::Other(89, &nested);
    let packet = Packet { src: CLIENT.0, dst: SERVER.0, vlan: None, tunnel: None, ttl: 1, body };
    bench.table.packet(&packet, 60, Nanos(bench.now), &mut bench.told);
    assert_eq!((bench.counters().other, bench.counters().opened), (1, 0));
}
