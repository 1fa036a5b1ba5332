//! SIP (RFC 3261): one message in, its fields out.
//!
//! * In: the bytes of one message, request or response, as HEP or a datagram carries them.
//! * Out: a [`Message`]: the place of each header that searches need, found in one pass over the
//!   head, and the places within the addresses and the Via that nearly every row has, where these are
//!   written as usual. Anything else is taken apart when it is asked for.
//! * Owned: nothing; every field borrows from the input.
//! * Bounded by: the length of the input. Each byte of the head is looked at a fixed number of
//!   times, the body only by [`sdp`](crate::sdp).
//! * Lost: nothing. The decoder is lenient as RFC 4475 asks: line ends of LF, line ends in front,
//!   folded headers, compact names, a missing end of the head and a wrong Content-Length are all
//!   decoded, and [`Problems`] says which of them were seen.
//!
//! What is not decoded: whether a message obeys the grammar, the comments in Via, the values of
//! headers that are not in [`Known`]; [`Message::headers`] gives those as they are.

mod addr;
mod auth;
mod fields;
mod fold;
mod headers;
mod lines;
mod message;
mod names;
mod params;
mod parse;
mod problems;
mod start;
mod uri;
mod via;
mod window;
mod wire;

pub use addr::NameAddr;
pub use fold::unfold;
pub use headers::{Header, Headers};
pub use message::{CSeq, Message};
pub use names::Known;
pub use params::Params;
pub use parse::{parse, parse_into, parse_str, parse_str_into};
pub use problems::Problems;
pub use start::looks_like_start;
pub use uri::Uri;
pub use via::{Hop, Via};
pub use wire::Sip;
