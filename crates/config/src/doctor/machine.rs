//! Cores and memory, of the machine and of the control group.

use std::path::Path;

use super::finding::{Finding, Status, bytes};
use super::system::System;
use crate::config::Plan;

/// What the program needs beside blocks and queries: code, indexes, Parquet writers.
const OVERHEAD_MIB: usize = 128;

/// Whether each shard can have a core.
pub(super) fn cores(plan: &Plan, system: &System) -> Finding {
    const NAME: &str = "cores";
    let shards = plan.threads.shards;
    let Some(cores) = allowed_cores(system) else { return Finding::unreadable(NAME, "/proc/self/status") };
    if let Some(share) = quota(system)
        && share < shards * 100
    {
        return Finding::new(
            NAME,
            Status::Warn,
            format!("{}.{:02} of {cores} cores for {shards} shards", share / 100, share % 100),
            "The control group's cpu.max gives fewer cores than there are shards: they will be \
             stopped in turn, and what arrives meanwhile waits in socket buffers. Set \
             threads.shards to the number of cores granted, or grant more.",
        );
    }
    if cores < shards {
        return Finding::new(
            NAME,
            Status::Warn,
            format!("{cores} for {shards} shards"),
            format!(
                "Shards without a core of their own take turns, which costs more than it gives: \
                 set threads.shards to {cores} or to 0."
            ),
        );
    }
    Finding::ok(NAME, format!("{cores} for {shards} shards"))
}

/// Cores that the process may run on.
pub(super) fn allowed_cores(system: &System) -> Option<usize> {
    let list = system.field("/proc/self/status", "Cpus_allowed_list:")?;
    Some(list.split(',').map(count).sum())
}

/// How many are in one part of a list such as `0-3,8`.
fn count(part: &str) -> usize {
    let part = part.trim();
    match part.split_once('-') {
        Some((first, last)) => match (first.parse::<usize>(), last.parse::<usize>()) {
            (Ok(first), Ok(last)) => (last + 1).saturating_sub(first),
            _ => 0,
        },
        None => usize::from(part.parse::<usize>().is_ok()),
    }
}

/// Whether memory holds what the plan may use.
pub(super) fn memory(plan: &Plan, system: &System) -> Finding {
    const NAME: &str = "memory";
    const FILE: &str = "/proc/meminfo";
    let needed_mib =
        plan.memory.budget_mib.saturating_add(plan.memory.query_mib).saturating_add(OVERHEAD_MIB);
    let needed = u64::try_from(needed_mib).unwrap_or(u64::MAX).saturating_mul(1 << 20);
    let available = system
        .field(FILE, "MemAvailable:")
        .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .map(|kib| kib.saturating_mul(1_024));
    let Some(available) = available else { return Finding::unreadable(NAME, FILE) };
    let limit = group_limit(system, "memory.max");
    if let Some(limit) = limit
        && limit < needed
    {
        return Finding::new(
            NAME,
            Status::Fail,
            format!("the control group allows {}, {} may be used", bytes(limit), bytes(needed)),
            "Above memory.max the kernel kills the process. Lower memory.budget_mib or \
             memory.query_mib, or raise the limit of the control group or container.",
        );
    }
    if available < needed {
        return Finding::new(
            NAME,
            Status::Warn,
            format!("{} available, {} may be used", bytes(available), bytes(needed)),
            "When memory runs out the machine swaps or kills a process. Lower memory.budget_mib \
             or memory.query_mib, or make room.",
        );
    }
    let most = limit.map_or(available, |limit| limit.min(available));
    Finding::ok(NAME, format!("{} available, {} may be used", bytes(most), bytes(needed)))
}

/// Hundredths of a core that the control group grants; `None` without a limit.
fn quota(system: &System) -> Option<usize> {
    group_values(system, "cpu.max")
        .filter_map(|text| {
            let (quota, period) = text.split_once(' ')?;
            let (quota, period): (usize, usize) = (quota.parse().ok()?, period.parse().ok()?);
            quota.checked_mul(100)?.checked_div(period)
        })
        .min()
}

/// The lowest limit of the control group and those above it; `None` without one.
fn group_limit(system: &System, file: &str) -> Option<u64> {
    group_values(system, file).filter_map(|text| text.parse().ok()).min()
}

/// A file of the process's control group (version 2) and of each above it.
fn group_values<'a>(system: &'a System, file: &'a str) -> impl Iterator<Item = String> + 'a {
    let group = system.field("/proc/self/cgroup", "0::").unwrap_or_else(|| "/".to_owned());
    let groups: Vec<String> =
        Path::new(&group).ancestors().map(|path| path.to_string_lossy().into_owned()).collect();
    groups
        .into_iter()
        .filter_map(move |group| system.text(&format!("/sys/fs/cgroup/{}/{file}", group.trim_matches('/'))))
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn counts_cores_in_a_list() {
        assert_eq!("0-3,8,10-11".split(',').map(count).sum::<usize>(), 7);
        assert_eq!("".split(',').map(count).sum::<usize>(), 0);
    }
}
