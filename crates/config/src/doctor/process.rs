//! What this process may do.

use super::finding::{Finding, Status};
use super::system::System;
use crate::config::Plan;

/// Bit of CAP_NET_BIND_SERVICE.
pub(super) const NET_BIND_SERVICE: u32 = 10;
/// Bit of CAP_NET_ADMIN.
pub(super) const NET_ADMIN: u32 = 12;
/// Bit of CAP_NET_RAW.
const NET_RAW: u32 = 13;

/// Descriptors that are neither connections nor sockets: files being written, epoll, pipes.
const OTHER_FILES: u64 = 256;

fn effective(system: &System) -> Option<u64> {
    let text = system.field("/proc/self/status", "CapEff:")?;
    u64::from_str_radix(&text, 16).ok()
}

/// Whether this process holds a capability.
pub(super) fn has(system: &System, capability: u32) -> bool {
    effective(system).is_some_and(|held| held >> capability & 1 == 1)
}

/// The command that gives the program the capabilities it can use.
pub(super) fn setcap(capabilities: &str) -> String {
    format!("sudo setcap {capabilities}+ep \"$(command -v wirelake)\"")
}

/// Which of the useful capabilities are held. None is needed to take HEP on port 9060.
pub(super) fn capabilities(system: &System) -> Finding {
    const NAME: &str = "capabilities";
    let Some(held) = effective(system) else {
        return Finding::unreadable(NAME, "/proc/self/status");
    };
    let known = [
        (NET_RAW, "CAP_NET_RAW", "cap_net_raw", "capture from interfaces"),
        (NET_ADMIN, "CAP_NET_ADMIN", "cap_net_admin", "receive buffers above net.core.rmem_max"),
    ];
    let missing: Vec<_> = known.iter().filter(|(bit, ..)| held >> bit & 1 == 0).collect();
    let names = |list: &[&(u32, &str, &str, &str)]| {
        list.iter().map(|(_, name, ..)| *name).collect::<Vec<_>>().join(", ")
    };
    if missing.is_empty() {
        return Finding::ok(NAME, names(&known.iter().collect::<Vec<_>>()));
    }
    // Neither is needed to take HEP, so that this is information and not a warning.
    let uses = missing.iter().map(|(.., what)| *what).collect::<Vec<_>>().join(" and ");
    let flags = missing.iter().map(|(_, _, flag, _)| *flag).collect::<Vec<_>>().join(",");
    let found = format!("without {}, which HEP does not need; for {uses}:", names(&missing));
    Finding::ok(NAME, found).fix(setcap(&flags))
}

/// Whether the limit of open files holds all connections.
pub(super) fn open_files(plan: &Plan, system: &System) -> Finding {
    const NAME: &str = "open files";
    let limit = system
        .field("/proc/self/limits", "Max open files")
        .and_then(|text| text.split_whitespace().next().map(str::to_owned));
    let Some(limit) = limit else { return Finding::unreadable(NAME, "/proc/self/limits") };
    let connections = match plan.hep.tcp.is_empty() {
        true => 0,
        false => plan.threads.shards.saturating_mul(plan.hep.tcp_connections),
    };
    let needed = u64::try_from(connections).unwrap_or(u64::MAX).saturating_add(OTHER_FILES);
    let Ok(limit) = limit.parse::<u64>() else {
        return Finding::ok(NAME, "unlimited");
    };
    if limit >= needed {
        return Finding::ok(NAME, format!("{limit}, {needed} are needed at most"));
    }
    let shell = format!("ulimit -n {needed}");
    Finding::new(
        NAME,
        Status::Warn,
        format!("{limit}, and {needed} may be needed"),
        format!(
            "{} shards with hep.tcp_connections = {} each could open more connections than the \
             limit allows; those above it are refused. Raise the limit in the shell or, in a \
             systemd unit, with LimitNOFILE={needed}; or lower hep.tcp_connections.",
            plan.threads.shards, plan.hep.tcp_connections
        ),
    )
    .fix(shell)
}
