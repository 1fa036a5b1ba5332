//! How much of a stream's data was written behind HTTP/2's back.
//!
//! The `h2` library takes data and writes it when flow control and its own order allow; it does not tell when. A call
//! that is to prove that the data before it was read must be written behind it, so the bytes that go out are followed
//! here: frame heads are read (RFC 9113 section 4.1) and the lengths of DATA frames added up.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

/// The client's connection preface, RFC 9113 section 3.4.
const PREFACE: usize = 24;

/// Type of a DATA frame.
const DATA: u8 = 0;

/// Bytes of a frame head.
const HEAD: usize = 9;

/// What was written so far.
#[derive(Debug, Default)]
pub(crate) struct Written {
    first: AtomicU64,
    others: AtomicU64,
    /// DATA went out.
    pub progress: Notify,
}

impl Written {
    /// Bytes of data on the connection's first stream.
    pub fn first(&self) -> u64 {
        self.first.load(Ordering::Acquire)
    }

    /// Bytes of data on all other streams.
    pub fn others(&self) -> u64 {
        self.others.load(Ordering::Acquire)
    }
}

/// A connection whose outgoing frames are followed.
pub(crate) struct Followed<T> {
    inner: T,
    place: Place,
    written: Arc<Written>,
}

impl<T> Followed<T> {
    pub fn new(inner: T) -> (Self, Arc<Written>) {
        let written = Arc::new(Written::default());
        (Self { inner, place: Place::new(), written: written.clone() }, written)
    }

    fn follow(&mut self, bytes: &[u8]) -> bool {
        self.place.follow(bytes, |first, length| {
            let counter = if first { &self.written.first } else { &self.written.others };
            counter.fetch_add(length, Ordering::AcqRel);
        })
    }
}

/// Where in the sequence of frames the next byte stands.
#[derive(Debug)]
struct Place {
    head: [u8; HEAD],
    /// Bytes of the head that are there.
    have: usize,
    /// Bytes to pass before the next head.
    pass: usize,
    data: bool,
    first: bool,
}

impl Place {
    fn new() -> Self {
        Self { head: [0; HEAD], have: 0, pass: PREFACE, data: false, first: false }
    }

    /// Passes over `bytes`; tells of each piece of data whether it is the first stream's. Gives whether there was any.
    fn follow(&mut self, mut bytes: &[u8], mut tell: impl FnMut(bool, u64)) -> bool {
        let mut any = false;
        while !bytes.is_empty() {
            if self.pass > 0 {
                let passed = self.pass.min(bytes.len());
                if self.data {
                    tell(self.first, passed as u64);
                    any = true;
                }
                self.pass = self.pass.saturating_sub(passed);
                bytes = bytes.get(passed..).unwrap_or_default();
                continue;
            }
            let taken = HEAD.saturating_sub(self.have).min(bytes.len());
            let (part, rest) = bytes.split_at(taken);
            for (to, from) in self.head.iter_mut().skip(self.have).zip(part) {
                *to = *from;
            }
            self.have = self.have.saturating_add(taken);
            bytes = rest;
            if self.have == HEAD {
                let [l0, l1, l2, kind, _, s0, s1, s2, s3] = self.head;
                self.pass = usize::from(l0) << 16 | usize::from(l1) << 8 | usize::from(l2);
                self.data = kind == DATA;
                self.first = u32::from_be_bytes([s0, s1, s2, s3]) & 0x7fff_ffff == 1;
                self.have = 0;
            }
        }
        any
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Followed<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Followed<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write(context, bytes);
        if let Poll::Ready(Ok(length)) = done
            && self.follow(bytes.get(..length).unwrap_or(bytes))
        {
            self.written.progress.notify_one();
        }
        done
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.inner).poll_write_vectored(context, parts);
        if let Poll::Ready(Ok(mut length)) = done {
            let mut any = false;
            for part in parts {
                let written = part.len().min(length);
                any |= self.follow(part.get(..written).unwrap_or_default());
                length = length.saturating_sub(written);
            }
            if any {
                self.written.progress.notify_one();
            }
        }
        done
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(length: u8, kind: u8, stream: u8) -> Vec<u8> {
        let mut bytes = vec![0, 0, length, kind, 0, 0, 0, 0, stream];
        bytes.resize(HEAD + usize::from(length), 0xff);
        bytes
    }

    #[test]
    fn data_is_counted_at_every_cut() {
        let mut bytes = vec![b'P'; PREFACE];
        for part in [
            frame(18, 4, 0),
            frame(30, 1, 1),
            frame(200, 0, 1),
            frame(5, 0, 3),
            frame(0, 0, 1),
            frame(7, 0, 1),
        ] {
            bytes.extend(part);
        }
        for cut in 0..bytes.len() {
            let (mut place, mut sums) = (Place::new(), [0, 0]);
            for part in [&bytes[..cut], &bytes[cut..]] {
                place.follow(part, |first, length| sums[usize::from(first)] += length);
            }
            assert_eq!(sums, [5, 207], "cut at {cut}");
        }
    }
}
