//! The figures of destinations in Prometheus' text format
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::fmt::Write;

use crate::counters::{Cause, Counters, LATENCY_BOUNDS_US, Reason};

type Value = fn(&Counters) -> u64;

/// Name behind `wirelake_egress_`, kind, help, value.
const FIGURES: [(&str, &str, &str, Value); 20] = [
    ("queued_envelopes_total", "counter", "Envelopes offered, whatever became of them.", |c| {
        c.queued.envelopes
    }),
    ("queued_batches_total", "counter", "Batches offered.", |c| c.queued.batches),
    ("queued_bytes_total", "counter", "Bytes offered.", |c| c.queued.bytes),
    ("replayed_envelopes_total", "counter", "Envelopes found on disk at the start.", |c| {
        c.replayed.envelopes
    }),
    ("sent_envelopes_total", "counter", "Envelopes that the destination confirmed.", |c| c.sent.envelopes),
    ("sent_batches_total", "counter", "Batches that the destination confirmed.", |c| c.sent.batches),
    ("sent_bytes_total", "counter", "Bytes of confirmed batches.", |c| c.sent.bytes),
    ("resent_envelopes_total", "counter", "Envelopes written again after a connection ended.", |c| {
        c.resent.envelopes
    }),
    ("resent_batches_total", "counter", "Batches written again.", |c| c.resent.batches),
    ("resent_bytes_total", "counter", "Bytes written again.", |c| c.resent.bytes),
    ("skipped_envelopes_total", "counter", "Envelopes of a kind that the destination does not take.", |c| {
        c.skipped
    }),
    ("connections_total", "counter", "Connections that came up.", |c| c.connections),
    ("spool_errors_total", "counter", "Failures of the queue on disk.", |c| c.spool_errors),
    ("queue_envelopes", "gauge", "Envelopes in memory, those in flight too.", |c| c.held.envelopes),
    ("queue_batches", "gauge", "Batches in memory.", |c| c.held.batches),
    ("queue_bytes", "gauge", "Bytes in memory.", |c| c.held.bytes),
    ("spool_envelopes", "gauge", "Envelopes on disk.", |c| c.on_disk.envelopes),
    ("spool_bytes", "gauge", "Bytes on disk.", |c| c.on_disk.bytes),
    ("in_flight_envelopes", "gauge", "Envelopes written and not confirmed.", |c| c.in_flight.envelopes),
    ("balanced", "gauge", "Whether the books of the destination balance: 1 yes, 0 no.", |c| {
        u64::from(c.balanced())
    }),
];

/// Appends all figures of the destinations, each with the label `destination`.
pub fn render(destinations: &[(String, Counters)], text: &mut String) {
    let destinations: Vec<_> =
        destinations.iter().map(|(name, counters)| (escaped(name), counters)).collect();
    for (name, kind, help, value) in FIGURES {
        head(text, name, kind, help);
        for (destination, counters) in &destinations {
            let _ =
                writeln!(text, "wirelake_egress_{name}{{destination=\"{destination}\"}} {}", value(counters));
        }
    }
    head(text, "drops_total", "counter", "Envelopes lost, by reason.");
    for (destination, counters) in &destinations {
        for reason in Reason::ALL {
            let _ = writeln!(
                text,
                "wirelake_egress_drops_total{{destination=\"{destination}\",reason=\"{reason}\"}} {}",
                counters.dropped(*reason)
            );
        }
    }
    head(text, "reconnects_total", "counter", "Connections that failed or ended, by cause.");
    for (destination, counters) in &destinations {
        for cause in Cause::ALL {
            let _ = writeln!(
                text,
                "wirelake_egress_reconnects_total{{destination=\"{destination}\",cause=\"{cause}\"}} {}",
                counters.ended(*cause)
            );
        }
    }
    let help = "From receipt of a batch's first envelope to its confirmation.";
    head(text, "latency_seconds", "histogram", help);
    for (destination, counters) in &destinations {
        latency(text, destination, counters);
    }
}

fn latency(text: &mut String, destination: &str, counters: &Counters) {
    let name = "wirelake_egress_latency_seconds";
    let mut sum = 0u64;
    for (at, count) in counters.latency.buckets.iter().enumerate() {
        sum = sum.saturating_add(*count);
        let bound = LATENCY_BOUNDS_US.get(at).map_or("+Inf".to_owned(), |us| seconds(*us));
        let _ = writeln!(text, "{name}_bucket{{destination=\"{destination}\",le=\"{bound}\"}} {sum}");
    }
    let total = seconds(counters.latency.sum_us);
    let _ = writeln!(text, "{name}_sum{{destination=\"{destination}\"}} {total}");
    let _ = writeln!(text, "{name}_count{{destination=\"{destination}\"}} {sum}");
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP wirelake_egress_{name} {help}\n# TYPE wirelake_egress_{name} {kind}");
}

/// Microseconds as seconds, without the noise of a binary fraction.
fn seconds(us: u64) -> String {
    let text = format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A name is the operator's: it may hold anything.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_a_line_per_destination() {
        let mut counters = Counters::default();
        counters.queued.add(7, 100);
        counters.drop(Reason::QueueFull, 7);
        counters.latency.add(1_500);
        let mut text = String::new();
        render(&[("a\"b".to_owned(), counters), ("other".to_owned(), Counters::default())], &mut text);
        for line in [
            "wirelake_egress_queued_envelopes_total{destination=\"a\\\"b\"} 7",
            "wirelake_egress_balanced{destination=\"a\\\"b\"} 1",
            "wirelake_egress_drops_total{destination=\"a\\\"b\",reason=\"queue_full\"} 7",
            "wirelake_egress_reconnects_total{destination=\"other\",cause=\"goaway\"} 0",
            "wirelake_egress_latency_seconds_bucket{destination=\"a\\\"b\",le=\"0.001\"} 0",
            "wirelake_egress_latency_seconds_bucket{destination=\"a\\\"b\",le=\"0.0025\"} 1",
            "wirelake_egress_latency_seconds_bucket{destination=\"a\\\"b\",le=\"+Inf\"} 1",
            "wirelake_egress_latency_seconds_sum{destination=\"a\\\"b\"} 0.0015",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
        let names: std::collections::BTreeSet<_> =
            text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
        assert_eq!(names.len(), FIGURES.len() + 3);
    }
}
