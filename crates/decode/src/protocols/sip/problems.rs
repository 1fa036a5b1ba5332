//! What is odd about a message that was decoded all the same.

use core::{fmt, ops};

/// A set of oddities. None of them stops decoding; a row of the message can still be stored.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Problems(u32);

macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident = $bit:literal, $label:literal;)+) => {
        impl Problems {
            $($(#[$doc])* pub const $name: Problems = Problems(1 << $bit);)+

            /// Every single problem with its label in snake case.
            pub const ALL: &'static [(Problems, &'static str)] =
                &[$((Problems::$name, $label),)+];
        }
    };
}

problems! {
    /// There is no Call-ID, or it is empty.
    NO_CALL_ID = 0, "no_call_id";
    /// There is no CSeq.
    NO_CSEQ = 1, "no_cseq";
    /// There is no From.
    NO_FROM = 2, "no_from";
    /// There is no To.
    NO_TO = 3, "no_to";
    /// There is no Via.
    NO_VIA = 4, "no_via";
    /// CSeq is not a 32-bit number and a method.
    BAD_CSEQ = 5, "bad_cseq";
    /// The method of CSeq is not that of the request line.
    METHOD_MISMATCH = 6, "method_mismatch";
    /// The version is missing or is not `SIP/2.0`.
    BAD_VERSION = 7, "bad_version";
    /// The status code is not within 100 to 699.
    BAD_STATUS_CODE = 8, "bad_status_code";
    /// A line of the head has no colon, or nothing before it.
    BAD_HEADER_LINE = 9, "bad_header_line";
    /// A header that may occur once occurs again; the first one counts.
    DUPLICATE_HEADER = 10, "duplicate_header";
    /// The bytes end before the empty line that ends the head.
    NO_END_OF_HEAD = 11, "no_end_of_head";
    /// Content-Length is not a number.
    BAD_CONTENT_LENGTH = 12, "bad_content_length";
    /// The body has not the length that Content-Length announces.
    CONTENT_LENGTH_MISMATCH = 13, "content_length_mismatch";
    /// The head is not valid UTF-8.
    NOT_UTF8 = 14, "not_utf8";
}

impl Problems {
    /// The empty set.
    pub const NONE: Problems = Problems(0);

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` are in the set.
    pub const fn contains(self, other: Problems) -> bool {
        self.0 & other.0 == other.0
    }

    /// The set as bits, in the order of [`Problems::ALL`].
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The labels of the problems in the set.
    pub fn labels(self) -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().filter(move |(one, _)| self.contains(*one)).map(|(_, label)| *label)
    }
}

impl ops::BitOr for Problems {
    type Output = Problems;

    fn bitor(self, other: Problems) -> Problems {
        Problems(self.0 | other.0)
    }
}

impl ops::BitOrAssign for Problems {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Problems) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.labels()).finish()
    }
}
