//! The requests that wait for an answer: an answer does not say what it answers.

use super::api::Call;
use std::collections::VecDeque;

/// Requests remembered a flow, the oldest out.
const MAX_PENDING: usize = 256;

/// What was asked, by correlation id.
#[derive(Debug, Default)]
pub(super) struct Pending(VecDeque<(i32, Call)>);

impl Pending {
    pub(super) fn ask(&mut self, correlation: i32, call: Call) {
        if self.0.len() >= MAX_PENDING {
            self.0.pop_front();
        }
        self.0.push_back((correlation, call));
    }

    /// Takes what an answer belongs to. Brokers answer in order, so that what was asked before it will not
    /// be answered any more.
    pub(super) fn answer(&mut self, correlation: i32) -> Option<Call> {
        let at = self.0.iter().position(|(id, _)| *id == correlation)?;
        self.0.drain(..at);
        self.0.pop_front().map(|(_, call)| call)
    }

    /// What an answer belongs to.
    pub(super) fn call(&self, correlation: i32) -> Option<Call> {
        self.0.iter().find(|(id, _)| *id == correlation).map(|(_, call)| *call)
    }

    pub(super) fn contains(&self, correlation: i32) -> bool {
        self.call(correlation).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten() {
        let mut pending = Pending::default();
        let call = Call { key: 3, version: 1 };
        for id in 0..=256 {
            pending.ask(id, call);
        }
        assert!(!pending.contains(0));
        assert_eq!(pending.answer(3), Some(call));
        assert_eq!(pending.answer(2), None);
        assert_eq!(pending.answer(4), Some(call));
    }
}
