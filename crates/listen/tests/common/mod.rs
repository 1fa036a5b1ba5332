//! A shard on its own thread, and sinks to look into afterwards.

#![allow(dead_code)] // Each test file uses its part.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use listen::{Frame, Origin, Shard, ShardConfig, Sink, Stop, Transport};
use mem::block::Shared;
use mem::pool::Pool;
use stats::{Board, Counter, DropReason, ShardCounters};

/// Frames of these tests: the length of the whole frame in four bytes, then anything.
pub fn framer(bytes: &[u8]) -> Frame {
    match bytes.first_chunk() {
        None => Frame::NeedMore,
        Some(len) => match u32::from_be_bytes(*len) as usize {
            len @ 4..=100_000 => Frame::Len(len),
            _ => Frame::Bad,
        },
    }
}

/// A frame with this body.
pub fn frame(body: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(body.len() + 4).unwrap().to_be_bytes().to_vec();
    frame.extend_from_slice(body);
    frame
}

/// Repeatable noise.
pub fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

/// Keeps a copy of every message and checks that it lies in the block that was announced.
#[derive(Default)]
pub struct Collect {
    pub block: Option<Shared>,
    pub messages: Vec<(SocketAddr, Transport, Vec<u8>)>,
    pub seen: Arc<AtomicU64>,
    pub releases: u64,
    pub batch_ends: u64,
    /// Takes this long for each message.
    pub slowness: Duration,
    /// Where blocks go that are let go of; without it they are just dropped.
    pub holder: Option<mpsc::Sender<Shared>>,
}

impl Sink for Collect {
    fn block(&mut self, block: &Shared) {
        let before = self.block.replace(block.clone());
        self.hand_over(before);
    }

    fn message(&mut self, bytes: &[u8], origin: &Origin, _: &mut ShardCounters) {
        let block = self.block.as_ref().expect("a block comes before the first message");
        assert!(block.range_of(bytes).is_some(), "a message outside of the current block");
        assert!(origin.received > 1_600_000_000_000_000_000);
        self.messages.push((origin.peer, origin.transport, bytes.to_vec()));
        self.seen.store(self.messages.len() as u64, Ordering::Release);
        if !self.slowness.is_zero() {
            std::thread::sleep(self.slowness);
        }
    }

    fn batch_end(&mut self, _: i64, _: &mut ShardCounters) {
        self.batch_ends += 1;
    }

    fn release(&mut self, _: &mut ShardCounters) {
        self.releases += 1;
        let block = self.block.take();
        self.hand_over(block);
    }
}

impl Collect {
    fn hand_over(&self, block: Option<Shared>) {
        if let (Some(block), Some(holder)) = (block, &self.holder) {
            let _ = holder.send(block);
        }
    }

    pub fn bodies(&self) -> impl Iterator<Item = &[u8]> {
        self.messages.iter().map(|(_, _, bytes)| bytes.as_slice())
    }
}

/// A shard that runs.
pub struct Running {
    pub stop: Stop,
    pub seen: Arc<AtomicU64>,
    pub board: Board,
    thread: JoinHandle<(Collect, Shard)>,
}

/// A shard that has returned, and its sink.
pub struct Ended {
    pub sink: Collect,
    pub shard: Shard,
    pub took: Duration,
}

pub fn config() -> ShardConfig {
    ShardConfig { max_frame: 100_000, tick: Duration::from_millis(5), ..ShardConfig::new(framer) }
}

pub fn pool() -> Pool {
    Pool::new(1 << 20, 8)
}

impl Running {
    pub fn start(
        config: ShardConfig,
        pool: Pool,
        udp: Vec<listen::UdpSocket>,
        tcp: Vec<listen::TcpListener>,
        sink: Collect,
    ) -> Self {
        let board = Board::default();
        let stop = Stop::new().unwrap();
        let seen = Arc::clone(&sink.seen);
        let mut shard = Shard::new(config, pool, board.shard()).unwrap();
        udp.into_iter().for_each(|socket| shard.add_udp(socket).unwrap());
        tcp.into_iter().for_each(|listener| shard.add_tcp(listener).unwrap());
        let asked = stop.clone();
        let thread = std::thread::spawn(move || {
            let (mut shard, mut sink) = (shard, sink);
            shard.run(&mut sink, &asked).unwrap();
            (sink, shard)
        });
        Self { stop, seen, board, thread }
    }

    pub fn seen(&self) -> u64 {
        self.seen.load(Ordering::Acquire)
    }

    pub fn wait_for(&self, messages: u64) {
        self.wait_until(|running| running.seen() >= messages);
    }

    pub fn wait_until(&self, mut done: impl FnMut(&Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            assert!(start.elapsed() < Duration::from_secs(60), "saw {}", self.seen());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Stops the shard and checks its books.
    pub fn finish(self) -> Ended {
        let start = Instant::now();
        self.stop.set();
        let (sink, shard) = self.thread.join().unwrap();
        let took = start.elapsed();
        let counters = shard.counters();
        let lost: u64 = [
            DropReason::DatagramTruncated,
            DropReason::BadFraming,
            DropReason::FrameIncomplete,
            DropReason::Abandoned,
        ]
        .map(|reason| counters.dropped(reason))
        .iter()
        .sum();
        assert_eq!(
            counters.value(Counter::UdpDatagrams) + counters.value(Counter::TcpFrames),
            sink.messages.len() as u64 + lost,
            "the books do not balance",
        );
        assert_eq!(counters.value(Counter::TcpAccepted), counters.value(Counter::TcpClosed));
        let totals = self.board.totals();
        assert_eq!(totals.get(Counter::UdpDatagrams), counters.value(Counter::UdpDatagrams));
        Ended { sink, shard, took }
    }
}

impl Ended {
    pub fn value(&self, counter: Counter) -> u64 {
        self.shard.counters().value(counter)
    }

    pub fn dropped(&self, reason: DropReason) -> u64 {
        self.shard.counters().dropped(reason)
    }
}

pub fn loopback(v6: bool) -> SocketAddr {
    if v6 { "[::1]:0".parse().unwrap() } else { "127.0.0.1:0".parse().unwrap() }
}
