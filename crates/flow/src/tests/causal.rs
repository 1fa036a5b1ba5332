//! One lane does not go before the other: what its sender had received is told first.

use super::*;
use crate::testkit::{FIN, RST};
use std::time::Duration;

/// Both lanes in the order of the calls: `>` is what the client said, `<` what the server said, gaps are `?`.
fn story(bench: &Bench) -> String {
    let mut story = String::new();
    let mut last = None;
    for call in &bench.told.calls {
        if last != Some(call.dir) {
            story.push(if call.dir == Dir::ToServer { '>' } else { '<' });
        }
        last = Some(call.dir);
        match &call.heard {
            Heard::Bytes(bytes, _) => story.push_str(&String::from_utf8_lossy(bytes)),
            Heard::Gap(missing) => story.extend((0..*missing).map(|_| '?')),
            Heard::Eof => story.push('$'),
            Heard::Datagram(..) => unreachable!(),
        }
    }
    story
}

#[test]
fn a_response_waits_for_the_gap_where_its_request_was() {
    let mut bench = Bench::opened(Limits::default());
    // "one" was lost by the capture.
    bench.s(5000, 1003, ACK, b"1");
    let captured = bench.now;
    assert_eq!((story(&bench).as_str(), bench.counters().early), ("", 1));
    bench.c(1003, 5001, ACK, b"two").s(5001, 1006, ACK, b"2");
    assert_eq!(story(&bench), "", "it may still come");
    bench.wait(60);
    assert_eq!(story(&bench), ">???<1>two<2");
    assert_eq!(bench.gaps(GapCause::Acked), (1, 3));
    assert_eq!(bench.told.calls[1].time, Nanos(captured));
    assert_eq!(bench.counters().out_of_order, 1, "only the request came after what was missing");
    // Late, it is old.
    bench.c(1000, 5000, ACK, b"one").finish();
    assert_eq!((story(&bench).as_str(), bench.counters().retransmitted_bytes), (">???<1>two<2", 3));
    let flow = &bench.told.closed[0].0;
    assert_eq!((flow.sides[1].out_of_order, flow.sides[1].payload_bytes, flow.sides[1].gaps), (0, 2, 0));
}

#[test]
fn a_response_waits_for_a_request_that_is_captured_later() {
    let mut bench = Bench::opened(Limits::default());
    bench.s(5000, 1003, ACK, b"20").s(5002, 1003, ACK, b"0");
    assert_eq!(story(&bench), "");
    let times = [bench.now + MS, bench.now - MS, bench.now];
    bench.c(1000, 5000, ACK, b"GET");
    assert_eq!(story(&bench), ">GET<200");
    assert_eq!(bench.told.calls.iter().map(|call| call.time.0).collect::<Vec<_>>(), times);
    assert_eq!((bench.table.held_bytes(), bench.counters().gaps, bench.counters().early), (0, [0; 5], 2));
    assert_eq!(bench.counters().out_of_order, 0);
    bench.c(1003, 5003, ACK, b"more").s(5003, 1007, ACK, b"ok");
    assert_eq!((story(&bench).as_str(), bench.counters().early), (">GET<200>more<ok", 2));
}

#[test]
fn what_a_sender_had_received_is_told() {
    use ::model::Heard::{All, Less, Unknown};
    let mut bench = Bench::opened(Limits::default());
    // One after the other, then two messages that cross, then one that is captured behind its successor.
    bench
        .c(1000, 5000, ACK, b"ab")
        .s(5000, 1002, ACK, b"12")
        .c(1002, 5000, ACK, b"c")
        .s(5002, 1002, ACK, b"3");
    assert_eq!(bench.told.sender_heard, [All, All, Less, Less]);
    bench.c(1004, 5003, ACK, b"e").c(1003, 5003, ACK, b"d").s(5003, 1005, ACK, b"4");
    assert_eq!(bench.told.sender_heard[4..], [All, All, All]);
    // Sent again with more behind it, and by who acknowledges nothing.
    bench.c(1004, 5004, ACK, b"ef").s(5004, 0, 0, b"5");
    assert_eq!(bench.told.sender_heard[7..], [Unknown, Unknown]);
}

#[test]
fn lost_and_late_at_once() {
    let mut bench = Bench::opened(Limits::default());
    // Of three requests the first is lost, the second comes after its response; the third response is lost.
    bench.s(5000, 1001, ACK, b"a").s(5001, 1002, ACK, b"b").c(1001, 5001, ACK, b"B").wait(60);
    assert_eq!(story(&bench), ">?<a>B<b");
    bench.c(1002, 5002, ACK, b"C").c(1003, 5003, ACK, b"D").s(5003, 1004, ACK, b"d").wait(60);
    assert_eq!(story(&bench), ">?<a>B<b>C<?>D<d");
    assert_eq!(bench.table.held_bytes(), 0);
}

#[test]
fn acknowledgements_alone_wait_for_nothing_and_hold_up_nothing() {
    let mut bench = Bench::opened(Limits::default());
    bench.s(5000, 1003, ACK, b"").s(5000, 1003, ACK, b"");
    assert_eq!((bench.table.flows().next().unwrap().0.sides[1].packets, bench.counters().early), (3, 0));
    // What the server had not received before it spoke is not waited for.
    bench.s(5000, 1000, ACK, b"hello");
    assert_eq!(story(&bench), "<hello");
    bench.c(1000, 5005, ACK, b"GET");
    assert_eq!(story(&bench), "<hello>GET");
}

#[test]
fn the_end_of_a_lane_waits_too() {
    let mut bench = Bench::opened(Limits::default());
    bench.s(5000, 1004, FIN | ACK, b"").c(1000, 5000, FIN | ACK, b"bye");
    assert_eq!(story(&bench), ">bye$<$");
    let mut bench = Bench::opened(Limits::default());
    bench.s(5000, 1003, FIN | ACK, b"x").finish();
    assert_eq!((story(&bench).as_str(), bench.gaps(GapCause::Close)), (">???<x$", (1, 3)));
}

#[test]
fn both_lanes_may_miss_bytes_that_the_other_one_waits_for() {
    let mut bench = Bench::opened(Limits::default());
    // Lost: "ab" of the client, then "12" of the server.
    bench.s(5002, 1002, ACK, b"34").c(1002, 5004, ACK, b"cd");
    assert_eq!(story(&bench), "");
    bench.wait(48);
    assert_eq!(story(&bench), "");
    bench.wait(1);
    assert_eq!(
        story(&bench),
        ">??",
        "the client's bytes were missing first; its next ones need the server's"
    );
    bench.wait(1);
    assert_eq!(story(&bench), ">??<??34>cd");
    assert_eq!((bench.table.held_bytes(), bench.gaps(GapCause::Acked)), (0, (2, 4)));
}

#[test]
fn a_retransmission_acknowledges_more_than_its_bytes_did() {
    let mut bench = Bench::opened(Limits::default());
    // The request was lost by the capture, and is sent again after its response arrived.
    bench.s(5000, 1003, ACK, b"200").c(1000, 5003, ACK, b"GET");
    assert_eq!((story(&bench).as_str(), bench.counters().gaps), (">GET<200", [0; 5]));
    assert_eq!(bench.table.held_bytes(), 0);
}

#[test]
fn bytes_are_held_for_the_other_lane_within_the_budgets() {
    let budgets = [
        Limits { lane_bytes: 2_000, ..Limits::default() },
        Limits { lane_pieces: 3, ..Limits::default() },
        Limits { held_bytes: 2_000, ..Limits::default() },
    ];
    for limits in budgets {
        let mut bench = Bench::opened(limits);
        for at in 0..4u32 {
            bench.s(5000 + at * 2000, 1003, ACK, &[b'x'; 2000]);
        }
        let text = story(&bench);
        assert!(text.starts_with(">???<xxx"), "{text}");
        assert!(bench.gaps(GapCause::Budget).0 >= 1);
    }
    // And for the hold time, however the acknowledgements go on.
    let mut bench = Bench::opened(Limits { reorder: Duration::from_secs(60), ..Limits::default() });
    bench.s(5000, 1003, ACK, b"x").wait(4_900);
    assert_eq!(story(&bench), "");
    bench.wait(200);
    assert_eq!((story(&bench).as_str(), bench.gaps(GapCause::Hold)), (">???<x", (1, 3)));
}

#[test]
fn numbers_that_cannot_be_believed_hold_up_nothing() {
    // No acknowledgement: no ACK flag.
    let mut bench = Bench::opened(Limits::default());
    bench.s(5000, 1003, 0, b"x");
    assert_eq!(story(&bench), "<x");
    // Far beyond what the client may have sent.
    bench.s(5001, 1000 + (200 << 20), ACK, b"y");
    assert_eq!(story(&bench), "<xy");
    // From a segment that is not of the lane: it is dropped, and what follows is not held up.
    let mut bench = Bench::opened(Limits::default());
    bench.s(5000 + (1 << 30), 1500, ACK, b"forged").s(5000, 1000, ACK, b"x");
    assert_eq!((story(&bench).as_str(), bench.drops(DropReason::OutOfWindow)), ("<x", 1));
    // Before the lane began: everything before it was received.
    bench.s(5001, 900, ACK, b"y").s(5002, 0, RST, b"");
    assert_eq!(story(&bench), "<xy");
}

#[test]
fn a_lane_of_which_nothing_was_captured_holds_up_nothing() {
    let mut bench = Bench::new(Limits::default());
    for at in 0..50 {
        bench.c(1000 + at, 5000 + at * 100, ACK, b"x");
    }
    assert_eq!((bench.request(), bench.table.held_bytes()), ("x".repeat(50), 0));
    assert_eq!(bench.counters().early, 0);
}

#[test]
fn numbers_wrap_in_both_lanes() {
    let mut bench = Bench::new(Limits::default());
    let (c, s) = (u32::MAX - 1, u32::MAX - 2);
    bench.c(c - 1, 0, SYN, b"").s(s - 1, c, SYN | ACK, b"").c(c, s, ACK, b"");
    bench.s(s, 2, ACK, b"1234").c(c, s, ACK, b"abcd");
    assert_eq!(story(&bench), ">abcd<1234");
    bench.s(1, 4, ACK, b"56").wait(60);
    assert_eq!(story(&bench), ">abcd<1234>??<56");
    assert_eq!(bench.table.held_bytes(), 0);
}
