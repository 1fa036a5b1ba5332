//! Sending many datagrams with one call, for benchmarks and tests.

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::check;
use super::sockopt::set_int;

/// Cuts every buffer that is sent from now on into datagrams of `bytes` (UDP_SEGMENT); zero ends it.
pub(crate) fn udp_segment(fd: BorrowedFd<'_>, bytes: u16) -> io::Result<()> {
    set_int(fd, libc::SOL_UDP, libc::UDP_SEGMENT, bytes.into())
}

/// Sends up to 64 datagrams on a connected socket with one call. Answers how many were sent.
pub(crate) fn sendmmsg(fd: BorrowedFd<'_>, datagrams: &[impl AsRef<[u8]>]) -> io::Result<usize> {
    const MOST: usize = 64;
    // SAFETY: both are C structures of integers and pointers, for which zero bytes are valid.
    let (mut headers, mut parts) = unsafe { zeroed::<([libc::mmsghdr; MOST], [libc::iovec; MOST])>() };
    let count = datagrams.len().min(MOST);
    for ((header, part), datagram) in headers.iter_mut().zip(&mut parts).zip(datagrams) {
        let bytes = datagram.as_ref();
        // The kernel only reads what is sent.
        part.iov_base = bytes.as_ptr().cast_mut().cast();
        part.iov_len = bytes.len();
        header.msg_hdr.msg_iov = part;
        header.msg_hdr.msg_iovlen = 1;
    }
    // SAFETY: the first `count` headers point to parts that point to `datagrams`, all of which live and are
    // not written during the call.
    let sent =
        check(unsafe { libc::sendmmsg(fd.as_raw_fd(), headers.as_mut_ptr(), count as libc::c_uint, 0) })?;
    Ok(usize::try_from(sent).unwrap_or(0))
}
