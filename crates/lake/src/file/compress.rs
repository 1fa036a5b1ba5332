//! Compression of pages, with a context that lives as long as its thread.

use bytes::Bytes;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::{ParquetError, Result};

use super::Codec;

/// Compresses pages.
pub struct Compressor {
    codec: Codec,
    zstd: zstd::bulk::Compressor<'static>,
    snappy: snap::raw::Encoder,
    out: Vec<u8>,
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressor").field("codec", &self.codec).finish_non_exhaustive()
    }
}

impl Compressor {
    /// A compressor of one kind. A level that zstd refuses becomes its default.
    pub fn new(codec: Codec) -> Self {
        let zstd = match codec {
            Codec::Zstd(level) => zstd::bulk::Compressor::new(level).unwrap_or_default(),
            _ => zstd::bulk::Compressor::default(),
        };
        Self { codec, zstd, snappy: snap::raw::Encoder::new(), out: Vec::new() }
    }

    /// What the file says about its pages.
    pub fn kind(&self) -> Compression {
        match self.codec {
            Codec::None => Compression::UNCOMPRESSED,
            Codec::Snappy => Compression::SNAPPY,
            Codec::Lz4 => Compression::LZ4_RAW,
            Codec::Zstd(level) => Compression::ZSTD(ZstdLevel::try_new(level).unwrap_or_default()),
        }
    }

    /// A compressed copy.
    ///
    /// # Errors
    /// What the codec says.
    pub fn compress(&mut self, bytes: &[u8]) -> Result<Bytes> {
        let room = match self.codec {
            Codec::None => return Ok(Bytes::copy_from_slice(bytes)),
            Codec::Snappy => snap::raw::max_compress_len(bytes.len()),
            Codec::Lz4 => lz4_flex::block::get_maximum_output_size(bytes.len()),
            Codec::Zstd(_) => zstd::zstd_safe::compress_bound(bytes.len()),
        };
        if self.out.len() < room {
            self.out.resize(room, 0);
        }
        let length = match self.codec {
            Codec::None => 0,
            Codec::Snappy => self.snappy.compress(bytes, &mut self.out).map_err(external)?,
            Codec::Lz4 => lz4_flex::block::compress_into(bytes, &mut self.out).map_err(external)?,
            Codec::Zstd(_) => {
                self.zstd.compress_to_buffer(bytes, self.out.as_mut_slice()).map_err(external)?
            }
        };
        Ok(self.out.get(..length).map(Bytes::copy_from_slice).unwrap_or_default())
    }
}

fn external(error: impl std::error::Error + Send + Sync + 'static) -> ParquetError {
    ParquetError::External(Box::new(error))
}
