//! Damaged captures: rows may be missing, no row is wrong.

use crate::damage::Damage;
use crate::frames::{Shot, interleave};
use crate::play::{pcapng, play, replayed};
use crate::random::Random;
use crate::talks::{Kind, Says, check, script};

/// Every way in which a capture is damaged, alone and together.
fn damages(random: &mut Random, frames: usize) -> [(&'static str, Damage); 9] {
    let none = Damage::default();
    let skipped = random.below(frames as u64 / 2) as usize;
    [
        ("loss", Damage { lost: 10, ..none }),
        ("heavy loss", Damage { lost: 100, ..none }),
        ("reordering", Damage { swapped: 50, restamped: true, ..none }),
        ("reordering, times as they were", Damage { swapped: 50, ..none }),
        ("repetition", Damage { repeated: 20, ..none }),
        ("cut frames", Damage { snaplen: 96, ..none }),
        ("joined late", Damage { skipped, ..none }),
        ("joined late with loss", Damage { skipped, lost: 20, swapped: 20, restamped: true, ..none }),
        (
            "everything",
            Damage { lost: 20, swapped: 30, restamped: true, repeated: 10, snaplen: 200, skipped },
        ),
    ]
}

/// How many numbers were answered right, and the rows that are wrong.
fn right_and_wrong(kind: Kind, shots: &[Shot]) -> (usize, Vec<String>) {
    let played = play(shots);
    let mut right = 0;
    let mut wrong = Vec::new();
    for row in played.answered() {
        match check(kind, row) {
            Says::Right(_) => right += 1,
            Says::Wrong(asked, answered) => wrong.push(format!("{asked} got {answered}: {}", row.json)),
            Says::Nothing => {}
        }
    }
    (right, wrong)
}

/// `TORTURE_SEEDS=100` looks longer.
fn seeds() -> u64 {
    std::env::var("TORTURE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4)
}

fn torture(kind: Kind) {
    let mut wrong = Vec::new();
    for seed in 0..seeds() {
        for pace in kind.paces() {
            let mut random = Random::new(seed * 1_000 + kind as u64);
            let count = 120;
            let shots = interleave(&[script(kind, *pace, 1, count, &mut random)]);
            for (what, damage) in damages(&mut random, shots.len()) {
                let damaged = damage.to(&shots, &mut random);
                let (right, bad) = right_and_wrong(kind, &damaged);
                wrong.extend(bad.first().map(|row| {
                    format!("{kind:?} {pace:?} {what} seed {seed}, {} rows, the first: {row}", bad.len())
                }));
                assert!(right as u64 <= count);
                if std::env::var_os("TORTURE_SHOW").is_some() {
                    eprintln!("{kind:?} {pace:?} {what} seed {seed}: {right} of {count}");
                }
            }
        }
    }
    let most = std::env::var_os("TORTURE_SHOW").map_or(8, |_| usize::MAX);
    let shown: Vec<_> = wrong.iter().take(most).map(|row| row.get(..700).unwrap_or(row)).collect();
    assert!(wrong.is_empty(), "{} captures with wrong pairs:\n{}", wrong.len(), shown.join("\n"));
}

#[test]
fn http() {
    torture(Kind::Http);
}

#[test]
fn redis() {
    torture(Kind::Redis);
}

#[test]
fn postgresql() {
    torture(Kind::Postgresql);
}

#[test]
fn mysql() {
    torture(Kind::Mysql);
}

#[test]
fn kafka() {
    torture(Kind::Kafka);
}

#[test]
fn mongodb() {
    torture(Kind::Mongodb);
}

#[test]
fn http2() {
    torture(Kind::Http2);
}

#[test]
fn dns() {
    torture(Kind::Dns);
}

#[test]
fn the_same_rows_whatever_the_number_of_taps() {
    for seed in 0..seeds() {
        let mut random = Random::new(900 + seed);
        let scripts: Vec<_> = (0..40)
            .map(|id| {
                let kind = random.pick(&Kind::ALL);
                let pace = random.pick(kind.paces());
                script(kind, pace, id, 30, &mut random)
            })
            .collect();
        let shots = interleave(&scripts);
        let [.., (_, damage)] = damages(&mut random, shots.len());
        let file = pcapng(&damage.to(&shots, &mut random));
        let one = replayed(&file, 1);
        assert_eq!(one, replayed(&file, 1), "twice the same");
        for taps in [2, 8] {
            let others = replayed(&file, taps);
            let differs = one.lines().zip(others.lines()).find(|(one, other)| one != other);
            assert!(one == others, "{taps} taps, seed {seed}: {differs:?}");
        }
    }
}

/// Shows one damaged capture: `TORTURE_CASE="mysql 0 OneAtATime heavy loss"`.
#[test]
#[ignore = "shows, asserts nothing"]
fn show() {
    let case = std::env::var("TORTURE_CASE").expect("TORTURE_CASE is `protocol seed pace damage`");
    let mut words = case.splitn(4, ' ');
    let mut word = || words.next().expect("four words");
    let (name, seed) = (word(), word().parse::<u64>().expect("a seed"));
    let (of_pace, of_damage) = (word(), word());
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name).expect("a protocol");
    for pace in kind.paces() {
        let mut random = Random::new(seed * 1_000 + kind as u64);
        let shots = interleave(&[script(kind, *pace, 1, 120, &mut random)]);
        for (what, damage) in damages(&mut random, shots.len()) {
            let damaged = damage.to(&shots, &mut random);
            if !format!("{pace:?}").starts_with(of_pace) || what != of_damage {
                continue;
            }
            for shot in &damaged {
                let numbers = |at: usize| u32::from_be_bytes(shot.bytes[at..at + 4].try_into().unwrap());
                let (from, payload) = (shot.bytes[26], String::from_utf8_lossy(&shot.bytes[54..]));
                println!(
                    "{} {} seq {} ack {} len {} {:.60}",
                    shot.time % 1_000_000_000_000,
                    if from == 10 { '>' } else { '<' },
                    numbers(38).wrapping_sub(0xFFFF_F000).min(numbers(38)),
                    numbers(42).wrapping_sub(0xFFFF_F000).min(numbers(42)),
                    shot.bytes.len() - 54,
                    payload.escape_debug().to_string(),
                );
            }
            for row in play(&damaged).rows {
                println!(
                    "{:?} {} {} {:?} {}",
                    check(kind, &row),
                    row.start % 1_000_000_000_000,
                    row.outcome.as_str(),
                    row.reason,
                    row.json
                );
            }
        }
    }
}
