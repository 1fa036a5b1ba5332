//! Sixteen bytes at a time.

use wide::u8x16;

/// Bytes compared at a time.
pub(crate) const LANES: usize = 16;

/// A bit for each of the bytes that equals one of `needles`, the lowest for the first byte.
#[inline(always)]
pub(crate) fn equal<const N: usize>(lanes: [u8; LANES], needles: [u8; N]) -> u32 {
    let lanes = u8x16::from(lanes);
    let mut hits = u8x16::ZERO;
    for needle in needles {
        hits |= lanes.simd_eq(u8x16::splat(needle));
    }
    hits.to_bitmask()
}

/// Fewer than [`LANES`] bytes, filled up with NUL.
#[inline(never)]
pub(crate) fn padded(bytes: &[u8]) -> [u8; LANES] {
    let mut lanes = [0; LANES];
    for (lane, byte) in lanes.iter_mut().zip(bytes) {
        *lane = *byte;
    }
    lanes
}
