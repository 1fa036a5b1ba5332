//! The error of every parser: a closed cause and a position, eight bytes, `Copy`.

use core::fmt;

/// Defines the causes once: the enum, the list of all and the labels.
macro_rules! causes {
    ($($(#[$doc:meta])* $name:ident = $label:literal,)+) => {
        /// Why bytes could not be decoded. The list is closed: each cause is a metric label.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum What {
            $($(#[$doc])* $name,)+
        }

        impl What {
            /// Every cause, in declaration order.
            pub const ALL: &'static [What] = &[$(What::$name,)+];

            /// The cause as a metric label in snake case.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(What::$name => $label,)+
                }
            }
        }
    };
}

causes! {
    /// There are no bytes.
    Empty = "empty",
    /// The bytes end before the length that they announce.
    Truncated = "truncated",
    /// The first bytes are not those of the protocol.
    BadMagic = "bad_magic",
    /// A length field is too small or does not fit its place.
    BadLength = "bad_length",
    /// The input, or what it inflates to, is larger than the bound.
    TooLarge = "too_large",
    /// A compressed payload is neither gzip, zlib nor deflate, or is damaged.
    BadCompression = "bad_compression",
    /// Only line ends or NUL bytes: a keep-alive of RFC 5626 §3.5.1 or of a NAT pinger.
    KeepAlive = "keep_alive",
    /// The first line is not a SIP start line.
    NotSip = "not_sip",
    /// The first line names SIP but has no usable status code or Request-URI.
    BadStartLine = "bad_start_line",
    /// An answer does not fit what was asked.
    OutOfStep = "out_of_step",
    /// The number of a packet does not follow that of the one before.
    BadSequence = "bad_sequence",
    /// A message or frame comes where another one must be.
    OutOfPlace = "out_of_place",
}

/// What went wrong and at which byte of the input given to the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The cause.
    pub what: What,
    /// Offset in bytes; `u32::MAX` when it is larger than that.
    pub at: u32,
}

const _: () = assert!(size_of::<DecodeError>() <= 8);

impl DecodeError {
    /// Builds the error for the byte at offset `at`.
    #[cold]
    pub fn new(what: What, at: usize) -> Self {
        Self { what, at: u32::try_from(at).unwrap_or(u32::MAX) }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what.as_str(), self.at)
    }
}

impl core::error::Error for DecodeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_unique_snake_case() {
        for (i, a) in What::ALL.iter().enumerate() {
            assert!(a.as_str().bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
            assert!(What::ALL[i + 1..].iter().all(|b| a.as_str() != b.as_str()));
        }
    }

    #[test]
    fn display_names_cause_and_place() {
        let error = DecodeError::new(What::Truncated, 7);
        assert_eq!(error.to_string(), "truncated at byte 7");
        assert_eq!(DecodeError::new(What::Empty, usize::MAX).at, u32::MAX);
    }
}
