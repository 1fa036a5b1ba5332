//! What a query asks of one table, as far as it decides which files and rows can be left out.
//!
//! A condition is never stricter than the query: what it does not understand is [`Condition::Anything`].

use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array, RecordBatch, cast::AsArray};

/// A necessary condition on the rows that a query wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// No statement.
    Anything,
    /// All must hold.
    All(Vec<Condition>),
    /// At least one must hold.
    Any(Vec<Condition>),
    /// A text column is one of these values.
    Equals {
        /// Position in the table.
        column: usize,
        /// The values.
        values: Vec<String>,
    },
    /// The row's time lies between these, both included, in microseconds.
    Time {
        /// Earliest.
        min: i64,
        /// Latest.
        max: i64,
    },
}

/// Whether something can hold for a file or batch.
pub trait Evidence {
    /// Whether a row's time can lie in the range.
    fn time(&mut self, min: i64, max: i64) -> bool;
    /// Whether the column can hold one of the values.
    fn equals(&mut self, column: usize, values: &[String]) -> bool;
}

impl Condition {
    /// Whether rows that meet the condition can exist, going by the evidence.
    pub fn possible(&self, evidence: &mut impl Evidence) -> bool {
        match self {
            Self::Anything => true,
            Self::All(parts) => parts.iter().all(|part| part.possible(evidence)),
            Self::Any(parts) => parts.iter().any(|part| part.possible(evidence)),
            Self::Equals { column, values } => evidence.equals(*column, values),
            Self::Time { min, max } => evidence.time(*min, *max),
        }
    }

    /// Whether the condition says nothing.
    pub fn is_anything(&self) -> bool {
        match self {
            Self::Anything => true,
            Self::All(parts) => parts.iter().all(Self::is_anything),
            Self::Any(parts) => parts.iter().any(Self::is_anything),
            Self::Equals { .. } | Self::Time { .. } => false,
        }
    }

    /// The rows of a batch that can meet the condition; `None` when all of them can.
    pub fn rows(&self, batch: &RecordBatch) -> Option<Vec<u32>> {
        if self.is_anything() {
            return None;
        }
        let mask = self.mask(batch);
        if mask.iter().all(|kept| *kept) {
            return None;
        }
        Some((0u32..).zip(&mask).filter(|(_, kept)| **kept).map(|(row, _)| row).collect())
    }

    fn mask(&self, batch: &RecordBatch) -> Vec<bool> {
        let rows = batch.num_rows();
        match self {
            Self::Anything => vec![true; rows],
            Self::All(parts) => combine(parts, batch, true, |all, one| all & one),
            Self::Any(parts) => combine(parts, batch, false, |any, one| any | one),
            Self::Time { min, max } => {
                let times = batch.column(0).as_primitive::<TimestampMicrosecondType>();
                times.values().iter().map(|time| (min..=max).contains(&time)).collect()
            }
            Self::Equals { column, values } => match batch.column(*column).as_string_view_opt() {
                Some(texts) => (0..rows)
                    .map(|row| texts.is_valid(row) && values.iter().any(|value| value == texts.value(row)))
                    .collect(),
                None => vec![true; rows],
            },
        }
    }
}

fn combine(
    parts: &[Condition],
    batch: &RecordBatch,
    start: bool,
    with: impl Fn(bool, bool) -> bool,
) -> Vec<bool> {
    parts.iter().fold(vec![start; batch.num_rows()], |mut so_far, part| {
        for (kept, one) in so_far.iter_mut().zip(part.mask(batch)) {
            *kept = with(*kept, one);
        }
        so_far
    })
}
