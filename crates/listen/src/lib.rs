//! Datagrams and streams: from the socket into memory blocks, one message at a time.
//!
//! In: UDP sockets and TCP listeners, one of each per shard and address. Out: each datagram and each
//! framed message, as a slice of a block's frozen part, through [`Sink`]. Owned: the sockets, the TCP
//! connections, the shard's [`Pool`](mem::pool::Pool) and the block being written. Bounded by: the pool,
//! [`ShardConfig::max_connections`], and one unfinished frame of at most [`ShardConfig::max_frame`] bytes
//! per connection. Lost: what the kernel dropped from a full UDP buffer, datagrams larger than
//! [`MAX_DATAGRAM`], TCP bytes that are no frame, and frames whose connection ended inside them; each
//! counted under its reason. Nothing is dropped on TCP because memory is short: reading stops.
//!
//! # The books
//!
//! At every publication of a shard's counters
//!
//! ```text
//! UdpDatagrams + TcpFrames = messages given to the sink
//!                          + DatagramTruncated + BadFraming + FrameIncomplete + Abandoned
//! ```
//!
//! and outside of it, because these units were never read: `KernelBuffer` and `Stopping` (datagrams) and
//! `ConnectionLimit` (connections).
//!
//! # Threads
//!
//! A [`Shard`] is driven by one plain thread in [`Shard::run`]; a [`Stop`] may be set from any thread.
//! All raw system calls are in `sys`, which is the only place with `unsafe`.

#![deny(unsafe_code)]

pub mod bare;
pub mod send;
pub mod shard;
pub mod stop;
pub mod tcp;
pub mod udp;

mod blocks;
#[allow(unsafe_code)]
mod sys;

use std::net::SocketAddr;

use mem::block::Shared;
use stats::ShardCounters;

pub use shard::{Shard, ShardConfig};
pub use stop::Stop;
pub use tcp::{TcpListener, TcpOptions, bind_tcp};
pub use udp::{BufferGrant, Gro, UdpOptions, UdpSocket, bind_udp};

/// The largest datagram, and the largest buffer of coalesced datagrams, that is received whole: 64 KiB,
/// which is more than UDP over IP can carry.
pub const MAX_DATAGRAM: usize = 64 * 1024;

/// Which way a message came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// One datagram.
    Udp,
    /// One frame cut out of a connection.
    Tcp,
}

/// Where and when a message came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// When the batch that holds it was read: Unix nanoseconds, UTC. One clock read per batch.
    pub received: i64,
    /// Which way it came in.
    pub transport: Transport,
    /// The sender's address; IPv4 peers of a dual-stack socket are shown as IPv4.
    pub peer: SocketAddr,
}

/// Who takes the messages of a shard.
pub trait Sink {
    /// The block that the following messages lie in. Called before the first message out of it, and
    /// again whenever the block changes.
    fn block(&mut self, block: &Shared);

    /// One datagram or one framed message; `bytes` lie in the frozen part of the current block.
    fn message(&mut self, bytes: &[u8], origin: &Origin, counters: &mut ShardCounters);

    /// Called after each turn of reading and, when nothing arrives, every
    /// [`tick`](ShardConfig::tick). `now` is Unix nanoseconds, UTC. The counters are published after it.
    fn batch_end(&mut self, now: i64, counters: &mut ShardCounters);

    /// The pool has no block left: hand over everything that holds blocks, so that they can come back.
    fn release(&mut self, counters: &mut ShardCounters);
}

/// What the front of a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// Too few bytes to know the length. Answered on short prefixes only: once the header is there, the
    /// framer must know, because the bytes seen so far are looked at again with each read.
    NeedMore,
    /// A frame of this many bytes starts here, whether or not all of it is there yet.
    Len(usize),
    /// These bytes start no frame.
    Bad,
}

/// Tells where the frame at the front of `bytes` (at least one byte) ends.
pub type Framer = fn(&[u8]) -> Frame;
