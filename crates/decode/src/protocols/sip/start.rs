//! The start line: request line (RFC 3261 §7.1) or status line (§7.2).

use super::problems::Problems;
use crate::{What, number::port, text::Text};

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

/// A start line taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start<'a> {
    Request { method: Text<'a>, uri: Text<'a>, problems: Problems },
    Status { code: u16, reason: Text<'a>, problems: Problems },
}

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
pub(super) fn start_line(line: Text<'_>) -> Result<Start<'_>, What> {
    let line = line.trim();
    if is_version(line.get()) {
        return status_line(line);
    }
    let (method, rest) = line.split_before([b' ', b'\t']);
    if !is_token(method) {
        return Err(What::NotSip);
    }
    // The usual version first: it is the last word of nearly every request line.
    let rest = rest.trim_start();
    let version = rest.from(rest.end().wrapping_sub(8));
    if version.peek() == Some(b" SIP/2.0") && version.at() > rest.at() {
        let uri = rest.upto(version.at()).trim_end();
        return Ok(Start::Request { method, uri, problems: Problems::NONE });
    }
    unusual_request_line(method, rest)
}

#[cold]
fn unusual_request_line<'a>(method: Text<'a>, rest: Text<'a>) -> Result<Start<'a>, What> {
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
    Ok(Start::Request { method, uri, problems: version_problem(version) })
}

fn status_line(line: Text<'_>) -> Result<Start<'_>, What> {
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
    Ok(Start::Status { code, reason: reason.trim_start(), problems })
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

/// Splits a CSeq value into number and method; `None` when it is not both. `request` is the method
/// of the request line.
#[inline(always)]
pub(super) fn cseq<'a>(value: Text<'a>, request: Option<&[u8]>) -> Option<(u32, Text<'a>)> {
    let mut number = 0u32;
    let mut rest = value;
    while let Some(digit) = rest.first().map(|byte| byte.wrapping_sub(b'0')).filter(|d| *d <= 9) {
        number = number.checked_mul(10)?.checked_add(u32::from(digit))?;
        rest = rest.skip(1);
    }
    let method = rest.trim_start();
    if rest.at() == value.at() || method.at() == rest.at() {
        return None;
    }
    // That of the request line is a token already.
    let is_method = request == Some(method.get()) || is_token(method);
    if is_method { Some((number, method)) } else { None }
}
