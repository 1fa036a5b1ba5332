//! epoll, level-triggered.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use super::check;

/// Most events that one wait answers; the rest follow with the next.
pub(crate) const EVENTS: usize = 128;

/// A set of descriptors that are watched for input.
#[derive(Debug)]
pub(crate) struct Poller {
    epoll: OwnedFd,
}

/// The events of one wait.
pub(crate) struct Events {
    list: [libc::epoll_event; EVENTS],
    len: usize,
}

impl Events {
    pub(crate) fn new() -> Self {
        Self { list: [libc::epoll_event { events: 0, u64: 0 }; EVENTS], len: 0 }
    }

    /// The tokens of the descriptors that have something to read.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = u64> + '_ {
        self.list[..self.len].iter().map(|event| event.u64)
    }
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: takes an integer and touches no memory of ours.
        let fd = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: the call succeeded, so the descriptor is open and nobody else owns it.
        Ok(Self { epoll: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    /// Watches `fd`; its events carry `token`. Closing the descriptor ends it.
    pub(crate) fn add(&self, fd: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: token };
        let (epoll, fd) = (self.epoll.as_raw_fd(), fd.as_raw_fd());
        // SAFETY: the event is a live local that the kernel copies.
        check(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &raw mut event) })?;
        Ok(())
    }

    /// Waits until something can be read, at most for `limit` (rounded up to milliseconds). An interrupted
    /// wait answers with no events.
    pub(crate) fn wait(&self, events: &mut Events, limit: Duration) -> io::Result<()> {
        let limit_ms = i32::try_from(limit.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX);
        events.len = 0;
        let list = events.list.as_mut_ptr();
        // SAFETY: the list has room for EVENTS events and is borrowed exclusively during the call.
        let answer =
            check(unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), list, EVENTS as i32, limit_ms) });
        match answer {
            Ok(n) => {
                events.len = usize::try_from(n).unwrap_or(0).min(EVENTS);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
        }
    }
}
