//! Small numbers as runs and packed groups: definition levels and dictionary keys.
//!
//! In: numbers with how often each comes in a row. Out: the hybrid encoding. Bounded by: eight bytes a run.
//! Format: Parquet, "Run Length Encoding / Bit-Packing Hybrid"
//! <https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE>.

/// Values that are packed together.
const GROUP: usize = 8;

/// Numbers of a page, as runs until their width is known.
#[derive(Debug, Default)]
pub struct Runs {
    runs: Vec<(u32, u32)>,
}

impl Runs {
    /// Adds `count` times the same number.
    #[inline]
    pub fn push(&mut self, number: u32, count: u32) {
        match self.runs.last_mut() {
            Some((last, times)) if *last == number => *times += count,
            _ => self.runs.push((number, count)),
        }
    }

    /// The runs: a number, and how often it comes.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.runs.iter().copied()
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.runs.clear();
    }

    /// Writes them with `width` bits a number, at most 32.
    pub fn encode(&self, width: u32, out: &mut Vec<u8>) {
        let mut packed = Packed { width, bytes: Vec::new(), groups: 0, acc: 0, filled: 0 };
        for (number, mut count) in self.iter() {
            if packed.filled > 0 {
                let fill = count.min((GROUP - packed.filled) as u32);
                (0..fill).for_each(|_| packed.push(number));
                count -= fill;
            }
            if count as usize >= GROUP {
                packed.flush(out);
                varint(u64::from(count) << 1, out);
                let bytes = number.to_le_bytes();
                out.extend_from_slice(&bytes[..(width as usize).div_ceil(8)]);
            } else {
                (0..count).for_each(|_| packed.push(number));
            }
        }
        // Readers know how many numbers there are, and leave those out that fill the last group.
        while packed.filled > 0 {
            packed.push(0);
        }
        packed.flush(out);
    }
}

/// Groups of packed numbers on their way out.
struct Packed {
    width: u32,
    bytes: Vec<u8>,
    groups: u64,
    acc: u64,
    /// Numbers in the growing group.
    filled: usize,
}

impl Packed {
    #[inline]
    fn push(&mut self, number: u32) {
        // Whole groups end at a byte, so that at most seven bits are left over before each number.
        let used = (self.filled as u32 * self.width) % 8;
        self.acc |= u64::from(number) << used;
        let mut bits = used + self.width;
        while bits >= 8 {
            self.bytes.push((self.acc & 0xff) as u8);
            self.acc >>= 8;
            bits -= 8;
        }
        self.filled += 1;
        if self.filled == GROUP {
            self.filled = 0;
            self.groups += 1;
        }
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        if self.groups > 0 {
            varint(self.groups << 1 | 1, out);
            out.append(&mut self.bytes);
            self.groups = 0;
        }
    }
}

/// A number in groups of seven bits, least first (ULEB128).
pub fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The bits that hold every number up to `most`.
pub fn width(most: u32) -> u32 {
    u32::BITS - most.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(runs: &[(u32, u32)], width: u32) -> Vec<u8> {
        let (mut all, mut out) = (Runs::default(), Vec::new());
        runs.iter().for_each(|(number, count)| all.push(*number, *count));
        all.encode(width, &mut out);
        out
    }

    #[test]
    fn the_example_of_the_specification() {
        // The numbers 0 to 7 in three bits each.
        let runs: Vec<_> = (0..8).map(|number| (number, 1)).collect();
        assert_eq!(encoded(&runs, 3), [0b11, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
    }

    #[test]
    fn long_runs_and_what_is_between_them() {
        assert_eq!(encoded(&[(1, 100)], 1), [200, 1, 1]);
        // One zero, seven ones to fill its group, 93 ones as a run, two zeros in a last group.
        assert_eq!(encoded(&[(0, 1), (1, 100), (0, 2)], 1), [3, 0b1111_1110, 186, 1, 1, 3, 0]);
        assert_eq!(encoded(&[(0, 9)], 0), [18]);
        assert!(encoded(&[], 1).is_empty());
    }

    #[test]
    fn widths() {
        assert_eq!([0, 1, 2, 255, 256].map(width), [0, 1, 2, 8, 9]);
    }
}
