//! What the routes share.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use lake::Engine;
use stats::prometheus::Gauge;
use stats::rate::Window;
use stats::{Board, Ledger, StoreTotals, Totals};
use tokio::sync::Semaphore;

/// Queries that run at the same time; more wait.
pub const QUERIES_AT_ONCE: usize = 4;

/// Figures that only the program itself can measure.
pub trait Probe: Send + Sync {
    /// Gauges for the metrics page.
    fn gauges(&self) -> Vec<Gauge>;
    /// The books of capture; `None` where nothing is captured.
    fn capture(&self) -> Option<tap::Ledger>;
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
