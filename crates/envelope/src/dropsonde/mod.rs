//! Dropsonde, version 1 of Loggregator: one `events.Envelope` of proto2 per datagram.
//!
//! * In: one datagram.
//! * Out: an [`Envelope`]: its fields and the body that its event type names, borrowed.
//! * Owned: nothing.
//! * Bounded by: the length of the datagram.
//! * Lost: nothing; what is refused is refused with an [`Error`] whose cause is a metric label.
//!
//! Refused is what the Go reference (`protobuf-go` and the agents' unmarshaller) refuses: an envelope
//! that is no message, one that lacks a required field in any body that is there, whether its event
//! type names it or not, and one without the body that its event type names. Texts need not be UTF-8,
//! enums may have values without a name, of a field that occurs again the last value counts, embedded
//! messages that occur again are merged, and unknown fields are skipped.
//!
//! <https://github.com/cloudfoundry/dropsonde-protocol>

mod bodies;
mod error;
mod names;
mod open;
mod tags;

pub use bodies::{
    Body, ContainerMetric, CounterEvent, ErrorEvent, HttpStartStop, LogMessage, Uuid, ValueMetric,
};
pub use error::{Error, Field, What};
pub use names::{event_type, event_type_name, method, method_name, peer_type, peer_type_name};
pub(crate) use open::FEW_TAGS;
pub use open::{Envelope, open};
pub(crate) use tags::entry;
pub use tags::{Forwarded, Tags};
