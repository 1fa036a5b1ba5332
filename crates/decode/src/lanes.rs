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

/// The same for the bytes from `low` to `high`.
#[inline(always)]
pub(crate) fn between(lanes: [u8; LANES], low: u8, high: u8) -> u32 {
    let lanes = u8x16::from(lanes);
    lanes.max(u8x16::splat(low)).min(u8x16::splat(high)).simd_eq(lanes).to_bitmask()
}

/// How many bytes from the first on are the same in both.
#[inline(always)]
pub(crate) fn common(a: [u8; LANES], b: [u8; LANES]) -> u32 {
    u8x16::from(a).simd_eq(u8x16::from(b)).to_bitmask().trailing_ones()
}

/// Whether all bytes are those of `form`, in which the bits of `any` are set and do not count.
#[inline(always)]
pub(crate) fn is_like(lanes: [u8; LANES], any: [u8; LANES], form: [u8; LANES]) -> bool {
    let lanes = u8x16::from(lanes) | u8x16::from(any);
    lanes.simd_eq(u8x16::from(form)).to_bitmask() == 0xffff
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
