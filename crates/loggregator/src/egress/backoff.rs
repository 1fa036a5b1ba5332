//! The pause between attempts: it doubles, and chance spreads those who lost the same destination.

use std::time::Duration;

/// Bounds of the pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// After the first failure.
    pub min: Duration,
    /// After many.
    pub max: Duration,
}

impl Default for Backoff {
    /// From 100 ms to 10 s.
    fn default() -> Self {
        Self { min: Duration::from_millis(100), max: Duration::from_secs(10) }
    }
}

impl Backoff {
    pub(crate) fn start(&self) -> Pauses {
        Pauses { next: self.min, max: self.max }
    }
}

/// The pauses of one spell of failures.
#[derive(Debug)]
pub(crate) struct Pauses {
    next: Duration,
    max: Duration,
}

impl Pauses {
    /// Between half and all of a time that doubles.
    pub fn next(&mut self) -> Duration {
        let whole = self.next.min(self.max);
        self.next = whole.saturating_mul(2);
        whole.mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_bound() {
        let backoff = Backoff { min: Duration::from_millis(100), max: Duration::from_millis(1_500) };
        let mut pauses = backoff.start();
        for whole in [100, 200, 400, 800, 1_500, 1_500] {
            let pause = pauses.next();
            assert!(pause >= Duration::from_millis(whole / 2) && pause <= Duration::from_millis(whole));
        }
    }
}
