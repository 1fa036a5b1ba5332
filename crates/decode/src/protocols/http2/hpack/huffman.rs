//! The Huffman code of RFC 7541 §5.2 and appendix B.
//!
//! The code is canonical: sorted by length and then by symbol, each code is the one before plus one. So the
//! lengths alone define it. Codes of up to 8 bits, which nearly all text has, are looked up by one byte.

use crate::{DecodeError, What};

/// Bits of the code of each symbol, appendix B.
const LENGTHS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, //
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, //
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, //
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, //
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, //
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, //
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, //
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, //
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, //
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, //
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, //
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, //
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, //
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, //
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, //
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, //
];

/// The longest code; the end-of-string symbol, which never occurs, has it too.
const LONGEST: usize = 30;

/// What the lengths define.
struct Code {
    /// By the next eight bits: the symbol and its bits, 0 where the code is longer.
    short: [(u8, u8); 256],
    /// The symbols in the order of their codes.
    symbols: [u8; 256],
    /// For each length: its first code, left-aligned in 32 bits, and the place of its symbol.
    first: [(u32, u16); LONGEST + 2],
}

#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "compile time only"
)]
static CODE: Code = {
    let mut code = Code { short: [(0, 0); 256], symbols: [0; 256], first: [(0, 0); LONGEST + 2] };
    let (mut next, mut place, mut length) = (0u64, 0, 1);
    while length <= LONGEST {
        code.first[length] = ((next << (32 - length)) as u32, place as u16);
        let mut symbol = 0;
        while symbol < 256 {
            if LENGTHS[symbol] as usize == length {
                code.symbols[place] = symbol as u8;
                if length <= 8 {
                    let mut fill = 0;
                    while fill < 1 << (8 - length) {
                        code.short[((next << (8 - length)) + fill) as usize] = (symbol as u8, length as u8);
                        fill += 1;
                    }
                }
                place += 1;
                next += 1;
            }
            symbol += 1;
        }
        next <<= 1;
        length += 1;
    }
    // Behind the last code lies only the end-of-string symbol.
    code.first[LONGEST + 1] = (((next >> 1) << 2) as u32, 256);
    code
};

/// Appends what `bytes` stand for to `text`.
///
/// # Errors
/// `BadCompression`: the padding is not the beginning of the end-of-string symbol, or is 8 bits or more.
pub(super) fn decode(bytes: &[u8], text: &mut Vec<u8>) -> Result<(), DecodeError> {
    let mut rest = bytes.iter();
    // The unread bits, left-aligned, and how many they are.
    let (mut window, mut bits) = (0u64, 0u32);
    loop {
        while bits <= 56 {
            let Some(byte) = rest.next() else { break };
            window |= u64::from(*byte).wrapping_shl(56u32.wrapping_sub(bits));
            bits = bits.wrapping_add(8);
        }
        let [next, ..] = window.to_be_bytes();
        let (symbol, length) = match CODE.short.get(usize::from(next)) {
            Some((symbol, length)) if *length > 0 => (*symbol, u32::from(*length)),
            _ => long(window).unwrap_or((0, u32::MAX)),
        };
        if length > bits {
            // What is left is padding: fewer than 8 bits, all of them set.
            let padding = bits < 8 && window == !u64::MAX.checked_shr(bits).unwrap_or(0);
            let damaged = DecodeError::new(What::BadCompression, bytes.len());
            return if padding { Ok(()) } else { Err(damaged) };
        }
        text.push(symbol);
        window = window.wrapping_shl(length);
        bits = bits.wrapping_sub(length);
    }
}

/// A code of more than 8 bits.
#[cold]
fn long(window: u64) -> Option<(u8, u32)> {
    let window = u32::try_from(window >> 32).ok()?;
    let longer = CODE.first.get(9..)?;
    // The length is the last one whose first code is not above the window.
    let length = longer.iter().rposition(|(first, _)| *first <= window)?.checked_add(9)?;
    if length > LONGEST {
        return None;
    }
    let (first, place) = CODE.first.get(length)?;
    let length = u32::try_from(length).ok()?;
    let nth = window.wrapping_sub(*first).wrapping_shr(32u32.wrapping_sub(length));
    let symbol = CODE.symbols.get(usize::from(*place).checked_add(usize::try_from(nth).ok()?)?)?;
    Some((*symbol, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of each symbol and its length, made from the lengths one by one.
    fn codes() -> [(u32, u8); 256] {
        let mut sorted: Vec<u8> = (0..=255).collect();
        sorted.sort_by_key(|symbol| (LENGTHS[usize::from(*symbol)], *symbol));
        let mut codes = [(0u32, 0u8); 256];
        let (mut next, mut length) = (0u32, 0);
        for symbol in sorted {
            let own = LENGTHS[usize::from(symbol)];
            next <<= own - length;
            length = own;
            codes[usize::from(symbol)] = (next, own);
            next += 1;
        }
        codes
    }

    fn encode_with(codes: &[(u32, u8); 256], text: &[u8]) -> Vec<u8> {
        let (mut bytes, mut window, mut bits) = (Vec::new(), 0u64, 0);
        for byte in text {
            let (code, length) = codes[usize::from(*byte)];
            window = window << length | u64::from(code);
            bits += length;
            while bits >= 8 {
                bits -= 8;
                bytes.push((window >> bits) as u8);
            }
        }
        if bits > 0 {
            bytes.push((window << (8 - bits)) as u8 | 0xff >> bits);
        }
        bytes
    }

    fn encode(text: &[u8]) -> Vec<u8> {
        encode_with(&codes(), text)
    }

    fn decoded(bytes: &[u8]) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        decode(bytes, &mut text).ok().map(|()| text)
    }

    #[test]
    fn the_examples_of_the_specification() {
        let host = [0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff];
        assert_eq!(decoded(&host).unwrap(), b"www.example.com");
        assert_eq!(encode(b"www.example.com"), host);
        assert_eq!(decoded(&[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf]).unwrap(), b"no-cache");
        assert_eq!(decoded(&[]).unwrap(), b"");
    }

    #[test]
    fn every_symbol_alone_and_beside_every_other() {
        let codes = codes();
        for a in 0..=255 {
            assert_eq!(decoded(&encode_with(&codes, &[a])).unwrap(), [a]);
            for b in 0..=255 {
                assert_eq!(decoded(&encode_with(&codes, &[a, b, a])).unwrap(), [a, b, a]);
            }
        }
    }

    #[test]
    fn damaged_padding_is_refused() {
        // '0' is 00000: the padding must be ones.
        assert_eq!(decoded(&[0b0000_0111]).unwrap(), b"0");
        assert_eq!(decoded(&[0b0000_0110]), None);
        assert_eq!(decoded(&[0xff]), None);
        assert_eq!(decoded(&[0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(decoded(&[0b0000_0111, 0xff]), None);
    }
}
