//! What becomes of an envelope: bytes of a batch for the destinations, rows for the lake.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::loggregator::{Batch, BatchBuilder, Destination, Limits, Page};
use envelope::dropsonde;
use envelope::loggregator::{
    self as v2, Envelope, Identity, Message, Notices, Options, Written, counters::Totals,
};
use lake::Lake;
use lake::rows::TelemetryRows;
use stats::{Counter, ShardCounters};

use crate::pipeline::sink::hand_over;

/// Bytes of text after which rows are sealed.
const SEAL_BYTES: usize = 8 << 20;

/// How envelopes are taken.
#[derive(Debug, Clone)]
pub struct Settings {
    /// When a batch is sealed.
    pub limits: Limits,
    /// What envelopes of version 1 get that do not say where they come from.
    pub identity: Identity,
    /// Where their conversion differs from the reference.
    pub options: Options,
    /// Tags that envelopes of version 2 are given that do not have them.
    pub tags: Vec<(String, String)>,
    /// Counters whose increments are summed at the same time; `None` leaves them as they are.
    pub totals: Option<u32>,
}

/// Rows on their way to the lake.
#[derive(Debug)]
pub struct Store {
    rows: TelemetryRows,
    lake: Arc<Lake>,
    counters: ShardCounters,
    seal_rows: usize,
    seal_after_ns: i64,
    /// When the growing batches got their first row.
    since_ns: i64,
}

impl Store {
    /// Rows for `lake`, counted in `counters`.
    pub fn new(lake: &Arc<Lake>, counters: ShardCounters, seal_rows: usize, seal_after: Duration) -> Self {
        Self {
            rows: TelemetryRows::new(seal_rows.min(4_096)),
            lake: Arc::clone(lake),
            counters,
            seal_rows,
            seal_after_ns: i64::try_from(seal_after.as_nanos()).unwrap_or(i64::MAX),
            since_ns: 0,
        }
    }

    fn append(&mut self, envelope: &Envelope<'_>, now_ns: i64, made: &mut ::loggregator::Rows) {
        if self.rows.is_empty() {
            self.since_ns = now_ns;
        }
        let new = self.rows.append(envelope, now_ns);
        made.logs += new.logs;
        made.metrics += new.metrics;
        made.spans += new.spans;
        self.counters.add(Counter::RowsLogs, new.logs);
        self.counters.add(Counter::RowsMetrics, new.metrics);
        self.counters.add(Counter::RowsSpans, new.spans);
        if self.rows.len() >= self.seal_rows || self.rows.text_bytes() >= SEAL_BYTES {
            self.seal();
        }
    }

    fn seal_when_due(&mut self, now_ns: i64) {
        let age = now_ns.saturating_sub(self.since_ns);
        if !self.rows.is_empty() && !(0..self.seal_after_ns).contains(&age) {
            self.seal();
        }
        self.counters.publish();
    }

    fn seal(&mut self) {
        let mut sealed = Vec::new();
        self.rows.seal(|batch| sealed.push(batch));
        hand_over(sealed, &mut self.counters, None, &mut self.lake);
    }
}

/// Where one thread puts its envelopes. Not shared.
#[derive(Debug)]
pub struct Feed {
    settings: Settings,
    batches: BatchBuilder,
    destinations: Arc<[Destination]>,
    store: Option<Store>,
    totals: Option<Totals>,
    page: Page,
    published: Arc<Mutex<Page>>,
    scratch: Vec<u8>,
}

impl Feed {
    /// A feed of these destinations, and of the lake where there is a store.
    pub fn new(settings: Settings, destinations: Arc<[Destination]>, store: Option<Store>) -> Self {
        Self {
            batches: BatchBuilder::new(settings.limits),
            totals: settings.totals.map(|limit| Totals::new(limit, seed())),
            settings,
            destinations,
            store,
            page: Page::default(),
            published: Arc::default(),
            scratch: Vec::new(),
        }
    }

    /// Where its figures are published.
    pub fn published(&self) -> Arc<Mutex<Page>> {
        Arc::clone(&self.published)
    }

    /// Takes one datagram of version 1.
    pub fn datagram(&mut self, bytes: &[u8], now_ns: i64) {
        self.page.datagrams += 1;
        let envelope = match dropsonde::open(bytes) {
            Ok(envelope) => envelope,
            Err(error) => {
                if let Some(count) = self.page.refused_v1.get_mut(error.what as usize) {
                    *count += 1;
                }
                return;
            }
        };
        let Settings { identity, options, .. } = &self.settings;
        let written = match &mut self.totals {
            None => v2::write_v1(&envelope, identity, options, self.batches.buffer()),
            Some(totals) => {
                self.scratch.clear();
                let written = v2::write_v1(&envelope, identity, options, &mut self.scratch);
                let bytes = with_total(&self.scratch, totals, self.batches.buffer());
                Written { bytes, ..written }
            }
        };
        self.page.repaired += u64::from(written.notices.contains(Notices::REPAIRED));
        self.page.instance_id_fixed += u64::from(written.notices.contains(Notices::INSTANCE_ID_FIXED));
        self.entry(written.bytes, now_ns);
    }

    /// Takes the envelopes of a message of version 2. One that cannot be read costs no other.
    pub fn batch(&mut self, message: &[u8], now_ns: i64) {
        for envelope in v2::entries(message) {
            match envelope {
                Ok(bytes) => self.envelope(bytes, now_ns),
                Err(error) => {
                    self.page.received += 1;
                    self.refuse(error);
                }
            }
        }
        if let Some(batch) = self.batches.due(now_ns) {
            self.offer(&batch);
        }
    }

    fn refuse(&mut self, error: v2::Error) {
        if let Some(count) = self.page.refused_v2.get_mut(error as usize) {
            *count += 1;
        }
    }

    /// Takes one envelope of version 2.
    fn envelope(&mut self, bytes: &[u8], now_ns: i64) {
        self.page.received += 1;
        match Envelope::parse(bytes) {
            Ok(envelope) => {
                let total = |envelope: &Envelope<'_>| total(envelope, self.totals.as_mut()?);
                let written =
                    v2::write_received(&envelope, &self.settings.tags, total, self.batches.buffer());
                self.page.origin_mapped += u64::from(written.origin_mapped);
                self.entry(written.bytes, now_ns);
            }
            Err(error) => self.refuse(error),
        }
    }

    /// Takes the last bytes of the buffer as an entry: into rows, and into the batch.
    fn entry(&mut self, bytes: usize, now_ns: i64) {
        let buffer = self.batches.buffer();
        let start = buffer.len().saturating_sub(bytes);
        if bytes > self.settings.limits.envelope_bytes {
            self.batches.abandon();
            self.page.too_large += 1;
            return;
        }
        if let Some(store) = &mut self.store
            && let Some(Ok(envelope)) = v2::entries(&buffer[start..]).next()
            && let Ok(envelope) = Envelope::parse(envelope)
        {
            store.append(&envelope, now_ns, &mut self.page.rows);
        }
        self.page.taken += 1;
        if self.destinations.is_empty() {
            self.batches.abandon();
        } else if let Ok(Some(batch)) = self.batches.commit(now_ns) {
            self.offer(&batch);
        }
    }

    /// Sends off what is due, and publishes the figures.
    pub fn turn(&mut self, now_ns: i64) {
        if let Some(batch) = self.batches.due(now_ns) {
            self.offer(&batch);
        }
        if let Some(store) = &mut self.store {
            store.seal_when_due(now_ns);
        }
        self.publish();
    }

    /// Sends off all there is.
    pub fn finish(&mut self) {
        if let Some(batch) = self.batches.seal() {
            self.offer(&batch);
        }
        if let Some(store) = &mut self.store {
            store.seal();
            store.counters.publish();
        }
        self.publish();
    }

    /// Published before it is offered, so that no destination has what nobody took.
    fn offer(&mut self, batch: &Batch) {
        self.publish();
        for destination in &*self.destinations {
            destination.offer(batch.clone());
        }
    }

    fn publish(&mut self) {
        self.page.counters_evicted = self.totals.as_ref().map_or(0, Totals::evicted);
        self.page.building = u64::from(self.batches.envelopes());
        self.published.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&self.page);
    }
}

/// Writes an entry with the total of its counter, if it is one. Returns its bytes.
fn with_total(entry: &[u8], totals: &mut Totals, out: &mut Vec<u8>) -> usize {
    let parsed = v2::entries(entry).next().and_then(Result::ok).and_then(|bytes| Envelope::parse(bytes).ok());
    match parsed {
        Some(envelope) if matches!(envelope.message, Message::Counter(_)) => {
            v2::write_received(&envelope, &[], |envelope| total(envelope, totals), out).bytes
        }
        _ => {
            out.extend_from_slice(entry);
            entry.len()
        }
    }
}

/// The total of a counter; `None` of anything else.
fn total(envelope: &Envelope<'_>, totals: &mut Totals) -> Option<u64> {
    match &envelope.message {
        Message::Counter(counter) => Some(totals.total(envelope, counter)),
        _ => None,
    }
}

/// A seed that who sends envelopes cannot know.
fn seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}
