//! The Delta log of one table: which Parquet files are live.
//!
//! In: files that were written and synced. Out: ACID commits, and at start the list of live files with
//! the time range of each. The log is plain Delta Lake, so any engine that reads Delta reads the lake.
//! Format: Delta transaction log protocol
//! <https://github.com/delta-io/delta/blob/master/PROTOCOL.md>.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, StructArray,
    TimestampMicrosecondArray, cast::AsArray,
};
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use delta_kernel::committer::FileSystemCommitter;
use delta_kernel::engine::arrow_data::ArrowEngineData;
use delta_kernel::expressions::Scalar;
use delta_kernel::scan::StatsOptions;
use delta_kernel::snapshot::{Snapshot, SnapshotRef};
use delta_kernel::transaction::CommitResult;
use delta_kernel::transaction::create_table::create_table;
use delta_kernel::transaction::data_layout::DataLayout;
use delta_kernel::{DeltaResult, FileMeta};
use delta_kernel_default_engine::executor::tokio::TokioMultiThreadExecutor;
use delta_kernel_default_engine::parquet::DataFileMetadata;
use delta_kernel_default_engine::storage::store_from_url;
use delta_kernel_default_engine::{DefaultEngine, build_add_file_metadata};
use model::table::Table;
use stats::meter::{Meter, during};
use url::Url;

use crate::error::LakeError;
use crate::file::LakeFile;
use crate::schema;

/// After this many commits a checkpoint is written, so that opening stays quick.
const CHECKPOINT_EVERY: u64 = 64;
/// How often a commit is tried again when another writer was first.
const CONFLICT_RETRIES: usize = 16;

type LocalEngine = DefaultEngine<TokioMultiThreadExecutor>;

/// What every table's log needs: the kernel's engine, on a small runtime of its own.
#[derive(Clone)]
pub struct Kernel {
    engine: Arc<LocalEngine>,
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kernel")
    }
}

impl Kernel {
    /// An engine for the local folder `root`.
    ///
    /// # Errors
    /// When the folder cannot be addressed.
    pub fn local(root: &Path, runtime: &tokio::runtime::Handle) -> DeltaResult<Self> {
        let url = directory_url(root)?;
        let executor = Arc::new(TokioMultiThreadExecutor::new(runtime.clone()));
        let engine = DefaultEngine::builder(store_from_url(&url)?).with_task_executor(executor).build();
        Ok(Self { engine: Arc::new(engine) })
    }
}

/// The log of one table.
#[derive(Debug)]
pub struct Log {
    table: &'static Table,
    folder: PathBuf,
    kernel: Kernel,
    snapshot: SnapshotRef,
    since_checkpoint: u64,
}

impl Log {
    /// Opens the log under `folder`, making the table first when there is none and `create` is set.
    ///
    /// # Errors
    /// [`LakeError::Missing`] without a table; [`LakeError::Delta`] when the log cannot be read.
    pub fn open(
        table: &'static Table,
        folder: &Path,
        kernel: &Kernel,
        create: bool,
    ) -> Result<Self, LakeError> {
        let fail = LakeError::delta(table.name);
        if !folder.join("_delta_log").is_dir() {
            if !create {
                return Err(LakeError::Missing { path: folder.to_path_buf() });
            }
            std::fs::create_dir_all(folder).map_err(LakeError::io(folder))?;
            make(table, folder, kernel).map_err(LakeError::delta(table.name))?;
        }
        let open = || -> DeltaResult<SnapshotRef> {
            Snapshot::builder_for(directory_url(folder)?.as_str()).build(kernel.engine.as_ref())
        };
        let snapshot = open().map_err(|error| damaged(folder).unwrap_or_else(|| fail(error)))?;
        Ok(Self {
            table,
            folder: folder.to_path_buf(),
            kernel: kernel.clone(),
            snapshot,
            since_checkpoint: 0,
        })
    }

    /// The live files with the range of times in each.
    ///
    /// # Errors
    /// [`LakeError::Delta`] when the log cannot be replayed.
    pub fn files(&self) -> Result<Vec<Arc<LakeFile>>, LakeError> {
        let fail = LakeError::delta(self.table.name);
        self.replay().map_err(|error| damaged(&self.folder).unwrap_or_else(|| fail(error)))
    }

    fn replay(&self) -> DeltaResult<Vec<Arc<LakeFile>>> {
        let engine = self.kernel.engine.as_ref();
        let scan = Arc::clone(&self.snapshot).scan_builder().with_stats(StatsOptions::json_only()).build()?;
        let mut files = Vec::new();
        for metadata in scan.scan_metadata(engine)? {
            let filtered = metadata?.scan_files.apply_selection_vector()?;
            let data = ArrowEngineData::try_from_engine_data(filtered)?;
            collect(&self.folder, data.record_batch(), &mut files);
        }
        files.sort_by_key(|file: &Arc<LakeFile>| file.min_ts);
        Ok(files)
    }

    /// Commits files to the table. When it returns, they are part of the lake and survive a power cut.
    ///
    /// # Errors
    /// [`LakeError::Delta`] when the log cannot be written or other writers win every try.
    pub fn append(&mut self, files: &[Arc<LakeFile>]) -> Result<(), LakeError> {
        let mut tries = 0;
        loop {
            if self.try_append(files).map_err(LakeError::delta(self.table.name))? {
                break;
            }
            tries += 1;
            if tries > CONFLICT_RETRIES {
                let source = delta_kernel::Error::generic("other writers committed first, every time");
                return Err(LakeError::Delta { table: self.table.name, source });
            }
        }
        // The commit stands whatever this says, so it must not be taken for a failed one.
        if let Err(error) = self.sync() {
            tracing::error!(table = self.table.name, %error, "a commit may not survive a power cut");
        }
        self.since_checkpoint += 1;
        if self.since_checkpoint >= CHECKPOINT_EVERY {
            // A checkpoint only makes opening quicker; without it the log is whole all the same.
            match self.snapshot.checkpoint(self.kernel.engine.as_ref(), None) {
                Ok((_, snapshot)) => self.snapshot = snapshot,
                Err(error) => tracing::warn!(table = self.table.name, %error, "no checkpoint was written"),
            }
            self.since_checkpoint = 0;
        }
        Ok(())
    }

    /// One try; `false` when another writer was first.
    fn try_append(&mut self, files: &[Arc<LakeFile>]) -> DeltaResult<bool> {
        let engine = self.kernel.engine.as_ref();
        let mut transaction = Arc::clone(&self.snapshot)
            .transaction(Box::new(FileSystemCommitter::new()), engine)?
            .with_operation("WRITE".to_owned())
            .with_engine_info(concat!("wirelake/", env!("CARGO_PKG_VERSION")))
            .with_data_change(true);
        for file in files {
            let date = match file.date {
                Some(days) => Scalar::Date(days),
                None => Scalar::Null(delta_kernel::schema::DataType::DATE),
            };
            let values = HashMap::from([(schema::DATE.to_owned(), date)]);
            let context = transaction.partitioned_write_context(values)?;
            let url = Url::from_file_path(&file.path)
                .map_err(|()| delta_kernel::Error::generic("a file's path is not absolute"))?;
            let meta = FileMeta::new(url, file.written_ms, file.bytes);
            let metadata = build_add_file_metadata(DataFileMetadata::new(meta, stats(file)?), &context)?;
            transaction.add_files(metadata);
        }
        match transaction.commit(engine)? {
            CommitResult::CommittedTransaction(committed) => {
                self.snapshot = match committed.post_commit_snapshot() {
                    Some(snapshot) => Arc::clone(snapshot),
                    // The files are part of the table now, so this must not fail any more. With the snapshot
                    // of before, the next commit conflicts once and is tried again.
                    None => self.refreshed().unwrap_or_else(|_| Arc::clone(&self.snapshot)),
                };
                Ok(true)
            }
            CommitResult::ConflictedTransaction(_) => {
                self.snapshot = self.refreshed()?;
                Ok(false)
            }
            CommitResult::RetryableTransaction(retryable) => Err(retryable.error),
        }
    }

    fn refreshed(&self) -> DeltaResult<SnapshotRef> {
        Snapshot::builder_from(Arc::clone(&self.snapshot)).build(self.kernel.engine.as_ref())
    }

    /// Puts the newest log entry on the disk: the kernel's store writes it but does not sync it.
    fn sync(&self) -> Result<(), LakeError> {
        let folder = self.folder.join("_delta_log");
        let entry = folder.join(format!("{:020}.json", self.snapshot.version()));
        for path in [&entry, &folder] {
            during(Meter::StoreSync, 1, || File::open(path).and_then(|file| file.sync_all()))
                .map_err(LakeError::io(path))?;
        }
        Ok(())
    }
}

fn make(table: &'static Table, folder: &Path, kernel: &Kernel) -> DeltaResult<()> {
    let url = directory_url(folder)?;
    let result =
        create_table(url.as_str(), schema::delta(table)?, concat!("wirelake/", env!("CARGO_PKG_VERSION")))
            .with_table_properties([("delta.dataSkippingStatsColumns", table.columns[0].name)])
            .with_data_layout(DataLayout::partitioned([schema::DATE]))
            .build(kernel.engine.as_ref(), Box::new(FileSystemCommitter::new()))?
            .commit(kernel.engine.as_ref())?;
    match result {
        CommitResult::CommittedTransaction(_) => Ok(()),
        CommitResult::ConflictedTransaction(_) => {
            Err(delta_kernel::Error::generic("another process made the table"))
        }
        CommitResult::RetryableTransaction(retryable) => Err(retryable.error),
    }
}

/// The statistics of an add action: row count and the range of the time column.
fn stats(file: &LakeFile) -> DeltaResult<StructArray> {
    let time = |value: i64| -> ArrayRef {
        Arc::new(TimestampMicrosecondArray::from(vec![value]).with_timezone("UTC"))
    };
    let kind = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let one = |kind: DataType, array: ArrayRef| -> ArrayRef {
        let fields = Fields::from(vec![Field::new("ts", kind, true)]);
        Arc::new(StructArray::new(fields, vec![array], None))
    };
    let arrays: Vec<(&str, ArrayRef)> = vec![
        ("numRecords", Arc::new(Int64Array::from(vec![i64::try_from(file.rows).unwrap_or(i64::MAX)]))),
        ("nullCount", one(DataType::Int64, Arc::new(Int64Array::from(vec![0])))),
        ("minValues", one(kind.clone(), time(file.min_ts))),
        ("maxValues", one(kind, time(file.max_ts))),
        ("tightBounds", Arc::new(BooleanArray::from(vec![true]))),
    ];
    let fields: Fields =
        arrays.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    Ok(StructArray::try_new(fields, arrays.into_iter().map(|(_, array)| array).collect(), None)?)
}

/// The first line of a log that is no JSON, for the kernel does not say where it stumbled.
fn damaged(folder: &Path) -> Option<LakeError> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder.join("_delta_log"))
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    entries.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    entries.sort();
    entries.into_iter().find_map(|path| {
        let content = std::fs::read(&path).ok()?;
        let lines = content.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
        let mut wrong =
            lines.filter(|(_, line)| serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err());
        let (at, _) = wrong.next()?;
        Some(LakeError::DamagedLog { path, line: at + 1 })
    })
}

/// Reads rows of the kernel's scan schema (`path`, `size`, `modificationTime`, `stats`).
fn collect(folder: &Path, batch: &RecordBatch, files: &mut Vec<Arc<LakeFile>>) {
    let text = |name: &str| batch.column_by_name(name).and_then(|column| column.as_string_opt::<i32>());
    let number = |name: &str| {
        batch
            .column_by_name(name)
            .and_then(|column| column.as_primitive_opt::<arrow_array::types::Int64Type>())
    };
    let (Some(paths), Some(sizes)) = (text("path"), number("size")) else { return };
    let (stats, written) = (text("stats"), number("modificationTime"));
    for row in 0..batch.num_rows() {
        if paths.is_null(row) {
            continue;
        }
        let stats = stats.and_then(|stats| value(stats, row)).unwrap_or_default();
        let (rows, min_ts, max_ts) = range(stats);
        files.push(Arc::new(LakeFile {
            path: folder.join(decoded(paths.value(row))),
            rows,
            bytes: u64::try_from(sizes.value(row)).unwrap_or(0),
            min_ts,
            max_ts,
            date: None,
            written_ms: written.map_or(0, |written| written.value(row)),
        }));
    }
}

fn value(array: &StringArray, row: usize) -> Option<&str> {
    array.is_valid(row).then(|| array.value(row))
}

/// Paths in the log are percent-encoded URIs.
fn decoded(path: &str) -> String {
    match Url::parse("file:///").and_then(|base| base.join(path)) {
        Ok(url) => url.to_file_path().map_or_else(
            |()| path.to_owned(),
            |absolute| absolute.to_string_lossy().trim_start_matches('/').to_owned(),
        ),
        Err(_) => path.to_owned(),
    }
}

/// Row count and time range out of the statistics' JSON. A writer may have cut times to milliseconds, so
/// the end is taken a millisecond later; without statistics the range is everything.
fn range(stats: &str) -> (u64, i64, i64) {
    let json: serde_json::Value = serde_json::from_str(stats).unwrap_or_default();
    let rows = json["numRecords"].as_u64().unwrap_or(0);
    let time = |side: &str| {
        let text = json[side]["ts"].as_str()?;
        let stamp: jiff::Timestamp = text.parse().ok()?;
        Some(stamp.as_microsecond())
    };
    let min = time("minValues").unwrap_or(i64::MIN);
    let max = time("maxValues").map_or(i64::MAX, |micros| micros.saturating_add(999));
    (rows, min, max)
}

fn directory_url(path: &Path) -> DeltaResult<Url> {
    let absolute =
        std::path::absolute(path).map_err(|error| delta_kernel::Error::generic(error.to_string()))?;
    Url::from_directory_path(absolute)
        .map_err(|()| delta_kernel::Error::generic(format!("{} is no folder's path", path.display())))
}
