//! What is odd about a packet that was opened all the same.

use core::{fmt, ops};

/// A set of oddities. None of them stops a packet from being opened.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Notices(u16);

macro_rules! notices {
    ($($(#[$doc:meta])* $name:ident = $bit:literal, $label:literal;)+) => {
        impl Notices {
            $($(#[$doc])* pub const $name: Notices = Notices(1 << $bit);)+

            /// Every single notice with its label in snake case.
            pub const ALL: &'static [(Notices, &'static str)] = &[$((Notices::$name, $label),)+];
        }
    };
}

notices! {
    /// Bytes follow the packet, or fewer than a chunk header stand at its end; they are not read.
    TRAILING_BYTES = 0, "trailing_bytes";
    /// A generic chunk occurs again, or a second address or payload form; the first one counts.
    DUPLICATE_CHUNK = 1, "duplicate_chunk";
    /// A generic chunk of fixed size has another size; it is not read.
    BAD_CHUNK_SIZE = 2, "bad_chunk_size";
    /// The time of a HEP2 packet is in big-endian order.
    TIME_SWAPPED = 3, "time_swapped";
    /// The packet has no seconds.
    MISSING_TIME = 4, "missing_time";
    /// The microseconds are 1,000,000 or more.
    USEC_OUT_OF_RANGE = 5, "usec_out_of_range";
    /// The time of a HEP2 packet makes sense in neither byte order.
    TIME_IMPLAUSIBLE = 6, "time_implausible";
    /// The address family does not fit the addresses.
    FAMILY_MISMATCH = 7, "family_mismatch";
    /// There is no payload.
    MISSING_PAYLOAD = 8, "missing_payload";
    /// Both a plain and a compressed payload are there; the plain one counts.
    TWO_PAYLOADS = 9, "two_payloads";
}

impl Notices {
    /// The empty set.
    pub const NONE: Notices = Notices(0);

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` are in the set.
    pub const fn contains(self, other: Notices) -> bool {
        self.0 & other.0 == other.0
    }

    /// The set as bits, in the order of [`Notices::ALL`].
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The labels of the notices in the set.
    pub fn labels(self) -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().filter(move |(one, _)| self.contains(*one)).map(|(_, label)| *label)
    }
}

impl ops::BitOrAssign for Notices {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Notices) {
        self.0 |= other.0;
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.labels()).finish()
    }
}
