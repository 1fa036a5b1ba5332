//! Plays recorded conversations, whole, cut and damaged.
//!
//! `SQL_REPLAY=file cargo test -p decode --lib sql::golden::print -- --ignored --nocapture` prints the
//! events of any such file; `SQL_GOLDEN=write` rewrites what the recorded ones are compared with.

use crate::pcap::{Replay, replay};
use crate::{Protocol, Start};
use std::path::Path;

/// The events of each flow to a port, in the order in which the flows began.
fn play(pcap: &[u8], how: Replay) -> Vec<String> {
    replay(how, pcap, |_| ()).concat()
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
            let how = Replay { protocol, port, start: Start::Beginning, size: usize::MAX };
            let whole = play(&pcap, how);
            let events = untimed(&whole).join("\n") + "\n";
            let expected = path.with_extension("events.txt");
            if std::env::var("SQL_GOLDEN").is_ok_and(|value| value == "write") {
                std::fs::write(&expected, &events).unwrap();
            }
            let expected = std::fs::read_to_string(expected).unwrap();
            assert!(events == expected, "{} differs from what is written beside it", path.display());
            for size in [1, 7, 100] {
                let cut = untimed(&play(&pcap, Replay { size, ..how }));
                assert_eq!(untimed(&whole), cut, "{} in segments of {size}", path.display());
            }
            damage(&pcap, how);
            files += 1;
        }
    }
    assert!(files > 0);
}

/// Whatever a byte becomes and wherever a segment ends, nothing panics and every end has its beginning.
fn damage(pcap: &[u8], how: Replay) {
    let mut seed = 1_u32;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % below.max(1)
    };
    for start in [Start::Beginning, Start::Middle] {
        for _ in 0..40 {
            let flows = replay(Replay { start, ..how }, pcap, |payload| {
                let at = random(payload.len());
                match (random(12), payload.get_mut(at)) {
                    (0, Some(byte)) => *byte = random(256) as u8,
                    (1, _) => payload.truncate(at),
                    _ => {}
                }
            });
            let lines = flows.concat();
            let count = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
            assert!(count(" end Request") <= count(" begin Request"));
            assert!(count(" end Response") <= count(" begin Response"));
        }
    }
}

#[test]
#[ignore = "prints the events of a file that SQL_REPLAY names"]
fn print() {
    let path = std::env::var("SQL_REPLAY").unwrap();
    let port = std::env::var("SQL_PORT").unwrap().parse().unwrap();
    let start = if std::env::var("SQL_MIDDLE").is_ok() { Start::Middle } else { Start::Beginning };
    let name = std::env::var("SQL_PROTOCOL").unwrap();
    let pcap = std::fs::read(path).unwrap();
    let protocol = Protocol::by_name(&name).unwrap();
    for line in play(&pcap, Replay { protocol, port, start, size: usize::MAX }) {
        println!("{line}");
    }
}
