//! The one pass over the head.

use super::{
    lines::LineEnds,
    message::{Message, Span, StartLine},
    names::{Known, known, known_long},
    problems::Problems,
    start::{Start, cseq, start_line},
};
use crate::{DecodeError, What, text::{LANES, Text, decimal, equal, is_space, lanes_at}};

/// Headers of which a message has one.
const SINGLE: u32 = bit(Known::From)
    | bit(Known::To)
    | bit(Known::CallId)
    | bit(Known::CSeq)
    | bit(Known::ContentType)
    | bit(Known::ContentLength)
    | bit(Known::MaxForwards)
    | bit(Known::Expires);

const fn bit(header: Known) -> u32 {
    1 << header as u32
}

/// Finds the lines of one message and the place of every header in [`Known`].
///
/// `bytes` is the whole message; line ends in front of it (RFC 5626 §3.5.1, RFC 3261 §7.5) are
/// passed over. Takes one pass over the head, looks at no byte of the body and does not allocate.
///
/// # Errors
/// `Empty`, `KeepAlive`, `NotSip`, `BadStartLine`: the bytes are no SIP message. `TooLarge`: 4 GiB
/// or more. Whatever is wrong after the start line is told by [`Message::problems`] instead.
#[inline(always)]
pub fn parse(bytes: &[u8]) -> Result<Message<'_>, DecodeError> {
    let mut message = Message::new(without_line_ends_in_front(bytes)?);
    fill(&mut message, None)?;
    Ok(message)
}

/// As [`parse`], of a message that is known to be UTF-8, so that its head is not validated again.
///
/// # Errors
/// Those of [`parse`].
#[inline(always)]
pub fn parse_str(text: &str) -> Result<Message<'_>, DecodeError> {
    let bytes = without_line_ends_in_front(text.as_bytes())?;
    // Line ends are ASCII: what follows them starts with a character.
    let text = text.get(text.len().saturating_sub(bytes.len())..);
    let mut message = Message::new(bytes);
    fill(&mut message, text)?;
    Ok(message)
}

/// Fills a message in whose bytes start with the start line; `text` is the same as text where that
/// is known.
///
/// Only the message's owner moves it: a copy right behind the many small writes of this function
/// would wait for each of them.
#[inline(never)]
fn fill<'a>(message: &mut Message<'a>, text: Option<&'a str>) -> Result<(), DecodeError> {
    let bytes = message.bytes();
    let mut ends = LineEnds::new(bytes);
    let end = ends.next();
    let line = Text::within(bytes, 0, end.unwrap_or(bytes.len()));
    match start_line(line).map_err(|what| DecodeError::new(what, 0))? {
        Start::Request { method, uri, problems } => {
            message.start = StartLine::Request { method: Span::of(method), uri: Span::of(uri) };
            message.problems = problems;
        }
        Start::Status { code, reason, problems } => {
            message.start = StartLine::Status { code, reason: Span::of(reason) };
            message.problems = problems;
        }
    }
    match end {
        Some(end) => head(message, ends, end.wrapping_add(1)),
        None => {
            message.problems |= Problems::NO_END_OF_HEAD;
            message.set_end(bytes.len(), bytes.len());
        }
    }
    finish(message);
    message.set_text(text);
    Ok(())
}

#[inline(always)]
fn without_line_ends_in_front(bytes: &[u8]) -> Result<&[u8], DecodeError> {
    let mut rest = bytes;
    while let [b'\r' | b'\n', after @ ..] = rest {
        rest = after;
    }
    match rest.first() {
        None if bytes.is_empty() => return Err(DecodeError::new(What::Empty, 0)),
        None => return Err(DecodeError::new(What::KeepAlive, 0)),
        Some(0) if rest.iter().all(|byte| matches!(byte, 0 | b'\r' | b'\n')) => {
            return Err(DecodeError::new(What::KeepAlive, 0));
        }
        Some(_) => {}
    }
    if u32::try_from(bytes.len()).is_err() {
        return Err(DecodeError::new(What::TooLarge, 0));
    }
    Ok(rest)
}

/// Walks the header lines from `at` to the empty line.
#[inline(always)]
fn head<'a>(message: &mut Message<'a>, mut ends: LineEnds<'a>, mut at: usize) {
    let bytes = message.bytes();
    let byte_at = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let mut first = byte_at(at);
    while let Some(mut end) = ends.next() {
        let len = end.wrapping_sub(at);
        if first <= b' ' && (len == 0 || len == 1 && first == b'\r') {
            message.set_end(at, end.wrapping_add(1));
            return;
        }
        // A header ends where the next line does not start with white space (RFC 3261 §7.3.1).
        first = byte_at(end.wrapping_add(1));
        while first <= b' ' && matches!(first, b' ' | b'\t') {
            message.set_folded();
            end = ends.next().unwrap_or(bytes.len());
            first = byte_at(end.wrapping_add(1));
        }
        remember(message, Text::within(bytes, at, end));
        at = end.wrapping_add(1);
    }
    // The last line, when there is one, has no end.
    if at < bytes.len() {
        remember(message, Text::within(bytes, at, bytes.len()));
    }
    message.problems |= Problems::NO_END_OF_HEAD;
    message.set_end(bytes.len(), bytes.len());
}

/// Remembers the place of the value when the header is a known one and the first of its name.
#[inline(always)]
fn remember<'a>(message: &mut Message<'a>, line: Text<'a>) {
    let Some(lanes) = line.peek::<LANES>() else {
        remember_near_end(message, line.at(), line.end());
        return;
    };
    let lanes = *lanes;
    let len = equal(lanes, [b':']).trailing_zeros() as usize;
    // A known name has no line end in it, so its colon is within the line.
    let (header, colon) = match known(lanes, len) {
        Some(header) => (header, line.skip(len).at()),
        None => match unusual(message, line, len) {
            Some(found) => found,
            None => return,
        },
    };
    if !message.set(header, value_of(line, colon)) && SINGLE & bit(header) != 0 {
        message.problems |= Problems::DUPLICATE_HEADER;
    }
}

/// As [`remember`], of a line that begins in the last bytes of the message.
#[inline(never)]
fn remember_near_end(message: &mut Message<'_>, at: usize, end: usize) {
    let line = Text::within(message.bytes(), at, end);
    match unusual_name(line.whole(), at, end) {
        Some((Some(header), colon)) => {
            if !message.set(header, value_of(line, colon)) && SINGLE & bit(header) != 0 {
                message.problems |= Problems::DUPLICATE_HEADER;
            }
        }
        Some((None, _)) => {}
        None => message.problems |= Problems::BAD_HEADER_LINE,
    }
}

/// The value of the header line whose colon is at `colon`.
#[inline(always)]
fn value_of(line: Text<'_>, colon: usize) -> Text<'_> {
    // Nearly all are written with one space in front and CR LF behind.
    let value = line.from(colon.wrapping_add(1));
    if let [b' ', inner @ .., b'\r'] = value.get()
        && let ([first, ..], [.., last]) = (inner, inner)
        && *first > b' '
        && *last > b' '
    {
        return value.inner();
    }
    value.trim()
}

/// What to do with a name that is not among the known ones as it stands: it may be long, or have
/// white space behind it. `len` is the place of a colon, which may be behind the line.
#[inline(always)]
fn unusual(message: &mut Message<'_>, line: Text<'_>, len: usize) -> Option<(Known, usize)> {
    let name = line.upto(line.skip(len).at());
    if len < LANES && name.end() < line.end() && name.last().is_some_and(|byte| !is_space(byte)) {
        return None;
    }
    match unusual_name(line.whole(), line.at(), line.end()) {
        Some((header, colon)) => header.map(|header| (header, colon)),
        None => {
            message.problems |= Problems::BAD_HEADER_LINE;
            None
        }
    }
}

/// The header and the place of the colon for a long name or one with white space behind it; `None`
/// when there is no name.
#[inline(never)]
fn unusual_name(whole: &[u8], at: usize, end: usize) -> Option<(Option<Known>, usize)> {
    let line = Text::within(whole, at, end);
    let colon = line.find([b':'])?;
    let name = line.upto(colon).trim_end();
    if name.is_empty() {
        return None;
    }
    let lanes = lanes_at(name.get(), 0);
    let header = if name.len() <= LANES { known(lanes, name.len()) } else { known_long(name.get()) };
    Some((header, colon))
}

/// What can be said only once every header is known.
#[inline(always)]
fn finish(message: &mut Message<'_>) {
    for (header, problem) in [
        (Known::CallId, Problems::NO_CALL_ID),
        (Known::CSeq, Problems::NO_CSEQ),
        (Known::From, Problems::NO_FROM),
        (Known::To, Problems::NO_TO),
        (Known::Via, Problems::NO_VIA),
    ] {
        if message.value_text(header).is_empty() {
            message.problems |= problem;
        }
    }
    let value = message.value_text(Known::CSeq);
    if !value.is_empty() {
        match cseq(value) {
            Some((number, method)) => {
                if message.request_method().is_some_and(|request| request != method.get()) {
                    message.problems |= Problems::METHOD_MISMATCH;
                }
                message.set_cseq(number, method);
            }
            None => message.problems |= Problems::BAD_CSEQ,
        }
    }
    let value = message.value_text(Known::ContentLength);
    if !value.is_empty() {
        match decimal(value) {
            Some(announced) if u64::from(announced) == message.body().len() as u64 => {}
            Some(_) => message.problems |= Problems::CONTENT_LENGTH_MISMATCH,
            None => message.problems |= Problems::BAD_CONTENT_LENGTH,
        }
    }
}
