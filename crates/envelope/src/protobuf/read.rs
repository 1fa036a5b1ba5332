//! Reading fields.

use super::{END_GROUP, FIXED32, FIXED64, GROUP, LEN, VARINT, What};

/// How deep unknown groups may nest, as in the C++ and Java libraries. `protobuf-go` allows 10,000,
/// which takes memory; no sender of these formats writes a group at all.
pub const MAX_GROUPS: usize = 100;

const MAX_NUMBER: u64 = (1 << 29) - 1;

/// The unread bytes of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads `bytes` from their begin.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The bytes that were not read yet.
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next tag, as [`tag`](super::tag) makes it; `None` at the end of the message.
    ///
    /// # Errors
    /// `Truncated`, `BadVarint`, `BadTag`.
    #[inline(always)]
    pub fn tag(&mut self) -> Result<Option<u32>, What> {
        match self.rest {
            [first @ 8..0x80, rest @ ..] => {
                self.rest = rest;
                Ok(Some(u32::from(*first)))
            }
            [first @ 0x80..=0xff, second @ 1..0x80, rest @ ..] => {
                self.rest = rest;
                Ok(Some(u32::from(*first & 0x7f) | u32::from(*second) << 7))
            }
            _ => self.long_tag(),
        }
    }

    /// The end, a tag of more than two bytes, or none at all.
    #[inline(never)]
    fn long_tag(&mut self) -> Result<Option<u32>, What> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        match u32::try_from(tag) {
            Ok(small) if (1..=MAX_NUMBER).contains(&(tag >> 3)) => Ok(Some(small)),
            _ => Err(What::BadTag),
        }
    }

    /// A varint.
    ///
    /// # Errors
    /// `Truncated`, `BadVarint`.
    #[inline(always)]
    pub fn varint(&mut self) -> Result<u64, What> {
        match self.rest {
            [first @ ..0x80, rest @ ..] => {
                self.rest = rest;
                Ok(u64::from(*first))
            }
            [first, second @ ..0x80, rest @ ..] => {
                self.rest = rest;
                Ok(u64::from(*first & 0x7f) | u64::from(*second) << 7)
            }
            _ => self.long_varint(),
        }
    }

    /// A varint of more than two bytes, or one that is cut off.
    #[inline(never)]
    fn long_varint(&mut self) -> Result<u64, What> {
        let Some((bytes, rest)) = self.rest.split_first_chunk() else { return self.short_varint() };
        let word = u64::from_le_bytes(*bytes);
        // The last byte is the first one whose high bit is not set, if any.
        let ends = !word & 0x8080_8080_8080_8080;
        // Seven bits of each byte move together: in pairs of bytes, of pairs, of fours.
        let ones = (ends ^ ends.wrapping_sub(1)) & 0x7f7f_7f7f_7f7f_7f7f;
        let word = word & ones;
        let word = word & 0x007f_007f_007f_007f | (word & 0x7f00_7f00_7f00_7f00) >> 1;
        let word = word & 0x0000_3fff_0000_3fff | (word & 0x3fff_0000_3fff_0000) >> 2;
        let word = word & 0x0000_0000_0fff_ffff | (word & 0x0fff_ffff_0000_0000) >> 4;
        if ends != 0 {
            let len = (ends.trailing_zeros() / 8).wrapping_add(1) as usize;
            self.rest = self.rest.get(len..).ok_or(What::Truncated)?;
            return Ok(word);
        }
        let (high, rest) = match rest {
            [ninth @ ..0x80, rest @ ..] => (u64::from(*ninth), rest),
            [ninth, tenth @ ..2, rest @ ..] => (u64::from(*ninth & 0x7f) | u64::from(*tenth) << 7, rest),
            [_, _, ..] => return Err(What::BadVarint),
            _ => return Err(What::Truncated),
        };
        self.rest = rest;
        Ok(word | high << 56)
    }

    /// A varint byte by byte, near the end of the message.
    fn short_varint(&mut self) -> Result<u64, What> {
        let mut value = 0;
        let mut rest = self.rest;
        for shift in (0..70).step_by(7) {
            let [byte, after @ ..] = rest else { return Err(What::Truncated) };
            rest = after;
            value |= u64::from(byte & 0x7f).wrapping_shl(shift);
            if *byte < 0x80 {
                if shift == 63 && *byte > 1 {
                    break;
                }
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(What::BadVarint)
    }

    /// A varint as `int64`.
    ///
    /// # Errors
    /// Those of [`varint`](Self::varint).
    #[inline(always)]
    pub fn int64(&mut self) -> Result<i64, What> {
        self.varint().map(u64::cast_signed)
    }

    /// A varint as `int32` or as an enum: its low 32 bits.
    ///
    /// # Errors
    /// Those of [`varint`](Self::varint).
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the format says that the high bits do not count")]
    pub fn int32(&mut self) -> Result<i32, What> {
        self.varint().map(|value| (value as u32).cast_signed())
    }

    /// Eight bytes as a `double`.
    ///
    /// # Errors
    /// `Truncated`.
    #[inline(always)]
    pub fn double(&mut self) -> Result<f64, What> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(What::Truncated)?;
        self.rest = rest;
        Ok(f64::from_le_bytes(*bytes))
    }

    /// Bytes, a text or an embedded message.
    ///
    /// # Errors
    /// `Truncated`, `BadVarint`.
    #[inline(always)]
    pub fn bytes(&mut self) -> Result<&'a [u8], What> {
        let len = self.varint()?;
        let len = usize::try_from(len).map_err(|_| What::Truncated)?;
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or(What::Truncated)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// Skips the value behind `tag`.
    ///
    /// # Errors
    /// Any [`What`].
    pub fn skip(&mut self, tag: u32) -> Result<(), What> {
        match tag & 7 {
            VARINT => self.varint().map(drop),
            FIXED64 => self.fixed::<8>(),
            LEN => self.bytes().map(drop),
            GROUP => self.skip_group(tag >> 3),
            END_GROUP => Err(What::BadGroup),
            FIXED32 => self.fixed::<4>(),
            _ => Err(What::BadTag),
        }
    }

    fn fixed<const N: usize>(&mut self) -> Result<(), What> {
        let (_, rest) = self.rest.split_first_chunk::<N>().ok_or(What::Truncated)?;
        self.rest = rest;
        Ok(())
    }

    /// Skips the rest of group `number`. The numbers of the groups around the place are kept here, so
    /// that bytes cannot decide over the depth of the stack.
    #[cold]
    fn skip_group(&mut self, number: u32) -> Result<(), What> {
        let mut open = [0; MAX_GROUPS];
        let mut depth = 0usize;
        *open.get_mut(depth).ok_or(What::TooDeep)? = number;
        loop {
            // Inside a group protobuf-go takes numbers up to 2³¹-1.
            if self.rest.is_empty() {
                return Err(What::Truncated);
            }
            let tag = self.varint()?;
            let number = u32::try_from(tag >> 3).map_err(|_| What::BadTag)?;
            if number == 0 || number > i32::MAX.cast_unsigned() {
                return Err(What::BadTag);
            }
            match tag & 7 {
                3 => {
                    depth = depth.saturating_add(1);
                    *open.get_mut(depth).ok_or(What::TooDeep)? = number;
                }
                4 => {
                    if open.get(depth) != Some(&number) {
                        return Err(What::BadGroup);
                    }
                    let Some(outer) = depth.checked_sub(1) else { return Ok(()) };
                    depth = outer;
                }
                0 => self.varint().map(drop)?,
                1 => self.fixed::<8>()?,
                2 => self.bytes().map(drop)?,
                5 => self.fixed::<4>()?,
                _ => return Err(What::BadTag),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protobuf::tag;

    #[test]
    fn varints_of_every_length() {
        for bits in 0..64 {
            for value in [1u64 << bits, (1u64 << bits) - 1, u64::MAX >> bits] {
                let mut bytes = Vec::new();
                crate::protobuf::put_varint(&mut bytes, value);
                assert_eq!(bytes.len(), crate::protobuf::varint_len(value));
                let mut reader = Reader::new(&bytes);
                assert_eq!(reader.varint(), Ok(value));
                assert!(reader.rest().is_empty());
                for cut in 0..bytes.len() {
                    assert_eq!(Reader::new(&bytes[..cut]).varint(), Err(What::Truncated));
                }
            }
        }
    }

    #[test]
    fn varints_that_are_too_long() {
        let mut eleven = [0x80; 11];
        eleven[10] = 1;
        assert_eq!(Reader::new(&eleven).varint(), Err(What::BadVarint));
        let ten = |last| [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, last];
        assert_eq!(Reader::new(&ten(1)).varint(), Ok(u64::MAX));
        assert_eq!(Reader::new(&ten(2)).varint(), Err(What::BadVarint));
        // More bytes than needed are no error.
        assert_eq!(Reader::new(&[0x81, 0x80, 0x00]).varint(), Ok(1));
        assert_eq!(Reader::new(&[0xff; 9]).varint(), Err(What::Truncated));
    }

    #[test]
    fn tags() {
        assert_eq!(Reader::new(&[]).tag(), Ok(None));
        assert_eq!(Reader::new(&[0x0a]).tag(), Ok(Some(tag(1, LEN))));
        assert_eq!(Reader::new(&[0x8a, 0x01]).tag(), Ok(Some(tag(17, LEN))));
        assert_eq!(Reader::new(&[0x8a, 0x80, 0x00]).tag(), Ok(Some(tag(1, LEN))));
        assert_eq!(Reader::new(&[0x02]).tag(), Err(What::BadTag));
        assert_eq!(Reader::new(&[0xf8, 0xff, 0xff, 0xff, 0x0f]).tag(), Ok(Some(tag(MAX_NUMBER as u32, 0))));
        assert_eq!(Reader::new(&[0x80, 0x80, 0x80, 0x80, 0x10]).tag(), Err(What::BadTag));
    }

    #[test]
    fn groups() {
        let skip = |bytes: &[u8]| {
            let mut reader = Reader::new(bytes);
            let tag = reader.tag().unwrap().unwrap();
            reader.skip(tag).map(|()| reader.rest().len())
        };
        assert_eq!(skip(&[0x0b, 0x0c, 9]), Ok(1));
        assert_eq!(skip(&[0x0b, 0x13, 0x14, 0x08, 5, 0x12, 1, 7, 0x0c]), Ok(0));
        assert_eq!(skip(&[0x0b, 0x13, 0x0c, 0x14]), Err(What::BadGroup));
        assert_eq!(skip(&[0x0b, 0x13, 0x14]), Err(What::Truncated));
        assert_eq!(skip(&[0x0c]), Err(What::BadGroup));
        assert_eq!(skip(&[0x0e]), Err(What::BadTag));
        assert_eq!(skip(&[0x0b, 0x0f, 0x0c]), Err(What::BadTag));
        let deep = |n| [vec![0x0b; n], vec![0x0c; n]].concat();
        assert_eq!(skip(&deep(MAX_GROUPS)), Ok(0));
        assert_eq!(skip(&deep(MAX_GROUPS + 1)), Err(What::TooDeep));
    }
}
