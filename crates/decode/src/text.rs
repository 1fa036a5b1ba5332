//! Text of which a part is looked at: finds bytes sixteen at a time, also near its end.
//!
//! The pieces of a SIP message are 3 to 60 bytes long. For such a piece a call into a vectorised
//! search, with its choice of the CPU's features and its own care for the end, costs more than the
//! search. So a [`Text`] keeps the bytes that follow it in the message within reach: whole vectors
//! are loaded, and a hit beyond the end is none.

use crate::lanes::{LANES, common, equal};

/// A piece of a message: the bytes from `at` to `end` of `whole`.
///
/// The message itself stays the same in every piece cut from it, so that cutting is arithmetic on
/// two positions. Whatever positions come about, reading is checked: an inverted or overlong piece
/// reads as an empty one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    whole: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Text<'a> {
    /// A piece with nothing around it.
    #[inline(always)]
    pub(crate) const fn new(whole: &'a [u8]) -> Self {
        Self { whole, at: 0, end: whole.len() }
    }

    /// The bytes of `whole` from `at` to `end`.
    #[inline(always)]
    pub(crate) const fn within(whole: &'a [u8], at: usize, end: usize) -> Self {
        Self { whole, at, end }
    }

    /// The message that the piece is cut from.
    #[inline(always)]
    pub(crate) const fn whole(self) -> &'a [u8] {
        self.whole
    }

    /// Where the piece begins in the message.
    #[inline(always)]
    pub(crate) const fn at(self) -> usize {
        self.at
    }

    /// Where the piece ends in the message.
    #[inline(always)]
    pub(crate) const fn end(self) -> usize {
        self.end
    }

    #[inline(always)]
    pub(crate) fn get(self) -> &'a [u8] {
        self.whole.get(self.at..self.end).unwrap_or(&[])
    }

    /// The piece, unless it is empty.
    #[inline(always)]
    pub(crate) fn some(self) -> Option<&'a [u8]> {
        if self.is_empty() { None } else { self.whole.get(self.at..self.end) }
    }

    #[inline(always)]
    pub(crate) const fn len(self) -> usize {
        self.end.saturating_sub(self.at)
    }

    #[inline(always)]
    pub(crate) const fn is_empty(self) -> bool {
        self.at >= self.end
    }

    /// The first `N` bytes of the piece and of what follows it where it is shorter.
    #[inline(always)]
    pub(crate) fn peek<const N: usize>(self) -> Option<&'a [u8; N]> {
        self.whole.get(self.at..self.at.wrapping_add(N))?.first_chunk::<N>()
    }

    #[inline(always)]
    pub(crate) fn first(self) -> Option<u8> {
        if self.is_empty() { None } else { self.whole.get(self.at).copied() }
    }

    #[inline(always)]
    pub(crate) fn last(self) -> Option<u8> {
        if self.is_empty() { None } else { self.whole.get(self.end.wrapping_sub(1)).copied() }
    }

    /// Without its first and its last byte.
    #[inline(always)]
    pub(crate) const fn inner(self) -> Self {
        Self { at: self.at.wrapping_add(1), end: self.end.wrapping_sub(1), ..self }
    }

    #[inline(always)]
    pub(crate) fn starts_with(self, byte: u8) -> bool {
        self.first() == Some(byte)
    }

    /// Without its first `n` bytes; empty when there are fewer.
    #[inline(always)]
    pub(crate) const fn skip(self, n: usize) -> Self {
        self.from(self.at.wrapping_add(n))
    }

    /// From position `at` of the message on.
    #[inline(always)]
    pub(crate) const fn from(self, at: usize) -> Self {
        Self { at, ..self }
    }

    /// Up to position `end` of the message, which is not behind its own end.
    #[inline(always)]
    pub(crate) const fn upto(self, end: usize) -> Self {
        Self { end, ..self }
    }

    /// Position in the message of the first byte that equals one of `needles`.
    #[inline(always)]
    pub(crate) fn find<const N: usize>(self, needles: [u8; N]) -> Option<usize> {
        let at = self.find_or_end(needles);
        if at < self.end { Some(at) } else { None }
    }

    /// The same, or the end when there is none.
    #[inline(always)]
    pub(crate) fn find_or_end<const N: usize>(self, needles: [u8; N]) -> usize {
        let mut at = self.at;
        while at < self.end {
            let Some(lanes) = self.whole.get(at..).and_then(|rest| rest.first_chunk()) else {
                return near_end(self.whole, at, self.end, needles);
            };
            let hits = equal(*lanes, needles);
            if hits != 0 {
                return at.wrapping_add(hits.trailing_zeros() as usize).min(self.end);
            }
            at = at.wrapping_add(LANES);
        }
        self.end
    }

    /// Position of the first `>`, or the end. Nearly always the piece starts with it or is empty.
    #[inline(always)]
    pub(crate) fn find_close(self) -> usize {
        if self.starts_with(b'>') { self.at } else { self.find_or_end([b'>']) }
    }

    /// Splits before the first byte that is one of `needles`: what precedes it, and the rest from
    /// it on, which is empty when none occurs.
    #[inline(always)]
    pub(crate) fn split_before<const N: usize>(self, needles: [u8; N]) -> (Self, Self) {
        let at = self.find_or_end(needles);
        (self.upto(at), self.from(at))
    }

    /// Splits around the first `needle`.
    #[inline(always)]
    pub(crate) fn split_once(self, needle: u8) -> Option<(Self, Self)> {
        let at = self.find([needle])?;
        Some((self.upto(at), self.from(at.wrapping_add(1))))
    }

    /// Without white space in front.
    #[inline(always)]
    pub(crate) fn trim_start(mut self) -> Self {
        // What is not white space stops the loop, so the end matters only behind some.
        while let Some(byte) = self.whole.get(self.at)
            && is_space(*byte)
            && self.at < self.end
        {
            self.at = self.at.wrapping_add(1);
        }
        self
    }

    /// Without white space at the end.
    #[inline(always)]
    pub(crate) fn trim_end(mut self) -> Self {
        while let Some(byte) = self.whole.get(self.end.wrapping_sub(1))
            && is_space(*byte)
            && self.at < self.end
        {
            self.end = self.end.wrapping_sub(1);
        }
        self
    }

    /// Without white space on both sides.
    #[inline(always)]
    pub(crate) fn trim(self) -> Self {
        self.trim_start().trim_end()
    }

    /// Whether both pieces have the same bytes, of which there are few.
    #[inline(always)]
    pub(crate) fn is_same(self, other: Text<'_>) -> bool {
        let len = self.len();
        if len != other.len() {
            return false;
        }
        match (self.peek::<LANES>(), other.peek::<LANES>()) {
            (Some(a), Some(b)) if len <= LANES => common(*a, *b) as usize >= len,
            _ => self.get() == other.get(),
        }
    }

    #[inline(always)]
    pub(crate) fn eq_ignore_case(self, other: &[u8]) -> bool {
        self.len() == other.len() && self.get().eq_ignore_ascii_case(other)
    }
}

/// Where a piece is in its message. What is taken apart is kept like this until it is known which
/// parts are asked for: those that nobody asks for cost nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    at: usize,
    end: usize,
}

impl Part {
    #[inline(always)]
    pub(crate) const fn new(at: usize, end: usize) -> Self {
        Self { at, end }
    }

    #[inline(always)]
    pub(crate) const fn of(text: Text<'_>) -> Self {
        Self { at: text.at, end: text.end }
    }

    #[inline(always)]
    pub(crate) fn get(self, whole: &[u8]) -> &[u8] {
        whole.get(self.at..self.end).unwrap_or(&[])
    }

    /// The piece, unless it is empty.
    #[inline(always)]
    pub(crate) fn some(self, whole: &[u8]) -> Option<&[u8]> {
        if self.at < self.end { whole.get(self.at..self.end) } else { None }
    }
}

/// What [`Text::find_or_end`] finds in the last bytes of a message, fewer than fill the lanes.
#[inline(never)]
fn near_end<const N: usize>(whole: &[u8], at: usize, end: usize, needles: [u8; N]) -> usize {
    let piece = whole.get(at..end).unwrap_or(&[]);
    let hit = piece.iter().position(|byte| needles.contains(byte));
    hit.map_or(end, |hit| at.wrapping_add(hit))
}

/// Whether a value has no white space around it, nor other bytes of that range, and is not empty.
#[inline(always)]
pub(crate) const fn is_trimmed(value: &[u8]) -> bool {
    matches!((value, value), ([first, ..], [.., last]) if *first > b' ' && *last > b' ')
}

/// White space inside a header: SP, HT, and the CR and LF of a fold.
#[inline(always)]
pub(crate) const fn is_space(byte: u8) -> bool {
    // One comparison decides for nearly every byte.
    const SET: u64 = 1 << b' ' | 1 << b'\t' | 1 << b'\r' | 1 << b'\n';
    byte <= b' ' && SET >> byte & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_agrees_with_a_plain_search_and_stays_within_its_piece() {
        let alphabet = [b'\n', b'\n' + 1, b'\n' - 1, b'\n' | 0x80, 0, 0xff];
        let mut seed = 1u32;
        for len in 0..50 {
            for behind in [0, 1, 7, 16, 40] {
                for _ in 0..100 {
                    let whole: Vec<u8> = (0..len + behind)
                        .map(|_| {
                            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                            alphabet[(seed >> 16) as usize % alphabet.len()]
                        })
                        .collect();
                    let text = Text::within(&whole, 0, len);
                    let piece = &whole[..len];
                    assert_eq!(text.get(), piece);
                    for needles in [[b'\n', b'\n'], [0, 0xff], [0xff, b'\n' + 1]] {
                        let plain = piece.iter().position(|b| needles.contains(b));
                        assert_eq!(text.find(needles), plain);
                    }
                    let (before, from) = text.split_before([b'\n']);
                    assert_eq!([before.get(), from.get()].concat(), piece);
                }
            }
        }
    }

    #[test]
    fn pieces_never_grow() {
        let text = Text::within(b"  ab  cd", 0, 6);
        assert_eq!(text.trim().get(), b"ab");
        assert_eq!(text.skip(9).get(), b"");
        assert_eq!((text.first(), text.last()), (Some(b' '), Some(b' ')));
        assert_eq!((text.upto(0).first(), text.upto(0).last()), (None, None));
        for (at, end) in [(3, 1), (1, 3), (9, 9), (usize::MAX, 0), (0, usize::MAX)] {
            let text = Text::within(b"ab", at, end);
            assert_eq!((text.get(), text.last(), text.some()), (&b""[..], None, None));
        }
        assert_eq!(Text::new(b" \t\r\n").trim().some(), None);
    }
}
