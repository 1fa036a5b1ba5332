//! Reads a byte slice from front to back; every step is checked and knows its offset.

use crate::{DecodeError, What};

/// A reading position in a slice.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    whole: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte of `bytes`.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { whole: bytes, rest: bytes }
    }

    /// Offset of the next byte from the start of the slice.
    #[inline]
    pub const fn at(&self) -> usize {
        self.whole.len().saturating_sub(self.rest.len())
    }

    /// The bytes that have not been read.
    #[inline]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether every byte has been read.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes the next `n` bytes; `Truncated` when fewer are left.
    #[inline]
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], DecodeError> {
        match self.rest.split_at_checked(n) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(self.truncated()),
        }
    }

    /// Takes the next `N` bytes as an array; `Truncated` when fewer are left.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        match self.rest.split_first_chunk::<N>() {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(*taken)
            }
            None => Err(self.truncated()),
        }
    }

    /// Takes one byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Takes a big-endian `u16`.
    #[inline]
    pub fn be_u16(&mut self) -> Result<u16, DecodeError> {
        self.array().map(u16::from_be_bytes)
    }

    /// Takes a big-endian `u32`.
    #[inline]
    pub fn be_u32(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_be_bytes)
    }

    /// Takes a big-endian `u64`.
    #[inline]
    pub fn be_u64(&mut self) -> Result<u64, DecodeError> {
        self.array().map(u64::from_be_bytes)
    }

    /// Takes the next `n` bytes as a cursor of their own, whose offsets start at 0.
    #[inline]
    pub fn sub(&mut self, n: usize) -> Result<Cursor<'a>, DecodeError> {
        self.take(n).map(Cursor::new)
    }

    fn truncated(&self) -> DecodeError {
        DecodeError::new(What::Truncated, self.at())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_in_order_and_stops_at_the_end() {
        let mut cursor = Cursor::new(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(cursor.u8(), Ok(1));
        assert_eq!(cursor.be_u16(), Ok(0x0203));
        assert_eq!(cursor.be_u32(), Ok(0x0405_0607));
        assert_eq!(cursor.at(), 7);
        assert_eq!(cursor.be_u64(), Err(DecodeError { what: What::Truncated, at: 7 }));
        assert_eq!(cursor.sub(1).map(|sub| sub.rest()), Ok(&[8u8][..]));
        assert_eq!(cursor.take(2), Err(DecodeError { what: What::Truncated, at: 8 }));
        assert_eq!(cursor.take(1), Ok(&[9u8][..]));
        assert!(cursor.is_empty());
    }
}
