//! Parquet files: batches in, one sorted file per date out, synced before anyone hears of it.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{RecordBatch, cast::AsArray};
use arrow_select::interleave::interleave_record_batch;
use model::table::{Kind, Table};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use stats::meter::{Meter, during};

use crate::error::LakeError;
use crate::schema;

/// Rows of more than this many dates in one flush share a file without a date: what a sender claims
/// about time must not decide how many files there are.
const DATES_PER_FLUSH: usize = 32;
/// Rows gathered at once when a file has to be sorted.
const SORT_STEP: usize = 8 * 1024;

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

/// Writes batches as files under the table's folder.
///
/// Rows are sorted by time within each file. When it returns, the files are on the disk, but part of
/// the lake only once their names are committed to the log.
///
/// # Errors
/// [`LakeError::Io`] or [`LakeError::Parquet`] when a file cannot be written; what was written of it is
/// removed.
pub fn write(
    table: &'static Table,
    folder: &Path,
    batches: &[&RecordBatch],
    options: &FileOptions,
) -> Result<Vec<Arc<LakeFile>>, LakeError> {
    let order = Order::of(batches);
    let mut files: Vec<Arc<LakeFile>> = Vec::new();
    for (date, ranges) in partitions(&order) {
        match write_one(table, folder, batches, &order, date, &ranges, options) {
            Ok(file) => files.push(Arc::new(file)),
            Err(error) => {
                remove(&files);
                return Err(error);
            }
        }
    }
    Ok(files)
}

/// Removes files that will not become part of the lake, as far as the disk lets us.
pub fn remove(files: &[Arc<LakeFile>]) {
    for file in files {
        let _ = std::fs::remove_file(&file.path);
    }
}

/// The rows of several batches by time.
struct Order {
    /// Time, batch and row of each, sorted.
    rows: Vec<(i64, u32, u32)>,
    /// Whether that is the order they came in, so that batches can be written as they are.
    natural: bool,
}

impl Order {
    fn of(batches: &[&RecordBatch]) -> Self {
        let total = batches.iter().map(|batch| batch.num_rows()).sum();
        let mut rows = Vec::with_capacity(total);
        for (number, batch) in (0u32..).zip(batches) {
            let times = batch.column(0).as_primitive::<TimestampMicrosecondType>().values();
            rows.extend((0u32..).zip(times.iter()).map(|(row, time)| (*time, number, row)));
        }
        let natural = rows.is_sorted_by_key(|(time, _, _)| *time);
        if !natural {
            rows.sort_unstable();
        }
        Self { rows, natural }
    }

    fn time(&self, at: usize) -> i64 {
        self.rows.get(at).map_or(0, |(time, _, _)| *time)
    }
}

/// A partition's date, and the ranges of the order that belong to it.
type Partition = (Option<i32>, Vec<Range<usize>>);

fn partitions(order: &Order) -> Vec<Partition> {
    let mut found: Vec<(i32, Range<usize>)> = Vec::new();
    let mut start = 0;
    while start < order.rows.len() {
        let date = days(order.time(start));
        let end = start + order.rows[start..].partition_point(|(time, _, _)| days(*time) == date);
        found.push((date, start..end));
        start = end;
    }
    if found.len() <= DATES_PER_FLUSH {
        return found.into_iter().map(|(date, range)| (Some(date), vec![range])).collect();
    }
    let mut by_size: Vec<usize> = (0..found.len()).collect();
    by_size.sort_by_key(|at| std::cmp::Reverse(found[*at].1.len()));
    let mut own: Vec<usize> = by_size.drain(..DATES_PER_FLUSH - 1).collect();
    own.sort_unstable();
    by_size.sort_unstable();
    let mut result: Vec<Partition> =
        own.into_iter().map(|at| (Some(found[at].0), vec![found[at].1.clone()])).collect();
    result.push((None, by_size.into_iter().map(|at| found[at].1.clone()).collect()));
    result
}

fn days(micros: i64) -> i32 {
    i32::try_from(micros.div_euclid(86_400_000_000)).unwrap_or(0)
}

fn write_one(
    table: &'static Table,
    folder: &Path,
    batches: &[&RecordBatch],
    order: &Order,
    date: Option<i32>,
    ranges: &[Range<usize>],
    options: &FileOptions,
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
    let rows: usize = ranges.iter().map(Range::len).sum();
    let written = encode(table, &path, batches, order, ranges, rows, options);
    let bytes = match written {
        Ok(bytes) => bytes,
        Err(error) => {
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
    };
    sync(&folder)?;
    let first = ranges.first().map_or(0, |range| range.start);
    let last = ranges.last().map_or(0, |range| range.end.saturating_sub(1));
    Ok(LakeFile {
        path,
        rows: rows as u64,
        bytes,
        min_ts: order.time(first),
        max_ts: order.time(last),
        date,
        written_ms: milliseconds_now(),
    })
}

fn encode(
    table: &'static Table,
    path: &Path,
    batches: &[&RecordBatch],
    order: &Order,
    ranges: &[Range<usize>],
    rows: usize,
    options: &FileOptions,
) -> Result<u64, LakeError> {
    let fail = |source| LakeError::Parquet { path: path.to_path_buf(), source };
    let file = File::create_new(path).map_err(LakeError::io(path))?;
    let settings = ArrowWriterOptions::new()
        .with_properties(properties(table, rows, options))
        .with_skip_arrow_metadata(true);
    let out = BufWriter::with_capacity(1 << 20, Metered(file));
    let mut writer = ArrowWriter::try_new_with_options(out, schema::arrow(table), settings).map_err(fail)?;
    if order.natural && rows == order.rows.len() {
        for batch in batches {
            writer.write(batch).map_err(fail)?;
        }
    } else {
        for range in ranges {
            for step in order.rows[range.clone()].chunks(SORT_STEP) {
                let picks: Vec<(usize, usize)> =
                    step.iter().map(|(_, batch, row)| (*batch as usize, *row as usize)).collect();
                writer.write(&interleave_record_batch(batches, &picks)?).map_err(fail)?;
            }
        }
    }
    let out = writer.into_inner().map_err(fail)?;
    let Metered(file) = out.into_inner().map_err(|error| LakeError::io(path)(error.into_error()))?;
    during(Meter::StoreSync, 1, || file.sync_all()).map_err(LakeError::io(path))?;
    Ok(file.metadata().map_err(LakeError::io(path))?.len())
}

fn properties(table: &'static Table, rows: usize, options: &FileOptions) -> WriterProperties {
    let compression = match options.compression {
        Codec::None => Compression::UNCOMPRESSED,
        Codec::Snappy => Compression::SNAPPY,
        Codec::Lz4 => Compression::LZ4_RAW,
        Codec::Zstd(level) => Compression::ZSTD(ZstdLevel::try_new(level).unwrap_or_default()),
    };
    let mut builder = WriterProperties::builder()
        .set_compression(compression)
        .set_created_by(concat!("wirelake ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_max_row_group_row_count(Some(options.row_group_rows))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_column_statistics_enabled(ColumnPath::from(table.columns[0].name), EnabledStatistics::Page);
    for column in table.columns {
        let path = ColumnPath::from(column.name);
        if column.bloom {
            builder = builder
                .set_column_bloom_filter_enabled(path.clone(), true)
                .set_column_bloom_filter_fpp(path.clone(), 0.01)
                .set_column_bloom_filter_ndv(path.clone(), rows.min(options.row_group_rows) as u64);
        }
        // A dictionary is worth looking a value up only where values repeat; numbers pack well without.
        builder = match column.kind {
            Kind::Time => builder.set_column_encoding(path.clone(), Encoding::DELTA_BINARY_PACKED),
            _ => builder,
        };
        builder =
            builder.set_column_dictionary_enabled(path, column.kind == Kind::Text && repeats(column.name));
    }
    builder.build()
}

/// Whether the values of a text column repeat so often that files keep each one once.
fn repeats(column: &str) -> bool {
    matches!(
        column,
        "method"
            | "reason"
            | "from_host"
            | "to_host"
            | "ruri_host"
            | "contact_host"
            | "via_host"
            | "user_agent"
            | "content_type"
            | "transport"
            | "src_ip"
            | "dst_ip"
            | "agent_ip"
            | "node_name"
            | "auth"
            | "proto"
            | "organization"
            | "privacy"
            | "transaction_type"
            | "parse_error"
    )
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
