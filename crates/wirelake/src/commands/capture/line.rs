//! One roundtrip as one line for people.

use std::fmt::Write;

use correlate::{Outcome, Roundtrip};
use decode::{Name, Status};
use flow::Flow;
use model::{Dir, Nanos};
use tap::{About, service};

use super::text::{field, fit};

const PROTOCOL_WIDTH: usize = 10;
const ENDPOINTS_WIDTH: usize = 45;
const CODE_WIDTH: usize = 12;

const RESET: &str = "\x1b[0m";
const DIM: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
const YELLOW: &str = "\x1b[33m";
const GREEN: &str = "\x1b[32m";
const CYAN: &str = "\x1b[36m";

/// How lines are written.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// With colours.
    pub color: bool,
    /// Cut after this many columns.
    pub width: usize,
}

/// Appends the line, with its end.
pub fn write(style: Style, flow: &Flow, about: &About, row: &Roundtrip, to: &mut String) {
    let paint = |code: &'static str| if style.color { code } else { "" };
    let _ = write!(to, "{}{}{} ", paint(DIM), clock(row.start()), paint(RESET));
    let _ = write!(to, "{}{:<PROTOCOL_WIDTH$}{} ", paint(CYAN), service(about, row), paint(RESET));
    let arrow = if row.dir == Dir::ToServer { '→' } else { '←' };
    let ends = format!("{} {arrow} {}", flow.tuple.client, flow.tuple.server);
    let _ = write!(to, "{ends:<ENDPOINTS_WIDTH$} ");
    let failed = row.status == Status::Error || matches!(row.outcome, Outcome::Unanswered);
    let color = match row.outcome {
        Outcome::Unanswered => RED,
        _ if failed => RED,
        Outcome::Orphan => YELLOW,
        Outcome::Answered => GREEN,
        Outcome::OneWay => "",
    };
    let _ = write!(to, "{}{:<CODE_WIDTH$}{} ", paint(color), code(row), paint(RESET));
    let time = row.duration_ns().map_or_else(|| "-".to_owned(), duration);
    let _ = write!(to, "{time:>9} ");
    let bytes = |part: Option<correlate::Part>| match part {
        Some(part) if part.last.is_some() => size(part.bytes),
        _ => "-".to_owned(),
    };
    let _ = write!(to, "{:>7} {:>7}  ", bytes(row.request), bytes(row.response));
    let used = ENDPOINTS_WIDTH.max(ends.chars().count()) + PROTOCOL_WIDTH + CODE_WIDTH + 46;
    let mut what = String::new();
    for name in [Name::Operation, Name::Resource] {
        push_text(row, name, &mut what);
    }
    if failed || row.fields.find(Name::Error).is_some() {
        push_text(row, Name::Error, &mut what);
    }
    match style.width.checked_sub(used).filter(|room| *room >= 16) {
        Some(room) => to.push_str(&fit(&what, room)),
        None => to.push_str(&what),
    }
    to.push('\n');
}

/// Adds a field behind a space.
fn push_text(row: &Roundtrip, name: Name, to: &mut String) {
    let text = field(row, name).unwrap_or_default();
    if !to.is_empty() && !text.is_empty() {
        to.push(' ');
    }
    to.push_str(&text);
}

fn code(row: &Roundtrip) -> String {
    let mut text = String::new();
    match (row.outcome, row.reason) {
        (Outcome::Unanswered, Some(reason)) => {
            let _ = write!(text, "({reason})");
        }
        (Outcome::Orphan, _) => text.push_str("(orphan)"),
        _ => {
            push_text(row, Name::StatusCode, &mut text);
            if text.is_empty() {
                text.push_str(tap::status(row.status).unwrap_or("-"));
            }
        }
    }
    fit(&text, CODE_WIDTH)
}

/// The time of day in UTC, microseconds.
fn clock(time: Nanos) -> String {
    let text = time.to_string();
    text.get(11..26).unwrap_or(&text).to_owned()
}

/// A span as people read it: `230 µs`, `4.21 ms`, `1.50 s`.
pub fn duration(nanos: i64) -> String {
    let value = nanos as f64;
    match nanos {
        ..10_000 => format!("{:.1} µs", value / 1e3),
        10_000..1_000_000 => format!("{:.0} µs", value / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} ms", value / 1e6),
        _ => format!("{:.2} s", value / 1e9),
    }
}

/// Bytes as people read them.
pub fn size(bytes: u64) -> String {
    match bytes {
        ..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        _ => format!("{:.0} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_sizes_read_well() {
        assert_eq!(duration(1_500), "1.5 µs");
        assert_eq!(duration(230_000), "230 µs");
        assert_eq!(duration(4_210_000), "4.21 ms");
        assert_eq!(duration(1_500_000_000), "1.50 s");
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1_048_576), "1049 kB");
    }
}
