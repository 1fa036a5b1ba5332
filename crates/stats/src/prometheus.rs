//! The same figures in Prometheus' text format
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>.
//!
//! Every name and label comes from a closed list, so there is nothing to escape.

use std::fmt::Write;

use crate::counter::Counter;
use crate::ledger::{Ledger, StoreTotals};
use crate::reason::DropReason;
use crate::shard::Totals;

/// A figure that is measured rather than counted.
#[derive(Debug, Clone)]
pub struct Gauge {
    /// Its name without the prefix `wirelake_`.
    pub name: &'static str,
    /// One sentence for people.
    pub help: &'static str,
    /// Its value.
    pub value: f64,
}

/// Renders counters, drops, the store's books and further gauges.
pub fn render(store: StoreTotals, shards: &Totals, gauges: &[Gauge]) -> String {
    let mut text = String::with_capacity(16 * 1024);
    for counter in Counter::ALL {
        metric(&mut text, counter.as_str(), counter.help(), "counter", shards.get(*counter));
    }
    head(&mut text, "drops_total", "Units lost, by stage and reason.", "counter");
    for reason in DropReason::ALL {
        let count = match reason {
            DropReason::StoreFailed => store.dropped,
            _ => shards.dropped(*reason),
        };
        let _ = writeln!(
            text,
            "wirelake_drops_total{{stage=\"{}\",reason=\"{}\"}} {count}",
            reason.stage().as_str(),
            reason.as_str()
        );
    }
    metric(&mut text, "store_accepted_rows_total", "Rows the lake took.", "counter", store.accepted);
    metric(&mut text, "store_durable_rows_total", "Rows in committed files.", "counter", store.durable);
    metric(&mut text, "store_hot_rows", "Rows in memory only.", "gauge", store.hot);
    let balanced = u64::from(Ledger::new(store, shards).balanced);
    metric(&mut text, "ledger_balanced", "Whether the books balance: 1 yes, 0 no.", "gauge", balanced);
    for gauge in gauges {
        head(&mut text, gauge.name, gauge.help, "gauge");
        let _ = writeln!(text, "wirelake_{} {}", gauge.name, gauge.value);
    }
    text
}

fn metric(text: &mut String, name: &str, help: &str, kind: &str, value: u64) {
    head(text, name, help, kind);
    let _ = writeln!(text, "wirelake_{name} {value}");
}

fn head(text: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(text, "# HELP wirelake_{name} {help}\n# TYPE wirelake_{name} {kind}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::Board;

    #[test]
    fn every_reason_has_a_line() {
        let text = render(StoreTotals::default(), &Board::default().totals(), &[]);
        for reason in DropReason::ALL {
            assert!(text.contains(&format!("reason=\"{}\"}} 0", reason.as_str())));
        }
        assert!(text.contains("wirelake_ledger_balanced 1"));
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            assert!(line.starts_with("wirelake_") && line.rsplit_once(' ').is_some());
        }
    }
}
