//! The pages of one column in one row group.
//!
//! In: encoded values and levels, a page at a time. Out: the bytes of the chunk and what the footer says
//! about it. Bounded by: the compressed pages of the chunk.
//! Format: Parquet, "Data Pages" <https://parquet.apache.org/docs/file-format/data-pages/>; pages are of
//! version 1, which every reader knows.

use bytes::Bytes;
use parquet::basic::{BoundaryOrder, Compression, Encoding, PageType, Type};
use parquet::bloom_filter::Sbbf;
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::compress::Compressor;
use super::hybrid::Runs;

/// A column chunk while it grows.
pub struct Chunk<'a> {
    column: ColumnDescPtr,
    compressor: &'a mut Compressor,
    codec: Compression,
    /// Data pages, compressed, with the rows of each; they are written behind the dictionary.
    pages: Vec<(CompressedPage, u32)>,
    body: Vec<u8>,
    /// Least and greatest value of each page of a column whose times are looked up.
    times: Vec<(i64, i64)>,
}

impl<'a> Chunk<'a> {
    /// A chunk without pages.
    pub fn new(column: ColumnDescPtr, compressor: &'a mut Compressor) -> Self {
        let codec = compressor.kind();
        Self { column, compressor, codec, pages: Vec::new(), body: Vec::new(), times: Vec::new() }
    }

    /// A chunk whose rows are all null: one page, so small that compressing it would make it larger.
    pub fn nothing(column: ColumnDescPtr, compressor: &'a mut Compressor, rows: u32) -> Result<Self> {
        let mut chunk = Self::new(column, compressor);
        chunk.codec = Compression::UNCOMPRESSED;
        let mut levels = Runs::default();
        levels.push(0, rows);
        chunk.data(Encoding::PLAIN, rows, &levels, &[])?;
        Ok(chunk)
    }

    /// Whether there is no page.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Notes the times in the page that comes next.
    pub fn times(&mut self, least: i64, greatest: i64) {
        self.times.push((least, greatest));
    }

    /// Adds a data page. `levels` has a 0 for each null and a 1 for each value, in order of the rows; a
    /// column that cannot be null has none.
    ///
    /// # Errors
    /// What the codec says.
    pub fn data(&mut self, encoding: Encoding, rows: u32, levels: &Runs, values: &[u8]) -> Result<()> {
        self.body.clear();
        if self.column.max_def_level() > 0 {
            self.body.extend_from_slice(&[0; 4]);
            levels.encode(1, &mut self.body);
            let length = (self.body.len() - 4) as u32;
            self.body[..4].copy_from_slice(&length.to_le_bytes());
        }
        self.body.extend_from_slice(values);
        let page = Page::DataPage {
            buf: self.compressed()?,
            num_values: rows,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        self.pages.push((CompressedPage::new(page, self.body.len()), rows));
        Ok(())
    }

    fn compressed(&mut self) -> Result<Bytes> {
        if self.codec == Compression::UNCOMPRESSED {
            return Ok(Bytes::copy_from_slice(&self.body));
        }
        self.compressor.compress(&self.body)
    }

    /// Ends the chunk. `dictionary` is the number of values and the plain values that keys of the data
    /// pages stand for.
    ///
    /// # Errors
    /// What the codec or the page writer says.
    pub fn finish(
        mut self,
        dictionary: Option<(u32, &[u8])>,
        bloom: Option<Sbbf>,
    ) -> Result<(Bytes, ColumnCloseResult)> {
        let mut out = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut out);
        let (mut plain_bytes, mut rows) = (0, 0);
        let mut encodings = vec![Encoding::RLE];
        let mut counts: Vec<PageEncodingStats> = Vec::new();
        let mut dictionary_at = None;
        if let Some((num_values, values)) = dictionary {
            self.body.clear();
            self.body.extend_from_slice(values);
            let page = Page::DictionaryPage {
                buf: self.compressed()?,
                num_values,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            let written = writer.write_page(CompressedPage::new(page, values.len()))?;
            plain_bytes += written.uncompressed_size;
            dictionary_at = Some(written.offset as i64);
            encodings.push(Encoding::PLAIN);
            let page_type = PageType::DICTIONARY_PAGE;
            counts.push(PageEncodingStats { page_type, encoding: Encoding::PLAIN, count: 1 });
        }
        let mut offsets = OffsetIndexBuilder::new();
        let mut data_at = None;
        for (page, page_rows) in self.pages {
            let (page_type, encoding) = (page.page_type(), page.encoding());
            if !encodings.contains(&encoding) {
                encodings.push(encoding);
            }
            match counts.last_mut() {
                Some(last) if last.page_type == page_type && last.encoding == encoding => last.count += 1,
                _ => counts.push(PageEncodingStats { page_type, encoding, count: 1 }),
            }
            let written = writer.write_page(page)?;
            plain_bytes += written.uncompressed_size;
            rows += page_rows;
            data_at.get_or_insert(written.offset as i64);
            offsets.append_row_count(i64::from(page_rows));
            offsets.append_offset_and_size(
                written.offset as i64,
                i32::try_from(written.compressed_size).unwrap_or(i32::MAX),
            );
        }
        let bytes = Bytes::from(out.into_inner()?);
        let mut metadata = ColumnChunkMetaData::builder(self.column)
            .set_compression(self.codec)
            .set_encodings(encodings)
            .set_page_encoding_stats(counts)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(plain_bytes as i64)
            .set_num_values(i64::from(rows))
            .set_data_page_offset(data_at.unwrap_or(0))
            .set_dictionary_page_offset(dictionary_at);
        let mut column_index = None;
        if let (Some(least), Some(greatest)) = (
            self.times.iter().map(|(least, _)| *least).min(),
            self.times.iter().map(|(_, greatest)| *greatest).max(),
        ) {
            metadata =
                metadata.set_statistics(Statistics::int64(Some(least), Some(greatest), None, Some(0), false));
            column_index = Some(index(&self.times).build()?);
        }
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: u64::from(rows),
            metadata: metadata.build()?,
            bloom_filter: bloom,
            column_index,
            offset_index: Some(offsets.build()),
        };
        Ok((bytes, close))
    }
}

/// The page index of a column of times.
fn index(times: &[(i64, i64)]) -> ColumnIndexBuilder {
    let mut index = ColumnIndexBuilder::new(Type::INT64);
    for (least, greatest) in times {
        index.append(false, least.to_le_bytes().to_vec(), greatest.to_le_bytes().to_vec(), 0);
    }
    let ascending = times.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1);
    index.set_boundary_order(if ascending { BoundaryOrder::ASCENDING } else { BoundaryOrder::UNORDERED });
    index
}
