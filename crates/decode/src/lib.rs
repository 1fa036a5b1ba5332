//! Decoders: bytes of one message in, positions and borrowed fields out.
//!
//! * In: the bytes of one message, as a datagram, an envelope or a reassembled stream delivers them.
//! * Out: views that borrow from those bytes. Nothing is copied, nothing is allocated.
//! * Owned: nothing. There is no state between two calls, no clock and no log.
//! * Bounded by: the length of the input, which is below 4 GiB (positions are 32 bits).
//! * Lost: nothing. What is odd is said by a notice, what is not the protocol at all by a
//!   [`DecodeError`], and the caller keeps the bytes in both cases.
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice
)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::string_slice
    )
)]

mod contract;
mod cursor;
mod driver;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod hash;
mod lanes;
mod number;
#[cfg(test)]
mod pcap;
mod protocols;
mod scratch;
#[doc(hidden)]
pub mod testkit;
mod text;
mod trace;

pub use contract::{
    AfterGap, Decoder, End, Entry, Event, Expected, Fields, Input, Key, Limits, Message, Meta, Name, Next,
    Notice, Out, Progress, Role, Shape, Start, Status, Value, Verdict,
};
pub use cursor::Cursor;
pub use driver::{Driver, MAX_ERRORS};
pub use error::{DecodeError, What};
pub use protocols::{AnyDecoder, Protocol, sdp, sip};

/// Whether bytes are UTF-8: the cheapest pass that looks at each of them, and so the measure for what
/// decoding costs.
pub fn is_utf8(bytes: &[u8]) -> bool {
    simdutf8::basic::from_utf8(bytes).is_ok()
}
