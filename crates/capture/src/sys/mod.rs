//! Raw system calls behind a safe surface. Nothing outside this folder uses `unsafe`.
//!
//! * In: borrowed descriptors, names and slices. Out: plain values, owned descriptors and `io::Result`.
//! * Owned: the memory that a ring shares with the kernel ([`ring::Mapping`]).
//! * Bounded by: the size of that memory, which the caller gives.

pub(crate) mod caps;
pub(crate) mod ifaces;
pub(crate) mod ring;
pub(crate) mod socket;
#[cfg(test)]
pub(crate) mod testing;

use std::io;

/// The result of a system call that answers -1 and `errno` when it fails.
fn check(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}
