//! What a flow's consumer hears does not depend on what else its table has to do.

use super::*;
use crate::testkit::{FIN, RST};
use crate::{Consumer, Flow};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;

/// Everything that was told of each flow, by the port that is not 80.
#[derive(Debug, Default, PartialEq)]
struct ByFlow(BTreeMap<u16, Vec<String>>);

impl ByFlow {
    fn hear(&mut self, flow: &Flow, what: String) {
        self.0.entry(flow.tuple.client.port.max(flow.tuple.server.port)).or_default().push(what);
    }
}

impl Consumer for ByFlow {
    type State = ();

    fn open(&mut self, flow: &Flow, time: Nanos) {
        self.hear(flow, format!("open {:?} {time:?}", flow.start));
    }
    fn bytes(&mut self, flow: &Flow, (): &mut (), dir: Dir, bytes: &[u8], arrival: Arrival) {
        self.hear(flow, format!("{dir:?} {bytes:?} {arrival:?} {:?} {:?}", flow.sides, flow.last));
    }
    fn gap(&mut self, flow: &Flow, (): &mut (), dir: Dir, missing: u64, time: Nanos) {
        self.hear(flow, format!("{dir:?} gap {missing} {time:?} {:?} {:?}", flow.sides, flow.last));
    }
    fn eof(&mut self, flow: &Flow, (): &mut (), dir: Dir, time: Nanos) {
        self.hear(flow, format!("{dir:?} eof {time:?} {:?} {:?}", flow.sides, flow.last));
    }
    fn datagram(&mut self, flow: &Flow, (): &mut (), dir: Dir, bytes: &[u8], arrival: Arrival) {
        self.hear(flow, format!("{dir:?} {bytes:?} {arrival:?}"));
    }
    fn close(&mut self, flow: &Flow, (): (), end: End, time: Nanos) {
        let flags = (flow.start, flow.handshake(), flow.first, flow.last, flow.sides);
        self.hear(flow, format!("close {end:?} {time:?} {flags:?}"));
    }
}

/// A packet of a flow: how much later it comes than the one before, and how far its time lies back.
#[derive(Debug, Clone)]
struct Step {
    flow: u16,
    to_client: bool,
    skip: u32,
    len: usize,
    ack_more: u32,
    flags: u8,
    wait: i64,
    back: i64,
}

fn step() -> impl Strategy<Value = Step> {
    let flags = prop_oneof![20 => Just(ACK), 1 => Just(FIN | ACK), 1 => Just(SYN), 1 => Just(SYN | ACK), 1 => Just(RST)];
    let wait = prop_oneof![8 => 0..3 * MS, 4 => 0..40 * MS, 1 => 0..3_000 * MS];
    let skip = prop_oneof![6 => Just(0u32), 1 => 1u32..40];
    let more = prop_oneof![6 => Just(0u32), 1 => 1u32..40];
    let back = prop_oneof![3 => Just(0i64), 1 => 0..30 * MS];
    (0u16..24, any::<bool>(), skip, 0usize..30, more, flags, wait, back).prop_map(
        |(flow, to_client, skip, len, ack_more, flags, wait, back)| Step {
            flow,
            to_client,
            skip,
            len,
            ack_more,
            flags,
            wait,
            back,
        },
    )
}

fn replay(steps: &[Step], tables: usize, every: usize) -> ByFlow {
    let limits = Limits {
        flows: 64,
        opening: Duration::from_secs(3),
        idle: Duration::from_secs(6),
        linger: Duration::from_millis(500),
        hold: Duration::from_millis(1_500),
        lane_pieces: 6,
        ..Limits::default()
    };
    let mut all: Vec<Table<()>> = (0..tables).map(|_| Table::new(limits.clone(), 7)).collect();
    let mut told = ByFlow::default();
    let (mut now, mut latest) = (1_700_000_000_123_456_789i64, 0);
    // The next number of each side.
    let mut next = [[u32::MAX - 50, 7000]; 24];
    for (at, step) in steps.iter().enumerate() {
        now += step.wait;
        let time = now - step.back;
        latest = latest.max(time);
        let (client, server) = ((CLIENT.0, 40_000 + step.flow), SERVER);
        let (src, dst) = if step.to_client { (server, client) } else { (client, server) };
        let [own, other] = [usize::from(step.to_client), usize::from(!step.to_client)];
        let numbers = &mut next[usize::from(step.flow)];
        // What is skipped comes later, or never.
        let seq = numbers[own].wrapping_add(step.skip);
        numbers[own] = numbers[own].wrapping_add(if step.skip > 20 { step.skip } else { step.len as u32 });
        let ack = numbers[other].wrapping_add(step.ack_more);
        let payload = vec![at as u8; step.len];
        let seg = Seg { src, dst, seq, ack, flags: step.flags, window: 1000, payload, cut: 0, vlan: None };
        let bytes = seg.bytes();
        let packet = seg.packet(&bytes).unwrap();
        all[usize::from(step.flow) % tables].packet(&packet, 100, Nanos(time), &mut told);
        if at % every == 0 {
            all.iter_mut().for_each(|table| table.tick(Nanos(time), &mut told));
        }
    }
    for table in &mut all {
        table.tick(Nanos(latest), &mut told);
        table.finish(&mut told);
        assert!(table.books());
    }
    told
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Losses, packets out of order, times that run back, timeouts: dealt to any number of tables, the packets
    /// of a flow give the same calls with the same times.
    #[test]
    fn flows_do_not_depend_on_each_other(
        steps in prop::collection::vec(step(), 1..600),
        every in 1usize..60,
    ) {
        let one = replay(&steps, 1, every);
        for tables in [2, 8] {
            prop_assert_eq!(&one, &replay(&steps, tables, every));
        }
    }
}

#[test]
fn what_is_overdue_is_done_before_a_packet_whether_there_was_a_tick_or_not() {
    for tick in [false, true] {
        let mut held = Bench::opened(Limits::default());
        held.c(1002, 5000, ACK, b"cd").s(5000, 1000, ACK, b"x");
        let mut acked = Bench::opened(Limits::default());
        acked.s(5000, 1002, ACK, b"x");
        for (bench, wait) in [(&mut held, 6_000), (&mut acked, 60)] {
            bench.now += wait * MS;
            if tick {
                bench.table.tick(Nanos(bench.now + MS), &mut bench.told);
            }
            bench.c(1000, 5001, ACK, b"ab");
            assert_eq!((bench.response().as_str(), bench.counters().retransmitted_bytes), ("x", 2));
        }
        assert_eq!((held.request().as_str(), acked.request().as_str()), ("??cd", "??"));
    }
}

#[test]
fn ticks_begin_where_those_of_other_tables_do() {
    // How many steps of 100 us after its last packet a flow is closed, when the table was busy `before`.
    let closed_after = |before: i64| {
        let mut bench = Bench::new(Limits { opening: Duration::from_millis(5), ..Limits::default() });
        let start = bench.now;
        bench.client.1 = 1;
        bench.now = start - before - MS;
        bench.c(1, 0, SYN, b"");
        bench.client.1 = 2;
        bench.now = start - MS;
        bench.c(1, 0, SYN, b"");
        (0..10_000)
            .find(|step| {
                bench.table.tick(Nanos(start + step * MS / 10), &mut bench.told);
                bench.told.closed.iter().any(|(flow, _)| flow.tuple.client.port == 2)
            })
            .unwrap()
    };
    let alone = closed_after(0);
    assert!((1..20).all(|before| closed_after(before * MS / 10) == alone), "{alone}");
}
