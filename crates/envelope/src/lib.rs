//! Envelopes: outer wrappers that carry their own addresses and time around the bytes of a
//! message.
//!
//! * In: one datagram, or one frame of a stream, as it was received.
//! * Out: what the wrapper says about the message, and the message as borrowed bytes.
//! * Owned: nothing. Only [`hep::inflate`], [`hep::encode`] and what converts in [`loggregator`] write,
//!   into a buffer of the caller.
//! * Bounded by: the length of the input; an inflated payload by the limit that the caller gives.
//! * Lost: nothing. What is odd is said by a notice, what cannot be opened by an error: a
//!   [`decode::DecodeError`], a [`dropsonde::Error`] or a [`loggregator::Error`].
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

pub mod dropsonde;
#[doc(hidden)]
pub mod fuzz;
pub mod hep;
pub mod loggregator;
pub mod protobuf;
