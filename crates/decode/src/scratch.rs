//! Room on the stack for a text that is put together from pieces.

use core::fmt;

/// A text of at most `N` bytes; what does not fit is cut, and that is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scratch<const N: usize> {
    bytes: [u8; N],
    len: usize,
    cut: bool,
}

impl<const N: usize> Scratch<N> {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; N], len: 0, cut: false }
    }

    pub(crate) fn get(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether something did not fit.
    pub(crate) const fn is_cut(&self) -> bool {
        self.cut
    }

    pub(crate) fn push(&mut self, text: &[u8]) {
        let room = self.bytes.get_mut(self.len..).unwrap_or_default();
        let taken = text.len().min(room.len());
        if let (Some(room), Some(text)) = (room.get_mut(..taken), text.get(..taken)) {
            room.copy_from_slice(text);
        }
        self.cut |= taken < text.len();
        self.len = self.len.saturating_add(taken);
    }

    /// Takes back what is behind `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        match self.bytes.get_mut(self.len) {
            Some(place) => {
                *place = byte;
                self.len = self.len.saturating_add(1);
            }
            None => self.cut = true,
        }
    }

    pub(crate) fn decimal(&mut self, number: u64) {
        let mut digits = [0u8; 20];
        let mut rest = number;
        let mut first = digits.len();
        for place in digits.iter_mut().rev() {
            *place = b'0'.wrapping_add(u8::try_from(rest % 10).unwrap_or_default());
            rest /= 10;
            first = first.saturating_sub(1);
            if rest == 0 {
                break;
            }
        }
        self.push(digits.get(first..).unwrap_or_default());
    }

    pub(crate) fn hex(&mut self, bytes: &[u8]) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for byte in bytes {
            for nibble in [byte >> 4, byte & 15] {
                self.byte(DIGITS.get(usize::from(nibble)).copied().unwrap_or_default());
            }
        }
    }
}

impl<const N: usize> fmt::Write for Scratch<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Scratch;

    #[test]
    fn pieces_and_the_end_of_the_room() {
        let mut text = Scratch::<12>::new();
        assert!(text.is_empty());
        text.decimal(0);
        text.decimal(u64::from(u32::MAX));
        assert_eq!((text.get(), text.is_cut()), (&b"04294967295"[..], false));
        text.hex(&[0xa5]);
        assert_eq!((text.get(), text.is_cut()), (&b"04294967295a"[..], true));
        text.push(b"x");
        assert_eq!(text.get().len(), 12);
    }
}
