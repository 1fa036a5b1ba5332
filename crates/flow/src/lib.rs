//! The flow table: fragments put together, TCP lanes reassembled, flows opened and closed.
//!
//! * In: packets of one shard with the time they were captured, in the order of capture.
//! * Out: what [`Consumer`] is told: flows that open and close, in-order bytes of lanes, gaps, datagrams.
//! * Owned: one [`Table`] per shard and thread. No lock, no clock: time is packet time, so that a file replays
//!   to the same calls.
//! * Bounded by: [`Limits`]: flows, bytes held out of order, bytes of fragments, and a time for each of them.
//! * Lost: nothing without a name. What does not reach the consumer is counted by [`DropReason`] or said as a
//!   gap with its [`GapCause`]; [`Table::books`] says whether the counters add up.
//!
//! # How a sniffer is led astray, and what is done here
//!
//! * Bytes that are missing are never skipped silently: they are a gap, with their exact number. It is declared
//!   when the receiver has acknowledged bytes that were not captured and the reorder allowance has passed
//!   ([`Limits::reorder_packets`], [`Limits::reorder`]: an acknowledgement may be captured before the data it
//!   acknowledges), when data has waited behind a hole for [`Limits::hold`], when a budget is met, and when the
//!   flow closes. Bytes that come after their gap was declared count as retransmitted.
//! * Bytes are not delivered before what their sender had received of the other lane, by its acknowledgement: a
//!   response whose request was lost comes after the gap where the request was, and one that was captured before
//!   its request comes after it. What waits is held like bytes out of order, within the same bounds. A lane of
//!   which nothing was captured holds up nothing.
//! * Where segments overlap, the bytes seen first win, whatever the later ones say.
//! * A frame that was cut by the snapshot length gives what is there and a gap for the rest. A retransmission
//!   does not fill it.
//! * A reset counts when its sequence number is one that the receiver would take, a SYN on a live flow only
//!   when the flow was quiet; others are counted and change nothing.
//! * Data far beyond the receiver's window is not held, and an acknowledgement far from its own lane is not
//!   believed: one forged segment would end the lane.
//!
//! # What a flow depends on
//!
//! On its own packets and the times of [`Table::tick`], not on the packets of other flows: before a packet is
//! taken, what is overdue in its flow by its time is done. Exceptions are what tables share by their nature: the
//! eviction of flows, [`Limits::held_bytes`], the bounds of fragments and of one tick, and a clock that is set
//! back by more than 10 seconds or leaps by more than two days.
//!
//! # Not told apart
//!
//! A FIN that was acknowledged but never captured looks like one missing byte, and more than
//! 2 GiB lost at once in one lane, or 64 MiB in both, is more than can be told from forged segments: what
//! follows is counted as out of window.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod clock;
mod consumer;
mod counters;
mod defrag;
mod flow;
#[doc(hidden)]
pub mod fuzz;
mod key;
mod limits;
mod list;
mod orient;
mod reassembly;
mod table;
mod testkit;
#[cfg(test)]
mod tests;

pub use consumer::Consumer;
pub use counters::{Counters, DropReason, GapCause};
pub use flow::{End, Flow, FlowId, Handshake, Seen, Side};
pub use limits::Limits;
pub use table::Table;
