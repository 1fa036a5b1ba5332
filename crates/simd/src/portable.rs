//! Sixteen bytes at a time: what every CPU of a target with vectors has, and plain words elsewhere.

use wide::u8x16;

use crate::{BLOCK, Simd};

const LANES: usize = 16;

/// The way of any CPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portable;

impl Simd for Portable {
    type Block = [u8x16; BLOCK / LANES];

    #[inline(always)]
    fn load(self, bytes: &[u8; BLOCK]) -> Self::Block {
        let mut block = [u8x16::ZERO; BLOCK / LANES];
        for (part, lanes) in block.iter_mut().zip(bytes.as_chunks::<LANES>().0) {
            *part = u8x16::from(*lanes);
        }
        block
    }

    #[inline(always)]
    fn equal(self, block: Self::Block, byte: u8) -> u64 {
        bits(block, |lanes| lanes.simd_eq(u8x16::splat(byte)))
    }

    #[inline(always)]
    fn between(self, block: Self::Block, low: u8, high: u8) -> u64 {
        let (low, high) = (u8x16::splat(low), u8x16::splat(high));
        bits(block, |lanes| lanes.max(low).min(high).simd_eq(lanes))
    }

    #[inline(always)]
    fn is_ascii(self, block: Self::Block) -> bool {
        let [a, b, c, d] = block;
        // The mask takes the highest bit of each byte.
        ((a | b) | (c | d)).to_bitmask() == 0
    }

    #[inline(always)]
    fn either(self, a: Self::Block, b: Self::Block) -> Self::Block {
        let mut both = a;
        for (lanes, other) in both.iter_mut().zip(b) {
            *lanes |= other;
        }
        both
    }
}

#[inline(always)]
fn bits(block: [u8x16; BLOCK / LANES], hits: impl Fn(u8x16) -> u8x16) -> u64 {
    let mut bits = 0u64;
    for lanes in block.into_iter().rev() {
        bits = bits << LANES | u64::from(hits(lanes).to_bitmask());
    }
    bits
}

/// Whether all bytes are those of `form` in the bits that are set in `mask`. Arrays of 16 bytes at least
/// are compared as vectors.
#[inline(always)]
pub fn is_like<const N: usize>(bytes: &[u8; N], form: &[u8; N], mask: &[u8; N]) -> bool {
    let wrong = |bytes: &[u8; LANES], form: &[u8; LANES], mask: &[u8; LANES]| {
        (u8x16::from(*bytes) ^ u8x16::from(*form)) & u8x16::from(*mask)
    };
    // What does not fill a vector is part of the last one.
    let (Some(a), Some(b), Some(c)) = (bytes.last_chunk(), form.last_chunk(), mask.last_chunk()) else {
        return bytes.iter().zip(form).zip(mask).all(|((byte, form), mask)| (byte ^ form) & mask == 0);
    };
    let mut all = wrong(a, b, c);
    let lanes = bytes.as_chunks().0.iter().zip(form.as_chunks().0).zip(mask.as_chunks().0);
    for ((bytes, form), mask) in lanes {
        all |= wrong(bytes, form, mask);
    }
    all == u8x16::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_bit_counts<const N: usize>() {
        let form: [u8; N] = core::array::from_fn(|at| at as u8);
        for at in 0..N {
            for bit in 0..8 {
                let mut bytes = form;
                bytes[at] ^= 1 << bit;
                assert!(!is_like(&bytes, &form, &[0xff; N]));
                let mut mask = [0xff; N];
                mask[at] = !(1 << bit);
                assert!(is_like(&bytes, &form, &mask));
            }
        }
        assert!(is_like(&form, &form, &[0xff; N]));
    }

    #[test]
    fn every_bit_of_a_form_counts() {
        every_bit_counts::<7>();
        every_bit_counts::<16>();
        every_bit_counts::<87>();
    }
}
