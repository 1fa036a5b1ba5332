//! One folder per protocol.

pub mod sdp;
pub mod sip;
