//! Results as a table and as JSON.

use std::fs;

use serde::Serialize;

/// One measurement.
#[derive(Debug, Default, Serialize)]
pub struct Row {
    /// Which benchmark.
    pub bench: &'static str,
    /// Which case of it.
    pub case: String,
    /// Threads that received or decoded.
    pub shards: usize,
    /// Threads that sent.
    pub senders: usize,
    /// Messages that went the whole way.
    pub messages: u64,
    /// Processor time of the receiving threads per message, nanoseconds; for `decode` time itself.
    pub ns_per_message: f64,
    /// Allocations of the receiving threads per message.
    pub allocs_per_message: f64,
    /// Messages per second of wall time.
    pub rate_per_s: f64,
    /// The same for the bare path, in the same run.
    pub bare_rate_per_s: Option<f64>,
    /// Rate against the bare path's: 1 is as fast.
    pub ratio: Option<f64>,
    /// What the bare path is.
    pub bare: &'static str,
    /// Messages sent.
    pub sent: u64,
    /// Messages lost, as counted.
    pub drops: u64,
    /// Of those, how many the kernel threw away before they could be read.
    pub kernel_drops: u64,
    /// Messages sent that are neither received nor counted as lost, over the same interval: 0, or the books are wrong.
    pub unaccounted: i64,
    /// Bits of the messages received per second of wall time, 10^9.
    pub gbit_per_s: Option<f64>,
    /// Packets per message, where they are not the same.
    pub packets_per_message: Option<f64>,
    /// Bytes copied per byte captured.
    pub copied_per_byte: Option<f64>,
    /// Largest memory of the process so far, MiB.
    pub peak_rss_mib: u64,
}

/// A table of text under the machine, with what there is to say about it below.
pub fn text(header: &[&str], rows: impl Iterator<Item = Vec<String>>, notes: &str) -> String {
    let mut table = comfy_table::Table::new();
    table.load_preset("     ──            ");
    table.set_header(header.iter().copied());
    table.add_rows(rows);
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    format!("{}\n\n{}\n\n{notes}", processor(), lines.join("\n"))
}

/// The rows as text, with the machine above them.
pub fn table(rows: &[&Row]) -> String {
    let mut table = comfy_table::Table::new();
    table.load_preset("     ──            ");
    table.set_header([
        "bench", "case", "shards", "senders", "M/s", "Gbit/s", "bare M/s", "ratio", "CPU ns", "allocs",
        "drop %", "kernel %", "lost", "copied", "RSS MiB",
    ]);
    for row in rows {
        let or_dash =
            |value: Option<f64>, digits| value.map_or("-".to_owned(), |value| format!("{value:.digits$}"));
        let part = |count: u64| match row.sent {
            0 => "0.0".to_owned(),
            sent => format!("{:.1}", count as f64 * 100.0 / sent as f64),
        };
        table.add_row([
            row.bench.to_owned(),
            row.case.clone(),
            row.shards.to_string(),
            row.senders.to_string(),
            format!("{:.3}", row.rate_per_s / 1e6),
            or_dash(row.gbit_per_s, 2),
            or_dash(row.bare_rate_per_s.map(|rate| rate / 1e6), 3),
            or_dash(row.ratio, 2),
            format!("{:.0}", row.ns_per_message),
            format!("{:.4}", row.allocs_per_message),
            part(row.drops),
            part(row.kernel_drops),
            row.unaccounted.to_string(),
            or_dash(row.copied_per_byte, 3),
            row.peak_rss_mib.to_string(),
        ]);
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let mut bare: Vec<String> = rows
        .iter()
        .filter(|row| !row.bare.is_empty())
        .map(|row| format!("  {}: {}", row.bench, row.bare))
        .collect();
    bare.dedup();
    format!("{}\n\n{}\n\nbare path\n{}", machine(), lines.join("\n"), bare.join("\n"))
}

/// Processor, cores and kernel, and what is sent.
pub fn machine() -> String {
    format!("{}, 738-byte HEP3 INVITE", processor())
}

/// Processor, cores and kernel.
fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or("?", |(_, name)| name.trim());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{model}, {cores} cores, Linux {}", kernel.trim())
}

/// The most memory that this process ever had, MiB.
pub fn peak_rss_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0) / 1_024
}

/// Processor time that the calling thread has used, nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The middle value.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
