//! For tests: reads a small capture of one's own making and plays each flow in it.
//!
//! Ethernet or raw IP frames, IPv4 and IPv6, TCP in order (what is seen again is passed over, what is
//! missing is a gap) and UDP. The side of the given port is the server; without one it is who is seen second.

use crate::{Limits, Protocol, Start, testkit::Player};
use model::Dir;
use std::collections::BTreeMap;

struct Flow {
    player: Player,
    server: Vec<u8>,
    next: [Option<u32>; 2],
}

fn be16(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]))
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// How a capture is played.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replay {
    pub protocol: Protocol,
    /// The server's port.
    pub port: u16,
    pub start: Start,
    /// The most bytes of a segment that are played at once.
    pub size: usize,
}

/// Plays a capture; gives the lines of each flow, in the order in which the flows begin.
pub(crate) fn play(protocol: Protocol, port: u16, pcap: &[u8]) -> Vec<Vec<String>> {
    replay(Replay { protocol, port, start: Start::Beginning, size: usize::MAX }, pcap, |_| ())
}

/// The same, with what is new in each segment changed first.
pub(crate) fn replay(how: Replay, pcap: &[u8], mut change: impl FnMut(&mut Vec<u8>)) -> Vec<Vec<String>> {
    let Replay { protocol, port, start, size } = how;
    let le32 = |at: usize| u32::from_le_bytes(pcap[at..at + 4].try_into().unwrap());
    assert_eq!(le32(0), 0xa1b2_c3d4, "a pcap in little-endian with microseconds");
    let link = le32(20);
    let mut flows: Vec<Flow> = Vec::new();
    let mut index: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
    let mut at = 24;
    while at + 16 <= pcap.len() {
        let (seconds, micros, len) = (le32(at), le32(at + 4), le32(at + 8) as usize);
        let frame = &pcap[at + 16..at + 16 + len];
        at += 16 + len;
        let packet = if link == 1 { &frame[14..] } else { frame };
        let (transport, ips, body) = match packet[0] >> 4 {
            4 => {
                let head = usize::from(packet[0] & 15) * 4;
                (packet[9], &packet[12..20], &packet[head..be16(packet, 2)])
            }
            6 => (packet[6], &packet[8..40], &packet[40..40 + be16(packet, 4)]),
            _ => continue,
        };
        let half = ips.len() / 2;
        let from = [&ips[..half], &body[0..2]].concat();
        let to = [&ips[half..], &body[2..4]].concat();
        let (low, high) = if from < to { (&from, &to) } else { (&to, &from) };
        let key = [&[transport][..], low, high].concat();
        let clock = i64::from(seconds) * 1_000_000_000 + i64::from(micros) * 1_000;
        let number = *index.entry(key).or_insert_with(|| {
            let server = if be16(body, 0) == usize::from(port) && be16(body, 2) != usize::from(port) {
                from.clone()
            } else {
                to.clone()
            };
            let player = Player::new(protocol, start, Limits::default());
            flows.push(Flow { player, server, next: [None, None] });
            flows.len() - 1
        });
        let flow = &mut flows[number];
        let dir = if from == flow.server { Dir::ToClient } else { Dir::ToServer };
        flow.player.clock = clock;
        if transport == 17 {
            flow.player.datagram(dir, &body[8..]);
        } else if transport == 6 {
            let mut payload = &body[usize::from(body[12] >> 4) * 4..];
            let mut sequence = be32(body, 4);
            let next = flow.next[dir.index()].unwrap_or(sequence);
            let ahead = i64::from(sequence.wrapping_sub(next).cast_signed());
            if ahead < 0 {
                let seen = usize::try_from(-ahead).unwrap().min(payload.len());
                payload = &payload[seen..];
                sequence = sequence.wrapping_add(u32::try_from(seen).unwrap());
            } else if ahead > 0 {
                flow.player.gap(dir, ahead.unsigned_abs());
            }
            let controls = u32::from(body[13] & 2 != 0) + u32::from(body[13] & 1 != 0);
            let end = sequence.wrapping_add(u32::try_from(payload.len()).unwrap()).wrapping_add(controls);
            flow.next[dir.index()] = Some(end);
            let mut payload = payload.to_vec();
            change(&mut payload);
            payload.chunks(size).for_each(|part| flow.player.bytes(dir, part, true));
        }
    }
    flows.into_iter().map(|flow| flow.player.finish()).collect()
}

/// Compares what comes out of `FOLDER/golden/NAME.pcap` with `NAME.txt` beside it; with `GOLDEN=write` in the
/// environment it writes that.
pub(crate) fn golden(protocol: Protocol, port: u16, name: &str) {
    let path = format!("{}/src/protocols/{}/golden/{name}", env!("CARGO_MANIFEST_DIR"), protocol.as_str());
    let pcap = std::fs::read(format!("{path}.pcap")).unwrap();
    let mut text = String::new();
    for (i, flow) in play(protocol, port, &pcap).iter().enumerate() {
        for line in flow {
            text.push_str(&format!("{i} {line}\n"));
        }
    }
    if std::env::var_os("GOLDEN").is_some_and(|value| value == "write") {
        std::fs::write(format!("{path}.txt"), text).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(format!("{path}.txt")).unwrap();
    for (i, (is, was)) in text.lines().zip(expected.lines()).enumerate() {
        assert_eq!(is, was, "line {} of {path}.txt", i + 1);
    }
    assert_eq!(text.lines().count(), expected.lines().count());
}

/// For looking at captures by hand: `PCAP=FILE PORT=53 PROTOCOL=dns cargo test -p decode by_hand -- --ignored`.
#[test]
#[ignore = "reads a file that is named by the environment"]
fn by_hand() {
    let variable = |name| std::env::var(name).unwrap();
    let pcap = std::fs::read(variable("PCAP")).unwrap();
    let protocol = Protocol::by_name(&variable("PROTOCOL")).unwrap();
    for (i, flow) in play(protocol, variable("PORT").parse().unwrap(), &pcap).iter().enumerate() {
        for line in flow {
            println!("{i} {line}");
        }
    }
}
