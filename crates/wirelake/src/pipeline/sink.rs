//! What a shard does with each message: open the envelope, check the key, make the row.

use decode::What;
use envelope::hep::{self, Hep, Notices, TimeSource};
use lake::rows::{Appended, Arrival, Payload, RowOptions, Rows, Sealed};
use listen::{Origin, Sink};
use mem::block::Shared;
use mem::cycles;
use mem::snapshot::{Snapshot, View};
use stats::meter::Sampler;
use stats::{Counter, DropReason, Meter, ShardCounters};

/// Where sealed batches go.
pub trait Handover {
    /// Takes a batch.
    fn take(&mut self, sealed: Sealed);
}

impl Handover for std::sync::Arc<lake::Lake> {
    fn take(&mut self, sealed: Sealed) {
        self.append(sealed.table, sealed.rows, sealed.held_bytes);
    }
}

/// Counts sealed batches and hands them over. Of `stages`, the first gets the batches; the second gets the time that the
/// lake lets its callers wait.
pub fn hand_over(
    sealed: Vec<Sealed>,
    counters: &mut ShardCounters,
    stages: Option<(Meter, Meter)>,
    to: &mut impl Handover,
) {
    if sealed.is_empty() {
        return;
    }
    let rows = sealed.iter().map(|batch| batch.rows.num_rows() as u64).sum();
    counters.add(Counter::Batches, sealed.len() as u64);
    counters.add(Counter::HandedOver, rows);
    if let Some((seal, held)) = stages {
        counters.meters.batch(seal, rows);
        counters.meters.enter(held);
    }
    // Published before the lake has them, so that the lake never has rows that no shard made.
    counters.publish();
    sealed.into_iter().for_each(|batch| to.take(batch));
}

/// When a growing batch is sealed.
#[derive(Debug, Clone, Copy)]
pub struct SealLimits {
    /// Rows in it.
    pub rows: usize,
    /// Memory that it keeps in use.
    pub bytes: usize,
    /// Age of its first row, nanoseconds.
    pub age_ns: i64,
}

/// Settings that may change while shards run.
#[derive(Debug, Clone)]
pub struct Live {
    key: Snapshot<Box<[u8]>>,
}

impl Live {
    /// Settings with this key; empty means that none is asked for.
    pub fn new(key: &[u8]) -> Self {
        Self { key: Snapshot::new(key.into()) }
    }

    /// Changes the key; every shard takes it up with its next batch.
    pub fn set_key(&self, key: &[u8]) {
        self.key.set(key.into());
    }
}

/// The pipeline behind one shard's sockets.
#[derive(Debug)]
pub struct HepSink<H> {
    rows: Rows,
    handover: H,
    limits: SealLimits,
    inflate_limit: usize,
    key: View<Box<[u8]>>,
    /// When the growing batch got its first row.
    since: i64,
    inflated: Vec<u8>,
    sampler: Sampler,
    /// When the envelope of the message that is measured was open.
    opened: u64,
}

impl<H: Handover> HepSink<H> {
    /// A sink that hands sealed batches to `handover`.
    pub fn new(
        handover: H,
        limits: SealLimits,
        options: RowOptions,
        inflate_limit: usize,
        live: &Live,
    ) -> Self {
        Self {
            rows: Rows::new(limits.rows.min(65_536), options),
            handover,
            limits,
            inflate_limit,
            key: live.key.view(),
            since: 0,
            inflated: Vec::new(),
            sampler: Sampler::default(),
            opened: 0,
        }
    }

    /// Seals what there is and hands it over.
    pub fn seal(&mut self, counters: &mut ShardCounters) {
        let stage = counters.meters.enter(Meter::HepSeal);
        let mut sealed = Vec::new();
        self.rows.seal(|batch| sealed.push(batch));
        hand_over(sealed, counters, Some((Meter::HepSeal, Meter::HepHeld)), &mut self.handover);
        counters.meters.enter(stage);
    }

    /// Opens one packet, and measures how long decoding and appending take.
    #[cold]
    fn open_measured(
        &mut self,
        bytes: &[u8],
        origin: &Origin,
        counters: &mut ShardCounters,
    ) -> Result<(), DropReason> {
        let began = cycles::now();
        self.opened = 0;
        self.rows.measure();
        let result = self.open(bytes, origin, counters);
        let ended = cycles::now();
        // A packet that is refused never gets as far as to be appended.
        let opened = if self.opened == 0 { ended } else { self.opened };
        let parsed = self.rows.measured();
        let appended = ended.saturating_sub(opened).saturating_sub(parsed);
        counters.meters.sample(ended.saturating_sub(began).saturating_sub(appended), appended);
        result
    }

    /// Opens one packet and makes its row, or says why not.
    #[inline]
    fn open(
        &mut self,
        bytes: &[u8],
        origin: &Origin,
        counters: &mut ShardCounters,
    ) -> Result<(), DropReason> {
        let mut packet = Hep::default();
        hep::open_into(bytes, &mut packet).map_err(|error| reason(error.what))?;
        let key = self.key.seen();
        let checked = !key.is_empty();
        if checked {
            let given = packet.auth_key.ok_or(DropReason::AuthMissing)?;
            if !hep::auth_ok(key, Some(given)) {
                return Err(DropReason::AuthWrong);
            }
        }
        let payload = match packet.payload {
            None => Payload::Missing,
            Some(payload) if !payload.compressed => Payload::Plain(payload.bytes),
            Some(payload) => match hep::inflate(payload.bytes, &mut self.inflated, self.inflate_limit) {
                Ok(()) => {
                    counters.add(Counter::PayloadsInflated, 1);
                    Payload::Plain(&self.inflated)
                }
                Err(error) => {
                    counters.add(Counter::NoticeNotInflated, 1);
                    Payload::Packed(payload.bytes, error.what.as_str())
                }
            },
        };
        let arrival = Arrival { received_ns: origin.received, peer: origin.peer.ip(), key_checked: checked };
        if self.rows.is_empty() {
            self.since = origin.received;
        }
        if self.rows.is_measured() {
            self.opened = cycles::now();
        }
        let appended = self.rows.append(&packet, payload, &arrival);
        note(counters, &appended, packet.notices);
        Ok(())
    }
}

impl<H: Handover> Sink for HepSink<H> {
    fn block(&mut self, block: &Shared) {
        self.rows.use_block(block);
    }

    #[inline]
    fn message(&mut self, bytes: &[u8], origin: &Origin, counters: &mut ShardCounters) {
        let opened = match self.sampler.is_due() {
            true => self.open_measured(bytes, origin, counters),
            false => self.open(bytes, origin, counters),
        };
        if let Err(reason) = opened {
            counters.drop(reason, 1);
        }
    }

    fn batch_end(&mut self, now: i64, counters: &mut ShardCounters) {
        self.key.look();
        self.rows.end_batch(now);
        // Without a row too: blocks that held nothing but refused packets must go back.
        let full = self.rows.len() >= self.limits.rows || self.rows.held_bytes() >= self.limits.bytes;
        let old = !self.rows.is_empty() && now.saturating_sub(self.since) >= self.limits.age_ns;
        if full || old {
            self.seal(counters);
        }
    }

    fn release(&mut self, counters: &mut ShardCounters) {
        self.rows.forget_block();
        self.seal(counters);
    }
}

fn reason(what: What) -> DropReason {
    match what {
        What::Empty | What::KeepAlive => DropReason::Empty,
        What::Truncated => DropReason::Truncated,
        What::BadLength => DropReason::BadLength,
        _ => DropReason::NotHep,
    }
}

/// Counts what a row is and what was odd about it.
#[inline]
fn note(counters: &mut ShardCounters, appended: &Appended, notices: Notices) {
    counters.add(if appended.sip { Counter::RowsSip } else { Counter::RowsHep }, 1);
    if appended.time != Some(TimeSource::Packet) {
        counters.add(Counter::NoticeTimeReplaced, 1);
    }
    if !notices.is_empty() {
        for (notice, counter) in [
            (Notices::TRAILING_BYTES, Counter::NoticeTrailingBytes),
            (Notices::BAD_CHUNK_SIZE, Counter::NoticeBadChunkSize),
            (Notices::DUPLICATE_CHUNK, Counter::NoticeDuplicateChunk),
        ] {
            if notices.contains(notice) {
                counters.add(counter, 1);
            }
        }
    }
    if appended.unparsed {
        counters.add(Counter::NoticeSipUnparsed, 1);
    } else if !appended.problems.is_empty() {
        if appended.problems.contains(decode::sip::Problems::NOT_UTF8) {
            counters.add(Counter::NoticeNotUtf8, 1);
        }
        if lake::rows::worth_telling(appended.problems) {
            counters.add(Counter::NoticeSipProblem, 1);
        }
    }
}
