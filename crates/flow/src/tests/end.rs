//! How flows end.

use super::*;
use crate::testkit::{FIN, RST};

#[test]
fn both_fins_close_a_flow_and_it_lingers() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1000, 5000, ACK, b"GET").s(5000, 1003, ACK, b"200").c(1003, 5003, FIN | ACK, b"");
    assert_eq!(bench.request(), "GET$");
    // Half closed: the other direction goes on.
    bench.s(5003, 1004, ACK, b" OK").s(5006, 1004, FIN | ACK, b"!").c(1004, 5008, ACK, b"");
    assert_eq!(bench.response(), "200 OK!$");
    // Late segments belong to it and open nothing.
    bench.s(5006, 1004, FIN | ACK, b"!").c(1004, 5008, ACK, b"").c(1000, 5000, ACK, b"GET");
    assert_eq!((bench.counters().opened, bench.ends().len()), (1, 0));
    assert_eq!(bench.counters().retransmitted_bytes, 4);
    bench.wait(3_000);
    assert_eq!(bench.ends(), [End::Fin]);
    let flow = &bench.told.closed[0].0;
    assert_eq!((flow.sides[0].fins, flow.sides[1].fins, flow.sides[0].packets), (1, 2, 7));
    assert!(bench.table.is_empty() && !bench.table.is_tracked(flow.id));
}

#[test]
fn a_syn_ends_the_lingering_at_once() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1000, 5000, FIN | ACK, b"").s(5000, 1001, FIN | ACK, b"").c(1001, 5001, ACK, b"");
    bench.c(800_000, 0, SYN, b"");
    assert_eq!((bench.ends(), bench.counters().opened), (vec![End::Fin], 2));
}

#[test]
fn a_fin_waits_for_what_precedes_it() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1003, 5000, FIN | ACK, b"").s(5000, 1000, FIN | ACK, b"");
    assert_eq!((bench.request().as_str(), bench.response().as_str()), ("", "$"));
    bench.c(1000, 5000, ACK, b"GET").wait(3_000);
    assert_eq!((bench.request().as_str(), bench.ends()), ("GET$", vec![End::Fin]));
}

#[test]
fn data_after_a_fin_is_dropped() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1000, 5000, FIN | ACK, b"end").c(1004, 5000, ACK, b"more");
    assert_eq!((bench.request().as_str(), bench.drops(DropReason::AfterFin)), ("end$", 1));
    // And so is what was held when the FIN came.
    let mut bench = Bench::opened(Limits::default());
    bench.c(1010, 5000, ACK, b"beyond").c(1003, 5000, FIN | ACK, b"").c(1001, 5000, ACK, b"bcdef");
    bench.c(1000, 5000, ACK, b"a");
    assert_eq!(
        (bench.request().as_str(), bench.counters().dropped_bytes[DropReason::AfterFin as usize]),
        ("abc$", 9)
    );
}

#[test]
fn a_believable_reset_ends_a_flow() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1000, 5000, ACK, b"GET").s(5000, 1003, RST | ACK, b"because");
    assert_eq!(bench.drops(DropReason::ResetPayload), 1);
    bench.c(1003, 5000, ACK, b"").wait(3_000);
    assert_eq!((bench.ends(), bench.response().as_str()), (vec![End::Reset], ""));
    assert_eq!(bench.told.closed[0].0.sides[1].resets, 1);
    // A refused connection.
    let mut bench = Bench::new(Limits::default());
    bench.c(999, 0, SYN, b"").s(0, 1000, RST | ACK, b"").wait(3_000);
    assert_eq!(bench.ends(), [End::Reset]);
}

#[test]
fn a_blind_reset_changes_nothing() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1000, 5000, ACK, b"one").s(5000, 1003, ACK, b"1");
    // Windows are 1000 << 7 bytes.
    for seq in [1002, 1003 + 128_001, 4_000_000_000] {
        bench.c(seq, 0, RST, b"");
    }
    assert_eq!(bench.drops(DropReason::ImplausibleReset), 3);
    let mut refused = Bench::new(Limits::default());
    refused.c(999, 0, SYN, b"").s(0, 77, RST | ACK, b"").s(0, 1000, RST, b"");
    assert_eq!(refused.drops(DropReason::ImplausibleReset), 2);
    bench.c(1003, 5001, ACK, b"two").wait(3_000);
    assert_eq!((bench.request().as_str(), bench.ends().len()), ("onetwo", 0));
    bench.c(1006, 0, RST, b"").wait(3_000);
    assert_eq!(bench.ends(), [End::Reset]);
}

#[test]
fn silent_flows_expire_by_their_class() {
    let mut bench = Bench::new(Limits::default());
    bench.c(1, 0, SYN, b"").wait(29_000);
    assert!(bench.ends().is_empty());
    bench.wait(2_000);
    assert_eq!(bench.ends(), [End::Timeout]);
    let mut bench = Bench::opened(Limits::default());
    bench.c(1000, 5000, ACK, b"GET").wait(299_000);
    assert!(bench.ends().is_empty());
    bench.s(5000, 1003, ACK, b"200").wait(299_000);
    assert!(bench.ends().is_empty(), "the response was a sign of life");
    bench.wait(2_000);
    assert_eq!(bench.ends(), [End::Timeout]);
}

#[test]
fn an_expired_flow_is_not_continued_even_without_a_tick() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1000, 5000, ACK, b"GET");
    bench.now += 400_000 * MS;
    bench.c(1003, 5000, ACK, b"late");
    assert_eq!((bench.ends(), bench.counters().opened_middle), (vec![End::Timeout], 1));
}

#[test]
fn the_end_of_a_flow_delivers_what_it_holds_behind_gaps() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1002, 5000, ACK, b"cd").c(1006, 5000, FIN | ACK, b"g").finish();
    assert_eq!((bench.request().as_str(), bench.gaps(GapCause::Close)), ("??cd??g$", (2, 4)));
    assert_eq!(bench.told.closed[0].0.sides[0].gap_bytes, 4);
}

#[test]
fn time_that_runs_back_closes_nothing() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1000, 5000, ACK, b"GET");
    bench.now -= 3_600_000 * MS;
    bench.s(5000, 1003, ACK, b"200").wait(1_000);
    assert_eq!((bench.ends().len(), bench.response().as_str()), (0, "200"));
    bench.wait(299_500);
    assert_eq!(bench.ends(), [End::Timeout]);
}
