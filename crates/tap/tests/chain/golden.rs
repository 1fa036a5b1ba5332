//! Recorded conversations with real servers: their rows as committed, cut after every frame, damaged, and on
//! ports that say nothing. The recordings are those of the decoders (`crates/decode/src/protocols/*/golden`).

use crate::damage::Damage;
use crate::frames::Shot;
use crate::play::{Line, Played, play};
use crate::random::Random;
use model::LinkType;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use wire::Body;

/// One recording.
pub struct Golden {
    pub name: String,
    pub shots: Vec<Shot>,
}

pub fn goldens() -> Vec<Golden> {
    let protocols = Path::new(env!("CARGO_MANIFEST_DIR")).join("../decode/src/protocols");
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.expect("a folder that can be read").path()).collect()
    };
    let mut files: Vec<_> = entries(&protocols)
        .iter()
        .flat_map(|protocol| entries(&protocol.join("golden")))
        .filter(|path| path.extension().is_some_and(|extension| extension == "pcap"))
        .collect();
    files.sort();
    assert!(files.len() >= 10, "the recordings are not where they should be");
    files.iter().map(|path| Golden { name: name(path), shots: read(path) }).collect()
}

/// `redis/golden/redis.pcap` is `redis-redis`.
fn name(path: &Path) -> String {
    let part = |path: Option<&Path>| {
        path.and_then(Path::file_stem).and_then(|part| part.to_str()).expect("a plain name").to_owned()
    };
    part(path.ancestors().nth(2)) + "-" + &part(Some(path))
}

fn read(path: &Path) -> Vec<Shot> {
    let mut reader = capture::file::open(path).expect("a capture");
    let mut flows = HashMap::new();
    let mut shots = Vec::new();
    while let Some(frame) = reader.next().expect("a whole capture") {
        let ends = wire::parse(&frame).ok().map(|packet| {
            let ports = match &packet.body {
                Body::Tcp(segment) => (segment.src_port, segment.dst_port),
                Body::Udp(datagram) => (datagram.src_port, datagram.dst_port),
                _ => (0, 0),
            };
            let (from, to) = ((packet.src, ports.0), (packet.dst, ports.1));
            (from.min(to), from.max(to))
        });
        let fresh = flows.len();
        let flow = *flows.entry(ends).or_insert(fresh);
        let (time, wire_len, link) = (frame.time.0, frame.wire_len, frame.link);
        shots.push(Shot { time, link, wire_len, flow, bytes: frame.bytes.to_vec() });
    }
    shots
}

/// What a row is known by, whenever it was.
fn face(row: &Line) -> String {
    let Line { ports, protocol, operation, resource, status_code, .. } = row;
    format!("{ports:?} {protocol} {operation} {resource} {status_code}")
}

/// The answered rows of a damaged capture that the whole one has not.
fn new_rows(what: &str, whole: &Played, part: &Played, timed: bool) -> Vec<String> {
    let mut new = Vec::new();
    let mut known: BTreeMap<(String, i64), u64> = BTreeMap::new();
    let start = |row: &Line| if timed { row.start } else { 0 };
    for row in whole.answered() {
        *known.entry((face(row), start(row))).or_default() += 1;
    }
    for row in part.answered() {
        // Half an answer may lack its status; and what was agreed before the capture cannot be known.
        if row.reason.is_some() || row.notices.contains("unknown") {
            continue;
        }
        // What a close was about is known only with what it ends.
        if matches!(&*row.operation, "channel.close" | "connection.close") {
            continue;
        }
        match known.get_mut(&(face(row), start(row))) {
            Some(left) if *left > 0 => *left -= 1,
            _ => new.push(format!("{what}: {}", row.json)),
        }
    }
    new
}

fn assert_none(new: &[String]) {
    let most = std::env::var_os("TORTURE_SHOW").map_or(12, |_| usize::MAX);
    let shown = new.iter().take(most).map(|row| row.get(..600).unwrap_or(row));
    assert!(new.is_empty(), "{} wrong rows:\n{}", new.len(), shown.collect::<Vec<_>>().join("\n"));
}

#[test]
fn rows_are_as_committed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    for Golden { name, shots } in goldens() {
        let mut played = play(&shots);
        played.rows.sort();
        let rows: String = played.rows.iter().map(|row| row.json.clone() + "\n").collect();
        let flows: String = played.flows.iter().map(|row| row.clone() + "\n").collect();
        let ledger = serde_json::to_string_pretty(&played.ledger).expect("plain values") + "\n";
        for (kind, text) in [("rows.jsonl", rows), ("flows.jsonl", flows), ("ledger.json", ledger)] {
            let path = folder.join(format!("{name}.{kind}"));
            if update {
                fs::create_dir_all(&folder)
                    .and_then(|()| fs::write(&path, text))
                    .expect("a folder to write to");
                continue;
            }
            let expected = fs::read_to_string(&path).unwrap_or_default();
            let differs = expected.lines().zip(text.lines()).find(|(expected, got)| expected != got);
            assert!(
                expected == text,
                "{} differs (UPDATE_GOLDEN=1 rewrites it):\n{differs:#?}\n{} lines, were {}",
                path.display(),
                text.lines().count(),
                expected.lines().count(),
            );
        }
    }
}

#[test]
fn a_capture_that_stops_after_any_frame() {
    let mut new = Vec::new();
    for Golden { name, shots } in goldens() {
        let whole = play(&shots);
        let step = (shots.len() / 150).max(1);
        for end in (0..shots.len()).step_by(step) {
            let part = play(&shots[..end]);
            new.extend(new_rows(&format!("{name} until frame {end}"), &whole, &part, true));
        }
    }
    assert_none(&new);
}

#[test]
fn a_capture_that_starts_at_any_frame() {
    let mut new = Vec::new();
    for Golden { name, shots } in goldens() {
        let whole = play(&shots);
        let step = (shots.len() / 150).max(1);
        for start in (0..shots.len()).step_by(step) {
            let part = play(&shots[start..]);
            new.extend(new_rows(&format!("{name} from frame {start}"), &whole, &part, true));
        }
    }
    assert_none(&new);
}

#[test]
fn damaged_captures() {
    let none = Damage::default();
    let damages = [
        ("loss", Damage { lost: 30, ..none }),
        ("reordering", Damage { swapped: 50, ..none }),
        ("repetition", Damage { repeated: 50, ..none }),
        ("cut frames", Damage { snaplen: 96, ..none }),
        ("everything", Damage { lost: 20, swapped: 30, repeated: 10, snaplen: 250, ..none }),
    ];
    let mut new = Vec::new();
    for Golden { name, shots } in goldens() {
        let whole = play(&shots);
        for (what, damage) in damages {
            for seed in 0..6 {
                let mut random = Random::new(seed);
                let skipped = if seed % 2 == 1 { random.below(shots.len() as u64 / 2) as usize } else { 0 };
                let part = play(&Damage { skipped, ..damage }.to(&shots, &mut random));
                let timed = damage.swapped == 0;
                new.extend(new_rows(&format!("{name}, {what}, seed {seed}"), &whole, &part, timed));
            }
        }
    }
    assert_none(&new);
}

/// Gives both ports of a frame numbers that say nothing.
fn move_ports(shot: &mut Shot) {
    let ip = match shot.link {
        LinkType::Ethernet => 14,
        LinkType::LinuxSll => 16,
        LinkType::LinuxSll2 => 20,
        LinkType::Null | LinkType::Loop => 4,
        LinkType::Raw | LinkType::Ipv4 | LinkType::Ipv6 => 0,
    };
    let Some(first) = shot.bytes.get(ip) else { return };
    let (header, protocol) = match first >> 4 {
        4 => (usize::from(first & 15) * 4, shot.bytes.get(ip + 9)),
        _ => (40, shot.bytes.get(ip + 6)),
    };
    if !matches!(protocol, Some(6 | 17)) {
        return;
    }
    for at in [ip + header, ip + header + 2] {
        if let Some(port) = shot.bytes.get_mut(at..at + 2) {
            let old = u64::from(u16::from_be_bytes([port[0], port[1]]));
            let new = 20_000 + Random::new(old).below(40_000) as u16;
            port.copy_from_slice(&new.to_be_bytes());
        }
    }
}

#[test]
fn protocols_are_told_without_their_ports() {
    let counts = |played: &Played| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        played.rows.iter().for_each(|row| {
            *counts.entry(format!("{} {}", row.protocol, row.outcome.as_str())).or_default() += 1;
        });
        counts
    };
    for Golden { name, mut shots } in goldens() {
        let usual = counts(&play(&shots));
        shots.iter_mut().for_each(move_ports);
        assert_eq!(usual, counts(&play(&shots)), "{name}");
    }
}
