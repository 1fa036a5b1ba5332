//! The loop of one shard.
//!
//! In: what its sockets receive. Out: messages, through the [`Sink`]. Owned: the sockets, the connections,
//! the pool, the counters. Bounded by: the numbers in [`ShardConfig`] and the pool. Lost: see the crate's
//! description; each loss has a reason in the counters, and after [`Shard::run`] the books are complete.
//!
//! Each turn: wait for input, give every ready socket a bounded amount of reading, tell the sink that the
//! batch is over, publish the counters. Nothing else runs on the thread.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use mem::pool::Pool;
use stats::{Meter, ShardCounters};

use crate::blocks::{Blocks, Desk, Patience, unix_ns};
use crate::sys::poll::{Events, Poller};
use crate::tcp::TcpListener;
use crate::tcp::conn;
use crate::tcp::streams::Streams;
use crate::udp::UdpSocket;
use crate::udp::drops::DropWatch;
use crate::udp::reader::{Reader, Scratch, Turn};
use crate::{Framer, MAX_DATAGRAM, Sink, Stop};

/// How often connections are checked for their time limits.
const SWEEP: Duration = Duration::from_secs(1);
/// A receive buffer that holds what arrives while the shard lingers.
const LINGER_BUFFER: usize = 1 << 20;
/// The smallest block that can hold the largest frame and a read behind it.
const MIN_BLOCK: usize = 256 * 1024;

/// The settings of one shard.
#[derive(Debug, Clone)]
pub struct ShardConfig {
    /// How TCP streams are cut into frames.
    pub framer: Framer,
    /// The longest frame; a longer one is bad framing. At most 128 KiB. Default 65,535 bytes, the most that
    /// HEP can announce.
    pub max_frame: usize,
    /// Connections per shard; more are closed at once. Default 4096.
    pub max_connections: usize,
    /// A connection between two frames that sent nothing for so long is closed. Zero, the default: never.
    pub idle_timeout: Duration,
    /// A connection inside a frame that sent nothing for so long is closed, and the frame counted as
    /// incomplete. Each byte starts the time anew. Zero: never. Default 60 s.
    pub partial_timeout: Duration,
    /// The longest time between two calls of [`Sink::batch_end`], also when nothing arrives; kernel drops are
    /// read as often. Default 50 ms.
    pub tick: Duration,
    /// After a turn that emptied the UDP sockets, sleep for so long before looking again, so that datagrams
    /// come in batches and their senders need not wake the shard for each: less work on both sides for a
    /// little latency. Not done while TCP is busy, nor with a receive buffer below 1 MiB, which could fill up
    /// meanwhile. Zero: never. Default 50 microseconds.
    pub linger: Duration,
    /// How long reading may go on after the stop was asked for. Default 5 s.
    pub drain: Duration,
}

impl ShardConfig {
    /// The defaults, with this framer.
    pub fn new(framer: Framer) -> Self {
        Self {
            framer,
            max_frame: 65_535,
            max_connections: 4096,
            idle_timeout: Duration::ZERO,
            partial_timeout: Duration::from_secs(60),
            tick: Duration::from_millis(50),
            linger: Duration::from_micros(50),
            drain: Duration::from_secs(5),
        }
    }
}

/// One thread's sockets and all that belongs to them.
#[derive(Debug)]
pub struct Shard {
    config: ShardConfig,
    poller: Poller,
    readers: Vec<Reader>,
    scratch: Scratch,
    streams: Streams,
    blocks: Blocks,
    watch: DropWatch,
    counters: ShardCounters,
}

/// What an event of the poller is about.
enum Token {
    Stop,
    Udp(usize),
    Listener(usize),
    Conn(usize),
}

impl Token {
    const KINDS: u64 = 4;

    fn pack(self) -> u64 {
        let (kind, index) = match self {
            Self::Stop => (0, 0),
            Self::Udp(index) => (1, index),
            Self::Listener(index) => (2, index),
            Self::Conn(index) => (3, index),
        };
        index as u64 * Self::KINDS + kind
    }

    fn unpack(token: u64) -> Self {
        let index = (token / Self::KINDS) as usize;
        match token % Self::KINDS {
            1 => Self::Udp(index),
            2 => Self::Listener(index),
            3 => Self::Conn(index),
            _ => Self::Stop,
        }
    }

    fn conn(index: usize) -> u64 {
        Self::Conn(index).pack()
    }
}

impl Shard {
    /// A shard without sockets.
    ///
    /// # Errors
    /// When the process is out of descriptors; `InvalidInput` when a block of the pool is smaller than
    /// 256 KiB or `max_frame` is not within 1 to 128 KiB.
    pub fn new(config: ShardConfig, pool: Pool, counters: ShardCounters) -> io::Result<Self> {
        let frame_fits = (1..=MIN_BLOCK / 2).contains(&config.max_frame);
        if pool.block_bytes() < MIN_BLOCK || !frame_fits {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let poller = Poller::new()?;
        let reserve = crate::sys::fd::eventfd()?;
        Ok(Self {
            streams: Streams::new(&config, reserve),
            config,
            poller,
            readers: Vec::new(),
            scratch: Scratch::new(),
            blocks: Blocks::new(pool),
            watch: DropWatch::default(),
            counters,
        })
    }

    /// Adds a UDP socket.
    ///
    /// # Errors
    /// When the process is out of descriptors.
    pub fn add_udp(&mut self, socket: UdpSocket) -> io::Result<()> {
        if socket.grant().given < LINGER_BUFFER {
            self.config.linger = Duration::ZERO;
        }
        let index = self.readers.len();
        self.poller.add(socket.as_fd(), Token::Udp(index).pack())?;
        self.watch.add(&socket)?;
        self.readers.push(Reader::new(socket, index));
        Ok(())
    }

    /// Adds a TCP listener.
    ///
    /// # Errors
    /// When the process is out of descriptors.
    pub fn add_tcp(&mut self, listener: TcpListener) -> io::Result<()> {
        let index = self.streams.listeners().len();
        self.poller.add(listener.as_fd(), Token::Listener(index).pack())?;
        self.streams.add(listener);
        Ok(())
    }

    /// The shard's pool, for its gauge.
    pub fn pool(&self) -> &Pool {
        self.blocks.pool()
    }

    /// The shard's counters, complete after [`run`](Self::run) returned.
    pub fn counters(&self) -> &ShardCounters {
        &self.counters
    }

    /// Ends the shard and gives its counters back, so that what its sink still holds can be counted.
    pub fn into_counters(self) -> ShardCounters {
        self.counters
    }

    /// Open TCP connections.
    pub fn connections(&self) -> usize {
        self.streams.open()
    }

    /// Reads until the stop is asked for, then drains and returns. Allocates nothing per message.
    ///
    /// Draining: UDP sockets refuse what arrives from then on (counted as `Stopping`) and are read to the
    /// end of their queue; waiting connections are accepted, listeners closed, and every connection read until
    /// it has nothing more; frames that are still open are counted. All of it within
    /// [`ShardConfig::drain`]; datagrams that are queued beyond that are counted as `Abandoned`. The last call
    /// of the sink is a [`Sink::batch_end`], and the counters are published after it.
    ///
    /// # Errors
    /// When the poller fails, which it does not while the process is sound.
    pub fn run<S: Sink>(&mut self, sink: &mut S, stop: &Stop) -> io::Result<()> {
        self.poller.add(stop.as_fd(), Token::Stop.pack())?;
        crate::sys::fd::timer_slack(1_000);
        let mut patience = Patience::new(stop, self.config.drain);
        let mut events = Events::new();
        let mut ticked = Instant::now();
        let mut swept = ticked;
        while !stop.is_set() {
            self.poller.wait(&mut events, self.config.tick)?;
            self.counters.meters.enter(Meter::HepReceive);
            let may_linger = self.turn(&events, sink, &mut patience);
            let now = Instant::now();
            if now - ticked >= self.config.tick {
                ticked = now;
                self.watch.refresh(&mut self.counters);
                let (used, all) = (self.blocks.pool().in_use(), self.blocks.pool().capacity());
                self.counters.meters.queue(Meter::HepHeld, used as u64, all as u64);
            }
            if now - swept >= SWEEP {
                swept = now;
                let (streams, mut desk) = self.streams_desk(sink, &mut patience);
                streams.sweep(&mut desk);
            }
            self.end_batch(sink);
            if may_linger && !self.config.linger.is_zero() && !stop.is_set() {
                std::thread::sleep(self.config.linger);
            }
        }
        self.drain(sink, &mut patience);
        self.watch.ended(&mut self.counters);
        self.end_batch(sink);
        Ok(())
    }

    /// Gives every ready socket its turn. Answers whether only UDP sockets were ready and all of them are
    /// empty now.
    fn turn<S: Sink>(&mut self, events: &Events, sink: &mut S, patience: &mut Patience) -> bool {
        let (mut any, mut emptied) = (false, true);
        for token in events.tokens() {
            any = true;
            emptied &= match Token::unpack(token) {
                Token::Udp(index) => self.turn_udp(index, sink, patience) == Turn::Drained,
                Token::Listener(index) => {
                    self.streams.accept(index, &self.poller, Token::conn, &mut self.counters);
                    false
                }
                Token::Conn(index) => {
                    self.turn_conn(index, sink, patience);
                    false
                }
                Token::Stop => false,
            };
        }
        any && emptied
    }

    fn turn_udp<S: Sink>(&mut self, index: usize, sink: &mut S, patience: &mut Patience) -> Turn {
        let Self { readers, scratch, blocks, watch, counters, .. } = self;
        let mut desk = Desk { sink, counters, blocks, watch, patience };
        readers.get_mut(index).map_or(Turn::Drained, |reader| reader.turn(scratch, &mut desk))
    }

    fn turn_conn<S: Sink>(&mut self, index: usize, sink: &mut S, patience: &mut Patience) -> conn::Turn {
        let (streams, mut desk) = self.streams_desk(sink, patience);
        streams.turn(index, &mut desk)
    }

    fn streams_desk<'a, S: Sink>(
        &'a mut self,
        sink: &'a mut S,
        patience: &'a mut Patience,
    ) -> (&'a mut Streams, Desk<'a, S>) {
        let Self { streams, blocks, watch, counters, .. } = self;
        (streams, Desk { sink, counters, blocks, watch, patience })
    }

    fn end_batch<S: Sink>(&mut self, sink: &mut S) {
        sink.batch_end(unix_ns(), &mut self.counters);
        self.counters.meters.enter(Meter::HepWait);
        self.counters.publish();
    }

    fn drain<S: Sink>(&mut self, sink: &mut S, patience: &mut Patience) {
        // A socket that cannot be frozen is read until it is empty once.
        self.watch.stopping(&mut self.counters);
        for reader in &self.readers {
            let _ = reader.socket().freeze();
        }
        self.streams.stop_listening(&self.poller, Token::conn, &mut self.counters);
        let mut udp: Vec<usize> = (0..self.readers.len()).collect();
        let mut conns = self.streams.indices();
        while (!udp.is_empty() || !conns.is_empty()) && !patience.is_over() {
            udp.retain(|index| self.turn_udp(*index, sink, patience) == Turn::More);
            conns.retain(|index| self.turn_conn(*index, sink, patience) == conn::Turn::More);
            self.end_batch(sink);
        }
        for reader in &mut self.readers {
            reader.abandon(&mut self.scratch, &mut self.watch, &mut self.counters);
        }
        let (streams, mut desk) = self.streams_desk(sink, patience);
        streams.close_all(&mut desk);
    }
}

// The room that a UDP read asks for fits into every block.
const _: () = assert!(MAX_DATAGRAM <= MIN_BLOCK);
