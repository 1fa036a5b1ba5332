//! The stages put together: sockets, envelope, decoder, rows, lake.

mod capture;
pub mod loggregator;
pub mod packets;
mod server;
mod sink;
mod watch;

pub use capture::{Capture, Pages, now};
pub use server::{Ports, Server, frame};
pub use sink::{Handover, HepSink, Live, SealLimits};
pub use watch::Watch;
