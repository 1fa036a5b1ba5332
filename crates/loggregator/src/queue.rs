//! The queue of one destination.
//!
//! A batch stands in one of five places, oldest first: *in flight* (written, not confirmed), *again* (was in flight when
//! a connection ended), *read ahead* (from disk), on disk, and *new*. Taking goes through them in this order, so order
//! holds over reconnections and over the disk.
//!
//! * In: batches from the reader. Out: the same to the one task that sends them.
//! * Bounded by: bytes in memory, with 128 for each batch; bytes on disk.
//! * Lost: by the policy, when both are full; counted. What was written once is not given up for newer ones.
//!
//! The lock is taken once per batch. Nothing is done under it but moving handles and counting.

mod disk;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::batch::Batch;
use crate::counters::{Cause, Counters, Reason};
use crate::spool::Position;

pub(crate) use disk::Disk;

/// What a batch costs beside its bytes.
const OVERHEAD: usize = 128;

/// What happens to a batch that finds the queue full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// The oldest that was not written yet makes room: for what is worth less with age.
    #[default]
    DropOldest,
    /// It is dropped itself.
    DropNewest,
    /// Whoever offers it waits: for sources that are acknowledged and can wait. Never for UDP.
    Block,
}

#[derive(Debug)]
struct Held {
    batch: Batch,
    /// Where its record on disk ends, if it comes from there.
    origin: Option<Position>,
    written: bool,
}

fn cost(batch: &Batch) -> usize {
    batch.bytes().saturating_add(OVERHEAD)
}

/// What became of a batch that the destination answered. What is in none of the two was sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub skipped: u32,
    pub dropped: Option<(Reason, u32)>,
}

/// How much may be in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Batches written and not confirmed.
    pub batches: usize,
    /// Bytes of them; one batch always may be.
    pub bytes: usize,
}

#[derive(Debug, Default)]
struct Inner {
    flight: VecDeque<Held>,
    again: VecDeque<Held>,
    ahead: VecDeque<Held>,
    new: VecDeque<Held>,
    /// Bytes and overhead of all that is in memory.
    cost: usize,
    flight_cost: usize,
    ahead_cost: usize,
    /// A batch is being written to disk, or some are there: `new` must wait.
    spilling: bool,
    /// The disk had no room; set back when some was read or confirmed.
    full_disk: bool,
    /// The thread of the disk must end.
    stop_disk: bool,
    /// The last place on disk up to which everything was confirmed.
    confirmed: Option<Position>,
    closed: bool,
    counters: Counters,
}

/// The queue; shared by those who offer, the task that sends, and the thread of the disk.
#[derive(Debug)]
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    limit: usize,
    policy: Policy,
    has_disk: bool,
    /// Something to take.
    ready: Notify,
    /// Room, for tasks and for threads.
    room: Notify,
    room_for_threads: Condvar,
    /// Work for the thread of the disk.
    disk: Condvar,
}

impl Queue {
    pub fn new(limit: usize, policy: Policy, has_disk: bool) -> Self {
        Self {
            inner: Mutex::default(),
            limit,
            policy,
            has_disk,
            ready: Notify::new(),
            room: Notify::new(),
            room_for_threads: Condvar::new(),
            disk: Condvar::new(),
        }
    }

    /// Puts a batch in, from a plain thread; waits for room under [`Policy::Block`].
    pub fn offer(&self, batch: Batch) {
        let mut inner = self.lock();
        while self.must_wait(&inner, &batch) {
            inner = self.room_for_threads.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
        self.put(inner, batch);
    }

    /// The same from a task.
    pub async fn offer_async(&self, batch: Batch) {
        let mut waited = false;
        loop {
            let room = self.room.notified();
            {
                let inner = self.lock();
                if !self.must_wait(&inner, &batch) {
                    self.put(inner, batch);
                    break;
                }
            }
            room.await;
            waited = true;
        }
        if waited {
            // The room may be enough for another one too.
            self.room.notify_one();
        }
    }

    fn must_wait(&self, inner: &Inner, batch: &Batch) -> bool {
        let cost = cost(batch);
        self.policy == Policy::Block
            && !inner.closed
            && cost <= self.limit
            && inner.cost.saturating_add(cost) > self.limit
    }

    fn put(&self, mut inner: MutexGuard<'_, Inner>, batch: Batch) {
        let (cost, envelopes) = (cost(&batch), batch.envelopes());
        inner.counters.queued.add(envelopes, batch.bytes());
        let reason = if inner.closed {
            Some(Reason::Stopping)
        } else if cost > self.limit {
            Some(Reason::TooLarge)
        } else {
            while self.policy == Policy::DropOldest
                && inner.cost.saturating_add(cost) > self.limit
                && let Some(oldest) = inner.new.pop_front()
            {
                inner.leave(&oldest);
                inner.counters.drop(Reason::QueueFull, u64::from(oldest.batch.envelopes()));
            }
            (inner.cost.saturating_add(cost) > self.limit).then_some(Reason::QueueFull)
        };
        if let Some(reason) = reason {
            inner.counters.drop(reason, u64::from(envelopes));
            return;
        }
        inner.cost = inner.cost.saturating_add(cost);
        inner.counters.held.add(envelopes, batch.bytes());
        inner.new.push_back(Held { batch, origin: None, written: false });
        let spill = self.has_disk && self.above_spill(&inner);
        drop(inner);
        self.ready.notify_one();
        if spill {
            self.disk.notify_one();
        }
    }

    /// The next batch in order, which is in flight from now on; none if there is none, or no room in the window.
    pub fn take(&self, window: Window) -> Option<Batch> {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let from_disk = self.has_disk && inner.counters.on_disk.batches > 0;
        let place = if !inner.again.is_empty() {
            &mut inner.again
        } else if !inner.ahead.is_empty() {
            &mut inner.ahead
        } else if from_disk || inner.spilling {
            self.disk.notify_one();
            return None;
        } else {
            &mut inner.new
        };
        let cost = cost(&place.front()?.batch);
        let full = inner.flight.len() >= window.batches
            || inner.flight_cost.saturating_add(cost) > window.bytes && !inner.flight.is_empty();
        if full {
            return None;
        }
        let mut held = place.pop_front()?;
        if held.written {
            inner.counters.resent.add(held.batch.envelopes(), held.batch.bytes());
        }
        if held.origin.is_some() && !held.written {
            inner.ahead_cost = inner.ahead_cost.saturating_sub(cost);
            if from_disk {
                self.disk.notify_one();
            }
        }
        held.written = true;
        let batch = held.batch.clone();
        inner.flight_cost = inner.flight_cost.saturating_add(cost);
        inner.counters.in_flight.add(batch.envelopes(), batch.bytes());
        inner.flight.push_back(held);
        Some(batch)
    }

    /// Waits until [`take`](Self::take) may give something. May return early.
    pub async fn ready(&self) {
        self.ready.notified().await;
    }

    /// The destination confirmed the oldest batch in flight at `now_ns` (Unix time); `outcome` says what it did not take.
    pub fn confirm(&self, outcome: Outcome, now_ns: i64) {
        let mut inner = self.lock();
        let Some(held) = inner.flight.pop_front() else { return };
        inner.leave_flight(&held);
        inner.leave(&held);
        let batch = &held.batch;
        let counters = &mut inner.counters;
        let skipped = outcome.skipped.min(batch.envelopes());
        let rest = batch.envelopes().saturating_sub(skipped);
        let lost = outcome.dropped.map_or(0, |(_, lost)| lost.min(rest));
        counters.skipped += u64::from(skipped);
        if let Some((reason, _)) = outcome.dropped {
            counters.drop(reason, u64::from(lost));
        }
        let sent = rest.saturating_sub(lost);
        if sent > 0 {
            counters.sent.add(sent, batch.bytes());
            let latency_us = now_ns.saturating_sub(batch.first_ns()) / 1_000;
            counters.latency.add(u64::try_from(latency_us).unwrap_or(0));
        }
        if held.origin.is_some() {
            inner.confirmed = held.origin;
        }
        drop(inner);
        self.room.notify_one();
        self.room_for_threads.notify_all();
        self.ready.notify_one();
    }

    /// A connection ended: what was in flight is taken again, first.
    pub fn rewind(&self, cause: Cause) {
        let mut inner = self.lock();
        inner.counters.end(cause);
        while let Some(held) = inner.flight.pop_back() {
            inner.leave_flight(&held);
            inner.again.push_front(held);
        }
        drop(inner);
        self.ready.notify_one();
    }

    /// A connection failed before anything was written.
    pub fn failed(&self, cause: Cause) {
        self.lock().counters.end(cause);
    }

    /// A connection came up.
    pub fn connected(&self) {
        self.lock().counters.connections += 1;
    }

    /// Whether nothing waits, neither in memory nor on disk.
    pub fn is_empty(&self) -> bool {
        let inner = self.lock();
        inner.counters.held.batches == 0 && inner.counters.on_disk.batches == 0
    }

    /// The figures now.
    pub fn counters(&self) -> Counters {
        self.lock().counters.clone()
    }

    /// Takes nothing more; who waits for room goes on. What is there can still be sent.
    pub fn close(&self) {
        self.lock().closed = true;
        // Notifies all: one that was woken wakes the next.
        self.room.notify_one();
        self.room_for_threads.notify_all();
        self.ready.notify_one();
        self.disk.notify_one();
    }

    /// Drops what is left in memory, after the time for it was over.
    pub fn give_up(&self) {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let places = [&mut inner.flight, &mut inner.again, &mut inner.ahead, &mut inner.new];
        for held in places.into_iter().flat_map(std::mem::take) {
            let reason = if held.written { Reason::Unconfirmed } else { Reason::Stopping };
            inner.counters.drop(reason, u64::from(held.batch.envelopes()));
        }
        inner.counters.held = Default::default();
        inner.counters.in_flight = Default::default();
        (inner.cost, inner.flight_cost, inner.ahead_cost) = (0, 0, 0);
    }

    /// From here on new batches go to disk rather than filling the memory up.
    fn above_spill(&self, inner: &Inner) -> bool {
        inner.cost > self.limit / 2
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing under the lock can leave it half-done in a way that matters more than going on.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for_disk_work<'a>(&self, inner: MutexGuard<'a, Inner>, time: Duration) -> MutexGuard<'a, Inner> {
        self.disk.wait_timeout(inner, time).unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Inner {
    /// The batch is no longer in memory.
    fn leave(&mut self, held: &Held) {
        self.cost = self.cost.saturating_sub(cost(&held.batch));
        self.counters.held.remove(held.batch.envelopes(), held.batch.bytes());
    }

    fn leave_flight(&mut self, held: &Held) {
        self.flight_cost = self.flight_cost.saturating_sub(cost(&held.batch));
        self.counters.in_flight.remove(held.batch.envelopes(), held.batch.bytes());
    }
}
