//! Requests paired with their responses.
//!
//! * In: the events of one flow's decoder, in the order in which it made them.
//! * Out: [`Roundtrip`]s, each under one of four names: answered, unanswered, orphan, one-way.
//! * Owned: the messages of each flow that are under way or wait for an answer, in slots that a [`Pool`]
//!   reuses.
//! * Bounded by: [`MAX_PENDING`] roundtrips a flow; what a message holds is bounded by
//!   [`decode::Limits`].
//! * Lost: nothing. A request that never sees its answer, and an answer whose request was not seen, are rows
//!   of their own, with the reason.
//!
//! # After a gap
//! Where a protocol answers in order, missing bytes may hide a request or an answer, and gluing the next
//! answer to the oldest request would then be wrong for the rest of the flow. So a gap closes everything that
//! waits, and nothing is paired until the flow is [in step](order::Step) again.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod order;
mod pairs;
mod roundtrip;

pub use pairs::{Asking, MAX_PENDING, Pairs, Pool};
pub use roundtrip::{Confidence, Outcome, Part, Roundtrip};

#[cfg(test)]
mod tests;
