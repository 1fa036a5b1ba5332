//! What the table tells its owner.

use crate::{End, Flow};
use model::{Dir, Nanos};

/// The owner's side of the table. All calls for one flow come between its `open` and its `close`; the calls of
/// a lane come in the order of its bytes, and their times never go back within a lane that has a hole.
pub trait Consumer {
    /// What the owner keeps per flow: a decoder, the pairing.
    type State;

    /// A flow begins.
    fn open(&mut self, flow: &Flow, time: Nanos) -> Self::State;

    /// In-order bytes of one lane, never none, straight from the packet or from what was held out of order.
    /// `time` is when they became readable: when they were seen, or when the hole before them was filled.
    /// `segment_start`: `bytes` starts where a segment started.
    fn bytes(
        &mut self,
        flow: &Flow,
        state: &mut Self::State,
        dir: Dir,
        bytes: &[u8],
        time: Nanos,
        segment_start: bool,
    );

    /// `missing` bytes of the lane will not come; never 0.
    fn gap(&mut self, flow: &Flow, state: &mut Self::State, dir: Dir, missing: u64, time: Nanos);

    /// The sender closed the lane, and everything before that was delivered or declared a gap.
    fn eof(&mut self, flow: &Flow, state: &mut Self::State, dir: Dir, time: Nanos);

    /// One datagram. `cut`: it had more bytes on the wire than were captured.
    fn datagram(
        &mut self,
        flow: &Flow,
        state: &mut Self::State,
        dir: Dir,
        bytes: &[u8],
        cut: bool,
        time: Nanos,
    );

    /// A flow ends; it carries its totals now. `time` is the table's, [`Flow::last`] is that of its last packet.
    fn close(&mut self, flow: &Flow, state: Self::State, end: End, time: Nanos);
}
