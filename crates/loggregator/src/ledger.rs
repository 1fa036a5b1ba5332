//! The books of Loggregator: every envelope that came in, and the door it left by.
//!
//! The figures of the way in come from pages that their one writer publishes whole, those of a destination from its
//! queue, under one lock. A writer publishes before it offers a batch, and destinations are read before pages: so
//! envelopes on their way are never negative, and the equations hold at any moment.

use std::collections::BTreeMap;
use std::fmt::Write;

use envelope::{dropsonde, loggregator};
use serde::Serialize;

use crate::counters::{Cause, Counters, LATENCY_BOUNDS_US, Latency, Reason};
use crate::prometheus;

/// Figures by name; only those that are not 0.
type Named = BTreeMap<&'static str, u64>;

/// What one writer did, as of its last publication.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Datagrams of version 1 looked at.
    pub datagrams: u64,
    /// Envelopes of version 2 looked at.
    pub received: u64,
    /// Datagrams that are no envelope, by cause.
    pub refused_v1: [u64; dropsonde::What::ALL.len()],
    /// Envelopes of version 2 that cannot be read, by cause.
    pub refused_v2: [u64; loggregator::Error::ALL.len()],
    /// Envelopes larger than a batch may be.
    pub too_large: u64,
    /// Envelopes taken.
    pub taken: u64,
    /// Of those, in a batch that is not sealed.
    pub building: u64,
    /// Envelopes with a text that was not UTF-8 and was repaired.
    pub repaired: u64,
    /// Envelopes whose instance was taken from their tags.
    pub instance_id_fixed: u64,
    /// Envelopes of version 2 without a source, which were given their origin.
    pub origin_mapped: u64,
    /// Counters whose sum was given up for newer ones.
    pub counters_evicted: u64,
    /// Rows.
    pub rows: Rows,
}

/// Rows by table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Rows {
    /// Rows of `logs`.
    pub logs: u64,
    /// Rows of `metrics`.
    pub metrics: u64,
    /// Rows of `spans`.
    pub spans: u64,
}

/// What the sockets of version 1 counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sockets {
    /// Datagrams read.
    pub datagrams: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Datagrams that the kernel threw away because the receive buffer was full.
    pub kernel_drops: u64,
    /// Datagrams that arrived and were not read before the end.
    pub unread: u64,
    /// Datagrams larger than the receive slot.
    pub truncated: u64,
}

/// What came in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct In {
    /// Datagrams of version 1 that were read.
    pub datagrams: u64,
    /// Envelopes of version 2.
    pub envelopes: u64,
    /// Datagrams that the kernel threw away because the receive buffer was full.
    pub kernel_drops: u64,
    /// Datagrams that arrived and were not read before the end.
    pub unread: u64,
    /// All of it.
    pub total: u64,
}

/// One reason and how many envelopes it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Drop {
    /// Where.
    pub stage: &'static str,
    /// Why.
    pub reason: &'static str,
    /// How many.
    pub count: u64,
}

/// One destination.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DestinationBooks {
    /// As in the configuration.
    pub name: String,
    /// Envelopes offered to it, whatever became of them.
    pub offered: u64,
    /// Envelopes found on disk at the start.
    pub replayed: u64,
    /// Envelopes that it confirmed.
    pub sent: u64,
    /// Bytes of them.
    pub sent_bytes: u64,
    /// Batches of them.
    pub sent_batches: u64,
    /// Envelopes written again because a connection ended before they were confirmed; they may have arrived twice.
    pub resent: u64,
    /// Envelopes of a kind that it does not take.
    pub skipped: u64,
    /// Envelopes lost, by reason.
    pub dropped: Named,
    /// Envelopes that wait, in memory.
    pub waiting: u64,
    /// Bytes of them.
    pub waiting_bytes: u64,
    /// Of those, written and not confirmed.
    pub unconfirmed: u64,
    /// Envelopes that wait, on disk.
    pub on_disk: u64,
    /// Connections that came up.
    pub connections: u64,
    /// Connections that failed or ended, by cause.
    pub ended: Named,
    /// From receipt to confirmation, milliseconds: the bound below which half of the batches are.
    pub latency_p50_ms: Option<f64>,
    /// The same for 99 of a hundred.
    pub latency_p99_ms: Option<f64>,
    #[serde(skip)]
    counters: Counters,
}

/// One equation of the books.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// Its left side.
    pub left: u64,
    /// Its right side.
    pub right: u64,
    /// Whether they are equal.
    pub ok: bool,
    /// The equation in words.
    pub meaning: &'static str,
}

/// The books at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ledger {
    /// Whether every check holds.
    pub balanced: bool,
    /// What came in.
    #[serde(rename = "in")]
    pub input: In,
    /// Envelopes taken: each is offered to every destination.
    pub taken: u64,
    /// Of those, in a batch that is not sealed.
    pub building: u64,
    /// What was lost on the way in; what a destination lost stands with it.
    pub drops: Vec<Drop>,
    /// What was odd but lost nothing.
    pub notices: Named,
    /// Rows made.
    pub rows: Rows,
    /// The destinations.
    pub destinations: Vec<DestinationBooks>,
    /// The equations.
    pub checks: Vec<Check>,
    #[serde(skip)]
    bytes: u64,
}

impl Ledger {
    /// Draws up the books. `destinations` must have been read before `pages`, and `pages` before `sockets`.
    pub fn new(destinations: Vec<(String, Counters)>, pages: &[Page], sockets: Sockets) -> Self {
        let sum = |of: fn(&Page) -> u64| pages.iter().map(of).sum::<u64>();
        let datagrams = sum(|page| page.datagrams);
        let envelopes = sum(|page| page.received);
        let input = In {
            datagrams: datagrams + sockets.truncated,
            envelopes,
            kernel_drops: sockets.kernel_drops,
            unread: sockets.unread,
            total: datagrams + sockets.truncated + envelopes + sockets.kernel_drops + sockets.unread,
        };
        let drops = drops(pages, sockets);
        let (taken, building) = (sum(|page| page.taken), sum(|page| page.building));
        let lost: u64 = drops.iter().map(|drop| drop.count).sum();
        let destinations: Vec<_> =
            destinations.into_iter().map(|(name, counters)| DestinationBooks::new(name, counters)).collect();
        let mut checks = vec![check(
            "received".to_owned(),
            input.total,
            taken + lost,
            "read + lost in the kernel + left unread = envelopes taken + drops on the way in",
        )];
        for destination in &destinations {
            checks.push(check(
                format!("{} offered", destination.name),
                taken,
                destination.offered + building + taken.saturating_sub(building + destination.offered),
                "envelopes taken = offered to the destination + in an open batch + on their way to it",
            ));
            checks.push(destination.check());
        }
        let notices = [
            ("text_repaired", sum(|page| page.repaired)),
            ("instance_id_fixed", sum(|page| page.instance_id_fixed)),
            ("origin_mapped", sum(|page| page.origin_mapped)),
            ("counters_evicted", sum(|page| page.counters_evicted)),
        ];
        let rows = Rows {
            logs: sum(|page| page.rows.logs),
            metrics: sum(|page| page.rows.metrics),
            spans: sum(|page| page.rows.spans),
        };
        Self {
            balanced: checks.iter().all(|check| check.ok),
            input,
            taken,
            building,
            drops,
            notices: notices.into_iter().filter(|(_, count)| *count > 0).collect(),
            rows,
            destinations,
            checks,
            bytes: sockets.bytes,
        }
    }

    /// Appends the figures in Prometheus' text format: those of the way in under the prefix `wirelake_loggregator_`, those of
    /// destinations under `wirelake_egress_`.
    pub fn prometheus(&self, text: &mut String) {
        let mut family = |name: &str, kind: &str, help: &str, lines: &[(String, u64)]| {
            let _ = writeln!(
                text,
                "# HELP wirelake_loggregator_{name} {help}\n# TYPE wirelake_loggregator_{name} {kind}"
            );
            for (labels, value) in lines {
                let _ = writeln!(text, "wirelake_loggregator_{name}{labels} {value}");
            }
        };
        let one = |value: u64| vec![(String::new(), value)];
        family("datagrams_total", "counter", "Datagrams of version 1 read.", &one(self.input.datagrams));
        family("bytes_total", "counter", "Bytes of them.", &one(self.bytes));
        family(
            "kernel_drops_total",
            "counter",
            "Datagrams the kernel threw away.",
            &one(self.input.kernel_drops),
        );
        family(
            "received_v2_total",
            "counter",
            "Envelopes of version 2 received.",
            &one(self.input.envelopes),
        );
        family("taken_total", "counter", "Envelopes taken.", &one(self.taken));
        let drops: Vec<_> = self
            .drops
            .iter()
            .map(|drop| (format!("{{stage=\"{}\",reason=\"{}\"}}", drop.stage, drop.reason), drop.count))
            .collect();
        family("drops_total", "counter", "Envelopes lost on the way in.", &drops);
        let notices: Vec<_> =
            self.notices.iter().map(|(name, count)| (format!("{{notice=\"{name}\"}}"), *count)).collect();
        family("notices_total", "counter", "Odd but whole.", &notices);
        let destinations: Vec<_> =
            self.destinations.iter().map(|one| (one.name.clone(), one.counters.clone())).collect();
        prometheus::render(&destinations, text);
    }
}

impl DestinationBooks {
    fn new(name: String, counters: Counters) -> Self {
        Self {
            name,
            offered: counters.queued.envelopes,
            replayed: counters.replayed.envelopes,
            sent: counters.sent.envelopes,
            sent_bytes: counters.sent.bytes,
            sent_batches: counters.sent.batches,
            resent: counters.resent.envelopes,
            skipped: counters.skipped,
            dropped: named(Reason::ALL.iter().map(|reason| (reason.as_str(), counters.dropped(*reason)))),
            waiting: counters.held.envelopes,
            waiting_bytes: counters.held.bytes,
            unconfirmed: counters.in_flight.envelopes,
            on_disk: counters.on_disk.envelopes,
            connections: counters.connections,
            ended: named(Cause::ALL.iter().map(|cause| (cause.as_str(), counters.ended(*cause)))),
            latency_p50_ms: percentile(&counters.latency, 50),
            latency_p99_ms: percentile(&counters.latency, 99),
            counters,
        }
    }

    fn check(&self) -> Check {
        check(
            format!("{} sent", self.name),
            self.offered + self.replayed,
            self.sent + self.skipped + self.counters.dropped_total() + self.waiting + self.on_disk,
            "offered + found on disk = confirmed + not of its kind + drops + waiting in memory and on disk",
        )
    }
}

fn drops(pages: &[Page], sockets: Sockets) -> Vec<Drop> {
    let sum = |of: &dyn Fn(&Page) -> u64| pages.iter().map(of).sum::<u64>();
    let mut drops = vec![
        Drop { stage: "listen", reason: "kernel_buffer", count: sockets.kernel_drops },
        Drop { stage: "listen", reason: "stopping", count: sockets.unread },
        Drop { stage: "listen", reason: "datagram_truncated", count: sockets.truncated },
    ];
    for what in dropsonde::What::ALL {
        let count = sum(&|page| page.refused_v1.get(*what as usize).copied().unwrap_or_default());
        drops.push(Drop { stage: "dropsonde", reason: what.as_str(), count });
    }
    for error in loggregator::Error::ALL {
        let count = sum(&|page| page.refused_v2.get(*error as usize).copied().unwrap_or_default());
        drops.push(Drop { stage: "loggregator", reason: error.as_str(), count });
    }
    drops.push(Drop { stage: "loggregator", reason: "too_large", count: sum(&|page| page.too_large) });
    drops.retain(|drop| drop.count > 0);
    drops
}

fn named(figures: impl Iterator<Item = (&'static str, u64)>) -> Named {
    figures.filter(|(_, count)| *count > 0).collect()
}

/// The bound of the bucket below which so many of a hundred are, milliseconds; `None` without a figure, or beyond the last
/// bound.
fn percentile(latency: &Latency, percent: u64) -> Option<f64> {
    let wanted = latency.count().saturating_mul(percent).div_ceil(100);
    let mut seen = 0;
    let at = latency.buckets.iter().position(|bucket| {
        seen += bucket;
        wanted > 0 && seen >= wanted
    })?;
    LATENCY_BOUNDS_US.get(at).map(|us| *us as f64 / 1e3)
}

fn check(name: String, left: u64, right: u64, meaning: &'static str) -> Check {
    Check { name, left, right, ok: left == right, meaning }
}
