//! What becomes of the rows of a tap: lines for people, JSON lines, a table of figures, the lake.

use std::net::SocketAddr;
use std::sync::Arc;

use correlate::Roundtrip;
use flow::{End, Flow};
use lake::Lake;
use lake::rows::{CaptureRows, Sealed};
use model::{Dir, Nanos, Table};
use tap::replay::Collect;
use tap::{About, Row, Sink};

use super::line::{self, Style};
use super::options::Picker;
use super::stat::Stat;

/// What is shown of the rows.
#[derive(Debug, Clone, Copy)]
pub enum Show {
    /// A line for people.
    Lines(Style),
    /// A JSON object per roundtrip.
    Json,
    /// A JSON object per flow.
    JsonFlows,
    /// Nothing.
    Nothing,
}

/// A line and its place among those of the same window.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    key: (Nanos, Nanos, SocketAddr, SocketAddr),
    /// The text with its line end.
    pub text: Vec<u8>,
}

/// The receiver of one tap's rows.
#[derive(Debug)]
pub struct Shown {
    show: Show,
    picker: Picker,
    /// Rows to be put in order, when that is wanted.
    lines: Option<Vec<Line>>,
    /// Rows in the order in which they were completed.
    text: Vec<u8>,
    line: String,
    /// Rows in `text`.
    pub shown: u64,
    stat: Option<Stat>,
    stored: Option<Stored>,
    /// Rows of `roundtrips` made, whether or not they were shown.
    pub rows: u64,
}

/// Rows on their way to a lake.
#[derive(Debug)]
struct Stored {
    rows: CaptureRows,
    lake: Arc<Lake>,
}

/// Rows of a batch on its way to the lake.
const BATCH_ROWS: usize = 16_384;

/// Bytes of text of such a batch.
const BATCH_BYTES: usize = 8 << 20;

impl Shown {
    /// A receiver that shows as told, counts when `stat`, and stores when there is a lake. `ordered`: rows are
    /// taken as [`Line`]s, else as text.
    pub fn new(show: Show, ordered: bool, picker: Picker, stat: bool, lake: Option<&Arc<Lake>>) -> Self {
        let stored = lake.map(|lake| Stored { rows: CaptureRows::new(BATCH_ROWS), lake: Arc::clone(lake) });
        Self {
            show,
            picker,
            lines: ordered.then(Vec::new),
            text: Vec::new(),
            line: String::new(),
            shown: 0,
            stat: stat.then(Stat::default),
            stored,
            rows: 0,
        }
    }

    /// The figures, when they are kept.
    pub const fn stat(&mut self) -> Option<&mut Stat> {
        self.stat.as_mut()
    }

    /// The rows that are not taken as lines.
    pub const fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Hands the last rows to the lake.
    pub fn seal(&mut self) {
        if let Some(stored) = &mut self.stored {
            stored.seal();
        }
    }

    fn add(&mut self, row: &Row<'_>) {
        self.shown += 1;
        match (self.show, row) {
            (Show::Lines(style), Row::Roundtrip(flow, about, roundtrip)) => {
                self.line.clear();
                line::write(style, flow, about, roundtrip, &mut self.line);
                self.text.extend_from_slice(self.line.as_bytes());
            }
            _ => {
                tap::json::write(row, &mut self.text);
                self.text.push(b'\n');
            }
        }
        if let Some(lines) = &mut self.lines {
            let (flow, first, last) = match row {
                Row::Roundtrip(flow, _, roundtrip) => (flow, roundtrip.end(), roundtrip.start()),
                Row::Flow(flow, ..) => (flow, flow.last, flow.first),
            };
            let address = |end: model::Endpoint| SocketAddr::new(end.ip, end.port);
            let key = (first, last, address(flow.tuple.client), address(flow.tuple.server));
            lines.push(Line { key, text: std::mem::take(&mut self.text) });
        }
    }
}

impl Stored {
    fn append(&mut self, row: &Row<'_>) {
        self.rows.append(row);
        if self.rows.len() >= BATCH_ROWS || self.rows.text_bytes() >= BATCH_BYTES {
            self.seal();
        }
    }

    fn seal(&mut self) {
        let lake = &self.lake;
        self.rows.seal(|Sealed { table, rows, held_bytes }: Sealed| {
            let table: &'static Table = table;
            lake.append(table, rows, held_bytes);
        });
    }
}

impl Sink for Shown {
    fn roundtrip(&mut self, flow: &Flow, about: &About, roundtrip: &Roundtrip) {
        self.rows += 1;
        let row = Row::Roundtrip(flow, about, roundtrip);
        if let Some(stored) = &mut self.stored {
            stored.append(&row);
        }
        if !self.picker.picks(roundtrip) {
            return;
        }
        if let Some(stat) = &mut self.stat {
            stat.add(about, roundtrip);
        }
        if matches!(self.show, Show::Lines(_) | Show::Json) {
            self.add(&row);
        }
    }

    fn sip(&mut self, flow: &Flow, dir: Dir, time: Nanos, message: &[u8]) {
        if let Some(stored) = &mut self.stored {
            stored.rows.append_sip(flow, dir, time, message);
        }
    }

    fn flow(&mut self, flow: &Flow, about: &About, end: End) {
        let row = Row::Flow(flow, about, end);
        if let Some(stored) = &mut self.stored {
            stored.append(&row);
        }
        if matches!(self.show, Show::JsonFlows) {
            self.add(&row);
        }
    }
}

impl Collect for Shown {
    type Item = Line;

    fn take(&mut self, to: &mut Vec<Line>) {
        if let Some(lines) = &mut self.lines {
            to.append(lines);
        }
    }
}
