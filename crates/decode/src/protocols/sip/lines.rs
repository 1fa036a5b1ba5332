//! Where lines end.

use crate::lanes::{LANES, equal, padded};

/// Bytes compared per step: a bit of a 64-bit word for each.
const STEP: usize = 4 * LANES;

/// The positions of the LFs of a text, in order. It compares 64 bytes at a time and keeps the hits,
/// so each byte is compared once however short the lines are.
#[derive(Clone, Debug)]
pub(super) struct LineEnds<'a> {
    bytes: &'a [u8],
    /// Where the bytes of `hits` begin.
    base: usize,
    hits: u64,
}

impl<'a> LineEnds<'a> {
    #[inline(always)]
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, base: 0, hits: hits_at(bytes, 0) }
    }

    /// Those behind position `at`.
    pub(super) fn behind(bytes: &'a [u8], at: usize) -> Self {
        let base = at & !(STEP - 1);
        // Two shifts, because one by all 64 bits is none.
        let behind = (u64::MAX << (at & (STEP - 1))) << 1;
        Self { bytes, base, hits: hits_at(bytes, base) & behind }
    }
}

impl Iterator for LineEnds<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.hits == 0 {
            let base = self.base.wrapping_add(STEP);
            if base >= self.bytes.len() {
                return None;
            }
            self.base = base;
            self.hits = hits_at(self.bytes, base);
        }
        let at = self.base.wrapping_add(self.hits.trailing_zeros() as usize);
        self.hits &= self.hits.wrapping_sub(1);
        Some(at)
    }
}

/// Where the header whose first line ends at `end` ends, and the line ends behind it.
#[cold]
pub(super) fn unfolded_end(head: &[u8], mut end: usize) -> (usize, LineEnds<'_>) {
    let mut ends = LineEnds::behind(head, end);
    while let Some(b' ' | b'\t') = head.get(end.wrapping_add(1)) {
        end = ends.next().unwrap_or(head.len());
    }
    (end, ends)
}

#[inline(always)]
fn hits_at(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or(&[]);
    match rest.first_chunk::<STEP>() {
        Some(step) => hits(step),
        None => tail_hits(bytes, rest.len()),
    }
}

#[inline(always)]
fn hits(step: &[u8; STEP]) -> u64 {
    let (lanes, _) = step.as_chunks::<LANES>();
    let mut hits = 0u64;
    for lanes in lanes.iter().rev() {
        hits = hits << LANES | u64::from(equal(*lanes, [b'\n']));
    }
    hits
}

/// As [`hits`] for the last bytes of a text, fewer than a step.
#[inline(always)]
fn tail_hits(bytes: &[u8], tail: usize) -> u64 {
    match bytes.last_chunk::<STEP>() {
        // The last step of the text, without what lies before the tail.
        Some(step) if tail > 0 => hits(step) >> (STEP.wrapping_sub(tail) & (STEP - 1)),
        Some(_) => 0,
        None => short_hits(bytes),
    }
}

/// The same for a text that is shorter than a step as a whole.
#[inline(never)]
fn short_hits(tail: &[u8]) -> u64 {
    let (lanes, rest) = tail.as_chunks::<LANES>();
    // NUL is no line end: padding makes no hit.
    let mut hits = u64::from(equal(padded(rest), [b'\n']));
    for lanes in lanes.iter().rev() {
        hits = hits << LANES | u64::from(equal(*lanes, [b'\n']));
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::LineEnds;

    #[test]
    fn every_line_end_once() {
        for len in 0..200usize {
            for pattern in 0..64u64 {
                let bytes: Vec<u8> =
                    (0..len).map(|i| if pattern >> (i % 6) & 1 == 1 { b'\n' } else { 11 }).collect();
                let expected: Vec<usize> = (0..len).filter(|i| bytes[*i] == b'\n').collect();
                assert_eq!(LineEnds::new(&bytes).collect::<Vec<_>>(), expected);
                let mut ends = LineEnds::new(&bytes);
                while ends.next().is_some() {}
                assert_eq!(ends.next(), None);
                let behind = expected.iter().copied().filter(|at| *at > len / 2);
                assert!(LineEnds::behind(&bytes, len / 2).eq(behind));
            }
        }
    }
}
