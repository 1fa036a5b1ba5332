//! The writer: hot batches in, committed Parquet files out.
//!
//! In: sealed batches from the shards, by [`Lake::append`]. Out: files under the Delta log of each
//! table. Owned: the folder (under a lock file), the writer threads, the logs. Bounded by:
//! [`FlushLimits`]; memory is bounded by the pools the batches' blocks come from, which stay empty until
//! the files are written. Lost: rows that cannot be written before the end, counted as `store_failed`.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use model::table::{TABLES, Table};
use stats::meter::{Crew, Meter, MeterBoard, adopt, during};

use crate::error::LakeError;
use crate::file::{self, FileOptions, FileWriter};
use crate::hot::{Books, FlushLimits, HotBatch, HotSet, TableView};
use crate::log::{Kernel, Log};

/// How a lake is written.
#[derive(Debug, Clone)]
pub struct LakeOptions {
    /// When batches become files.
    pub flush: FlushLimits,
    /// How files are written.
    pub file: FileOptions,
    /// Threads that write files.
    pub writers: usize,
    /// The most memory that rows waiting to be written may keep in use; beyond it [`Lake::append`] waits.
    pub hot_limit_bytes: usize,
    /// How long closing tries to write what the disk refuses.
    pub close_timeout: Duration,
}

/// Pause between looks at the memory in use while an append waits.
const LIMIT_PAUSE: Duration = Duration::from_millis(1);
/// Pause after a failed write before the next try.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

#[derive(Debug)]
struct OpenTable {
    table: &'static Table,
    folder: PathBuf,
    hot: HotSet,
    log: Mutex<Log>,
}

#[derive(Debug)]
struct Shared {
    tables: Vec<OpenTable>,
    options: LakeOptions,
    /// Set by `flush` and `close`: write whatever waits.
    everything: AtomicBool,
    closing: AtomicBool,
    unlimited: AtomicBool,
    give_up_at: Mutex<Option<Instant>>,
    wake: (Mutex<()>, Condvar),
    failure: Mutex<Option<String>>,
    meters: MeterBoard,
}

/// Rows that are not in files yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Sealed batches, those that are being written among them.
    pub batches: u64,
    /// Memory that they keep in use.
    pub bytes: u64,
    /// The most that they may keep before [`Lake::append`] waits.
    pub limit_bytes: u64,
}

/// A lake that is open for writing and reading.
#[derive(Debug)]
pub struct Lake {
    root: PathBuf,
    shared: Arc<Shared>,
    writers: Mutex<Vec<JoinHandle<()>>>,
    /// Holds the lock until the lake is dropped.
    _lock: Option<File>,
    _runtime: tokio::runtime::Runtime,
}

impl Lake {
    /// Opens the lake in `root` for writing, making it when there is none.
    ///
    /// # Errors
    /// [`LakeError::InUse`] when another process writes it; otherwise what the disk or the log says.
    pub fn open(root: &Path, options: LakeOptions) -> Result<Arc<Self>, LakeError> {
        std::fs::create_dir_all(root).map_err(LakeError::io(root))?;
        let lock = lock(root)?;
        Self::start(root, options, Some(lock))
    }

    /// Opens the lake in `root` for reading, beside whoever writes it.
    ///
    /// # Errors
    /// [`LakeError::Missing`] when there is no lake.
    pub fn read_only(root: &Path, options: LakeOptions) -> Result<Arc<Self>, LakeError> {
        if !TABLES.iter().any(|table| root.join(table.name).join("_delta_log").is_dir()) {
            return Err(LakeError::Missing { path: root.to_path_buf() });
        }
        Self::start(root, LakeOptions { writers: 0, ..options }, None)
    }

    fn start(root: &Path, options: LakeOptions, lock: Option<File>) -> Result<Arc<Self>, LakeError> {
        let root = root.canonicalize().map_err(LakeError::io(root))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("delta-log")
            .enable_all()
            .build()
            .map_err(LakeError::io(&root))?;
        let mut tables = Vec::new();
        for table in TABLES {
            let folder = root.join(table.name);
            let kernel = Kernel::local(&root, runtime.handle()).map_err(LakeError::delta(table.name))?;
            let log = match Log::open(table, &folder, &kernel, lock.is_some()) {
                Ok(log) => log,
                // A table that was never written reads as empty.
                Err(LakeError::Missing { .. }) => continue,
                Err(error) => return Err(error),
            };
            let hot = HotSet::new(log.files()?);
            tables.push(OpenTable { table, folder, hot, log: Mutex::new(log) });
        }
        let shared = Arc::new(Shared {
            tables,
            options,
            everything: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            unlimited: AtomicBool::new(false),
            give_up_at: Mutex::new(None),
            wake: (Mutex::new(()), Condvar::new()),
            failure: Mutex::new(None),
            meters: MeterBoard::default(),
        });
        let writers = (0..shared.options.writers)
            .map(|number| {
                let shared = Arc::clone(&shared);
                let meters = shared.meters.thread(Crew::Writers);
                std::thread::Builder::new()
                    .name(format!("writer-{number}"))
                    .spawn(move || {
                        adopt(meters);
                        shared.write_loop();
                    })
                    .map_err(LakeError::io(&root))
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(Self { root, shared, writers: Mutex::new(writers), _lock: lock, _runtime: runtime }))
    }

    /// The lake's folder, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Takes a sealed batch in. It can be queried at once and is written as [`FlushLimits`] say.
    ///
    /// Waits while rows in memory keep more than their limit in use: whoever appends stops reading, and
    /// its senders feel it. Once the lake is told to [stop waiting](Self::stop_waiting), it takes what
    /// comes.
    pub fn append(&self, table: &'static Table, rows: RecordBatch, held_bytes: usize) {
        let Some(open) = self.shared.tables.iter().find(|open| std::ptr::eq(open.table, table)) else {
            return;
        };
        open.hot.append(rows, held_bytes);
        self.shared.wake.1.notify_one();
        while self.shared.hot_bytes() > self.shared.options.hot_limit_bytes as u64
            && !self.shared.unlimited.load(Ordering::Acquire)
        {
            std::thread::sleep(LIMIT_PAUSE);
        }
    }

    /// From now on no append waits: call it before those who append are asked to end.
    pub fn stop_waiting(&self) {
        self.shared.unlimited.store(true, Ordering::Release);
    }

    /// What a query sees of a table now; empty for a table that was never written.
    pub fn view(&self, table: &'static Table) -> TableView {
        let open = self.shared.tables.iter().find(|open| std::ptr::eq(open.table, table));
        open.map_or_else(|| HotSet::default().view(), |open| open.hot.view())
    }

    /// The books of each table.
    pub fn books(&self) -> Vec<(&'static Table, Books)> {
        self.shared.tables.iter().map(|open| (open.table, open.hot.books())).collect()
    }

    /// Where the time of the threads that write files goes.
    pub fn meters(&self) -> &MeterBoard {
        &self.shared.meters
    }

    /// What waits to be written.
    pub fn backlog(&self) -> Backlog {
        let limit_bytes = self.shared.options.hot_limit_bytes as u64;
        self.shared.tables.iter().fold(Backlog { limit_bytes, ..Backlog::default() }, |sum, open| Backlog {
            batches: sum.batches + open.hot.batches(),
            bytes: sum.bytes + open.hot.books().hot_bytes,
            ..sum
        })
    }

    /// Why files cannot be written at present, if so.
    pub fn failure(&self) -> Option<String> {
        self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the writers to write everything that waits, without waiting for the limits or for the end.
    pub fn flush(&self) {
        self.shared.everything.store(true, Ordering::Release);
        self.shared.wake.1.notify_all();
    }

    /// Writes everything and stops the writers. Returns the rows that could not be written.
    pub fn close(&self) -> u64 {
        *self.shared.give_up_at.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Instant::now() + self.shared.options.close_timeout);
        self.shared.closing.store(true, Ordering::Release);
        self.flush();
        let writers = std::mem::take(&mut *self.writers.lock().unwrap_or_else(PoisonError::into_inner));
        for writer in writers {
            let _ = writer.join();
        }
        self.shared.tables.iter().map(|open| open.hot.books().dropped).sum()
    }
}

impl Shared {
    fn hot_bytes(&self) -> u64 {
        self.tables.iter().map(|open| open.hot.books().hot_bytes).sum()
    }

    fn write_loop(&self) {
        let mut writer = FileWriter::new(self.options.file);
        loop {
            let closing = self.closing.load(Ordering::Acquire);
            let everything = closing || self.everything.swap(false, Ordering::AcqRel);
            let mut worked = false;
            for open in &self.tables {
                let claimed = open.hot.claim(&self.options.flush, everything);
                if !claimed.is_empty() {
                    worked = true;
                    self.write_until_done(&mut writer, open, &claimed);
                }
            }
            if worked {
                continue;
            }
            if closing {
                return;
            }
            self.wait();
        }
    }

    /// Sleeps until a batch arrives or one is due by age.
    fn wait(&self) {
        let age = self.options.flush.age;
        let due = self.tables.iter().filter_map(|open| open.hot.due_in(age)).min();
        let pause =
            due.unwrap_or(Duration::from_secs(1)).clamp(Duration::from_millis(5), Duration::from_secs(1));
        let guard = self.wake.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.everything.load(Ordering::Acquire) && !self.closing.load(Ordering::Acquire) {
            let _ = self.wake.1.wait_timeout(guard, pause);
        }
    }

    /// Writes claimed batches, trying again while the disk refuses; gives up only when closing.
    fn write_until_done(&self, writer: &mut FileWriter, open: &OpenTable, claimed: &[Arc<HotBatch>]) {
        loop {
            match self.write(writer, open, claimed) {
                Ok(()) => {
                    let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
                    if failure.is_some() {
                        tracing::info!("files can be written again");
                    }
                    return;
                }
                Err(error) => self.note_failure(&error),
            }
            let give_up = *self.give_up_at.lock().unwrap_or_else(PoisonError::into_inner);
            if give_up.is_some_and(|at| Instant::now() >= at) {
                let rows = open.hot.abandon(claimed);
                tracing::error!(table = open.table.name, rows, "rows could not be written and are lost");
                return;
            }
            during(Meter::StoreRetry, 1, || std::thread::sleep(RETRY_PAUSE));
        }
    }

    fn note_failure(&self, error: &LakeError) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        // Each try has a file name of its own, so only what lies beneath tells whether this is news.
        let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        if !failure.as_ref().is_some_and(|known| known.ends_with(&cause)) {
            tracing::error!(%error, "files cannot be written; trying again until they can");
        }
        *failure = Some(error.to_string());
    }

    fn write(
        &self,
        writer: &mut FileWriter,
        open: &OpenTable,
        claimed: &[Arc<HotBatch>],
    ) -> Result<(), LakeError> {
        let rows: Vec<&RecordBatch> = claimed.iter().map(|batch| &batch.rows).collect();
        let count = rows.iter().map(|batch| batch.num_rows() as u64).sum();
        let files = during(Meter::StoreEncode, count, || writer.write(open.table, &open.folder, &rows))?;
        during(Meter::StoreCommit, files.len() as u64, || {
            let mut log = open.log.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = log.append(&files) {
                file::remove(&files);
                return Err(error);
            }
            // Still under the log's lock, so that files appear in the order of their commits.
            open.hot.commit(claimed, &files);
            Ok(())
        })
    }
}

/// One writer per folder.
fn lock(root: &Path) -> Result<File, LakeError> {
    let path = root.join("wirelake.lock");
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(LakeError::io(&path))?;
    if file.try_lock().is_err() {
        let mut pid = String::new();
        let _ = file.read_to_string(&mut pid);
        let pid = if pid.trim().is_empty() { "?".to_owned() } else { pid.trim().to_owned() };
        return Err(LakeError::InUse { path: root.to_path_buf(), pid });
    }
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| writeln!(file, "{}", std::process::id()))
        .map_err(LakeError::io(&path))?;
    Ok(file)
}
