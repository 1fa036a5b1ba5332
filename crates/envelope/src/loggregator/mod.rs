//! Loggregator, version 2: `loggregator.v2.Envelope` and `EnvelopeBatch` of proto3.
//!
//! * In: one envelope, or a batch of them, as a gRPC message carries it; or an envelope of
//!   [`dropsonde`](crate::dropsonde).
//! * Out: an [`Envelope`] that borrows, and bytes of envelopes at the end of a `Vec` of the caller.
//! * Owned: nothing.
//! * Bounded by: the length of the input.
//! * Lost: nothing; what is refused is refused with an [`Error`] that is a metric label.
//!
//! Of a batch with a bad envelope in it the good ones can be read; the reference loses them all.
//!
//! <https://github.com/cloudfoundry/loggregator-api>

mod batch;
mod decimal;
mod encode;
mod error;
mod from_v1;
mod parse;
mod view;

pub use batch::{Entries, entries};
pub use encode::Encoder;
pub use error::Error;
pub use from_v1::{Identity, Notices, Options, Written, write_v1};
pub use view::{Counter, DeprecatedTags, Envelope, Event, Gauge, Log, Message, Metrics, Tags, Timer, Value};
