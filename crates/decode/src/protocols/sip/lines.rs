//! Where lines end.

use crate::lanes::{LANES, equal, padded};
use simd::{BLOCK, Portable, Simd};

/// The positions of the LFs of a text, in order. It compares 64 bytes at a time and keeps the hits,
/// so each byte is compared once however short the lines are.
#[derive(Clone, Debug)]
pub(super) struct LineEnds<'a> {
    bytes: &'a [u8],
    /// Where the bytes of `hits` begin: those of a block, or what follows the last whole one.
    base: usize,
    hits: u64,
}

impl<'a> LineEnds<'a> {
    #[inline(always)]
    pub(super) fn new(simd: impl Simd, bytes: &'a [u8]) -> Self {
        Self { bytes, base: 0, hits: hits_at(simd, bytes, 0) }
    }

    /// Those behind position `at`.
    pub(super) fn behind(bytes: &'a [u8], at: usize) -> Self {
        let base = at & !(BLOCK - 1);
        // Two shifts, because one by all 64 bits is none.
        let behind = (u64::MAX << (at & (BLOCK - 1))) << 1;
        Self { bytes, base, hits: hits_at(Portable, bytes, base) & behind }
    }

    /// The next one; `None` when there is none, and then ever after.
    #[inline(always)]
    pub(super) fn next(&mut self, simd: impl Simd) -> Option<usize> {
        while self.hits == 0 {
            if self.base >= self.bytes.len() {
                return None;
            }
            self.base = self.base.wrapping_add(BLOCK);
            self.hits = hits_at(simd, self.bytes, self.base);
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
        end = ends.next(Portable).unwrap_or(head.len());
    }
    (end, ends)
}

/// The hits in the block at `base`, a multiple of its size.
#[inline(always)]
fn hits_at(simd: impl Simd, bytes: &[u8], base: usize) -> u64 {
    match bytes.as_chunks().0.get(base / BLOCK) {
        Some(block) => simd.equal(simd.load(block), b'\n'),
        None => tail_hits(bytes, base),
    }
}

/// The hits from `base` on, where no whole block is left.
#[inline(never)]
fn tail_hits(bytes: &[u8], base: usize) -> u64 {
    let (lanes, rest) = bytes.get(base..).unwrap_or_default().as_chunks::<LANES>();
    // NUL is no line end: padding makes no hit.
    let mut hits = u64::from(equal(padded(rest), [b'\n']));
    for lanes in lanes.iter().rev() {
        hits = hits << LANES | u64::from(equal(*lanes, [b'\n']));
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    struct All<'a>(LineEnds<'a>);

    impl simd::Op for All<'_> {
        type Out = Vec<usize>;

        fn run<S: Simd>(mut self, simd: S) -> Vec<usize> {
            let all = core::iter::from_fn(|| self.0.next(simd)).collect();
            assert_eq!(self.0.next(simd), None);
            all
        }
    }

    struct New<'a>(&'a [u8]);

    impl simd::Op for New<'_> {
        type Out = Vec<usize>;

        fn run<S: Simd>(self, simd: S) -> Vec<usize> {
            simd::Op::run(All(LineEnds::new(simd, self.0)), simd)
        }
    }

    #[test]
    fn every_line_end_once() {
        use simd::Op;
        for len in 0..200usize {
            for pattern in 0..64u64 {
                let bytes: Vec<u8> =
                    (0..len).map(|i| if pattern >> (i % 6) & 1 == 1 { b'\n' } else { 11 }).collect();
                let expected: Vec<usize> = (0..len).filter(|i| bytes[*i] == b'\n').collect();
                assert_eq!(New(&bytes).run(Portable), expected);
                assert_eq!(simd::run(New(&bytes)), expected);
                let behind: Vec<usize> = expected.into_iter().filter(|at| *at > len / 2).collect();
                assert_eq!(simd::run(All(LineEnds::behind(&bytes, len / 2))), behind);
            }
        }
    }
}
