//! The head of a message: its start line and the few header fields that matter (RFC 9112 §2 to §6).

use crate::trace::Carrier;
use crate::{DecodeError, What};

/// What the header fields say about the length of the body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Length {
    /// Nothing.
    #[default]
    Absent,
    /// `Content-Length`.
    Known(u64),
    /// `Transfer-Encoding` whose last coding is `chunked`.
    Chunked,
    /// Another `Transfer-Encoding`: until the close.
    UntilClose,
    /// A `Content-Length` that is no number, or several that differ.
    Bad,
}

/// A start line taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// `method SP target SP version`.
    Request {
        /// As it is written; methods are case-sensitive.
        method: &'a [u8],
        /// Not empty.
        target: &'a [u8],
    },
    /// `version SP code SP reason`.
    Status {
        /// 100 to 599.
        code: u16,
        /// May be empty.
        reason: &'a [u8],
    },
}

/// The head of one message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head<'a> {
    pub line: Line<'a>,
    /// `1.0` or `1.1`.
    pub version: &'static str,
    pub length: Length,
    pub host: Option<&'a [u8]>,
    pub user_agent: Option<&'a [u8]>,
    pub content_type: Option<&'a [u8]>,
    pub upgrade: Option<&'a [u8]>,
    /// Whether the body is as its sender wrote it: no `Content-Encoding`.
    pub identity: bool,
    pub trace: Carrier<'a>,
    /// The head breaks RFC 9112 where a recipient may still go on.
    pub malformed: bool,
}

impl<'a> Head<'a> {
    /// Reads a whole head, the empty line at its end included.
    ///
    /// # Errors
    /// `BadMagic` when the first line is none of HTTP/1.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
        let first = without_cr(bytes.get(..end).unwrap_or_default());
        let Some((line, version, odd)) = start_line(first) else {
            return Err(DecodeError::new(What::BadMagic, 0));
        };
        let mut head = Self {
            line,
            version,
            length: Length::Absent,
            host: None,
            user_agent: None,
            content_type: None,
            upgrade: None,
            identity: true,
            trace: Carrier::default(),
            malformed: odd,
        };
        let (mut declared, mut coding) = (Length::Absent, Length::Absent);
        let mut rest = bytes.get(end.saturating_add(1)..).unwrap_or_default();
        while let Some((field, after)) = head.next_field(rest) {
            rest = after;
            let Some(colon) = memchr::memchr(b':', field) else {
                head.malformed = true;
                continue;
            };
            let (name, value) = field.split_at_checked(colon).unwrap_or_default();
            let value = value.get(1..).unwrap_or_default().trim_ascii();
            head.malformed |= name.last().is_none_or(u8::is_ascii_whitespace);
            head.field(name.trim_ascii_end(), value, &mut declared, &mut coding);
        }
        // RFC 9112 §6.3: Transfer-Encoding overrides Content-Length, and both together are suspect.
        head.malformed |= coding != Length::Absent && (declared != Length::Absent || version == "1.0");
        head.length = if coding == Length::Absent { declared } else { coding };
        Ok(head)
    }

    /// The next field line with its folds, and what follows; `None` at the empty line.
    fn next_field(&mut self, rest: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        let mut end = memchr::memchr(b'\n', rest)?;
        if without_cr(rest.get(..end)?).is_empty() {
            return None;
        }
        while let Some(b' ' | b'\t') = rest.get(end.saturating_add(1)) {
            self.malformed = true;
            let from = end.saturating_add(1);
            end = from.saturating_add(memchr::memchr(b'\n', rest.get(from..)?)?);
        }
        Some((without_cr(rest.get(..end)?), rest.get(end.saturating_add(1)..)?))
    }

    fn field(&mut self, name: &[u8], value: &'a [u8], declared: &mut Length, coding: &mut Length) {
        let is = |other: &[u8]| name.eq_ignore_ascii_case(other);
        let first = |place: &mut Option<&'a [u8]>| {
            place.get_or_insert(value);
        };
        match name.len() {
            2 if is(b"b3") => first(&mut self.trace.b3),
            4 if is(b"host") => {
                self.malformed |= self.host.is_some();
                first(&mut self.host);
            }
            7 if is(b"upgrade") => first(&mut self.upgrade),
            10 if is(b"user-agent") => first(&mut self.user_agent),
            11 if is(b"traceparent") => first(&mut self.trace.traceparent),
            11 if is(b"x-b3-spanid") => first(&mut self.trace.b3_span),
            12 if is(b"x-b3-traceid") => first(&mut self.trace.b3_trace),
            12 if is(b"content-type") => first(&mut self.content_type),
            14 if is(b"content-length") => {
                let before = *declared;
                *declared = content_length(value, &mut self.malformed);
                if before != Length::Absent {
                    self.malformed = true;
                    if before != *declared {
                        *declared = Length::Bad;
                    }
                }
            }
            16 if is(b"content-encoding") => self.identity &= value.eq_ignore_ascii_case(b"identity"),
            17 if is(b"transfer-encoding") => *coding = transfer_coding(value),
            _ => {}
        }
    }
}

/// The position behind the empty line that ends a head; the search begins near `from`. Line ends may be a
/// lone LF (RFC 9112 §2.2).
pub(super) fn end(bytes: &[u8], from: usize) -> Option<usize> {
    // An end that straddles the place where the last search stopped has at most three bytes before it.
    let from = from.saturating_sub(3);
    memchr::memchr_iter(b'\n', bytes.get(from..)?).find_map(|newline| {
        let after = from.saturating_add(newline).saturating_add(1);
        match bytes.get(after..)? {
            [b'\n', ..] => after.checked_add(1),
            [b'\r', b'\n', ..] => after.checked_add(2),
            _ => None,
        }
    })
}

/// Takes a first line apart: the line, the version, whether it is odd. `None`: not of HTTP/1.
pub(super) fn start_line(line: &[u8]) -> Option<(Line<'_>, &'static str, bool)> {
    if let Some(digits) = line.strip_prefix(b"HTTP/1.") {
        let version = minor(digits.first()?)?;
        let [b' ', a @ b'1'..=b'5', b, c, reason @ ..] = digits.get(1..)? else { return None };
        let code = decimal(&[*a, *b, *c]).and_then(|code| u16::try_from(code).ok())?;
        // The space before an empty reason is often left out.
        let odd = reason.first().is_none_or(|byte| *byte != b' ');
        if odd && !reason.is_empty() {
            return None;
        }
        return Some((Line::Status { code, reason: reason.trim_ascii() }, version, false));
    }
    let space = memchr::memchr(b' ', line)?;
    let method = line.get(..space)?;
    let last = memchr::memrchr(b' ', line)?;
    let version = minor(line.get(last..)?.strip_prefix(b" HTTP/1.")?.first()?)?;
    let target = line.get(space.saturating_add(1)..last)?;
    if target.is_empty() || !is_method(method) {
        return None;
    }
    let odd = target.iter().any(|byte| *byte <= b' ' || *byte == 0x7f);
    Some((Line::Request { method, target: target.trim_ascii() }, version, odd))
}

/// Whether bytes can be a method: a token (RFC 9110 §5.6.2) of at most 24 bytes. The longest registered one
/// has 17.
pub(super) fn is_method(bytes: &[u8]) -> bool {
    (1..=24).contains(&bytes.len())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

fn minor(digit: &u8) -> Option<&'static str> {
    match digit {
        b'0' => Some("1.0"),
        b'1' => Some("1.1"),
        _ => None,
    }
}

/// One number, or the same one several times (RFC 9112 §6.3).
fn content_length(value: &[u8], malformed: &mut bool) -> Length {
    let mut numbers = value.split(|byte| *byte == b',').map(|part| decimal(part.trim_ascii()));
    let Some(Some(first)) = numbers.next() else { return Length::Bad };
    for number in numbers {
        *malformed = true;
        if number != Some(first) {
            return Length::Bad;
        }
    }
    Length::Known(first)
}

fn transfer_coding(value: &[u8]) -> Length {
    let last = value.rsplit(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
    if last.eq_ignore_ascii_case(b"chunked") { Length::Chunked } else { Length::UntilClose }
}

/// Decimal digits and nothing else.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { value.checked_mul(10)?.checked_add(u64::from(digit)) }
    })
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_head() {
        assert_eq!(end(b"a\r\n\r\nb", 0), Some(5));
        assert_eq!(end(b"a\n\nb", 0), Some(3));
        assert_eq!(end(b"a\n\r\nb", 2), Some(4));
        assert_eq!(end(b"a\r\nb\r\n", 0), None);
        let head = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        for from in 0..head.len() {
            assert_eq!(end(head, from), Some(head.len()), "{from}");
        }
    }

    #[test]
    fn start_lines() {
        let line = |line: &'static [u8]| start_line(line).map(|(line, ..)| line);
        assert_eq!(line(b"GET / HTTP/1.1"), Some(Line::Request { method: b"GET", target: b"/" }));
        assert_eq!(line(b"HTTP/1.0 200 OK"), Some(Line::Status { code: 200, reason: b"OK" }));
        assert_eq!(line(b"HTTP/1.1 404"), Some(Line::Status { code: 404, reason: b"" }));
        for none in [
            &b"HTTP/1.1 2000 OK"[..],
            b"HTTP/1.1 600 OK",
            b"HTTP/2 200",
            b"GET /",
            b"GET  HTTP/1.1",
            b"GET / HTTP/2.0",
            b"OPTIONS sip:a SIP/2.0",
            b"G(T / HTTP/1.1",
        ] {
            assert_eq!(line(none), None, "{}", none.escape_ascii());
        }
    }

    #[test]
    fn lengths_by_rfc_9112_section_6_3() {
        let length = |fields: &str| {
            let head = format!("POST / HTTP/1.1\r\n{fields}\r\n\r\n");
            let head = Head::parse(head.as_bytes()).unwrap();
            (head.length, head.malformed)
        };
        assert_eq!(length("Content-Length: 5"), (Length::Known(5), false));
        assert_eq!(length("Content-Length: 5, 5"), (Length::Known(5), true));
        assert_eq!(length("Content-Length: 5\r\nContent-Length: 5"), (Length::Known(5), true));
        assert_eq!(length("Content-Length: 5\r\nContent-Length: 6"), (Length::Bad, true));
        assert_eq!(length("Content-Length: +5"), (Length::Bad, false));
        assert_eq!(length("Content-Length: 99999999999999999999"), (Length::Bad, false));
        assert_eq!(length("Transfer-Encoding: gzip, Chunked"), (Length::Chunked, false));
        assert_eq!(length("Transfer-Encoding: gzip"), (Length::UntilClose, false));
        assert_eq!(length("Transfer-Encoding: chunked\r\nContent-Length: 5"), (Length::Chunked, true));
        assert_eq!(length("Transfer-Encoding:\r\n chunked"), (Length::Chunked, true));
        assert_eq!(length("Transfer-Encoding : chunked"), (Length::Chunked, true));
        assert_eq!(length("X: y"), (Length::Absent, false));
    }
}
