//! A buffer over a source: the bytes of one record at a time, and never more waiting than they need.

use std::io::{self, Read};

/// Where the buffer starts: large enough that a file costs few calls, small enough to stay in the cache.
const CAPACITY: usize = 256 * 1024;

/// The unread bytes of a source.
#[derive(Debug)]
pub(super) struct Window<R> {
    inner: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes that were taken.
    taken: u64,
}

impl<R: Read> Window<R> {
    pub fn new(inner: R) -> Self {
        Self { inner, buffer: vec![0; CAPACITY], start: 0, end: 0, taken: 0 }
    }

    pub fn inner(&self) -> &R {
        &self.inner
    }

    /// Offset of the next byte in the capture.
    pub fn offset(&self) -> u64 {
        self.taken
    }

    /// Offset of the last byte that was read.
    pub fn read_to(&self) -> u64 {
        self.taken + (self.end - self.start) as u64
    }

    /// The unread bytes that are there.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Reads until `n` unread bytes are there, and stops at once when they are; `false` when the source
    /// ends before. The buffer grows by what arrives, not by what a length field promises.
    pub fn fill(&mut self, n: usize) -> io::Result<bool> {
        while self.end - self.start < n {
            if self.start > 0 && self.buffer.len() - self.start < n {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            }
            if self.end == self.buffer.len() {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
            match self.inner.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Takes `n` bytes, which must be there.
    pub fn take(&mut self, n: usize) -> &[u8] {
        let start = self.start;
        self.start = (start + n).min(self.end);
        self.taken += (self.start - start) as u64;
        let taken = &self.buffer[start..self.start];
        if self.start == self.end {
            // The next read gets the whole buffer; the bytes taken stay where they are until then.
            (self.start, self.end) = (0, 0);
        }
        taken
    }

    /// Takes `n` bytes without holding them; `false` when the source ends before.
    pub fn skip(&mut self, mut n: u64) -> io::Result<bool> {
        while n > 0 {
            if self.start == self.end && !self.fill(1)? {
                return Ok(false);
            }
            let there = ((self.end - self.start) as u64).min(n);
            self.take(there as usize);
            n -= there;
        }
        Ok(true)
    }
}
