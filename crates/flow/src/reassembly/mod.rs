//! Lanes: segments in any order in, bytes in order out.
//!
//! * In: the segments of both directions, and what each acknowledged of the other.
//! * Out: what [`Sink`] is told, in the order of each stream, and each after what its sender had received.
//! * Owned: nothing per lane but its [`Lane`] of 20 bytes; what is held lies in [`Holes`].
//! * Bounded by: the budgets of [`HoldLimits`]; one segment may exceed them for the length of a call.
//! * Lost: nothing. What cannot be held is delivered behind a gap.
#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice
)]

mod hole;
mod holes;
mod lane;
mod pair;
mod seq;
#[cfg(test)]
mod tests;

pub(crate) use holes::{Holes, Owner};
pub(crate) use lane::{ISN, Lane, RESET, Run, SYN};
pub(crate) use pair::Pair;

use crate::{DropReason, GapCause};
use model::{Arrival, Dir, Nanos};

/// Where the bytes of two lanes go.
pub(crate) trait Sink {
    fn bytes(&mut self, dir: Dir, bytes: &[u8], arrival: Arrival);
    fn gap(&mut self, dir: Dir, missing: u64, why: GapCause, time: Nanos);
    fn eof(&mut self, dir: Dir, time: Nanos);
    fn note(&mut self, dir: Dir, note: Note);
}

/// What else became of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    /// So many of its bytes lie before the next byte of the lane.
    Retransmitted(u64),
    /// So many of its bytes were held already.
    Overlap(u64),
    /// It is held, and bytes before it are missing.
    OutOfOrder,
    /// It is held until the other lane has come as far as its sender had received.
    Early,
    /// So many of its bytes go no further.
    Dropped(DropReason, u64),
}

/// When a call is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    /// Packet time.
    pub time: Nanos,
    /// The same in nanoseconds of the table's clock.
    pub elapsed: u64,
}

/// What may be held of lanes, and how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HoldLimits {
    pub lane_bytes: usize,
    pub lane_pieces: usize,
    pub held_bytes: usize,
    pub hold: u64,
    pub reorder: u64,
    pub reorder_packets: u32,
}
