//! Socket options that socket2 does not cover.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::check;

/// Lets the kernel hand over datagrams of one sender coalesced, with their size beside them.
pub(crate) fn udp_gro(fd: BorrowedFd<'_>, on: bool) -> io::Result<()> {
    set_int(fd, libc::SOL_UDP, libc::UDP_GRO, on.into())
}

/// Asks for the socket's drop count beside each datagram.
pub(crate) fn rxq_ovfl(fd: BorrowedFd<'_>) -> io::Result<()> {
    set_int(fd, libc::SOL_SOCKET, libc::SO_RXQ_OVFL, 1)
}

/// Sets the receive buffer beyond `net.core.rmem_max`; needs CAP_NET_ADMIN. The kernel doubles the value.
pub(crate) fn rcvbuf_force(fd: BorrowedFd<'_>, bytes: usize) -> io::Result<()> {
    set_int(fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, i32::try_from(bytes / 2).unwrap_or(i32::MAX))
}

/// A socket's receive queue as the kernel sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queue {
    /// Memory that waiting buffers take. Zero when none waits.
    pub(crate) bytes: u32,
    /// The most memory that they may take.
    pub(crate) limit: u32,
    /// How many buffers were dropped because there was no room, modulo 2^32, since the socket was made.
    /// Covers drops after the last queued datagram, which no control message tells of.
    pub(crate) drops: u32,
}

/// The state of the receive queue (SO_MEMINFO).
pub(crate) fn queue(fd: BorrowedFd<'_>) -> io::Result<Queue> {
    let mut info = [0u32; libc::SK_MEMINFO_DROPS as usize + 1];
    let mut len = size_of_val(&info) as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes to the array, and `len` is the array's size; both are
    // live locals.
    let answer = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            info.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    check(answer)?;
    if len as usize != size_of_val(&info) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(Queue {
        bytes: info[libc::SK_MEMINFO_RMEM_ALLOC as usize],
        limit: info[libc::SK_MEMINFO_RCVBUF as usize],
        drops: info[libc::SK_MEMINFO_DROPS as usize],
    })
}

pub(super) fn set_int(fd: BorrowedFd<'_>, level: i32, name: i32, value: i32) -> io::Result<()> {
    set(fd, level, name, &value)
}

/// Sets an option to a plain C value.
pub(super) fn set<T>(fd: BorrowedFd<'_>, level: i32, name: i32, value: &T) -> io::Result<()> {
    let len = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads `len` bytes of `value`, which is borrowed for the length of the call.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, std::ptr::from_ref(value).cast(), len) })?;
    Ok(())
}
