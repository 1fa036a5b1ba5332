//! Rows of a growing column that have no value.
//!
//! In: stretches of missing rows, in order. Out: Arrow's validity bitmap. Bounded by: sixteen bytes a
//! stretch. Most columns are set in every row or in hardly any: noting what is missing, rather than a bit
//! for each row, costs a value nothing.

use arrow_buffer::{BooleanBufferBuilder, NullBuffer};

/// The missing rows of one column.
#[derive(Debug, Default)]
pub struct Gaps {
    /// The first row of each stretch, and the one after its last.
    stretches: Vec<(usize, usize)>,
}

impl Gaps {
    /// Notes that the rows from `from` up to, but not including, `to` have no value. Stretches come in
    /// order and do not overlap.
    pub fn note(&mut self, from: usize, to: usize) {
        if from < to {
            self.stretches.push((from, to));
        }
    }

    /// Which of `rows` rows have a value, `None` when all have; the next batch starts without gaps.
    pub fn take(&mut self, rows: usize) -> Option<NullBuffer> {
        if self.stretches.is_empty() {
            return None;
        }
        let mut valid = BooleanBufferBuilder::new(rows);
        for (from, to) in self.stretches.drain(..) {
            valid.append_n(from.saturating_sub(valid.len()), true);
            valid.append_n(to.saturating_sub(valid.len()), false);
        }
        valid.append_n(rows.saturating_sub(valid.len()), true);
        Some(NullBuffer::new(valid.finish()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_of_nine_rows() {
        let mut gaps = Gaps::default();
        for pattern in 0u32..1 << 9 {
            let set = |row: &usize| pattern >> row & 1 == 1;
            (0..9).filter(|row| !set(row)).for_each(|row| gaps.note(row, row + 1));
            let nulls = gaps.take(9);
            assert_eq!(nulls.is_none(), pattern == (1 << 9) - 1);
            if let Some(nulls) = nulls {
                assert_eq!(nulls.len(), 9);
                assert!((0..9).all(|row| nulls.is_valid(row) == set(&row)), "{pattern:b}");
            }
        }
    }

    #[test]
    fn an_empty_stretch_is_none() {
        let mut gaps = Gaps::default();
        gaps.note(3, 3);
        assert!(gaps.take(5).is_none());
    }
}
