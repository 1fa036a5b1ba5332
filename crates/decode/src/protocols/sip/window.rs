//! The usual address in one look: `Name <sip:user@host:port;params>`.
//!
//! Nearly every address has its structure in its first 64 bytes and is of this form. Those bytes are
//! compared once, the characters that structure an address become bits of one word, and the parts
//! fall out of counting bits. Whatever is not of this form is left to the general way, which finds
//! the same parts; a test compares the two.

use wide::u8x16;

use crate::{
    lanes::{LANES, equal},
    text::Text,
};

/// Bytes in view.
const WINDOW: usize = 64;

/// Where the parts of a usual URI are, counted from the start of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// The display name, without its quotes; of a URI alone, nothing.
    pub display: (usize, usize),
    /// Where the URI starts.
    pub uri: usize,
    /// The user part, empty when there is none.
    pub user: (usize, usize),
    /// The host.
    pub host: (usize, usize),
    /// Where the URI ends, at its `>` or the end of the text.
    pub close: usize,
}

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
pub(super) fn name_addr(value: Text<'_>) -> Option<Places> {
    let mut marks = marks(value)?;
    let mut display = None;
    if marks.at(0) == b'"' {
        let quote = quotes(marks.window).trailing_zeros() as usize;
        // A backslash, or no second quote in view.
        if quote >= WINDOW || marks.at(quote) != b'"' {
            return None;
        }
        marks.bits &= !below(quote);
        display = Some((1, quote));
    }
    let (open, b'<') = marks.next() else { return None };
    let display = display.unwrap_or_else(|| (0, value.upto(value.skip(open).at()).trim_end().len()));
    Some(Places { display, ..uri(&mut marks, open.wrapping_add(1), WINDOW, b'>')? })
}

/// The parts of a usual URI that is the whole of `text`; `None` for any other.
#[inline(always)]
pub(super) fn whole_uri(text: Text<'_>) -> Option<Places> {
    if text.len() >= WINDOW {
        return None;
    }
    uri(&mut marks(text)?, 0, text.len(), 0)
}

/// `sip:[user@]host[…]` from `start` to `close`, which is NUL when the end of the text closes it.
#[inline(always)]
fn uri(marks: &mut Marks<'_>, start: usize, end: usize, close: u8) -> Option<Places> {
    let (colon, b':') = marks.next() else { return None };
    let letter = |i: usize| marks.at(start.wrapping_add(i)) | 0x20;
    let is_sip = letter(0) == b's' && letter(1) == b'i' && letter(2) == b'p';
    if colon != start.wrapping_add(3) || !is_sip {
        return None;
    }
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
    Some(Places { display: (0, 0), uri: start, user, host: (host, host_end), close })
}

/// Looks at the first 64 bytes of `text`, and of what follows where it is shorter; marks behind its
/// end are none.
#[inline(always)]
fn marks(text: Text<'_>) -> Option<Marks<'_>> {
    let window = text.peek::<WINDOW>()?;
    let mut bits = 0u64;
    for lanes in window.as_chunks::<LANES>().0.iter().rev() {
        // The seven characters from `:` to `@` are neighbours.
        let lanes = u8x16::from(*lanes);
        let near = lanes.max(u8x16::splat(b':')).min(u8x16::splat(b'@')).simd_eq(lanes);
        bits = bits << LANES | u64::from(near.to_bitmask());
    }
    let len = text.len();
    if len < WINDOW {
        bits &= below(len);
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
