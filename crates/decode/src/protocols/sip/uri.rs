//! URIs: `sip:`, `sips:` (RFC 3261 §19.1), `tel:` (RFC 3966), and any other scheme.

use super::{params::Params, window::Usual};
use crate::{
    number::port,
    text::{Part, Text},
};
use simd::Portable;

/// A URI taken apart; every part borrows from the message and is as it stands on the wire, escapes
/// included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uri<'a> {
    /// The whole URI, without angle brackets.
    pub raw: &'a [u8],
    /// What precedes the first colon, e.g. `sip`; empty when there is no scheme.
    pub scheme: &'a [u8],
    /// User part without password; the number of a `tel:` URI; of a scheme without hosts, such as
    /// `urn:service:sos`, all that follows the scheme.
    pub user: Option<&'a [u8]>,
    /// Password of a SIP URI.
    pub password: Option<&'a [u8]>,
    /// Host name or address, IPv6 addresses without their brackets.
    pub host: Option<&'a [u8]>,
    /// What follows the host: `[:port][;params][?headers]`.
    pub tail: &'a [u8],
}

impl<'a> Uri<'a> {
    /// Takes a URI apart. There is no error: what is missing is empty. A `>` ends it.
    #[inline]
    pub fn parse(text: &'a [u8]) -> Self {
        Self::whole(Text::new(text))
    }

    /// Port, when it is a number from 0 to 65535.
    pub fn port(&self) -> Option<u16> {
        let digits = Text::new(self.tail.strip_prefix(b":")?);
        port(digits.split_before([b';', b'?']).0)
    }

    /// The `;name=value` parameters behind the host.
    pub fn params(&self) -> Params<'a> {
        let (params, _headers) = Text::new(self.tail).split_before([b'?']);
        Params::of(params.split_before([b';']).1)
    }

    /// What follows the `?`, without it.
    pub fn headers(&self) -> &'a [u8] {
        Text::new(self.tail).split_once(b'?').map_or(&[], |(_, headers)| headers.get())
    }

    /// A URI that is the whole of `text`.
    #[inline(always)]
    pub(super) fn whole(text: Text<'a>) -> Self {
        let mut usual = Usual::default();
        usual.find_uri_alone(Portable, text);
        if usual.is_some() {
            Self::from_parts(text.whole(), usual.uri(text.at()))
        } else {
            Self::unusual(text)
        }
    }

    /// The same in no usual form.
    #[inline(always)]
    pub(super) fn unusual(text: Text<'a>) -> Self {
        let [raw, scheme, user, password, host, tail] = unusual(text.whole(), text.at(), text.end());
        Self::from_parts(text.whole(), UriParts { raw, scheme, user, password, host, tail })
    }

    #[inline(always)]
    pub(super) fn from_parts(whole: &'a [u8], parts: UriParts) -> Self {
        Self {
            raw: parts.raw.get(whole),
            scheme: parts.scheme.get(whole),
            user: parts.user.some(whole),
            password: parts.password.some(whole),
            host: parts.host.some(whole),
            tail: parts.tail.get(whole),
        }
    }
}

/// Where the parts of a URI are in the message; what is missing is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UriParts {
    pub raw: Part,
    pub scheme: Part,
    pub user: Part,
    pub password: Part,
    pub host: Part,
    pub tail: Part,
}

impl UriParts {
    /// The URI at the start of `text`, and where the `>` that ends it, or `text` itself, ends.
    pub(super) fn up_to_close(text: Text<'_>) -> (Self, usize) {
        match text.peek() {
            Some([s, i, p, b':']) if [s | 0x20, i | 0x20, p | 0x20] == *b"sip" => {
                hierarchical(text, text.skip(3).at(), text.skip(4))
            }
            _ => Self::other(text),
        }
    }

    fn other(text: Text<'_>) -> (Self, usize) {
        let text = text.upto(text.find_or_end([b'>'])).trim_end();
        let Some((scheme, rest)) = text.split_once(b':').filter(|(name, _)| is_scheme(name.get())) else {
            return match text.get() {
                b"*" => (Self { raw: Part::of(text), ..Self::default() }, text.end()),
                _ => hierarchical(text, text.at(), text),
            };
        };
        if scheme.eq_ignore_case(b"sips") {
            return hierarchical(text, scheme.end(), rest);
        }
        if rest.peek() == Some(b"//") {
            let (authority, _) = rest.skip(2).split_before([b'/']);
            let (uri, _) = hierarchical(text, scheme.end(), authority);
            return (Self { raw: Part::of(text), ..uri }, text.end());
        }
        // tel: numbers have no host, whatever stands in their parameters.
        if !scheme.eq_ignore_case(b"tel") && rest.find([b'@']).is_some() {
            return hierarchical(text, scheme.end(), rest);
        }
        let (user, tail) = rest.split_before([b';', b'?']);
        let [raw, scheme, user, tail] = [text, scheme, user, tail].map(Part::of);
        (Self { raw, scheme, user, tail, ..Self::default() }, text.end())
    }
}

/// The parts of any URI that is the whole text, in another form than the usual ones, which stay in
/// registers.
#[inline(never)]
fn unusual(whole: &[u8], at: usize, end: usize) -> [Part; 6] {
    let UriParts { raw, scheme, user, password, host, tail } =
        UriParts::up_to_close(Text::within(whole, at, end)).0;
    [raw, scheme, user, password, host, tail]
}

/// `[user[:password]@]host[:port][;params][?headers]` in `rest`, up to its end or a `>`; the scheme
/// is what precedes `scheme_end` in `text`.
fn hierarchical(text: Text<'_>, scheme_end: usize, rest: Text<'_>) -> (UriParts, usize) {
    // The user part may hold `;`, `?` and `/` (RFC 3261 §25.1, user-unreserved), so the `@` is
    // looked for before any of them.
    let colon = rest.from(rest.find_or_end([b'@', b':', b'>']));
    let mut at = colon;
    if colon.starts_with(b':') {
        at = colon.from(colon.find_or_end([b'@', b'>']));
    }
    let (mut user, mut password, mut host) = (Part::default(), Part::default(), rest);
    if at.starts_with(b'@') {
        user = Part::of(rest.upto(colon.at()));
        password = Part::of(colon.skip(1).upto(at.at()));
        host = at.skip(1);
    }
    let (name, mut tail) = host_of(host);
    let close = tail.find_close();
    tail = tail.upto(close).trim_end();
    let [raw, scheme, host, tail] = [text.upto(tail.end()), text.upto(scheme_end), name, tail].map(Part::of);
    (UriParts { raw, scheme, user, password, host, tail }, close)
}

/// Splits a host from what follows it; the brackets of an IPv6 address are taken off.
#[inline(always)]
pub(super) fn host_of(text: Text<'_>) -> (Text<'_>, Text<'_>) {
    if text.starts_with(b'[')
        && let Some((host, tail)) = text.skip(1).split_once(b']')
    {
        return (host, tail);
    }
    let (host, tail) = text.split_before([b':', b';', b'?', b'>']);
    (host.trim_end(), tail)
}

/// The grammar of `scheme`, RFC 3986 §3.1.
fn is_scheme(name: &[u8]) -> bool {
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scheme, user, password, host, port, params, headers; empty means absent.
    type Parts<'a> = (&'a str, &'a str, &'a str, &'a str, u16, &'a str, &'a str);

    fn parts(text: &str) -> Parts<'_> {
        let uri = Uri::parse(text.as_bytes());
        let utf8 = |bytes| core::str::from_utf8(bytes).unwrap();
        assert_eq!(uri.raw, text.as_bytes());
        let headers = uri.headers();
        let params = uri.params().fold(String::new(), |list, (name, value)| {
            let equals = if value.is_some() { "=" } else { "" };
            format!("{list};{}{equals}{}", utf8(name), utf8(value.unwrap_or_default()))
        });
        (
            utf8(uri.scheme),
            utf8(uri.user.unwrap_or_default()),
            utf8(uri.password.unwrap_or_default()),
            utf8(uri.host.unwrap_or_default()),
            uri.port().unwrap_or(0),
            params.leak(),
            utf8(headers),
        )
    }

    #[test]
    fn sip_and_sips() {
        assert_eq!(parts("sip:bob@biloxi.com"), ("sip", "bob", "", "biloxi.com", 0, "", ""));
        assert_eq!(
            parts("SIPS:alice:secret@atlanta.com:5061;transport=tcp;lr?subject=x&priority=urgent"),
            (
                "SIPS",
                "alice",
                "secret",
                "atlanta.com",
                5061,
                ";transport=tcp;lr",
                "subject=x&priority=urgent"
            )
        );
        assert_eq!(parts("sip:atlanta.com"), ("sip", "", "", "atlanta.com", 0, "", ""));
        assert_eq!(parts("sip:bob"), ("sip", "", "", "bob", 0, "", ""));
        assert_eq!(
            parts("sip:atlanta.com;method=REGISTER?to=alice%40atlanta.com"),
            ("sip", "", "", "atlanta.com", 0, ";method=REGISTER", "to=alice%40atlanta.com")
        );
        assert_eq!(
            parts(
                "sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*:&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@example.com"
            ),
            (
                "sip",
                "1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*",
                "&it+has=1,weird!*pas$wo~d_too.(doesn't-it)",
                "example.com",
                0,
                "",
                ""
            )
        );
    }

    #[test]
    fn a_semicolon_before_the_at_is_part_of_the_user() {
        assert_eq!(
            parts("sip:user;par=u%40example.net@example.com"),
            ("sip", "user;par=u%40example.net", "", "example.com", 0, "", "")
        );
    }

    #[test]
    fn ipv6_hosts_lose_their_brackets() {
        assert_eq!(
            parts("sip:bob@[2001:db8::1]:5070;lr"),
            ("sip", "bob", "", "2001:db8::1", 5070, ";lr", "")
        );
        assert_eq!(parts("sip:[::1]"), ("sip", "", "", "::1", 0, "", ""));
        assert_eq!(parts("sip:bob@[2001:db8"), ("sip", "bob", "", "[2001", 0, "", ""));
    }

    #[test]
    fn tel_numbers_are_users() {
        assert_eq!(parts("tel:+1-201-555-0123"), ("tel", "+1-201-555-0123", "", "", 0, "", ""));
        assert_eq!(
            parts("tel:7042;phone-context=example.com"),
            ("tel", "7042", "", "", 0, ";phone-context=example.com", "")
        );
    }

    #[test]
    fn other_schemes_are_kept() {
        assert_eq!(parts("urn:service:sos"), ("urn", "service:sos", "", "", 0, "", ""));
        assert_eq!(parts("im:bob@example.com"), ("im", "bob", "", "example.com", 0, "", ""));
        assert_eq!(parts("soap.beep://192.0.2.103:3002"), ("soap.beep", "", "", "192.0.2.103", 3002, "", ""));
        assert_eq!(
            parts("nobodyKnowsThisScheme:totallyopaquecontent"),
            ("nobodyKnowsThisScheme", "totallyopaquecontent", "", "", 0, "", "")
        );
    }

    #[test]
    fn no_scheme_at_all() {
        assert_eq!(parts("*"), ("", "", "", "", 0, "", ""));
        assert_eq!(parts(""), ("", "", "", "", 0, "", ""));
        assert_eq!(parts("10.0.0.1:5060"), ("", "", "", "10.0.0.1", 5060, "", ""));
        assert_eq!(parts("bob@example.com"), ("", "bob", "", "example.com", 0, "", ""));
        assert_eq!(parts("sip:bob@h:99999"), ("sip", "bob", "", "h", 0, "", ""));
    }
}
