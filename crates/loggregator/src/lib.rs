//! Loggregator on the network: envelopes to other systems, and from them.
//!
//! * In: encoded loggregator v2 envelopes ([`batch`]); connections of v2 clients.
//! * Out: destinations, each with a task, a queue, a policy and counters of its own.
//! * Owned: the queues, and their files where they have a disk.
//! * Bounded by: bytes of a queue in memory and on disk; batches and bytes in flight; connections, streams and bytes of
//!   a message on the way in. Every number is in a `Settings`.
//! * Lost: what the policy of a full queue gives up, what a destination refuses for good, what is left when the time to
//!   stop is over; counted by [`Reason`]. A batch counts as sent when the destination confirmed it, not before.
//!
//! The bytes of an envelope are opaque here; the crate `envelope` reads and writes them.
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![deny(
    clippy::indexing_slicing,
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
        clippy::cast_possible_truncation,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::string_slice
    )
)]

pub mod batch;
pub mod counters;
mod destination;
mod egress;
pub mod ingress;
mod ledger;
pub mod metrics;
mod prometheus;
mod queue;
mod quiet;
mod serve;
mod spool;
mod tls;

pub use batch::{Batch, BatchBuilder, Limits};
pub use counters::{Cause, Counters, Reason};
pub use destination::{Destination, DiskSettings, Protocol, QueueSettings, Settings};
pub use egress::{Backoff, Remote, otlp, syslog};
pub use ledger::{Ledger, Page, Rows, Sockets};
pub use queue::{Policy, Window};
pub use tls::{ClientTls, FilesError, Identity, ServerTls};
