//! What the kernel dropped, over all UDP sockets of a shard, in datagrams.
//!
//! In: each socket's own counts. Out: two published figures that never wrap and never go back: what was
//! dropped while the shard served, and what was refused after it was asked to stop. Owned: a second
//! descriptor for each socket. Bounded by: the number of sockets. Lost: nothing, as long as a socket is
//! looked at once per 2^32 drops.
//!
//! A socket that does not coalesce has an exact count in the kernel. One that does counts buffers there, so
//! its drops are what arrived (a BPF program counts that) less what was read and what is still queued. The
//! last term is known to be zero in two cases: the socket was seen empty, or a buffer came that was queued
//! after a later drop, hence after everything that arrived before. Each case gives a figure that is not too
//! high and lags by a tick; under steady overload the second one occurs all the time. Once the queue has been
//! read to its end, the figure is exact.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use stats::{DropReason, Meter, ShardCounters};

use super::UdpSocket;
use crate::sys::arrivals::Arrivals;
use crate::sys::sockopt;

#[derive(Debug)]
struct Watched {
    socket: OwnedFd,
    buffers: Buffers,
    datagrams: Option<Datagrams>,
}

/// The kernel's own count, made wide.
#[derive(Debug, Default)]
struct Buffers {
    last: u32,
    total: u64,
}

/// The count of a socket that coalesces.
#[derive(Debug)]
struct Datagrams {
    arrivals: Arc<Arrivals>,
    /// What had arrived at the last tick and at the one before it. Between the two every datagram of the
    /// older count has found its way into the queue or out of it.
    arrived: [u64; 2],
    /// The drops at the last tick, as the buffers queued later will tell them.
    mark: u32,
    read: u64,
    dropped: u64,
}

/// The drop counts of a shard's sockets.
#[derive(Debug, Default)]
pub(crate) struct DropWatch {
    sockets: Vec<Watched>,
    before_stop: Option<u64>,
}

impl DropWatch {
    /// Watches one more socket. Drops from before count too, for nobody else counted them.
    pub(crate) fn add(&mut self, socket: &UdpSocket) -> io::Result<()> {
        let datagrams = socket.arrivals().filter(|_| socket.gro()).map(|arrivals| Datagrams {
            arrivals,
            arrived: [0; 2],
            mark: 0,
            read: 0,
            dropped: 0,
        });
        let socket = socket.as_fd().try_clone_to_owned()?;
        self.sockets.push(Watched { socket, buffers: Buffers::default(), datagrams });
        Ok(())
    }

    /// Books a read of socket `index`: how many datagrams, the drop count beside the last of them, and
    /// whether the socket is empty now.
    pub(crate) fn read(&mut self, index: usize, count: usize, drops: Option<u32>, empty: bool) {
        let Some(watched) = self.sockets.get_mut(index) else { return };
        if let Some(drops) = drops {
            watched.buffers.advance(drops);
        }
        if let Some(datagrams) = &mut watched.datagrams {
            datagrams.read += count as u64;
            if empty || drops.is_some_and(|drops| is_after(drops, datagrams.mark)) {
                datagrams.settle(datagrams.arrived[0]);
            }
        }
    }

    /// Asks the kernel for all counts.
    pub(crate) fn refresh(&mut self, counters: &mut ShardCounters) {
        let (mut waiting, mut limit) = (0, 0);
        for watched in &mut self.sockets {
            let queue = sockopt::queue(watched.socket.as_fd());
            if let Ok(queue) = queue {
                waiting += u64::from(queue.bytes);
                limit += u64::from(queue.limit);
                watched.buffers.advance(queue.drops);
            }
            if let Some(datagrams) = &mut watched.datagrams {
                datagrams.mark = watched.buffers.last;
                if queue.is_ok_and(|queue| queue.bytes == 0) {
                    datagrams.settle(datagrams.arrived[1]);
                }
                let now = datagrams.arrivals.count().unwrap_or(datagrams.arrived[1]);
                datagrams.arrived = [datagrams.arrived[1], now];
            }
        }
        counters.meters.queue(Meter::HepReceive, waiting, limit);
        self.publish(counters);
    }

    /// From now on drops are refusals: the sockets take nothing any more.
    pub(crate) fn stopping(&mut self, counters: &mut ShardCounters) {
        self.refresh(counters);
        self.before_stop = Some(counters.dropped(DropReason::KernelBuffer));
    }

    /// The queues are empty and stay so: the counts are final.
    pub(crate) fn ended(&mut self, counters: &mut ShardCounters) {
        self.refresh(counters);
        for datagrams in self.sockets.iter_mut().filter_map(|watched| watched.datagrams.as_mut()) {
            datagrams.settle(datagrams.arrived[1]);
        }
        self.publish(counters);
    }

    fn publish(&self, counters: &mut ShardCounters) {
        let total = self.sockets.iter().map(Watched::dropped).sum::<u64>();
        let served = self.before_stop.map_or(total, |before| before.min(total));
        counters.set_drop(DropReason::KernelBuffer, served);
        counters.set_drop(DropReason::Stopping, total - served);
    }
}

impl Watched {
    fn dropped(&self) -> u64 {
        // Each buffer held at least one datagram.
        self.datagrams.as_ref().map_or(0, |datagrams| datagrams.dropped).max(self.buffers.total)
    }
}

impl Datagrams {
    /// Nothing of the first `arrived` datagrams is queued any more: what was not read is lost.
    fn settle(&mut self, arrived: u64) {
        self.dropped = self.dropped.max(arrived.saturating_sub(self.read));
    }
}

impl Buffers {
    fn advance(&mut self, drops: u32) {
        // A count that came with a datagram that was queued a while ago is older than the last one.
        if is_after(drops, self.last) {
            self.total += u64::from(drops.wrapping_sub(self.last));
            self.last = drops;
        }
    }
}

/// Whether a count that wraps is later than another, both less than 2^31 apart.
fn is_after(count: u32, other: u32) -> bool {
    (1..1 << 31).contains(&count.wrapping_sub(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_go_on_over_the_end_of_32_bits_and_never_back() {
        let mut buffers = Buffers { last: u32::MAX - 1, total: 10 };
        buffers.advance(u32::MAX);
        buffers.advance(3);
        assert_eq!((buffers.last, buffers.total), (3, 15));
        buffers.advance(1);
        assert_eq!((buffers.last, buffers.total), (3, 15));
    }
}
