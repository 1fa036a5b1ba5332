//! Plays recorded conversations: a classic pcap file of a loopback interface, without loss.
//!
//! `SQL_REPLAY=file cargo test -p decode --lib sql::golden::replay -- --ignored --nocapture` prints the
//! events of any such file; `SQL_GOLDEN=write` rewrites what the recorded ones are compared with.

use crate::testkit::Player;
use crate::{Limits, Protocol, Start};
use model::Dir;
use std::collections::BTreeMap;
use std::path::Path;

/// Little-endian, microseconds, Ethernet: what `tcpdump -i lo -w` writes here.
const MAGIC: [u8; 4] = [0xd4, 0xc3, 0xb2, 0xa1];

/// The events of each flow to a port, in the order in which the flows began.
pub(crate) fn play(pcap: &[u8], port: u16, protocol: Protocol, start: Start, size: usize) -> Vec<String> {
    play_changed(pcap, port, protocol, start, size, |_| ())
}

/// The same, with each segment changed first.
fn play_changed(
    pcap: &[u8],
    port: u16,
    protocol: Protocol,
    start: Start,
    size: usize,
    mut change: impl FnMut(&mut Vec<u8>),
) -> Vec<String> {
    assert_eq!(pcap[..4], MAGIC, "not a classic pcap file");
    let mut flows: BTreeMap<(usize, u16), Player> = BTreeMap::new();
    let mut known: BTreeMap<u16, usize> = BTreeMap::new();
    let mut rest = &pcap[24..];
    while rest.len() >= 16 {
        let word = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap());
        let (time, length) = (i64::from(word(0)) * 1_000_000 + i64::from(word(4)), word(8) as usize);
        let ip = &rest[16 + 14..16 + length];
        rest = &rest[16 + length..];
        let ip = &ip[..usize::from(u16::from_be_bytes([ip[2], ip[3]]))];
        let tcp = &ip[usize::from(ip[0] & 15) * 4..];
        let payload = &tcp[usize::from(tcp[12] >> 4) * 4..];
        let ports = [u16::from_be_bytes([tcp[0], tcp[1]]), u16::from_be_bytes([tcp[2], tcp[3]])];
        let (dir, client) =
            if ports[1] == port { (Dir::ToServer, ports[0]) } else { (Dir::ToClient, ports[1]) };
        let next = known.len();
        let number = *known.entry(client).or_insert(next);
        let player =
            flows.entry((number, client)).or_insert_with(|| Player::new(protocol, start, Limits::default()));
        player.clock = time * 1_000;
        let mut payload = payload.to_vec();
        change(&mut payload);
        for part in payload.chunks(size) {
            player.bytes(dir, part, true);
        }
    }
    flows.into_values().flat_map(Player::finish).collect()
}

/// Without the times, which differ where a segment is cut.
fn untimed(lines: &[String]) -> Vec<String> {
    let plain = |line: &String| {
        line.split(' ')
            .filter(|word| !(word.starts_with('t') && word[1..].parse::<i64>().is_ok()))
            .collect::<Vec<_>>()
            .join(" ")
    };
    lines.iter().map(plain).collect()
}

/// Compares what the recorded conversations of a folder say with what is written beside them.
pub(crate) fn check(folder: &str, port: u16, protocol: Protocol) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/protocols").join(folder).join("golden");
    let mut files = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "pcap") {
            let pcap = std::fs::read(&path).unwrap();
            let whole = play(&pcap, port, protocol, Start::Beginning, usize::MAX);
            let events = untimed(&whole).join("\n") + "\n";
            let expected = path.with_extension("events.txt");
            if std::env::var("SQL_GOLDEN").is_ok_and(|value| value == "write") {
                std::fs::write(&expected, &events).unwrap();
            }
            let expected = std::fs::read_to_string(expected).unwrap();
            assert!(events == expected, "{} differs from what is written beside it", path.display());
            for size in [1, 7, 100] {
                let cut = untimed(&play(&pcap, port, protocol, Start::Beginning, size));
                assert_eq!(untimed(&whole), cut, "{} in segments of {size}", path.display());
            }
            damage(&pcap, port, protocol);
            files += 1;
        }
    }
    assert!(files > 0);
}

/// Whatever a byte becomes and wherever a segment ends, nothing panics and every end has its beginning.
fn damage(pcap: &[u8], port: u16, protocol: Protocol) {
    let mut seed = 1_u32;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % below.max(1)
    };
    for start in [Start::Beginning, Start::Middle] {
        for _ in 0..40 {
            let lines = play_changed(pcap, port, protocol, start, usize::MAX, |payload| {
                let at = random(payload.len());
                match (random(12), payload.get_mut(at)) {
                    (0, Some(byte)) => *byte = random(256) as u8,
                    (1, _) => payload.truncate(at),
                    _ => {}
                }
            });
            let count = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
            assert!(count(" end Request") <= count(" begin Request"));
            assert!(count(" end Response") <= count(" begin Response"));
        }
    }
}

#[test]
#[ignore = "prints the events of a file that SQL_REPLAY names"]
fn replay() {
    let path = std::env::var("SQL_REPLAY").unwrap();
    let port = std::env::var("SQL_PORT").unwrap().parse().unwrap();
    let start = if std::env::var("SQL_MIDDLE").is_ok() { Start::Middle } else { Start::Beginning };
    let name = std::env::var("SQL_PROTOCOL").unwrap();
    let pcap = std::fs::read(path).unwrap();
    for line in play(&pcap, port, Protocol::by_name(&name).unwrap(), start, usize::MAX) {
        println!("{line}");
    }
}
