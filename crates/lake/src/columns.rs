//! The columns of one batch while it grows.
//!
//! A column costs nothing until its first value: rows left out are null, filled in when a later row sets
//! the column or the batch is sealed. So the many columns that are rarely set cost a row nothing.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryViewArray, Float64Array, Int32Array, Int64Array, RecordBatch,
    TimestampMicrosecondArray, builder::BinaryViewBuilder, new_null_array,
};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::SchemaRef;
use mem::block::Shared;
use mem::gaps::Gaps;
use mem::views::{self, View, ViewSet};
use model::table::{Kind, Table};

use crate::schema;

/// A column of numbers with nulls filled in late.
#[derive(Debug)]
struct Numbers<T> {
    values: Vec<T>,
    gaps: Gaps,
    capacity: usize,
}

impl<T: Copy + Default> Numbers<T> {
    fn new(capacity: usize) -> Self {
        Self { values: Vec::new(), gaps: Gaps::default(), capacity }
    }

    fn pad(&mut self, row: usize) {
        let from = self.values.len();
        if from < row {
            self.values.resize(row, T::default());
            self.gaps.note(from, row);
        }
    }

    #[inline]
    fn push(&mut self, row: usize, value: T) {
        if self.values.len() != row || row == self.values.capacity() {
            self.make_room(row);
        }
        self.values.push(value);
    }

    #[cold]
    fn make_room(&mut self, row: usize) {
        if self.values.capacity() == 0 {
            self.values.reserve(self.capacity);
        }
        self.pad(row);
    }

    /// The values and their nulls, or nothing when no row set the column.
    fn take(&mut self, rows: usize) -> Option<(Vec<T>, Option<arrow_buffer::NullBuffer>)> {
        if self.values.is_empty() {
            return None;
        }
        self.pad(rows);
        let mut values = std::mem::take(&mut self.values);
        // Batches sealed for their age have few rows, and room for many must not stay with them.
        if values.len() < values.capacity() / 2 {
            values.shrink_to_fit();
        }
        Some((values, self.gaps.take(rows)))
    }
}

/// The growing columns of one table, addressed by their position in the table's definition.
#[derive(Debug)]
pub struct Columns {
    table: &'static Table,
    schema: SchemaRef,
    texts: ViewSet,
    ints: Vec<Numbers<i32>>,
    longs: Vec<Numbers<i64>>,
    bytes: Vec<(usize, BinaryViewBuilder, usize)>,
    rows: usize,
    used_bytes: usize,
}

impl Columns {
    /// Columns for `table`, expecting batches of `capacity` rows.
    pub fn new(table: &'static Table, capacity: usize) -> Self {
        let width = table.columns.len();
        Self {
            table,
            schema: schema::arrow(table),
            texts: ViewSet::new(width, capacity),
            ints: (0..width).map(|_| Numbers::new(capacity)).collect(),
            longs: (0..width).map(|_| Numbers::new(capacity)).collect(),
            bytes: Vec::new(),
            rows: 0,
            used_bytes: 0,
        }
    }

    /// Rows in the batch, not counting the one being set.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Memory that the blocks behind the batch keep in use.
    pub fn held_bytes(&self) -> usize {
        self.texts.held_bytes()
    }

    /// From here on text is looked for in `block` first.
    pub fn use_block(&mut self, block: &Shared) {
        self.texts.use_block(block);
    }

    /// Lets go of the block in use.
    pub fn forget_block(&mut self) {
        self.texts.forget_block();
    }

    /// Sets a text column of the current row.
    #[inline]
    pub fn text(&mut self, column: usize, value: &str) {
        self.texts.push(column, self.rows, value);
    }

    /// Sets the text column that holds the whole payload; its length decides whether keeping the block
    /// is worth it.
    #[inline]
    pub fn payload(&mut self, column: usize, value: &str) {
        self.used_bytes = self.used_bytes.saturating_add(value.len());
        self.texts.push(column, self.rows, value);
    }

    /// Places text that many rows of this batch will repeat.
    pub fn place(&mut self, value: &str) -> View {
        self.texts.place(value)
    }

    /// Sets a text column of the current row to a placed value.
    #[inline]
    pub fn view(&mut self, column: usize, view: View) {
        self.texts.push_view(column, self.rows, view);
    }

    /// Sets an `Int` column of the current row.
    #[inline]
    pub fn int(&mut self, column: usize, value: i32) {
        self.ints[column].push(self.rows, value);
    }

    /// Sets a `Long` or `Time` column of the current row.
    #[inline]
    pub fn long(&mut self, column: usize, value: i64) {
        self.longs[column].push(self.rows, value);
    }

    /// Sets a `Double` column of the current row; its bits wait among the longs, which are as wide.
    #[inline]
    pub fn double(&mut self, column: usize, value: f64) {
        self.long(column, value.to_bits().cast_signed());
    }

    /// Sets a `Bytes` column of the current row; the bytes are copied.
    pub fn bytes(&mut self, column: usize, value: &[u8]) {
        let row = self.rows;
        let position = match self.bytes.iter().position(|(at, _, _)| *at == column) {
            Some(position) => position,
            None => {
                self.bytes.push((column, BinaryViewBuilder::new(), 0));
                self.bytes.len() - 1
            }
        };
        let (_, builder, filled) = &mut self.bytes[position];
        for _ in *filled..row {
            builder.append_null();
        }
        builder.append_value(value);
        *filled = row + 1;
    }

    /// Ends the current row.
    #[inline]
    pub fn end_row(&mut self) {
        self.rows += 1;
    }

    /// Closes the batch and starts the next one.
    ///
    /// Text is copied out of the blocks where it fills less than a quarter of them, so that a few rows
    /// never hold much memory.
    pub fn seal(&mut self) -> Option<(RecordBatch, usize)> {
        let rows = std::mem::take(&mut self.rows);
        if rows == 0 {
            return None;
        }
        let used = std::mem::take(&mut self.used_bytes);
        let mut held = self.texts.held_bytes();
        let sparse = views::sparse(used, held);
        let mut texts = self.texts.finish(rows);
        if sparse {
            held = 0;
            for array in &mut texts {
                *array = views::compact(array);
                held += array.data_buffers().iter().map(|buffer| buffer.capacity()).sum::<usize>();
            }
        }
        let mut texts: Vec<_> = texts.into_iter().map(Some).collect();
        let mut nothing = Nothing::default();
        let own_bytes = rows
            * (16
                * texts
                    .iter()
                    .filter(|text| text.as_ref().is_some_and(|text| text.null_count() < rows))
                    .count()
                + 4 * self.ints.iter().filter(|column| !column.values.is_empty()).count()
                + 8 * self.longs.iter().filter(|column| !column.values.is_empty()).count());
        let arrays: Vec<ArrayRef> = self
            .table
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| -> ArrayRef {
                match column.kind {
                    Kind::Text => Arc::new(
                        texts[at].take().unwrap_or_else(|| arrow_array::StringViewArray::new_null(rows)),
                    ),
                    Kind::Int => match self.ints[at].take(rows) {
                        Some((values, nulls)) => Arc::new(Int32Array::new(ScalarBuffer::from(values), nulls)),
                        None => nothing.of(&arrow_schema::DataType::Int32, rows),
                    },
                    Kind::Long => match self.longs[at].take(rows) {
                        Some((values, nulls)) => Arc::new(Int64Array::new(ScalarBuffer::from(values), nulls)),
                        None => nothing.of(&arrow_schema::DataType::Int64, rows),
                    },
                    Kind::Double => match self.longs[at].take(rows) {
                        Some((bits, nulls)) => {
                            Arc::new(Float64Array::new(ScalarBuffer::from(Buffer::from_vec(bits)), nulls))
                        }
                        None => nothing.of(&arrow_schema::DataType::Float64, rows),
                    },
                    Kind::Time => match self.longs[at].take(rows) {
                        Some((values, nulls)) => Arc::new(
                            TimestampMicrosecondArray::new(ScalarBuffer::from(values), nulls)
                                .with_timezone("UTC"),
                        ),
                        None => nothing.of(self.schema.field(at).data_type(), rows),
                    },
                    Kind::Bytes => match self.take_bytes(at, rows) {
                        Some(bytes) => Arc::new(bytes),
                        None => nothing.of(&arrow_schema::DataType::BinaryView, rows),
                    },
                }
            })
            .collect();
        held += own_bytes;
        // The arrays are made to the schema above: types by kind, each of `rows` rows.
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).ok()?;
        Some((batch, held))
    }

    /// Lets go of every block but the one in use; for a batch without rows.
    pub fn discard_blocks(&mut self) {
        self.used_bytes = 0;
        self.texts.finish(0);
    }

    fn take_bytes(&mut self, column: usize, rows: usize) -> Option<BinaryViewArray> {
        let (_, builder, filled) =
            self.bytes.iter_mut().find(|(at, _, filled)| *at == column && *filled > 0)?;
        for _ in *filled..rows {
            builder.append_null();
        }
        *filled = 0;
        Some(builder.finish())
    }
}

/// Arrays of nulls, one for each type, shared by all columns of a batch that have no value.
#[derive(Default)]
struct Nothing {
    arrays: Vec<ArrayRef>,
}

impl Nothing {
    fn of(&mut self, kind: &arrow_schema::DataType, rows: usize) -> ArrayRef {
        if let Some(array) = self.arrays.iter().find(|array| array.data_type() == kind) {
            return Arc::clone(array);
        }
        let array = new_null_array(kind, rows);
        self.arrays.push(Arc::clone(&array));
        array
    }
}
