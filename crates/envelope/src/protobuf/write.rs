//! Writing fields at the end of a `Vec`. Nothing is allocated beyond what the `Vec` grows by.

use super::{FIXED64, LEN, VARINT, tag};

/// Bytes that a varint takes: 1 to 10.
#[inline(always)]
#[must_use]
pub const fn varint_len(value: u64) -> usize {
    // 9/64 of the bits, rounded up, without a division: right for 1 to 64 bits.
    let bits = (value | 1).ilog2();
    (bits.wrapping_mul(9).wrapping_add(73) / 64) as usize
}

/// Writes a varint.
#[inline(always)]
pub fn put_varint(out: &mut Vec<u8>, value: u64) {
    match u8::try_from(value) {
        Ok(byte @ ..0x80) => out.push(byte),
        _ => put_long_varint(out, value),
    }
}

#[inline]
fn put_long_varint(out: &mut Vec<u8>, mut value: u64) {
    let mut bytes = [0; 10];
    let mut len = 0usize;
    for byte in &mut bytes {
        len = len.wrapping_add(1);
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            *byte = low;
            break;
        }
        *byte = low | 0x80;
    }
    out.extend_from_slice(bytes.get(..len).unwrap_or_default());
}

/// Writes the tag of a field.
#[inline(always)]
pub fn put_tag(out: &mut Vec<u8>, number: u32, wire: u32) {
    put_varint(out, u64::from(tag(number, wire)));
}

/// Bytes that [`put_int`] takes.
#[inline(always)]
#[must_use]
pub const fn int_len(number: u32, value: u64) -> usize {
    if value == 0 {
        return 0;
    }
    varint_len(tag(number, VARINT) as u64).wrapping_add(varint_len(value))
}

/// Writes an integer or enum of proto3: nothing where it is 0.
#[inline(always)]
pub fn put_int(out: &mut Vec<u8>, number: u32, value: u64) {
    if value != 0 {
        put_tag(out, number, VARINT);
        put_varint(out, value);
    }
}

/// Writes a `double`, zero or not.
#[inline(always)]
pub fn put_double(out: &mut Vec<u8>, number: u32, value: f64) {
    put_tag(out, number, FIXED64);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Bytes that a field of `len` bytes takes with its tag and length.
#[inline(always)]
#[must_use]
pub const fn bytes_len(number: u32, len: usize) -> usize {
    varint_len(tag(number, LEN) as u64).wrapping_add(varint_len(len as u64)).wrapping_add(len)
}

/// Writes bytes or text, empty or not.
#[inline(always)]
pub fn put_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_tag(out, number, LEN);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Writes an embedded message of field `number` whose length is known only after `body` wrote it.
///
/// Room is kept for the length that a message of `about` bytes has; where that was wrong, the message
/// is moved.
#[inline]
pub fn with_len<T>(out: &mut Vec<u8>, number: u32, about: usize, body: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    put_tag(out, number, LEN);
    let at = out.len();
    put_varint(out, about as u64);
    let begin = out.len();
    let value = body(out);
    let len = out.len().saturating_sub(begin);
    let room = begin.saturating_sub(at);
    let need = varint_len(len as u64);
    if need != room {
        move_message(out, begin, len, room, need);
    }
    set_varint(out.get_mut(at..).unwrap_or_default(), len as u64, need);
    value
}

/// Writes `value` into the first `len` bytes.
#[inline(always)]
fn set_varint(bytes: &mut [u8], mut value: u64, len: usize) {
    for (at, byte) in bytes.iter_mut().take(len).enumerate() {
        let [low, ..] = value.to_le_bytes();
        let more = if at.wrapping_add(1) < len { 0x80 } else { 0 };
        *byte = low & 0x7f | more;
        value >>= 7;
    }
}

#[cold]
fn move_message(out: &mut Vec<u8>, begin: usize, len: usize, room: usize, need: usize) {
    let to = begin.saturating_sub(room).saturating_add(need);
    let end = begin.saturating_add(len);
    out.resize(end.max(to.saturating_add(len)), 0);
    out.copy_within(begin..end, to);
    out.truncate(to.saturating_add(len));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protobuf::Reader;

    #[test]
    fn lengths_are_patched_or_moved() {
        let lens = [0, 1, 127, 128, 300, 16_383, 16_384, 70_000, 2_097_152];
        for (len, about) in lens.iter().flat_map(|len| lens.map(|about| (*len, about))) {
            let mut out = b"x".to_vec();
            with_len(&mut out, 1, about, |out| out.extend((0..len).map(|i| i as u8)));
            let mut reader = Reader::new(&out[1..]);
            assert_eq!(reader.tag(), Ok(Some(tag(1, LEN))));
            assert!(reader.bytes().unwrap().iter().copied().eq((0..len).map(|i| i as u8)));
            assert!(reader.rest().is_empty());
            assert_eq!(out.len(), 1 + bytes_len(1, len));
        }
    }

    #[test]
    fn zero_is_not_written() {
        let mut out = Vec::new();
        put_int(&mut out, 5, 0);
        assert!(out.is_empty() && int_len(5, 0) == 0);
        put_int(&mut out, 5, 300);
        assert_eq!((out.as_slice(), int_len(5, 300)), (&[0x28, 0xac, 0x02][..], 3));
    }
}
