//! Why an envelope is refused.

use core::fmt;

use crate::protobuf::What;

/// Why bytes are no envelope or no batch. The list is closed: each cause is a metric label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Error {
    /// A value ends behind the end of its message.
    Truncated,
    /// A varint has more than ten bytes or more than 64 bits.
    BadVarint,
    /// A field number is 0 or too large, or the wire type does not exist.
    BadTag,
    /// A group ends that did not begin, or with another number than it began with.
    BadGroup,
    /// Groups nest deeper than [`MAX_GROUPS`](crate::protobuf::MAX_GROUPS).
    TooDeep,
    /// A text is not UTF-8.
    NotUtf8,
}

impl Error {
    /// Every cause, in declaration order.
    pub const ALL: &'static [Error] =
        &[Self::Truncated, Self::BadVarint, Self::BadTag, Self::BadGroup, Self::TooDeep, Self::NotUtf8];

    /// The cause as a metric label.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::BadVarint => "bad_varint",
            Self::BadTag => "bad_tag",
            Self::BadGroup => "bad_group",
            Self::TooDeep => "too_deep",
            Self::NotUtf8 => "not_utf8",
        }
    }
}

impl From<What> for Error {
    #[cold]
    fn from(what: What) -> Self {
        match what {
            What::Truncated => Self::Truncated,
            What::BadVarint => Self::BadVarint,
            What::BadTag => Self::BadTag,
            What::BadGroup => Self::BadGroup,
            What::TooDeep => Self::TooDeep,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for Error {}
