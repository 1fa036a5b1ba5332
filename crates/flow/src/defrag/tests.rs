//! Fragments of one datagram, and budgets of many.

#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "a test may stop"
)]

use super::*;
use std::net::{Ipv4Addr, Ipv6Addr};

struct Bench {
    defrag: Defrag,
    whole: Vec<u8>,
    dropped: Vec<(DropReason, u64)>,
    v6: bool,
    id: u32,
}

impl Bench {
    fn new(v6: bool) -> Self {
        let limits = DefragLimits { bytes: 10_000, datagrams: 5, wait: 100 };
        let defrag = Defrag::new(limits, FixedState::with_seed(3));
        Self { defrag, whole: Vec::new(), dropped: Vec::new(), v6, id: 1 }
    }

    fn push(&mut self, offset: u32, more: bool, payload: &[u8], payload_len: u32) -> Option<String> {
        let ip = if self.v6 { Ipv6Addr::LOCALHOST.into() } else { Ipv4Addr::LOCALHOST.into() };
        let key = FragmentKey { src: ip, dst: ip, id: self.id, protocol: 17, vlan: None, tunnel: None };
        let fragment = Fragment { id: self.id, offset, more, protocol: 17, payload, payload_len };
        let dropped = &mut self.dropped;
        let mut drops = |reason, count| dropped.push((reason, count));
        let done = self.defrag.push(key, &fragment, 10, 0, &mut self.whole, &mut drops)?;
        assert_eq!(done.wire_len, done.fragments as u32 * 10);
        Some(String::from_utf8(self.whole.clone()).unwrap())
    }

    fn part(&mut self, offset: u32, more: bool, payload: &str) -> Option<String> {
        self.push(offset, more, payload.as_bytes(), payload.len() as u32)
    }
}

#[test]
fn the_first_bytes_win_in_ipv4() {
    let mut bench = Bench::new(false);
    assert_eq!(bench.part(8, true, "hijklmno"), None);
    assert_eq!(bench.part(0, true, "ABCDEFGHIJKLMNOPQRSTUVWX"), None);
    assert_eq!(bench.part(24, false, "y").as_deref(), Some("ABCDEFGHhijklmnoQRSTUVWXy"));
    assert_eq!((bench.dropped.len(), bench.defrag.held(), bench.defrag.cost()), (0, 0, 0));
}

#[test]
fn an_overlap_ends_a_datagram_of_ipv6() {
    let mut bench = Bench::new(true);
    bench.part(8, true, "hijklmno");
    bench.part(0, true, "ABCDEFGHIJKLMNOP");
    assert_eq!(bench.dropped, [(DropReason::FragmentOverlap, 2)]);
    bench.part(0, true, "abcdefgh");
    assert_eq!(bench.part(16, false, "end"), None, "nothing comes of it any more");
    assert_eq!(bench.dropped.len(), 3);
    assert_eq!(bench.defrag.cost(), DATAGRAM_COST);
}

#[test]
fn fragments_that_cannot_be_are_refused() {
    let mut bench = Bench::new(false);
    bench.part(65_528, false, "12345678");
    bench.part(u32::MAX, false, "1");
    bench.part(0, true, "1234567");
    bench.part(8, false, "");
    let reasons: Vec<DropReason> = bench.dropped.drain(..).map(|(reason, _)| reason).collect();
    let (large, length) = (DropReason::FragmentTooLarge, DropReason::FragmentLength);
    assert_eq!(reasons, [large, large, length, length]);
    assert_eq!(bench.defrag.cost(), 0);
    assert_eq!(bench.part(65_520, false, "123456789012345"), None, "the last byte there can be");
    assert!(bench.dropped.is_empty());
}

#[test]
fn two_ends_or_bytes_beyond_the_end_are_inconsistent() {
    for second in [(8, false, "xy"), (16, true, "12345678")] {
        let mut bench = Bench::new(false);
        bench.part(8, false, "xyz");
        bench.part(second.0, second.1, second.2);
        assert_eq!(bench.dropped, [(DropReason::FragmentInconsistent, 2)]);
    }
    let mut bench = Bench::new(false);
    bench.part(8, true, "12345678");
    bench.part(0, false, "12345678");
    assert_eq!(bench.dropped, [(DropReason::FragmentInconsistent, 2)]);
}

#[test]
fn a_fragment_that_was_cut_ends_its_datagram() {
    let mut bench = Bench::new(false);
    bench.part(8, true, "12345678");
    bench.push(0, true, b"1234", 8);
    assert_eq!(bench.dropped, [(DropReason::FragmentCut, 2)]);
}

#[test]
fn every_budget_is_met() {
    let mut bench = Bench::new(false);
    for id in 0..6 {
        bench.id = id;
        bench.part(0, true, "12345678");
    }
    assert_eq!(bench.dropped, [(DropReason::FragmentBudget, 1)]);
    bench.id = 9;
    bench.push(0, true, &[0; 9600], 9600);
    assert!(bench.defrag.cost() <= 10_000 && bench.dropped.len() > 2);
    bench.dropped.clear();
    bench.defrag.expire(99, 10, &mut |reason, count| bench.dropped.push((reason, count)));
    assert!(bench.dropped.is_empty());
    bench.defrag.expire(100, 10, &mut |reason, count| bench.dropped.push((reason, count)));
    assert_eq!(bench.dropped, [(DropReason::FragmentTimeout, 1)]);

    let mut bench = Bench::new(false);
    bench.defrag.limits.bytes = 1 << 20;
    for at in 0..200 {
        bench.part(at * 16, true, "12345678");
    }
    let many =
        bench.dropped.iter().position(|(reason, count)| *reason == DropReason::FragmentTooMany && *count > 1);
    assert_eq!(many, Some(0));
    assert_eq!(bench.defrag.held(), 0);
}
