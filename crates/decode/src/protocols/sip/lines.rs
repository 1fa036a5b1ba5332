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

#[inline(always)]
fn hits_at(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or(&[]);
    match rest.first_chunk::<STEP>() {
        Some(step) => hits(step),
        None => tail_hits(rest),
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
#[inline(never)]
fn tail_hits(tail: &[u8]) -> u64 {
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
            }
        }
    }
}
