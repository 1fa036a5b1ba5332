//! Numbers in text.

use crate::text::Text;

/// Reads a run of decimal digits that must not be empty and must fit; white space around it is
/// dropped, anything else makes it `None`.
pub(crate) fn decimal(text: Text<'_>) -> Option<u32> {
    digits(text.trim().get())
}

/// The same without white space around the digits.
#[inline(always)]
pub(crate) fn digits(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    if digits.len() > 9 {
        return many_digits(digits);
    }
    let mut value = 0u32;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // At most nine digits: below 2^30.
        value = value.wrapping_mul(10).wrapping_add(u32::from(digit));
    }
    Some(value)
}

/// The same for so many digits that they may not fit.
#[cold]
fn many_digits(digits: &[u8]) -> Option<u32> {
    let mut value = 0u32;
    for byte in digits {
        let digit = char::from(*byte).to_digit(10)?;
        value = value.checked_mul(10)?.checked_add(digit)?;
    }
    Some(value)
}

/// Reads a port number; see [`decimal`].
#[inline(always)]
pub(crate) fn port(text: Text<'_>) -> Option<u16> {
    decimal(text).and_then(|value| u16::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        let decimal = |bytes| decimal(Text::new(bytes));
        assert_eq!(decimal(b" 70 "), Some(70));
        assert_eq!(decimal(b"4294967295"), Some(u32::MAX));
        assert_eq!(decimal(b"4294967296"), None);
        assert_eq!(decimal(b"-1"), None);
        assert_eq!(decimal(b""), None);
        assert_eq!(port(Text::new(b"65536")), None);
    }
}
