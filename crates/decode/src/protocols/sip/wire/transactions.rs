//! The transactions of a flow that were seen last (RFC 3261 §17), so that what UDP repeats is told once.
//!
//! * Bounded by: [`RECENT`] transactions; the one that was quiet for longest makes room.
//! * Lost: of older ones a repetition is taken for a new transaction.

use model::Nanos;

/// Transactions that are remembered.
const RECENT: usize = 32;

/// 64 times T1, the time for which either side repeats (RFC 3261 §17.1.1.2 timer B, §17.2.2 timer J).
const REPEATS_NS: i64 = 32_000_000_000;

/// One transaction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Transaction {
    pub key: u64,
    /// When its request was seen; `None` when only an answer was.
    pub asked: Option<Nanos>,
    /// When anything of it was seen last.
    pub last: Nanos,
    /// How often its request was repeated.
    pub repeats: u16,
    /// Provisional responses that were seen.
    pub provisional: u16,
    /// When the first of 101 to 199 was seen: somebody is at work on the request.
    pub ringing: Option<Nanos>,
    /// The final response; 0 before it.
    pub code: u16,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Transactions {
    recent: Vec<Transaction>,
}

impl Transactions {
    /// The transaction of a key, unless it is over for so long that the key must be a new use of it.
    pub(super) fn find(&mut self, key: u64, now: Nanos) -> Option<&mut Transaction> {
        self.recent
            .iter_mut()
            .find(|one| one.key == key)
            .filter(|one| one.code == 0 || now.0.saturating_sub(one.last.0) <= REPEATS_NS)
    }

    /// Remembers a transaction, in the place of one with its key, or of the oldest when there are too many.
    pub(super) fn add(&mut self, one: Transaction) {
        let same = self.recent.iter().position(|other| other.key == one.key);
        let place = match same {
            None if self.recent.len() < RECENT => {
                self.recent.push(one);
                return;
            }
            None => {
                self.recent.iter().enumerate().min_by_key(|(_, other)| other.last).map_or(0, |(at, _)| at)
            }
            Some(at) => at,
        };
        if let Some(place) = self.recent.get_mut(place) {
            *place = one;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quietest_makes_room() {
        let mut all = Transactions::default();
        for key in 0..40 {
            all.add(Transaction { key, last: Nanos(i64::try_from(key).unwrap()), ..Transaction::default() });
        }
        assert_eq!(all.recent.len(), RECENT);
        assert!(all.find(7, Nanos(0)).is_none());
        assert!(all.find(8, Nanos(0)).is_some());
        all.find(39, Nanos(0)).unwrap().code = 200;
        assert!(all.find(39, Nanos(REPEATS_NS)).is_some());
        assert!(all.find(39, Nanos(REPEATS_NS + 40)).is_none());
    }
}
