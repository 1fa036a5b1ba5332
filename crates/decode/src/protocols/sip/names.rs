//! Header names: from the bytes before the colon to the header that is meant.

use crate::lanes::LANES;

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

/// A name as the two words of the first 16 bytes of a header line, to compare them at once.
struct Name {
    low: u64,
    high: u64,
    /// Bits that do not count: 0x20 where the name has a letter, because only letters have two
    /// forms, and all bits behind the name.
    low_any: u64,
    high_any: u64,
}

impl Name {
    /// `name` in lower case, at most 16 bytes, evaluated at compile time.
    const fn new(name: &str) -> Self {
        let (low, low_any) = pack(name.as_bytes(), 0);
        let (high, high_any) = pack(name.as_bytes(), 8);
        Self { low, high, low_any, high_any }
    }

    #[inline(always)]
    const fn is(&self, low: u64, high: u64) -> bool {
        (low | self.low_any) == self.low && (high | self.high_any) == self.high
    }
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "compile time only")]
const fn pack(bytes: &[u8], from: usize) -> (u64, u64) {
    let (mut word, mut any, mut i) = (0u64, 0u64, 0usize);
    while i < 8 {
        if from + i < bytes.len() {
            let byte = bytes[from + i];
            word |= (byte as u64) << (8 * i);
            if byte.is_ascii_lowercase() {
                any |= 0x20 << (8 * i);
            }
        } else {
            word |= 0xff << (8 * i);
            any |= 0xff << (8 * i);
        }
        i += 1;
    }
    (word, any)
}

/// Which header the first `len` bytes of a line, at most 16, name in any case, long or compact.
#[inline(always)]
pub(super) fn known(line: [u8; LANES], len: usize) -> Option<Known> {
    let line = u128::from_le_bytes(line);
    #[allow(clippy::cast_possible_truncation, reason = "the two halves")]
    let (low, high) = (line as u64, (line >> 64) as u64);
    macro_rules! pick {
        ($($text:literal => $header:ident),+ $(,)?) => {{
            $(
                const { assert!($text.len() <= LANES) };
                if const { Name::new($text) }.is(low, high) {
                    return Some(Known::$header);
                }
            )+
            None
        }};
    }
    match len {
        1 => pick!(
            "v" => Via, "f" => From, "t" => To, "i" => CallId, "m" => Contact,
            "l" => ContentLength, "c" => ContentType, "o" => Event, "s" => Subject,
        ),
        2 => pick!("to" => To),
        3 => pick!("via" => Via),
        4 => pick!("from" => From, "cseq" => CSeq),
        5 => pick!("event" => Event),
        6 => pick!("server" => Server, "reason" => Reason),
        7 => pick!(
            "call-id" => CallId, "contact" => Contact, "expires" => Expires,
            "subject" => Subject, "privacy" => Privacy,
        ),
        9 => pick!("diversion" => Diversion),
        10 => pick!("user-agent" => UserAgent, "session-id" => SessionId, "x-rtp-stat" => XRtpStat),
        12 => pick!(
            "max-forwards" => MaxForwards, "content-type" => ContentType,
            "organization" => Organization,
        ),
        13 => pick!("authorization" => Authorization),
        14 => pick!("content-length" => ContentLength),
        15 => pick!("remote-party-id" => RemotePartyId),
        _ => None,
    }
}

/// The same for a name longer than 16 bytes.
#[cold]
pub(super) fn known_long(name: &[u8]) -> Option<Known> {
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
        if name.len() > LANES {
            return known_long(name);
        }
        // What stands behind the name does not matter.
        let [a, b] = [0u8, 0xff].map(|behind| {
            let mut line = [behind; LANES];
            line[..name.len()].copy_from_slice(name);
            super::known(line, name.len())
        });
        assert_eq!(a, b);
        a
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
