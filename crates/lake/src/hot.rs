//! The hot set of one table: sealed batches that can be queried but are not on the disk yet, and the
//! list of files that are. Both change under one lock, so a query sees each row exactly once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{RecordBatch, cast::AsArray};

use crate::file::LakeFile;

/// A sealed batch.
#[derive(Debug)]
pub struct HotBatch {
    id: u64,
    /// The rows.
    pub rows: RecordBatch,
    /// Memory that it keeps in use.
    pub held_bytes: usize,
    /// Time of its earliest row, microseconds.
    pub min_ts: i64,
    /// Time of its latest row, microseconds.
    pub max_ts: i64,
    sealed: Instant,
}

/// What a query sees of a table.
#[derive(Debug, Clone)]
pub struct TableView {
    /// Batches in memory.
    pub hot: Vec<Arc<HotBatch>>,
    /// Files on the disk.
    pub files: Arc<Vec<Arc<LakeFile>>>,
}

/// Rows by where they are. `accepted = durable + hot + dropped` at any time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Books {
    /// Rows handed over since the start.
    pub accepted: u64,
    /// Of those, rows in committed files.
    pub durable: u64,
    /// Of those, rows in memory only.
    pub hot: u64,
    /// Of those, rows lost because they could not be written before the end.
    pub dropped: u64,
    /// Files committed since the start.
    pub files_written: u64,
    /// Bytes of those files.
    pub bytes_written: u64,
    /// Memory held by the rows in memory.
    pub hot_bytes: u64,
}

/// When a flush is due.
#[derive(Debug, Clone, Copy)]
pub struct FlushLimits {
    /// Rows waiting.
    pub rows: usize,
    /// Memory held by rows waiting.
    pub bytes: usize,
    /// Age of the oldest row waiting.
    pub age: Duration,
}

#[derive(Debug, Default)]
struct State {
    next_id: u64,
    batches: VecDeque<Arc<HotBatch>>,
    /// Batches below this id are being written.
    claimed_below: u64,
    files: Arc<Vec<Arc<LakeFile>>>,
    books: Books,
}

/// The hot set and the file list of one table.
#[derive(Debug, Default)]
pub struct HotSet {
    state: Mutex<State>,
}

impl HotSet {
    /// A set over files that were there before.
    pub fn new(files: Vec<Arc<LakeFile>>) -> Self {
        Self { state: Mutex::new(State { files: Arc::new(files), ..State::default() }) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a sealed batch in; from now on queries see it.
    pub fn append(&self, rows: RecordBatch, held_bytes: usize) {
        let times = rows.column(0).as_primitive::<TimestampMicrosecondType>();
        let min_ts = times.values().iter().copied().min().unwrap_or(i64::MAX);
        let max_ts = times.values().iter().copied().max().unwrap_or(i64::MIN);
        let count = rows.num_rows() as u64;
        let sealed = Instant::now();
        let mut state = self.lock();
        let id = state.next_id;
        state.next_id += 1;
        state.books.accepted += count;
        state.books.hot += count;
        state.books.hot_bytes += held_bytes as u64;
        state.batches.push_back(Arc::new(HotBatch { id, rows, held_bytes, min_ts, max_ts, sealed }));
    }

    /// What a query sees now.
    pub fn view(&self) -> TableView {
        let state = self.lock();
        TableView { hot: state.batches.iter().cloned().collect(), files: Arc::clone(&state.files) }
    }

    /// Batches that are not in files yet.
    pub fn batches(&self) -> u64 {
        self.lock().batches.len() as u64
    }

    /// The books as of now.
    pub fn books(&self) -> Books {
        self.lock().books
    }

    /// Takes the batches that are due for writing, oldest first, or all that wait when `everything`.
    /// They stay visible until [`commit`](Self::commit).
    pub fn claim(&self, limits: &FlushLimits, everything: bool) -> Vec<Arc<HotBatch>> {
        let mut state = self.lock();
        let waiting: Vec<Arc<HotBatch>> =
            state.batches.iter().filter(|batch| batch.id >= state.claimed_below).cloned().collect();
        let (mut rows, mut bytes) = (0, 0);
        let mut full = None;
        for (at, batch) in waiting.iter().enumerate() {
            rows += batch.rows.num_rows();
            bytes += batch.held_bytes;
            if rows >= limits.rows || bytes >= limits.bytes {
                full = Some(at + 1);
                break;
            }
        }
        let old = waiting.first().is_some_and(|batch| batch.sealed.elapsed() >= limits.age);
        let take = match full {
            Some(take) => take,
            None if old || everything => waiting.len(),
            None => 0,
        };
        let claimed: Vec<_> = waiting.into_iter().take(take).collect();
        if let Some(last) = claimed.last() {
            state.claimed_below = last.id + 1;
        }
        claimed
    }

    /// How long until the oldest waiting batch is due by age, if one waits.
    pub fn due_in(&self, age: Duration) -> Option<Duration> {
        let state = self.lock();
        let first = state.batches.iter().find(|batch| batch.id >= state.claimed_below)?;
        Some(age.saturating_sub(first.sealed.elapsed()))
    }

    /// Replaces claimed batches by the files they were written to, in one step.
    pub fn commit(&self, batches: &[Arc<HotBatch>], files: &[Arc<LakeFile>]) {
        let mut state = self.lock();
        let (rows, held) = remove(&mut state, batches);
        state.books.durable += rows;
        state.books.hot -= rows;
        state.books.hot_bytes = state.books.hot_bytes.saturating_sub(held);
        state.books.files_written += files.len() as u64;
        state.books.bytes_written += files.iter().map(|file| file.bytes).sum::<u64>();
        Arc::make_mut(&mut state.files).extend(files.iter().cloned());
    }

    /// Gives up batches that cannot be written; their rows are counted as dropped.
    pub fn abandon(&self, batches: &[Arc<HotBatch>]) -> u64 {
        let mut state = self.lock();
        let (rows, held) = remove(&mut state, batches);
        state.books.dropped += rows;
        state.books.hot -= rows;
        state.books.hot_bytes = state.books.hot_bytes.saturating_sub(held);
        rows
    }
}

fn remove(state: &mut State, batches: &[Arc<HotBatch>]) -> (u64, u64) {
    let (mut rows, mut held) = (0, 0);
    state.batches.retain(|batch| {
        let gone = batches.iter().any(|other| other.id == batch.id);
        if gone {
            rows += batch.rows.num_rows() as u64;
            held += batch.held_bytes as u64;
        }
        !gone
    });
    (rows, held)
}
