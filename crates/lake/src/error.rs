//! What can go wrong in the lake, in words for the person who runs it.

use std::path::PathBuf;

/// An error of the lake.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LakeError {
    /// A file or folder could not be used.
    #[error("cannot use {path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Another process writes this lake.
    #[error(
        "{path} is in use by another wirelake (process {pid}); stop it, or choose another folder with --data"
    )]
    InUse {
        /// The lake's folder.
        path: PathBuf,
        /// The process that holds the lock, or `?`.
        pid: String,
    },
    /// There is no lake to read.
    #[error(
        "there is no lake in {path}; start `wirelake serve --data {path}` once, or choose another folder with --data"
    )]
    Missing {
        /// The folder that was named.
        path: PathBuf,
    },
    /// The Delta log could not be read or written.
    #[error("the Delta log of {table} failed: {source}")]
    Delta {
        /// The table.
        table: &'static str,
        /// What the kernel said.
        source: delta_kernel::Error,
    },
    /// An entry of a Delta log is not what it was when it was written.
    #[error(
        "line {line} of {path} is no JSON: the file is damaged; restore it, or start with another folder (--data)"
    )]
    DamagedLog {
        /// The entry.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// A data file is damaged or missing.
    #[error("a file of the lake is damaged or missing, restore it: {0}")]
    DamagedFile(String),
    /// A Parquet file could not be read or written.
    #[error("the Parquet file {path} failed: {source}")]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the library said.
        source: parquet::errors::ParquetError,
    },
    /// Columns could not be put together.
    #[error("columns could not be put together: {0}")]
    Arrow(#[from] arrow_schema::ArrowError),
    /// A query was refused or failed.
    #[error("{0}")]
    Query(String),
    /// A query ran too long.
    #[error(
        "the query ran longer than {seconds} s and was stopped; narrow the time range, or raise api.sql_timeout_s"
    )]
    Timeout {
        /// The limit.
        seconds: u64,
    },
    /// The lake is being closed.
    #[error("the lake is closed")]
    Closed,
}

impl LakeError {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    pub(crate) fn delta(table: &'static str) -> impl FnOnce(delta_kernel::Error) -> Self {
        move |source| Self::Delta { table, source }
    }
}
