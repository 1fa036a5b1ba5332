//! `name-addr` and `addr-spec` of From, To, Contact and the identity headers (RFC 3261 §20.10).

use super::{
    params::{Params, quoted_end},
    uri::{Uri, UriParts},
    window::Usual,
};
use crate::text::{Part, Text};
use simd::Portable;

/// An address with its display name, URI and header parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NameAddr<'a> {
    /// Display name without its quotes; escapes and folds stay as they are.
    pub display: Option<&'a [u8]>,
    /// The URI.
    pub uri: Uri<'a>,
    /// The header parameters, from the first semicolon on. Without angle brackets every parameter
    /// is one of the header (RFC 3261 §20).
    pub params: &'a [u8],
    /// The `tag` parameter.
    pub tag: Option<&'a [u8]>,
}

impl<'a> NameAddr<'a> {
    /// Takes the first address of a header value apart. There is no error: what is missing is
    /// empty. Folds may stand wherever white space may.
    #[inline]
    pub fn parse(value: &'a [u8]) -> Self {
        Self::parse_text(Text::new(value))
    }

    #[inline(always)]
    pub(super) fn parse_text(value: Text<'a>) -> Self {
        let mut usual = Usual::default();
        usual.find_address(Portable, value);
        Self::seen(value, &usual)
    }

    /// The address whose places are those of `usual`, or in no usual form.
    #[inline(always)]
    pub(super) fn seen(value: Text<'a>, usual: &Usual) -> Self {
        let whole = value.whole();
        let AddrParts { display, uri: UriParts { raw, scheme, user, password, host, tail }, params, tag } =
            if usual.is_some() {
                usual.address(value)
            } else {
                AddrParts::unpack(unusual(whole, value.at(), value.end()))
            };
        Self {
            display: display.some(whole),
            uri: Uri::from_parts(whole, UriParts { raw, scheme, user, password, host, tail }),
            params: params.get(whole),
            tag: tag.some(whole),
        }
    }

    /// The header parameters.
    #[inline]
    pub const fn params(&self) -> Params<'a> {
        Params::new(self.params)
    }
}

/// Where the parts of an address are in the message; what is missing is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AddrParts {
    pub display: Part,
    pub uri: UriParts,
    pub params: Part,
    pub tag: Part,
}

impl AddrParts {
    /// As [`unusual`] gives them: in another form, so that usual parts, which stay in registers, are
    /// not put into memory to meet these.
    #[inline(always)]
    const fn pack(self) -> [Part; 9] {
        let UriParts { raw, scheme, user, password, host, tail } = self.uri;
        [self.display, raw, scheme, user, password, host, tail, self.params, self.tag]
    }

    #[inline(always)]
    const fn unpack([display, raw, scheme, user, password, host, tail, params, tag]: [Part; 9]) -> Self {
        Self { display, uri: UriParts { raw, scheme, user, password, host, tail }, params, tag }
    }
}

/// The parts of any address.
#[inline(never)]
fn unusual(whole: &[u8], at: usize, end: usize) -> [Part; 9] {
    let (display, rest) = display_name(Text::within(whole, at, end).trim_start());
    let (uri, params) = if rest.starts_with(b'<') {
        let (uri, close) = UriParts::up_to_close(rest.skip(1).trim_start());
        let behind = rest.from(close);
        (uri, behind.from(behind.find_close()).skip(1))
    } else {
        // An `addr-spec`, which ends at the first parameter or at the next value of the header.
        let (uri, params) = rest.split_before([b';', b',']);
        (UriParts::up_to_close(uri.trim_end()).0, params)
    };
    AddrParts { display, uri, params: Part::of(params), tag: tag(params) }.pack()
}

/// Splits the display name from the rest, which starts at `<` when there is one.
fn display_name(value: Text<'_>) -> (Part, Text<'_>) {
    match value.first() {
        Some(b'<') => return (Part::default(), value),
        Some(b'"') => {
            if let Some(end) = quoted_end(value.whole(), value.at(), value.end()) {
                let name = value.skip(1).upto(end.wrapping_sub(1));
                let rest = value.from(end).trim_start();
                return (Part::of(name), rest.from(rest.find([b'<']).unwrap_or(rest.at())));
            }
        }
        _ => {}
    }
    match value.find([b'<']) {
        Some(at) => (Part::of(value.upto(at).trim_end()), value.from(at)),
        // A quote that is never closed: whatever this was, it is no URI.
        None if value.first() == Some(b'"') => (Part::default(), value.from(value.end())),
        None => (Part::default(), value),
    }
}

/// The `tag` among the parameters of a header.
#[inline(always)]
pub(super) fn tag(params: Text<'_>) -> Part {
    if params.is_empty() {
        return Part::default();
    }
    // Nearly always the only parameter, and written like this.
    if params.peek() == Some(b";tag=") {
        let tag = params.skip(5);
        if !matches!(tag.first(), Some(b'"' | b' ')) {
            return Part::of(tag.upto(tag.find_or_end([b';', b','])).trim_end());
        }
    }
    unusual_tag(params.whole(), params.at(), params.end())
}

#[inline(never)]
fn unusual_tag(whole: &[u8], at: usize, end: usize) -> Part {
    Params::of(Text::within(whole, at, end)).find(b"tag").map_or(Part::default(), Part::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// display, user, host, tag; empty means absent.
    fn parts(text: &str) -> (&str, &str, &str, &str) {
        let addr = NameAddr::parse(text.as_bytes());
        [addr.display, addr.uri.user, addr.uri.host, addr.tag]
            .map(|part| core::str::from_utf8(part.unwrap_or_default()).unwrap())
            .into()
    }

    struct Both<'a>(Text<'a>);

    impl simd::Op for Both<'_> {
        type Out = (Usual, Usual);

        fn run<S: simd::Simd>(self, simd: S) -> Self::Out {
            let (mut address, mut uri) = <(Usual, Usual)>::default();
            address.find_address(simd, self.0);
            uri.find_uri_alone(simd, self.0);
            (address, uri)
        }
    }

    /// The usual and the general way must agree on every text that the usual one takes.
    fn both_ways(text: &[u8]) {
        let general = NameAddr::seen(Text::new(text), &Usual::default());
        for behind in [0, 1, 20, 80] {
            let whole = [text, &vec![b'@'; behind]].concat();
            let value = Text::within(&whole, 0, text.len());
            let trimmed = value.trim_start();
            let uri = Uri::from_parts(text, UriParts::up_to_close(Text::new(text)).0);
            assert_eq!(NameAddr::parse_text(trimmed), general, "{}", text.escape_ascii());
            assert_eq!(Uri::whole(value), uri, "{}", text.escape_ascii());
            // The CPU's own way finds the same.
            let (usual, _) = simd::run(Both(trimmed));
            assert_eq!(NameAddr::seen(trimmed, &usual), general, "{}", text.escape_ascii());
            let (_, usual) = simd::run(Both(value));
            if usual.is_some() {
                assert_eq!(Uri::from_parts(&whole, usual.uri(0)), uri, "{}", text.escape_ascii());
            }
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(20_000))]

        #[test]
        fn the_usual_way_and_the_general_way(pieces in proptest::collection::vec(0..24usize, 0..14)) {
            const PIECES: [&str; 24] = [
                "<", ">", "sip:", "SIPS:", "tel:", "@", ":", ";", "?", "=", "\"", "\\", " ", "\r\n ", "[", "]",
                "user", "host", "tag", ",", "<sip:user@host>", "\"Name\" ", ";tag=1", "a-rather-long-word-of-32-bytes-here",
            ];
            let text: String = pieces.iter().map(|at| PIECES[*at]).collect();
            both_ways(text.as_bytes());
            both_ways(format!("<sip:user@host{text}").as_bytes());
            both_ways(format!("{text}<sip:user@host>;tag=1").as_bytes());
        }
    }

    #[test]
    fn with_angle_brackets() {
        assert_eq!(
            parts("Alice <sip:alice@atlanta.com>;tag=1928301774"),
            ("Alice", "alice", "atlanta.com", "1928301774")
        );
        assert_eq!(parts("<sip:c@h;x=1?y=2> ; Tag = 7"), ("", "c", "h", "7"));
        assert_eq!(
            parts("Bell, Alexander <sip:a.g.bell@bt.com>;tag=43"),
            ("Bell, Alexander", "a.g.bell", "bt.com", "43")
        );
        assert_eq!(parts("<sip:c@h>;x=\";tag=no\";tag=yes"), ("", "c", "h", "yes"));
        assert_eq!(parts("<sip:c@h>;xtag=1;tag=\"q\""), ("", "c", "h", "q"));
        assert_eq!(parts("<sip:c@h>;tag="), ("", "c", "h", ""));
    }

    #[test]
    fn quoted_display_names() {
        assert_eq!(
            parts(r#""J Rosenberg \\\"" <sip:jdrosen@example.com> ; tag = 98asjd8"#),
            (r#"J Rosenberg \\\""#, "jdrosen", "example.com", "98asjd8")
        );
        assert_eq!(
            parts(r#""<sip:joe@x>;tag=no" <sip:caller@y>;tag=1"#),
            ("<sip:joe@x>;tag=no", "caller", "y", "1")
        );
        // Never closed.
        assert_eq!(parts(r#""Mr. J. User <sip:j.user@e.com>"#), ("\"Mr. J. User", "j.user", "e.com", ""));
        assert_eq!(parts(r#""" <sip:u@h>"#), ("", "u", "h", ""));
    }

    #[test]
    fn without_angle_brackets_parameters_belong_to_the_header() {
        let text = "sip:+1212@server.phone2net.com;tag=887s;x";
        assert_eq!(parts(text), ("", "+1212", "server.phone2net.com", "887s"));
        assert_eq!(NameAddr::parse(text.as_bytes()).uri.tail, b"");
        assert_eq!(parts("tel:+1;tag=2"), ("", "+1", "", "2"));
    }

    #[test]
    fn folds_between_the_elements() {
        assert_eq!(parts("\r\n A B\r\n\t<sip:u@h>\r\n ;\r\n tag\r\n =\r\n 5\r\n ;x"), ("A B", "u", "h", "5"));
        assert_eq!(parts("< sip:u@h\r\n >;tag=1"), ("", "u", "h", "1"));
    }

    #[test]
    fn several_contacts_and_the_star() {
        assert_eq!(parts("<sip:a@b>;q=1, <sip:c@d>;tag=9"), ("", "a", "b", ""));
        assert_eq!(parts("sip:a@b, sip:c@d"), ("", "a", "b", ""));
        assert_eq!(parts("*"), ("", "", "", ""));
        assert_eq!(parts("<sip:a@b"), ("", "a", "b", ""));
        assert_eq!(parts(""), ("", "", "", ""));
    }
}
