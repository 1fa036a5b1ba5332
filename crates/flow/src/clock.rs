//! Time as the table counts it: packet time that never runs back and never leaps.
//!
//! Packets of two rings interleave with times that differ a little, one frame of a file may carry a time that
//! is years off, and a clock may be set while the capture runs. None of that may expire every flow or none ever
//! again. So timers count `elapsed`: the sum of the steps forward, each cut to [`LEAP_NS`].

use crate::limits::LONGEST;
use model::Nanos;

/// The largest step that counts: more than the longest timeout.
const LEAP_NS: u64 = 2 * LONGEST.as_nanos() as u64;

/// Times that lie back by no more than this are packets out of order. More is a clock that was set back.
const JITTER_NS: i64 = 10_000_000_000;

/// Bits of a nanosecond count that a tick leaves out: a tick is 1.05 ms.
const TICK_BITS: u32 = 20;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Clock {
    /// The latest packet time.
    pub last: Nanos,
    /// Nanoseconds that have passed since the table was made.
    pub elapsed: u64,
    started: bool,
}

impl Clock {
    #[inline]
    pub fn advance(&mut self, time: Nanos) {
        if self.started && time >= self.last {
            self.elapsed += time.0.wrapping_sub(self.last.0).cast_unsigned().min(LEAP_NS);
            self.last = time;
        } else {
            self.turn(time);
        }
    }

    /// The first packet, or one from before the last.
    #[cold]
    fn turn(&mut self, time: Nanos) {
        if !self.started || time.0.saturating_sub(self.last.0) < -JITTER_NS {
            self.last = time;
        }
        self.started = true;
    }

    /// A count of ticks that wraps every 52 days.
    pub const fn tick(&self) -> u32 {
        (self.elapsed >> TICK_BITS) as u32
    }
}

/// Ticks in a span of time, rounded up.
pub(crate) const fn ticks(nanos: u64) -> u32 {
    (nanos >> TICK_BITS) as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_runs_back_or_leaps_is_harmless() {
        let mut clock = Clock::default();
        clock.advance(Nanos(1_000));
        assert_eq!(clock.elapsed, 0, "the first packet starts the clock");
        clock.advance(Nanos(3_000));
        clock.advance(Nanos(2_000));
        clock.advance(Nanos(3_500));
        assert_eq!((clock.elapsed, clock.last), (2_500, Nanos(3_500)), "a little back does not count twice");
        clock.advance(Nanos(i64::MAX));
        assert_eq!(clock.elapsed, 2_500 + LEAP_NS);
        clock.advance(Nanos(4_000));
        clock.advance(Nanos(5_000));
        assert_eq!(clock.elapsed, 3_500 + LEAP_NS, "after a leap time goes on where it was");
        clock.advance(Nanos(i64::MIN));
        clock.advance(Nanos(i64::MIN + 1));
        assert_eq!(clock.elapsed, 3_501 + LEAP_NS);
    }
}
