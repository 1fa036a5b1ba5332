//! Conversations that were damaged: bytes changed, dropped and repeated, gaps, cuts anywhere. Whatever comes,
//! a decoder does not panic, ends no message that it did not begin, and says each time no earlier than the last
//! of its lane.

use decode::testkit::Player;
use decode::{Limits, Protocol, Start};
use model::Dir;
use proptest::prelude::*;

/// What is said in turns, the client first.
fn talks(protocol: Protocol) -> Vec<Vec<u8>> {
    let texts: &[&[u8]] = match protocol {
        Protocol::Redis => &[
            b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nvalue\r\n*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\na\r\nPING\r\n",
            b"+OK\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*2\r\n$4\r\npong\r\n$0\r\n\r\n-ERR no\r\n",
            b"*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n*1\r\n$7\r\nMONITOR\r\n*1\r\n$4\r\nEXEC\r\n",
            b"%1\r\n+a\r\n|1\r\n+k\r\n:1\r\n$?\r\n;2\r\nab\r\n;0\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nx\r\n*?\r\n.\r\n",
        ],
        Protocol::Dns => &[
            b"\0\x18\0\x07\x01\0\0\x01\0\0\0\0\0\0\x01a\x04test\0\0\xfc\0\x01",
            b"\0\x38\0\x07\x84\0\0\x01\0\x02\0\0\0\0\x01a\x04test\0\0\xfc\0\x01\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x01\
              \xc0\x0c\0\x41\0\x01\0\0\0\x3c\0\x04\0\x01\0\0",
        ],
        Protocol::Sip => &[
            b"INVITE sip:b@y.test SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bK1\r\nCall-ID: c\r\nCSeq: 1 INVITE\r\n\
              Content-Type: application/sdp\r\nContent-Length: 46\r\n\r\nv=0\r\nc=IN IP4 192.0.2.1\r\nm=audio 9 RTP/AVP 0\r\n",
            b"SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP h;branch=z9hG4bK1\r\nCall-ID: c\r\nCSeq: 1 INVITE\r\nl: 0\r\n\r\n",
        ],
        _ => &[
            b"\x80\x00\0\x01\0\0\0\x01\0\0\0\x01aaaaaaaa",
            b"\x81\xc8\0\x0c\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
              \x81\xcb\0\x01\0\0\0\x01",
        ],
    };
    texts.iter().map(|text| text.to_vec()).collect()
}

#[derive(Debug, Clone)]
enum Damage {
    Change { at: usize, to: u8 },
    Drop { at: usize, len: usize },
    Repeat { at: usize, len: usize },
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, to)| Damage::Change { at, to }),
        (any::<usize>(), prop::sample::select(b"0123459$*+-:%>|;?\r\n\xc0\xff".to_vec()))
            .prop_map(|(at, to)| Damage::Change { at, to }),
        (any::<usize>(), 1..20usize).prop_map(|(at, len)| Damage::Drop { at, len }),
        (any::<usize>(), 1..20usize).prop_map(|(at, len)| Damage::Repeat { at, len }),
    ]
}

fn apply(damage: &Damage, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let range = |at: usize, len: usize| {
        let at = at % bytes.len();
        at..(at + len).min(bytes.len())
    };
    match damage {
        Damage::Change { at, to } => {
            let at = at % bytes.len();
            bytes[at] = *to;
        }
        Damage::Drop { at, len } => drop(bytes.drain(range(*at, *len))),
        Damage::Repeat { at, len } => {
            let again = bytes[range(*at, *len)].to_vec();
            bytes.extend(again);
        }
    }
}

/// In each lane and for each role, a message in order is not ended before it began.
fn check(lines: &[String]) {
    let mut open = std::collections::BTreeMap::<String, i32>::new();
    for line in lines {
        let mut words = line.split(' ');
        let (lane, what) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let key: Vec<&str> = words.take(2).collect();
        let change = match what {
            "begin" => 1,
            "end" => -1,
            _ => continue,
        };
        let count = open.entry(format!("{lane} {}", key.join(" "))).or_default();
        *count += change;
        assert!(*count >= 0, "ended, not begun: {line}\n{lines:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn damaged(
        protocol in prop::sample::select(vec![Protocol::Redis, Protocol::Dns, Protocol::Sip, Protocol::Rtp]),
        middle in any::<bool>(),
        datagrams in any::<bool>(),
        damages in prop::collection::vec((0..8usize, damage()), 0..6),
        cuts in prop::collection::vec(1..40usize, 1..6),
        gaps in prop::collection::vec((0..60usize, 0..50u64), 0..3),
    ) {
        let mut talks = [talks(protocol), talks(protocol)].concat();
        let count = talks.len();
        for (at, damage) in &damages {
            apply(damage, &mut talks[at % count]);
        }
        let start = if middle { Start::Middle } else { Start::Beginning };
        let mut player = Player::new(protocol, start, Limits::default());
        let mut steps = 0usize;
        for (turn, bytes) in talks.iter().enumerate() {
            let dir = if turn % 2 == 0 { Dir::ToServer } else { Dir::ToClient };
            player.clock += 7_000_000;
            if datagrams {
                player.datagram(dir, bytes);
                continue;
            }
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let (part, after) = rest.split_at(cuts[steps % cuts.len()].min(rest.len()));
                player.bytes(dir, part, !steps.is_multiple_of(3));
                rest = after;
                for (at, missing) in &gaps {
                    if *at == steps {
                        player.gap(dir, *missing);
                    }
                }
                steps += 1;
            }
        }
        check(&player.finish());
    }
}
