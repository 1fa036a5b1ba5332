//! Every number that bounds the table is met once.

use super::*;
use crate::testkit::FIN;
use std::time::Duration;

#[test]
fn a_lane_that_holds_too_much_has_a_gap() {
    let mut bench = Bench::opened(Limits { lane_bytes: 10_000, ..Limits::default() });
    for at in 0..3u32 {
        bench.c(2000 + at * 3000, 5000, ACK, &[b'x'; 3000]);
    }
    assert_eq!(bench.gaps(GapCause::Budget), (0, 0));
    bench.c(2000 + 3 * 3000, 5000, ACK, &[b'x'; 3000]);
    assert_eq!((bench.gaps(GapCause::Budget), bench.counters().delivered_bytes), ((1, 1000), 12_000));
    // One segment larger than the budget is delivered, not dropped.
    bench.c(20_000, 5000, ACK, &[b'y'; 60_000]);
    assert_eq!(bench.counters().delivered_bytes, 72_000);
    assert_eq!(bench.table.held_bytes(), 0);
}

#[test]
fn a_lane_of_too_many_pieces_has_gaps() {
    let mut bench = Bench::opened(Limits { lane_pieces: 100, ..Limits::default() });
    for at in 0..200 {
        bench.c(1001 + at * 2, 5000, ACK, b"x");
    }
    assert_eq!(bench.gaps(GapCause::Budget), (100, 100));
    bench.finish();
    assert_eq!(bench.request(), "?x".repeat(200));
}

#[test]
fn one_byte_segments_cost_bytes_and_not_pieces() {
    let mut bench = Bench::opened(Limits { hold: Duration::from_secs(600), ..Limits::default() });
    for at in (1..60_000).rev() {
        bench.c(1000 + at, 5000, ACK, b"x");
    }
    let held = bench.table.held_bytes();
    // And the time of each, which is 16 bytes.
    assert!(held < 60_000 * 18, "{held}");
    bench.c(1000, 5000, ACK, b"x");
    assert_eq!((bench.counters().delivered_bytes, bench.table.held_bytes()), (60_000, 0));
}

#[test]
fn when_the_table_holds_too_much_the_oldest_hole_goes_first() {
    let mut bench = Bench::new(Limits { held_bytes: 10_000, ..Limits::default() });
    for port in 1..=4 {
        bench.client.1 = port;
        bench.c(999, 0, SYN, b"").c(1002, 0, ACK, &[port as u8 + b'0'; 2500]);
    }
    assert_eq!(bench.gaps(GapCause::Budget), (1, 2));
    assert!(bench.request().starts_with("??1") && !bench.request().contains('2'));
    assert!(bench.table.held_bytes() <= 10_000);
}

#[test]
fn a_flood_of_syns_pushes_out_no_real_flow() {
    let mut bench = Bench::new(Limits { flows: 256, ..Limits::default() });
    for port in 1..=100 {
        bench.client.1 = port;
        bench.c(999, 0, SYN, b"").s(4999, 1000, SYN | ACK, b"");
        bench.c(1000, 5000, ACK, b"GET").s(5000, 1003, ACK, b"200");
    }
    bench.told.keep = false;
    for flood in 0..20_000u32 {
        bench.client.1 = flood as u16;
        bench.client.0 = IpAddr::V4(Ipv4Addr::from_bits(0xCB00_7100 + flood / 65_536));
        bench.now -= MS - 10_000;
        bench.c(flood, 0, SYN, b"");
    }
    let counters = bench.counters();
    assert_eq!(counters.closed[End::Evicted as usize], 20_000 - 156);
    assert_eq!(counters.evicted_unestablished, 20_000 - 156);
    assert_eq!(bench.table.len(), 256);
    bench.client.0 = CLIENT.0;
    for port in 1..=100 {
        bench.client.1 = port;
        bench.c(1003, 5003, ACK, b"more");
    }
    assert_eq!(bench.counters().opened, 20_100);
}

#[test]
fn when_all_are_real_the_least_recent_makes_room_and_closed_ones_before() {
    let mut bench = Bench::new(Limits { flows: 64, ..Limits::default() });
    for port in 1001..=1064 {
        bench.client.1 = port;
        bench.c(1000, 5000, ACK, b"GET").s(5000, 1003, ACK, b"200");
    }
    bench.client.1 = 1001;
    bench.wait(1_000).c(1003, 5003, ACK, b"busy");
    bench.client.1 = 2000;
    bench.c(1, 0, SYN, b"");
    assert_eq!(bench.told.closed[0].0.tuple.client.port, 1002, "the first one was seen since");
    bench.client.1 = 1050;
    bench.c(1003, 5003, FIN | ACK, b"").s(5003, 1004, FIN | ACK, b"");
    bench.client.1 = 2001;
    bench.c(1, 0, SYN, b"");
    assert_eq!(
        (bench.told.closed[1].0.tuple.client.port, bench.ends()),
        (1050, vec![End::Evicted, End::Fin])
    );
    // Newcomers do not only push out each other.
    for port in 3000..3003 {
        bench.client.1 = port;
        bench.c(1, 0, SYN, b"");
    }
    let gone: Vec<u16> = bench.told.closed[2..].iter().map(|(flow, _)| flow.tuple.client.port).collect();
    assert_eq!(gone, [1003, 1004, 1005]);
}

#[test]
fn one_tick_closes_a_bounded_number() {
    let mut bench = Bench::new(Limits { flows: 4096, ..Limits::default() });
    for port in 0..2000 {
        bench.client.1 = port;
        bench.c(1, 0, SYN, b"");
    }
    bench.wait(60_000);
    assert_eq!(bench.table.len(), 2000 - 1024);
    bench.wait(0);
    assert!(bench.table.is_empty());
}
