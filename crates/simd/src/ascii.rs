//! Text whose pieces are cut without a look at where its characters begin.

use crate::{BLOCK, Simd};

/// Text of which every byte is a character.
///
/// Invariant: no byte is 0x80 or more.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ascii<'a> {
    bytes: &'a [u8],
}

impl<'a> Ascii<'a> {
    /// `bytes`, when all of them are ASCII. Looks at each of them.
    #[inline(always)]
    pub fn new<S: Simd>(simd: S, bytes: &'a [u8]) -> Option<Self> {
        if is_ascii(simd, bytes) { Some(Self { bytes }) } else { None }
    }

    /// `len` bytes from position `at` on; `None` when they are not all within the text. Any piece of
    /// such text is text, so nothing is looked at.
    #[inline(always)]
    pub fn get(self, at: usize, len: usize) -> Option<&'a str> {
        let piece = self.bytes.get(at..at.checked_add(len)?)?;
        // SAFETY: no byte of the piece is 0x80 or more, and ASCII is UTF-8.
        Some(unsafe { core::str::from_utf8_unchecked(piece) })
    }
}

#[inline(always)]
fn is_ascii<S: Simd>(simd: S, bytes: &[u8]) -> bool {
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    // The last bytes once more, as a block of their own.
    let Some(last) = bytes.last_chunk::<BLOCK>() else { return bytes.is_ascii() };
    let mut seen = simd.load(last);
    for block in blocks {
        seen = simd.either(seen, simd.load(block));
    }
    simd.is_ascii(seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, Portable, run};

    struct IsAscii<'a>(&'a [u8]);

    impl Op for IsAscii<'_> {
        type Out = bool;

        fn run<S: Simd>(self, simd: S) -> bool {
            Ascii::new(simd, self.0).is_some()
        }
    }

    #[test]
    fn one_byte_that_is_not_ascii_is_seen_wherever_it_is() {
        for len in 0..if cfg!(miri) { 70 } else { 300 } {
            let mut bytes = vec![0x7f; len];
            assert!(run(IsAscii(&bytes)) && IsAscii(&bytes).run(Portable));
            for at in 0..len {
                bytes[at] = 0x80;
                assert!(!run(IsAscii(&bytes)) && !IsAscii(&bytes).run(Portable), "{at} of {len}");
                bytes[at] = 0x7f;
            }
        }
    }

    #[test]
    fn pieces_are_those_of_a_string() {
        for text in ["", "a", "INVITE"] {
            let ascii = Ascii::new(Portable, text.as_bytes()).unwrap();
            for at in 0..8 {
                for len in 0..8 {
                    assert_eq!(ascii.get(at, len), text.get(at..at + len), "{at} {len} of {text}");
                }
                assert_eq!(ascii.get(at, usize::MAX), None);
                assert_eq!(ascii.get(usize::MAX, at), None);
            }
        }
    }
}
