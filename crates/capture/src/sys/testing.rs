//! What tests need of the kernel: a network of their own and frames that they made.

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::check;

/// Gives the calling thread, and what it starts, a network namespace that goes with it.
pub(crate) fn own_network() -> io::Result<()> {
    // SAFETY: takes an integer and touches no memory of ours; sockets that are open stay where they are.
    check(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map(drop)
}

/// Sends one frame as it is.
pub(crate) fn send_frame(fd: BorrowedFd<'_>, index: u32, frame: &[u8]) -> io::Result<()> {
    // SAFETY: a C structure of integers, for which zero bytes are valid.
    let mut to: libc::sockaddr_ll = unsafe { zeroed() };
    to.sll_family = libc::AF_PACKET as u16;
    to.sll_protocol = u16::from_ne_bytes([frame[12], frame[13]]);
    to.sll_ifindex = index.cast_signed();
    let len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    let (bytes, count, to) = (frame.as_ptr().cast(), frame.len(), (&raw const to).cast());
    // SAFETY: the kernel reads the frame and the address with their true lengths; both live.
    let sent = unsafe { libc::sendto(fd.as_raw_fd(), bytes, count, 0, to, len) };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
