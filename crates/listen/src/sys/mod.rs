//! Raw system calls behind a safe surface. Nothing outside this folder uses `unsafe`.
//!
//! In: borrowed descriptors and slices. Out: plain values and `io::Result`. Owned: the message headers
//! that `recvmmsg` and `sendmmsg` need, kept between calls. Bounded by: [`recv::BATCH`] messages a call.

pub(crate) mod arrivals;
pub(crate) mod fd;
pub(crate) mod filter;
pub(crate) mod poll;
pub(crate) mod recv;
pub(crate) mod send;
pub(crate) mod sockopt;

use std::io;

/// The result of a system call that answers -1 and `errno` when it fails.
fn check(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// The same for calls that answer with a size.
fn check_size(answer: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(answer).map_err(|_| io::Error::last_os_error())
}
