//! Via (RFC 3261 §20.42).

use super::{params::Params, uri::host_of};
use crate::{
    number::port,
    text::{Part, Text},
};
use simd::{BLOCK, Portable, Simd};

/// One Via value: where the response goes and which transaction it belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Via<'a> {
    /// The whole value, up to the comma before the next one.
    pub raw: &'a [u8],
    /// Transport, e.g. `UDP`, as written.
    pub transport: Option<&'a [u8]>,
    /// Host of `sent-by`, IPv6 addresses without their brackets.
    pub host: Option<&'a [u8]>,
    /// Port of `sent-by`.
    pub port: Option<u16>,
    /// `branch`.
    pub branch: Option<&'a [u8]>,
    /// `received`, IPv6 addresses as written.
    pub received: Option<&'a [u8]>,
    /// `rport` where it has a value (RFC 3581).
    pub rport: Option<u16>,
}

/// What a row has of the top Via. The parameters behind `branch` are not looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop<'a> {
    /// Transport, e.g. `UDP`, as written.
    pub transport: Option<&'a [u8]>,
    /// Host of `sent-by`, IPv6 addresses without their brackets.
    pub host: Option<&'a [u8]>,
    /// `branch`.
    pub branch: Option<&'a [u8]>,
}

impl<'a> Hop<'a> {
    /// The Via whose places are those of `usual`, or in no usual form.
    #[inline(always)]
    pub(super) fn seen(value: Text<'a>, usual: &UsualVia) -> Self {
        let whole = value.whole();
        let (transport, host, branch) = if usual.is_some() {
            usual.hop(value.at())
        } else {
            let ViaParts { transport, host, branch, .. } = ViaParts::unusual(value);
            (transport, host, branch)
        };
        Self { transport: transport.some(whole), host: host.some(whole), branch: branch.some(whole) }
    }
}

impl<'a> Via<'a> {
    /// Takes the first value of a Via header apart. There is no error: what is missing is empty.
    #[inline]
    pub fn parse(value: &'a [u8]) -> Self {
        Self::parse_text(Text::new(value))
    }

    #[inline(always)]
    fn parse_text(value: Text<'a>) -> Self {
        let mut usual = UsualVia::default();
        usual.find(Portable, value);
        Self::seen(value, &usual)
    }

    /// The Via whose places are those of `usual`, or in no usual form.
    #[inline(always)]
    pub(super) fn seen(value: Text<'a>, usual: &UsualVia) -> Self {
        let whole = value.whole();
        let ViaParts { raw, transport, host, port, branch, received, rport } =
            if usual.is_some() { usual.parts(value) } else { ViaParts::unusual(value) };
        Self {
            raw: raw.get(whole),
            transport: transport.some(whole),
            host: host.some(whole),
            port,
            branch: branch.some(whole),
            received: received.some(whole),
            rport,
        }
    }
}

/// Where the parts of a usual Via are, counted from its first byte:
/// `SIP/2.0/UDP host:5060;branch=z9hG4bK776`, and maybe more parameters.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UsualVia {
    host_end: u8,
    branch: u8,
    /// 0 when it is no usual one.
    branch_end: u8,
}

impl UsualVia {
    /// Where the host begins: behind a transport of three letters, which needs no search.
    const HOST: usize = b"SIP/2.0/UDP ".len();

    #[inline(always)]
    pub(super) const fn is_some(&self) -> bool {
        self.branch_end != 0
    }

    /// Sets the places of a usual Via; of any other, none. Host and branch must end within 64 bytes each.
    #[inline(always)]
    pub(super) fn find(&mut self, simd: impl Simd, value: Text<'_>) {
        let Some([a, b, c, b' ']) = value.skip(8).peek() else { return };
        if value.peek() != Some(b"SIP/2.0/") || *a <= b' ' || *b <= b' ' || *c <= b' ' {
            return;
        }
        let host = value.skip(Self::HOST);
        let Some(window) = host.peek::<BLOCK>() else { return };
        let block = simd.load(window);
        // Colon, semicolon, and all up to the comma: white space, quotes and what is rare in a host.
        let mut stops = simd.between(block, b':', b';') | simd.between(block, 0, b',');
        let len = stops.trailing_zeros() as usize;
        let mut params = len;
        if window.get(len) == Some(&b':') {
            stops &= stops.wrapping_sub(1);
            params = stops.trailing_zeros() as usize;
        }
        if len == 0 || window[0] == b'[' {
            return;
        }
        let params = host.skip(params);
        if params.peek() != Some(b";branch=") {
            return;
        }
        let branch = params.skip(8);
        let Some(window) = branch.peek::<BLOCK>() else { return };
        let block = simd.load(window);
        let stops = simd.equal(block, b';')
            | simd.equal(block, b',')
            | simd.equal(block, b'"')
            // That behind the value, if nothing stops before it.
            | simd.equal(block, b'\n');
        let end = branch.skip(stops.trailing_zeros() as usize).at().min(branch.end());
        let branch = branch.upto(end);
        // Within the value, with nothing to be trimmed, and before its end or another parameter.
        if stops == 0 && end < value.end()
            || branch.first() <= Some(b' ')
            || branch.last() <= Some(b' ')
            || !matches!(value.from(end).first(), None | Some(b';'))
            || value.last() <= Some(b' ')
        {
            return;
        }
        let near = |at: usize| narrow(at.wrapping_sub(value.at()));
        self.host_end = near(host.at().wrapping_add(len));
        self.branch = near(branch.at());
        self.branch_end = near(end);
    }

    /// Transport, host and branch of the Via that begins at `at` of the message.
    #[inline(always)]
    fn hop(&self, at: usize) -> (Part, Part, Part) {
        let place = |near: usize| at.wrapping_add(near);
        (
            Part::new(place(8), place(11)),
            Part::new(place(Self::HOST), place(self.host_end.into())),
            Part::new(place(self.branch.into()), place(self.branch_end.into())),
        )
    }

    /// The parts of the Via that is `value`.
    #[inline(always)]
    fn parts(&self, value: Text<'_>) -> ViaParts {
        let (transport, host, branch) = self.hop(value.at());
        let place = |near: u8| value.at().wrapping_add(near.into());
        let branch_end = place(self.branch_end);
        // Between the colon behind the host and `;branch=`.
        let (from, to) = (place(self.host_end).wrapping_add(1), place(self.branch).wrapping_sub(8));
        let (end, received, rport) = if branch_end < value.end() {
            more_parameters(value.whole(), branch_end, value.end())
        } else {
            (value.end(), Part::default(), None)
        };
        ViaParts {
            raw: Part::new(value.at(), end),
            transport,
            host,
            port: port(Text::within(value.whole(), from, to)),
            branch,
            received,
            rport,
        }
    }
}

/// A place in the first 255 bytes of a value.
#[allow(clippy::cast_possible_truncation, reason = "at most twice 64 and what stands between")]
#[inline(always)]
const fn narrow(near: usize) -> u8 {
    near as u8
}

/// Where the parts of a Via value are in the message; what is missing is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ViaParts {
    raw: Part,
    transport: Part,
    host: Part,
    port: Option<u16>,
    branch: Part,
    received: Part,
    rport: Option<u16>,
}

impl ViaParts {
    /// Those of a Via of any form. What comes back in memory is taken apart, so that usual parts are
    /// not put there to meet it.
    #[inline(always)]
    fn unusual(value: Text<'_>) -> Self {
        let Self { raw, transport, host, port, branch, received, rport } =
            Self::general(value.whole(), value.at(), value.end());
        Self { raw, transport, host, port, branch, received, rport }
    }

    #[inline(never)]
    fn general(whole: &[u8], at: usize, end: usize) -> Self {
        let value = Text::within(whole, at, end).trim_start();
        let (transport, rest) = protocol(value);
        let (host, tail) = sent_by(rest.trim_start());
        let mut via = Self { transport, host: Part::of(host), ..Self::default() };
        let tail = tail.trim_start();
        let mut params = tail;
        if tail.starts_with(b':') {
            let (digits, after) = tail.skip(1).split_before([b';', b',']);
            via.port = port(digits);
            params = after;
        }
        let end = via.parameters(params);
        via.raw = Part::of(value.upto(end).trim_end());
        via
    }

    /// Reads the parameters and says where they end.
    #[inline(always)]
    fn parameters(&mut self, list: Text<'_>) -> usize {
        let mut params = Params::of(list);
        let mut end = list.at();
        while let Some((name, value)) = params.pair() {
            end = params.at();
            let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
            // The first of its name that has a value counts.
            let first = |part: &mut Part| {
                if *part == Part::default() {
                    *part = Part::of(value);
                }
            };
            if name.eq_ignore_case(b"branch") {
                first(&mut self.branch);
            } else if name.eq_ignore_case(b"received") {
                first(&mut self.received);
            } else if name.eq_ignore_case(b"rport") {
                self.rport = self.rport.or_else(|| port(value));
            }
        }
        end
    }
}

/// Where the parameters behind `branch` end, and those of them that a Via has of its own.
#[inline(never)]
fn more_parameters(whole: &[u8], at: usize, end: usize) -> (usize, Part, Option<u16>) {
    let list = Text::within(whole, at, end);
    let mut via = ViaParts::default();
    let end = via.parameters(list);
    (list.upto(end).trim_end().end(), via.received, via.rport)
}

/// Splits host and brackets from what follows; a comma ends it too.
#[inline(always)]
fn sent_by(text: Text<'_>) -> (Text<'_>, Text<'_>) {
    if text.starts_with(b'[') {
        return host_of(text);
    }
    let (host, tail) = text.split_before([b':', b';', b',']);
    (host.trim_end(), tail)
}

/// Splits `SIP/2.0/UDP` from the rest and gives the transport. White space may surround the
/// slashes.
fn protocol(value: Text<'_>) -> (Part, Text<'_>) {
    let rest = match value.peek::<8>() {
        Some(b"SIP/2.0/") => Some(value.skip(8)),
        _ => value.split_once(b'/').and_then(|(_, rest)| rest.split_once(b'/')).map(|(_, rest)| rest),
    };
    match rest {
        Some(rest) => {
            let rest = rest.trim_start();
            let end = rest.find_or_end([b' ', b'\t', b'\r', b'\n']);
            (Part::of(rest.upto(end)), rest.from(end))
        }
        None => (Part::default(), value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Both<'a>(Text<'a>);

    impl simd::Op for Both<'_> {
        type Out = UsualVia;

        fn run<S: Simd>(self, simd: S) -> UsualVia {
            let mut usual = UsualVia::default();
            usual.find(simd, self.0);
            usual
        }
    }

    /// The usual and the general way must agree on every text that the usual one takes.
    fn both_ways(text: &[u8]) {
        let general = Via::seen(Text::new(text), &UsualVia::default());
        for behind in [&b""[..], b"\r\n", b"\r\nTo: x", &[b';'; 80], &[b'x'; 200]] {
            let whole = [text, behind].concat();
            // As a place of a value is: without white space around it.
            let value = Text::within(&whole, 0, text.len()).trim();
            assert_eq!(Via::parse_text(value), general, "{}", text.escape_ascii());
            let usual = simd::run(Both(value));
            assert_eq!(Via::seen(value, &usual), general, "{}", text.escape_ascii());
            let hop = Hop { transport: general.transport, host: general.host, branch: general.branch };
            assert_eq!(Hop::seen(value, &usual), hop, "{}", text.escape_ascii());
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(20_000))]

        #[test]
        fn the_usual_way_and_the_general_way(pieces in proptest::collection::vec(0..24usize, 0..14)) {
            const PIECES: [&str; 24] = [
                "SIP/2.0/UDP ", "SIP/2.0/TCP", "host", "192.0.2.1", "[2001:db8::1]", ":", "5060", "70000", ";branch=",
                "z9hG4bK776asdhds", ";", ",", " ", "\"", "\r\n ", ";rport", ";received=192.0.2.7", "=", "+", "[",
                ";rport=99", ", SIP/2.0/UDP b;branch=2", "a-rather-long-word-of-32-bytes-here", "Branch",
            ];
            let text: String = pieces.iter().map(|at| PIECES[*at]).collect();
            both_ways(text.as_bytes());
            both_ways(format!("SIP/2.0/UDP host{text}").as_bytes());
            both_ways(format!("SIP/2.0/UDP host:5060;branch={text}").as_bytes());
        }
    }

    #[test]
    fn the_usual_way_is_taken() {
        for text in [
            "SIP/2.0/UDP pc33.atlanta.example.com;branch=z9hG4bK776asdhds",
            "SIP/2.0/TLS 192.0.2.1:5061;branch=z9hG4bK+776=;rport;received=192.0.2.9",
        ] {
            let whole = format!("{text}\r\n{}", "x".repeat(BLOCK));
            let value = Text::within(whole.as_bytes(), 0, text.len());
            assert!(simd::run(Both(value)).is_some() && Both(value).run_portable().is_some(), "{text}");
        }
    }

    impl Both<'_> {
        fn run_portable(self) -> UsualVia {
            simd::Op::run(self, Portable)
        }
    }

    #[test]
    fn a_plain_one() {
        let via =
            Via::parse(b"SIP/2.0/UDP pc33.atlanta.com:5066;branch=z9hG4bK776;received=192.0.2.1;rport=99");
        assert_eq!(via.transport, Some(&b"UDP"[..]));
        assert_eq!((via.host, via.port), (Some(&b"pc33.atlanta.com"[..]), Some(5066)));
        assert_eq!(via.branch, Some(&b"z9hG4bK776"[..]));
        assert_eq!((via.received, via.rport), (Some(&b"192.0.2.1"[..]), Some(99)));
    }

    #[test]
    fn only_the_first_of_several() {
        let via = Via::parse(b"SIP/2.0/TLS a;x=\",\" , SIP/2.0/UDP b;branch=2");
        assert_eq!(via.raw, b"SIP/2.0/TLS a;x=\",\"");
        assert_eq!((via.host, via.branch), (Some(&b"a"[..]), None));
    }

    #[test]
    fn white_space_folds_and_ipv6() {
        let via = Via::parse(b"SIP / 2.0\r\n /\r\n TCP\r\n [2001:db8::9]:9\r\n ;\r\n  branch =\t zz ; rport");
        assert_eq!(via.transport, Some(&b"TCP"[..]));
        assert_eq!((via.host, via.port), (Some(&b"2001:db8::9"[..]), Some(9)));
        assert_eq!((via.branch, via.rport), (Some(&b"zz"[..]), None));
    }

    #[test]
    fn nothing_to_see() {
        assert_eq!(Via::parse(b"").raw, b"");
        assert_eq!(Via::parse(b"x;branch=1").branch, Some(&b"1"[..]));
        assert_eq!(Via::parse(b"SIP/2.0/UDP").transport, Some(&b"UDP"[..]));
    }
}
