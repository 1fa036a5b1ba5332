//! Why a capture cannot start or go on, and what to do about it.

use std::io;

/// Why a capture cannot start or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The process may not open packet sockets.
    #[error(
        "capturing needs the capability CAP_NET_RAW; grant it with `sudo setcap cap_net_raw+ep {program}` \
         and start again"
    )]
    NotPermitted {
        /// The path of the running program.
        program: String,
    },
    /// There is no interface of that name.
    #[error("there is no interface {name:?}; there are: {}", there.join(", "))]
    NoInterface {
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        there: Vec<String>,
    },
    /// The options ask for what cannot be.
    #[error("{bytes} bytes are no size for a ring: give at least {least} and less than 4 GiB")]
    RingSize {
        /// What was asked for.
        bytes: usize,
        /// The least that the interfaces and the block size need.
        least: usize,
    },
    /// The kernel has not that much memory for a ring.
    #[error("the kernel has no memory for a ring of {bytes} bytes on {interface}; ask for a smaller ring")]
    NoMemory {
        /// The interface.
        interface: String,
        /// The size of one ring.
        bytes: usize,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel refused the filter.
    #[error(
        "the kernel refused the filter of {instructions} instructions on {interface}; a long one needs \
         more option memory: `sudo sysctl net.core.optmem_max=262144`"
    )]
    Filter {
        /// The interface.
        interface: String,
        /// The length of the program.
        instructions: usize,
        /// What the kernel said.
        source: io::Error,
    },
    /// Another step failed.
    #[error("{interface}: cannot {step}")]
    Failed {
        /// The interface.
        interface: String,
        /// What was being done.
        step: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl LiveError {
    /// For `map_err`: a step of opening an interface failed.
    pub(super) fn at(interface: &str, step: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => Self::NotPermitted { program: program() },
            _ => Self::Failed { interface: interface.to_owned(), step, source },
        }
    }
}

/// The path of the running program, for a command that people can paste.
fn program() -> String {
    std::env::current_exe().map_or_else(|_| "PATH_OF_WIRELAKE".to_owned(), |path| path.display().to_string())
}
