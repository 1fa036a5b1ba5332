//! Capture in a running server: rings, taps and threads, and the rows they make.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ::capture::filter::Program;
use ::capture::live::{Live, LiveOptions, State};
use anyhow::{Context, Result, anyhow};
use config::Plan;
use correlate::Roundtrip;
use flow::{End, Flow};
use lake::Lake;
use lake::rows::CaptureRows;
use mem::cycles;
use model::{Dir, Frame, Nanos};
use stats::meter::Sampler;
use stats::{Board, Counter, Meter, ShardCounters};
use tap::live::Flows;
use tap::media::Calls;
use tap::{About, Options, Page, Row, Sink, SourceTotals, Tap};

use super::packets::PacketStore;
use super::sink::hand_over;
use crate::commands::rules_of;

/// How long one look at the ring may wait: also how late the end is heard.
const LOOK: Duration = Duration::from_millis(50);

/// Bytes of text after which a batch is sealed.
const SEAL_BYTES: usize = 8 << 20;

/// The figures of each capture thread, as of its last look at the ring.
#[derive(Debug, Clone, Default)]
pub struct Pages(Arc<Mutex<Vec<Page>>>);

impl Pages {
    /// The books of all of them; `None` when nothing is captured.
    pub fn ledger(&self) -> Option<tap::Ledger> {
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (!pages.is_empty()).then(|| tap::Ledger::new(pages.iter()))
    }

    fn put(&self, at: usize, page: Page) {
        if let Some(place) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(at) {
            *place = page;
        }
    }
}

/// Open flows that each capture thread shows to others.
const SHOWN_FLOWS: u32 = 65_536;

/// Capture at work.
#[derive(Debug)]
pub struct Capture {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Result<()>>>,
    flows: Vec<Flows>,
}

impl Capture {
    /// Opens the rings of the plan. Call before privileges are given up.
    ///
    /// # Errors
    /// What is missing, and how to get it.
    pub fn open(plan: &Plan) -> Result<Vec<Live>> {
        let capture = &plan.capture;
        let filter = match capture.filter.as_str() {
            "" => None,
            text => Some(Program::compile(text).context("capture.filter cannot be understood")?),
        };
        let any = capture.interfaces.iter().any(|name| name == "any");
        let options = LiveOptions {
            interfaces: if any { Vec::new() } else { capture.interfaces.clone() },
            promiscuous: capture.promiscuous,
            ring_bytes: capture.ring_mib << 20,
            filter: filter.as_ref(),
            snaplen: u32::try_from(capture.snaplen).unwrap_or(u32::MAX),
            ..LiveOptions::default()
        };
        Ok(Live::open_group(&options, capture.shards.max(1))?)
    }

    /// Starts one thread per ring; rows go to `lake`, figures to `board` and `pages`; media are named by `calls`.
    ///
    /// # Errors
    /// When a rule cannot be read or the packet store cannot be made.
    pub fn start(
        plan: &Plan,
        lives: Vec<Live>,
        lake: &Arc<Lake>,
        board: &Board,
        pages: &Pages,
        calls: &Calls,
    ) -> Result<Self> {
        let options = options(plan)?;
        let stop = Arc::new(AtomicBool::new(false));
        *pages.0.lock().unwrap_or_else(PoisonError::into_inner) = vec![Page::default(); lives.len()];
        let share = lives.len().max(1);
        let mut threads = Vec::new();
        let mut flows = Vec::new();
        for (number, live) in lives.into_iter().enumerate() {
            let sink = StoreSink::new(plan, lake, board.capture());
            let packets = match plan.capture.packets_dir.as_os_str() {
                dir if dir.is_empty() => None,
                dir => Some(PacketStore::open(
                    dir.as_ref(),
                    number,
                    (plan.capture.packets_mib as u64) << 20,
                    share,
                )?),
            };
            let mut tap = Tap::new(options.clone(), sink);
            tap.share_calls(calls);
            flows.push(tap.show_flows(options.flows.flows.min(SHOWN_FLOWS) as usize));
            let worker = Worker {
                number,
                live,
                tap,
                sampler: Sampler::default(),
                packets,
                pages: pages.clone(),
                stop: Arc::clone(&stop),
            };
            let thread = std::thread::Builder::new()
                .name(format!("capture-{number}"))
                .spawn(move || worker.run())
                .context("a capture thread could not be started")?;
            threads.push(thread);
        }
        Ok(Self { stop, threads, flows })
    }

    /// The flows that are open now, of all threads.
    pub fn flows(&self) -> &[Flows] {
        &self.flows
    }

    /// Takes what is in the rings, ends every flow and hands the last rows over.
    ///
    /// # Errors
    /// Why a thread ended before it was asked to.
    pub fn stop(self) -> Result<()> {
        self.stop.store(true, Ordering::Release);
        let mut result = Ok(());
        for thread in self.threads {
            let ended = thread.join().unwrap_or_else(|_| Err(anyhow!("a capture thread panicked")));
            result = result.and(ended);
        }
        result
    }

    /// Whether a thread ended by itself, which it never should.
    pub fn has_failed(&self) -> bool {
        !self.stop.load(Ordering::Acquire) && self.threads.iter().any(JoinHandle::is_finished)
    }
}

fn options(plan: &Plan) -> Result<Options> {
    let capture = &plan.capture;
    let flows = flow::Limits {
        flows: u32::try_from(capture.flows).unwrap_or(u32::MAX),
        held_bytes: capture.held_mib << 20,
        lane_bytes: (capture.held_mib << 20) / 2,
        ..flow::Limits::default()
    };
    let timeout = Duration::from_secs(capture.answer_timeout_s).as_nanos();
    Ok(Options {
        rules: rules_of(&capture.rules, &capture.decode_as, capture.only_rules)?,
        flows,
        kept: decode::Limits {
            text: capture.text_bytes,
            body: capture.body_bytes,
            show_secrets: capture.show_secrets,
            ..decode::Limits::default()
        },
        answer_timeout_ns: i64::try_from(timeout).unwrap_or(i64::MAX),
        seed: seed(),
    })
}

/// A seed that who sends packets cannot know.
fn seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id())
}

/// One thread and all it owns.
struct Worker {
    number: usize,
    live: Live,
    tap: Tap<StoreSink>,
    sampler: Sampler,
    packets: Option<PacketStore>,
    pages: Pages,
    stop: Arc<AtomicBool>,
}

impl Worker {
    fn run(mut self) -> Result<()> {
        let mut ended = Ok(());
        while ended.is_ok() && !self.stop.load(Ordering::Acquire) {
            ended = self.look(LOOK);
        }
        if ended.is_ok() {
            ended = self.look(Duration::ZERO);
        }
        self.tap.finish();
        self.tap.sink().seal();
        self.publish();
        if let Some(packets) = self.packets.take() {
            packets.close();
        }
        ended.context("capture had to stop")
    }

    fn look(&mut self, wait: Duration) -> Result<()> {
        let Self { live, tap, packets, sampler, .. } = self;
        // Waiting for frames and working on them happen within one call; the first frame ends the wait.
        let mut frames = 0;
        live.poll(wait, &mut |frame| {
            if frames == 0 {
                tap.sink().counters.meters.enter(Meter::CaptureDecode);
            }
            frames += 1;
            if let Some(packets) = packets {
                packets.add(&frame);
            }
            if sampler.is_due() {
                measured(tap, &frame);
            } else {
                tap.frame(&frame);
            }
        })?;
        let meters = &mut tap.sink().counters.meters;
        meters.enter(Meter::CaptureDecode);
        if frames > 0 {
            meters.batch(Meter::CaptureDecode, frames);
            meters.batch(Meter::CaptureAppend, frames);
        }
        live.changes(&mut |name, state| match state {
            State::Up => tracing::info!("capture: {name} is up again"),
            State::Down => tracing::warn!("capture: {name} is down; it goes on when it is up again"),
            State::Gone => {
                tracing::warn!("capture: {name} is gone; it goes on when one of that name is there")
            }
        });
        tap.tick(now());
        tap.sink().seal_when_due();
        if let Some(packets) = packets {
            packets.flush();
        }
        self.publish();
        Ok(())
    }

    fn publish(&mut self) {
        let drops = self.live.drops();
        let source = SourceTotals { drops: drops.kernel, filtered: 0, unknown_link: drops.unsupported };
        let rows = self.tap.sink().made;
        let counters = &mut self.tap.sink().counters;
        counters.meters.enter(Meter::CaptureWait);
        counters.publish();
        self.pages.put(self.number, self.tap.page(source, rows));
    }
}

/// Takes one frame, and measures how long decoding and appending take.
#[cold]
fn measured(tap: &mut Tap<StoreSink>, frame: &Frame<'_>) {
    let (began, seals) = (cycles::now(), tap.sink().seals);
    tap.sink().appending = Some(0);
    tap.frame(frame);
    let took = cycles::now().saturating_sub(began);
    let sink = tap.sink();
    let appending = sink.appending.take().unwrap_or(0);
    // Sealing is a stage of its own.
    if sink.seals == seals {
        sink.counters.meters.sample(took.saturating_sub(appending), appending);
    }
}

/// Rows on their way to the lake.
#[derive(Debug)]
struct StoreSink {
    rows: CaptureRows,
    lake: Arc<Lake>,
    counters: ShardCounters,
    seal_rows: usize,
    seal_after: Duration,
    since: Option<Instant>,
    silent_flows: bool,
    made: u64,
    seals: u64,
    /// Cycles that appending took, while that is measured.
    appending: Option<u64>,
}

impl StoreSink {
    fn new(plan: &Plan, lake: &Arc<Lake>, counters: ShardCounters) -> Self {
        let seal_rows = plan.lake.seal_rows.min(65_536);
        Self {
            rows: CaptureRows::new(seal_rows),
            lake: Arc::clone(lake),
            counters,
            seal_rows,
            seal_after: Duration::from_millis(plan.lake.seal_ms),
            since: None,
            silent_flows: plan.capture.silent_flows,
            made: 0,
            seals: 0,
            appending: None,
        }
    }

    /// Appends to the columns.
    fn append(&mut self, how: impl FnOnce(&mut CaptureRows)) {
        let began = self.appending.map(|_| cycles::now());
        how(&mut self.rows);
        if let (Some(spent), Some(began)) = (&mut self.appending, began) {
            *spent += cycles::now().saturating_sub(began);
        }
    }

    fn add(&mut self, counter: Counter, row: &Row<'_>) {
        self.append(|rows| rows.append(row));
        self.made_one(counter);
    }

    /// Counts a row and seals when the batch is full.
    fn made_one(&mut self, counter: Counter) {
        self.counters.add(counter, 1);
        self.since.get_or_insert_with(Instant::now);
        if self.rows.len() >= self.seal_rows || self.rows.text_bytes() >= SEAL_BYTES {
            self.seal();
        }
    }

    fn seal_when_due(&mut self) {
        if self.since.is_some_and(|since| since.elapsed() >= self.seal_after) {
            self.seal();
        }
    }

    fn seal(&mut self) {
        self.since = None;
        self.seals += 1;
        let stage = self.counters.meters.enter(Meter::CaptureSeal);
        let mut sealed = Vec::new();
        self.rows.seal(|batch| sealed.push(batch));
        hand_over(sealed, &mut self.counters, Some((Meter::CaptureSeal, Meter::CaptureHeld)), &mut self.lake);
        self.counters.meters.enter(stage);
    }
}

impl Sink for StoreSink {
    fn roundtrip(&mut self, flow: &Flow, about: &About, roundtrip: &Roundtrip) {
        self.made += 1;
        self.add(Counter::RowsRoundtrips, &Row::Roundtrip(flow, about, roundtrip));
    }

    fn sip(&mut self, flow: &Flow, dir: Dir, time: Nanos, message: &[u8]) {
        self.append(|rows| rows.append_sip(flow, dir, time, message));
        self.made_one(Counter::RowsCapturedSip);
    }

    fn flow(&mut self, flow: &Flow, about: &About, end: End) {
        if self.silent_flows || about.opaque != Some("silent") {
            self.add(Counter::RowsFlows, &Row::Flow(flow, about, end));
        }
    }
}

/// The time of the machine's clock, for what is overdue.
pub fn now() -> Nanos {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Nanos(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}
