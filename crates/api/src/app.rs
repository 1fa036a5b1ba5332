//! What the routes share.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use lake::Engine;
use serde::Serialize;
use serde_json::Value;
use stats::bottleneck::Report;
use stats::prometheus::Gauge;
use stats::rate::Window;
use stats::{Board, Ledger, StoreTotals, Totals};
use tokio::sync::Semaphore;

/// Queries that run at the same time; more wait.
pub const QUERIES_AT_ONCE: usize = 4;

/// One thing that lifts a limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remedy {
    /// What it does.
    pub what: String,
    /// The command; `None` where none can do it.
    pub command: Option<String>,
}

/// Where the program's time goes, and what is its limit.
#[derive(Debug, Clone, Serialize)]
pub struct Bottleneck {
    /// Over the last seconds.
    #[serde(flatten)]
    pub recent: Report,
    /// What lifts its limit, best first; empty where no limit was reached.
    pub remedies: Vec<Remedy>,
    /// Since the start of the program.
    pub since_start: Report,
}

/// Figures that only the program itself can measure.
pub trait Probe: Send + Sync {
    /// Gauges for the metrics page.
    fn gauges(&self) -> Vec<Gauge>;
    /// The books of capture; `None` where nothing is captured.
    fn capture(&self) -> Option<tap::Ledger>;
    /// The books of Loggregator; `None` where it is neither taken nor sent.
    fn loggregator(&self) -> Option<loggregator::Ledger>;
    /// Where its time goes.
    fn bottleneck(&self) -> Bottleneck;
    /// The open flows that carried most bytes, most first; none where nothing is captured.
    fn live_flows(&self, limit: usize) -> Vec<tap::live::Now>;
    /// Why the program is not at its best, in sentences; empty when it is.
    fn complaints(&self) -> Vec<String>;
}

/// The state of a running program, as the routes see it.
pub struct App {
    /// The SQL engine.
    pub engine: Arc<Engine>,
    /// The shards' counters.
    pub board: Board,
    /// The program's own measurements.
    pub probe: Box<dyn Probe>,
    /// The most rows that `/api/sql` returns.
    pub sql_rows: AtomicUsize,
    /// Whether the API listens beyond this machine.
    pub exposed: bool,
    pub(crate) queries: Semaphore,
    pub(crate) started: SystemTime,
    token: RwLock<Option<String>>,
    window: Mutex<Window>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("started", &self.started).finish_non_exhaustive()
    }
}

impl App {
    /// State over an engine and the shards' counters. With a `token`, every request must carry it.
    pub fn new(
        engine: Arc<Engine>,
        board: Board,
        probe: Box<dyn Probe>,
        sql_rows: usize,
        token: Option<String>,
        exposed: bool,
    ) -> Self {
        Self {
            engine,
            board,
            probe,
            sql_rows: AtomicUsize::new(sql_rows),
            exposed,
            queries: Semaphore::new(QUERIES_AT_ONCE),
            started: SystemTime::now(),
            token: RwLock::new(token),
            window: Mutex::default(),
        }
    }

    /// Changes the token that requests must carry.
    pub fn set_token(&self, token: Option<String>) {
        *self.token.write().unwrap_or_else(PoisonError::into_inner) = token;
    }

    pub(crate) fn token(&self) -> Option<String> {
        self.token.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How long the program has run.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed().unwrap_or_default()
    }

    /// The store's books, then the shards' counters: in this order, so that rows on their way are never
    /// negative.
    pub fn figures(&self) -> (StoreTotals, Totals) {
        let mut store = StoreTotals::default();
        for (_, books) in self.engine.lake().books() {
            store.accepted += books.accepted;
            store.durable += books.durable;
            store.hot += books.hot;
            store.dropped += books.dropped;
        }
        (store, self.board.totals())
    }

    /// The books now.
    pub fn ledger(&self) -> Ledger {
        let (store, shards) = self.figures();
        Ledger::new(store, &shards)
    }

    /// All books at once: those of capture and of Loggregator beside those of HEP, balanced when all of them are.
    pub fn books(&self) -> Value {
        let (capture, loggregator) = (self.probe.capture(), self.probe.loggregator());
        let ledger = self.ledger();
        let balanced = ledger.balanced
            && capture.as_ref().is_none_or(|books| books.balanced)
            && loggregator.as_ref().is_none_or(|books| books.balanced);
        let mut books = serde_json::to_value(ledger).unwrap_or_default();
        books["balanced"] = Value::Bool(balanced);
        if let Some(capture) = capture {
            books["capture"] = serde_json::to_value(capture).unwrap_or_default();
        }
        if let Some(loggregator) = loggregator {
            books["loggregator"] = serde_json::to_value(loggregator).unwrap_or_default();
        }
        books
    }

    /// Notes what happened in the second that ends now. Call once a second.
    pub fn tick(&self) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_secs()).unwrap_or(0);
        self.window.lock().unwrap_or_else(PoisonError::into_inner).push(now, &self.board.totals());
    }

    pub(crate) fn points(&self) -> Vec<stats::rate::Point> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner).points()
    }
}
