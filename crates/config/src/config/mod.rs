//! File, environment and command line become a [`Plan`].
//!
//! Each layer lies over the one before: defaults, file, environment, command line. A value goes
//! through the same checks whichever layer it comes from. Then what depends on the machine is
//! resolved (`0` threads, the node's name), secrets are read from their files, and the keys are
//! checked against each other.

mod address;
mod choice;
mod diff;
mod error;
mod input;
mod key;
mod keys;
mod layers;
mod plan;
mod reference;
mod secret;
mod setting;
mod show;
mod suggest;
mod validate;

pub use address::without_ipv6;
pub use choice::{Compression, LogFormat, LogLevel};
pub use diff::Diff;
pub use error::{ConfigError, Conflict, Place, Problem, SecretProblem, Source, Warning};
pub use key::{Key, Kind, Origin, Reload, SECTIONS, Section, key, keys};
pub use keys::{Api, Data, Egress, Hep, Lake, Log, Memory, Node, Plan, Shutdown, Threads};
pub use layers::{IGNORED_ENV, Overrides};
pub use plan::Machine;
pub use reference::{reference, sample};
pub use secret::Secret;

#[cfg(test)]
mod tests;
