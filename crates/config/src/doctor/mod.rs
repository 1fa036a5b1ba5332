//! Whether the machine lets the plan work, and the command that mends what does not.
//!
//! In: a [`Plan`], and what `/proc`, `/sys`, `/run` and the file system say. Out: one [`Finding`]
//! per check. Files are read, the data directory is asked for, and listening addresses are bound
//! for a moment; nothing is changed and nothing is sent, but for [`tune`], when it is asked to. Whatever cannot be read is reported as
//! such, never guessed.

mod clock;
mod finding;
mod machine;
mod network;
mod ports;
mod process;
mod remedy;
mod storage;
mod system;
pub mod tune;

pub use finding::{Finding, Status, exit_code, render};
pub use remedy::{Remedy, remedies};
pub use system::System;

use crate::config::Plan;

/// Checks the machine this runs on.
pub fn checks(plan: &Plan) -> Vec<Finding> {
    checks_on(plan, &System::this())
}

/// Checks a machine whose `/proc`, `/sys` and `/run` are below another root. The data directory and
/// the listening addresses are always this machine's.
pub fn checks_on(plan: &Plan, system: &System) -> Vec<Finding> {
    vec![
        network::receive_buffer(plan, system),
        network::backlog(system),
        network::losses(system),
        process::capabilities(system),
        process::open_files(plan, system),
        machine::cores(plan, system),
        machine::memory(plan, system),
        clock::source(system),
        clock::synchronised(system),
        storage::data_directory(plan),
        storage::free_space(plan),
        storage::file_system(plan, system),
    ]
    .into_iter()
    .chain(ports::listening(plan, system))
    .collect()
}

#[cfg(test)]
mod tests;
