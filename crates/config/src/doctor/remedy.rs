//! What lifts a limit that the running program has reached.
//!
//! In: the name of the limiting stage, as its report has it, the plan, and the machine. Out: what to do, best first,
//! with the exact command where a setting does it. Nothing is changed.

use super::process::{NET_ADMIN, has};
use super::system::System;
use super::tune;
use crate::config::{Compression, Plan};

/// One thing that lifts a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    /// What it does.
    pub what: String,
    /// The command, one or several lines; `None` where none can do it.
    pub command: Option<String>,
}

fn remedy(what: impl Into<String>, command: impl Into<String>) -> Remedy {
    Remedy { what: what.into(), command: Some(command.into()) }
}

fn advice(what: impl Into<String>) -> Remedy {
    Remedy { what: what.into(), command: None }
}

/// A start of the program with another value for a key.
fn set(key: &str, value: impl std::fmt::Display) -> String {
    format!("wirelake serve --set {key}={value}")
}

/// What lifts a limit. An unknown name has no remedy.
pub fn remedies(limit: &str, plan: &Plan, system: &System) -> Vec<Remedy> {
    match limit {
        "hep.socket" => sockets(plan, system),
        "hep.receive" => receive(plan, system),
        "hep.read" | "hep.append" | "hep.seal" => shards(plan, system),
        "hep.decode" => decode(plan, system),
        "capture.ring" => ring(plan, system),
        "capture.decode" | "capture.append" | "capture.seal" => capture(plan, system),
        "store.encode" => encode(plan, system),
        "store.write" | "store.sync" => disk(plan),
        "store.commit" => commits(plan),
        "store.retry" => vec![remedy(
            "the disk refuses files; see whether it is full or read-only",
            format!("df -h '{0}'; findmnt -T '{0}'", plan.data.dir.display()),
        )],
        "store.memory" => vec![remedy(
            "more rows may wait for a flush",
            set("memory.budget_mib", plan.memory.budget_mib.saturating_mul(2)),
        )],
        _ => Vec::new(),
    }
}

fn sockets(plan: &Plan, system: &System) -> Vec<Remedy> {
    let wanted = u64::try_from(plan.hep.rcvbuf_bytes).unwrap_or(u64::MAX);
    let mut found = Vec::new();
    let low = system.number(tune::RMEM_MAX.path()).is_some_and(|most| most < wanted);
    if low && !has(system, NET_ADMIN) {
        found.push(remedy(
            "the kernel gives the sockets less than hep.rcvbuf_bytes asks for; let it give as much, then restart",
            tune::RMEM_MAX.command(wanted),
        ));
    }
    if plan.hep.rcvbuf_bytes < (32 << 20) {
        found.push(remedy("ask for the usual receive buffer of 32 MiB", set("hep.rcvbuf_bytes", 32 << 20)));
    } else if !low {
        found.push(remedy(
            "ask for a larger receive buffer, and let the kernel give it",
            format!(
                "{}\n{}",
                tune::RMEM_MAX.command(wanted.saturating_mul(2)),
                set("hep.rcvbuf_bytes", wanted.saturating_mul(2))
            ),
        ));
    }
    found
}

fn receive(plan: &Plan, system: &System) -> Vec<Remedy> {
    let mut found = Vec::new();
    if !plan.hep.gro {
        found.push(remedy("let the kernel hand over several datagrams at once", set("hep.gro", true)));
    }
    found.extend(shards(plan, system));
    found.extend(spread(plan, system));
    found
}

fn decode(plan: &Plan, system: &System) -> Vec<Remedy> {
    let mut found = shards(plan, system);
    if plan.hep.inflate_max_bytes > 65_536 {
        found.push(remedy(
            "if senders compress payloads: inflate less of each, larger ones are kept as they came",
            set("hep.inflate_max_bytes", 65_536),
        ));
    }
    found
}

/// More threads while there are cores; then there is nothing left on this machine.
fn shards(plan: &Plan, system: &System) -> Vec<Remedy> {
    match spare_core(plan.threads.shards, system) {
        Some(cores) => vec![remedy(
            format!("{cores} cores may be used, and there are fewer shards"),
            format!("wirelake serve --shards {cores}"),
        )],
        None => vec![advice(
            "every core has a shard already: give the machine more cores, or let some senders send to a second machine",
        )],
    }
}

/// Interfaces whose packets all pass through one core before they reach a socket.
fn spread(plan: &Plan, system: &System) -> Option<Remedy> {
    let cores = super::machine::allowed_cores(system)?;
    if cores < 2 || plan.hep.udp.iter().all(|address| address.ip().is_loopback()) {
        return None;
    }
    let names = std::fs::read_dir(system.path("/sys/class/net")).ok()?;
    let mut alone: Vec<String> = names
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name != "lo")
        .filter(|name| {
            let queues = format!("/sys/class/net/{name}/queues");
            let steered = system.text(&format!("{queues}/rx-0/rps_cpus"));
            let second = system.path(&format!("{queues}/rx-1")).exists();
            // A mask of zeros: packets stay on the core that took the interrupt.
            !second && steered.is_some_and(|mask| mask.chars().all(|digit| matches!(digit, '0' | ',')))
        })
        .collect();
    alone.sort();
    if alone.is_empty() {
        return None;
    }
    let mask = if cores >= 64 { u64::MAX } else { (1 << cores) - 1 };
    let lines = alone
        .iter()
        .map(|name| format!("echo {mask:x} | sudo tee /sys/class/net/{name}/queues/rx-0/rps_cpus"))
        .collect::<Vec<_>>();
    Some(remedy(
        "one queue takes all packets of an interface; spread them over the cores (RPS)",
        lines.join("\n"),
    ))
}

fn ring(plan: &Plan, system: &System) -> Vec<Remedy> {
    let mut found = vec![remedy(
        "more room between the kernel and each capture thread",
        set("capture.ring_mib", plan.capture.ring_mib.saturating_mul(4).min(4_096)),
    )];
    found.extend(capture(plan, system).into_iter().filter(|remedy| remedy.command.is_some()));
    found
}

fn capture(plan: &Plan, system: &System) -> Vec<Remedy> {
    let mut found = Vec::new();
    if let Some(cores) = spare_core(plan.capture.shards, system) {
        found.push(remedy(
            format!("{cores} cores may be used, and fewer threads capture; flows are spread over them"),
            set("capture.shards", cores),
        ));
    }
    if plan.capture.filter.is_empty() {
        found.push(remedy(
            "let the kernel leave out what is of no interest",
            "wirelake serve --capture-filter 'tcp port 80 or udp port 53'",
        ));
    }
    if !plan.capture.only_rules {
        found.push(remedy(
            "decode only what rules name (capture.rules); other flows are counted and not looked into",
            set("capture.only_rules", true),
        ));
    }
    found.push(advice("one flow is followed by one thread: a single busy flow needs a faster core"));
    found
}

fn encode(plan: &Plan, system: &System) -> Vec<Remedy> {
    let lake = &plan.lake;
    let mut found = Vec::new();
    if lake.compression == Compression::Zstd {
        if lake.compression_level != 1 {
            found.push(remedy(
                format!(
                    "zstd 1 instead of {}: several times as fast, files a little larger",
                    lake.compression_level
                ),
                set("lake.compression_level", 1),
            ));
        }
        found.push(remedy("lz4 instead of zstd: less work, larger files", set("lake.compression", "lz4")));
    } else if lake.compression != Compression::None {
        found.push(remedy(
            "no compression: the least work, the largest files",
            set("lake.compression", "none"),
        ));
    }
    if let Some(cores) = spare_core(plan.threads.writers, system) {
        found.push(remedy(
            format!("one more thread that writes files, of at most {cores}"),
            set("threads.writers", plan.threads.writers.saturating_add(1)),
        ));
    }
    if lake.row_group_rows < 131_072 {
        found.push(remedy(
            "larger row groups: fewer headers and filters",
            set("lake.row_group_rows", 131_072),
        ));
    }
    found
}

fn disk(plan: &Plan) -> Vec<Remedy> {
    let mut found = commits(plan);
    if plan.lake.compression == Compression::None {
        found.push(remedy("fewer bytes to write", set("lake.compression", "zstd")));
    }
    found.push(remedy(
        "several files on their way at once, for a disk that is slow to answer rather than slow to write",
        set("threads.writers", plan.threads.writers.saturating_add(1)),
    ));
    found.push(advice(format!("put data.dir on a faster disk; it is {} now", plan.data.dir.display())));
    found
}

/// Fewer, larger files.
fn commits(plan: &Plan) -> Vec<Remedy> {
    const ROWS: usize = 1 << 20;
    const SECONDS: u64 = 10;
    let mut changes = Vec::new();
    if plan.lake.flush_rows < ROWS {
        changes.push(format!("--set lake.flush_rows={ROWS}"));
    }
    if plan.lake.flush_s < SECONDS {
        changes.push(format!("--set lake.flush_s={SECONDS}"));
    }
    if changes.is_empty() {
        changes.push(format!("--set lake.flush_mib={}", plan.lake.flush_mib.saturating_mul(2)));
        changes.push(format!("--set memory.budget_mib={}", plan.memory.budget_mib.saturating_mul(2)));
    }
    vec![remedy(
        "fewer and larger files: each waits for the disk",
        format!("wirelake serve {}", changes.join(" ")),
    )]
}

/// How many cores there are, when there are more than threads.
fn spare_core(threads: usize, system: &System) -> Option<usize> {
    super::machine::allowed_cores(system).filter(|cores| *cores > threads)
}
