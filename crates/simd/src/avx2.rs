//! Thirty-two bytes at a time, and the bit counting of the CPUs that have them.

use core::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256,
};

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::{BLOCK, Op, Simd};

/// What the CPU said: nothing yet, or one of the two. Whoever asks first and whoever asks at the same
/// time store the same.
static SEEN: AtomicU8 = AtomicU8::new(0);
const LACKS_SOME: u8 = 1;
const HAS_ALL: u8 = 2;

/// The way of a CPU that has AVX2, BMI1, BMI2, LZCNT and POPCNT.
///
/// Invariant: a value exists only where the CPU has all of them.
#[derive(Clone, Copy, Debug)]
pub struct Avx2 {
    _seen: (),
}

impl Avx2 {
    /// `None` when the CPU lacks any of it. It is asked once; then this is a load and a comparison.
    #[inline(always)]
    pub fn new() -> Option<Self> {
        match SEEN.load(Relaxed) {
            HAS_ALL => Some(Self { _seen: () }),
            LACKS_SOME => None,
            _ => Self::ask(),
        }
    }

    #[cold]
    fn ask() -> Option<Self> {
        let has_all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        SEEN.store(if has_all { HAS_ALL } else { LACKS_SOME }, Relaxed);
        has_all.then_some(Self { _seen: () })
    }

    /// Does the work in code that is compiled for this CPU.
    #[inline(always)]
    pub fn run<O: Op>(self, op: O) -> O::Out {
        // SAFETY: the value exists, so the CPU has the features.
        unsafe { compiled(self, op) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn compiled<O: Op>(avx2: Avx2, op: O) -> O::Out {
    op.run(avx2)
}

impl Simd for Avx2 {
    type Block = [__m256i; 2];

    #[inline(always)]
    fn load(self, bytes: &[u8; BLOCK]) -> Self::Block {
        // SAFETY: the value exists, so the CPU has AVX2.
        unsafe { load(bytes) }
    }

    #[inline(always)]
    fn equal(self, block: Self::Block, byte: u8) -> u64 {
        // SAFETY: the value exists, so the CPU has AVX2.
        unsafe { equal(block, byte) }
    }

    #[inline(always)]
    fn between(self, block: Self::Block, low: u8, high: u8) -> u64 {
        // SAFETY: the value exists, so the CPU has AVX2.
        unsafe { between(block, low, high) }
    }

    #[inline(always)]
    fn is_ascii(self, block: Self::Block) -> bool {
        // SAFETY: the value exists, so the CPU has AVX2.
        unsafe { is_ascii(block) }
    }

    #[inline(always)]
    fn either(self, a: Self::Block, b: Self::Block) -> Self::Block {
        // SAFETY: the value exists, so the CPU has AVX2.
        unsafe { either(a, b) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; BLOCK]) -> [__m256i; 2] {
    let [low, high] = bytes.as_chunks::<32>().0 else { return [_mm256_setzero_si256(); 2] };
    // SAFETY: the 32 bytes of an array are read; the load asks for no alignment.
    let low = unsafe { _mm256_loadu_si256(low.as_ptr().cast()) };
    // SAFETY: as above.
    let high = unsafe { _mm256_loadu_si256(high.as_ptr().cast()) };
    [low, high]
}

#[inline]
#[target_feature(enable = "avx2")]
fn equal([low, high]: [__m256i; 2], byte: u8) -> u64 {
    let byte = _mm256_set1_epi8(byte.cast_signed());
    bits([_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte)])
}

#[inline]
#[target_feature(enable = "avx2")]
fn between([low, high]: [__m256i; 2], first: u8, last: u8) -> u64 {
    // Moved so that the first is the least of signed numbers, those up to the last are below one more
    // than it; there is no such number when all of them are meant.
    let Some(past) = last.wrapping_sub(first).wrapping_sub(128).cast_signed().checked_add(1) else {
        return u64::MAX;
    };
    let (moved, past) = (_mm256_set1_epi8(128u8.wrapping_sub(first).cast_signed()), _mm256_set1_epi8(past));
    bits([
        _mm256_cmpgt_epi8(past, _mm256_add_epi8(low, moved)),
        _mm256_cmpgt_epi8(past, _mm256_add_epi8(high, moved)),
    ])
}

#[inline]
#[target_feature(enable = "avx2")]
fn is_ascii([low, high]: [__m256i; 2]) -> bool {
    _mm256_movemask_epi8(_mm256_or_si256(low, high)) == 0
}

#[inline]
#[target_feature(enable = "avx2")]
fn either([a, b]: [__m256i; 2], [c, d]: [__m256i; 2]) -> [__m256i; 2] {
    [_mm256_or_si256(a, c), _mm256_or_si256(b, d)]
}

/// The highest bit of each byte.
#[inline]
#[target_feature(enable = "avx2")]
fn bits([low, high]: [__m256i; 2]) -> u64 {
    let [low, high] = [_mm256_movemask_epi8(low), _mm256_movemask_epi8(high)].map(i32::cast_unsigned);
    u64::from(high) << 32 | u64::from(low)
}
