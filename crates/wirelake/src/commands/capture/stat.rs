//! `--stat`: rate, latency and errors per protocol, operation and status.

use std::collections::HashMap;
use std::fmt::Write;

use correlate::{Outcome, Roundtrip};
use decode::{Name, Status};
use hdrhistogram::Histogram;
use tap::{About, service};

use super::line::duration;
use super::text::{field, fit};

/// Kinds of roundtrips that are told apart; what comes beyond is one more line, `(others)`.
const MAX_KINDS: usize = 512;

/// The longest span that is told apart, nanoseconds: 10 minutes.
const LONGEST_NS: u64 = 600_000_000_000;

type Kind = (String, String, String);

/// What was counted since the start.
#[derive(Debug, Default)]
pub struct Stat {
    kinds: HashMap<Kind, Figures>,
}

#[derive(Debug)]
struct Figures {
    count: u64,
    before: u64,
    errors: u64,
    unanswered: u64,
    spans: Histogram<u32>,
}

impl Stat {
    /// Counts one roundtrip.
    pub fn add(&mut self, about: &About, row: &Roundtrip) {
        let code = match row.outcome {
            Outcome::Unanswered | Outcome::Orphan => format!("({})", row.outcome.as_str()),
            Outcome::Answered | Outcome::OneWay => field(row, Name::StatusCode)
                .unwrap_or_else(|| tap::status(row.status).unwrap_or("-").to_owned()),
        };
        let operation = field(row, Name::Operation).unwrap_or_else(|| "-".to_owned());
        let mut kind = (service(about, row).to_owned(), operation, code);
        if self.kinds.len() >= MAX_KINDS && !self.kinds.contains_key(&kind) {
            kind = ("(others)".to_owned(), String::new(), String::new());
        }
        let figures = self.kinds.entry(kind).or_insert_with(Figures::new);
        figures.count += 1;
        figures.errors += u64::from(row.status == Status::Error);
        figures.unanswered += u64::from(row.outcome == Outcome::Unanswered);
        if let Some(span) = row.duration_ns() {
            let span = u64::try_from(span).unwrap_or(0).clamp(1, LONGEST_NS);
            figures.spans.saturating_record(span);
        }
    }

    /// Adds what another one counted.
    pub fn merge(&mut self, other: &Self) {
        for (kind, theirs) in &other.kinds {
            let ours = self.kinds.entry(kind.clone()).or_insert_with(Figures::new);
            ours.count += theirs.count;
            ours.errors += theirs.errors;
            ours.unanswered += theirs.unanswered;
            // Both have the same bounds.
            let _ = ours.spans.add(&theirs.spans);
        }
    }

    /// The table, most frequent first, `lines` lines at most; rates are over the last `seconds`.
    pub fn render(&mut self, seconds: f64, lines: usize) -> String {
        let mut rows: Vec<_> = self.kinds.iter_mut().collect();
        rows.sort_by(|a, b| b.1.count.cmp(&a.1.count).then_with(|| a.0.cmp(b.0)));
        let mut to = String::new();
        let _ = writeln!(
            to,
            "{:<10} {:<24} {:<14} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8}",
            "protocol", "operation", "status", "count", "per s", "p50", "p99", "errors", "no reply"
        );
        let hidden = rows.len().saturating_sub(lines);
        for ((protocol, operation, code), figures) in rows.into_iter().take(lines) {
            let rate = (figures.count - figures.before) as f64 / seconds.max(0.001);
            figures.before = figures.count;
            let at = |quantile| match figures.spans.len() {
                0 => "-".to_owned(),
                _ => duration(i64::try_from(figures.spans.value_at_quantile(quantile)).unwrap_or(i64::MAX)),
            };
            let _ = writeln!(
                to,
                "{protocol:<10} {:<24} {:<14} {:>10} {rate:>10.1} {:>10} {:>10} {:>8} {:>8}",
                fit(operation, 24),
                fit(code, 14),
                figures.count,
                at(0.5),
                at(0.99),
                figures.errors,
                figures.unanswered
            );
        }
        if hidden > 0 {
            let _ = writeln!(to, "… and {hidden} more");
        }
        to
    }
}

impl Figures {
    fn new() -> Self {
        Self { count: 0, before: 0, errors: 0, unanswered: 0, spans: spans() }
    }
}

/// Two significant digits up to ten minutes.
fn spans() -> Histogram<u32> {
    Histogram::new_with_max(LONGEST_NS, 2)
        .unwrap_or_else(|_| Histogram::new(1).expect("one digit is allowed"))
}
