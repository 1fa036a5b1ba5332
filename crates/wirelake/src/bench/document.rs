//! `bench --report`: a document that says what was measured, on what, and how to measure it again.

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::chart::{self, Bars};
use super::report::{self, Row};
use super::{Entry, Outcome, Settings};

/// Writes the document, and a chart of each benchmark beside it: `FILE-decode.svg` and so on.
///
/// # Errors
/// Which file cannot be written.
pub fn write(path: &Path, settings: &Settings, parts: &[(&Entry, Outcome)]) -> Result<()> {
    let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or("bench");
    let mut text = preface(settings, parts);
    for (entry, outcome) in parts {
        let rows = match outcome {
            Outcome::Rows(rows) if rows.is_empty() => continue,
            Outcome::Rows(rows) => rows,
            Outcome::Lines { table, .. } => {
                let _ = write!(text, "\n## {}\n\n{}\n\n```\n{table}\n```\n", entry.name, entry.question);
                continue;
            }
        };
        let picture = format!("{stem}-{}.svg", entry.name);
        let cases: Vec<Bars> = rows
            .iter()
            .map(|row| Bars {
                case: row.case.clone(),
                ours: row.rate_per_s / 1e6,
                bare: row.bare_rate_per_s.map(|rate| rate / 1e6),
            })
            .collect();
        let chart = chart::svg(&format!("{}: wirelake and the bare path", entry.name), entry.unit, &cases)?;
        let beside = path.with_file_name(&picture);
        fs::write(&beside, chart).with_context(|| format!("{} cannot be written", beside.display()))?;
        section(&mut text, entry, rows, &picture);
    }
    fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

fn preface(settings: &Settings, parts: &[(&Entry, Outcome)]) -> String {
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse::<u64>().ok())
        .map_or_else(|| "?".to_owned(), |kib| format!("{:.1} GiB", kib as f64 / 1_048_576.0));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("?");
    let names: Vec<&str> = parts.iter().map(|(entry, _)| entry.name).collect();
    format!(
        "# What wirelake does per second\n\n\
         Measured by `wirelake bench`, version {}, on {}.\n\n\
         - machine: {}\n\
         - memory: {memory}\n\
         - load of the machine at the end: {load} (the benchmark and everything else)\n\
         - shards: {}, senders: {}, seconds per measurement: {}\n\n\
         The ratio is the rate against the bare path of the same run: 1 is as fast as doing nothing with the bytes. \
         Rates of a busy machine mean little; ratios hold better, because both sides take turns. Again, with:\n\n\
         ```sh\nwirelake bench {} --seconds {} --shards {} --senders {} --report FILE.md\n```\n",
        env!("CARGO_PKG_VERSION"),
        jiff::Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC).strftime("%Y-%m-%d %H:%M UTC"),
        report::machine(),
        settings.shards,
        settings.senders,
        settings.seconds.as_secs_f64(),
        names.join(" "),
        settings.seconds.as_secs_f64(),
        settings.shards,
        settings.senders,
    )
}

fn section(text: &mut String, entry: &Entry, rows: &[Row], picture: &str) {
    let _ = write!(text, "\n## {}\n\n{}\n\n![{}]({picture})\n\n", entry.name, entry.question, entry.name);
    text.push_str(
        "| case | M/s | bare M/s | ratio | CPU ns per message | allocations per message | lost % |\n",
    );
    text.push_str("|---|--:|--:|--:|--:|--:|--:|\n");
    for row in rows {
        let or_dash = |value: Option<f64>, digits: usize| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
        };
        let lost = if row.sent == 0 { 0.0 } else { row.drops as f64 * 100.0 / row.sent as f64 };
        let _ = writeln!(
            text,
            "| {} | {:.3} | {} | {} | {:.0} | {:.4} | {lost:.1} |",
            row.case.replace('|', "\\|"),
            row.rate_per_s / 1e6,
            or_dash(row.bare_rate_per_s.map(|rate| rate / 1e6), 3),
            or_dash(row.ratio, 2),
            row.ns_per_message,
            row.allocs_per_message,
        );
    }
    if let Some(bare) = rows.iter().map(|row| row.bare).find(|bare| !bare.is_empty()) {
        let _ = writeln!(text, "\nThe bare path: {bare}.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_in_the_document() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figures.md");
        let settings = Settings {
            seconds: std::time::Duration::from_millis(1_500),
            shards: 2,
            senders: 1,
            matrix: false,
        };
        let row = Row {
            case: "a | b".to_owned(),
            rate_per_s: 2e6,
            bare_rate_per_s: Some(4e6),
            ratio: Some(0.5),
            bare: "nothing at all",
            sent: 200,
            drops: 1,
            ..Row::default()
        };
        let entries = super::super::BENCHES;
        let lines = Outcome::Lines { json: serde_json::Value::Null, table: "one | two".to_owned() };
        let parts = [(&entries[0], Outcome::Rows(vec![row])), (&entries[6], lines)];
        write(&path, &settings, &parts).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("| a \\| b | 2.000 | 4.000 | 0.50 | 0 | 0.0000 | 0.5 |"), "{text}");
        assert!(
            text.contains("The bare path: nothing at all.") && text.contains("--seconds 1.5 --shards 2"),
            "{text}"
        );
        assert!(text.contains("(figures-decode.svg)") && text.contains("\n```\none | two\n```\n"), "{text}");
        let chart = fs::read_to_string(folder.path().join("figures-decode.svg")).unwrap();
        assert!(chart.starts_with("<svg") && chart.contains("a | b"), "{chart}");
    }
}
