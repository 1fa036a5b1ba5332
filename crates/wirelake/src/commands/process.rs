//! Figures of this process under the names that Prometheus' client libraries give them
//! <https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics>.

use std::fmt::Write;
use std::fs;

/// Ticks of a second in `/proc`, as Linux shows them to programs (proc(5), `USER_HZ`).
const TICKS: f64 = 100.0;
/// Bytes of a page where the kernel does not say: 4 KiB.
const PAGE: f64 = 4_096.0;

/// Appends them; what cannot be read is left out.
pub fn metrics(text: &mut String) {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program stands in brackets and may hold anything.
    let fields: Vec<f64> = stat
        .rsplit_once(')')
        .map(|(_, rest)| rest.split_whitespace().skip(1).map(|field| field.parse().unwrap_or(0.0)).collect())
        .unwrap_or_default();
    // Numbered as in proc(5), where the state, which was skipped, is the third.
    let field = |number: usize| fields.get(number - 4).copied();
    let boot = fs::read_to_string("/proc/stat").unwrap_or_default();
    let boot = boot.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse::<f64>().ok());
    let files = fs::read_dir("/proc/self/fd").ok().map(|files| files.count() as f64);
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let most_files = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files")?.split_whitespace().next()?.parse::<f64>().ok());
    let cpu = field(14).zip(field(15)).map(|(user, system)| (user + system) / TICKS);
    let started = boot.zip(field(22)).map(|(boot, ticks)| boot + ticks / TICKS);
    for (name, kind, help, value) in [
        ("cpu_seconds_total", "counter", "Processor time, user and system.", cpu),
        ("resident_memory_bytes", "gauge", "Memory in use.", field(24).map(|pages| pages * PAGE)),
        ("virtual_memory_bytes", "gauge", "Address space in use.", field(23)),
        ("start_time_seconds", "gauge", "When it started, since the Unix epoch.", started),
        ("open_fds", "gauge", "Open files.", files),
        ("max_fds", "gauge", "How many may be open.", most_files),
    ] {
        if let Some(value) = value {
            let _ = writeln!(
                text,
                "# HELP process_{name} {help}\n# TYPE process_{name} {kind}\nprocess_{name} {value}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_figure_is_there_and_makes_sense() {
        let mut text = String::new();
        super::metrics(&mut text);
        let value = |name: &str| -> f64 {
            let line = text.lines().find_map(|line| line.strip_prefix(&format!("process_{name} ")));
            line.unwrap_or_else(|| panic!("{name}: {text}")).parse().unwrap()
        };
        assert!(value("resident_memory_bytes") > 1e6);
        assert!(value("virtual_memory_bytes") >= value("resident_memory_bytes"));
        assert!(value("open_fds") >= 3.0 && value("max_fds") > value("open_fds"));
        assert!(value("start_time_seconds") > 1.5e9);
        assert!(value("cpu_seconds_total") >= 0.0);
    }
}
