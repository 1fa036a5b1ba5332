//! SDP (RFC 8866): the media endpoints of a body.
//!
//! * In: the body of a SIP message, plain SDP or a multipart that contains it.
//! * Out: one [`Media`] per `m=` line, handed to a closure in wire order.
//! * Bounded by: [`MAX_MEDIA`] media per body; more are counted, not shown.
//! * Lost: nothing. Lines that are not understood are passed over.

mod media;
mod session;

pub use media::Media;
pub use session::{MAX_MEDIA, media};
