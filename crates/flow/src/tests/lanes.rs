//! Segments out of order, twice, cut, or missing.

use super::*;
use crate::testkit::FIN;

#[test]
fn segments_are_put_in_order_and_the_first_bytes_win() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1004, 5000, ACK, b"EF").c(1002, 5000, ACK, b"cdefgh").c(1000, 5000, ACK, b"ABCD");
    assert_eq!(bench.request(), "ABcdEFgh");
    assert_eq!((bench.counters().overlap_bytes, bench.counters().out_of_order), (4, 2));
    assert_eq!(bench.table.held_bytes(), 0);
    let starts: Vec<bool> = bench
        .told
        .calls
        .iter()
        .filter_map(|call| match &call.heard {
            Heard::Bytes(_, start) => Some(*start),
            _ => None,
        })
        .collect();
    assert_eq!(
        starts,
        [true, true, true, false],
        "ABcd, then EF, of which cdefgh has the middle and the rest"
    );
}

#[test]
fn retransmissions_are_trimmed_and_counted() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1000, 5000, ACK, b"abcd").c(1000, 5000, ACK, b"abcd").c(1002, 5000, ACK, b"cdef");
    assert_eq!(bench.request(), "abcdef");
    bench.finish();
    let side = bench.told.closed[0].0.sides[0];
    assert_eq!((side.retransmitted, side.retransmitted_bytes, side.payload_bytes), (2, 6, 12));
}

#[test]
fn acknowledged_bytes_are_missing_after_the_allowance() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1004, 5000, ACK, b"efgh").s(5000, 1008, ACK, b"");
    for _ in 0..15 {
        bench.s(5000, 1008, ACK, b"");
    }
    assert_eq!(bench.request(), "", "sixteen packets may pass");
    bench.s(5000, 1008, ACK, b"");
    assert_eq!((bench.request().as_str(), bench.gaps(GapCause::Acked)), ("????efgh", (1, 4)));
    // By time, with nothing held at all.
    bench.s(5000, 1010, ACK, b"").wait(49);
    assert_eq!(bench.request(), "????efgh");
    bench.wait(1);
    assert_eq!(bench.request(), "????efgh??");
    bench.c(1010, 5000, ACK, b"end");
    assert_eq!(bench.request(), "????efgh??end");
    assert_eq!(bench.table.held_bytes(), 0);
}

#[test]
fn an_acknowledgement_may_be_captured_before_its_data() {
    let mut bench = Bench::opened(Limits::default());
    bench.s(5000, 1004, ACK, b"").c(1002, 5000, ACK, b"cd").c(1000, 5000, ACK, b"ab").wait(1_000);
    assert_eq!((bench.request().as_str(), bench.counters().gaps), ("abcd", [0; 5]));
}

#[test]
fn only_acknowledged_bytes_are_given_up_by_an_acknowledgement() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1006, 5000, ACK, b"gh").s(5000, 1002, ACK, b"").wait(60);
    assert_eq!(bench.request(), "??", "what follows may still come");
    bench.c(1002, 5000, ACK, b"cdef");
    assert_eq!(bench.request(), "??cdefgh");
}

#[test]
fn data_waits_for_the_hold_time() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1002, 5000, ACK, b"cd").c(1006, 5000, ACK, b"gh").wait(4_900);
    assert_eq!(bench.request(), "");
    let seen = bench.now - 4_900 * MS;
    bench.wait(200);
    assert_eq!(bench.request(), "??cd");
    bench.wait(5_000);
    assert_eq!((bench.request().as_str(), bench.gaps(GapCause::Hold)), ("??cd??gh", (2, 4)));
    let last = bench.told.calls.last().unwrap();
    assert_eq!(last.time, Nanos(seen), "behind a gap bytes carry the time they were seen");
    // What was declared missing and comes after all is old.
    bench.c(1004, 5000, ACK, b"ef");
    assert_eq!(bench.counters().retransmitted_bytes, 2);
}

#[test]
fn bytes_that_were_held_carry_the_time_when_they_were_captured() {
    let mut bench = Bench::opened(Limits::default());
    let start = bench.now;
    bench.c(1002, 5000, ACK, b"cd").c(1006, 5000, ACK, b"gh").c(1004, 5000, ACK, b"ef");
    bench.c(1009, 5000, FIN | ACK, b"j").c(1000, 5000, ACK, b"ab").wait(6_000);
    let times: Vec<i64> = bench.told.calls.iter().map(|call| (call.time.0 - start) / MS).collect();
    assert_eq!(bench.request(), "abcdefgh?j$");
    assert_eq!(times, [5, 1, 3, 2, 4, 4, 4], "a gap has the time of what follows it");
    // Of a gap that nothing follows, that of the acknowledgement.
    let mut bench = Bench::opened(Limits::default());
    bench.s(5000, 1003, ACK, b"");
    let told = bench.now;
    bench.wait(70);
    assert_eq!((bench.request().as_str(), bench.told.calls[0].time), ("???", Nanos(told)));
}

#[test]
fn what_the_snapshot_length_cut_off_is_a_gap_for_good() {
    let mut bench = Bench::opened(Limits::default());
    let cut = Seg { cut: 3, ..bench.seg(Dir::ToServer, 1000, 5000, ACK, b"ab") };
    bench.send(&cut).c(1000, 5000, ACK, b"abcde").c(1005, 5000, ACK, b"f");
    assert_eq!((bench.request().as_str(), bench.gaps(GapCause::Cut)), ("ab???f", (1, 3)));
    // Out of order as well.
    let cut = Seg { cut: 3, ..bench.seg(Dir::ToServer, 1008, 5000, ACK, b"ij") };
    bench.send(&cut).c(1010, 5000, ACK, b"KLMN").c(1006, 5000, ACK, b"ghI");
    assert_eq!(bench.request(), "ab???fghij???N");
    bench.finish();
    assert_eq!(bench.told.closed[0].0.sides[0].payload_bytes, 5 + 5 + 1 + 5 + 4 + 3);
}

#[test]
fn probes_are_no_data() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1000, 5000, ACK, b"abc").c(1002, 5000, ACK, b"").c(1002, 5000, ACK, b"\0");
    assert_eq!((bench.request().as_str(), bench.counters().keep_alives), ("abc", 2));
    bench.finish();
    assert_eq!(bench.told.closed[0].0.sides[0].retransmitted, 0);
    // Into a window of zero: the byte is of the stream, and comes again when the window opens.
    let mut bench = Bench::opened(Limits::default());
    let full = Seg { window: 0, ..bench.seg(Dir::ToClient, 5000, 1000, ACK, b"") };
    bench.send(&full).c(1000, 5000, ACK, b"a").send(&full).c(1000, 5000, ACK, b"abc");
    assert_eq!((bench.request().as_str(), bench.counters().gaps), ("abc", [0; 5]));
    bench.finish();
    assert_eq!(bench.told.closed[0].0.sides[1].zero_windows, 2);
}

#[test]
fn a_segment_far_beyond_the_window_is_not_held() {
    let mut bench = Bench::opened(Limits::default());
    bench.c(1000 + (100 << 20), 5000, ACK, b"forged").c(1000, 5000, ACK, b"real").finish();
    assert_eq!((bench.request().as_str(), bench.drops(DropReason::OutOfWindow)), ("real", 1));
}

#[test]
fn an_acknowledgement_from_nowhere_is_not_believed() {
    let mut bench = Bench::opened(Limits::default());
    bench.s(5000 + (1 << 30), 1000 + (1 << 20), ACK, b"").wait(1_000).c(1000, 5000, ACK, b"still here");
    assert_eq!((bench.request().as_str(), bench.counters().gaps), ("still here", [0; 5]));
}

#[test]
fn acknowledgements_that_go_round_the_sequence_space_leave_nothing_behind() {
    let mut bench = Bench::opened(Limits::default());
    bench.s(5000, 1000 + (2 << 30) - 5, ACK, b"").s(5000, 1000 + (3 << 30), ACK, b"").s(5000, 1007, ACK, b"");
    bench.c(1000, 5000, ACK, b"forged").finish();
    assert_eq!((bench.counters().delivered_bytes, bench.gaps(GapCause::Close)), (6, (1, (2 << 30) - 11)));
}

#[test]
fn more_than_four_gigabytes_pass_through_one_lane() {
    let mut bench = Bench::opened(Limits::default());
    let (mut seq, mut sent) = (1000u32, 0u64);
    // Frames of 256 MiB do not exist; sequence numbers do not know.
    for at in 0..40u32 {
        let cut = Seg { cut: 1 << 28, ..bench.seg(Dir::ToServer, seq, 5000, ACK, &[b'a', at as u8]) };
        bench.send(&cut);
        seq = seq.wrapping_add((1 << 28) + 2);
        sent += (1 << 28) + 2;
        if at % 3 == 0 {
            let ahead = bench.seg(Dir::ToServer, seq.wrapping_add(2), 5000, ACK, b"cd");
            bench.send(&ahead).c(seq, 5000, ACK, b"ab");
            seq = seq.wrapping_add(4);
            sent += 4;
        }
        bench.s(5000, seq, ACK, b"");
    }
    assert_eq!(bench.counters().gaps, [40, 0, 0, 0, 0]);
    assert_eq!(bench.counters().delivered_bytes + bench.gaps(GapCause::Cut).1, sent);
    assert!(sent > 2 << 32);
}

#[test]
fn a_loss_larger_than_the_window_is_recovered_by_acknowledgements() {
    let mut bench = Bench::opened(Limits::default());
    let far = 1000 + (1 << 30) + 5;
    bench.c(1000, 5000, ACK, b"a").c(far, 5000, ACK, b"lost").s(5000, far, ACK, b"");
    bench.c(far, 5000, ACK, b"here").wait(60);
    assert_eq!(bench.gaps(GapCause::Acked), (1, (1 << 30) + 4));
    assert_eq!(bench.counters().delivered_bytes, 5);
    assert_eq!(bench.drops(DropReason::OutOfWindow), 1);
}

#[test]
fn a_lane_begins_where_its_receiver_first_said() {
    // The answer to the SYN and the first bytes of the server are lost; both were acknowledged.
    let mut bench = Bench::new(Limits::default());
    bench.c(999, 0, SYN, b"").c(1000, 5000, ACK, b"one").c(1003, 5003, ACK, b"two").s(5003, 1006, ACK, b"2");
    bench.wait(60);
    assert_eq!((bench.response().as_str(), bench.gaps(GapCause::Acked)), ("???2", (1, 3)));
    // Who was not heard from the beginning may have said anything before.
    let mut bench = Bench::new(Limits::default());
    bench.c(1000, 5000, ACK, b"one").c(1003, 5003, ACK, b"two").s(5003, 1006, ACK, b"2").wait(60);
    assert_eq!((bench.response().as_str(), bench.counters().gaps), ("2", [0; 5]));
}
