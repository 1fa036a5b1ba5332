//! Senders for benchmarks and tests.
//!
//! In: packets and where to send them. Out: how many were sent. Owned: one socket while it sends. Bounded
//! by: the number asked for, or the stop. Lost: nothing that the count includes.

use std::io::{self, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsFd;

use crate::Stop;
use crate::sys::send::{sendmmsg, udp_segment};

/// Most datagrams that one offloaded send is cut into.
const MOST_SEGMENTS: usize = 64;
/// Most bytes of one send.
const MOST_BYTES: usize = 65_000;
/// Datagrams per sendmmsg call.
const BATCH: usize = 64;

/// How datagrams are handed to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// One `send` each, as ordinary senders do.
    Plain,
    /// 64 per call.
    Sendmmsg,
    /// Segmentation offload: up to 64 datagrams of equal size in one buffer. All packets must have the length
    /// of the first.
    Gso,
}

/// How long to send.
#[derive(Debug, Clone)]
pub enum Until {
    /// So many units exactly.
    Count(u64),
    /// Until it is asked for.
    Stop(Stop),
}

impl Until {
    fn left(&self, sent: u64) -> u64 {
        match self {
            Self::Count(count) => count.saturating_sub(sent),
            Self::Stop(stop) if stop.is_set() => 0,
            Self::Stop(_) => u64::MAX,
        }
    }
}

/// Sends `packets` over and over from one socket. Answers how many datagrams were sent.
///
/// # Errors
/// Any error of the socket; `InvalidInput` without packets.
pub fn udp(addr: SocketAddr, packets: &[Vec<u8>], mode: Mode, until: &Until) -> io::Result<u64> {
    let Some(first) = packets.first() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let from: SocketAddr = match addr {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(from)?;
    socket.connect(addr)?;
    match mode {
        Mode::Plain => {
            let mut sent = 0;
            for packet in packets.iter().cycle() {
                if until.left(sent) == 0 {
                    break;
                }
                socket.send(packet)?;
                sent += 1;
            }
            Ok(sent)
        }
        Mode::Sendmmsg => {
            let batch: Vec<&[u8]> =
                packets.iter().cycle().take(packets.len().max(BATCH)).map(Vec::as_slice).collect();
            send_batches(&batch, until, |part| sendmmsg(socket.as_fd(), part))
        }
        Mode::Gso => {
            udp_segment(socket.as_fd(), u16::try_from(first.len()).unwrap_or(u16::MAX))?;
            let segments = (MOST_BYTES / first.len().max(1)).clamp(1, MOST_SEGMENTS);
            let mut sent = 0;
            let mut ring = packets.iter().cycle();
            let buffers: Vec<Vec<u8>> = (0..packets.len().div_ceil(segments).max(8))
                .map(|_| ring.by_ref().take(segments).flatten().copied().collect())
                .collect();
            for buffer in buffers.iter().cycle() {
                let left = until.left(sent);
                if left == 0 {
                    break;
                }
                let datagrams = segments.min(usize::try_from(left).unwrap_or(usize::MAX));
                socket.send(&buffer[..datagrams * first.len()])?;
                sent += datagrams as u64;
            }
            Ok(sent)
        }
    }
}

/// Sends `batch` over and over, as much of it as each call takes.
fn send_batches(
    batch: &[&[u8]],
    until: &Until,
    mut send: impl FnMut(&[&[u8]]) -> io::Result<usize>,
) -> io::Result<u64> {
    let mut sent: u64 = 0;
    let mut at: usize = 0;
    loop {
        let left = usize::try_from(until.left(sent)).unwrap_or(usize::MAX);
        if left == 0 {
            return Ok(sent);
        }
        let end = batch.len().min(at.saturating_add(left));
        let done = send(&batch[at..end])?;
        sent += done as u64;
        at = (at + done) % batch.len();
    }
}

/// Sends `bytes` over and over on one connection. Answers how many times all of them were sent.
///
/// # Errors
/// Any error of the connection.
pub fn tcp(addr: SocketAddr, bytes: &[u8], until: &Until) -> io::Result<u64> {
    let mut stream = TcpStream::connect(addr)?;
    let mut sent = 0;
    while until.left(sent) > 0 {
        stream.write_all(bytes)?;
        sent += 1;
    }
    Ok(sent)
}
