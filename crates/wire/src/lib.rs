//! Views of link, IP, TCP and UDP headers and of the tunnels between them.
//!
//! * In: one [`Frame`], or the payload that IP fragments were put together to.
//! * Out: a [`Packet`]: the addresses of the innermost IP header and what it carries, borrowed from the
//!   frame. Nothing is copied, nothing is allocated.
//! * Owned: nothing. There is no state between two calls, no clock and no log.
//! * Bounded by: [`MAX_LAYERS`] headers a frame; each header is read once.
//! * Lost: frames that carry no IP or are damaged before their ports; each says why with a
//!   [`WireError`], whose label is a metric's.
//!
//! # What is believed
//!
//! The length in the IP header decides where a packet ends: Ethernet padding and check sequences behind it
//! are not payload, and when it says more than the frame holds (a snapshot length, a mirror that cuts
//! inside its tunnel) the payload is what is there and `payload_len` is what was sent. A length of 0 means
//! "to the end of the frame": Linux hands out segments larger than 64 KiB (BIG TCP) and those of some
//! offloads so.
//!
//! Checksums are not verified: a sender's capture sees packets before its network card fills them in, so
//! they are wrong there by design, and a receiver's card has dropped what was damaged.
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

mod error;
#[doc(hidden)]
pub mod fuzz;
mod ip;
mod link;
mod mpls;
mod options;
mod packet;
mod span;
mod transport;
mod tunnel;
mod walk;

#[cfg(test)]
mod tests;

pub use error::WireError;
pub use options::{TcpOption, TcpOptions, Timestamps};
pub use packet::{Around, Body, Datagram, Fragment, Packet, Segment, TcpFlags, Tunnel, TunnelKind};
pub use walk::MAX_LAYERS;

use std::net::IpAddr;

use model::Frame;
use span::Span;
use walk::{Layer, Walk};

/// Reads a frame down to the innermost packet that can be reached.
///
/// # Errors
///
/// Why there is no packet: [`WireError`].
pub fn parse<'a>(frame: &Frame<'a>) -> Result<Packet<'a>, WireError> {
    let span = Span::new(frame.bytes, frame.wire_len);
    Walk::new(span, frame.vlan.filter(|id| *id != 0)).run(Layer::of(frame.link))
}

/// Reads what a datagram holds whose fragments were put together: `protocol` is that of its
/// [`Fragment`]s, `around` that of the packet which carried the first of them.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_payload<'a>(
    src: IpAddr,
    dst: IpAddr,
    protocol: u8,
    bytes: &'a [u8],
    around: Around,
) -> Result<Packet<'a>, WireError> {
    let span = Span::new(bytes, 0);
    let mut walk = Walk::new(span, around.vlan);
    walk.tunnel = around.tunnel;
    walk.enter(src, dst, around.ttl);
    walk.run(Layer::Protocol(protocol))
}
