//! A message: its bytes and where in them things are.

use super::{names::KNOWN, parse::Head, problems::Problems, via::UsualVia, window::Usual};
use crate::text::Text;
use simd::{Ascii, Simd};

/// A range of the message. Positions survive when the buffer moves, and are half of a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    at: u32,
    len: u32,
}

impl Span {
    #[inline(always)]
    pub(super) const fn new(at: usize, len: usize) -> Self {
        Self { at: narrow(at), len: narrow(len) }
    }

    /// Whether it is the default: no value is at position 0, where the start line is.
    #[inline(always)]
    pub(super) const fn is_unset(self) -> bool {
        self.at == 0
    }

    /// Whether both begin at the same place.
    pub(super) const fn starts_with(self, other: Self) -> bool {
        self.at == other.at
    }

    #[inline(always)]
    pub(super) const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The place of `part` in its message.
    #[inline(always)]
    pub(super) const fn of(part: Text<'_>) -> Self {
        Self { at: narrow(part.at()), len: narrow(part.len()) }
    }

    #[inline(always)]
    pub(super) fn text(self, whole: &[u8]) -> Text<'_> {
        let at = self.at as usize;
        Text::within(whole, at, at.wrapping_add(self.len as usize))
    }

    #[inline(always)]
    pub(super) fn get(self, whole: &[u8]) -> Option<&[u8]> {
        self.text(whole).some()
    }
}

/// A position in 32 bits. A message is shorter than 4 GiB, which [`parse`](super::parse) checks
/// first, so no bit is lost.
#[allow(clippy::cast_possible_truncation, reason = "the length of the message is checked")]
#[inline(always)]
const fn narrow(at: usize) -> u32 {
    at as u32
}

/// A start line taken apart.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StartLine {
    pub is_request: bool,
    /// Status code of a response; 0 when it is none of SIP's.
    pub code: u16,
    /// Method of a request.
    pub method: Span,
    /// Request-URI, or reason phrase.
    pub rest: Span,
    pub problems: Problems,
}

/// The places within the values that nearly every row has taken apart, where these are usual ones.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    pub via: UsualVia,
    pub ruri: Usual,
    pub from: Usual,
    pub to: Usual,
    pub contact: Usual,
}

/// The CSeq header: sequence number and method (RFC 3261 §20.16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CSeq<'a> {
    /// Sequence number.
    pub number: u32,
    /// Method, as written.
    pub method: &'a [u8],
}

/// One SIP message, borrowing from the bytes given to [`parse`](super::parse).
///
/// Values are those of the first header of that name, without white space around them, as they
/// stand on the wire: folds are still inside ([`unfold`](super::unfold) flattens them). An empty
/// value reads as absent.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    bytes: &'a [u8],
    /// The head where it is ASCII, else nothing.
    ascii: Ascii<'a>,
    /// The head where it is other text.
    text: Option<&'a str>,
    pub(super) start: StartLine,
    pub(super) spans: [Span; KNOWN],
    pub(super) usual: Taken,
    pub(super) cseq: Option<u32>,
    pub(super) cseq_method: Span,
    head_end: u32,
    body_at: u32,
    folded: bool,
    pub(super) problems: Problems,
}

/// A response without anything in it, to be [filled](super::parse_into).
impl Default for Message<'_> {
    #[inline(always)]
    fn default() -> Self {
        Self::new(&[])
    }
}

impl<'a> Message<'a> {
    #[inline(always)]
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            ascii: Ascii::default(),
            text: None,
            start: StartLine::default(),
            spans: [Span::default(); KNOWN],
            usual: Taken::default(),
            cseq: None,
            cseq_method: Span::default(),
            head_end: 0,
            body_at: 0,
            folded: false,
            problems: Problems::NONE,
        }
    }

    #[inline(always)]
    pub(super) const fn set_cseq(&mut self, number: u32, method: Text<'_>) {
        self.cseq = Some(number);
        self.cseq_method = Span::of(method);
    }

    #[inline(always)]
    pub(super) fn take(&mut self, head: &Head) {
        self.head_end = narrow(head.end);
        self.body_at = narrow(head.body);
        self.folded = head.folded;
        self.problems = self.start.problems | head.problems;
    }

    /// Keeps the text of the head: that of the message where it is given, else the head itself when
    /// it is valid.
    #[inline(always)]
    pub(super) fn set_text(&mut self, simd: impl Simd, message: Option<&'a str>) {
        match Ascii::new(simd, self.head()) {
            Some(ascii) => self.ascii = ascii,
            None => self.set_other_text(message),
        }
    }

    #[cold]
    fn set_other_text(&mut self, message: Option<&'a str>) {
        let head = self.head();
        self.text = match message {
            Some(message) => message.get(..head.len()),
            None => simdutf8::basic::from_utf8(head).ok(),
        };
        if self.text.is_none() {
            self.problems |= Problems::NOT_UTF8;
        }
    }

    /// The message from its start line on, without line ends that came before it.
    #[inline]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Start line and headers, without the empty line.
    #[inline]
    pub fn head(&self) -> &'a [u8] {
        self.bytes.get(..self.head_end as usize).unwrap_or(self.bytes)
    }

    /// All that follows the empty line, whatever Content-Length says.
    #[inline]
    pub fn body(&self) -> &'a [u8] {
        self.bytes.get(self.body_at as usize..).unwrap_or(&[])
    }

    /// What is odd about the message.
    #[inline]
    pub const fn problems(&self) -> Problems {
        self.problems
    }

    /// Whether a header value may have a fold inside: without one no value has a line end in it.
    #[inline]
    pub const fn has_folds(&self) -> bool {
        self.folded
    }

    /// Whether start line and headers are valid UTF-8.
    #[inline]
    pub const fn head_is_utf8(&self) -> bool {
        !self.problems.contains(Problems::NOT_UTF8)
    }

    /// `part`, a slice of the head, as text, without looking at its bytes again.
    ///
    /// `None` when the head is not valid UTF-8, when `part` is not within the head, or when it
    /// begins or ends within a character.
    #[inline(always)]
    pub fn text(&self, part: &[u8]) -> Option<&'a str> {
        // The text starts where the message does. Of the two, the message's address is the one that a
        // part was made from, so that the compiler finds the position again without computing it.
        let at = part.as_ptr().addr().wrapping_sub(self.bytes.as_ptr().addr());
        match self.ascii.get(at, part.len()) {
            Some(text) => Some(text),
            None => self.other_text(at, part.len()),
        }
    }

    #[cold]
    fn other_text(&self, at: usize, len: usize) -> Option<&'a str> {
        self.text?.get(at..at.checked_add(len)?)
    }
}
