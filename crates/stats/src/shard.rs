//! Counters with one writer, published whole.
//!
//! A shard owns a [`ShardCounters`] and adds to plain integers. Once per batch it publishes a copy into
//! its page of the [`Board`]; readers take the page under a sequence number, so that the figures of one
//! shard always belong together. Beside them goes a second page: where the shard's time went ([`Meters`]).

use std::sync::Arc;

use crate::counter::{Counter, SLOTS, drop_slot};
use crate::meter::{Crew, MeterBoard, Meters};
use crate::page::Page;
use crate::reason::DropReason;

/// The counters of one shard: written by that shard alone.
#[derive(Debug)]
pub struct ShardCounters {
    values: [u64; SLOTS],
    page: Arc<Page<SLOTS>>,
    /// Where this thread's time goes.
    pub meters: Meters,
}

impl ShardCounters {
    /// Adds `n` to a counter. Not visible to readers before [`publish`](Self::publish).
    #[inline]
    pub fn add(&mut self, counter: Counter, n: u64) {
        let value = &mut self.values[counter as usize];
        *value = value.wrapping_add(n);
    }

    /// Counts `n` units lost for a reason.
    #[inline]
    pub fn drop(&mut self, reason: DropReason, n: u64) {
        let value = &mut self.values[drop_slot(reason)];
        *value = value.wrapping_add(n);
    }

    /// Sets a figure that the kernel counts for us (a socket's drops since it was opened).
    #[inline]
    pub fn set_drop(&mut self, reason: DropReason, n: u64) {
        self.values[drop_slot(reason)] = n;
    }

    /// This shard's own value.
    pub fn value(&self, counter: Counter) -> u64 {
        self.values[counter as usize]
    }

    /// This shard's own count of a drop reason.
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.values[drop_slot(reason)]
    }

    /// Makes everything counted so far visible, all figures at once. Call once per batch.
    pub fn publish(&self) {
        self.page.write(&self.values);
        self.meters.publish();
    }
}

/// Where shards publish and readers look.
#[derive(Debug, Clone, Default)]
pub struct Board {
    pages: Arc<std::sync::Mutex<Vec<Arc<Page<SLOTS>>>>>,
    meters: MeterBoard,
}

impl Board {
    /// Adds a shard. Its counters live as long as the board, also after the shard ended.
    pub fn shard(&self) -> ShardCounters {
        self.member(Crew::Shards)
    }

    /// Adds a capture thread, by the same rules.
    pub fn capture(&self) -> ShardCounters {
        self.member(Crew::Capture)
    }

    fn member(&self, crew: Crew) -> ShardCounters {
        let page = Arc::new(Page::new());
        self.lock().push(Arc::clone(&page));
        ShardCounters { values: [0; SLOTS], page, meters: self.meters.thread(crew) }
    }

    /// Where the time of these threads went.
    pub fn meters(&self) -> &MeterBoard {
        &self.meters
    }

    /// The sum over all shards, each of them as of its last publication.
    pub fn totals(&self) -> Totals {
        let mut sum = [0u64; SLOTS];
        for page in self.lock().iter() {
            for (total, value) in sum.iter_mut().zip(page.read()) {
                *total = total.wrapping_add(value);
            }
        }
        Totals { values: sum }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Page<SLOTS>>>> {
        self.pages.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// A sum of published figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals {
    values: [u64; SLOTS],
}

impl Totals {
    /// The total of a counter.
    pub fn get(&self, counter: Counter) -> u64 {
        self.values[counter as usize]
    }

    /// The total of a drop reason.
    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.values[drop_slot(reason)]
    }

    /// Every unit the shards counted as lost.
    pub fn drops(&self) -> u64 {
        DropReason::ALL.iter().map(|reason| self.dropped(*reason)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_never_see_half_a_publication() {
        let board = Board::default();
        let mut shard = board.shard();
        let writer = std::thread::spawn(move || {
            for _ in 0..20_000 {
                shard.add(Counter::UdpDatagrams, 3);
                shard.add(Counter::RowsSip, 2);
                shard.drop(DropReason::NotHep, 1);
                shard.publish();
            }
        });
        while !writer.is_finished() {
            let totals = board.totals();
            assert_eq!(
                totals.get(Counter::UdpDatagrams),
                totals.get(Counter::RowsSip) + totals.dropped(DropReason::NotHep),
            );
        }
        writer.join().unwrap();
        assert_eq!(board.totals().get(Counter::UdpDatagrams), 60_000);
    }

    #[test]
    fn an_unpublished_count_is_not_seen() {
        let board = Board::default();
        let mut shard = board.shard();
        shard.add(Counter::TcpFrames, 1);
        assert_eq!(board.totals().get(Counter::TcpFrames), 0);
        shard.publish();
        assert_eq!(board.totals().get(Counter::TcpFrames), 1);
    }
}
