//! Whole numbers as differences, packed.
//!
//! In: the numbers of a page. Out: their delta encoding; a number that stays the same takes a third of a
//! bit. Bounded by: blocks of 128 numbers.
//! Format: Parquet, "Delta Encoding (DELTA_BINARY_PACKED)"
//! <https://parquet.apache.org/docs/file-format/data-pages/encodings/#DELTAENC>.

use super::hybrid::varint;

/// Numbers in a block.
const BLOCK: usize = 128;
/// Parts of a block that have a width of their own.
const PARTS: usize = 4;

/// Writes numbers of 32 bits when `narrow` is set, else of 64. Differences wrap at that width.
pub fn encode(numbers: &[i64], narrow: bool, out: &mut Vec<u8>) {
    varint(BLOCK as u64, out);
    varint(PARTS as u64, out);
    varint(numbers.len() as u64, out);
    zigzag(numbers.first().copied().unwrap_or(0), out);
    let mut deltas = [0i64; BLOCK];
    for start in (1..numbers.len()).step_by(BLOCK) {
        let end = numbers.len().min(start + BLOCK);
        let (before, these) = (&numbers[start - 1..end - 1], &numbers[start..end]);
        let deltas = &mut deltas[..these.len()];
        for ((delta, before), this) in deltas.iter_mut().zip(before).zip(these) {
            *delta = this.wrapping_sub(*before);
        }
        if narrow {
            deltas.iter_mut().for_each(|delta| *delta = i64::from(*delta as i32));
        }
        block(deltas, narrow, out);
    }
}

/// Writes one block of differences.
fn block(deltas: &[i64], narrow: bool, out: &mut Vec<u8>) {
    let least = deltas.iter().copied().min().unwrap_or(0);
    zigzag(least, out);
    let mask = if narrow { u64::from(u32::MAX) } else { u64::MAX };
    let excess = |delta: &i64| delta.wrapping_sub(least) as u64 & mask;
    let widths = out.len();
    out.extend_from_slice(&[0; PARTS]);
    for (number, part) in deltas.chunks(BLOCK / PARTS).enumerate() {
        let width = u64::BITS - part.iter().fold(0, |all, delta| all | excess(delta)).leading_zeros();
        out[widths + number] = width as u8;
        if width > 0 {
            // The last part is filled up with differences that readers leave out.
            let filled = part.iter().map(excess).chain(std::iter::repeat(0)).take(BLOCK / PARTS);
            pack(filled, width, out);
        }
    }
}

/// Writes numbers with `width` bits each; they must end at a byte.
fn pack(numbers: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let (mut acc, mut bits) = (0u128, 0);
    for number in numbers {
        acc |= u128::from(number) << bits;
        bits += width;
        while bits >= 8 {
            out.push((acc & 0xff) as u8);
            acc >>= 8;
            bits -= 8;
        }
    }
}

/// A signed number with its sign in the lowest bit.
fn zigzag(number: i64, out: &mut Vec<u8>) {
    varint((number << 1 ^ number >> 63) as u64, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(numbers: &[i64], narrow: bool) -> Vec<u8> {
        let mut out = Vec::new();
        encode(numbers, narrow, &mut out);
        out
    }

    #[test]
    fn the_first_example_of_the_specification() {
        // 1 to 5: header with first value 1, block with least difference 1, nothing in the parts.
        assert_eq!(encoded(&[1, 2, 3, 4, 5], false), [0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0]);
    }

    #[test]
    fn the_second_example_of_the_specification() {
        // 7, 5, 3, 1, 2, 3, 4, 5: least difference -2, excesses 0, 0, 0, 3, 3, 3, 3 in two bits.
        let out = encoded(&[7, 5, 3, 1, 2, 3, 4, 5], false);
        assert_eq!(out[..10], [0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0]);
        assert_eq!(out[10..], [0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn narrow_differences_wrap_at_32_bits() {
        let extremes = [i64::from(i32::MIN), i64::from(i32::MAX), i64::from(i32::MIN)];
        let out = encoded(&extremes, true);
        // Differences -1 and 1: excesses 0 and 2.
        assert_eq!(out[9..14], [1, 2, 0, 0, 0]);
    }

    #[test]
    fn nothing_is_a_header() {
        assert_eq!(encoded(&[], false), [0x80, 1, 4, 0, 0]);
    }
}
