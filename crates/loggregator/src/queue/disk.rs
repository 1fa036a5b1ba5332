//! The thread between a queue and its disk.
//!
//! It moves the oldest new batches to disk while more than half of the memory is taken, reads ahead up to an eighth of
//! the memory, and notes what was confirmed. Files are touched here and nowhere else, so that neither the reader nor the
//! event loop waits for a disk.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::{Held, Policy, Queue, cost};
use crate::batch::Batch;
use crate::counters::{Reason, Tally};
use crate::quiet::Quiet;
use crate::spool::{Appended, Position, Spool, Taken};

/// How often what was confirmed is noted when nothing else is to do.
const NOTE_EVERY: Duration = Duration::from_millis(200);

/// How many other things are done before what was confirmed is noted.
const NOTE_AFTER: u32 = 64;

/// The running thread.
#[derive(Debug)]
pub(crate) struct Disk {
    thread: JoinHandle<()>,
}

enum Job {
    Spill(Batch),
    Read,
    Note(Position),
    Stop { front: Vec<Batch>, back: Vec<Batch> },
}

impl Disk {
    /// Starts it. What waits on disk is counted as replayed.
    pub fn start(queue: Arc<Queue>, spool: Spool, name: &str) -> std::io::Result<Self> {
        let waiting = spool.waiting();
        {
            let mut inner = queue.lock();
            inner.counters.replayed = waiting;
            inner.counters.on_disk = waiting;
            inner.counters.spool_errors = spool.torn();
        }
        let worker = Worker { queue, spool, quiet: Quiet::default(), name: name.to_owned(), failing: false };
        let thread = thread::Builder::new().name(format!("spool-{name}")).spawn(move || worker.run())?;
        Ok(Self { thread })
    }

    /// Waits for its end, which follows [`Queue::close`] and the end of the sending task ([`Queue::stop_disk`]).
    pub fn join(self) {
        let _ = self.thread.join();
    }
}

impl Queue {
    /// Nothing is sent any more: what is in memory goes to disk, and the thread ends.
    pub fn stop_disk(&self) {
        self.lock().stop_disk = true;
        self.disk.notify_one();
    }

    /// The next thing to do; waits for one.
    fn disk_job(&self, noted: Option<Position>, jobs: u32, failing: bool) -> Job {
        let mut inner = self.lock();
        let mut waited = false;
        loop {
            if inner.stop_disk {
                let inner = &mut *inner;
                let front = [&inner.flight, &inner.again, &inner.ahead];
                let front = front.into_iter().flatten().map(|held| held.batch.clone()).collect();
                let back = inner.new.iter().map(|held| held.batch.clone()).collect();
                return Job::Stop { front, back };
            }
            // After a failure the disk is left alone for a moment.
            if !failing || waited {
                let to_note = inner.confirmed.filter(|_| inner.confirmed != noted);
                if let Some(position) = to_note.filter(|_| jobs >= NOTE_AFTER) {
                    return Job::Note(position);
                }
                let room = self.limit / 8;
                if inner.counters.on_disk.batches > 0 && inner.ahead_cost < room {
                    return Job::Read;
                }
                if self.above_spill(&inner)
                    && !inner.full_disk
                    && let Some(oldest) = inner.new.pop_front()
                {
                    inner.spilling = true;
                    return Job::Spill(oldest.batch);
                }
                if let Some(position) = to_note.filter(|_| waited) {
                    return Job::Note(position);
                }
            }
            inner = self.wait_for_disk_work(inner, NOTE_EVERY);
            waited = true;
        }
    }

    /// A batch that was to go to disk is there, or stays in memory.
    fn spilled(&self, batch: Batch, on_disk: bool) {
        let mut inner = self.lock();
        inner.spilling = false;
        let held = Held { batch, origin: None, written: false };
        if on_disk {
            inner.leave(&held);
            inner.counters.on_disk.add(held.batch.envelopes(), held.batch.bytes());
        } else {
            inner.new.push_front(held);
        }
        drop(inner);
        self.room.notify_one();
        self.room_for_threads.notify_all();
        self.ready.notify_one();
    }

    fn read_ahead(&self, batch: Batch, position: Position) {
        let mut inner = self.lock();
        let cost = cost(&batch);
        inner.cost = inner.cost.saturating_add(cost);
        inner.ahead_cost = inner.ahead_cost.saturating_add(cost);
        inner.counters.on_disk.remove(batch.envelopes(), batch.bytes());
        inner.counters.held.add(batch.envelopes(), batch.bytes());
        inner.ahead.push_back(Held { batch, origin: Some(position), written: false });
        inner.full_disk = false;
        drop(inner);
        self.ready.notify_one();
    }

    fn lost_on_disk(&self, lost: Tally, reason: Reason) {
        let mut inner = self.lock();
        let on_disk = &mut inner.counters.on_disk;
        on_disk.envelopes = on_disk.envelopes.saturating_sub(lost.envelopes);
        on_disk.batches = on_disk.batches.saturating_sub(lost.batches);
        on_disk.bytes = on_disk.bytes.saturating_sub(lost.bytes);
        inner.counters.drop(reason, lost.envelopes);
        drop(inner);
        self.ready.notify_one();
    }
}

struct Worker {
    queue: Arc<Queue>,
    spool: Spool,
    quiet: Quiet,
    name: String,
    failing: bool,
}

impl Worker {
    fn run(mut self) {
        let (mut noted, mut jobs) = (None, 0u32);
        loop {
            jobs = jobs.saturating_add(1);
            let done = match self.queue.disk_job(noted, jobs, self.failing) {
                Job::Spill(batch) => self.spill(batch),
                Job::Read => self.read(),
                Job::Note(position) => {
                    (noted, jobs) = (Some(position), 0);
                    self.queue.lock().full_disk = false;
                    self.spool.confirmed(position)
                }
                Job::Stop { front, back } => return self.stop(&front, &back),
            };
            self.failing = done.is_err();
            if let Err(error) = done {
                self.report(&error);
            }
        }
    }

    fn spill(&mut self, batch: Batch) -> std::io::Result<()> {
        let mut appended = self.spool.append(&batch);
        if matches!(appended, Ok(Appended::Full)) && self.queue.policy == Policy::DropOldest {
            match self.spool.drop_oldest() {
                Ok(lost) => {
                    self.queue.lost_on_disk(lost, Reason::QueueFull);
                    appended = self.spool.append(&batch);
                }
                Err(error) => appended = Err(error),
            }
        }
        let full = matches!(appended, Ok(Appended::Full));
        self.queue.lock().full_disk = full;
        self.queue.spilled(batch, matches!(appended, Ok(Appended::Yes)));
        appended.map(|_| ())
    }

    fn read(&mut self) -> std::io::Result<()> {
        match self.spool.read()? {
            Taken::Batch(batch, position) => self.queue.read_ahead(batch, position),
            Taken::Lost(lost) => {
                self.queue.lock().counters.spool_errors += 1;
                self.queue.lost_on_disk(lost, Reason::Damaged);
            }
            Taken::Empty => {
                // The books of the queue and of the spool agree, so this is not reached; if it were, nothing would move.
                let on_disk = self.queue.lock().counters.on_disk;
                self.queue.lost_on_disk(on_disk, Reason::Damaged);
            }
        }
        Ok(())
    }

    fn stop(mut self, front: &[Batch], back: &[Batch]) {
        match self.spool.close(front, back) {
            Ok(left) => self.queue.moved_to_disk(left, self.spool.waiting()),
            Err(error) => self.report(&error),
        }
    }

    fn report(&mut self, error: &std::io::Error) {
        self.queue.lock().counters.spool_errors += 1;
        if let Some(more) = self.quiet.permit() {
            tracing::warn!(destination = self.name, %error, more, "the spool on disk cannot be used");
        }
    }
}

impl Queue {
    /// All that was in memory is on disk, but for `left`, which had no room.
    fn moved_to_disk(&self, left: Tally, on_disk: Tally) {
        let mut inner = self.lock();
        let inner = &mut *inner;
        for place in [&mut inner.flight, &mut inner.again, &mut inner.ahead, &mut inner.new] {
            place.clear();
        }
        inner.counters.drop(Reason::Stopping, left.envelopes);
        inner.counters.held = Tally::default();
        inner.counters.in_flight = Tally::default();
        inner.counters.on_disk = on_disk;
        (inner.cost, inner.flight_cost, inner.ahead_cost) = (0, 0, 0);
    }
}
