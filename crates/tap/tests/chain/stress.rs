//! Many flows: counts are exact and what is held stays in its bounds. Without optimisation a tenth is played.

use crate::frames::{Script, interleave, ip};
use crate::play::{frame, options, play_with};
use crate::random::Random;
use crate::talks::{Kind, Says, check, script};
use correlate::Roundtrip;
use flow::{End, Flow};
use std::net::Ipv4Addr;
use tap::{About, Ledger, Options, Sink, SourceTotals, Tap};

const SCALE: u32 = if cfg!(debug_assertions) { 10 } else { 1 };

/// Counts rows and keeps none.
#[derive(Debug, Default)]
struct Count {
    roundtrips: u64,
    flows: u64,
}

impl Sink for Count {
    fn roundtrip(&mut self, _: &Flow, _: &About, _: &Roundtrip) {
        self.roundtrips += 1;
    }

    fn flow(&mut self, _: &Flow, _: &About, _: End) {
        self.flows += 1;
    }
}

fn with_flows(flows: u32) -> Options {
    Options { flows: flow::Limits { flows, ..flow::Limits::default() }, ..options() }
}

#[test]
fn a_million_syns() {
    let count = 1_000_000 / SCALE;
    let room = 16_384;
    let mut tap = Tap::new(with_flows(room), Count::default());
    // Ports, sequence number, no acknowledgement, 20 bytes of header, SYN, window.
    let mut tcp = vec![0, 0, 0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 0xFF, 0xFF, 0, 0, 0, 0];
    tcp[0..2].copy_from_slice(&40_000_u16.to_be_bytes());
    let server = Ipv4Addr::new(192, 0, 2, 1);
    let mut shot = ip(0, 0, Ipv4Addr::UNSPECIFIED, server, 6, &tcp);
    for n in 0..count {
        shot.bytes[26..30].copy_from_slice(&(0x0A00_0000 | n).to_be_bytes());
        shot.time = i64::from(n) * 1_000;
        tap.frame(&frame(&shot));
        assert!(tap.open_flows() <= room as usize);
    }
    assert_eq!((tap.open_flows(), tap.held_bytes()), (room as usize, 0));
    tap.finish();
    assert_eq!((tap.sink().flows, tap.sink().roundtrips), (u64::from(count), 0));
    let counters = tap.flow_counters();
    assert_eq!((counters.opened, counters.evicted_unestablished), (count.into(), (count - room).into()));
    let ledger = Ledger::new([&tap.page(SourceTotals::default(), 0)]);
    assert!(ledger.balanced && ledger.drops.is_empty() && ledger.flows.open == 0, "{ledger:#?}");
}

/// Connections that are all open at once, each with a few requests.
fn crowd(count: u32) -> (Vec<Script>, u64) {
    let mut random = Random::new(11);
    let mut requests = 0;
    let scripts = (0..count)
        .map(|id| {
            let kind = random.pick(&Kind::ALL);
            let pace = random.pick(kind.paces());
            let few = random.below(4) + 1;
            requests += few;
            script(kind, pace, id, few, &mut random)
        })
        .collect();
    (scripts, requests)
}

#[test]
fn ten_thousand_connections() {
    let count = 10_000 / SCALE;
    let (scripts, requests) = crowd(count);
    let shots = interleave(&scripts);
    let played = play_with(&shots, with_flows(16_384));
    let mut right = 0;
    for row in played.answered() {
        match check(kind(&row.protocol), row) {
            Says::Right(_) => right += 1,
            Says::Wrong(..) => panic!("{}", row.json),
            Says::Nothing => {}
        }
    }
    assert_eq!(right, requests);
    assert_eq!(played.flows.len(), count as usize);
    let ledger = &played.ledger;
    assert_eq!((ledger.roundtrips.unanswered, ledger.roundtrips.orphan), (0, 0));
    assert!(ledger.decode_errors.is_empty() && ledger.drops.is_empty(), "{ledger:#?}");
    assert_eq!(ledger.bytes.payload, ledger.bytes.delivered);
}

#[test]
fn more_connections_than_there_is_room_for() {
    let (scripts, requests) = crowd(5_000 / SCALE);
    let played = play_with(&interleave(&scripts), with_flows(1_000 / SCALE));
    let mut right = 0;
    for row in played.answered() {
        match check(kind(&row.protocol), row) {
            Says::Right(_) => right += 1,
            Says::Wrong(..) => panic!("{}", row.json),
            Says::Nothing => {}
        }
    }
    assert!(right > 0 && right < requests, "{right} of {requests}");
    assert!(played.ledger.flows.closed["evicted"] > 0, "{:#?}", played.ledger);
    assert_eq!(played.ledger.flows.open, 0);
}

fn kind(name: &str) -> Kind {
    Kind::ALL.into_iter().find(|kind| kind.name() == name).expect("one of them")
}
