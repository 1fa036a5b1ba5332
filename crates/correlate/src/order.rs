//! Whether requests and responses of a flow that answers in order are in step.
//!
//! After a gap, and in a flow joined in its middle, nobody knows how many answers are still owed to requests
//! that were not seen. The flow is in step again
//!
//! * when nothing was sent either way for [`QUIET_NS`]: the server owes nothing any more; or
//! * when a request begins after a whole response, in a flow whose client waits for all answers before it
//!   sends more (one at a time, or in batches): so it has them all now.
//!
//! That a client waits is its habit: it has done so [`ROUNDS`] times on end, and never otherwise. Where clients of
//! a protocol are known to wait, fewer rounds are enough ([`crate::Pairs::new`]). A round is a
//! run of requests and the run of their answers, as many of one as of the other; so a habit is seen in a flow
//! that is not in step, too. A client that once sent on while answers were still coming gives no such sign,
//! and only the quiet helps.
//!
//! A flow in which the server is always the same number of answers behind looks like one in step, and no
//! byte of it tells that it is not, when it was joined so.

use model::Nanos;

/// Silence in both lanes after which no answer is owed.
pub const QUIET_NS: i64 = 1_000_000_000;

/// Rounds after which a client is known to wait. One that sends as it likes, about as fast as it is answered,
/// makes a run of answers as long as that of its requests up to 6 times of 10: in 1 of 3,500 flows it is taken
/// for one that waits.
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
    /// Rounds after which the client is known to wait.
    rounds: u8,
    habit: Habit,
    /// Requests of this round; `None` until one was seen from its beginning.
    asked: Option<u32>,
    /// Whole responses of this round.
    answered: u32,
    last_event: Nanos,
    last_answer: Option<Nanos>,
}

impl Step {
    /// A flow whose first byte is seen is in step. `rounds`: see [`ROUNDS`].
    pub const fn new(in_step: bool, rounds: u8) -> Self {
        Self {
            in_step,
            rounds,
            habit: Habit::Unknown(0),
            asked: if in_step { Some(0) } else { None },
            answered: 0,
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
        if let Habit::Unknown(rounds) = &mut self.habit {
            *rounds = 0;
        }
    }

    /// A request begins; `answering`: some requests sent with or before the oldest that waits were answered,
    /// others still wait.
    pub const fn request(&mut self, time: Nanos, answering: bool) {
        if self.in_step && answering {
            self.habit = Habit::Overlaps;
        }
        if self.answered > 0 {
            self.round();
        } else if let Some(asked) = &mut self.asked {
            *asked = asked.saturating_add(1);
        }
        self.in_step |= self.quiet(time);
        self.last_event = time;
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
    const fn round(&mut self) {
        match (self.habit, self.asked) {
            (Habit::Unknown(rounds), Some(asked)) if asked == self.answered => {
                let rounds = rounds.saturating_add(1);
                self.habit = if rounds >= self.rounds { Habit::Waits } else { Habit::Unknown(rounds) };
            }
            (_, Some(asked)) if asked != self.answered => self.habit = Habit::Overlaps,
            _ => {}
        }
        self.in_step |= matches!(self.habit, Habit::Waits);
        self.asked = Some(1);
        self.answered = 0;
    }

    const fn quiet(&self, time: Nanos) -> bool {
        time.0.saturating_sub(self.last_event.0) >= QUIET_NS
    }
}
