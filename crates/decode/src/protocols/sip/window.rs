//! The usual address in one look: `Name <sip:user@host:port;params>`.
//!
//! Nearly every address has its structure in its first 64 bytes and is of this form. Those bytes are
//! compared once, the characters that structure an address become bits of one word, and the parts
//! fall out of counting bits. Whatever is not of this form is left to the general way, which finds
//! the same parts; a test compares the two.

use super::{
    addr::{AddrParts, tag},
    uri::UriParts,
};
use crate::{
    lanes::{LANES, between, equal},
    text::{Part, Text},
};

/// Bytes in view.
const WINDOW: usize = 64;

/// The characters `:;<=>?@` in a window, walked from left to right.
#[derive(Clone, Copy)]
struct Marks<'a> {
    window: &'a [u8; WINDOW],
    bits: u64,
}

impl Marks<'_> {
    /// Position and character of the next mark; `WINDOW` and NUL when there is none.
    #[inline(always)]
    fn next(&mut self) -> (usize, u8) {
        let at = self.bits.trailing_zeros() as usize;
        self.bits &= self.bits.wrapping_sub(1);
        (at, if at < WINDOW { self.at(at) } else { 0 })
    }

    /// The byte at a position below `WINDOW`.
    #[inline(always)]
    fn at(&self, at: usize) -> u8 {
        self.window.get(at & (WINDOW - 1)).copied().unwrap_or(0)
    }
}

/// The parts of a usual address; `None` for any other.
#[inline(always)]
pub(super) fn name_addr(value: Text<'_>) -> Option<AddrParts> {
    let mut marks = marks(value)?;
    let mut quoted = None;
    if value.starts_with(b'"') {
        let quote = quotes(marks.window).trailing_zeros() as usize;
        // A backslash, or no second quote in view.
        if quote >= WINDOW || marks.at(quote) != b'"' {
            return None;
        }
        marks.bits &= !below(quote);
        quoted = Some(Part::new(value.skip(1).at(), value.skip(quote).at()));
    }
    let (open, b'<') = marks.next() else { return None };
    let display = match quoted {
        Some(quoted) => quoted,
        // One space between name and bracket, or none.
        None => {
            let spaces = usize::from(open > 0 && marks.at(open.wrapping_sub(1)) == b' ');
            let end = open.wrapping_sub(spaces);
            if open > 0 && marks.at(end.wrapping_sub(1)) <= b' ' {
                return None;
            }
            Part::new(value.at(), value.skip(end).at())
        }
    };
    let (uri, close) = uri(&mut marks, value.at(), open.wrapping_add(1), WINDOW, b'>')?;
    // Marks behind the value are none; those before the last are within it, too.
    if close >= value.len() {
        return None;
    }
    let params = value.skip(close.wrapping_add(1));
    Some(AddrParts { display, uri, params: Part::of(params), tag: tag(params) })
}

/// The parts of a usual URI that is the whole of `text`; `None` for any other.
#[inline(always)]
pub(super) fn whole_uri(text: Text<'_>) -> Option<UriParts> {
    // Not shorter than its scheme, which is compared without a look at the end.
    if text.len() >= WINDOW || text.len() < 4 {
        return None;
    }
    let mut marks = marks(text)?;
    marks.bits &= below(text.len());
    Some(uri(&mut marks, text.at(), 0, text.len(), 0)?.0)
}

/// `sip:[user@]host[…]` from `start` of the window to `close`, which is NUL when `end` closes it,
/// and where that is. The window begins at `base` of the message.
#[inline(always)]
fn uri(marks: &mut Marks<'_>, base: usize, start: usize, end: usize, close: u8) -> Option<(UriParts, usize)> {
    let scheme = u32::from_le_bytes(*marks.window.get(start..)?.first_chunk()?);
    // Three letters in any case and a colon, which is the next mark.
    if scheme & !0x20_20_20 != u32::from_le_bytes(*b"SIP:") {
        return None;
    }
    let colon = start.wrapping_add(3);
    marks.bits &= marks.bits.wrapping_sub(1);
    let mut host = colon.wrapping_add(1);
    let mut user = (host, host);
    let mut stop = marks.next();
    if stop.1 == b'@' {
        user.1 = stop.0;
        host = stop.0.wrapping_add(1);
        stop = marks.next();
    } else if stop.1 == b':' {
        // A password, or a port without a user.
        return None;
    }
    // An IPv6 address has colons of its own, and `=` stands in parameters only.
    if marks.at(host) == b'[' || stop.1 == b'=' {
        return None;
    }
    let host_end = stop.0.min(end);
    while stop.1 != close {
        // A second `@` in view, or a mark that no URI has here.
        if matches!(stop.1, 0 | b'@' | b'<' | b'>') {
            return None;
        }
        stop = marks.next();
    }
    let close = stop.0.min(end);
    // White space has no place here; trimming it is the general way's.
    let tight = |at: usize| marks.at(at.wrapping_sub(1)) > b' ';
    if !tight(host_end) || !tight(close) {
        return None;
    }
    let part = |from: usize, to: usize| Part::new(base.wrapping_add(from), base.wrapping_add(to));
    let parts = UriParts {
        raw: part(start, close),
        scheme: part(start, colon),
        user: part(user.0, user.1),
        password: Part::default(),
        host: part(host, host_end),
        tail: part(host_end, close),
    };
    Some((parts, close))
}

/// Looks at the first 64 bytes of `text`, and of what follows where it is shorter.
#[inline(always)]
fn marks(text: Text<'_>) -> Option<Marks<'_>> {
    let window = text.peek::<WINDOW>()?;
    let mut bits = 0u64;
    for lanes in window.as_chunks::<LANES>().0.iter().rev() {
        // The seven characters are neighbours.
        bits = bits << LANES | u64::from(between(*lanes, b':', b'@'));
    }
    Some(Marks { window, bits })
}

/// Quotes and backslashes but for the first byte.
#[inline(always)]
fn quotes(window: &[u8; WINDOW]) -> u64 {
    let mut bits = 0u64;
    for lanes in window.as_chunks::<LANES>().0.iter().rev() {
        bits = bits << LANES | u64::from(equal(*lanes, [b'"', b'\\']));
    }
    bits & !1
}

/// The lowest `n` bits, `n` below 64.
#[allow(clippy::cast_possible_truncation, reason = "below 64")]
#[inline(always)]
const fn below(n: usize) -> u64 {
    1u64.wrapping_shl((n & (WINDOW - 1)) as u32).wrapping_sub(1)
}
