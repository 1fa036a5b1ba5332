//! The SQL engine: DuckDB in memory, with a view per table over pruned files and hot rows.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::SchemaRef;
use duckdb::{Config, Connection};
use model::table::{self, Table};

use super::bloom::BloomCache;
use super::condition::{Condition, Evidence};
use super::guard;
use super::hot_scan::{self, HotRows, HotScan, Registered, Selected};
use super::plan;
use crate::error::LakeError;
use crate::file::LakeFile;
use crate::hot::TableView;
use crate::store::Lake;
use crate::{schema, views};

/// How queries may use the machine.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Memory that the engine may use for all queries, MiB.
    pub memory_mib: usize,
    /// Memory for bloom filters kept between queries, MiB.
    pub bloom_mib: usize,
    /// Threads that the engine may use.
    pub threads: usize,
    /// How long one query may run.
    pub timeout: Duration,
}

/// What of a table was read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ScanReport {
    /// The table.
    pub table: &'static str,
    /// Files that the table has.
    pub files: usize,
    /// Files that were handed to the engine.
    pub files_scanned: usize,
    /// Files left out because their times lie elsewhere.
    pub pruned_by_time: usize,
    /// Files left out because their bloom filter rules the value out.
    pub pruned_by_bloom: usize,
    /// Rows in memory that were handed to the engine.
    pub hot_rows: usize,
}

impl std::fmt::Display for ScanReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}: {} of {} files read ({} pruned by time, {} by bloom filter), {} rows in memory",
            self.table,
            self.files_scanned,
            self.files,
            self.pruned_by_time,
            self.pruned_by_bloom,
            self.hot_rows
        )
    }
}

/// What a query gave.
#[derive(Debug)]
pub struct Answer {
    /// Names and types of the columns.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Vec<RecordBatch>,
    /// Whether there were more rows than asked for.
    pub truncated: bool,
    /// What was read for it.
    pub scan: Vec<ScanReport>,
    /// How long it took.
    pub elapsed: Duration,
}

impl Answer {
    /// The answer to a question that took another one before it: its time and what it read count, too.
    pub fn after(mut self, first: Self) -> Self {
        self.elapsed += first.elapsed;
        for earlier in first.scan {
            match self.scan.iter_mut().find(|report| report.table == earlier.table) {
                // The first question reads at least as much as the second.
                Some(report) => *report = earlier,
                None => self.scan.push(earlier),
            }
        }
        self
    }
}

/// The engine over one lake.
#[derive(Debug)]
pub struct Engine {
    lake: Arc<Lake>,
    base: Mutex<Connection>,
    blooms: BloomCache,
    timeout_ms: AtomicU64,
}

impl Engine {
    /// An engine that reads `lake` and nothing else.
    ///
    /// # Errors
    /// [`LakeError::Query`] when the engine cannot be set up.
    pub fn new(lake: Arc<Lake>, options: &EngineOptions) -> Result<Self, LakeError> {
        let base = set_up(&lake, options).map_err(explain)?;
        Ok(Self {
            lake,
            base: Mutex::new(base),
            blooms: BloomCache::new(options.bloom_mib << 20),
            timeout_ms: AtomicU64::new(milliseconds(options.timeout)),
        })
    }

    /// Changes how long one query may run.
    pub fn set_timeout(&self, timeout: Duration) {
        self.timeout_ms.store(milliseconds(timeout), Ordering::Relaxed);
    }

    /// The lake behind the engine.
    pub fn lake(&self) -> &Arc<Lake> {
        &self.lake
    }

    /// Runs one reading statement and returns at most `limit` rows.
    ///
    /// # Errors
    /// [`LakeError::Query`] with what is wrong with the statement, or [`LakeError::Timeout`].
    pub fn query(&self, sql: &str, limit: usize) -> Result<Answer, LakeError> {
        let started = Instant::now();
        let sql = guard::reading_statement(sql).map_err(LakeError::Query)?;
        let connection = self.connection()?;
        let constants = |text: &str| constant(&connection, text);
        let mut conditions: Vec<_> = plan::conditions(sql, &constants).into_iter().collect();
        conditions.sort_by_key(|(name, _)| *name);
        let mut scan = Vec::new();
        let mut registered = Vec::new();
        for (name, condition) in conditions {
            let Some(table) = table::by_name(name) else { continue };
            let (report, rows) = self.expose(&connection, table, &condition)?;
            scan.push(report);
            registered.push(rows);
        }
        if !scan.is_empty() {
            views::create(&connection, sql).map_err(explain)?;
        }
        let (schema, mut batches, truncated) = self.run(&connection, sql, limit)?;
        if sql.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("explain")) {
            batches.extend(scan.iter().filter_map(|report| explained(&schema, report)));
        }
        drop(registered);
        Ok(Answer { schema, batches, truncated, scan, elapsed: started.elapsed() })
    }

    fn connection(&self) -> Result<Connection, LakeError> {
        self.base.lock().unwrap_or_else(PoisonError::into_inner).try_clone().map_err(explain)
    }

    /// Makes the table's name stand for the files and rows that can matter.
    fn expose(
        &self,
        connection: &Connection,
        table: &'static Table,
        condition: &Condition,
    ) -> Result<(ScanReport, Registered), LakeError> {
        let TableView { hot, files } = self.lake.view(table);
        let mut evidence = FileEvidence { blooms: &self.blooms, table, file: None, by_time: false };
        let (mut by_time, mut by_bloom) = (0, 0);
        let mut kept: Vec<&Arc<LakeFile>> = Vec::new();
        for file in files.iter() {
            evidence.file = Some(file);
            evidence.by_time = false;
            if condition.possible(&mut evidence) {
                kept.push(file);
            } else if evidence.by_time {
                by_time += 1;
            } else {
                by_bloom += 1;
            }
        }
        let selected = hot
            .iter()
            .filter_map(|batch| {
                let rows = condition.rows(&batch.rows);
                let empty = rows.as_ref().is_some_and(Vec::is_empty);
                (!empty).then(|| Selected { batch: batch.rows.clone(), rows })
            })
            .collect();
        let hot = HotRows::new(schema::arrow(table), selected);
        let report = ScanReport {
            table: table.name,
            files: files.len(),
            files_scanned: kept.len(),
            pruned_by_time: by_time,
            pruned_by_bloom: by_bloom,
            hot_rows: hot.len(),
        };
        let registered = hot_scan::register(hot);
        connection
            .execute_batch(&view_sql(table, &kept, registered.token))
            .map_err(|error| explain_of("", error))?;
        Ok((report, registered))
    }

    fn run(
        &self,
        connection: &Connection,
        sql: &str,
        limit: usize,
    ) -> Result<(SchemaRef, Vec<RecordBatch>, bool), LakeError> {
        let interrupt = connection.interrupt_handle();
        let (done, watch) = channel::<()>();
        let timeout = Duration::from_millis(self.timeout_ms.load(Ordering::Relaxed));
        let result = std::thread::scope(|scope| {
            let watchdog = scope.spawn(move || {
                let late = watch.recv_timeout(timeout) == Err(RecvTimeoutError::Timeout);
                if late {
                    interrupt.interrupt();
                }
                late
            });
            let result = fetch(connection, sql, limit);
            drop(done);
            let late = watchdog.join().unwrap_or(false);
            (result, late)
        });
        match result {
            (Err(_), true) => Err(LakeError::Timeout { seconds: timeout.as_secs() }),
            (Err(error), false) => Err(explain_of(sql, error)),
            (Ok(found), _) => Ok(found),
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn fetch(
    connection: &Connection,
    sql: &str,
    limit: usize,
) -> duckdb::Result<(SchemaRef, Vec<RecordBatch>, bool)> {
    let mut statement = connection.prepare(sql)?;
    let stream = statement.stream_arrow([])?;
    let schema = stream.get_schema();
    let mut batches = Vec::new();
    let mut left = limit;
    for batch in stream {
        let batch: RecordBatch = batch;
        if batch.num_rows() > left {
            batches.push(batch.slice(0, left));
            return Ok((schema, batches, true));
        }
        left -= batch.num_rows();
        batches.push(batch);
    }
    Ok((schema, batches, false))
}

/// What a file's statistics and bloom filters say.
struct FileEvidence<'a> {
    blooms: &'a BloomCache,
    table: &'static Table,
    file: Option<&'a Arc<LakeFile>>,
    /// Whether the last refusal was for time.
    by_time: bool,
}

impl Evidence for FileEvidence<'_> {
    fn time(&mut self, min: i64, max: i64) -> bool {
        let possible = self.file.is_none_or(|file| file.min_ts <= max && file.max_ts >= min);
        self.by_time |= !possible;
        possible
    }

    fn equals(&mut self, column: usize, values: &[String]) -> bool {
        match (self.file, self.table.columns.get(column)) {
            (Some(file), Some(definition)) if definition.bloom => {
                self.blooms.possible(&file.path, column, definition.name, values)
            }
            _ => true,
        }
    }
}

fn set_up(lake: &Lake, options: &EngineOptions) -> duckdb::Result<Connection> {
    let folder = lake.root().to_string_lossy().replace('\'', "''");
    let config = Config::default()
        .enable_autoload_extension(false)?
        .with("threads", options.threads.max(1).to_string())?
        .with("memory_limit", format!("{}MiB", options.memory_mib.max(64)))?
        .with("allow_unsigned_extensions", "false")?;
    let base = Connection::open_in_memory_with_flags(config)?;
    base.register_table_function::<HotScan>(hot_scan::FUNCTION)?;
    base.execute_batch(&format!(
        "SET TimeZone = 'UTC';
         SET parquet_metadata_cache = true;
         SET temp_directory = '{folder}/.sql';
         SET allowed_directories = ['{folder}/'];
         SET enable_external_access = false;
         SET lock_configuration = true;"
    ))?;
    Ok(base)
}

/// The statement that makes the table's name stand for these files and hot rows.
fn view_sql(table: &Table, files: &[&Arc<LakeFile>], token: u64) -> String {
    let mut columns = String::new();
    for column in table.columns {
        let _ = write!(columns, "{}\"{}\"", if columns.is_empty() { "" } else { ", " }, column.name);
    }
    let mut sql = format!(
        "CREATE OR REPLACE TEMP VIEW \"{}\" AS SELECT *, CAST(ts AS DATE) AS \"{}\" FROM (",
        table.name,
        schema::DATE
    );
    if !files.is_empty() {
        let _ = write!(sql, "SELECT {columns} FROM read_parquet([");
        for (at, file) in files.iter().enumerate() {
            let path: PathBuf = file.path.clone();
            let path = path.to_string_lossy().replace('\'', "''");
            let _ = write!(sql, "{}'{path}'", if at == 0 { "" } else { "," });
        }
        sql.push_str("], hive_partitioning = false) UNION ALL ");
    }
    let _ = write!(sql, "SELECT {columns} FROM {}({token}))", hot_scan::FUNCTION);
    sql
}

/// The value of an expression without columns, as a time.
fn constant(connection: &Connection, expression: &str) -> Option<i64> {
    let sql = format!("SELECT epoch_us(CAST(({expression}) AS TIMESTAMPTZ))");
    connection.query_row(&sql, [], |row| row.get::<_, Option<i64>>(0)).ok().flatten()
}

/// A line for the end of an `EXPLAIN`.
fn explained(schema: &SchemaRef, report: &ScanReport) -> Option<RecordBatch> {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(vec!["lake"])),
        Arc::new(StringArray::from(vec![report.to_string()])),
    ];
    RecordBatch::try_new(Arc::clone(schema), columns).ok()
}

/// The same for a statement: trouble with a file that it does not name itself is not its fault.
fn explain_of(sql: &str, error: duckdb::Error) -> LakeError {
    match explain(error) {
        LakeError::Query(text) if text.contains(".parquet") && !sql.contains(".parquet") => {
            let what = text.split_once("Error: ").map_or(text.as_str(), |(_, what)| what);
            LakeError::DamagedFile(what.lines().next().unwrap_or(what).to_owned())
        }
        other => other,
    }
}

/// The engine's message without its address in the source.
fn explain(error: duckdb::Error) -> LakeError {
    let text = error.to_string();
    let text = text.split("\n\n").next().unwrap_or(&text).trim();
    LakeError::Query(text.to_owned())
}
