//! Whether requests and responses of a flow that answers in order are in step.
//!
//! After a gap nobody knows how many answers are still owed to requests that were not seen. The flow is in
//! step again
//!
//! * when nothing was sent either way for [`QUIET_NS`]: the server owes nothing any more; or
//! * when a request begins after a whole response, in a flow whose client has always waited for all answers
//!   before it sent more (one at a time, or in batches): so it has them all now.
//!
//! A client that sends on while answers are still coming gives no such sign, and only the quiet helps.

use model::Nanos;

/// Silence in both lanes after which no answer is owed.
pub const QUIET_NS: i64 = 1_000_000_000;

/// The state of one flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    in_step: bool,
    /// A request has begun while the answers of those before it were coming in.
    overlapping: bool,
    /// A whole response was seen since the step was lost.
    answered_since: bool,
    last_event: Nanos,
    last_answer: Option<Nanos>,
}

impl Step {
    /// A flow whose first byte is seen is in step.
    pub const fn new(in_step: bool) -> Self {
        Self {
            in_step,
            overlapping: false,
            answered_since: false,
            last_event: Nanos(i64::MAX),
            last_answer: None,
        }
    }

    /// Whether an answer may be given to the oldest request.
    pub const fn holds(&self) -> bool {
        self.in_step
    }

    /// Bytes are missing.
    pub const fn lose(&mut self) {
        self.in_step = false;
        self.answered_since = false;
    }

    /// A request begins; `answering`: some requests sent with or before the oldest that waits were answered,
    /// others still wait.
    pub const fn request(&mut self, time: Nanos, answering: bool) {
        if self.in_step {
            self.overlapping |= answering;
        } else if self.quiet(time) || (self.answered_since && !self.overlapping) {
            self.in_step = true;
        }
        self.last_event = time;
    }

    /// A response has been seen to its end.
    pub const fn answered(&mut self, time: Nanos) {
        self.answered_since = true;
        self.last_answer = Some(time);
        self.last_event = time;
    }

    /// Anything else was seen.
    pub const fn seen(&mut self, time: Nanos) {
        self.last_event = time;
    }

    /// When a response was last seen to its end.
    pub const fn last_answer(&self) -> Option<Nanos> {
        self.last_answer
    }

    const fn quiet(&self, time: Nanos) -> bool {
        time.0.saturating_sub(self.last_event.0) >= QUIET_NS
    }
}
