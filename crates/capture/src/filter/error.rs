//! What is wrong with a filter, and where.

/// What is wrong with a filter, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("filter, column {column}: {cause}")]
pub struct FilterError {
    /// The column of the first character that is not understood, from 1.
    pub column: usize,
    /// What is wrong there.
    pub cause: Cause,
}

/// What can be wrong with a filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// A word or sign that cannot stand there.
    #[error("{found} cannot stand here; expected {expected}")]
    Unexpected {
        /// What was found, quoted, or `the end`.
        found: String,
        /// What could stand there.
        expected: &'static str,
    },
    /// A number that is too large for its place.
    #[error("{found} is too large; the most is {most}")]
    TooLarge {
        /// The number as it was written.
        found: String,
        /// The largest that can stand there.
        most: u32,
    },
    /// A network with bits outside of its mask.
    #[error("the address has bits outside of the network's mask; the network is {network}")]
    HostBits {
        /// The network of that address.
        network: String,
    },
    /// A division by zero or a shift by more than 31.
    #[error("this arithmetic has no result")]
    Arithmetic,
    /// Deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("nested more than {} levels deep", super::MAX_DEPTH)]
    TooDeep,
    /// Longer than [`MAX_INSTRUCTIONS`](super::MAX_INSTRUCTIONS).
    #[error(
        "compiles to {instructions} instructions, and the kernel takes {} at most; use port ranges and \
         networks instead of lists",
        super::MAX_INSTRUCTIONS
    )]
    TooLong {
        /// How many it would have.
        instructions: usize,
    },
}
