//! The ledger: every unit that came in, and the door it left by.
//!
//! A unit is one datagram, one frame cut out of a connection, or one piece of a connection that could not
//! be framed. All figures count from the start of the program, so that they share one window. The lake's
//! books are read before the shards' pages: what the lake has, a shard has already published, so that
//! rows on their way are never negative.

use serde::Serialize;

use crate::counter::Counter;
use crate::reason::DropReason;
use crate::shard::Totals;

/// Rows in the lake by where they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct StoreTotals {
    /// Rows taken from the shards.
    pub accepted: u64,
    /// Of those, rows in committed files.
    pub durable: u64,
    /// Of those, rows in memory only.
    pub hot: u64,
    /// Of those, rows lost.
    pub dropped: u64,
}

/// What came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct In {
    /// Datagrams on the HEP UDP sockets.
    pub hep_udp: u64,
    /// Frames on the HEP TCP connections, and pieces that were none.
    pub hep_tcp: u64,
    /// Datagrams that the kernel threw away before they could be read.
    pub kernel_drops: u64,
    /// Connections that were refused.
    pub refused: u64,
    /// Datagrams that were still unread when the program had to stop.
    pub unread: u64,
    /// All of it.
    pub total: u64,
}

/// What rows were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Out {
    /// Rows of `sip`.
    pub sip: u64,
    /// Rows of `hep`.
    pub hep: u64,
    /// Rows of `roundtrips`, which capture makes.
    pub roundtrips: u64,
    /// Rows of `sip` that capture makes.
    pub captured_sip: u64,
    /// Rows of `flows`, which capture makes.
    pub flows: u64,
    /// Rows of `logs`, which Loggregator's envelopes make.
    pub logs: u64,
    /// Rows of `metrics`, which they make.
    pub metrics: u64,
    /// Rows of `spans`, which they make.
    pub spans: u64,
    /// All of them.
    pub total: u64,
}

/// One reason and how many units it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Where.
    pub stage: &'static str,
    /// Why.
    pub reason: &'static str,
    /// How many.
    pub count: u64,
    /// One sentence for people.
    pub help: &'static str,
}

/// Something odd that lost nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// Its name.
    pub name: &'static str,
    /// How often.
    pub count: u64,
    /// One sentence for people.
    pub help: &'static str,
}

/// One equation of the books.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// Its left side.
    pub left: u64,
    /// Its right side.
    pub right: u64,
    /// Whether they are equal.
    pub ok: bool,
    /// The equation in words.
    pub meaning: &'static str,
}

/// The rows of the store, with those still being gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Store {
    /// The lake's own books.
    #[serde(flatten)]
    pub totals: StoreTotals,
    /// Rows in batches that a shard has not sealed yet.
    pub building: u64,
}

/// The books at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// Whether every check holds.
    pub balanced: bool,
    /// What came in.
    #[serde(rename = "in")]
    pub input: In,
    /// What rows were made.
    pub out: Out,
    /// What was lost, by stage and reason; reasons that lost nothing are left out.
    pub drops: Vec<Dropped>,
    /// All that was lost.
    pub drops_total: u64,
    /// Rows sealed by a shard that the lake has not taken yet.
    pub in_flight: u64,
    /// Rows by where they are.
    pub store: Store,
    /// What was odd but lost nothing.
    pub notices: Vec<Notice>,
    /// The equations.
    pub checks: Vec<Check>,
}

impl Ledger {
    /// Draws up the books. `store` must have been read before `shards`.
    pub fn new(store: StoreTotals, shards: &Totals) -> Self {
        let input = input(shards);
        let [sip, hep, roundtrips, flows, captured_sip, logs, metrics, spans] = [
            Counter::RowsSip,
            Counter::RowsHep,
            Counter::RowsRoundtrips,
            Counter::RowsFlows,
            Counter::RowsCapturedSip,
            Counter::RowsLogs,
            Counter::RowsMetrics,
            Counter::RowsSpans,
        ]
        .map(|counter| shards.get(counter));
        let total = sip + hep + roundtrips + flows + captured_sip + logs + metrics + spans;
        let out = Out { sip, hep, roundtrips, captured_sip, flows, logs, metrics, spans, total };
        // What the store lost was a row before, so it is not lost a second time on the way in.
        let lost_before_rows = shards.drops();
        let drops_total = lost_before_rows + store.dropped;
        let handed_over = shards.get(Counter::HandedOver);
        let in_flight = handed_over.saturating_sub(store.accepted);
        let building = out.total.saturating_sub(handed_over);
        let checks = vec![
            check(
                "received",
                input.total,
                sip + hep + lost_before_rows,
                "received + lost in the kernel + refused + left unread = rows of sip and hep + drops before the store",
            ),
            check(
                "rows",
                out.total,
                store.accepted + in_flight + building,
                "rows made = rows taken by the lake + rows on their way + rows being gathered",
            ),
            check(
                "store",
                store.accepted,
                store.durable + store.hot + store.dropped,
                "rows taken by the lake = rows in files + rows in memory + rows lost",
            ),
        ];
        Self {
            balanced: checks.iter().all(|check| check.ok),
            input,
            out,
            drops: drops(store, shards),
            drops_total,
            in_flight,
            store: Store { totals: store, building },
            notices: notices(shards),
            checks,
        }
    }
}

fn input(shards: &Totals) -> In {
    let hep_udp = shards.get(Counter::UdpDatagrams);
    let hep_tcp = shards.get(Counter::TcpFrames);
    let kernel_drops = shards.dropped(DropReason::KernelBuffer);
    let refused = shards.dropped(DropReason::ConnectionLimit);
    let unread = shards.dropped(DropReason::Stopping);
    let total = hep_udp + hep_tcp + kernel_drops + refused + unread;
    In { hep_udp, hep_tcp, kernel_drops, refused, unread, total }
}

fn drops(store: StoreTotals, shards: &Totals) -> Vec<Dropped> {
    DropReason::ALL
        .iter()
        .map(|reason| Dropped {
            stage: reason.stage().as_str(),
            reason: reason.as_str(),
            count: match reason {
                DropReason::StoreFailed => store.dropped,
                _ => shards.dropped(*reason),
            },
            help: reason.help(),
        })
        .filter(|dropped| dropped.count > 0)
        .collect()
}

fn notices(shards: &Totals) -> Vec<Notice> {
    Counter::ALL
        .iter()
        .filter_map(|counter| {
            let name = counter.as_str().strip_prefix("notice_")?.strip_suffix("_total")?;
            let count = shards.get(*counter);
            (count > 0).then_some(Notice { name, count, help: counter.help() })
        })
        .collect()
}

fn check(name: &'static str, left: u64, right: u64, meaning: &'static str) -> Check {
    Check { name, left, right, ok: left == right, meaning }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::Board;

    fn books(change: impl FnOnce(&mut crate::ShardCounters)) -> Totals {
        let board = Board::default();
        let mut shard = board.shard();
        shard.add(Counter::UdpDatagrams, 10);
        shard.set_drop(DropReason::KernelBuffer, 4);
        shard.add(Counter::RowsSip, 8);
        shard.add(Counter::HandedOver, 5);
        shard.drop(DropReason::NotHep, 2);
        change(&mut shard);
        shard.publish();
        board.totals()
    }

    #[test]
    fn the_books_balance() {
        let store = StoreTotals { accepted: 4, durable: 1, hot: 2, dropped: 1 };
        let ledger = Ledger::new(store, &books(|_| ()));
        assert!(ledger.balanced, "{ledger:?}");
        assert_eq!(ledger.input.total, 14);
        assert_eq!((ledger.in_flight, ledger.store.building), (1, 3));
        assert_eq!(ledger.drops_total, 7);
    }

    #[test]
    fn a_unit_without_a_door_shows() {
        let ledger = Ledger::new(StoreTotals::default(), &books(|shard| shard.add(Counter::TcpFrames, 1)));
        assert!(!ledger.balanced);
        assert!(!ledger.checks[0].ok);
    }

    #[test]
    fn a_row_the_lake_lost_sight_of_shows() {
        let store = StoreTotals { accepted: 5, durable: 4, hot: 0, dropped: 0 };
        let ledger = Ledger::new(store, &books(|_| ()));
        assert!(!ledger.checks[2].ok);
    }

    #[test]
    fn more_rows_in_the_lake_than_were_made_show() {
        let store = StoreTotals { accepted: 9, durable: 9, hot: 0, dropped: 0 };
        assert!(!Ledger::new(store, &books(|_| ())).balanced);
    }
}
