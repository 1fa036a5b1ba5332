//! Whether requests and responses of a flow that answers in order are in step.
//!
//! After a gap, and in a flow joined in its middle, nobody knows how many answers are still owed to requests
//! that were not seen. The flow is in step again
//!
//! * when nothing was sent either way for [`QUIET_NS`]: the server owes nothing any more; or
//! * when a client that was never seen to send on while it is answered pauses after a whole response: for
//!   [`PAUSE_NS`], and for [`PAUSE_FACTOR`] times as long as the server has ever taken, which has answered
//!   [`PAUSE_ANSWERS`] times; or
//! * when a request begins after a whole response, in a flow whose client waits for all answers before it
//!   sends more (one at a time, or in batches): so it has them all now.
//!
//! That a client waits is its habit: it has done so [`ROUNDS`] times on end, and never otherwise. A round is a run
//! of requests and the run of their answers, as many of one as of the other; so a habit is seen in a flow that is
//! not in step, too. It counts only if TCP's acknowledgements bear it out: the client had received everything that
//! the server had said when it sent the first request of the round and that of the next one, and the server every
//! request of it when it began to answer. Two messages that cross each other on the way make no round, whatever
//! the order in which they were captured.
//!
//! What one side sent before it had received the other's last words proves more than that. A request that crosses
//! an answer comes from a client that does not wait, so only the quiet helps in its flow. An answer that crosses
//! the only request that waits is not the answer to it ([`Step::mistaken`]).
//!
//! No acknowledgement proves the opposite: it tells what a host has received, not what its program has dealt with.
//! A flow in which the server is always the same number of answers behind, and slower than the way to the client
//! and back, looks like one in step, and no byte of it tells that it is not, when it was joined so.

use model::{Heard, Nanos};

/// Silence in both lanes after which no answer is owed.
pub const QUIET_NS: i64 = 1_000_000_000;

/// The shortest pause of a client that tells something.
pub const PAUSE_NS: i64 = 10_000_000;

/// How much longer than the longest answer it must be.
pub const PAUSE_FACTOR: i64 = 8;

/// Answers from which is known how long they take.
pub const PAUSE_ANSWERS: u32 = 4;

/// Rounds after which a client is known to wait. With 8, one of some 7,000 captures that join a client that sends as
/// it likes, about as fast as it is answered, takes it for one that waits.
pub const ROUNDS: u8 = 16;

/// What is known of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Habit {
    /// It has waited so often on end.
    Unknown(u8),
    /// It waits for all answers before it sends more.
    Waits,
    /// It does not.
    Overlaps,
}

/// The state of one flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    in_step: bool,
    habit: Habit,
    /// Requests of this round; `None` until one was seen from its beginning.
    asked: Option<u32>,
    /// Whole responses of this round.
    answered: u32,
    /// Whether nothing of this round crossed on the way.
    clean: bool,
    /// When the first request of this round began.
    asked_at: Nanos,
    /// Responses so far.
    responses: u32,
    /// The longest that one of them took, since its round or the response before it.
    slowest_ns: i64,
    last_event: Nanos,
    last_answer: Option<Nanos>,
}

impl Step {
    /// A flow whose first byte is seen is in step.
    pub const fn new(in_step: bool) -> Self {
        Self {
            in_step,
            habit: Habit::Unknown(0),
            asked: if in_step { Some(0) } else { None },
            answered: 0,
            clean: true,
            asked_at: Nanos(i64::MAX),
            responses: 0,
            slowest_ns: 0,
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
        self.asked = None;
        self.answered = 0;
        self.clean = true;
        if let Habit::Unknown(rounds) = &mut self.habit {
            *rounds = 0;
        }
    }

    /// A request begins; `answering`: some requests sent with or before the oldest that waits were answered,
    /// others still wait.
    pub const fn request(&mut self, time: Nanos, heard: Heard, answering: bool) {
        if matches!(heard, Heard::Less) || (self.in_step && answering) {
            self.habit = Habit::Overlaps;
        }
        self.in_step |= self.pauses(time) && matches!(heard, Heard::All);
        if self.answered > 0 || self.asked_at.0 == i64::MAX {
            self.asked_at = time;
        }
        if self.answered > 0 {
            self.round(heard);
        } else if let Some(asked) = &mut self.asked {
            *asked = asked.saturating_add(1);
        }
        self.in_step |= self.quiet(time) && !matches!(heard, Heard::Less);
        self.last_event = time;
    }

    /// A response begins.
    pub const fn response(&mut self, time: Nanos, heard: Heard) {
        self.clean &= matches!(heard, Heard::All);
        let since = match self.last_answer {
            Some(last) if last.0 > self.asked_at.0 => last,
            _ => self.asked_at,
        };
        let took = time.0.saturating_sub(since.0);
        if took > self.slowest_ns {
            self.slowest_ns = took;
        }
        if self.asked_at.0 < i64::MAX {
            self.responses = self.responses.saturating_add(1);
        }
        self.last_event = time;
    }

    /// An answer was given to the wrong request, or would have been: answers are owed to others.
    pub const fn mistaken(&mut self) {
        self.lose();
        self.habit = Habit::Overlaps;
    }

    /// A response has been seen to its end.
    pub const fn answered(&mut self, time: Nanos) {
        self.answered = self.answered.saturating_add(1);
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

    /// A request begins after responses: a round is over, and the next one begins with it.
    const fn round(&mut self, heard: Heard) {
        let all = matches!(heard, Heard::All);
        match (self.habit, self.asked) {
            (_, Some(asked)) if asked != self.answered => self.habit = Habit::Overlaps,
            (Habit::Unknown(rounds), Some(_)) if self.clean && all => {
                let rounds = rounds.saturating_add(1);
                self.habit = if rounds >= ROUNDS { Habit::Waits } else { Habit::Unknown(rounds) };
            }
            (Habit::Unknown(_), _) => self.habit = Habit::Unknown(0),
            _ => {}
        }
        self.in_step |= all && matches!(self.habit, Habit::Waits);
        self.asked = Some(1);
        self.answered = 0;
        self.clean = all;
    }

    /// Whether the client has paused, since a whole response, for longer than an answer may take.
    const fn pauses(&self, time: Nanos) -> bool {
        let pause = time.0.saturating_sub(self.last_event.0);
        let rests =
            self.answered > 0 && matches!(self.last_answer, Some(last) if last.0 == self.last_event.0);
        rests
            && !matches!(self.habit, Habit::Overlaps)
            && self.responses >= PAUSE_ANSWERS
            && pause >= PAUSE_NS
            && pause >= self.slowest_ns.saturating_mul(PAUSE_FACTOR)
    }

    const fn quiet(&self, time: Nanos) -> bool {
        time.0.saturating_sub(self.last_event.0) >= QUIET_NS
    }
}
