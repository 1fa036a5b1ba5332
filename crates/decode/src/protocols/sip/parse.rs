//! The one pass over the head.

use super::{
    lines::LineEnds,
    message::{Message, Span, StartLine},
    names::{KNOWN, Known, known, known_long},
    problems::Problems,
    start::{Start, cseq, start_line},
};
use crate::{
    DecodeError, What,
    lanes::{LANES, equal, padded},
    number::decimal,
    text::{Text, is_space},
};

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
    let whole = Text::new(bytes);
    let end = whole.find_or_end([b'\n']);
    let line = whole.upto(end);
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
    let head = head(bytes, line.end().wrapping_add(1), &mut message.spans);
    message.take(head);
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

/// Walks the header lines from `at` to the empty line and remembers the places of values.
#[inline(never)]
fn head(bytes: &[u8], at: usize, spans: &mut [Span; KNOWN]) -> Head {
    let mut head = Head { end: bytes.len(), body: bytes.len(), ..Head::default() };
    let mut rest = bytes.get(at..).unwrap_or(&[]);
    let mut ends = LineEnds::new(rest);
    // Where `rest` is: in the message, and counted from `at` as the line ends are.
    let (mut line_at, mut done) = (at, 0usize);
    while let Some(end) = ends.next() {
        let Some((mut line, mut after)) = rest.split_at_checked(end.wrapping_sub(done)) else { break };
        if let [] | [b'\r'] = line {
            head.end = line_at;
            head.body = line_at.wrapping_add(line.len()).wrapping_add(1);
            return head;
        }
        done = end.wrapping_add(1);
        // A header ends where the next line does not start with white space (RFC 3261 §7.3.1).
        while let [_, b' ' | b'\t', ..] = after {
            head.folded = true;
            let end = ends.next().unwrap_or(bytes.len().wrapping_sub(at));
            let len = line.len().wrapping_add(end.wrapping_sub(done)).wrapping_add(1);
            (line, after) = rest.split_at_checked(len).unwrap_or((rest, &[]));
            done = end.wrapping_add(1);
        }
        head.remember(spans, rest, line, line_at);
        line_at = line_at.wrapping_add(line.len()).wrapping_add(1);
        rest = after.get(1..).unwrap_or(&[]);
    }
    // The last line, when there is one, has no end.
    if !rest.is_empty() {
        head.remember(spans, rest, rest, line_at);
    }
    head.problems |= Problems::NO_END_OF_HEAD;
    head
}

/// What the walk over the header lines finds besides the places of values.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// Where the empty line begins.
    pub end: usize,
    /// Where the body begins.
    pub body: usize,
    pub problems: Problems,
    pub folded: bool,
}

impl Head {
    /// Remembers the place of the value when the header is a known one and the first of its name.
    ///
    /// `line` starts at `at` in the message, without its line end; `rest` runs on behind it, so that
    /// the name can be compared as a whole however short the line is.
    #[inline(always)]
    fn remember(&mut self, spans: &mut [Span; KNOWN], rest: &[u8], line: &[u8], at: usize) {
        let found = match rest.first_chunk::<LANES>() {
            Some(lanes) => {
                let len = equal(*lanes, [b':']).trailing_zeros() as usize;
                match known(*lanes, len) {
                    // A known name has no line end in it, so its colon is within the line.
                    Some(header) => Some((header, len)),
                    // Most other names are just that.
                    None if is_plain_name(line, len) => return,
                    None => self.unusual(line),
                }
            }
            None => self.unusual(line),
        };
        let Some((header, colon)) = found else { return };
        let value = line.get(colon.wrapping_add(1)..).unwrap_or(&[]);
        let value_at = at.wrapping_add(colon).wrapping_add(1);
        let span = match value {
            // Nearly all are written with one space in front and CR LF behind.
            [b' ', inner @ .., b'\r'] if is_trimmed(inner) => {
                Span::new(value_at.wrapping_add(1), inner.len())
            }
            _ => {
                let inner = Text::new(value).trim();
                Span::new(value_at.wrapping_add(inner.at()), inner.len())
            }
        };
        match spans.get_mut(header as usize) {
            Some(first) if first.is_unset() => *first = span,
            _ if SINGLE & bit(header) != 0 => self.problems |= Problems::DUPLICATE_HEADER,
            _ => {}
        }
    }

    /// The header and the place of the colon for a name that is long, has white space behind it, or
    /// stands in the last bytes of the message.
    #[inline(never)]
    fn unusual(&mut self, line: &[u8]) -> Option<(Known, usize)> {
        let line = Text::new(line);
        let colon = line.find_or_end([b':']);
        let name = line.upto(colon).trim_end().get();
        if name.is_empty() || colon == line.end() {
            self.problems |= Problems::BAD_HEADER_LINE;
            return None;
        }
        let header = if name.len() <= LANES { known(padded(name), name.len()) } else { known_long(name) };
        Some((header?, colon))
    }
}

/// Whether the first `len` bytes of a line are a name without white space behind it.
#[inline(always)]
fn is_plain_name(line: &[u8], len: usize) -> bool {
    len < line.len() && len < LANES && len > 0 && line.get(len.wrapping_sub(1)).is_some_and(|b| !is_space(*b))
}

#[inline(always)]
fn is_trimmed(value: &[u8]) -> bool {
    matches!((value, value), ([first, ..], [.., last]) if *first > b' ' && *last > b' ')
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
        let request = message.request_method();
        match cseq(value, request) {
            Some((number, method)) => {
                if request.is_some_and(|request| request != method.get()) {
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
