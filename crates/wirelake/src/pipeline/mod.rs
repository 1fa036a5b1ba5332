//! The stages put together: sockets, envelope, decoder, rows, lake.

mod server;
mod sink;

pub use server::{Ports, Server, frame};
pub use sink::{Handover, HepSink, Live, SealLimits};
