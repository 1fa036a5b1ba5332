//! What a call was: who, when, through which hosts, and how it ended.
//!
//! In: the messages of one call, oldest first (all legs; the first message says which leg is the
//! caller's). Out: a [`CallSummary`], one [`label`] per message, and which messages are
//! [`retransmits`]. Pure: time is the messages' own.

mod hosts;
mod label;
mod retransmits;
mod sip;
mod state;
mod summary;

pub use hosts::{Host, hosts};
pub use label::label;
pub use retransmits::retransmits;
pub use state::State;
pub use summary::{CallSummary, summarize};

pub(crate) use sip::{body, content_length, has_sdp};
