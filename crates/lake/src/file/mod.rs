//! Parquet files: batches in, one sorted file per date out, synced before anyone hears of it.
//!
//! The footer, its indexes and the page headers are the library's; what is in the pages is made here, from
//! the batches as they are ([`values`]): no row is copied to be sorted, and nothing is looked up twice.

mod chunk;
mod compress;
mod delta;
mod hybrid;
mod order;
mod values;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, PrimitiveArray, RecordBatch, cast::AsArray};
use bytes::Bytes;
use model::table::{Column, Kind, Table};
use parquet::arrow::ArrowSchemaConverter;
use parquet::bloom_filter::Sbbf;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result as ParquetResult;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnDescPtr;
use stats::meter::{Meter, during};

use crate::error::LakeError;
use crate::schema;
use chunk::Chunk;
use compress::Compressor;
use order::{Order, Picked, Piece};
use values::{Numbers, Text};

/// False positives of a bloom filter.
const BLOOM_FALSE: f64 = 0.01;

/// A file of the lake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LakeFile {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// Rows in it; 0 when the log does not say.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// Time of its first row, microseconds.
    pub min_ts: i64,
    /// Time of its last row, microseconds, or a little later.
    pub max_ts: i64,
    /// Days since the epoch of its partition; `None` for the partition without a date.
    pub date: Option<i32>,
    /// When it was written, milliseconds.
    pub written_ms: i64,
}

/// How files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileOptions {
    /// Compression of every column.
    pub compression: Codec,
    /// Rows per row group.
    pub row_group_rows: usize,
}

/// Compression of Parquet pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codec {
    /// None.
    None,
    /// Snappy.
    Snappy,
    /// LZ4 raw blocks.
    Lz4,
    /// Zstandard at a level from 1 to 22.
    Zstd(i32),
}

/// Writes files; each thread that writes has its own.
#[derive(Debug)]
pub struct FileWriter {
    options: FileOptions,
    compressor: Compressor,
}

impl FileWriter {
    /// A writer with these options.
    pub fn new(options: FileOptions) -> Self {
        Self { options, compressor: Compressor::new(options.compression) }
    }

    /// Writes batches as files under the table's folder.
    ///
    /// Rows are sorted by time within each file. When it returns, the files are on the disk, but part of
    /// the lake only once their names are committed to the log.
    ///
    /// # Errors
    /// [`LakeError::Io`] or [`LakeError::Parquet`] when a file cannot be written; what was written of it
    /// is removed.
    pub fn write(
        &mut self,
        table: &'static Table,
        folder: &Path,
        batches: &[&RecordBatch],
    ) -> Result<Vec<Arc<LakeFile>>, LakeError> {
        let order = Order::of(batches);
        let mut files: Vec<Arc<LakeFile>> = Vec::new();
        for (date, rows) in order.partitions() {
            match self.write_one(table, folder, batches, date, &rows) {
                Ok(file) => files.push(Arc::new(file)),
                Err(error) => {
                    remove(&files);
                    return Err(error);
                }
            }
        }
        Ok(files)
    }

    fn write_one(
        &mut self,
        table: &'static Table,
        folder: &Path,
        batches: &[&RecordBatch],
        date: Option<i32>,
        rows: &[Picked],
    ) -> Result<LakeFile, LakeError> {
        let value = date.map_or_else(|| "__HIVE_DEFAULT_PARTITION__".to_owned(), text_date);
        let folder = folder.join(format!("{}={value}", schema::DATE));
        if !folder.is_dir() {
            std::fs::create_dir_all(&folder).map_err(LakeError::io(&folder))?;
            if let Some(parent) = folder.parent() {
                sync(parent)?;
            }
        }
        let path = folder.join(format!("{}.parquet", uuid::Uuid::now_v7()));
        let bytes = match self.encode(table, &path, batches, rows) {
            Ok(bytes) => bytes,
            Err(error) => {
                let _ = std::fs::remove_file(&path);
                return Err(error);
            }
        };
        sync(&folder)?;
        Ok(LakeFile {
            path,
            rows: rows.len() as u64,
            bytes,
            min_ts: rows.first().map_or(0, |row| row.time),
            max_ts: rows.last().map_or(0, |row| row.time),
            date,
            written_ms: milliseconds_now(),
        })
    }

    fn encode(
        &mut self,
        table: &'static Table,
        path: &Path,
        batches: &[&RecordBatch],
        rows: &[Picked],
    ) -> Result<u64, LakeError> {
        let fail = |source| LakeError::Parquet { path: path.to_path_buf(), source };
        let file = File::create_new(path).map_err(LakeError::io(path))?;
        let out = BufWriter::with_capacity(1 << 20, Metered(file));
        let written = self.write_groups(table, out, batches, rows).map_err(fail)?;
        let Metered(file) = written.into_inner().map_err(|error| LakeError::io(path)(error.into_error()))?;
        during(Meter::StoreSync, 1, || file.sync_all()).map_err(LakeError::io(path))?;
        Ok(file.metadata().map_err(LakeError::io(path))?.len())
    }

    fn write_groups(
        &mut self,
        table: &'static Table,
        out: BufWriter<Metered>,
        batches: &[&RecordBatch],
        rows: &[Picked],
    ) -> ParquetResult<BufWriter<Metered>> {
        let schema = ArrowSchemaConverter::new().convert(&schema::arrow(table))?;
        let properties = WriterProperties::builder()
            .set_created_by(concat!("wirelake ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let mut file = SerializedFileWriter::new(out, schema.root_schema_ptr(), Arc::new(properties))?;
        for group in rows.chunks(self.options.row_group_rows.max(1)) {
            let pieces = order::pieces(group);
            let descriptions = file.schema_descr().columns().to_vec();
            let mut writer = file.next_row_group()?;
            for ((at, column), description) in table.columns.iter().enumerate().zip(descriptions) {
                let arrays: Vec<&dyn Array> = batches.iter().map(|batch| batch.column(at).as_ref()).collect();
                let source =
                    Source { column, first: at == 0, arrays: &arrays, pieces: &pieces, rows: group.len() };
                let (bytes, close) = self.chunk(&source, description)?;
                writer.append_column(&bytes, close)?;
            }
            writer.close()?;
        }
        file.into_inner()
    }

    /// The pages of one column in one row group.
    fn chunk(
        &mut self,
        source: &Source<'_>,
        description: ColumnDescPtr,
    ) -> ParquetResult<(Bytes, ColumnCloseResult)> {
        let Source { column, first, arrays, pieces, rows } = *source;
        let nothing = arrays.iter().all(|array| array.null_count() == array.len());
        let bloom = match (column.bloom, nothing) {
            (false, _) => None,
            // A filter that knows no value rules all of them out.
            (true, true) => Some(Sbbf::new_with_num_of_bytes(0)),
            (true, false) => Some(Sbbf::new_with_ndv_fpp(rows as u64, BLOOM_FALSE)?),
        };
        if nothing && !first {
            let rows = u32::try_from(rows).unwrap_or(u32::MAX);
            return Chunk::nothing(description, &mut self.compressor, rows)?.finish(None, bloom);
        }
        let mut chunk = Chunk::new(description, &mut self.compressor);
        match column.kind {
            Kind::Text => {
                let mut text = Text::new(chunk, bloom);
                text.add(&arrays.iter().map(|array| array.as_string_view()).collect::<Vec<_>>(), pieces)?;
                text.finish()
            }
            Kind::Bytes => {
                let mut text = Text::new(chunk, bloom);
                text.add(&arrays.iter().map(|array| array.as_binary_view()).collect::<Vec<_>>(), pieces)?;
                text.finish()
            }
            Kind::Int => {
                let arrays: Vec<_> = arrays.iter().map(|array| array.as_primitive::<Int32Type>()).collect();
                let read = |array: &PrimitiveArray<Int32Type>, from, to, out: &mut Vec<i64>| {
                    out.extend(array.values()[from..to].iter().map(|number| i64::from(*number)));
                };
                values::numbers(&mut chunk, &arrays, pieces, Numbers::Int, read)?;
                chunk.finish(None, bloom)
            }
            Kind::Long => {
                let arrays: Vec<_> = arrays.iter().map(|array| array.as_primitive::<Int64Type>()).collect();
                let read = |array: &PrimitiveArray<Int64Type>, from, to, out: &mut Vec<i64>| {
                    out.extend_from_slice(&array.values()[from..to]);
                };
                values::numbers(&mut chunk, &arrays, pieces, Numbers::Long, read)?;
                chunk.finish(None, bloom)
            }
            Kind::Double => {
                let arrays: Vec<_> = arrays.iter().map(|array| array.as_primitive::<Float64Type>()).collect();
                let read = |array: &PrimitiveArray<Float64Type>, from, to, out: &mut Vec<i64>| {
                    out.extend(array.values()[from..to].iter().map(|number| number.to_bits().cast_signed()));
                };
                values::numbers(&mut chunk, &arrays, pieces, Numbers::Double, read)?;
                chunk.finish(None, bloom)
            }
            Kind::Time => {
                let arrays: Vec<_> =
                    arrays.iter().map(|array| array.as_primitive::<TimestampMicrosecondType>()).collect();
                let read =
                    |array: &PrimitiveArray<TimestampMicrosecondType>, from, to, out: &mut Vec<i64>| {
                        out.extend_from_slice(&array.values()[from..to]);
                    };
                let kind = if first { Numbers::Times } else { Numbers::Long };
                values::numbers(&mut chunk, &arrays, pieces, kind, read)?;
                chunk.finish(None, bloom)
            }
        }
    }
}

/// One column of a row group, where it comes from.
struct Source<'a> {
    column: &'static Column,
    /// Whether it is the time that files are sorted by.
    first: bool,
    arrays: &'a [&'a dyn Array],
    pieces: &'a [Piece],
    rows: usize,
}

/// Removes files that will not become part of the lake, as far as the disk lets us.
pub fn remove(files: &[Arc<LakeFile>]) {
    for file in files {
        let _ = std::fs::remove_file(&file.path);
    }
}

fn text_date(days: i32) -> String {
    let (year, month, day) = model::time::civil(i64::from(days));
    format!("{year:04}-{month:02}-{day:02}")
}

fn milliseconds_now() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

fn sync(folder: &Path) -> Result<(), LakeError> {
    during(Meter::StoreSync, 1, || File::open(folder).and_then(|folder| folder.sync_all()))
        .map_err(LakeError::io(folder))
}

/// A file whose writes are a stage of their own.
struct Metered(File);

impl Write for Metered {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        during(Meter::StoreWrite, bytes.len() as u64, || self.0.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests;
