//! Comparing many bytes at once, with the widest vectors that the CPU has.
//!
//! In: bytes. Out: a bit for each of them, and text that need not be looked at again. Owned and lost:
//! nothing. Bounded by: what is given; [`BLOCK`] bytes at a time.
//!
//! A decoder is written once, as an [`Op`] over any [`Simd`], and [`run`] takes it through code that is
//! compiled for AVX2 and BMI where the CPU has both, else for what every CPU of the target has. The
//! choice is made once for a whole message: a function that is compiled for AVX2 cannot become part of
//! one that is not, so that a choice per comparison would cost a call each.
//!
//! This crate is one of the few that may use `unsafe`; every use states why it is sound.
#![warn(missing_docs)]

mod ascii;
#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;

pub use ascii::Ascii;
#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
pub use portable::{Portable, is_like};

/// Bytes in a block: one for each bit of a word.
pub const BLOCK: usize = 64;

/// A way to compare the bytes of a block. The value is the proof that the CPU knows the way.
pub trait Simd: Copy {
    /// A block in registers.
    type Block: Copy;

    /// Takes a block from memory.
    fn load(self, bytes: &[u8; BLOCK]) -> Self::Block;

    /// A bit for each byte that is `byte`, the lowest for the first.
    fn equal(self, block: Self::Block, byte: u8) -> u64;

    /// A bit for each byte from `low` to `high`, which is not below `low`.
    fn between(self, block: Self::Block, low: u8, high: u8) -> u64;

    /// Whether `block` has no byte of 0x80 or more.
    fn is_ascii(self, block: Self::Block) -> bool;

    /// The bytes of one block or of the other: ASCII when both blocks are.
    fn either(self, a: Self::Block, b: Self::Block) -> Self::Block;
}

/// Work that is the same in every way of comparing.
pub trait Op {
    /// What comes of it.
    type Out;

    /// Does the work. To become part of the code that is compiled for the CPU, this and what it calls
    /// must be `#[inline(always)]`.
    fn run<S: Simd>(self, simd: S) -> Self::Out;
}

/// Does the work in the best way that the CPU has.
#[inline(always)]
pub fn run<O: Op>(op: O) -> O::Out {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Avx2::new() {
        return avx2.run(op);
    }
    op.run(Portable)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that a way of comparing finds in a block.
    struct Everything<'a>(&'a [u8; BLOCK], u8, u8);

    impl Op for Everything<'_> {
        type Out = (u64, u64, bool);

        fn run<S: Simd>(self, simd: S) -> Self::Out {
            let block = simd.load(self.0);
            let empty = simd.load(&[0; BLOCK]);
            assert_eq!(simd.is_ascii(simd.either(block, empty)), simd.is_ascii(block));
            assert_eq!(simd.is_ascii(simd.either(empty, block)), simd.is_ascii(block));
            (simd.equal(block, self.1), simd.between(block, self.1, self.2), simd.is_ascii(block))
        }
    }

    fn plain(bytes: &[u8; BLOCK], low: u8, high: u8) -> (u64, u64, bool) {
        let bits = |is: &dyn Fn(u8) -> bool| (0..BLOCK).map(|at| u64::from(is(bytes[at])) << at).sum();
        (bits(&|byte| byte == low), bits(&|byte| (low..=high).contains(&byte)), bytes.is_ascii())
    }

    #[test]
    fn every_way_agrees_with_a_plain_one() {
        let (mut seed, rounds) = (1u64, if cfg!(miri) { 50 } else { 20_000 });
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as u8
        };
        for round in 0..rounds {
            // Now all values, now few of them, so that bytes meet what they are compared with.
            let most = [255, 127, 3][round % 3];
            let mut bytes = [0; BLOCK];
            bytes.fill_with(|| random() & most);
            bytes[round % BLOCK] = random();
            let (a, b) = (random() & most, random() & most);
            for (low, high) in [(a.min(b), a.max(b)), (0, a), (a, 255), (a, a)] {
                let expected = plain(&bytes, low, high);
                let everything = || Everything(&bytes, low, high);
                assert_eq!(everything().run(Portable), expected);
                assert_eq!(run(everything()), expected);
            }
        }
    }
}
