//! Whether the kernel can hold what comes in at once.

use super::finding::{Finding, Status, bytes};
use super::process::{NET_ADMIN, has};
use super::system::System;
use super::tune::{self, LEAST_BACKLOG, WANTED_BACKLOG};
use crate::config::Plan;

/// Whether the kernel grants the receive buffer that is asked for.
pub(super) fn receive_buffer(plan: &Plan, system: &System) -> Finding {
    const NAME: &str = "receive buffer";
    const FILE: &str = tune::RMEM_MAX.path();
    let wanted = u64::try_from(plan.hep.rcvbuf_bytes).unwrap_or(u64::MAX);
    if plan.hep.udp.is_empty() {
        return Finding::ok(NAME, "not needed: UDP is off");
    }
    let Some(most) = system.number(FILE) else {
        // The setting belongs to the machine and is hidden from some containers.
        return Finding::unreadable(NAME, FILE);
    };
    if most >= wanted {
        return Finding::ok(NAME, format!("{} per socket are granted", bytes(wanted)));
    }
    if has(system, NET_ADMIN) {
        let found = format!("{} per socket are granted by CAP_NET_ADMIN", bytes(wanted));
        return Finding::ok(NAME, found);
    }
    Finding::new(
        NAME,
        Status::Warn,
        format!("{} of {} per socket", bytes(most), bytes(wanted)),
        "net.core.rmem_max is lower than hep.rcvbuf_bytes: a burst that comes faster than it is \
         read overflows the smaller buffer, and the kernel drops the rest.",
    )
    .fix(tune::RMEM_MAX.command(wanted))
}

/// Whether packets may queue between the network card and the socket.
pub(super) fn backlog(system: &System) -> Finding {
    const NAME: &str = "packet backlog";
    const FILE: &str = tune::BACKLOG.path();
    match system.number(FILE) {
        None => Finding::unreadable(NAME, FILE),
        Some(packets) if packets >= LEAST_BACKLOG => Finding::ok(NAME, format!("{packets} packets")),
        Some(packets) => Finding::new(
            NAME,
            Status::Warn,
            format!("{packets} packets"),
            format!(
                "net.core.netdev_max_backlog is below {LEAST_BACKLOG}: with steered packets or virtual \
                 interfaces a core may drop packets before they reach a socket."
            ),
        )
        .fix(tune::BACKLOG.command(WANTED_BACKLOG)),
    }
}

/// Whether sockets of this machine have lost datagrams since it started.
pub(super) fn losses(system: &System) -> Finding {
    const NAME: &str = "UDP losses";
    let v4 = snmp(system, "RcvbufErrors");
    let v6 = system.field("/proc/net/snmp6", "Udp6RcvbufErrors").and_then(|text| text.parse::<u64>().ok());
    match (v4, v6) {
        (None, None) => Finding::unreadable(NAME, "/proc/net/snmp"),
        (v4, v6) => {
            let lost = v4.unwrap_or_default().saturating_add(v6.unwrap_or_default());
            if lost == 0 {
                return Finding::ok(NAME, "no datagram lost for want of buffer since the start");
            }
            Finding::new(
                NAME,
                Status::Warn,
                format!("{lost} datagrams lost for want of buffer since the start"),
                "The kernel counts all programs of this network namespace together; what wirelake \
                 itself lost is in its ledger. Watch whether the number grows:",
            )
            .fix("grep -E '^Udp:' /proc/net/snmp")
        }
    }
}

/// A counter of the `Udp:` lines: names in the first, values in the second.
fn snmp(system: &System, name: &str) -> Option<u64> {
    let text = system.text("/proc/net/snmp")?;
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Udp:"));
    let (names, values) = (lines.next()?, lines.next()?);
    let at = names.split_whitespace().position(|known| known == name)?;
    values.split_whitespace().nth(at)?.parse().ok()
}
