//! Lanes: segments in any order in, bytes in order out.
//!
//! * In: the segments of one direction, and what the other one acknowledged of it.
//! * Out: what [`Sink`] is told, in the order of the stream.
//! * Owned: nothing per lane but its [`Lane`] of 20 bytes; what is out of order lies in [`Holes`].
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

mod give_up;
mod hole;
mod holes;
mod lane;
mod seq;
#[cfg(test)]
mod tests;

pub(crate) use give_up::Until;
pub(crate) use holes::{Holes, Owner};
pub(crate) use lane::{ISN, Lane, RESET, Run, SYN};

use crate::{DropReason, GapCause};
use model::Nanos;

/// Where a lane's bytes go.
pub(crate) trait Sink {
    fn bytes(&mut self, bytes: &[u8], time: Nanos, segment_start: bool);
    fn gap(&mut self, missing: u64, why: GapCause, time: Nanos);
    fn eof(&mut self, time: Nanos);
    fn note(&mut self, note: Note);
}

/// What else became of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    /// So many of its bytes lie before the next byte of the lane.
    Retransmitted(u64),
    /// So many of its bytes were held already.
    Overlap(u64),
    /// It is held.
    OutOfOrder,
    /// So many of its bytes go no further.
    Dropped(DropReason, u64),
}

/// When a call is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    /// Packet time.
    pub time: Nanos,
    /// Nanoseconds of the table's clock.
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
