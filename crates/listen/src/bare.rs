//! The bare kernel path: what receiving costs when nothing is done with the bytes.
//!
//! In: the same sockets that a shard reads. Out: counts. Owned: one fixed buffer. Bounded by: that buffer.
//! Lost: what the kernel drops, counted. Benchmarks set a shard's rate in relation to this one's.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use crate::Stop;
use crate::sys::fd::readv;
use crate::sys::recv::{BATCH, RecvBatch, Slots};
use crate::tcp::TcpListener;
use crate::udp::UdpSocket;

/// How long a blocking read waits before it looks for the stop.
const LOOK: Duration = Duration::from_millis(20);
const READ_BYTES: usize = 256 * 1024;
const PLAIN_SLOT: usize = 2048;
const GRO_SLOT: usize = crate::MAX_DATAGRAM;

/// What a bare loop saw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BareCount {
    /// Datagrams, after the split by segment size. Zero for TCP.
    pub datagrams: u64,
    /// Bytes received.
    pub bytes: u64,
    /// What the kernel dropped meanwhile, in buffers; see [`UdpSocket::dropped_buffers`].
    pub kernel_drops: u64,
    /// Calls that returned something.
    pub reads: u64,
}

/// Receives on one socket with blocking recvmmsg calls of 64 into a fixed buffer until the stop. Slots are
/// 64 KiB where the socket coalesces and 2 KiB where it does not.
///
/// # Errors
/// Any error of the socket other than a time limit.
pub fn udp(socket: &UdpSocket, stop: &Stop) -> io::Result<BareCount> {
    socket.set_blocking(LOOK)?;
    let slot = if socket.gro() { GRO_SLOT } else { PLAIN_SLOT };
    let shape = Slots { count: BATCH, stride: slot, slot };
    let mut memory = vec![0; BATCH * slot];
    let mut batch = RecvBatch::new();
    let mut count = BareCount::default();
    let before = socket.dropped_buffers().unwrap_or(0);
    while !stop.is_set() {
        match batch.recv(socket.as_fd(), &mut memory, shape, true) {
            Ok(received) => {
                count.reads += 1;
                for i in 0..received {
                    let buffer = batch.get(i);
                    count.datagrams += buffer.datagrams() as u64;
                    count.bytes += buffer.len as u64;
                }
            }
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error),
        }
    }
    count.kernel_drops = socket.dropped_buffers().unwrap_or(0).wrapping_sub(before).into();
    Ok(count)
}

/// Accepts one connection and reads it into one 256 KiB buffer until it ends or the stop is asked for.
///
/// # Errors
/// Any error of the sockets other than a time limit.
pub fn tcp(listener: &TcpListener, stop: &Stop) -> io::Result<BareCount> {
    let mut count = BareCount::default();
    let socket = loop {
        match listener.accept() {
            Ok((socket, _)) => break socket,
            Err(error) if is_pause(&error) && stop.is_set() => return Ok(count),
            Err(error) if is_pause(&error) => std::thread::sleep(Duration::from_millis(1)),
            Err(error) => return Err(error),
        }
    };
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(LOOK))?;
    let mut buffer = vec![0; READ_BYTES];
    while !stop.is_set() {
        match readv(socket.as_fd(), &mut buffer, &mut []) {
            Ok(0) => break,
            Ok(read) => {
                count.reads += 1;
                count.bytes += read as u64;
            }
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

fn is_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}
