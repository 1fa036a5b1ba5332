//! One UDP socket's way into the block.
//!
//! In: what recvmmsg answers, 64 buffers a call. Out: each datagram, split by its size where the kernel
//! coalesced several. Owned: the socket. Bounded by: [`READS`] calls a turn, so that sockets take turns.
//! Lost: datagrams that are larger than a slot, and, when the time to drain is over, what is still queued;
//! both counted.
//!
//! Two ways of reading. *Scratch*: receive into slots that stay warm in the cache, then copy each datagram
//! densely into the block; for ordinary datagrams the copy is a percent or two of the call, and blocks hold
//! no holes. *Direct*: when buffers come nearly full (coalesced, 32 KiB and more on average), receive
//! straight into the block, slot by slot, without a copy.

use std::io;
use std::os::fd::AsFd;

use stats::{Counter, DropReason, Meter, ShardCounters};

use super::UdpSocket;
use super::drops::DropWatch;
use crate::blocks::{Desk, unix_ns};
use crate::sys::recv::{BATCH, Received, RecvBatch, Slots};
use crate::{MAX_DATAGRAM, Origin, Sink, Transport};

/// recvmmsg calls per turn.
const READS: usize = 4;
/// Direct reading starts at this mean size of a buffer...
const DIRECT_FROM: usize = 32 * 1024;
/// ...and ends below this one.
const DIRECT_UNTIL: usize = 24 * 1024;
/// Scratch slots start this far apart: their first lines must not all fall into one set of the cache.
const STRIDE: usize = MAX_DATAGRAM + 33 * 64;

/// The headers and the memory of scratch reading, shared by all sockets of a shard.
#[derive(Debug)]
pub(crate) struct Scratch {
    batch: RecvBatch,
    /// Allocated zeroed, so that only the pages that datagrams touch are ever resident.
    memory: Vec<u8>,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { batch: RecvBatch::new(), memory: vec![0; BATCH * STRIDE] }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The socket was empty, or nearly: its last read did not fill the batch.
    Drained,
    /// There may be more.
    More,
    /// The time to drain is over.
    OutOfTime,
}

/// A socket and what is known of its traffic.
#[derive(Debug)]
pub(crate) struct Reader {
    socket: UdpSocket,
    /// Its place in the shard's [`DropWatch`].
    index: usize,
    mean: usize,
    direct: bool,
}

impl Reader {
    pub(crate) fn new(socket: UdpSocket, index: usize) -> Self {
        Self { socket, index, mean: 0, direct: false }
    }

    pub(crate) fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Reads until the socket is empty, at most [`READS`] times.
    pub(crate) fn turn<S: Sink>(&mut self, scratch: &mut Scratch, desk: &mut Desk<'_, S>) -> Turn {
        for _ in 0..READS {
            // Room for one datagram at least: what was read must have a place to go.
            if !desk.make_room(MAX_DATAGRAM) {
                return Turn::OutOfTime;
            }
            desk.counters.meters.enter(Meter::HepReceive);
            let answer = if self.direct {
                self.read_direct(&mut scratch.batch, desk)
            } else {
                self.read_scratch(scratch, desk)
            };
            match answer {
                Ok(turn @ (Turn::Drained | Turn::OutOfTime)) => return turn,
                Ok(Turn::More) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Turn::Drained,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => {
                    desk.counters.add(Counter::SocketErrors, 1);
                    return Turn::Drained;
                }
            }
        }
        Turn::More
    }

    fn read_scratch<S: Sink>(&mut self, scratch: &mut Scratch, desk: &mut Desk<'_, S>) -> io::Result<Turn> {
        let Scratch { batch, memory } = scratch;
        let shape = Slots { count: BATCH, stride: STRIDE, slot: MAX_DATAGRAM };
        let count = batch.recv(self.socket.as_fd(), memory, shape, false)?;
        desk.counters.meters.enter(Meter::HepDecode);
        let mut tally = Tally::new();
        let mut turn = if count == BATCH { Turn::More } else { Turn::Drained };
        for (i, slot) in memory.chunks(STRIDE).take(count).enumerate() {
            let received = batch.get(i);
            let kept = received.len.min(MAX_DATAGRAM);
            if turn == Turn::OutOfTime || !desk.make_room(kept) {
                tally.abandon(&received);
                turn = Turn::OutOfTime;
                continue;
            }
            tally.origin.peer = batch.peer(i);
            let bytes = desk.blocks.append(&slot[..kept]);
            tally.split(bytes, &received, desk.sink, desk.counters);
        }
        self.finish(batch, count, tally, turn, desk);
        Ok(turn)
    }

    fn read_direct<S: Sink>(&mut self, batch: &mut RecvBatch, desk: &mut Desk<'_, S>) -> io::Result<Turn> {
        let slots = (desk.blocks.room() / MAX_DATAGRAM).min(BATCH);
        let shape = Slots { count: slots, stride: MAX_DATAGRAM, slot: MAX_DATAGRAM };
        let count = batch.recv(self.socket.as_fd(), desk.blocks.spare(), shape, false)?;
        desk.counters.meters.enter(Meter::HepDecode);
        let mut tally = Tally::new();
        if let Some(last) = count.checked_sub(1) {
            let end = last * MAX_DATAGRAM + batch.get(last).len.min(MAX_DATAGRAM);
            let bytes = desk.blocks.commit(end);
            for (i, slot) in bytes.chunks(MAX_DATAGRAM).take(count).enumerate() {
                let received = batch.get(i);
                tally.origin.peer = batch.peer(i);
                let kept = received.len.min(slot.len());
                tally.split(&slot[..kept], &received, desk.sink, desk.counters);
            }
        }
        let turn = if count == slots { Turn::More } else { Turn::Drained };
        self.finish(batch, count, tally, turn, desk);
        Ok(turn)
    }

    /// Books a read and chooses how to read next.
    fn finish<S: Sink>(
        &mut self,
        batch: &RecvBatch,
        count: usize,
        tally: Tally,
        turn: Turn,
        desk: &mut Desk<'_, S>,
    ) {
        desk.counters.meters.enter(Meter::HepReceive);
        if count == 0 {
            return;
        }
        let drops = batch.get(count - 1).drops;
        desk.watch.read(self.index, tally.datagrams, drops, turn == Turn::Drained);
        self.mean = (self.mean * 7 + tally.bytes / count) / 8;
        self.direct = self.mean >= if self.direct { DIRECT_UNTIL } else { DIRECT_FROM };
        tally.book(desk.counters);
    }

    /// Takes everything off the queue without looking at it, and counts it as abandoned.
    pub(crate) fn abandon(
        &mut self,
        scratch: &mut Scratch,
        watch: &mut DropWatch,
        counters: &mut ShardCounters,
    ) {
        let Scratch { batch, memory } = scratch;
        let shape = Slots { count: BATCH, stride: STRIDE, slot: 0 };
        while let Ok(count @ 1..) = batch.recv(self.socket.as_fd(), memory, shape, false) {
            let mut tally = Tally::new();
            (0..count).for_each(|i| tally.abandon(&batch.get(i)));
            watch.read(self.index, tally.datagrams, None, false);
            tally.book(counters);
        }
    }
}

/// What one read adds to the books.
struct Tally {
    origin: Origin,
    datagrams: usize,
    bytes: usize,
    coalesced: u64,
    truncated: usize,
    abandoned: usize,
}

impl Tally {
    /// Reads the clock.
    fn new() -> Self {
        let peer = std::net::SocketAddr::new(std::net::Ipv4Addr::UNSPECIFIED.into(), 0);
        let origin = Origin { received: unix_ns(), transport: Transport::Udp, peer };
        Self { origin, datagrams: 0, bytes: 0, coalesced: 0, truncated: 0, abandoned: 0 }
    }

    /// Hands over the datagrams of one buffer. `bytes` is what of it fitted into the slot.
    #[inline]
    fn split<S: Sink>(
        &mut self,
        bytes: &[u8],
        received: &Received,
        sink: &mut S,
        counters: &mut ShardCounters,
    ) {
        self.bytes += received.len;
        let whole = bytes.len() == received.len;
        if received.segment == 0 || received.len <= received.segment {
            self.datagrams += 1;
            if whole {
                sink.message(bytes, &self.origin, counters);
            } else {
                self.truncated += 1;
            }
            return;
        }
        let datagrams = received.datagrams();
        self.datagrams += datagrams;
        self.coalesced += 1;
        let fitted = if whole { datagrams } else { bytes.len() / received.segment };
        self.truncated += datagrams - fitted;
        for datagram in bytes.chunks(received.segment).take(fitted) {
            sink.message(datagram, &self.origin, counters);
        }
    }

    fn abandon(&mut self, received: &Received) {
        self.bytes += received.len;
        self.datagrams += received.datagrams();
        self.abandoned += received.datagrams();
    }

    fn book(&self, counters: &mut ShardCounters) {
        for stage in [Meter::HepReceive, Meter::HepDecode, Meter::HepAppend] {
            counters.meters.batch(stage, self.datagrams as u64);
        }
        counters.add(Counter::UdpReads, 1);
        counters.add(Counter::UdpDatagrams, self.datagrams as u64);
        counters.add(Counter::UdpBytes, self.bytes as u64);
        counters.add(Counter::UdpCoalesced, self.coalesced);
        counters.drop(DropReason::DatagramTruncated, self.truncated as u64);
        counters.drop(DropReason::Abandoned, self.abandoned as u64);
    }
}
