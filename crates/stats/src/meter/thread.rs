//! The meters of one thread: written by it alone.

use std::sync::Arc;

use mem::cycles;

use super::{MOST, Meter};
use crate::page::Page;

/// One message in so many is measured by itself. Odd and prime, so that traffic which repeats does not always show the
/// same message.
pub const SAMPLE_EVERY: u32 = 61;

/// Samples whose division stands for the messages between them; older ones count less and less.
const MEMORY: u64 = 64;
/// A sample of more cycles than this met an interruption rather than a message: some 2 to 8 ms.
const INTERRUPTED: u64 = 1 << 23;
/// Parts that a time is divided into.
const WHOLE: u64 = 1 << 16;

/// Per stage: cycles, batches, units, length and limit of its queue.
const FIGURES: usize = 5;
/// What is published: the figures of each stage, the stage that the thread is in, and since when.
pub(super) const SLOTS: usize = MOST * FIGURES + 2;
pub(super) const CURRENT: usize = MOST * FIGURES;
pub(super) const SINCE: usize = CURRENT + 1;
/// Stands for the stage of a thread that ended.
pub(super) const ENDED: u64 = u64::MAX;

/// A figure of a stage.
#[derive(Debug, Clone, Copy)]
pub(super) enum Figure {
    Cycles,
    Batches,
    Units,
    Queue,
    Limit,
}

/// Where a figure is among what is published.
pub(super) const fn slot(meter: Meter, figure: Figure) -> usize {
    meter.slot() * FIGURES + figure as usize
}

/// The meters of one thread.
#[derive(Debug)]
pub struct Meters {
    values: [u64; SLOTS],
    current: Meter,
    since: u64,
    split: Split,
    page: Arc<Page<SLOTS>>,
}

/// How the time of a batch divides between decoding and appending.
#[derive(Debug, Default)]
struct Split {
    decode: u64,
    append: u64,
    samples: u64,
    /// What appending takes, of [`WHOLE`].
    append_part: u64,
}

impl Meters {
    /// Meters that start in the first stage of a crew.
    pub(super) fn new(first: Meter, page: Arc<Page<SLOTS>>) -> Self {
        let meters =
            Self { values: [0; SLOTS], current: first, since: cycles::now(), split: Split::default(), page };
        meters.publish();
        meters
    }

    /// From now on the thread is in this stage. Answers the one it was in, to go back to.
    #[inline]
    pub fn enter(&mut self, stage: Meter) -> Meter {
        let now = cycles::now();
        // The counters of two cores may differ by a little.
        let passed = now.saturating_sub(self.since);
        let before = self.current;
        let appending = match before.append() {
            Some(append) => {
                let part = u64::try_from(
                    u128::from(passed) * u128::from(self.split.append_part) / u128::from(WHOLE),
                );
                let part = part.unwrap_or(passed);
                self.add(append, Figure::Cycles, part);
                part
            }
            None => 0,
        };
        self.add(before, Figure::Cycles, passed - appending);
        (self.current, self.since) = (stage, now);
        before
    }

    /// One batch of so many units went through a stage.
    #[inline]
    pub fn batch(&mut self, stage: Meter, units: u64) {
        self.add(stage, Figure::Batches, 1);
        self.add(stage, Figure::Units, units);
    }

    /// What waits in front of a stage now, and how much may.
    pub fn queue(&mut self, stage: Meter, length: u64, limit: u64) {
        self.set(stage, Figure::Queue, length);
        self.set(stage, Figure::Limit, limit);
    }

    /// What one message took, in cycles: to be decoded, and to be appended.
    pub fn sample(&mut self, decode: u64, append: u64) {
        self.split.sample(decode, append);
    }

    /// Makes everything measured so far visible, all figures at once.
    pub fn publish(&self) {
        let mut values = self.values;
        values[CURRENT] = self.current as u64;
        values[SINCE] = self.since;
        self.page.write(&values);
    }

    #[inline]
    fn add(&mut self, stage: Meter, figure: Figure, n: u64) {
        debug_assert_eq!(stage.crew(), self.current.crew());
        if let Some(value) = self.values.get_mut(slot(stage, figure)) {
            *value = value.wrapping_add(n);
        }
    }

    fn set(&mut self, stage: Meter, figure: Figure, n: u64) {
        if let Some(value) = self.values.get_mut(slot(stage, figure)) {
            *value = n;
        }
    }
}

impl Drop for Meters {
    fn drop(&mut self) {
        self.enter(self.current);
        self.values[CURRENT] = ENDED;
        self.values[SINCE] = self.since;
        self.page.write(&self.values);
    }
}

impl Split {
    fn sample(&mut self, decode: u64, append: u64) {
        if decode.saturating_add(append) > INTERRUPTED {
            return;
        }
        self.decode += decode;
        self.append += append;
        self.samples += 1;
        if self.samples == MEMORY {
            self.decode /= 2;
            self.append /= 2;
            self.samples /= 2;
        }
        // At most MEMORY * INTERRUPTED cycles, so that the product has room.
        self.append_part = (self.append * WHOLE).checked_div(self.decode + self.append).unwrap_or(0);
    }
}

/// Tells which messages are measured by themselves.
#[derive(Debug)]
pub struct Sampler {
    left: u32,
}

impl Default for Sampler {
    fn default() -> Self {
        Self { left: 1 }
    }
}

impl Sampler {
    /// Whether this message is one of them: the first is, and then one in [`SAMPLE_EVERY`].
    #[inline]
    pub fn is_due(&mut self) -> bool {
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.left = SAMPLE_EVERY;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_follows_the_traffic() {
        let mut split = Split::default();
        split.sample(0, 0);
        assert_eq!(split.append_part, 0);
        for _ in 0..200 {
            split.sample(300, 100);
        }
        assert!(split.append_part.abs_diff(WHOLE / 4) < 8, "{split:?}");
        for _ in 0..2_000 {
            split.sample(100, 300);
        }
        assert!(split.append_part.abs_diff(WHOLE / 4 * 3) < 8, "{split:?}");
        split.sample(u64::MAX, 1);
        assert!(split.append_part.abs_diff(WHOLE / 4 * 3) < 8, "an interruption is no message");
    }

    #[test]
    fn one_in_so_many() {
        let mut sampler = Sampler::default();
        let due: Vec<u32> = (0..SAMPLE_EVERY * 3).filter(|_| sampler.is_due()).collect();
        assert_eq!(due, [0, SAMPLE_EVERY, SAMPLE_EVERY * 2]);
    }
}
