//! How flows begin: handshakes, who is the client, what opens none.

use super::*;
use crate::testkit::{FIN, RST};
use crate::{Handshake, Seen};

#[test]
fn both_halves_of_a_handshake_are_measured() {
    let mut bench = Bench::new(Limits::default());
    bench.c(999, 0, SYN, b"");
    bench.now += 9 * MS;
    bench.s(4999, 1000, SYN | ACK, b"");
    bench.now += MS;
    bench.c(1000, 5000, ACK, b"").c(1000, 5000, ACK, b"GET").finish();
    let (flow, end) = &bench.told.closed[0];
    let handshake = Handshake { server_us: Some(10_000), client_us: Some(2_000) };
    assert_eq!((flow.handshake(), *end), (Some(handshake), End::Stopped));
    assert_eq!((flow.start, flow.tuple.client.port), (Seen::Handshake, 40_000));
    assert_eq!((flow.sides[0].packets, flow.sides[0].payload_bytes, flow.sides[1].packets), (3, 3, 1));
    assert_eq!(flow.last.0 - flow.first.0, 13 * MS);
}

#[test]
fn a_handshake_with_repetitions_is_not_measured() {
    let mut bench = Bench::new(Limits::default());
    bench.c(999, 0, SYN, b"").c(999, 0, SYN, b"");
    bench.s(4999, 1000, SYN | ACK, b"").c(1000, 5000, ACK, b"GET").finish();
    assert_eq!(bench.told.closed[0].0.handshake(), None, "which SYN was answered?");

    let mut bench = Bench::new(Limits::default());
    bench.c(999, 0, SYN, b"").s(4999, 1000, SYN | ACK, b"").s(4999, 1000, SYN | ACK, b"");
    bench.c(1000, 5000, ACK, b"GET").finish();
    let handshake = bench.told.closed[0].0.handshake().unwrap();
    assert_eq!((handshake.server_us, handshake.client_us), (Some(1_000), None));
    assert_eq!(bench.counters().opened, 1);
}

#[test]
fn a_syn_ack_tells_the_client_too_and_where_its_bytes_start() {
    let mut bench = Bench::new(Limits::default());
    (bench.client.1, bench.server.1) = (80, 40_000);
    bench.s(4999, 1000, SYN | ACK, b"").c(1000, 5000, ACK, b"GET");
    // The SYN was captured late.
    bench.c(999, 0, SYN, b"").c(1003, 5000, ACK, b" /");
    assert_eq!((bench.request().as_str(), bench.counters().opened), ("GET /", 1));
    bench.finish();
    let flow = &bench.told.closed[0].0;
    assert_eq!(flow.tuple.client.port, 80, "the handshake says more than the ports");
    assert_eq!(flow.handshake().map(|h| (h.server_us, h.client_us)), Some((None, Some(1_000))));
}

#[test]
fn ports_orient_a_flow_joined_in_its_middle() {
    let known = Limits { server_ports: vec![40_000], ..Limits::default() };
    for (limits, client) in [(Limits::default(), 40_000), (known, 80)] {
        let mut bench = Bench::new(limits);
        bench.s(5000, 1000, ACK, b"200 OK").c(1000, 5006, ACK, b"GET").finish();
        let flow = &bench.told.closed[0].0;
        assert_eq!((flow.tuple.client.port, flow.start, bench.told.closed.len()), (client, Seen::Middle, 1));
    }
}

#[test]
fn a_flow_joined_in_its_middle_starts_with_its_first_data() {
    let mut bench = Bench::new(Limits::default());
    bench.c(2000, 5000, ACK, b"cd").c(1998, 5000, ACK, b"abcdef").s(5000, 2004, ACK, b"x");
    assert_eq!((bench.request().as_str(), bench.response().as_str()), ("cdef", "x"));
    assert_eq!(bench.counters().retransmitted_bytes, 4, "what came before the base is old");
    assert_eq!(bench.counters().opened_middle, 1);
}

#[test]
fn an_acknowledgement_says_where_the_other_lane_was_joined() {
    // Two bytes of the response are missing, unless they still come.
    let mut bench = Bench::new(Limits::default());
    bench.c(2000, 5000, ACK, b"GET").s(5002, 2003, ACK, b"0 OK");
    assert_eq!((bench.request().as_str(), bench.response().as_str()), ("GET", ""));
    bench.c(2003, 5006, ACK, b"").wait(60);
    assert_eq!(bench.response(), "??0 OK");
    // What comes after its acknowledgement is not old.
    let mut bench = Bench::new(Limits::default());
    bench.c(2000, 5000, ACK, b"GET").c(2003, 5006, ACK, b"").s(5000, 2003, ACK, b"200 OK");
    assert_eq!((bench.response().as_str(), bench.counters().gaps), ("200 OK", [0; 5]));
    // Farther away than the window allows, the acknowledgement is of something else.
    let mut bench = Bench::new(Limits::default());
    bench.c(2000, 5000, ACK, b"GET").s(5001 + (1000 << 7), 2003, ACK, b"200 OK");
    assert_eq!((bench.response().as_str(), bench.counters().gaps), ("200 OK", [0; 5]));
}

#[test]
fn what_says_nothing_opens_no_flow() {
    let mut bench = Bench::new(Limits::default());
    bench.c(1, 1, ACK, b"").c(1, 1, FIN | ACK, b"").c(1, 1, RST, b"bye");
    assert_eq!((bench.counters().opened, bench.drops(DropReason::Stray)), (0, 3));
}

#[test]
fn both_sides_may_open_at_once() {
    let mut bench = Bench::new(Limits::default());
    bench.c(999, 0, SYN, b"").s(4999, 0, SYN, b"").s(4999, 1000, SYN | ACK, b"").c(999, 5000, SYN | ACK, b"");
    bench.c(1000, 5000, ACK, b"hello").s(5000, 1005, ACK, b"hi");
    assert_eq!((bench.request().as_str(), bench.response().as_str()), ("hello", "hi"));
    assert_eq!((bench.counters().opened, bench.drops(DropReason::ImplausibleSyn)), (1, 0));
    bench.finish();
    assert_eq!(bench.told.closed[0].0.tuple.client.port, 40_000);
}

#[test]
fn a_syn_may_carry_data() {
    let mut bench = Bench::new(Limits::default());
    bench.c(999, 0, SYN, b"GET").s(4999, 1003, SYN | ACK, b"200").c(1003, 5003, ACK, b" /");
    assert_eq!((bench.request().as_str(), bench.response().as_str()), ("GET /", "200"));
    let mut bench = Bench::new(Limits::default());
    // The server did not take the data, so it comes again.
    bench.c(999, 0, SYN, b"GET").s(4999, 1000, SYN | ACK, b"").c(1000, 5000, ACK, b"GET /");
    assert_eq!((bench.request().as_str(), bench.counters().retransmitted_bytes), ("GET /", 3));
}

#[test]
fn a_syn_with_another_number_starts_a_new_flow_where_the_old_one_is_old() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1000, 5000, ACK, b"one").s(5000, 1003, ACK, b"1");
    bench.c(7_000_000, 0, SYN, b"");
    assert_eq!((bench.counters().opened, bench.drops(DropReason::ImplausibleSyn)), (1, 1), "it is alive");
    bench.c(1003, 5001, ACK, b"more").wait(2_000);
    bench.c(7_000_000, 0, SYN, b"").s(900, 7_000_001, SYN | ACK, b"").c(7_000_001, 901, ACK, b"two");
    assert_eq!((bench.counters().opened, bench.counters().replaced), (2, 1));
    assert_eq!((bench.ends(), bench.request().as_str()), (vec![End::Reset], "onemoretwo"));
    // While it opens, nothing needs to be old.
    bench.finish();
    bench.c(1, 0, SYN, b"").c(2, 0, SYN, b"");
    assert_eq!(bench.counters().replaced, 2);
    assert_eq!(bench.told.closed[0].0.id.slot, bench.told.closed[1].0.id.slot);
    assert_ne!(bench.told.closed[0].0.id, bench.told.closed[1].0.id);
}

#[test]
fn vlans_are_apart_unless_told_otherwise() {
    for (apart, flows) in [(true, 3), (false, 1)] {
        let mut bench = Bench::new(Limits { vlan_in_key: apart, ..Limits::default() });
        for vlan in [None, Some(1), Some(2), Some(1)] {
            let seg = Seg { vlan, ..bench.seg(Dir::ToServer, 1000, 0, ACK, b"same") };
            bench.send(&seg);
        }
        assert_eq!(bench.counters().opened, flows);
    }
}
