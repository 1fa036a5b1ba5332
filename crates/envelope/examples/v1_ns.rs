//! Times the way of a dropsonde envelope: opened, and written as an entry of a batch of version 2.
//!
//! `cargo run --release -p envelope --example v1_ns [ROUNDS]` prints, for each event type, the bytes in
//! and out, and the least and the median time of an envelope in nanoseconds. With `--count N CASE` it
//! takes N envelopes through and prints nothing, for a profiler that counts instructions (`make
//! instructions`) or allocations (`valgrind` says the same number for any N).

use std::{hint::black_box, time::Instant};

use envelope::{
    dropsonde,
    loggregator::{self, Identity, Options},
};

macro_rules! cases {
    ($($name:literal)+) => {
        [$(($name, include_bytes!(concat!("../../../tests/vectors/loggregator/", $name, ".v1.bin")).as_slice())),+]
    };
}

const CASES: [(&str, &[u8]); 7] = cases!(
    "http_start_stop" "log_message" "value_metric" "counter_event" "error" "container_metric" "log_60k"
);

/// Envelopes of a batch, after which the buffer is used anew.
const BATCH: usize = 100;
const ENVELOPES: usize = 20_000;

fn main() {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("--count") => {
            let count = args.next().and_then(|n| n.parse().ok()).unwrap_or(1000);
            let name = args.next().unwrap_or_default();
            let (_, v1) = CASES.into_iter().find(|(one, _)| *one == name).unwrap_or(CASES[0]);
            let mut out = Vec::with_capacity(BATCH * (2 * v1.len() + 1024));
            take(v1, count, &mut out);
        }
        rounds => {
            let rounds = rounds.and_then(|n| n.parse().ok()).unwrap_or(200);
            println!("{:<18} {:>6} {:>6} {:>8} {:>8}", "", "in", "out", "min ns", "median");
            for (name, v1) in CASES {
                report(name, v1, rounds);
            }
        }
    }
}

/// Takes `count` copies of an envelope through.
fn take(v1: &[u8], count: usize, out: &mut Vec<u8>) {
    let (identity, options) = (identity(), Options::default());
    for at in 0..count {
        if at % BATCH == 0 {
            black_box(&out);
            out.clear();
        }
        let envelope = dropsonde::open(black_box(v1)).expect("a vector");
        black_box(loggregator::write_v1(&envelope, &identity, &options, out));
    }
}

fn identity() -> Identity {
    Identity {
        deployment: "cf".into(),
        job: "router".into(),
        index: "09b2820c-76fc-4e22-be43-ceeb8b54b477".into(),
        ip: "10.0.16.4".into(),
    }
}

fn report(name: &str, v1: &[u8], rounds: usize) {
    let mut out = Vec::new();
    take(v1, BATCH, &mut out);
    let bytes = out.len() / BATCH;
    let mut ns: Vec<f64> = (0..rounds.max(1))
        .map(|_| {
            let start = Instant::now();
            take(v1, ENVELOPES, &mut out);
            start.elapsed().as_secs_f64() * 1e9 / ENVELOPES as f64
        })
        .collect();
    ns.sort_by(f64::total_cmp);
    println!("{name:<18} {:>6} {bytes:>6} {:>8.1} {:>8.1}", v1.len(), ns[0], ns[ns.len() / 2]);
}
