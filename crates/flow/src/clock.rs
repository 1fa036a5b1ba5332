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

/// What the clock shows at the start: more than [`JITTER_NS`], so that there is room for times before it.
const START_NS: u64 = 1 << 34;

/// Bits of a nanosecond count that a tick leaves out: a tick is 1.05 ms.
const TICK_BITS: u32 = 20;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Clock {
    /// The latest packet time.
    pub last: Nanos,
    /// Nanoseconds that have passed since the start of the tick of the first packet, and [`START_NS`].
    pub elapsed: u64,
    started: bool,
}

impl Clock {
    /// Notes a time and says what it is by this clock. The times of one flow are as far apart, whatever packets
    /// of others came between, unless the clock leapt or was set back.
    #[inline]
    pub fn advance(&mut self, time: Nanos) -> u64 {
        if self.started && time >= self.last {
            self.elapsed += time.0.wrapping_sub(self.last.0).cast_unsigned().min(LEAP_NS);
            self.last = time;
            self.elapsed
        } else {
            self.turn(time)
        }
    }

    /// The first packet, or one from before the last.
    #[cold]
    fn turn(&mut self, time: Nanos) -> u64 {
        if !self.started {
            // Ticks begin where those of every other table do.
            self.elapsed = START_NS + (time.0.cast_unsigned() & ((1 << TICK_BITS) - 1));
            self.started = true;
        } else {
            let back = self.last.0.saturating_sub(time.0);
            if back <= JITTER_NS {
                return self.elapsed.saturating_sub(back.cast_unsigned());
            }
        }
        self.last = time;
        self.elapsed
    }
}

/// A count of ticks that wraps every 52 days.
pub(crate) const fn tick(elapsed: u64) -> u32 {
    (elapsed >> TICK_BITS) as u32
}

/// How many ticks `tick` is after `since`, 0 when it is before.
pub(crate) const fn silent(tick: u32, since: u32) -> u32 {
    let ticks = tick.wrapping_sub(since);
    if ticks < 1 << 31 { ticks } else { 0 }
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
        let start = Nanos(1_700_000_000_000_000_000);
        let at = |nanos: i64| Nanos(start.0 + nanos);
        let first = clock.advance(start);
        assert_eq!(
            first - START_NS,
            start.0.cast_unsigned() % (1 << TICK_BITS),
            "ticks are the same everywhere"
        );
        assert_eq!(
            [2_000, 1_500, 2_500].map(|nanos| clock.advance(at(nanos)) - first),
            [2_000, 1_500, 2_500]
        );
        assert_eq!(clock.last, at(2_500), "a little back does not count twice");
        clock.advance(Nanos(i64::MAX));
        assert_eq!(clock.elapsed - first, 2_500 + LEAP_NS);
        clock.advance(at(4_000));
        clock.advance(at(5_000));
        assert_eq!(clock.elapsed - first, 3_500 + LEAP_NS, "after a leap time goes on where it was");
        clock.advance(Nanos(i64::MIN));
        clock.advance(Nanos(i64::MIN + 1));
        assert_eq!(clock.elapsed - first, 3_501 + LEAP_NS);
        assert_eq!((silent(5, u32::MAX), silent(u32::MAX, 5)), (6, 0));
    }
}
