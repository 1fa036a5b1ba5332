//! The one pass over the head.

use super::{
    lines::{LineEnds, unfolded_end},
    message::{Message, Span},
    names::{KNOWN, Known, known, known_name},
    problems::Problems,
    start::{cseq, start_line},
};
use crate::{
    DecodeError, What,
    lanes::{LANES, equal},
    number::digits,
    text::Text,
};
use simd::{Op, Simd};

/// Headers of which a message has one.
const SINGLE: u32 = bit(Known::From)
    | bit(Known::To)
    | bit(Known::CallId)
    | bit(Known::CSeq)
    | bit(Known::ContentType)
    | bit(Known::ContentLength)
    | bit(Known::MaxForwards)
    | bit(Known::Expires);

/// Headers without which a message cannot be told apart from others (RFC 3261 §8.1.1), and what is
/// said of one that has none or an empty one.
const REQUIRED: [(Known, Problems); 5] = [
    (Known::CallId, Problems::NO_CALL_ID),
    (Known::CSeq, Problems::NO_CSEQ),
    (Known::From, Problems::NO_FROM),
    (Known::To, Problems::NO_TO),
    (Known::Via, Problems::NO_VIA),
];

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
#[inline]
pub fn parse(bytes: &[u8]) -> Result<Message<'_>, DecodeError> {
    let mut message = Message::default();
    parse_into(bytes, &mut message)?;
    Ok(message)
}

/// As [`parse`], into a message whose content is replaced; after an error it is of no use.
///
/// A message is some 280 bytes of many small values. Where it is made, nothing moves it right
/// behind their writes, which would wait for each of them.
///
/// # Errors
/// Those of [`parse`].
#[inline(always)]
pub fn parse_into<'a>(bytes: &'a [u8], message: &mut Message<'a>) -> Result<(), DecodeError> {
    *message = Message::new(without_line_ends_in_front(bytes)?);
    fill(message, None)
}

/// As [`parse`], of a message that is known to be UTF-8, so that its head is not validated again.
///
/// # Errors
/// Those of [`parse`].
#[inline]
pub fn parse_str(text: &str) -> Result<Message<'_>, DecodeError> {
    let mut message = Message::default();
    parse_str_into(text, &mut message)?;
    Ok(message)
}

/// As [`parse_str`], into a message whose content is replaced; see [`parse_into`].
///
/// # Errors
/// Those of [`parse`].
#[inline(always)]
pub fn parse_str_into<'a>(text: &'a str, message: &mut Message<'a>) -> Result<(), DecodeError> {
    let bytes = without_line_ends_in_front(text.as_bytes())?;
    *message = Message::new(bytes);
    // Line ends are ASCII: what follows them starts with a character.
    fill(message, text.get(text.len().saturating_sub(bytes.len())..))
}

/// Fills a message in whose bytes start with the start line; `text` is the same as text where that
/// is known.
#[inline(never)]
fn fill<'a>(message: &mut Message<'a>, text: Option<&'a str>) -> Result<(), DecodeError> {
    simd::run(Fill { message, text })
}

struct Fill<'m, 'a> {
    message: &'m mut Message<'a>,
    text: Option<&'a str>,
}

impl Op for Fill<'_, '_> {
    type Out = Result<(), DecodeError>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Out {
        let Self { message, text } = self;
        let bytes = message.bytes();
        let mut ends = LineEnds::new(simd, bytes);
        let line = Text::new(bytes).upto(ends.next(simd).unwrap_or(bytes.len()));
        start_line(line, &mut message.start).map_err(|what| DecodeError::new(what, 0))?;
        let head = Head::read(simd, bytes, ends, line.end().wrapping_add(1), &mut message.spans);
        message.take(&head);
        finish(message);
        take_apart(simd, message);
        message.set_text(simd, text);
        Ok(())
    }
}

/// Takes the values apart that nearly every row asks for.
#[inline(always)]
fn take_apart(simd: impl Simd, message: &mut Message<'_>) {
    let (uri, via, from, to, contact) = (
        message.request_uri_text(),
        message.value_text(Known::Via),
        message.value_text(Known::From),
        message.value_text(Known::To),
        message.value_text(Known::Contact),
    );
    message.usual.ruri.find_uri_alone(simd, uri);
    message.usual.via.find(simd, via);
    message.usual.from.find_address(simd, from);
    message.usual.to.find_address(simd, to);
    message.usual.contact.find_address(simd, contact);
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
    /// Walks the header lines from `at` to the empty line and remembers the places of values.
    ///
    /// What is rare takes and gives plain values: nothing here is lent to a function that is not
    /// inlined, so all of it stays in registers.
    #[inline(always)]
    fn read<'a>(
        simd: impl Simd,
        bytes: &'a [u8],
        mut ends: LineEnds<'a>,
        mut at: usize,
        spans: &mut [Span; KNOWN],
    ) -> Self {
        let mut head = Self { end: bytes.len(), body: bytes.len(), ..Self::default() };
        let first = at;
        while at < bytes.len() {
            // The last line, when there is one, has no end.
            let mut end = ends.next(simd).unwrap_or(bytes.len());
            // Nearly every line is a usual header, and a line that is one begins with its name: what
            // else a line may be is asked behind that.
            if let Some((header, span)) = usual_header(bytes, at, end) {
                head.remember(spans, header, span);
                at = end.wrapping_add(1);
                continue;
            }
            match bytes.get(at..) {
                Some([b'\n', ..]) => return Self { end: at, body: at.wrapping_add(1), ..head },
                Some([b'\r', b'\n', ..]) => return Self { end: at, body: at.wrapping_add(2), ..head },
                Some([b' ' | b'\t', ..]) if first < at => {
                    (end, ends) = unfolded_end(bytes, at.wrapping_sub(1));
                    head.folded = true;
                    refold(bytes, at.wrapping_sub(1), end, spans);
                    at = end.wrapping_add(1);
                    continue;
                }
                _ => {}
            }
            // A header ends where the next line does not start with white space (RFC 3261 §7.3.1).
            if matches!(bytes.get(end.wrapping_add(1)), Some(b' ' | b'\t')) {
                (end, ends) = unfolded_end(bytes, end);
                head.folded = true;
            }
            match other_line(bytes, at, end) {
                Line::Header(header, span) => head.remember(spans, header, span),
                Line::Other => {}
                Line::Bad => head.problems |= Problems::BAD_HEADER_LINE,
            }
            at = end.wrapping_add(1);
        }
        head.problems |= Problems::NO_END_OF_HEAD;
        head
    }

    /// Remembers the place of a value when it is the first of its header.
    #[inline(always)]
    fn remember(&mut self, spans: &mut [Span; KNOWN], header: Known, span: Span) {
        match spans.get_mut(header as usize) {
            Some(first) if first.is_unset() => *first = span,
            _ if SINGLE & bit(header) != 0 => self.problems |= Problems::DUPLICATE_HEADER,
            _ => {}
        }
    }
}

/// Lengthens the value of a usual header, whose line ends at `line_end`, by its continuation lines up
/// to `end`.
#[cold]
fn refold(bytes: &[u8], line_end: usize, end: usize, spans: &mut [Span; KNOWN]) {
    let before = bytes.get(..line_end).unwrap_or_default();
    let at = memchr::memrchr(b'\n', before).map_or(0, |end| end.wrapping_add(1));
    if let Line::Header(header, span) = other_line(bytes, at, end)
        && let Some(place) = spans.get_mut(header as usize)
        && place.starts_with(span)
    {
        *place = span;
    }
}

/// What a header line is.
enum Line {
    /// A known header.
    Header(Known, Span),
    /// Another header.
    Other,
    /// It has no colon, or no name.
    Bad,
}

/// A known header that is written as nearly all are: its name within 16 bytes, the colon right behind
/// it, one space, and CR LF right behind the value.
#[inline(always)]
fn usual_header(bytes: &[u8], at: usize, end: usize) -> Option<(Known, Span)> {
    // The name is compared as a whole, however short the line is.
    let lanes = bytes.get(at..at.wrapping_add(LANES))?.first_chunk::<LANES>()?;
    // One bit behind the last, so that there always is one.
    let len = (equal(*lanes, [b':']) | 1 << LANES).trailing_zeros() as usize;
    let header = known(lanes, len)?;
    // From the space to the CR; a known name has no line end in it, so its colon is within the line.
    let colon = at.wrapping_add(len);
    let value = bytes.get(colon.wrapping_add(1)..end)?;
    if value.len() < 3 {
        return None;
    }
    // A value of one byte is its first and its last.
    match (value, value) {
        ([b' ', first, ..], [.., last, b'\r']) if *first > b' ' && *last > b' ' => {
            Some((header, Span::new(colon.wrapping_add(2), value.len().wrapping_sub(2))))
        }
        _ => None,
    }
}

/// A line of any form.
#[inline(never)]
fn other_line(bytes: &[u8], at: usize, end: usize) -> Line {
    let line = Text::within(bytes, at, end);
    let colon = line.find_or_end([b':']);
    let name = line.upto(colon).trim_end().get();
    if name.is_empty() || colon == line.end() {
        return Line::Bad;
    }
    match known_name(name) {
        Some(header) => Line::Header(header, Span::of(line.from(colon.wrapping_add(1)).trim())),
        None => Line::Other,
    }
}

/// What can be said only once every header is known.
#[inline(always)]
fn finish(message: &mut Message<'_>) {
    for (header, problem) in REQUIRED {
        if message.span(header).is_empty() {
            message.problems |= problem;
        }
    }
    let value = message.value_text(Known::CSeq);
    if !value.is_empty() {
        let request = message.request_text();
        match cseq(value, request) {
            Some(cseq) => {
                if !cseq.is_of_request && !request.is_empty() {
                    message.problems |= Problems::METHOD_MISMATCH;
                }
                message.set_cseq(cseq.number, cseq.method);
            }
            None => message.problems |= Problems::BAD_CSEQ,
        }
    }
    let value = message.value_text(Known::ContentLength);
    if !value.is_empty() {
        match digits(value.get()) {
            Some(announced) if u64::from(announced) == message.body().len() as u64 => {}
            Some(_) => message.problems |= Problems::CONTENT_LENGTH_MISMATCH,
            None => message.problems |= Problems::BAD_CONTENT_LENGTH,
        }
    }
}
