//! The books of a capture: every frame that came in and the door it left by, every message and its row.

use std::collections::BTreeMap;
use std::fmt::Write;

use correlate::Outcome;
use decode::What;
use flow::{DropReason, End, GapCause};
use serde::Serialize;
use wire::WireError;

use crate::Counters;

/// Figures by name; only those that are not 0.
type Named = BTreeMap<&'static str, u64>;

/// The books of one or several taps at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// Whether every check holds.
    pub balanced: bool,
    /// What the source gave and lost.
    pub frames: Frames,
    /// What the flow table made of the packets.
    pub packets: Packets,
    /// Flows.
    pub flows: Flows,
    /// Payload of TCP.
    pub bytes: Bytes,
    /// Roundtrips by outcome.
    pub roundtrips: Roundtrips,
    /// What was lost or refused, by stage and reason.
    pub drops: Vec<Drop>,
    /// Gaps in lanes, by cause.
    pub gaps: Named,
    /// Errors of decoders, by cause; bytes of the lane were lost for decoding, not for the counts above.
    pub decode_errors: Named,
    /// The equations.
    pub checks: Vec<Check>,
}

/// Frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Frames {
    /// Seen by the source: taken, or lost before they could be.
    pub seen: u64,
    /// Lost in the kernel's ring, or, in a file, before it was written.
    pub source_drops: u64,
    /// Taken.
    pub taken: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Left out by the filter of the command (a filter in the kernel leaves no trace).
    pub filtered: u64,
    /// Of link types that are not read.
    pub unknown_link: u64,
    /// Without a packet in them.
    pub refused: u64,
}

/// Packets in the flow table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Packets {
    /// Handed to it.
    pub taken: u64,
    /// TCP segments.
    pub segments: u64,
    /// UDP datagrams.
    pub datagrams: u64,
    /// Of other protocols.
    pub other: u64,
    /// Fragments.
    pub fragments: u64,
    /// Packets that fragments made.
    pub reassembled: u64,
    /// Segments with bytes that were there before.
    pub retransmitted: u64,
    /// Segments that came before what precedes them.
    pub out_of_order: u64,
}

/// Flows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Flows {
    /// Opened.
    pub opened: u64,
    /// Of those, joined in their middle.
    pub opened_middle: u64,
    /// Closed, by how they ended.
    pub closed: Named,
    /// Open now.
    pub open: u64,
}

/// Payload bytes of TCP segments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Bytes {
    /// On the wire.
    pub payload: u64,
    /// In order, given to decoders.
    pub delivered: u64,
    /// There before.
    pub repeated: u64,
    /// Declared missing.
    pub missing: u64,
    /// In flows whose protocol is not known; part of those delivered, and payload of datagrams.
    pub unknown: u64,
}

/// Roundtrips by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Roundtrips {
    /// Request and response.
    pub answered: u64,
    /// Requests alone.
    pub unanswered: u64,
    /// Responses alone.
    pub orphan: u64,
    /// Messages that expect no answer.
    pub one_way: u64,
    /// All of them.
    pub total: u64,
    /// Rows that were made of them.
    pub rows: u64,
}

/// One door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Drop {
    /// Where.
    pub stage: &'static str,
    /// Why.
    pub reason: &'static str,
    /// Frames or packets.
    pub count: u64,
}

/// One equation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// Its left side.
    pub left: u64,
    /// Its right side.
    pub right: u64,
    /// Whether they are equal.
    pub ok: bool,
    /// In words.
    pub meaning: &'static str,
}

/// What the source of the frames counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SourceTotals {
    /// Frames that the kernel, or the writer of a file, lost.
    pub drops: u64,
    /// Frames that a filter in this process left out.
    pub filtered: u64,
    /// Frames of link types that are not read.
    pub unknown_link: u64,
}

/// Figures of one tap, as they were at one moment.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The tap's own.
    pub tap: Counters,
    /// Its flow table's.
    pub flows: flow::Counters,
    /// Its source's.
    pub source: SourceTotals,
    /// Rows of `roundtrips` that its sink made.
    pub rows: u64,
}

impl Ledger {
    /// Draws up the books of all pages together.
    pub fn new<'p>(pages: impl IntoIterator<Item = &'p Page>) -> Self {
        let mut sum = Sum::default();
        pages.into_iter().for_each(|page| sum.add(page));
        sum.books()
    }
}

impl Ledger {
    /// Appends the figures in Prometheus' text format. Every name and label comes from a closed list.
    pub fn prometheus(&self, to: &mut String) {
        let plain = [
            ("frames_total", "Frames taken.", self.frames.taken),
            ("bytes_total", "Bytes of the frames on the wire.", self.frames.bytes),
            ("source_drops_total", "Frames that the kernel's ring lost.", self.frames.source_drops),
            ("segments_total", "TCP segments.", self.packets.segments),
            ("datagrams_total", "UDP datagrams.", self.packets.datagrams),
            ("fragments_total", "IP fragments.", self.packets.fragments),
            (
                "retransmitted_segments_total",
                "Segments with bytes that were there before.",
                self.packets.retransmitted,
            ),
            ("out_of_order_segments_total", "Segments before an earlier one.", self.packets.out_of_order),
            ("flows_opened_total", "Flows opened.", self.flows.opened),
            ("payload_bytes_total", "Payload of TCP segments.", self.bytes.payload),
            ("missing_bytes_total", "Payload declared missing.", self.bytes.missing),
            ("unknown_bytes_total", "Payload of flows whose protocol is not known.", self.bytes.unknown),
            ("balanced", "Whether the books of capture balance: 1 yes, 0 no.", u64::from(self.balanced)),
            ("flows_open", "Flows open now.", self.flows.open),
        ];
        for (name, help, value) in plain {
            let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
            head(to, name, help, kind);
            let _ = writeln!(to, "wirelake_capture_{name} {value}");
        }
        head(to, "drops_total", "Frames and packets lost or refused, by stage and reason.", "counter");
        for Drop { stage, reason, count } in &self.drops {
            let _ =
                writeln!(to, "wirelake_capture_drops_total{{stage=\"{stage}\",reason=\"{reason}\"}} {count}");
        }
        let named = [
            ("gaps_total", "Gaps in lanes, by cause.", "cause", &self.gaps),
            ("decode_errors_total", "Errors of decoders, by cause.", "cause", &self.decode_errors),
            ("flows_closed_total", "Flows closed, by how they ended.", "end", &self.flows.closed),
        ];
        for (name, help, label, values) in named {
            head(to, name, help, "counter");
            for (value, count) in values {
                let _ = writeln!(to, "wirelake_capture_{name}{{{label}=\"{value}\"}} {count}");
            }
        }
        head(to, "roundtrips_total", "Roundtrips, by outcome.", "counter");
        let Roundtrips { answered, unanswered, orphan, one_way, .. } = self.roundtrips;
        for (outcome, count) in Outcome::ALL.iter().zip([answered, unanswered, orphan, one_way]) {
            let outcome = outcome.as_str();
            let _ = writeln!(to, "wirelake_capture_roundtrips_total{{outcome=\"{outcome}\"}} {count}");
        }
    }
}

fn head(to: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(to, "# HELP wirelake_capture_{name} {help}\n# TYPE wirelake_capture_{name} {kind}");
}

/// Everything added up.
#[derive(Default)]
struct Sum {
    ledger: Ledger,
    drops: BTreeMap<(&'static str, &'static str), u64>,
    fragment_doors: u64,
}

impl Sum {
    fn add(&mut self, page: &Page) {
        let Page { tap, flows, source, rows } = page;
        let ledger = &mut self.ledger;
        let frames = &mut ledger.frames;
        frames.taken += tap.frames;
        frames.bytes += tap.bytes;
        frames.refused += tap.refused_frames();
        frames.source_drops += source.drops;
        frames.filtered += source.filtered;
        frames.unknown_link += source.unknown_link;
        for (cause, count) in WireError::ALL.iter().zip(tap.refused) {
            *self.drops.entry(("wire", cause.as_str())).or_default() += count;
        }
        for (cause, count) in DropReason::ALL.iter().zip(flows.dropped) {
            *self.drops.entry(("flow", cause.as_str())).or_default() += count;
        }
        *self.drops.entry(("capture", "source")).or_default() += source.drops;
        *self.drops.entry(("capture", "unknown_link_type")).or_default() += source.unknown_link;
        let packets = &mut ledger.packets;
        packets.taken += flows.packets;
        packets.segments += flows.segments;
        packets.datagrams += flows.datagrams;
        packets.other += flows.other;
        packets.fragments += flows.fragments;
        packets.reassembled += flows.reassembled;
        packets.retransmitted += flows.retransmitted;
        packets.out_of_order += flows.out_of_order;
        self.fragment_doors += flows.drops(DropReason::Unreadable) + flows.drops(DropReason::Nested);
        ledger.flows.opened += flows.opened;
        ledger.flows.opened_middle += flows.opened_middle;
        for (end, count) in End::ALL.iter().zip(flows.closed) {
            *ledger.flows.closed.entry(end.as_str()).or_default() += count;
        }
        let bytes = &mut ledger.bytes;
        bytes.payload += flows.payload_bytes;
        bytes.delivered += flows.delivered_bytes;
        bytes.repeated += flows.retransmitted_bytes + flows.overlap_bytes;
        bytes.missing += flows.gap_bytes.iter().sum::<u64>();
        bytes.unknown += tap.unknown_bytes;
        for (cause, count) in GapCause::ALL.iter().zip(flows.gaps) {
            *ledger.gaps.entry(cause.as_str()).or_default() += count;
        }
        for (what, count) in What::ALL.iter().zip(tap.decode_errors) {
            *ledger.decode_errors.entry(what.as_str()).or_default() += count;
        }
        let roundtrips = &mut ledger.roundtrips;
        for (outcome, count) in Outcome::ALL.iter().zip(tap.roundtrips) {
            let place = match outcome {
                Outcome::Answered => &mut roundtrips.answered,
                Outcome::Unanswered => &mut roundtrips.unanswered,
                Outcome::Orphan => &mut roundtrips.orphan,
                Outcome::OneWay => &mut roundtrips.one_way,
            };
            *place += count;
            roundtrips.total += count;
        }
        roundtrips.rows += rows;
    }

    fn books(self) -> Ledger {
        let Self { mut ledger, drops, fragment_doors, .. } = self;
        let frames = &mut ledger.frames;
        frames.seen = frames.taken + frames.source_drops + frames.unknown_link + frames.filtered;
        let closed: u64 = ledger.flows.closed.values().sum();
        ledger.flows.open = ledger.flows.opened.saturating_sub(closed);
        ledger.drops = drops
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|((stage, reason), count)| Drop { stage, reason, count })
            .collect();
        for named in [&mut ledger.gaps, &mut ledger.decode_errors, &mut ledger.flows.closed] {
            named.retain(|_, count| *count > 0);
        }
        let packets = &ledger.packets;
        ledger.checks = vec![
            check(
                "frames",
                ledger.frames.taken,
                packets.taken + ledger.frames.refused,
                "frames taken = packets handed to the flow table + frames refused",
            ),
            check(
                "packets",
                packets.taken + packets.reassembled,
                packets.segments + packets.datagrams + packets.other + packets.fragments + fragment_doors,
                "packets + packets that fragments made = segments + datagrams + other protocols + fragments + unreadable ones",
            ),
            check(
                "roundtrips",
                ledger.roundtrips.total,
                ledger.roundtrips.rows,
                "answered + unanswered + orphan + one-way = rows",
            ),
        ];
        ledger.balanced = ledger.checks.iter().all(|check| check.ok);
        ledger
    }
}

fn check(name: &'static str, left: u64, right: u64, meaning: &'static str) -> Check {
    Check { name, left, right, ok: left == right, meaning }
}
