//! What the product is told to do, and whether the machine lets it.
//!
//! In: a TOML file, the environment, the command line; `/proc`, `/sys` and the data directory. Out: a
//! [`Plan`] in which every key has a value that was checked, or one [`ConfigError`] that says what is
//! wrong, where, and the way out; and a list of findings about the machine, each with the command
//! that mends it ([`doctor`]). Every key is defined once, in `config/keys.rs`, from which defaults,
//! checks, reference and sample come. Files are read once and nothing is kept.

#![forbid(unsafe_code)]

mod config;
pub mod doctor;

pub use config::{
    Api, Compression, ConfigError, Conflict, Data, Diff, Egress, Hep, IGNORED_ENV, Key, Kind, Lake, Log,
    LogFormat, LogLevel, Machine, Memory, Node, Origin, Overrides, Place, Plan, Problem, Reload, SECTIONS,
    Secret, SecretProblem, Section, Shutdown, Source, Threads, Warning, key, keys, reference, sample,
    without_ipv6,
};
