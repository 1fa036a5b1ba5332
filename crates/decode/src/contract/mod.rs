//! The decoder contract: what a protocol is given, what it hands back, what it may keep.
//!
//! A decoder is a state machine over the two lanes of one flow. It is called with the first unconsumed
//! bytes of a lane, deals with **at most one step** (one message, or one frame of one), and says how many
//! bytes it consumed and what it needs next. It has no clock, no socket and no log. What it learns goes to
//! [`Out`] as events; `correlate` pairs them.
//!
//! ```text
//! bytes of a lane ──> decode(input, out) ──> Progress { consumed, next }
//!                              └──> Out: begin(Request) … end(Request), begin(Response) … end(Response)
//! ```

mod input;
mod meta;
mod out;

pub use input::{AfterGap, End, Input, Next, Progress, Shape, Start, Verdict};
pub use meta::Meta;
pub use out::{Entry, Event, Expected, Fields, Key, Limits, Message, Name, Notice, Out, Role, Status, Value};

use crate::DecodeError;
use model::Dir;

/// One protocol: a state machine over both lanes of one flow.
pub trait Decoder: Sized {
    /// What is known of the protocol without a byte of it.
    const META: Meta;

    /// The state of a flow that begins, or that is joined in its middle.
    fn open(start: Start) -> Self;

    /// Whether the first bytes of a lane are this protocol. Looks at no more than [`Meta::probe_bytes`]
    /// bytes and never allocates.
    fn probe(input: &Input<'_>) -> Verdict;

    /// Decodes at most one step from the front of `input.bytes`.
    ///
    /// It is called again as long as it consumes, and then when [`Next`] is met. After [`Next::Skip`] it is
    /// called as soon as the last skipped byte has passed, with what follows it: maybe no bytes at all.
    ///
    /// # Errors
    /// The bytes are not what the protocol allows here. The caller counts the cause, drops what it holds of
    /// the lane, calls [`Decoder::gap`] with 0 missing bytes, and ends the decoding of a flow that errs often.
    fn decode(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError>;

    /// Bytes of a lane are missing: `missing` of them, or 0 when only the place in the stream was lost.
    /// Messages that were under way in the lane are closed by `correlate`; the decoder forgets them. What
    /// follows may start anywhere in a message, most often at the start of one where
    /// [`Input::segment_start`] is set.
    fn gap(&mut self, dir: Dir, missing: u64, out: &mut Out) -> AfterGap;

    /// The flow ended. Emits what only the end can tell (a body that lasts until the close, totals of a
    /// media stream).
    fn finish(&mut self, end: End, out: &mut Out) {
        let _ = (end, out);
    }
}
