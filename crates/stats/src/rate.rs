//! The last minutes, second by second: what the live page draws.

use std::collections::VecDeque;

use serde::Serialize;

use crate::counter::Counter;
use crate::reason::DropReason;
use crate::shard::Totals;

/// How many seconds are kept.
pub const SECONDS: usize = 300;

/// What happened within one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Point {
    /// End of the second, Unix time.
    pub t: i64,
    /// Messages received.
    pub messages: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Units lost.
    pub drops: u64,
}

/// A window of the last [`SECONDS`] seconds, fed with totals once a second.
#[derive(Debug, Default)]
pub struct Window {
    last: Option<[u64; 3]>,
    points: VecDeque<Point>,
}

impl Window {
    /// Adds the second that ends at `t`.
    pub fn push(&mut self, t: i64, totals: &Totals) {
        let now = [
            totals.get(Counter::UdpDatagrams) + totals.get(Counter::TcpFrames),
            totals.get(Counter::UdpBytes) + totals.get(Counter::TcpBytes),
            DropReason::ALL.iter().map(|reason| totals.dropped(*reason)).sum(),
        ];
        if let Some(last) = self.last {
            let [messages, bytes, drops] = [0, 1, 2].map(|at: usize| now[at].saturating_sub(last[at]));
            if self.points.len() == SECONDS {
                self.points.pop_front();
            }
            self.points.push_back(Point { t, messages, bytes, drops });
        }
        self.last = Some(now);
    }

    /// The points, oldest first.
    pub fn points(&self) -> Vec<Point> {
        self.points.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::Board;

    #[test]
    fn differences_are_kept_within_the_window() {
        let board = Board::default();
        let mut shard = board.shard();
        let mut window = Window::default();
        for second in 0..400 {
            shard.add(Counter::UdpDatagrams, 7);
            shard.publish();
            window.push(second, &board.totals());
        }
        let points = window.points();
        assert_eq!(points.len(), SECONDS);
        assert!(points.iter().all(|point| point.messages == 7));
        assert_eq!(points[SECONDS - 1].t, 399);
    }
}
