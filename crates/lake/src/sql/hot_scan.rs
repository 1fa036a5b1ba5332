//! The table function that gives the engine the rows in memory.
//!
//! `wirelake_hot(token)` reads the batches that were registered under the token; only the columns that
//! the query needs are converted, and only the rows that its conditions leave.

use std::collections::HashMap;
use std::error::Error;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_schema::{Field, Schema, SchemaRef};
use duckdb::core::{DataChunkHandle, LogicalTypeHandle, LogicalTypeId};
use duckdb::vtab::arrow::{record_batch_to_duckdb_data_chunk, to_duckdb_logical_type};
use duckdb::vtab::{BindInfo, InitInfo, TableFunctionInfo, VTab};

/// The function's name in SQL.
pub const FUNCTION: &str = "wirelake_hot";
/// Rows per chunk: the engine's vector size.
const CHUNK_ROWS: usize = 2_048;

/// A batch and the rows of it that can matter; `None` for all.
#[derive(Debug)]
pub struct Selected {
    /// The batch.
    pub batch: RecordBatch,
    /// Row numbers, ascending.
    pub rows: Option<Vec<u32>>,
}

impl Selected {
    fn len(&self) -> usize {
        self.rows.as_ref().map_or(self.batch.num_rows(), Vec::len)
    }
}

/// What one query reads out of memory.
#[derive(Debug)]
pub struct HotRows {
    schema: SchemaRef,
    /// Batch, first row and row count of each chunk.
    chunks: Vec<(usize, usize, usize)>,
    selected: Vec<Selected>,
}

impl HotRows {
    /// Rows of batches that all have this schema.
    pub fn new(schema: SchemaRef, selected: Vec<Selected>) -> Self {
        let chunks = selected
            .iter()
            .enumerate()
            .flat_map(|(at, part)| {
                (0..part.len())
                    .step_by(CHUNK_ROWS)
                    .map(move |from| (at, from, CHUNK_ROWS.min(part.len() - from)))
            })
            .collect();
        Self { schema, chunks, selected }
    }

    /// Rows in all.
    pub fn len(&self) -> usize {
        self.selected.iter().map(Selected::len).sum()
    }

    /// One chunk with the columns asked for. A column beyond the schema is one of the engine's own
    /// (a row id, or nothing but a row count): its values are never looked at.
    fn chunk(
        &self,
        number: usize,
        columns: &[usize],
        output: &DataChunkHandle,
    ) -> Result<Option<RecordBatch>, Box<dyn Error>> {
        let Some((at, from, count)) = self.chunks.get(number).copied() else { return Ok(None) };
        let part = self.selected.get(at).ok_or("no such batch")?;
        let indices = part
            .rows
            .as_ref()
            .and_then(|rows| rows.get(from..from + count))
            .map(|rows| UInt32Array::from(rows.to_vec()));
        let mut fields = Vec::with_capacity(columns.len());
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
        for (place, column) in columns.iter().enumerate() {
            let array = if *column < part.batch.num_columns() {
                let whole = part.batch.column(*column);
                match &indices {
                    Some(indices) => arrow_select::take::take(whole.as_ref(), indices, None)?,
                    None => whole.slice(from, count),
                }
            } else {
                match output.flat_vector(place).logical_type().id() {
                    LogicalTypeId::Boolean => Arc::new(BooleanArray::from(vec![false; count])) as ArrayRef,
                    LogicalTypeId::Bigint => Arc::new(Int64Array::from(vec![0; count])),
                    other => return Err(format!("the engine asked for a column of type {other:?}").into()),
                }
            };
            fields.push(Field::new(format!("c{place}"), array.data_type().clone(), true));
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        Ok(Some(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?))
    }
}

/// Rows registered for a query; taken back when dropped.
#[derive(Debug)]
pub struct Registered {
    /// What to call the function with.
    pub token: u64,
}

static NEXT_TOKEN: AtomicU64 = AtomicU64::new(1);
static ROWS: LazyLock<Mutex<HashMap<u64, Arc<HotRows>>>> = LazyLock::new(Mutex::default);

fn rows() -> MutexGuard<'static, HashMap<u64, Arc<HotRows>>> {
    ROWS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes rows readable as `wirelake_hot(token)`.
pub fn register(hot: HotRows) -> Registered {
    let token = NEXT_TOKEN.fetch_add(1, Ordering::Relaxed);
    rows().insert(token, Arc::new(hot));
    Registered { token }
}

impl Drop for Registered {
    fn drop(&mut self) {
        rows().remove(&self.token);
    }
}

/// The table function.
#[derive(Debug)]
pub struct HotScan;

/// What a scan knows from its start on.
#[derive(Debug)]
pub struct Scan {
    columns: Vec<usize>,
    next: AtomicUsize,
}

impl VTab for HotScan {
    type InitData = Scan;
    type BindData = Arc<HotRows>;

    fn bind(bind: &BindInfo) -> Result<Self::BindData, Box<dyn Error>> {
        let token = u64::try_from(bind.get_parameter(0).to_int64())?;
        let hot = rows().get(&token).cloned().ok_or("the rows of this query are gone")?;
        for field in hot.schema.fields() {
            bind.add_result_column(field.name(), to_duckdb_logical_type(field.data_type())?);
        }
        bind.set_cardinality(hot.len() as u64, true);
        Ok(hot)
    }

    fn init(init: &InitInfo) -> Result<Self::InitData, Box<dyn Error>> {
        let columns = init
            .get_column_indices()
            .into_iter()
            .map(|at| usize::try_from(at).unwrap_or(usize::MAX))
            .collect();
        Ok(Scan { columns, next: AtomicUsize::new(0) })
    }

    fn func(call: &TableFunctionInfo<Self>, output: &mut DataChunkHandle) -> Result<(), Box<dyn Error>> {
        let scan = call.get_init_data();
        let number = scan.next.fetch_add(1, Ordering::Relaxed);
        match call.get_bind_data().chunk(number, &scan.columns, output)? {
            Some(batch) => record_batch_to_duckdb_data_chunk(&batch, output),
            None => {
                output.set_len(0);
                Ok(())
            }
        }
    }

    fn supports_pushdown() -> bool {
        true
    }

    fn parameters() -> Option<Vec<LogicalTypeHandle>> {
        Some(vec![LogicalTypeHandle::from(LogicalTypeId::Bigint)])
    }
}
