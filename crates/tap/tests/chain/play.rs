//! Frames through a tap, and what came out.

use crate::frames::Shot;
use correlate::{Outcome, Roundtrip};
use decode::{Name, Value};
use flow::{End, Flow};
use model::{Frame, Nanos};
use std::cmp::Ordering;
use tap::{About, Cell, Ledger, Options, Row, Sink, SourceTotals, Tap};

/// A roundtrip as tests look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub protocol: String,
    pub operation: String,
    pub resource: String,
    pub query: String,
    pub status_code: String,
    pub error: String,
    pub outcome: Outcome,
    pub start: i64,
    /// The size of the response, when its end was seen.
    pub response_bytes: Option<u64>,
    pub reason: Option<&'static str>,
    /// The ports of both sides, the lower one first.
    pub ports: (u16, u16),
    pub notices: String,
    pub json: String,
}

impl Ord for Line {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.start, &self.json).cmp(&(other.start, &other.json))
    }
}

impl PartialOrd for Line {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Keeps every row.
#[derive(Debug, Default)]
pub struct Lines {
    pub rows: Vec<Line>,
    pub count: u64,
    pub flows: Vec<String>,
}

impl Sink for Lines {
    fn roundtrip(&mut self, flow: &Flow, about: &About, row: &Roundtrip) {
        let text = |name| match row.fields.find(name) {
            Some(Value::Text(range)) => String::from_utf8_lossy(row.fields.text(range)).into_owned(),
            Some(Value::Static(label)) => (*label).to_owned(),
            Some(Value::Int(number)) => number.to_string(),
            _ => String::new(),
        };
        let (client, server) = (flow.tuple.client.port, flow.tuple.server.port);
        let mut json = Vec::new();
        tap::json::write(&Row::Roundtrip(flow, about, row), &mut json);
        self.count += 1;
        self.rows.push(Line {
            protocol: tap::service(about, row).to_owned(),
            operation: text(Name::Operation),
            resource: text(Name::Resource),
            query: text(Name::Attribute("db.query.text")),
            status_code: text(Name::StatusCode),
            error: text(Name::Error),
            outcome: row.outcome,
            start: row.start().0,
            response_bytes: row.response.filter(|part| part.last.is_some()).map(|part| part.bytes),
            reason: row.reason,
            ports: (client.min(server), client.max(server)),
            notices: notices(row.notices),
            json: String::from_utf8(json).expect("rows are UTF-8"),
        });
    }

    fn flow(&mut self, flow: &Flow, about: &About, end: End) {
        let mut json = Vec::new();
        tap::json::write(&Row::Flow(flow, about, end), &mut json);
        self.flows.push(String::from_utf8(json).expect("rows are UTF-8"));
    }
}

fn notices(bits: u8) -> String {
    let mut text = Vec::new();
    tap::json::cell_text(Cell::Notices(bits), &mut text);
    String::from_utf8(text).expect("names")
}

impl tap::replay::Collect for Lines {
    type Item = Line;

    fn take(&mut self, to: &mut Vec<Line>) {
        to.append(&mut self.rows);
    }
}

/// What a capture became.
#[derive(Debug)]
pub struct Played {
    pub rows: Vec<Line>,
    pub flows: Vec<String>,
    pub ledger: Ledger,
}

impl Played {
    pub fn answered(&self) -> impl Iterator<Item = &Line> {
        self.rows.iter().filter(|row| row.outcome == Outcome::Answered)
    }
}

/// Bounds as of a small machine, so that a test does not reserve room for 262,144 flows.
pub fn options() -> Options {
    let flows = flow::Limits { flows: 2_048, ..flow::Limits::default() };
    Options { flows, ..Options::default() }
}

pub fn frame(shot: &Shot) -> Frame<'_> {
    let Shot { time, link, wire_len, ref bytes, .. } = *shot;
    Frame { time: Nanos(time), link, wire_len, vlan: None, bytes }
}

/// Plays frames through one tap. Asserts that the books balance and that what is held stays in its bounds.
pub fn play(shots: &[Shot]) -> Played {
    play_with(shots, options())
}

pub fn play_with(shots: &[Shot], options: Options) -> Played {
    let (held, flows) = (options.flows.held_bytes, options.flows.flows as usize);
    let mut tap = Tap::new(options, Lines::default());
    for shot in shots {
        tap.frame(&frame(shot));
        assert!(tap.held_bytes() <= held && tap.open_flows() <= flows);
    }
    tap.finish();
    assert_eq!((tap.held_bytes(), tap.open_flows()), (0, 0), "something is left");
    let rows = tap.sink().count;
    let ledger = Ledger::new([&tap.page(SourceTotals::default(), rows)]);
    assert!(ledger.balanced, "{ledger:#?}");
    let sink = tap.into_sink();
    Played { rows: sink.rows, flows: sink.flows, ledger }
}

/// A pcapng file of the frames.
pub fn pcapng(shots: &[Shot]) -> Vec<u8> {
    let mut writer = capture::file::Writer::new(Vec::new()).expect("a vector takes everything");
    for shot in shots {
        writer.write(&frame(shot)).expect("a vector takes everything");
    }
    writer.into_inner()
}

/// Plays a file through several taps; rows in the order of `replay`.
pub fn replayed(file: &[u8], taps: usize) -> String {
    let taps = (0..taps).map(|_| Tap::new(options(), Lines::default())).collect();
    let mut reader = capture::file::stream(file).expect("a capture");
    let mut text = String::new();
    let (taps, result) = tap::replay::replay(
        &mut reader,
        taps,
        false,
        |_| true,
        |row: Line| {
            text.push_str(&row.json);
            text.push('\n');
        },
    );
    result.expect("a whole capture");
    let pages: Vec<_> = taps
        .into_iter()
        .map(|mut tap| {
            let rows = tap.sink().count;
            tap.page(SourceTotals::default(), rows)
        })
        .collect();
    assert!(Ledger::new(&pages).balanced);
    text
}
