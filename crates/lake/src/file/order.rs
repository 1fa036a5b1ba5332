//! Rows of several batches by time, and by date.

use std::borrow::Cow;
use std::ops::Range;

use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{RecordBatch, cast::AsArray};

/// Rows of more than this many dates in one flush share a file without a date: what a sender claims
/// about time must not decide how many files there are.
const DATES_PER_FLUSH: usize = 32;

/// A row and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Picked {
    /// Its time, microseconds.
    pub time: i64,
    batch: u32,
    row: u32,
}

/// Rows that follow each other in one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Which batch.
    pub batch: usize,
    /// The first of them.
    pub from: u32,
    /// The one after the last.
    pub to: u32,
}

/// The rows of several batches by time.
pub struct Order {
    rows: Vec<Picked>,
}

/// A partition's date, `None` for the one without, and its rows by time.
pub type Partition<'a> = (Option<i32>, Cow<'a, [Picked]>);

impl Order {
    /// Sorts; rows of one time stay as they came.
    pub fn of(batches: &[&RecordBatch]) -> Self {
        let total = batches.iter().map(|batch| batch.num_rows()).sum();
        let mut rows = Vec::with_capacity(total);
        for (batch, rows_of) in (0u32..).zip(batches) {
            let times = rows_of.column(0).as_primitive::<TimestampMicrosecondType>().values();
            rows.extend((0u32..).zip(times.iter()).map(|(row, time)| Picked { time: *time, batch, row }));
        }
        // A stable sort finds the runs that batches are, and merges them.
        rows.sort_by_key(|row| row.time);
        Self { rows }
    }

    /// The rows of each file to write.
    pub fn partitions(&self) -> Vec<Partition<'_>> {
        let mut found: Vec<(i32, Range<usize>)> = Vec::new();
        let mut start = 0;
        while let Some(first) = self.rows.get(start) {
            let date = days(first.time);
            let end = start + self.rows[start..].partition_point(|row| days(row.time) == date);
            found.push((date, start..end));
            start = end;
        }
        let rows = |range: &Range<usize>| Cow::Borrowed(&self.rows[range.clone()]);
        if found.len() <= DATES_PER_FLUSH {
            return found.iter().map(|(date, range)| (Some(*date), rows(range))).collect();
        }
        let mut by_size: Vec<usize> = (0..found.len()).collect();
        by_size.sort_by_key(|at| std::cmp::Reverse(found[*at].1.len()));
        let mut own: Vec<usize> = by_size.drain(..DATES_PER_FLUSH - 1).collect();
        own.sort_unstable();
        by_size.sort_unstable();
        let mut result: Vec<Partition<'_>> =
            own.into_iter().map(|at| (Some(found[at].0), rows(&found[at].1))).collect();
        let others = by_size.into_iter().flat_map(|at| &self.rows[found[at].1.clone()]);
        result.push((None, others.copied().collect()));
        result
    }
}

fn days(micros: i64) -> i32 {
    i32::try_from(micros.div_euclid(86_400_000_000)).unwrap_or(0)
}

/// Rows as pieces of batches.
pub fn pieces(rows: &[Picked]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for row in rows {
        match pieces.last_mut() {
            Some(last) if last.batch == row.batch as usize && last.to == row.row => last.to += 1,
            _ => pieces.push(Piece { batch: row.batch as usize, from: row.row, to: row.row + 1 }),
        }
    }
    pieces
}
