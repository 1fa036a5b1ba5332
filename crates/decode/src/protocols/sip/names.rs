//! Header names: from the bytes before the colon to the header that is meant.

use crate::lanes::{LANES, is_like, padded};

/// The headers whose first value a [`Message`](super::Message) remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Known {
    /// `Via`, `v` (RFC 3261 §20.42).
    Via,
    /// `From`, `f` (RFC 3261 §20.20).
    From,
    /// `To`, `t` (RFC 3261 §20.39).
    To,
    /// `Call-ID`, `i` (RFC 3261 §20.8).
    CallId,
    /// `CSeq` (RFC 3261 §20.16).
    CSeq,
    /// `Contact`, `m` (RFC 3261 §20.10).
    Contact,
    /// `Content-Type`, `c` (RFC 3261 §20.15).
    ContentType,
    /// `Content-Length`, `l` (RFC 3261 §20.14).
    ContentLength,
    /// `User-Agent` (RFC 3261 §20.41).
    UserAgent,
    /// `Server` (RFC 3261 §20.35).
    Server,
    /// `Max-Forwards` (RFC 3261 §20.22).
    MaxForwards,
    /// `Organization` (RFC 3261 §20.25).
    Organization,
    /// `Authorization` (RFC 3261 §20.7).
    Authorization,
    /// `Proxy-Authorization` (RFC 3261 §20.28).
    ProxyAuthorization,
    /// `P-Asserted-Identity` (RFC 3325 §9.1).
    PAssertedIdentity,
    /// `Privacy` (RFC 3323 §4.2).
    Privacy,
    /// `Reason` (RFC 3326 §2).
    Reason,
    /// `Remote-Party-ID` (draft-ietf-sip-privacy-04).
    RemotePartyId,
    /// `Diversion` (RFC 5806 §4).
    Diversion,
    /// `Expires` (RFC 3261 §20.19).
    Expires,
    /// `X-RTP-Stat`, the media report that some user agents add to BYE.
    XRtpStat,
    /// `Session-ID` (RFC 7989 §5).
    SessionId,
    /// `Event`, `o` (RFC 6665 §8.2.1).
    Event,
    /// `Subject`, `s` (RFC 3261 §20.36).
    Subject,
}

/// How many headers [`Known`] has.
pub(super) const KNOWN: usize = Known::Subject as usize + 1;

/// A name as the first bytes of a header line, to compare all of them at once. Aligned, so that the
/// comparison takes them from memory.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Name {
    bytes: [u8; LANES],
    /// Bits that do not count: 0x20 where the name has a letter, because only letters have two
    /// forms, and all bits behind the name. They are set in `bytes`.
    any: [u8; LANES],
    header: Known,
}

impl Name {
    /// What no line begins with.
    const NONE: Self = Self { bytes: [0; LANES], any: [0xff; LANES], header: Known::Via };

    /// `name` in lower case, at most 16 bytes with the colon, evaluated at compile time.
    #[allow(clippy::indexing_slicing, reason = "compile time only")]
    const fn new(name: &str, header: Known) -> Self {
        let (name, mut bytes, mut any, mut i) = (name.as_bytes(), [0xff; LANES], [0xff; LANES], 0usize);
        while i < name.len() {
            bytes[i] = name[i];
            any[i] = if name[i].is_ascii_lowercase() { 0x20 } else { 0 };
            i = i.wrapping_add(1);
        }
        Self { bytes, any, header }
    }
}

/// The names of [`Known`] that end within the first 16 bytes of their line, each with its colon.
const NAMES: [(&str, Known); 31] = [
    ("via:", Known::Via),
    ("v:", Known::Via),
    ("from:", Known::From),
    ("f:", Known::From),
    ("to:", Known::To),
    ("t:", Known::To),
    ("call-id:", Known::CallId),
    ("i:", Known::CallId),
    ("cseq:", Known::CSeq),
    ("contact:", Known::Contact),
    ("m:", Known::Contact),
    ("content-type:", Known::ContentType),
    ("c:", Known::ContentType),
    ("content-length:", Known::ContentLength),
    ("l:", Known::ContentLength),
    ("user-agent:", Known::UserAgent),
    ("server:", Known::Server),
    ("max-forwards:", Known::MaxForwards),
    ("organization:", Known::Organization),
    ("authorization:", Known::Authorization),
    ("privacy:", Known::Privacy),
    ("reason:", Known::Reason),
    ("remote-party-id:", Known::RemotePartyId),
    ("diversion:", Known::Diversion),
    ("expires:", Known::Expires),
    ("x-rtp-stat:", Known::XRtpStat),
    ("session-id:", Known::SessionId),
    ("event:", Known::Event),
    ("o:", Known::Event),
    ("subject:", Known::Subject),
    ("s:", Known::Subject),
];

/// The same by [`slot`], where no two of them meet.
static TABLE: [Name; SLOTS] = {
    let (mut table, mut taken) = ([Name::NONE; SLOTS], 0u64);
    let mut rest: &[(&str, Known)] = &NAMES;
    #[allow(clippy::indexing_slicing, reason = "compile time only")]
    while let [(name, header), after @ ..] = rest {
        let entry = Name::new(name, *header);
        let at = slot([entry.bytes[0], entry.bytes[1]], name.len().wrapping_sub(1));
        assert!(taken >> at & 1 == 0, "two names in one slot: another multiplier is needed");
        taken |= 1 << at;
        table[at] = entry;
        rest = after;
    }
    table
};

const SLOTS: usize = 64;

/// Where in the table a name of `len` bytes is that begins, its colon included, with two bytes:
/// these, in any case, and the length tell all names apart. The multiplier was found by trying.
#[allow(clippy::cast_possible_truncation, reason = "a mix of bits, of which the highest six are left")]
#[inline(always)]
const fn slot(first: [u8; 2], len: usize) -> usize {
    let key = (u16::from_le_bytes(first) as u32 | 0x2020).wrapping_add((len as u32) << 8);
    (key.wrapping_mul(0x93d0_1341) >> 26) as usize
}

/// Which header the first bytes of a line name, in any case, long or compact. `len` bytes precede
/// the first colon.
#[inline(always)]
pub(super) fn known(line: &[u8; LANES], len: usize) -> Option<Known> {
    let name = TABLE.get(slot([line[0], line[1]], len))?;
    if is_like(*line, name.any, name.bytes) { Some(name.header) } else { None }
}

/// The same for a name that stands alone, of any length.
#[inline(never)]
pub(super) fn known_name(name: &[u8]) -> Option<Known> {
    if name.len() >= LANES {
        return known_long(name);
    }
    let mut line = padded(name);
    if let Some(behind) = line.get_mut(name.len()) {
        *behind = b':';
    }
    known(&line, name.len())
}

fn known_long(name: &[u8]) -> Option<Known> {
    if name.eq_ignore_ascii_case(b"p-asserted-identity") {
        Some(Known::PAssertedIdentity)
    } else if name.eq_ignore_ascii_case(b"proxy-authorization") {
        Some(Known::ProxyAuthorization)
    } else {
        None
    }
}

/// The compact forms of the IANA registry "Session Initiation Protocol (SIP) Parameters".
const COMPACT: [(u8, &[u8]); 20] = [
    (b'a', b"accept-contact"),
    (b'b', b"referred-by"),
    (b'c', b"content-type"),
    (b'd', b"request-disposition"),
    (b'e', b"content-encoding"),
    (b'f', b"from"),
    (b'i', b"call-id"),
    (b'j', b"reject-contact"),
    (b'k', b"supported"),
    (b'l', b"content-length"),
    (b'm', b"contact"),
    (b'n', b"identity-info"),
    (b'o', b"event"),
    (b'r', b"refer-to"),
    (b's', b"subject"),
    (b't', b"to"),
    (b'u', b"allow-events"),
    (b'v', b"via"),
    (b'x', b"session-expires"),
    (b'y', b"identity"),
];

/// Whether two header names mean the same header: equal in any case, or one the compact form of
/// the other.
pub(super) fn same(a: &[u8], b: &[u8]) -> bool {
    full(a).eq_ignore_ascii_case(full(b))
}

fn full(name: &[u8]) -> &[u8] {
    let [letter] = name else { return name };
    let letter = letter.to_ascii_lowercase();
    COMPACT.iter().find(|(short, _)| *short == letter).map_or(name, |(_, long)| long)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &[u8]) -> Option<Known> {
        let alone = known_name(name);
        if name.len() < LANES {
            // What stands behind the colon does not matter.
            for behind in [0u8, 0xff] {
                let mut line = [behind; LANES];
                line[..name.len()].copy_from_slice(name);
                line[name.len()] = b':';
                assert_eq!(super::known(&line, name.len()), alone);
            }
        }
        alone
    }

    const LONG: [(&str, Known); KNOWN] = [
        ("Via", Known::Via),
        ("From", Known::From),
        ("To", Known::To),
        ("Call-ID", Known::CallId),
        ("CSeq", Known::CSeq),
        ("Contact", Known::Contact),
        ("Content-Type", Known::ContentType),
        ("Content-Length", Known::ContentLength),
        ("User-Agent", Known::UserAgent),
        ("Server", Known::Server),
        ("Max-Forwards", Known::MaxForwards),
        ("Organization", Known::Organization),
        ("Authorization", Known::Authorization),
        ("Proxy-Authorization", Known::ProxyAuthorization),
        ("P-Asserted-Identity", Known::PAssertedIdentity),
        ("Privacy", Known::Privacy),
        ("Reason", Known::Reason),
        ("Remote-Party-ID", Known::RemotePartyId),
        ("Diversion", Known::Diversion),
        ("Expires", Known::Expires),
        ("X-RTP-Stat", Known::XRtpStat),
        ("Session-ID", Known::SessionId),
        ("Event", Known::Event),
        ("Subject", Known::Subject),
    ];

    #[test]
    fn long_names_in_any_case() {
        for (name, header) in LONG {
            assert_eq!(known(name.as_bytes()), Some(header), "{name}");
            assert_eq!(known(name.to_ascii_lowercase().as_bytes()), Some(header));
            assert_eq!(known(name.to_ascii_uppercase().as_bytes()), Some(header));
        }
    }

    #[test]
    fn one_changed_byte_is_another_name() {
        for (name, header) in LONG {
            for at in 0..name.len() {
                for byte in 0..=255u8 {
                    let mut other = name.as_bytes().to_vec();
                    other[at] = byte;
                    let expected = other.eq_ignore_ascii_case(name.as_bytes()).then_some(header);
                    assert_eq!(known(&other), expected, "{name} {at} {byte}");
                }
            }
        }
    }

    #[test]
    fn no_two_letter_name_but_to() {
        for a in 0..=255u8 {
            for b in 0..=255u8 {
                let is_to = [a, b].eq_ignore_ascii_case(b"to");
                assert_eq!(known(&[a, b]), is_to.then_some(Known::To));
            }
        }
    }

    #[test]
    fn compact_forms() {
        for (short, long) in COMPACT {
            assert!(same(&[short], long));
            assert!(same(&long.to_ascii_uppercase(), &[short.to_ascii_uppercase()]));
            assert_eq!(known(&[short]), known(long));
        }
        assert_eq!(known(b""), None);
        assert_eq!(known(b"z"), None);
        assert!(!same(b"z", b"via"));
    }
}
