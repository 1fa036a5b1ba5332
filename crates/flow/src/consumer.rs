//! What the table tells its owner.

use crate::{End, Flow};
use model::{Arrival, Dir, Nanos};

/// The owner's side of the table. All calls for one flow come between its `open` and its `close`.
///
/// The calls of a lane come in the order of its bytes. Between the lanes, bytes and `eof` come after everything of
/// the other lane that their sender had received, told as bytes or as a gap: a response comes after its request,
/// whatever was lost, and in whatever order it was captured.
///
/// Times are those of the capture, so they go back, in a lane and between lanes, where packets were captured out
/// of order. They do not depend on the packets of other flows, nor on when [`crate::Table::tick`] is called.
pub trait Consumer {
    /// What the owner keeps per flow: a decoder, the pairing.
    type State;

    /// A flow begins.
    fn open(&mut self, flow: &Flow, time: Nanos) -> Self::State;

    /// In-order bytes of one lane, never none, straight from the packet or from what was held out of order.
    /// [`Arrival::time`] is when they were captured, however long they were held.
    fn bytes(&mut self, flow: &Flow, state: &mut Self::State, dir: Dir, bytes: &[u8], arrival: Arrival);

    /// `missing` bytes of the lane will not come; never 0. `time` is when the first byte behind them was captured,
    /// or, if there is none yet, the segment that acknowledged them.
    fn gap(&mut self, flow: &Flow, state: &mut Self::State, dir: Dir, missing: u64, time: Nanos);

    /// The sender closed the lane, and everything before that was delivered or declared a gap. `time` is when the
    /// FIN was captured.
    fn eof(&mut self, flow: &Flow, state: &mut Self::State, dir: Dir, time: Nanos);

    /// One datagram.
    fn datagram(&mut self, flow: &Flow, state: &mut Self::State, dir: Dir, bytes: &[u8], arrival: Arrival);

    /// A flow ends; it carries its totals now. `time` is the table's, [`Flow::last`] is that of its last packet.
    fn close(&mut self, flow: &Flow, state: Self::State, end: End, time: Nanos);
}
