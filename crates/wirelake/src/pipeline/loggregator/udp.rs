//! Dropsonde over UDP: one thread reads every address, so that the envelopes of a source stay in order.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use ::loggregator::Sockets;
use anyhow::{Context, Result, anyhow};
use listen::udp::Gro;
use listen::{Frame, Origin, Shard, ShardConfig, Sink, Stop, UdpOptions, bind_udp};
use mem::block::Shared;
use mem::pool::Pool;
use stats::{Board, Counter, DropReason, ShardCounters};

use super::feed::Feed;

/// Memory that datagrams are received into. Nothing points into it once they are read.
const BLOCK_BYTES: usize = 1 << 20;
const BLOCKS: usize = 2;

/// Bound sockets, before a thread reads them.
#[derive(Debug)]
pub struct Bound {
    shard: Shard,
    board: Board,
    /// Their addresses, with the ports that were picked.
    pub addresses: Vec<SocketAddr>,
    /// What must be said once about the machine, in sentences.
    pub remarks: Vec<String>,
}

/// The thread at work.
#[derive(Debug)]
pub struct Reader {
    board: Board,
    stop: Arc<Stop>,
    thread: Mutex<Option<JoinHandle<Result<()>>>>,
}

/// Binds `addresses`. Where `optional`, one that another program has is left to it, with a remark.
///
/// # Errors
/// When an address cannot be bound: which one, and what to do.
pub fn bind(addresses: &[SocketAddr], rcvbuf: usize, optional: bool, drain_ms: u64) -> Result<Bound> {
    let board = Board::default();
    let config =
        ShardConfig { drain: std::time::Duration::from_millis(drain_ms), ..ShardConfig::new(|_| Frame::Bad) };
    let shard = Shard::new(config, Pool::new(BLOCK_BYTES, BLOCKS), board.shard())
        .context("the thread for dropsonde could not be made")?;
    let mut bound = Bound { shard, board, addresses: Vec::new(), remarks: Vec::new() };
    // Its datagrams come one by one from many senders, and coalescing would make drops uncountable for some.
    let options = UdpOptions { receive_buffer: rcvbuf, gro: Gro::Off, ..UdpOptions::default() };
    for wanted in addresses {
        let mut sockets = match bind_udp(*wanted, 1, &options) {
            Ok(sockets) => sockets,
            Err(error) if optional && error.kind() == std::io::ErrorKind::AddrInUse => {
                bound.remarks.push(format!(
                    "UDP {wanted} is taken by another program, so dropsonde is not listened for; name an address with \
                     --dropsonde-udp ADDRESS"
                ));
                continue;
            }
            Err(error) => return Err(refusal(*wanted, &error)),
        };
        let socket = sockets.pop().context("no socket")?;
        let grant = socket.grant();
        if grant.is_short() && !optional {
            bound.remarks.push(format!(
                "the receive buffer of UDP {wanted} is {} KiB, not the {} KiB asked for; bursts may be lost in the \
                 kernel. Lift it with: sudo sysctl -w net.core.rmem_max={}",
                grant.given >> 10,
                grant.asked >> 10,
                grant.rmem_max_needed()
            ));
        }
        bound.addresses.push(socket.local_addr());
        bound.shard.add_udp(socket)?;
    }
    Ok(bound)
}

fn refusal(wanted: SocketAddr, error: &std::io::Error) -> anyhow::Error {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => anyhow!(
            "UDP {wanted} is taken by another program; stop it (`ss -ulpn 'sport = :{}'` names it), or choose another \
             address for dropsonde",
            wanted.port()
        ),
        std::io::ErrorKind::AddrNotAvailable => {
            anyhow!("UDP {wanted}: this machine has no such address; `ip address` lists those it has")
        }
        _ => anyhow!("UDP {wanted} cannot be listened on for dropsonde: {error}"),
    }
}

impl Bound {
    /// Starts the thread.
    ///
    /// # Errors
    /// When there can be no further thread.
    pub fn start(self, feed: Feed) -> Result<Reader> {
        let Self { mut shard, board, .. } = self;
        let stop = Arc::new(Stop::new()?);
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("dropsonde".to_owned())
            .spawn(move || {
                let mut sink = DropsondeSink { feed };
                let ended = shard.run(&mut sink, &stopped);
                shard.into_counters().publish();
                sink.feed.finish();
                ended.context("the thread for dropsonde had to stop")
            })
            .context("the thread for dropsonde could not be started")?;
        Ok(Reader { board, stop, thread: Mutex::new(Some(thread)) })
    }
}

impl Reader {
    fn thread(&self) -> MutexGuard<'_, Option<JoinHandle<Result<()>>>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What its sockets counted.
    pub fn sockets(&self) -> Sockets {
        let totals = self.board.totals();
        Sockets {
            datagrams: totals.get(Counter::UdpDatagrams),
            bytes: totals.get(Counter::UdpBytes),
            kernel_drops: totals.dropped(DropReason::KernelBuffer),
            unread: totals.dropped(DropReason::Stopping) + totals.dropped(DropReason::Abandoned),
            truncated: totals.dropped(DropReason::DatagramTruncated),
        }
    }

    /// Whether the thread ended by itself, which it never should.
    pub fn has_failed(&self) -> bool {
        !self.stop.is_set() && self.thread().as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Reads what the kernel still holds, then ends the thread.
    ///
    /// # Errors
    /// Why it ended, when it was not for being asked to.
    pub fn stop(&self) -> Result<()> {
        self.stop.set();
        match self.thread().take() {
            Some(thread) => {
                thread.join().unwrap_or_else(|_| Err(anyhow!("the thread for dropsonde panicked")))
            }
            None => Ok(()),
        }
    }
}

/// Every datagram is an envelope, or a reason.
#[derive(Debug)]
struct DropsondeSink {
    feed: Feed,
}

impl Sink for DropsondeSink {
    fn block(&mut self, _: &Shared) {}

    #[inline]
    fn message(&mut self, bytes: &[u8], origin: &Origin, _: &mut ShardCounters) {
        self.feed.datagram(bytes, origin.received);
    }

    fn batch_end(&mut self, now: i64, _: &mut ShardCounters) {
        self.feed.turn(now);
    }

    fn release(&mut self, _: &mut ShardCounters) {}
}
