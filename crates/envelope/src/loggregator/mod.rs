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
pub mod counters;
mod decimal;
mod distinct;
mod encode;
mod error;
mod from_v1;
pub mod otlp;
mod parse;
mod receive;
pub mod syslog;
mod time;
mod to_v1;
mod view;

pub use batch::{Entries, entries};
pub use encode::Encoder;
pub use error::Error;
pub use from_v1::{Identity, Notices, Options, Written, write_v1};
pub use receive::{Received, write_received};
pub use to_v1::to_v1;
pub use view::{Counter, DeprecatedTags, Envelope, Event, Gauge, Log, Message, Metrics, Tags, Timer, Value};
