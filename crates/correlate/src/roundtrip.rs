//! One row's worth: a request with its response, or one of them alone.

use decode::{Fields, Key, Status};
use model::{Dir, Nanos};

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Request and response were seen.
    Answered,
    /// A request without a response.
    Unanswered,
    /// A response without a request.
    Orphan,
    /// A message that expects no answer.
    OneWay,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Outcome; 4] = [Self::Answered, Self::Unanswered, Self::Orphan, Self::OneWay];

    /// The label in rows and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Unanswered => "unanswered",
            Self::Orphan => "orphan",
            Self::OneWay => "one_way",
        }
    }
}

/// How sure it is that request and response belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Confidence {
    /// Everything since the flow began was seen.
    Exact,
    /// The flow was under way when the capture began.
    LateJoin,
    /// Bytes of the flow are missing.
    AfterGap,
}

impl Confidence {
    /// The label in rows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LateJoin => "late_join",
            Self::AfterGap => "after_gap",
        }
    }
}

/// One message of a roundtrip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// When its first byte was seen.
    pub first: Nanos,
    /// When its last byte was seen; `None` while it is under way, or when its end was never seen.
    pub last: Option<Nanos>,
    /// Its size on the wire; 0 until the end was seen.
    pub bytes: u64,
}

/// A request with its response, or one of them alone.
#[derive(Debug)]
pub struct Roundtrip {
    /// What it is paired by.
    pub key: Key,
    /// Which way the request goes (for an orphan: the way a request would have gone).
    pub dir: Dir,
    /// The request, or the message that is alone.
    pub request: Option<Part>,
    /// The response.
    pub response: Option<Part>,
    /// What became of it.
    pub outcome: Outcome,
    /// How sure the pairing is.
    pub confidence: Confidence,
    /// How it went.
    pub status: Status,
    /// Why there is no (whole) answer: `gap`, `reset`, `closed`, `timeout`, `evicted`...
    pub reason: Option<&'static str>,
    /// Bits of [`decode::Notice`].
    pub notices: u8,
    /// What the messages told: the request's fields, then the response's.
    pub fields: Fields,
}

impl Roundtrip {
    /// When the first byte of it was seen.
    pub fn start(&self) -> Nanos {
        self.request.or(self.response).map_or(Nanos(0), |part| part.first)
    }

    /// When the first byte of the response was seen.
    pub fn first_byte(&self) -> Option<Nanos> {
        self.response.map(|part| part.first)
    }

    /// When the last byte of it was seen.
    pub fn end(&self) -> Nanos {
        let last = |part: Part| part.last.unwrap_or(part.first);
        let request = self.request.map(last);
        self.response.map(last).max(request).unwrap_or(Nanos(0))
    }

    /// From the first byte of the request to the last of the response, nanoseconds; `None` when one is missing.
    pub fn duration_ns(&self) -> Option<i64> {
        let request = self.request?;
        let last = self.response?.last?;
        Some(last.0.saturating_sub(request.first.0).max(0))
    }

    pub(crate) fn reset(&mut self, key: Key, dir: Dir) {
        self.key = key;
        self.dir = dir;
        self.request = None;
        self.response = None;
        self.outcome = Outcome::Unanswered;
        self.confidence = Confidence::Exact;
        self.status = Status::Unset;
        self.reason = None;
        self.notices = 0;
        self.fields.clear();
    }

    pub(crate) fn empty() -> Self {
        Self {
            key: Key::Order,
            dir: Dir::ToServer,
            request: None,
            response: None,
            outcome: Outcome::Unanswered,
            confidence: Confidence::Exact,
            status: Status::Unset,
            reason: None,
            notices: 0,
            fields: Fields::default(),
        }
    }
}
