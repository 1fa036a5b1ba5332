//! Whether times can be trusted and are cheap to read.

use super::finding::{Finding, Status};
use super::system::System;

/// Whether the kernel reads its clock without leaving the core.
pub(super) fn source(system: &System) -> Finding {
    const NAME: &str = "clock source";
    const FILE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    const SLOW: [&str; 4] = ["acpi_pm", "hpet", "jiffies", "refined-jiffies"];
    match system.text(FILE) {
        None => Finding::unreadable(NAME, FILE),
        Some(name) if SLOW.contains(&name.as_str()) => Finding::new(
            NAME,
            Status::Warn,
            name,
            "Every reading of the clock asks a device, which takes a microsecond and more. See \
             whether a faster one is offered, and why the kernel gave it up:",
        )
        .fix(
            "cat /sys/devices/system/clocksource/clocksource0/available_clocksource\n\
             sudo dmesg | grep -i clocksource",
        ),
        Some(name) => Finding::ok(NAME, name),
    }
}

/// Whether a time service keeps the clock right. Told by the files that the services leave; whether
/// the kernel's own clock is disciplined cannot be asked without a privileged call.
pub(super) fn synchronised(system: &System) -> Finding {
    const NAME: &str = "clock";
    const DONE: &[&str] = &["/run/systemd/timesync/synchronized"];
    const SERVICES: &[&str] = &[
        "/run/chrony/chronyd.pid",
        "/run/chronyd.pid",
        "/run/ntpd.pid",
        "/run/ntpd.sock",
        "/run/ntpsec/ntpd.pid",
        "/run/openntpd.pid",
        "/run/ptp4l",
    ];
    if let Some(path) = system.has_any(DONE) {
        return Finding::ok(NAME, format!("synchronised by systemd-timesyncd ({path})"));
    }
    if let Some(path) = system.has_any(SERVICES) {
        return Finding::ok(NAME, format!("a time service runs ({path})"));
    }
    Finding::new(
        NAME,
        Status::Warn,
        "no time service was found",
        "Looked for the files of systemd-timesyncd, chrony, ntpd and ptp4l. HEP carries the \
         senders' times; when clocks differ, the messages of a call appear in the wrong order. In \
         a container or a virtual machine the host may keep the clock, which cannot be seen here.",
    )
    .fix("timedatectl status\nsudo timedatectl set-ntp true")
}
