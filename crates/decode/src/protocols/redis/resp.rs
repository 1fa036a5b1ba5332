//! The units of RESP: lines and lengths (<https://redis.io/docs/latest/develop/reference/protocol-spec/>).

use crate::{DecodeError, What};

/// Digits that a length or a count may have, with its sign: those of an `i64`.
const MAX_DIGITS: usize = 20;

/// The value of a length that is not known beforehand: `?` (RESP3, streamed strings and aggregates).
pub(super) const STREAMED: i64 = i64::MIN;

/// A length or a count, from `at` up to the end of its line.
///
/// Gives the number and where the next line begins; `None` when the line is not whole yet.
#[inline]
pub(super) fn number(bytes: &[u8], at: usize) -> Result<Option<(i64, usize)>, DecodeError> {
    let bad = || DecodeError::new(What::BadLength, at);
    let line = bytes.get(at..).unwrap_or_default();
    let (negative, skipped, mut rest) = match line {
        [b'?', b'\r', b'\n', ..] => return Ok(Some((STREAMED, at.saturating_add(3)))),
        [b'?'] | [b'?', b'\r'] => return Ok(None),
        [b'-', rest @ ..] => (true, 1usize, rest),
        rest => (false, 0usize, rest),
    };
    let mut value = 0i64;
    let mut digits = 0usize;
    while let [byte, after @ ..] = rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.checked_mul(10).and_then(|v| v.checked_add(i64::from(digit))).ok_or_else(bad)?;
        digits = digits.saturating_add(1);
        if digits > MAX_DIGITS {
            return Err(bad());
        }
        rest = after;
    }
    match rest {
        [b'\r', b'\n', ..] if digits > 0 => {
            let end = at.saturating_add(skipped).saturating_add(digits).saturating_add(2);
            Ok(Some((if negative { value.saturating_neg() } else { value }, end)))
        }
        [] | [b'\r'] if digits > 0 || rest.is_empty() => Ok(None),
        _ => Err(bad()),
    }
}

/// The line from `at` on, without its end, and where the next one begins. The first `scanned` bytes of it
/// are known to hold no line feed.
#[inline]
pub(super) fn line(bytes: &[u8], at: usize, scanned: usize) -> Option<(&[u8], usize)> {
    let text = bytes.get(at..)?;
    let end = memchr::memchr(b'\n', text.get(scanned..)?)?.saturating_add(scanned);
    let line = text.get(..end)?;
    Some((line.strip_suffix(b"\r").unwrap_or(line), at.saturating_add(end).saturating_add(1)))
}

/// The bulk string at `at`: its bytes (`None` for null) and where the next element begins. `Ok(None)` when it
/// is not whole yet; an element of another type, or one longer than `most`, is `BadLength`.
pub(super) fn bulk(bytes: &[u8], at: usize, most: usize) -> Result<Option<Bulk<'_>>, DecodeError> {
    let bad = || DecodeError::new(What::BadLength, at);
    match bytes.get(at) {
        None => return Ok(None),
        Some(b'$') => {}
        Some(_) => return Err(bad()),
    }
    let Some((len, body)) = number(bytes, at.saturating_add(1))? else { return Ok(None) };
    if len == -1 {
        return Ok(Some((None, body)));
    }
    let len = usize::try_from(len).ok().filter(|len| *len <= most).ok_or_else(bad)?;
    let end = body.saturating_add(len);
    match bytes.get(end..) {
        Some([b'\r', b'\n', ..]) => Ok(Some((bytes.get(body..end), end.saturating_add(2)))),
        None | Some([] | [b'\r']) => Ok(None),
        Some(_) => Err(bad()),
    }
}

/// A bulk string and where the next element begins.
pub(super) type Bulk<'a> = (Option<&'a [u8]>, usize);
