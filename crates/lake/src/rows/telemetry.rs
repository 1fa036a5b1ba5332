//! Rows of `logs`, `metrics` and `spans`, from Loggregator's envelopes.

use std::collections::BTreeMap;

use ::envelope::loggregator::{Counter, Envelope, Event, Gauge, Log, Message, Timer};
use model::table::{LOGS, METRICS, SPANS, Table, logs, metrics, spans};

use super::Sealed;
use super::text::Escaped;
use crate::columns::Columns;

/// Up to so many tags are compared with each other where a key comes again; more are sorted.
const FEW_TAGS: usize = 32;

/// How many rows an envelope made of each table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Made {
    /// Rows of `logs`.
    pub logs: u64,
    /// Rows of `metrics`.
    pub metrics: u64,
    /// Rows of `spans`.
    pub spans: u64,
}

/// The growing rows of one shard's telemetry.
#[derive(Debug)]
pub struct TelemetryRows {
    logs: Growing,
    metrics: Growing,
    spans: Growing,
}

impl TelemetryRows {
    /// Rows for batches of about `capacity` rows.
    pub fn new(capacity: usize) -> Self {
        let [logs, metrics, spans] = [&LOGS, &METRICS, &SPANS].map(|table| Growing::new(table, capacity));
        Self { logs, metrics, spans }
    }

    /// Rows in the growing batches.
    pub fn len(&self) -> usize {
        self.logs.columns.rows() + self.metrics.columns.rows() + self.spans.columns.rows()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of text in the growing batches.
    pub fn text_bytes(&self) -> usize {
        self.logs.text_bytes + self.metrics.text_bytes + self.spans.text_bytes
    }

    /// Makes the rows of one envelope: one of a log, an event, a counter or a timer, one for each value of a gauge.
    /// What has no time is given the time of receipt.
    pub fn append(&mut self, envelope: &Envelope<'_>, received_ns: i64) -> Made {
        let mut made = Made::default();
        let about = About { envelope, received_ns };
        match &envelope.message {
            Message::None => {}
            Message::Log(log) => {
                self.logs.log(&about, log);
                made.logs = 1;
            }
            Message::Event(event) => {
                self.logs.event(&about, event);
                made.logs = 1;
            }
            Message::Counter(counter) => {
                self.metrics.counter(&about, counter);
                made.metrics = 1;
            }
            Message::Gauge(gauge) => made.metrics = self.metrics.gauge(&about, gauge),
            Message::Timer(timer) => {
                self.spans.timer(&about, timer);
                made.spans = 1;
            }
        }
        made
    }

    /// Closes the growing batches and hands them to `out`.
    pub fn seal(&mut self, mut out: impl FnMut(Sealed)) {
        for growing in [&mut self.logs, &mut self.metrics, &mut self.spans] {
            growing.text_bytes = 0;
            if let Some((rows, held_bytes)) = growing.columns.seal() {
                out(Sealed { table: growing.table, rows, held_bytes });
            }
        }
    }
}

/// An envelope and what is known beside it.
struct About<'a> {
    envelope: &'a Envelope<'a>,
    received_ns: i64,
}

impl About<'_> {
    fn micros(&self) -> i64 {
        micros(if self.envelope.timestamp == 0 { self.received_ns } else { self.envelope.timestamp })
    }
}

fn micros(nanoseconds: i64) -> i64 {
    nanoseconds.div_euclid(1_000)
}

/// The tags that have a column of their own, and that column.
type TagColumns = &'static [(&'static [u8], usize)];

const LOG_TAGS: TagColumns = &[
    (b"trace_id", logs::TRACE_ID),
    (b"span_id", logs::SPAN_ID),
    (b"source_type", logs::SOURCE_TYPE),
    (b"origin", logs::ORIGIN),
    (b"deployment", logs::DEPLOYMENT),
    (b"job", logs::JOB),
    (b"index", logs::INDEX),
    (b"ip", logs::IP),
    (b"__v1_type", logs::EVENT_TYPE),
];
const METRIC_TAGS: TagColumns = &[
    (b"origin", metrics::ORIGIN),
    (b"deployment", metrics::DEPLOYMENT),
    (b"job", metrics::JOB),
    (b"index", metrics::INDEX),
    (b"ip", metrics::IP),
    (b"__v1_type", metrics::EVENT_TYPE),
];
const SPAN_TAGS: TagColumns = &[
    (b"peer_type", spans::KIND),
    (b"status_code", spans::STATUS_CODE),
    (b"method", spans::METHOD),
    (b"uri", spans::URI),
    (b"trace_id", spans::TRACE_ID),
    (b"span_id", spans::SPAN_ID),
    (b"parent_span_id", spans::PARENT_SPAN_ID),
    (b"origin", spans::ORIGIN),
    (b"deployment", spans::DEPLOYMENT),
    (b"job", spans::JOB),
    (b"index", spans::INDEX),
    (b"ip", spans::IP),
    (b"__v1_type", spans::EVENT_TYPE),
];

/// The growing rows of one table.
#[derive(Debug)]
struct Growing {
    table: &'static Table,
    columns: Columns,
    escaped: Escaped,
    json: Vec<u8>,
    text_bytes: usize,
}

impl Growing {
    fn new(table: &'static Table, capacity: usize) -> Self {
        Self {
            table,
            columns: Columns::new(table, capacity),
            escaped: Escaped::default(),
            json: Vec::new(),
            text_bytes: 0,
        }
    }

    /// Sets a text column; one that is empty stays null.
    fn text(&mut self, column: usize, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.text_bytes += bytes.len();
            self.escaped.set(&mut self.columns, column, bytes);
        }
    }

    fn log(&mut self, about: &About<'_>, log: &Log<'_>) {
        let (severity, number) = if log.kind == 1 { ("ERROR", 17) } else { ("INFO", 9) };
        self.columns.text(logs::SEVERITY, severity);
        self.columns.int(logs::SEVERITY_NUMBER, number);
        self.text_bytes += log.payload.len();
        self.escaped.payload(&mut self.columns, logs::BODY, logs::BODY_RAW, log.payload);
        self.log_row(about, &[]);
    }

    /// An event is a line of its title and what it says.
    fn event(&mut self, about: &About<'_>, event: &Event<'_>) {
        self.columns.text(logs::SEVERITY, "INFO");
        self.columns.int(logs::SEVERITY_NUMBER, 9);
        let body = [event.title, event.body].join(&b": "[..]);
        self.text(logs::BODY, &body);
        self.log_row(about, b"event");
    }

    fn log_row(&mut self, about: &About<'_>, event_type: &[u8]) {
        let envelope = about.envelope;
        self.columns.long(logs::TS, about.micros());
        self.text(logs::SOURCE_ID, envelope.source_id);
        self.text(logs::INSTANCE_ID, envelope.instance_id);
        self.tags(envelope, LOG_TAGS, logs::ATTRIBUTES, &[(logs::EVENT_TYPE, event_type)]);
        self.columns.long(logs::RECEIVED, micros(about.received_ns));
        self.columns.end_row();
    }

    fn counter(&mut self, about: &About<'_>, counter: &Counter<'_>) {
        self.columns.long(metrics::DELTA, i64::try_from(counter.delta).unwrap_or(i64::MAX));
        self.metric_row(about, "sum", counter.name, b"", counter.total as f64);
    }

    fn gauge(&mut self, about: &About<'_>, gauge: &Gauge<'_>) -> u64 {
        gauge.metrics().map(|(name, unit, value)| self.metric_row(about, "gauge", name, unit, value)).count()
            as u64
    }

    fn metric_row(&mut self, about: &About<'_>, kind: &str, name: &[u8], unit: &[u8], value: f64) {
        let envelope = about.envelope;
        self.columns.long(metrics::TS, about.micros());
        self.text(metrics::NAME, name);
        self.columns.text(metrics::KIND, kind);
        self.columns.double(metrics::VALUE, value);
        self.text(metrics::UNIT, unit);
        self.text(metrics::SOURCE_ID, envelope.source_id);
        self.text(metrics::INSTANCE_ID, envelope.instance_id);
        self.tags(envelope, METRIC_TAGS, metrics::ATTRIBUTES, &[]);
        self.columns.long(metrics::RECEIVED, micros(about.received_ns));
        self.columns.end_row();
    }

    fn timer(&mut self, about: &About<'_>, timer: &Timer<'_>) {
        let envelope = about.envelope;
        self.columns.long(spans::TS, if timer.start == 0 { about.micros() } else { micros(timer.start) });
        self.columns.long(spans::ENDED, micros(timer.stop));
        self.columns.long(spans::DURATION_NS, timer.stop.saturating_sub(timer.start));
        self.text(spans::NAME, timer.name);
        self.text(spans::SOURCE_ID, envelope.source_id);
        self.text(spans::INSTANCE_ID, envelope.instance_id);
        self.tags(envelope, SPAN_TAGS, spans::ATTRIBUTES, &[]);
        self.columns.long(spans::RECEIVED, micros(about.received_ns));
        self.columns.end_row();
    }

    /// Sets the columns of the tags that have one, those of `given` where no tag did, and puts the other tags into the
    /// attributes.
    fn tags(
        &mut self,
        envelope: &Envelope<'_>,
        known: TagColumns,
        attributes: usize,
        given: &[(usize, &[u8])],
    ) {
        let mut values = [None; 16];
        let mut others: [(&[u8], &[u8]); FEW_TAGS] = [(b"", b""); FEW_TAGS];
        let mut count = 0;
        let mut many = BTreeMap::new();
        for (key, value) in envelope.tags() {
            if let Some(at) = known.iter().position(|(name, _)| *name == key) {
                values[at] = Some(value);
            } else if let Some(place) = others[..count].iter_mut().find(|(one, _)| *one == key) {
                place.1 = value;
            } else if count < FEW_TAGS {
                others[count] = (key, value);
                count += 1;
            } else {
                many.insert(key, value);
            }
        }
        for ((_, column), value) in known.iter().zip(values) {
            let fallback = || given.iter().find(|(at, _)| at == column).map(|(_, value)| *value);
            if let Some(value) = value.or_else(fallback) {
                self.known(*column, value);
            }
        }
        if count > 0 {
            self.json.clear();
            let all = others[..count].iter().copied().chain(many);
            tap::json::object(all, &mut self.json);
            let json = std::mem::take(&mut self.json);
            self.text(attributes, &json);
            self.json = json;
        }
    }

    /// Sets the column of a known tag; a number where the column holds one.
    fn known(&mut self, column: usize, value: &[u8]) {
        use model::table::Kind;
        if self.table.columns[column].kind == Kind::Int {
            if let Some(number) = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()) {
                self.columns.int(column, number);
            }
            return;
        }
        if std::ptr::eq(self.table, &SPANS) && column == spans::KIND {
            return self.text(column, &value.to_ascii_lowercase());
        }
        self.text(column, value);
    }
}

const _: () = assert!(SPAN_TAGS.len() <= 16 && LOG_TAGS.len() <= 16 && METRIC_TAGS.len() <= 16);
