//! The block that a shard reads into, and what it does while there is none.
//!
//! In: the shard's pool. Out: room for the next bytes. Owned: the pool and the writer's end of one block.
//! Bounded by: the pool's budget. Lost: nothing here; whoever is refused room counts what it gives up.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mem::block::Block;
use mem::pool::Pool;
use stats::{Counter, Meter, ShardCounters};

use crate::udp::drops::DropWatch;
use crate::{Sink, Stop};

/// How long one sleep for a block lasts before the shard looks around.
const WAIT_STEP: Duration = Duration::from_millis(5);

/// The pool of a shard and the block that it writes now.
#[derive(Debug)]
pub(crate) struct Blocks {
    pool: Pool,
    current: Option<Block>,
}

impl Blocks {
    pub(crate) fn new(pool: Pool) -> Self {
        Self { pool, current: None }
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The room left in the current block.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        self.current.as_ref().map_or(0, Block::spare_len)
    }

    /// The room itself; empty without a block.
    #[inline]
    pub(crate) fn spare(&mut self) -> &mut [u8] {
        self.current.as_mut().map_or(&mut [], Block::spare)
    }

    /// Freezes the first `n` bytes of the room.
    #[inline]
    pub(crate) fn commit(&mut self, n: usize) -> &[u8] {
        self.current.as_mut().map_or(&[], |block| block.commit(n))
    }

    /// Copies `bytes` into the room and freezes them.
    #[inline]
    pub(crate) fn append(&mut self, bytes: &[u8]) -> &[u8] {
        self.spare()[..bytes.len()].copy_from_slice(bytes);
        self.commit(bytes.len())
    }
}

/// Until when a shard goes on once it was asked to stop.
#[derive(Debug)]
pub(crate) struct Patience {
    stop: Stop,
    drain: Duration,
    until: Option<Instant>,
}

impl Patience {
    pub(crate) fn new(stop: &Stop, drain: Duration) -> Self {
        Self { stop: stop.clone(), drain, until: None }
    }

    /// Whether the time to drain, which starts when the stop is first noticed, is over.
    pub(crate) fn is_over(&mut self) -> bool {
        if !self.stop.is_set() {
            return false;
        }
        let now = Instant::now();
        now >= *self.until.get_or_insert(now + self.drain)
    }
}

/// What every part of a shard needs at hand to deal with a message.
pub(crate) struct Desk<'a, S> {
    pub(crate) sink: &'a mut S,
    pub(crate) counters: &'a mut ShardCounters,
    pub(crate) blocks: &'a mut Blocks,
    pub(crate) watch: &'a mut DropWatch,
    pub(crate) patience: &'a mut Patience,
}

impl<S: Sink> Desk<'_, S> {
    /// Makes room for `bytes` in the current block or in a new one. Sleeps while the pool has none, with
    /// the sink asked to let go and the kernel's drops published. `false` only when the time to drain is
    /// over; then there is no current block.
    #[inline]
    pub(crate) fn make_room(&mut self, bytes: usize) -> bool {
        (self.blocks.room() >= bytes && self.blocks.current.is_some()) || self.next_block()
    }

    #[cold]
    fn next_block(&mut self) -> bool {
        let stage = self.counters.meters.enter(Meter::HepHeld);
        let found = self.wait_for_block();
        self.counters.meters.enter(stage);
        found
    }

    fn wait_for_block(&mut self) -> bool {
        // The old block may be the one that comes back.
        self.blocks.current = None;
        loop {
            if let Some(block) = self.blocks.pool.take() {
                self.sink.block(&block.share());
                self.blocks.current = Some(block);
                return true;
            }
            self.sink.release(self.counters);
            if self.blocks.pool.wait(Duration::ZERO) {
                continue;
            }
            if self.patience.is_over() {
                return false;
            }
            self.counters.add(Counter::BlockWaits, 1);
            self.counters.meters.batch(Meter::HepHeld, 1);
            self.blocks.pool.wait(WAIT_STEP);
            self.watch.refresh(self.counters);
            self.sink.batch_end(unix_ns(), self.counters);
            self.counters.publish();
        }
    }
}

/// The wall clock: Unix nanoseconds, UTC.
pub(crate) fn unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
