//! The kernel's settings that wirelake wants, and how they are changed.
//!
//! In: a [`Plan`] and `/proc/sys`. Out: one [`Tunable`] per setting: what it is, what it should be and why. Changed only
//! by [`apply`] and [`write`], which nothing calls unasked. `net.core.rmem_default` is left alone on purpose: it is the
//! buffer of every socket of every program, and wirelake asks for its own.

use std::io;
use std::path::Path;

use super::system::System;
use crate::config::Plan;

/// A kernel setting by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sysctl {
    name: &'static str,
    path: &'static str,
}

impl Sysctl {
    const fn new(name: &'static str, path: &'static str) -> Self {
        Self { name, path }
    }

    /// Its name, as `sysctl` has it.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Its file below `/proc/sys`.
    pub const fn path(self) -> &'static str {
        self.path
    }

    /// The command that sets it now and after a reboot.
    pub fn command(self, value: u64) -> String {
        let name = self.name;
        format!("sudo sysctl -w {name}={value}\necho '{name}={value}' | sudo tee -a {FILE}")
    }
}

/// Where settings are kept for the next start of the machine.
pub const FILE: &str = "/etc/sysctl.d/60-wirelake.conf";

/// The largest receive buffer that a socket is given.
pub const RMEM_MAX: Sysctl = Sysctl::new("net.core.rmem_max", "/proc/sys/net/core/rmem_max");
/// Packets that may wait for a core.
pub const BACKLOG: Sysctl =
    Sysctl::new("net.core.netdev_max_backlog", "/proc/sys/net/core/netdev_max_backlog");
const BUDGET: Sysctl = Sysctl::new("net.core.netdev_budget", "/proc/sys/net/core/netdev_budget");
const BUDGET_USECS: Sysctl =
    Sysctl::new("net.core.netdev_budget_usecs", "/proc/sys/net/core/netdev_budget_usecs");
const OPTMEM: Sysctl = Sysctl::new("net.core.optmem_max", "/proc/sys/net/core/optmem_max");

/// The least backlog that is no reason to complain.
pub(super) const LEAST_BACKLOG: u64 = 10_000;
/// The backlog that a machine with steered packets or virtual interfaces should have.
pub(super) const WANTED_BACKLOG: u64 = 250_000;

/// One kernel setting, as it is and as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tunable {
    /// Which.
    pub sysctl: Sysctl,
    /// Its value now; `None` where it cannot be read (some containers hide it).
    pub current: Option<u64>,
    /// The least that is enough.
    pub least: u64,
    /// What it is set to when it is less than that.
    pub wanted: u64,
    /// What it is for.
    pub why: &'static str,
}

impl Tunable {
    /// Whether it is as it should be, as far as can be seen.
    pub fn is_enough(&self) -> bool {
        self.current.is_none_or(|current| current >= self.least)
    }

    /// What it should be: what it is, when that is enough.
    pub fn value(&self) -> u64 {
        match self.current {
            Some(current) if current >= self.least => current,
            _ => self.wanted,
        }
    }
}

/// The settings of the machine this runs on.
pub fn tunables(plan: &Plan) -> Vec<Tunable> {
    tunables_on(plan, &System::this())
}

/// The settings of a machine whose `/proc/sys` is below another root.
pub fn tunables_on(plan: &Plan, system: &System) -> Vec<Tunable> {
    let mut found = Vec::new();
    let mut add = |sysctl: Sysctl, least: u64, wanted: u64, why: &'static str| {
        found.push(Tunable { sysctl, current: system.number(sysctl.path), least, wanted, why });
    };
    if !plan.hep.udp.is_empty() {
        let buffer = u64::try_from(plan.hep.rcvbuf_bytes).unwrap_or(u64::MAX);
        add(
            RMEM_MAX,
            buffer,
            buffer,
            "the receive buffer that hep.rcvbuf_bytes asks for: what a burst may take",
        );
    }
    add(
        BACKLOG,
        LEAST_BACKLOG,
        WANTED_BACKLOG,
        "packets that may wait for a core, with RPS or virtual interfaces",
    );
    add(BUDGET, 600, 600, "packets that a core takes off network cards in one go");
    add(BUDGET_USECS, 4_000, 8_000, "microseconds that it may do so before others have a turn");
    if plan.capture.enabled {
        add(
            OPTMEM,
            65_536,
            131_072,
            "memory for a socket's filter: a long capture.filter does not fit into less",
        );
    }
    found
}

/// Raises every setting that is too low, on the machine this runs on. Answers those that were changed.
///
/// # Errors
/// The setting that could not be written, and what the system says; root may write them.
pub fn apply(tunables: &[Tunable]) -> Result<Vec<&Tunable>, (Sysctl, io::Error)> {
    apply_on(tunables, &System::this())
}

fn apply_on<'a>(tunables: &'a [Tunable], system: &System) -> Result<Vec<&'a Tunable>, (Sysctl, io::Error)> {
    let low: Vec<&Tunable> = tunables.iter().filter(|tunable| !tunable.is_enough()).collect();
    for tunable in &low {
        std::fs::write(system.path(tunable.sysctl.path), format!("{}\n", tunable.wanted))
            .map_err(|error| (tunable.sysctl, error))?;
    }
    Ok(low)
}

/// Writes a file that sets all of them at each start of the machine, in the form of sysctl.d(5).
///
/// # Errors
/// What the system says.
pub fn write(tunables: &[Tunable], path: &Path) -> io::Result<()> {
    std::fs::write(path, file(tunables))
}

/// The content of that file.
pub fn file(tunables: &[Tunable]) -> String {
    let mut text = "# What wirelake wants of the kernel; `wirelake tune` says why each is here.\n".to_owned();
    for tunable in tunables {
        text.push_str(&format!("{} = {}\n", tunable.sysctl.name, tunable.value()));
    }
    text
}

/// All of them as text, one line each, with what they are for.
pub fn render(tunables: &[Tunable]) -> String {
    let width = tunables.iter().map(|tunable| tunable.sysctl.name.len()).max().unwrap_or_default();
    let mut text = format!("      {:<width$}  {:>10}  {:>10}\n", "setting", "now", "wanted");
    for tunable in tunables {
        let current = tunable.current.map_or_else(|| "?".to_owned(), |value| value.to_string());
        let state = match tunable.current {
            None => "?   ",
            Some(_) if tunable.is_enough() => "ok  ",
            Some(_) => "low ",
        };
        let (name, value) = (tunable.sysctl.name, tunable.value());
        text.push_str(&format!("{state}  {name:<width$}  {current:>10}  {value:>10}  {}\n", tunable.why));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(values: &[(Sysctl, &str)]) -> (tempfile::TempDir, System) {
        let folder = tempfile::tempdir().unwrap();
        let system = System { root: folder.path().to_owned() };
        for (sysctl, value) in values {
            let path = system.path(sysctl.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, value).unwrap();
        }
        (folder, system)
    }

    fn plan() -> Plan {
        let machine = crate::config::Machine { cores: 4, hostname: "edge-1".into() };
        Plan::build(None, std::iter::empty(), &crate::config::Overrides::default(), &machine).unwrap()
    }

    #[test]
    fn only_what_is_too_low_is_raised() {
        let (_folder, system) = machine(&[
            (RMEM_MAX, "212992\n"),
            (BACKLOG, "20000\n"),
            (BUDGET, "300\n"),
            (BUDGET_USECS, "8000\n"),
        ]);
        let found = tunables_on(&plan(), &system);
        let changed = apply_on(&found, &system).unwrap();
        let names: Vec<_> = changed.iter().map(|tunable| tunable.sysctl.name).collect();
        assert_eq!(names, ["net.core.rmem_max", "net.core.netdev_budget"]);
        assert_eq!(system.number(RMEM_MAX.path), Some(32 << 20));
        assert_eq!(system.number(BACKLOG.path), Some(20_000), "enough stays as it is");
        let after = tunables_on(&plan(), &system);
        assert!(after.iter().all(Tunable::is_enough) && apply_on(&after, &system).unwrap().is_empty());
        assert_eq!(
            file(&after),
            "# What wirelake wants of the kernel; `wirelake tune` says why each is here.\n\
             net.core.rmem_max = 33554432\nnet.core.netdev_max_backlog = 20000\nnet.core.netdev_budget = 600\n\
             net.core.netdev_budget_usecs = 8000\n"
        );
        assert_eq!(file(&found), file(&after), "the same before and after they were applied");
    }

    #[test]
    fn what_cannot_be_read_is_not_written() {
        let (_folder, system) = machine(&[]);
        let found = tunables_on(&plan(), &system);
        assert!(found.iter().all(|tunable| tunable.current.is_none()));
        assert!(apply_on(&found, &system).unwrap().is_empty());
        let line = render(&found).lines().nth(1).map(str::to_owned).unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().take(4).collect();
        assert_eq!(words, ["?", "net.core.rmem_max", "?", "33554432"]);
    }

    #[test]
    fn capture_wants_memory_for_its_filter() {
        let (_folder, system) = machine(&[(OPTMEM, "20480")]);
        let mut plan = plan();
        assert!(tunables_on(&plan, &system).iter().all(|tunable| tunable.sysctl != OPTMEM));
        plan.capture.enabled = true;
        let found = tunables_on(&plan, &system);
        assert_eq!(found.last().map(|tunable| (tunable.sysctl, tunable.is_enough())), Some((OPTMEM, false)));
    }
}
