//! Bloom filters of files, kept in memory within a bound.
//!
//! Source: Parquet, "Bloom Filter" <https://parquet.apache.org/docs/file-format/bloomfilter/>.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use parquet::bloom_filter::Sbbf;
use parquet::file::properties::ReaderProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::ReadOptionsBuilder;

/// The filters of one column of one file, one per row group; `None` where a row group has none.
type Filters = Arc<Vec<Option<Sbbf>>>;

/// A cache of bloom filters, bounded by their bytes.
#[derive(Debug)]
pub struct BloomCache {
    limit_bytes: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    entries: HashMap<(PathBuf, usize), (Filters, usize, u64)>,
    bytes: usize,
    clock: u64,
}

impl BloomCache {
    /// A cache of at most `limit_bytes`.
    pub fn new(limit_bytes: usize) -> Self {
        Self { limit_bytes, inner: Mutex::default() }
    }

    /// Whether the column of a file can hold one of the values. A file that cannot be read is not
    /// pruned: reading it will say why.
    pub fn possible(&self, path: &Path, column: usize, name: &str, values: &[String]) -> bool {
        let key = (path.to_path_buf(), column);
        let filters = match self.cached(&key) {
            Some(filters) => filters,
            None => match load(path, name) {
                Some((filters, bytes)) => self.keep(key, filters, bytes),
                None => return true,
            },
        };
        filters.iter().any(|filter| match filter {
            Some(filter) => values.iter().any(|value| filter.check(&value.as_str())),
            None => true,
        })
    }

    fn cached(&self, key: &(PathBuf, usize)) -> Option<Filters> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clock += 1;
        let now = inner.clock;
        let (filters, _, used) = inner.entries.get_mut(key)?;
        *used = now;
        Some(Arc::clone(filters))
    }

    fn keep(&self, key: (PathBuf, usize), filters: Filters, bytes: usize) -> Filters {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        while inner.bytes + bytes > self.limit_bytes {
            let oldest =
                inner.entries.iter().min_by_key(|(_, (_, _, used))| *used).map(|(key, _)| key.clone());
            let Some(oldest) = oldest else { break };
            if let Some((_, freed, _)) = inner.entries.remove(&oldest) {
                inner.bytes -= freed;
            }
        }
        inner.clock += 1;
        let now = inner.clock;
        if inner.bytes + bytes <= self.limit_bytes
            && inner.entries.insert(key, (Arc::clone(&filters), bytes, now)).is_none()
        {
            inner.bytes += bytes;
        }
        filters
    }
}

/// The filters of a column, and about how many bytes they take.
fn load(path: &Path, name: &str) -> Option<(Filters, usize)> {
    let file = File::open(path).ok()?;
    let options = ReadOptionsBuilder::new()
        .with_reader_properties(ReaderProperties::builder().set_read_bloom_filter(true).build())
        .build();
    let reader = SerializedFileReader::new_with_options(file, options).ok()?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let column = (0..schema.num_columns()).find(|at| schema.column(*at).name() == name)?;
    let mut filters = Vec::new();
    let mut bytes = 0;
    for group in 0..reader.num_row_groups() {
        let meta = reader.metadata().row_group(group).column(column);
        bytes += usize::try_from(meta.bloom_filter_length().unwrap_or(0)).unwrap_or(0);
        let filter = reader.get_row_group(group).ok()?.get_column_bloom_filter(column).cloned();
        filters.push(filter);
    }
    Some((Arc::new(filters), bytes.max(64)))
}
