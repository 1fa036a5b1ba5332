//! Descriptors: making eventfds and reading streams.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::{check, check_size};

/// A non-blocking eventfd whose counter is zero.
pub(crate) fn eventfd() -> io::Result<OwnedFd> {
    // SAFETY: takes two integers and touches no memory of ours.
    let fd = check(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
    // SAFETY: the call succeeded, so the descriptor is open and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Reads into `first`, then into `second`.
pub(crate) fn readv(fd: BorrowedFd<'_>, first: &mut [u8], second: &mut [u8]) -> io::Result<usize> {
    let parts = [iovec(first), iovec(second)];
    // SAFETY: both parts point to memory that is borrowed exclusively for the length of the call, with
    // the lengths of those borrows; the count is that of the array.
    check_size(unsafe { libc::readv(fd.as_raw_fd(), parts.as_ptr(), 2) })
}

/// How many bytes wait to be read.
pub(crate) fn queued(fd: BorrowedFd<'_>) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: FIONREAD writes one int to the address given, which is that of a live local.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONREAD, &raw mut bytes) })?;
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// Lets timed sleeps of the calling thread end within `slack_ns` of their time instead of the default
/// 50 microseconds.
pub(crate) fn timer_slack(slack_ns: u64) {
    // SAFETY: takes integers and touches no memory of ours. A refusal leaves the default in place.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack_ns, 0, 0, 0) };
}

pub(super) fn iovec(bytes: &mut [u8]) -> libc::iovec {
    libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
}
