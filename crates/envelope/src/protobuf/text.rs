//! Bytes that must be UTF-8 where they are written.

/// The replacement character in UTF-8.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// Bytes to be written as a text of proto3, which must be UTF-8.
///
/// Where they are not, each run of bytes that belong to no character is written as one U+FFFD, as
/// `strings.ToValidUTF8` of Go does with that replacement.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    bytes: &'a [u8],
    valid: bool,
}

impl<'a> Text<'a> {
    /// Looks at every byte once.
    #[inline(always)]
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, valid: is_utf8(bytes) }
    }

    /// Whether the bytes are written as they are.
    #[inline(always)]
    #[must_use]
    pub const fn is_valid(self) -> bool {
        self.valid
    }

    /// Bytes that [`put`](Self::put) writes: at most three for each.
    #[inline(always)]
    #[must_use]
    pub fn len(self) -> usize {
        if self.valid { self.bytes.len() } else { pieces(self.bytes).map(<[u8]>::len).sum() }
    }

    /// Whether there is nothing to write.
    #[inline(always)]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// Writes the text.
    #[inline(always)]
    pub fn put(self, out: &mut Vec<u8>) {
        if self.valid {
            out.extend_from_slice(self.bytes);
        } else {
            pieces(self.bytes).for_each(|piece| out.extend_from_slice(piece));
        }
    }

    /// Whether two texts are written with the same bytes.
    #[must_use]
    pub fn same(self, other: Text<'_>) -> bool {
        if self.valid && other.valid {
            return self.bytes == other.bytes;
        }
        pieces(self.bytes).flatten().eq(pieces(other.bytes).flatten())
    }
}

impl<'a> From<&'a str> for Text<'a> {
    #[inline(always)]
    fn from(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), valid: true }
    }
}

#[inline(always)]
fn is_utf8(bytes: &[u8]) -> bool {
    bytes.is_ascii() || core::str::from_utf8(bytes).is_ok()
}

/// The valid parts of `bytes`, with a replacement between and around them where others were.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut after_invalid = false;
    bytes.utf8_chunks().flat_map(move |chunk| {
        // Invalid bytes next to each other come as several chunks with nothing valid in between.
        let new_run = !(chunk.invalid().is_empty() || after_invalid && chunk.valid().is_empty());
        after_invalid = !chunk.invalid().is_empty();
        [chunk.valid().as_bytes(), if new_run { REPLACEMENT } else { &[] }]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_become_one_character() {
        let cases: [(&[u8], &str); 9] = [
            (b"plain", "plain"),
            ("päß\u{10ffff}".as_bytes(), "päß\u{10ffff}"),
            (b"\xff", "\u{fffd}"),
            (b"\xff\xfe\xfd", "\u{fffd}"),
            (b"a\xe2\x82b", "a\u{fffd}b"),
            (b"a\xe2\x82\xff\xc0\x80b\xf0", "a\u{fffd}b\u{fffd}"),
            (b"\xed\xa0\x80x", "\u{fffd}x"),
            (b"\xf4\x90\x80\x80", "\u{fffd}"),
            (b"", ""),
        ];
        for (bytes, want) in cases {
            let text = Text::new(bytes);
            let mut out = Vec::new();
            text.put(&mut out);
            assert_eq!(std::str::from_utf8(&out).unwrap(), want);
            assert_eq!(text.len(), out.len());
            assert!(text.same(Text::new(want.as_bytes())));
            assert!(!text.same(Text::new(b"another")));
        }
    }
}
