//! The start line: request line (RFC 3261 §7.1) or status line (§7.2).

use super::{
    message::{Span, StartLine},
    problems::Problems,
};
use crate::{
    What,
    lanes::{LANES, between},
    number::{digits as digits_of, port},
    text::{Text, is_trimmed},
};

/// The methods of the IANA registry "Session Initiation Protocol (SIP) Parameters".
const METHODS: [&[u8]; 14] = [
    b"ACK",
    b"BYE",
    b"CANCEL",
    b"INFO",
    b"INVITE",
    b"MESSAGE",
    b"NOTIFY",
    b"OPTIONS",
    b"PRACK",
    b"PUBLISH",
    b"REFER",
    b"REGISTER",
    b"SUBSCRIBE",
    b"UPDATE",
];

/// Whether `bytes` begin as a SIP message does: with `SIP/` and a digit, or with a registered
/// method and a space. Reads at most 10 bytes.
pub fn looks_like_start(bytes: &[u8]) -> bool {
    is_version(bytes)
        || METHODS.iter().any(|method| {
            bytes.strip_prefix(*method).is_some_and(|rest| matches!(rest.first(), Some(b' ' | b'\t')))
        })
}

/// Takes a first line apart. `Err` says that it is none of SIP.
///
/// A request line must end in a SIP version, or have a registered method and a URI with a scheme:
/// a message cut off within its first line is still a message, other text is not.
#[inline(always)]
pub(super) fn start_line(line: Text<'_>, start: &mut StartLine) -> Result<(), What> {
    match usual_request_line(line) {
        Some((method, uri)) => {
            start.is_request = true;
            start.method = method;
            start.rest = uri;
        }
        None => *start = unusual_start_line(line.whole(), line.at(), line.end())?,
    }
    Ok(())
}

/// Method and URI of `INVITE sip:bob@example.com SIP/2.0` and CR, with one space between the words.
#[inline(always)]
fn usual_request_line(line: Text<'_>) -> Option<(Span, Span)> {
    let method = between(*line.peek()?, b'A', b'Z').trailing_ones() as usize;
    let (rest, [b'\r']) = line.get().split_last_chunk()? else { return None };
    let (rest, version) = rest.split_last_chunk()?;
    let [b' ', uri @ ..] = rest.get(method..)? else { return None };
    // Compared as one word.
    if version != b" SIP/2.0" || method == 0 || !is_trimmed(uri) {
        return None;
    }
    let uri_at = line.at().wrapping_add(method).wrapping_add(1);
    Some((Span::new(line.at(), method), Span::new(uri_at, uri.len())))
}

/// A line of any other form.
#[inline(never)]
fn unusual_start_line(whole: &[u8], at: usize, end: usize) -> Result<StartLine, What> {
    let line = Text::within(whole, at, end).trim();
    if is_version(line.get()) {
        return status_line(line);
    }
    let (method, rest) = line.split_before([b' ', b'\t']);
    if !is_token(method) {
        return Err(What::NotSip);
    }
    let rest = rest.trim_start();
    let last = rest.get().iter().rposition(|byte| matches!(byte, b' ' | b'\t'));
    let last = rest.skip(last.map_or(0, |space| space.saturating_add(1)));
    let (uri, version) = if is_version(last.get()) {
        (rest.upto(last.at()).trim_end(), last)
    } else {
        (rest, rest.from(rest.end()))
    };
    let without_version = METHODS.contains(&method.get()) && uri.find([b':']).is_some();
    if version.is_empty() && !without_version {
        return Err(What::NotSip);
    }
    if uri.is_empty() {
        return Err(What::BadStartLine);
    }
    Ok(StartLine {
        is_request: true,
        code: 0,
        method: Span::of(method),
        rest: Span::of(uri),
        problems: version_problem(version),
    })
}

#[inline(always)]
fn status_line(line: Text<'_>) -> Result<StartLine, What> {
    if let Some([b'S', b'I', b'P', b'/', b'2', b'.', b'0', b' ', code @ .., b' ']) = line.peek::<12>()
        && line.len() >= 12
        && let [b'1'..=b'6', b'0'..=b'9', b'0'..=b'9'] = code
    {
        let code = code.iter().fold(0u16, |code, digit| {
            code.wrapping_mul(10).wrapping_add(u16::from(digit.wrapping_sub(b'0')))
        });
        let reason = line.skip(12).trim_start();
        return Ok(StartLine { code, rest: Span::of(reason), ..StartLine::default() });
    }
    unusual_status_line(line)
}

#[cold]
fn unusual_status_line(line: Text<'_>) -> Result<StartLine, What> {
    let (version, rest) = line.split_before([b' ', b'\t']);
    let rest = rest.trim_start();
    let digits = rest.get().iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, reason) = (rest.upto(rest.skip(digits).at()), rest.skip(digits));
    if digits.is_empty() || !matches!(reason.first(), None | Some(b' ' | b'\t')) {
        return Err(What::BadStartLine);
    }
    let mut problems = version_problem(version);
    let code = match digits.get() {
        [b'1'..=b'6', _, _] => port(digits).unwrap_or(0),
        _ => 0,
    };
    if code == 0 {
        problems |= Problems::BAD_STATUS_CODE;
    }
    Ok(StartLine { code, rest: Span::of(reason.trim_start()), problems, ..StartLine::default() })
}

fn version_problem(version: Text<'_>) -> Problems {
    if version.eq_ignore_case(b"SIP/2.0") { Problems::NONE } else { Problems::BAD_VERSION }
}

/// Whether the text begins with `SIP/` in any case and a digit.
#[inline(always)]
fn is_version(text: &[u8]) -> bool {
    match text.first_chunk::<5>() {
        Some([s, i, p, b'/', digit]) => [s | 0x20, i | 0x20, p | 0x20] == *b"sip" && digit.is_ascii_digit(),
        _ => false,
    }
}

/// Whether the text is a `token`, RFC 3261 §25.1.
#[inline(always)]
fn is_token(text: Text<'_>) -> bool {
    !text.is_empty() && text.get().iter().all(|byte| TOKEN.get(usize::from(*byte)) == Some(&true))
}

/// Which bytes a token may have.
static TOKEN: [bool; 256] = {
    let mut set = [false; 256];
    let mut rest: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.!%*_+`'~";
    while let [byte, after @ ..] = rest {
        #[allow(clippy::indexing_slicing, reason = "compile time only")]
        {
            set[*byte as usize] = true;
        }
        rest = after;
    }
    set
};

/// A CSeq value taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct CSeqParts<'a> {
    pub number: u32,
    pub method: Text<'a>,
    /// Whether the method is that of the request line.
    pub is_of_request: bool,
}

/// Splits a CSeq value into number and method; `None` when it is not both. `request` is the method
/// of the request line, empty for a response.
#[inline(always)]
pub(super) fn cseq<'a>(value: Text<'a>, request: Text<'_>) -> Option<CSeqParts<'a>> {
    if let Some(parts) = usual_cseq(value, request) {
        return Some(parts);
    }
    let (number, at, end) = unusual_cseq(value.whole(), value.at(), value.end())?;
    let method = value.from(at).upto(end);
    Some(CSeqParts { number, method, is_of_request: method.get() == request.get() })
}

/// A number of at most nine digits, one space, and the method of the request line.
#[inline(always)]
fn usual_cseq<'a>(value: Text<'a>, request: Text<'_>) -> Option<CSeqParts<'a>> {
    let lanes = value.peek::<LANES>()?;
    let digits = between(*lanes, b'0', b'9').trailing_ones() as usize;
    let (number, [b' ', ..]) = lanes.split_at_checked(digits)? else { return None };
    let method = value.skip(digits).skip(1);
    if digits > 9 || request.is_empty() || !method.is_same(request) {
        return None;
    }
    // That of the request line is a token.
    Some(CSeqParts { number: digits_of(number)?, method, is_of_request: true })
}

/// A value of any other form: the number, and from where to where the method is.
#[inline(never)]
fn unusual_cseq(whole: &[u8], at: usize, end: usize) -> Option<(u32, usize, usize)> {
    let value = Text::within(whole, at, end);
    let mut number = 0u32;
    let mut rest = value;
    while let Some(digit) = rest.first().map(|byte| byte.wrapping_sub(b'0')).filter(|d| *d <= 9) {
        number = number.checked_mul(10)?.checked_add(u32::from(digit))?;
        rest = rest.skip(1);
    }
    let method = rest.trim_start();
    if rest.at() == value.at() || method.at() == rest.at() || !is_token(method) {
        return None;
    }
    Some((number, method.at(), method.end()))
}
