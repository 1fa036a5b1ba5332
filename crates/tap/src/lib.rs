//! Frames in, roundtrips out: wire, flow, decode and correlate run to completion on one thread.
//!
//! * In: frames of one shard, in the order of their source.
//! * Out: roundtrips and flows, through a [`Sink`].
//! * Owned: the flow table, and per flow that has spoken its decoder and its pairing.
//! * Bounded by: [`flow::Limits`] for flows and held bytes, [`PROBE_BYTES`](detect::PROBE_BYTES) a lane until
//!   the protocol is known, the decoder's and the pairing's own numbers after that.
//! * Lost: frames that are no IP, what the flow table refuses, and lanes that a decoder cannot read: each
//!   under a name in [`Counters`].
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod counters;
pub mod detect;
#[doc(hidden)]
pub mod fuzz;
pub mod json;
mod ledger;
pub mod live;
pub mod media;
pub mod replay;
mod row;
mod talk;

pub use counters::Counters;
pub use detect::{Rule, RuleError, Rules};
pub use ledger::{Ledger, Page, SourceTotals};
pub use row::{Cell, Row, service, status};
pub use talk::{About, Talk};

use correlate::{Pool, Roundtrip};
use decode::{Limits as Kept, Out};
use flow::{End, Flow, Table};
use model::{Arrival, Dir, Endpoint, Frame, Nanos};

/// Where rows go.
pub trait Sink {
    /// One roundtrip is complete.
    fn roundtrip(&mut self, flow: &Flow, about: &About, roundtrip: &Roundtrip);

    /// One flow has ended.
    fn flow(&mut self, flow: &Flow, about: &About, end: End);

    /// A whole SIP message was seen.
    fn sip(&mut self, flow: &Flow, dir: Dir, time: Nanos, message: &[u8]) {
        let _ = (flow, dir, time, message);
    }

    /// A call announced that media will be at `endpoint`.
    fn expect(&mut self, endpoint: Endpoint, owner: &[u8]) {
        let _ = (endpoint, owner);
    }
}

/// How a tap works.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which protocol is spoken where.
    pub rules: Rules,
    /// The flow table's bounds.
    pub flows: flow::Limits,
    /// How much of a message is kept.
    pub kept: Kept,
    /// After how long a request counts as unanswered, nanoseconds of packet time.
    pub answer_timeout_ns: i64,
    /// Seed of the flow table's hash.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            flows: flow::Limits::default(),
            kept: Kept::default(),
            answer_timeout_ns: 60_000_000_000,
            seed: 0x5EED,
        }
    }
}

/// One shard's capture pipeline.
#[derive(Debug)]
pub struct Tap<S: Sink> {
    flows: Table<Talk>,
    side: Side<S>,
}

/// Everything but the flow table: what its callbacks need.
#[derive(Debug)]
pub(crate) struct Side<S> {
    pub(crate) sink: S,
    pub(crate) out: Out,
    pub(crate) pool: Pool,
    pub(crate) detector: detect::Detector,
    pub(crate) counters: Counters,
    pub(crate) answer_timeout_ns: i64,
    /// When the first frame was seen.
    pub(crate) started: Option<Nanos>,
    /// The calls of all threads, where media are to be named.
    pub(crate) calls: Option<media::Lane>,
    /// Where open flows are shown.
    pub(crate) show: Option<live::Show>,
}

impl<S: Sink> Tap<S> {
    /// A tap that has seen nothing.
    pub fn new(options: Options, sink: S) -> Self {
        Self {
            flows: Table::new(options.flows, options.seed),
            side: Side {
                sink,
                out: Out::new(options.kept),
                pool: Pool::default(),
                detector: detect::Detector::new(options.rules),
                counters: Counters::default(),
                answer_timeout_ns: options.answer_timeout_ns,
                started: None,
                calls: None,
                show: None,
            },
        }
    }

    /// Names media by what any thread heard of their calls, and tells what is heard here. For live capture: what a
    /// file shows must not depend on the order of threads. Whoever gives it calls [`tick`](Self::tick) before every
    /// wait.
    pub fn share_calls(&mut self, calls: &media::Calls) {
        self.side.calls = Some(calls.lane());
    }

    /// Shows up to `flows` open flows to other threads from now on.
    pub fn show_flows(&mut self, flows: usize) -> live::Flows {
        self.side.show.insert(live::Show::new(flows)).flows()
    }

    /// Takes one frame.
    pub fn frame(&mut self, frame: &Frame<'_>) {
        self.side.started.get_or_insert(frame.time);
        let counters = &mut self.side.counters;
        counters.frames = counters.frames.saturating_add(1);
        counters.bytes = counters.bytes.saturating_add(u64::from(frame.wire_len));
        match wire::parse(frame) {
            Ok(packet) => self.flows.packet(&packet, frame.wire_len, frame.time, &mut self.side),
            Err(error) => counters.refuse(error),
        }
    }

    /// Ends what is overdue at a time of the source.
    pub fn tick(&mut self, now: Nanos) {
        self.flows.tick(now, &mut self.side);
        self.side.end_batch(now);
    }

    /// Ends every flow: the source has no more frames.
    pub fn finish(&mut self) {
        self.flows.finish(&mut self.side);
        if let Some(calls) = &mut self.side.calls {
            calls.leave();
        }
    }

    /// The figures of this tap, for the books.
    pub fn page(&self, source: SourceTotals, rows: u64) -> Page {
        Page { tap: self.side.counters.clone(), flows: self.flows.counters().clone(), source, rows }
    }

    /// Bytes of the wire that were copied for decoding: see [`Out::copied_bytes`].
    pub const fn copied_bytes(&self) -> u64 {
        self.side.out.copied_bytes()
    }

    /// What was counted here.
    pub const fn counters(&self) -> &Counters {
        &self.side.counters
    }

    /// What the flow table counted.
    pub const fn flow_counters(&self) -> &flow::Counters {
        self.flows.counters()
    }

    /// Flows that are open now, those that are remembered after their close included.
    pub const fn open_flows(&self) -> usize {
        self.flows.len()
    }

    /// Bytes held out of order in all lanes, against [`flow::Limits::held_bytes`].
    pub const fn held_bytes(&self) -> usize {
        self.flows.held_bytes()
    }

    /// The receiver of rows.
    pub const fn sink(&mut self) -> &mut S {
        &mut self.side.sink
    }

    /// Takes the tap apart.
    pub fn into_sink(self) -> S {
        self.side.sink
    }
}

impl<S: Sink> flow::Consumer for Side<S> {
    type State = Talk;

    fn open(&mut self, flow: &Flow, _: Nanos) -> Talk {
        Talk::new(self.show.as_mut().and_then(|show| show.open(flow)))
    }

    fn bytes(&mut self, flow: &Flow, talk: &mut Talk, dir: Dir, bytes: &[u8], arrival: Arrival) {
        talk.bytes(self, flow, dir, bytes, arrival);
    }

    fn gap(&mut self, flow: &Flow, talk: &mut Talk, dir: Dir, missing: u64, time: Nanos) {
        talk.gap(self, flow, dir, missing, time);
    }

    fn eof(&mut self, flow: &Flow, talk: &mut Talk, dir: Dir, time: Nanos) {
        talk.eof(self, flow, dir, time);
    }

    fn datagram(&mut self, flow: &Flow, talk: &mut Talk, dir: Dir, bytes: &[u8], arrival: Arrival) {
        talk.datagram(self, flow, dir, bytes, arrival);
    }

    fn close(&mut self, flow: &Flow, talk: Talk, end: End, _: Nanos) {
        talk.close(self, flow, end);
    }
}
