//! What a decoder is given and what it answers.

use crate::Protocol;
use model::{Dir, FiveTuple, Heard, Nanos};

/// How the bytes come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A part of a lane; `eof` when its sender has closed it and nothing will follow.
    Stream {
        /// The sender's FIN was reached.
        eof: bool,
    },
    /// One datagram, whole. What is not consumed of it is lost.
    Datagram,
}

/// What one call sees.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The first unconsumed bytes of the lane, contiguous.
    pub bytes: &'a [u8],
    /// Which way they go.
    pub dir: Dir,
    /// When the first of them was seen.
    pub first: Nanos,
    /// What the sender of the first of them had received of the other lane.
    pub heard: Heard,
    /// When the last of them was seen.
    pub time: Nanos,
    /// Stream or datagram.
    pub shape: Shape,
    /// Whether `bytes` starts where a segment started: the likely start of a message for a decoder that has
    /// lost its place.
    pub segment_start: bool,
    /// How many bytes of the datagram the capture cut off behind them.
    pub cut: usize,
    /// The flow.
    pub tuple: &'a FiveTuple,
}

impl Input<'_> {
    /// Whether no byte will follow these.
    pub const fn is_last(&self) -> bool {
        matches!(self.shape, Shape::Datagram | Shape::Stream { eof: true })
    }
}

/// What a decoder did with its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes dealt with, at most `input.bytes.len()`. They are not shown again.
    pub consumed: usize,
    /// What it needs before it can go on.
    pub next: Next,
}

impl Progress {
    /// Consumed `n` bytes; whatever follows is welcome.
    pub const fn consumed(n: usize) -> Self {
        Self { consumed: n, next: Next::AtLeast(1) }
    }

    /// Consumed nothing; `n` bytes of the lane must be there before the next call.
    pub const fn at_least(n: usize) -> Self {
        Self { consumed: 0, next: Next::AtLeast(n) }
    }

    /// Consumed `n` bytes; the next `skip` bytes of the lane are of no interest.
    pub const fn skip(n: usize, skip: u64) -> Self {
        Self { consumed: n, next: Next::Skip(skip) }
    }

    /// Consumed everything there was and wants to see nothing more of the flow.
    pub const fn stop(n: usize) -> Self {
        Self { consumed: n, next: Next::Stop }
    }
}

/// What comes next in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Call again when this many unconsumed bytes are there (or the lane ends). More than
    /// [`crate::Meta::max_message`] is an error of the lane.
    AtLeast(usize),
    /// A body that nobody will read: it is counted, not stored, and a gap inside it harms nothing.
    Skip(u64),
    /// Nothing more is to be learned from either lane.
    Stop,
    /// What follows in both lanes is another protocol (TLS after STARTTLS, HTTP/2 after an upgrade).
    Switch(Protocol),
}

/// Whether bytes are a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// They are; no other protocol starts like this.
    Yes,
    /// They look like it, and others may claim them with more right.
    Likely,
    /// They may become it: more bytes are needed to say.
    NeedMore,
    /// They are not.
    No,
}

/// How a flow begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Its first byte will be seen.
    Beginning,
    /// It was under way when the capture began: the next byte may be in the middle of a message, and what
    /// was agreed before (compressed headers, prepared statements) is not known.
    Middle,
    /// Another protocol handed it over with [`Next::Switch`].
    Switched,
}

/// What a decoder does after a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterGap {
    /// It looks for the start of the next message.
    Resync,
    /// It cannot go on in this flow.
    Stop,
}

/// How a flow ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// Both sides closed it.
    Fin,
    /// It was reset.
    Reset,
    /// Nothing was seen for too long.
    Timeout,
    /// Room was needed for others.
    Evicted,
    /// The capture ended first.
    Stopped,
}
