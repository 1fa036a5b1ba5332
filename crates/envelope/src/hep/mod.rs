//! HEP, the Homer Encapsulation Protocol, versions 1, 2 and 3 (specification revision 37).
//!
//! * In: one HEP packet, from a datagram or cut out of a stream with [`frame_len`].
//! * Out: a [`Hep`]: every generic chunk, as it stands on the wire, and the payload.
//! * Owned: nothing; all of it borrows from the packet.
//! * Bounded by: 65535 bytes, the largest length that a HEP3 header can announce.
//! * Lost: nothing. Chunks of vendors and unknown chunks are found by [`Hep::others`].
//!
//! Whether an auth key is right is asked with [`auth_ok`]; compressed payloads are opened with
//! [`inflate`].

mod auth;
mod chunks;
mod encode;
mod frame;
mod inflate;
mod notices;
mod packet;
mod time;
mod usual;
mod v12;
mod v3;

pub use auth::auth_ok;
pub use chunks::{Chunk, id};
pub use encode::{Encoder, encode};
pub use frame::{Frame, frame_len};
pub use inflate::inflate;
pub use notices::Notices;
pub use packet::{Hep, Payload, open, open_into};
pub use time::{RawTime, TimeSource};
