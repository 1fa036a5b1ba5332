//! Whole captures: every roundtrip is there, and right.

use crate::frames::interleave;
use crate::play::{Played, pcapng, play, replayed};
use crate::random::Random;
use crate::talks::{Kind, Pace, Says, check, script};
use std::collections::BTreeSet;

/// Asserts that every number of the only conversation was asked and answered once.
fn assert_whole(kind: Kind, pace: Pace, count: u64, played: &Played) {
    let mut seen = BTreeSet::new();
    for row in played.answered() {
        match check(kind, row) {
            Says::Right(n) => assert!(seen.insert(n), "{kind:?} {pace:?}: {n} twice"),
            Says::Wrong(..) => panic!("{kind:?} {pace:?}: {}", row.json),
            Says::Nothing => assert_eq!(row.operation, "CONNECT", "{kind:?} {pace:?}: {}", row.json),
        }
        assert_eq!(row.protocol, kind.name());
    }
    assert_eq!(seen.len() as u64, count, "{kind:?} {pace:?}: {:#?}", played.ledger);
    let roundtrips = &played.ledger.roundtrips;
    assert_eq!((roundtrips.unanswered, roundtrips.orphan), (0, 0), "{kind:?} {pace:?}");
    assert!(played.ledger.decode_errors.is_empty() && played.ledger.drops.is_empty(), "{:#?}", played.ledger);
}

#[test]
fn every_protocol_at_every_pace() {
    let mut random = Random::new(1);
    for kind in Kind::ALL {
        for pace in kind.paces() {
            for _ in 0..4 {
                let count = 150;
                let script = script(kind, *pace, 1, count, &mut random);
                assert_whole(kind, *pace, count, &play(&interleave(&[script])));
            }
        }
    }
}

#[test]
fn many_conversations_at_once_through_any_number_of_taps() {
    let mut random = Random::new(2);
    let mut scripts = Vec::new();
    let mut expected = 0;
    for id in 0..120 {
        let kind = random.pick(&Kind::ALL);
        let pace = random.pick(kind.paces());
        let count = random.below(60) + 1;
        expected += count as usize;
        scripts.push(script(kind, pace, id, count, &mut random));
    }
    let shots = interleave(&scripts);
    let played = play(&shots);
    let right = played.answered().filter(|row| {
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == row.protocol);
        matches!(check(kind.expect("one of them"), row), Says::Right(_))
    });
    assert_eq!(right.count(), expected, "{:#?}", played.ledger);
    assert_eq!(played.ledger.roundtrips.orphan + played.ledger.roundtrips.unanswered, 0);

    let file = pcapng(&shots);
    let one = replayed(&file, 1);
    assert_eq!(one.lines().count(), played.rows.len());
    for taps in [2, 3, 8] {
        assert!(one == replayed(&file, taps), "{taps} taps");
    }
}
