//! Via (RFC 3261 §20.42).

use super::{params::Params, uri::host_of};
use crate::{
    number::port,
    text::{Part, Text, is_trimmed},
};

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

impl<'a> Via<'a> {
    /// Takes the first value of a Via header apart. There is no error: what is missing is empty.
    #[inline]
    pub fn parse(value: &'a [u8]) -> Self {
        Self::parse_text(Text::new(value))
    }

    #[inline(always)]
    pub(super) fn parse_text(value: Text<'a>) -> Self {
        let whole = value.whole();
        let ViaParts { raw, transport, host, port, branch, received, rport } = ViaParts::parse(value);
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
    #[inline(always)]
    fn parse(value: Text<'_>) -> Self {
        match Self::usual(value) {
            Some(parts) => parts,
            None => {
                // What comes back in memory is taken apart, so that the usual parts are not put
                // there to meet it.
                let Self { raw, transport, host, port, branch, received, rport } =
                    Self::unusual(value.whole(), value.at(), value.end());
                Self { raw, transport, host, port, branch, received, rport }
            }
        }
    }

    /// `SIP/2.0/UDP host:5060;branch=z9hG4bK776`, and maybe more parameters.
    #[inline(always)]
    fn usual(value: Text<'_>) -> Option<Self> {
        let (version, rest) = value.get().split_first_chunk()?;
        // `UDP`, `TCP`, `TLS`: three letters and a space need no search.
        let ([a, b, c, b' '], rest) = rest.split_first_chunk()? else { return None };
        if version != b"SIP/2.0/" || *a <= b' ' || *b <= b' ' || *c <= b' ' || !is_trimmed(rest) {
            return None;
        }
        let transport = value.skip(8);
        let host = transport.skip(4);
        let host = host.upto(host.find_or_end([b':', b';', b',', b'[', b' ']));
        let mut params = value.from(host.end());
        let mut port_number = None;
        if params.starts_with(b':') {
            let digits = params.skip(1);
            let digits = digits.upto(digits.find_or_end([b';', b',']));
            port_number = port(digits);
            params = params.from(digits.end());
        }
        let branch = params.skip(8);
        let branch = branch.upto(branch.find_or_end([b';', b',', b'"', b'\n']));
        let tight = |text: Text<'_>| text.first() > Some(b' ') && text.last() > Some(b' ');
        if params.peek() != Some(b";branch=") || !tight(host) || !tight(branch) {
            return None;
        }
        let rest = value.from(branch.end());
        let (end, received, rport) = match rest.first() {
            None => (value.end(), Part::default(), None),
            Some(b';') => more_parameters(rest.whole(), rest.at(), rest.end()),
            Some(_) => return None,
        };
        Some(Self {
            raw: Part::of(value.upto(end)),
            transport: Part::of(transport.upto(transport.skip(3).at())),
            host: Part::of(host),
            port: port_number,
            branch: Part::of(branch),
            received,
            rport,
        })
    }

    #[inline(never)]
    fn unusual(whole: &[u8], at: usize, end: usize) -> Self {
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
