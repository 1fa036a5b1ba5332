//! The one signal that ends all shards.
//!
//! In: a call from any thread. Out: every shard that waits in its poller wakes and drains. Owned: a flag
//! and an eventfd. Bounded by: nothing to bound. Lost: nothing.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::sys;

/// A request to stop that, once made, stays. Clones are the same request.
#[derive(Debug, Clone)]
pub struct Stop {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    asked: AtomicBool,
    // Never read, so that it stays readable and wakes every poller that watches it.
    wake: std::fs::File,
}

impl Stop {
    /// A request that was not made yet.
    ///
    /// # Errors
    /// When the process is out of file descriptors.
    pub fn new() -> io::Result<Self> {
        let wake = std::fs::File::from(sys::fd::eventfd()?);
        Ok(Self { inner: Arc::new(Inner { asked: AtomicBool::new(false), wake }) })
    }

    /// Asks every shard to drain and return. Safe to call more than once.
    pub fn set(&self) {
        if !self.inner.asked.swap(true, Ordering::AcqRel) {
            // The counter was zero, so adding one cannot block or fail.
            let _ = (&self.inner.wake).write(&1u64.to_ne_bytes());
        }
    }

    /// Whether it was asked.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.inner.asked.load(Ordering::Acquire)
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.wake.as_fd()
    }
}
