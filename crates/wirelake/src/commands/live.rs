//! `doctor --live`: where the time of a running server goes, and what is its limit.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::cli::{Doctor, Source};
use crate::client::Lakeside;

/// Asks the server. The exit code is 0 whatever it answers: a limit is no failure.
pub fn doctor(doctor: Doctor) -> Result<ExitCode> {
    let source = Source { server: doctor.server, token: doctor.token, data: None };
    let text = Lakeside::new(&source)?.get("/api/bottleneck")?;
    let report: Value = serde_json::from_str(&text).context("the server's answer is no JSON")?;
    let mut out = std::io::stdout().lock();
    if doctor.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        out.write_all(render(&report, std::io::stdout().is_terminal()).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The report as text: the verdict, what lifts it, and a table of the stages.
fn render(report: &Value, color: bool) -> String {
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let mut text = String::new();
    let limited = report["limited"] == true;
    let name = report["stage"].as_str().unwrap_or("none");
    let name = if color && limited { format!("\x1b[1;33m{name}\x1b[0m") } else { name.to_owned() };
    let word = if limited { "limit" } else { "first to be the limit" };
    let _ = writeln!(text, "{word}: {name}, over the last {:.0} s", number(&report["seconds"]));
    let _ = writeln!(text, "{}", report["why"].as_str().unwrap_or_default());
    for remedy in report["remedies"].as_array().into_iter().flatten() {
        let _ = writeln!(text, "\n  {}", remedy["what"].as_str().unwrap_or_default());
        for line in remedy["command"].as_str().unwrap_or_default().lines() {
            let _ = writeln!(text, "    {line}");
        }
    }
    let mut table = comfy_table::Table::new();
    table.load_preset("     ──            ");
    table.set_header([
        "stage",
        "time",
        "busiest",
        "since start",
        "per s",
        "batch",
        "ns each",
        "queue",
        "headroom",
    ]);
    let stages = report["stages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let before = report["since_start"]["stages"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (line, start) in stages.iter().zip(before) {
        let or_dash = |value: &Value, digits: usize| {
            value.as_f64().map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
        };
        table.add_row([
            line["stage"].as_str().unwrap_or_default().to_owned(),
            share(&line["share"]),
            share(&line["share_of_busiest"]),
            share(&start["share"]),
            format!("{:.0} {}", number(&line["units_per_s"]), line["unit"].as_str().unwrap_or_default()),
            or_dash(&line["batch"], 1),
            or_dash(&line["ns_per_unit"], 0),
            queue(&line["queue"]),
            line["headroom"].as_f64().map_or_else(|| "-".to_owned(), |times| format!("{times:.1}x")),
        ]);
    }
    text.push('\n');
    for line in table.lines() {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let (datagrams, frames) = (number(&report["datagrams_lost"]), number(&report["frames_lost"]));
    let _ = writeln!(text, "\nlost in the kernel meanwhile: {datagrams} datagrams, {frames} frames");
    text
}

fn share(value: &Value) -> String {
    format!("{:.1} %", value.as_f64().unwrap_or(0.0) * 100.0)
}

fn queue(value: &Value) -> String {
    let (Some(length), Some(limit)) = (value["length"].as_u64(), value["limit"].as_u64()) else {
        return "-".to_owned();
    };
    let share = if limit == 0 { 0.0 } else { length as f64 * 100.0 / limit as f64 };
    format!("{share:.0} % of {limit} {}", value["unit"].as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_shown_with_what_lifts_it() {
        let line = serde_json::json!({
            "stage": "store.sync", "share": 0.5, "share_of_busiest": 0.9, "units_per_s": 2.0, "unit": "syncs",
            "batch": 1.0, "ns_per_unit": 5e8, "queue": { "length": 3, "limit": 4, "unit": "bytes of rows" }, "headroom": 1.1,
        });
        let report = serde_json::json!({
            "seconds": 10.0, "stage": "store.sync", "limited": true, "why": "store: because.",
            "remedies": [{ "what": "a faster disk", "command": null }, { "what": "less often", "command": "one\ntwo" }],
            "stages": [line], "since_start": { "stages": [line] }, "datagrams_lost": 7, "frames_lost": 0,
        });
        let text = render(&report, false);
        assert!(
            text.starts_with("limit: store.sync, over the last 10 s\nstore: because.\n\n  a faster disk\n"),
            "{text}"
        );
        assert!(text.contains("  less often\n    one\n    two\n"), "{text}");
        assert!(text.contains("75 % of 4 bytes of rows") && text.contains("7 datagrams"), "{text}");
        let quiet = serde_json::json!({ "limited": false, "stage": null, "why": "nothing is at its limit" });
        assert!(render(&quiet, true).starts_with("first to be the limit: none"));
    }
}
