//! BSON elements: type, key and how long the value is, without looking into it.
//!
//! <https://bsonspec.org/spec.html>

use super::wire::{le_i32, le_i64, le_u32};
use crate::{DecodeError, What};

/// Bytes of the longest key that is looked at; a longer one ends the walk of its document.
const MAX_KEY: usize = 256;

/// Bytes of two patterns of a regular expression that are looked through for their ends.
const MAX_REGEX: usize = 1_024;

/// The types that matter here.
pub(super) const DOUBLE: u8 = 0x01;
pub(super) const STRING: u8 = 0x02;
pub(super) const DOCUMENT: u8 = 0x03;
pub(super) const ARRAY: u8 = 0x04;
pub(super) const BOOLEAN: u8 = 0x08;
pub(super) const INT32: u8 = 0x10;
pub(super) const INT64: u8 = 0x12;

/// The head of one element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element<'a> {
    pub(super) kind: u8,
    pub(super) key: &'a [u8],
    /// Bytes of type and key.
    pub(super) head: usize,
    /// Bytes of the value; it may reach beyond the bytes that are there.
    pub(super) value: usize,
}

/// What could be read at a position.
#[derive(Debug)]
pub(super) enum Read<'a> {
    Element(Element<'a>),
    /// So many bytes must be there to say.
    Need(usize),
    /// The key or pattern is longer than anyone's.
    Odd,
}

/// Reads the head of the element that `bytes` starts with.
///
/// # Errors
/// `BadMagic` for a type that does not exist, `BadLength` for a length that is too small.
pub(super) fn element(bytes: &[u8]) -> Result<Read<'_>, DecodeError> {
    let Some((&kind, rest)) = bytes.split_first() else { return Ok(Read::Need(2)) };
    let Some(key) = cstring(rest, MAX_KEY) else {
        let there = bytes.len();
        return Ok(if rest.len() >= MAX_KEY { Read::Odd } else { Read::Need(there.saturating_add(1)) });
    };
    let head = key.len().saturating_add(2);
    let prefix = |extra: u32, least: u32| match le_u32(bytes, head) {
        None => Ok(Err(head.saturating_add(4))),
        Some(len) if len < least || len > i32::MAX as u32 => Err(DecodeError::new(What::BadLength, head)),
        Some(len) => Ok(Ok(len.saturating_add(extra) as usize)),
    };
    let value = match kind {
        0x06 | 0x0a | 0x7f | 0xff => Ok(0),
        BOOLEAN => Ok(1),
        INT32 => Ok(4),
        DOUBLE | 0x09 | 0x11 | INT64 => Ok(8),
        0x07 => Ok(12),
        0x13 => Ok(16),
        STRING | 0x0d | 0x0e => prefix(4, 1)?,
        DOCUMENT | ARRAY => prefix(0, 5)?,
        0x0f => prefix(0, 14)?,
        0x05 => prefix(5, 0)?,
        0x0c => prefix(16, 1)?,
        0x0b => match regex(bytes.get(head..).unwrap_or_default()) {
            Some(len) => Ok(len),
            None if bytes.len().saturating_sub(head) >= MAX_REGEX => return Ok(Read::Odd),
            None => Err(bytes.len().saturating_add(1)),
        },
        _ => return Err(DecodeError::new(What::BadMagic, 0)),
    };
    Ok(match value {
        Ok(value) => Read::Element(Element { kind, key, head, value }),
        Err(need) => Read::Need(need),
    })
}

/// The bytes before the first NUL, which must be among the first `most`.
pub(super) fn cstring(bytes: &[u8], most: usize) -> Option<&[u8]> {
    let window = bytes.get(..most).unwrap_or(bytes);
    let end = memchr::memchr(0, window)?;
    window.get(..end)
}

/// The length of two C strings.
fn regex(bytes: &[u8]) -> Option<usize> {
    let pattern = cstring(bytes, MAX_REGEX)?.len().checked_add(1)?;
    let options = cstring(bytes.get(pattern..)?, MAX_REGEX)?.len().checked_add(1)?;
    pattern.checked_add(options)
}

/// The text of a string value, without its length and NUL.
pub(super) fn text(value: &[u8]) -> &[u8] {
    let text = value.get(4..).unwrap_or_default();
    text.strip_suffix(&[0]).unwrap_or(text)
}

/// A number of whatever type, as servers mix them.
pub(super) fn number(kind: u8, value: &[u8]) -> Option<i64> {
    match kind {
        INT32 => le_i32(value, 0).map(i64::from),
        INT64 => le_i64(value, 0),
        BOOLEAN => value.first().map(|byte| i64::from(*byte != 0)),
        DOUBLE => value.first_chunk().and_then(|eight| whole(f64::from_le_bytes(*eight))),
        _ => None,
    }
}

/// A double that is a whole number in the range of error codes.
#[allow(clippy::cast_possible_truncation)]
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= f64::from(i32::MAX)).then_some(number as i64)
}

/// The documents in a run of whole documents; `None` when their lengths do not add up.
pub(super) fn count_documents(mut bytes: &[u8]) -> Option<u32> {
    let mut count = 0u32;
    while !bytes.is_empty() {
        let len = le_u32(bytes, 0).filter(|len| *len >= 5)?;
        bytes = bytes.get(len as usize..)?;
        count = count.checked_add(1)?;
    }
    Some(count)
}

/// Whether bytes may be the start of a document of `most` bytes at most: a length that fits, a type that
/// exists, a key that people can read.
pub(super) fn plausible(bytes: &[u8], most: u32) -> bool {
    let Some(len) = le_u32(bytes, 0) else { return false };
    if len < 5 || len > most {
        return false;
    }
    let Some(rest) = bytes.get(4..) else { return false };
    match element(rest) {
        Ok(Read::Element(element)) => {
            !element.key.is_empty()
                && element.key.iter().all(|byte| byte.is_ascii_graphic())
                && element.head.saturating_add(element.value) < len as usize
        }
        Ok(Read::Need(_)) => {
            // The cut must be in a key so far readable.
            rest.iter().skip(1).take_while(|byte| **byte != 0).all(u8::is_ascii_graphic)
        }
        _ => false,
    }
}
