//! Arrow string views into receive blocks.
//!
//! In: `&str` slices, most of them lying in the block that a shard reads into. Out: one
//! `StringViewArray` per column whose views point into those blocks. Owned: 16 bytes a value, a
//! [`Shared`] per block, and a scratch buffer for text that lies in no block. Bounded by: the blocks the
//! pool gave (its budget) and 12 bytes inline per short value. Lost: nothing.
//!
//! Layout of a view: Arrow columnar format, "Variable-size Binary View Layout"
//! <https://arrow.apache.org/docs/format/Columnar.html#variable-size-binary-view-layout>.

use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::StringViewArray;
use arrow_array::builder::make_view;
use arrow_buffer::{Buffer, ScalarBuffer};

use crate::block::Shared;
use crate::gaps::Gaps;

/// The longest value that a view holds by itself.
const INLINE: usize = 12;
/// Text in no block is gathered in buffers of about this size.
const SCRATCH_BYTES: usize = 256 * 1024;

/// The columns of one batch and the memory their views point into.
#[derive(Debug)]
pub struct ViewSet {
    id: u64,
    columns: Vec<ViewColumn>,
    buffers: Vec<Source>,
    /// The block that incoming slices are looked for in first, and its index in `buffers`.
    current: Option<(Shared, u32)>,
    /// Text that had to be copied, and its index in `buffers` once a view points into it.
    scratch: Vec<u8>,
    scratch_index: Option<u32>,
    copied_bytes: u64,
}

/// What a buffer index stands for.
#[derive(Debug)]
enum Source {
    Block(Shared),
    Full(Buffer),
    /// The scratch buffer that is still growing.
    Scratch,
}

#[derive(Debug)]
struct ViewColumn {
    views: Vec<u128>,
    gaps: Gaps,
    capacity: usize,
}

impl ViewColumn {
    fn new(capacity: usize) -> Self {
        Self { views: Vec::new(), gaps: Gaps::default(), capacity }
    }

    /// Brings the column to `row` values, the missing ones null.
    fn pad(&mut self, row: usize) {
        let from = self.views.len();
        if from < row {
            self.views.resize(row, 0);
            self.gaps.note(from, row);
        }
    }

    #[inline]
    fn push(&mut self, row: usize, view: u128) {
        if self.views.len() != row || row == self.views.capacity() {
            self.make_room(row);
        }
        self.views.push(view);
    }

    #[cold]
    fn make_room(&mut self, row: usize) {
        if self.views.capacity() == 0 {
            self.views.reserve(self.capacity);
        }
        self.pad(row);
    }
}

/// A value that was placed once and can be used in many rows of the same batch.
#[derive(Debug, Clone, Copy)]
pub struct View {
    raw: u128,
    set: u64,
}

impl ViewSet {
    /// A set of `columns` text columns; `capacity` is the number of rows to expect.
    pub fn new(columns: usize, capacity: usize) -> Self {
        Self {
            id: next_id(),
            columns: (0..columns).map(|_| ViewColumn::new(capacity)).collect(),
            buffers: Vec::new(),
            current: None,
            scratch: Vec::new(),
            scratch_index: None,
            copied_bytes: 0,
        }
    }

    /// From here on slices are looked for in `block` first.
    pub fn use_block(&mut self, block: &Shared) {
        if self.current.as_ref().is_some_and(|(current, _)| current.same(block)) {
            return;
        }
        let index = u32::try_from(self.buffers.len()).unwrap_or(u32::MAX);
        self.buffers.push(Source::Block(block.clone()));
        self.current = Some((block.clone(), index));
    }

    /// Whether any view of this batch may point into a block.
    pub fn holds_blocks(&self) -> bool {
        !self.buffers.is_empty()
    }

    /// Bytes that the blocks behind this batch keep from being used again.
    pub fn held_bytes(&self) -> usize {
        self.buffers
            .iter()
            .map(|source| match source {
                Source::Block(block) => block.capacity(),
                Source::Full(buffer) => buffer.capacity(),
                Source::Scratch => self.scratch.capacity(),
            })
            .sum()
    }

    /// Bytes copied because they lay in no block, since the set was made.
    pub fn copied_bytes(&self) -> u64 {
        self.copied_bytes
    }

    /// Puts `text` into `column` at `row`; rows left out before it are null.
    ///
    /// # Panics
    /// When the column does not exist.
    #[inline]
    pub fn push(&mut self, column: usize, row: usize, text: &str) {
        let view = self.view_of(text.as_bytes());
        self.columns[column].push(row, view);
    }

    /// Puts a placed value into `column` at `row`.
    ///
    /// # Panics
    /// When the view was placed in another batch, or the column does not exist.
    #[inline]
    pub fn push_view(&mut self, column: usize, row: usize, view: View) {
        assert!(view.set == self.id, "a view belongs to the batch it was placed in");
        self.columns[column].push(row, view.raw);
    }

    /// Finds where `text` lies, or copies it.
    #[inline]
    pub fn place(&mut self, text: &str) -> View {
        View { raw: self.view_of(text.as_bytes()), set: self.id }
    }

    #[inline]
    fn view_of(&mut self, bytes: &[u8]) -> u128 {
        if let Some((block, index)) = &self.current
            && let Some((at, head)) = block.locate(bytes)
        {
            return match head {
                Some(head) => view_within(head, at, bytes.len(), *index),
                None => make_view(bytes, *index, at),
            };
        }
        if bytes.len() <= INLINE { make_view(bytes, 0, 0) } else { self.copy(bytes) }
    }

    #[cold]
    fn copy(&mut self, bytes: &[u8]) -> u128 {
        if self.scratch_index.is_some() && self.scratch.len() + bytes.len() > SCRATCH_BYTES {
            self.close_scratch();
        }
        let index = *self.scratch_index.get_or_insert_with(|| {
            let index = u32::try_from(self.buffers.len()).unwrap_or(u32::MAX);
            self.buffers.push(Source::Scratch);
            index
        });
        let offset = u32::try_from(self.scratch.len()).unwrap_or(u32::MAX);
        self.scratch.extend_from_slice(bytes);
        self.copied_bytes += bytes.len() as u64;
        make_view(bytes, index, offset)
    }

    fn close_scratch(&mut self) {
        if let Some(index) = self.scratch_index.take() {
            let full = std::mem::take(&mut self.scratch);
            self.buffers[index as usize] = Source::Full(Buffer::from_vec(full));
        }
    }

    /// Closes the batch at `rows` rows and starts the next one: the arrays, in column order.
    ///
    /// A column without a value costs no memory. The current block stays in use for the next batch.
    pub fn finish(&mut self, rows: usize) -> Vec<StringViewArray> {
        self.close_scratch();
        let buffers: Vec<Buffer> = self
            .buffers
            .drain(..)
            .map(|source| match source {
                Source::Block(block) => Buffer::from(block.into_bytes()),
                Source::Full(buffer) => buffer,
                Source::Scratch => Buffer::from_vec(Vec::<u8>::new()),
            })
            .collect();
        let buffers: std::sync::Arc<[Buffer]> = buffers.into();
        // Columns without a value share one array of nulls.
        let mut nothing = None;
        let arrays = self
            .columns
            .iter_mut()
            .map(|column| {
                if column.views.is_empty() {
                    return nothing.get_or_insert_with(|| StringViewArray::new_null(rows)).clone();
                }
                column.pad(rows);
                let nulls = column.gaps.take(column.views.len());
                let mut views = std::mem::take(&mut column.views);
                // Batches sealed for their age have few rows, and room for many must not stay with them.
                if views.len() < views.capacity() / 2 {
                    views.shrink_to_fit();
                }
                // A column of short values needs none of the buffers; not keeping them lets the blocks
                // go as soon as the columns that do need them are gone.
                let inline = views.iter().all(|view| *view as u32 as usize <= INLINE);
                let held = if inline { std::sync::Arc::from([]) } else { buffers.clone() };
                let views = ScalarBuffer::from(views);
                // SAFETY: every view was made by `place` of this very batch (`push_view` checks the
                // batch), from a `&str`: either its bytes are inline, or it names a range of a buffer in
                // `buffers`, at the index it was given when the buffer was added, and nothing is ever
                // taken out of `buffers` before here. The range lies in the frozen part of a block,
                // whose bytes never change while a `Shared` (kept by the `Buffer`) lives, or in a
                // scratch buffer that only grew. So each view is in bounds, its prefix is right, and
                // its bytes are the UTF-8 text they were. Padded views are null and of length zero.
                unsafe { StringViewArray::new_unchecked(views, held, nulls) }
            })
            .collect();
        self.id = next_id();
        if let Some((block, _)) = self.current.take() {
            self.use_block(&block);
        }
        arrays
    }

    /// Lets go of the current block, so that it can return to its pool once the sealed batches are gone.
    pub fn forget_block(&mut self) {
        self.current = None;
    }
}

/// The view of `length` bytes at `at` within a block, which begin with `head`: built from one load of
/// sixteen bytes, whatever the length.
#[inline]
fn view_within(head: u128, at: u32, length: usize, index: u32) -> u128 {
    if length <= INLINE {
        let mask = (1u128 << (8 * length)) - 1;
        return length as u128 | (head & mask) << 32;
    }
    let prefix = head & u128::from(u32::MAX);
    length as u32 as u128 | prefix << 32 | u128::from(index) << 64 | u128::from(at) << 96
}

/// Whether the values of `arrays` fill so little of the buffers they hold that copying them is cheaper
/// than keeping the buffers: less than a quarter.
pub fn sparse(used_bytes: usize, held_bytes: usize) -> bool {
    used_bytes.saturating_mul(4) < held_bytes
}

/// Copies the values of an array out of its buffers into one of their own size.
pub fn compact(array: &StringViewArray) -> StringViewArray {
    if array.data_buffers().is_empty() { array.clone() } else { array.gc() }
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;

    use super::*;
    use crate::pool::Pool;

    fn block_with(pool: &mut Pool, text: &str) -> crate::block::Block {
        let mut block = pool.take().unwrap();
        block.spare()[..text.len()].copy_from_slice(text.as_bytes());
        block.commit(text.len());
        block
    }

    #[test]
    fn views_point_into_the_block_and_outlive_it() {
        let text = "INVITE sip:bob@biloxi.example.com SIP/2.0";
        let mut pool = Pool::new(4096, 1);
        let block = block_with(&mut pool, text);
        let mut set = ViewSet::new(2, 4);
        set.use_block(&block.share());
        let frozen = std::str::from_utf8(block.frozen()).unwrap();
        set.push(0, 0, &frozen[..6]);
        set.push(0, 2, &frozen[7..33]);
        assert_eq!(set.copied_bytes(), 0);
        let arrays = set.finish(3);
        set.forget_block();
        drop(set);
        drop(block);
        assert!(pool.take().is_none(), "the array still holds the only block");
        assert_eq!(arrays[0].value(0), "INVITE");
        assert!(arrays[0].is_null(1));
        assert_eq!(arrays[0].value(2), "sip:bob@biloxi.example.com");
        assert_eq!(arrays[1].null_count(), 3);
        drop(arrays);
        assert!(pool.take().is_some());
    }

    #[test]
    fn every_length_at_every_place_reads_back() {
        let text: String = ('!'..='~').collect();
        let mut pool = Pool::new(4096, 1);
        let block = block_with(&mut pool, &text);
        let frozen = std::str::from_utf8(block.frozen()).unwrap();
        for length in 0..=40 {
            let mut set = ViewSet::new(1, 4);
            set.use_block(&block.share());
            let places = 0..=frozen.len() - length;
            places.clone().for_each(|at| set.push(0, at, &frozen[at..at + length]));
            let array = set.finish(frozen.len() - length + 1).remove(0);
            // The library's own check of every view.
            array.to_data().validate_full().unwrap();
            places.for_each(|at| assert_eq!(array.value(at), &frozen[at..at + length]));
        }
    }

    #[test]
    fn every_pattern_of_rows_set_reads_back() {
        for pattern in 0u32..1 << 9 {
            let mut set = ViewSet::new(1, 2);
            let expected: Vec<_> = (0..9).map(|row| (pattern >> row & 1 == 1).then_some("x")).collect();
            for (row, value) in expected.iter().enumerate() {
                if let Some(value) = value {
                    set.push(0, row, value);
                }
            }
            let arrays = set.finish(9);
            assert!(arrays[0].iter().eq(expected.iter().copied()), "{pattern:b}");
            assert_eq!(arrays[0].null_count(), 9 - pattern.count_ones() as usize);
            // Nothing of it is left in the next batch.
            set.push(0, 0, "y");
            assert_eq!(set.finish(1)[0].null_count(), 0);
        }
    }

    #[test]
    fn text_outside_the_block_is_copied() {
        let mut set = ViewSet::new(1, 4);
        let long = "x".repeat(SCRATCH_BYTES / 2 + 1);
        for row in 0..4 {
            set.push(0, row, &long);
        }
        set.push(0, 4, "a value longer than twelve bytes");
        let arrays = set.finish(5);
        assert!(arrays[0].iter().take(4).all(|value| value == Some(long.as_str())));
        assert_eq!(arrays[0].value(4), "a value longer than twelve bytes");
    }

    #[test]
    #[should_panic(expected = "belongs to the batch")]
    fn a_view_of_another_batch_is_refused() {
        let mut set = ViewSet::new(1, 1);
        let view = set.place("a value longer than twelve bytes");
        set.finish(0);
        set.push_view(0, 0, view);
    }

    #[test]
    fn the_next_batch_starts_with_the_current_block() {
        let text = "a value longer than twelve bytes";
        let mut pool = Pool::new(4096, 1);
        let block = block_with(&mut pool, text);
        let mut set = ViewSet::new(1, 1);
        set.use_block(&block.share());
        set.push(0, 0, std::str::from_utf8(block.frozen()).unwrap());
        let first = set.finish(1);
        set.push(0, 0, std::str::from_utf8(block.frozen()).unwrap());
        let second = set.finish(1);
        assert_eq!(first[0], second[0]);
        assert_eq!(set.copied_bytes(), 0);
    }
}
