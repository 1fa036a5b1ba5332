//! Domain names (RFC 1035 §3.1, §4.1.4).

use crate::{DecodeError, What, scratch::Scratch};

/// Bytes of a name on the wire (RFC 1035 §2.3.4).
const MAX_WIRE: usize = 255;

/// Room for a name as text: each byte may be written as `\DDD`.
pub(super) const NAME_BYTES: usize = 1_024;

/// Reads the name at `at` and writes it as zone files have it, with the dot at its end and in the case it
/// came in. Gives where what follows it begins.
///
/// # Errors
/// `Truncated`; `BadLength` for a label type that does not exist, a name longer than 255 bytes, or a pointer
/// that does not point to before the name or the pointer in front of it, so that every chain ends.
pub(super) fn name<const N: usize>(
    message: &[u8],
    at: usize,
    text: &mut Scratch<N>,
) -> Result<usize, DecodeError> {
    let mut place = at;
    // Pointers must go back, each further than the last.
    let mut bound = at;
    let mut end = None;
    let mut wire = 0usize;
    let mut empty = true;
    loop {
        let len = *message.get(place).ok_or(DecodeError::new(What::Truncated, place))?;
        let after = place.saturating_add(1);
        match len {
            0 => {
                if empty {
                    text.byte(b'.');
                }
                return Ok(end.unwrap_or(after));
            }
            1..=63 => {
                let stop = after.saturating_add(usize::from(len));
                let label = message.get(after..stop).ok_or(DecodeError::new(What::Truncated, place))?;
                wire = wire.saturating_add(label.len()).saturating_add(1);
                if wire >= MAX_WIRE {
                    return Err(DecodeError::new(What::BadLength, place));
                }
                escape(label, text);
                text.byte(b'.');
                empty = false;
                place = stop;
            }
            0xc0.. => {
                let low = *message.get(after).ok_or(DecodeError::new(What::Truncated, after))?;
                let target = usize::from(len & 0x3f) << 8 | usize::from(low);
                if target >= bound {
                    return Err(DecodeError::new(What::BadLength, place));
                }
                end = end.or(Some(after.saturating_add(1)));
                bound = target;
                place = target;
            }
            _ => return Err(DecodeError::new(What::BadLength, place)),
        }
    }
}

/// Where what follows the name at `at` begins.
pub(super) fn skip_name(message: &[u8], at: usize) -> Result<usize, DecodeError> {
    let mut place = at;
    loop {
        let len = *message.get(place).ok_or(DecodeError::new(What::Truncated, place))?;
        place = place.saturating_add(1);
        match len {
            0 => return Ok(place),
            1..=63 => place = place.saturating_add(usize::from(len)),
            0xc0.. => return Ok(place.saturating_add(1)),
            _ => return Err(DecodeError::new(What::BadLength, place)),
        }
        if place.saturating_sub(at) > MAX_WIRE {
            return Err(DecodeError::new(What::BadLength, at));
        }
    }
}

/// Writes a label as zone files have it (RFC 1035 §5.1).
fn escape<const N: usize>(label: &[u8], text: &mut Scratch<N>) {
    for byte in label {
        match byte {
            b'.' | b'\\' | b'"' | b'(' | b')' | b';' | b'@' | b'$' => {
                text.byte(b'\\');
                text.byte(*byte);
            }
            0x21..=0x7e => text.byte(*byte),
            other => decimal_escape(*other, text),
        }
    }
}

/// Writes a character string in quotes.
pub(super) fn quoted<const N: usize>(string: &[u8], text: &mut Scratch<N>) {
    text.byte(b'"');
    for byte in string {
        match byte {
            b'"' | b'\\' => {
                text.byte(b'\\');
                text.byte(*byte);
            }
            0x20..=0x7e => text.byte(*byte),
            other => decimal_escape(*other, text),
        }
    }
    text.byte(b'"');
}

/// `\DDD`
fn decimal_escape<const N: usize>(byte: u8, text: &mut Scratch<N>) {
    text.byte(b'\\');
    for digit in [byte / 100, byte / 10 % 10, byte % 10] {
        text.byte(b'0'.wrapping_add(digit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &[u8], at: usize) -> Result<(String, usize), DecodeError> {
        let mut text = Scratch::<NAME_BYTES>::new();
        let end = name(message, at, &mut text)?;
        Ok((String::from_utf8(text.get().to_vec()).unwrap(), end))
    }

    #[test]
    fn the_example_of_the_rfc() {
        // RFC 1035 §4.1.4: F.ISI.ARPA at 20, FOO.F.ISI.ARPA at 40, ARPA at 64, the root at 92.
        let mut message = vec![0; 93];
        message[20..32].copy_from_slice(b"\x01F\x03ISI\x04ARPA\0");
        message[40..46].copy_from_slice(b"\x03FOO\xc0\x14");
        message[64..66].copy_from_slice(b"\xc0\x1a");
        assert_eq!(read(&message, 20), Ok(("F.ISI.ARPA.".to_owned(), 32)));
        assert_eq!(read(&message, 40), Ok(("FOO.F.ISI.ARPA.".to_owned(), 46)));
        assert_eq!(read(&message, 64), Ok(("ARPA.".to_owned(), 66)));
        assert_eq!(read(&message, 92), Ok((".".to_owned(), 93)));
        for at in [20, 40, 64, 92] {
            assert_eq!(skip_name(&message, at).ok(), read(&message, at).ok().map(|(_, end)| end));
        }
    }

    #[test]
    fn odd_bytes_are_escaped() {
        let (text, _) = read(b"\x06a.b\\\xff \x03xyZ\0", 0).unwrap();
        assert_eq!(text, "a\\.b\\\\\\255\\032.xyZ.");
    }

    #[test]
    fn chains_end() {
        let bad = |message: &[u8], at, what| assert_eq!(read(message, at).unwrap_err().what, what);
        bad(b"\xc0\x00", 0, What::BadLength);
        bad(b"\x01a\xc0\x02", 0, What::BadLength);
        bad(b"\x01a\xc0\x00", 2, What::BadLength);
        bad(b"\xc0\x02\xc0\x00", 2, What::BadLength);
        bad(b"\x01a\xc0\x05", 0, What::BadLength);
        bad(b"\x40a", 0, What::BadLength);
        bad(b"\x02a", 0, What::Truncated);
        bad(b"\xc0", 0, What::Truncated);
        bad(b"", 0, What::Truncated);
        let long = b"\x07abcdefg".repeat(32);
        bad(&long, 0, What::BadLength);
        assert_eq!(skip_name(&long, 0).unwrap_err().what, What::BadLength);
    }
}
