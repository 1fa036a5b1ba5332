//! Captures inside gzip and zstd.

use std::fmt;
use std::io::{self, BufReader, Read};

use flate2::read::MultiGzDecoder;

use super::error::{Compression, FileError};

/// The first bytes of a source, given back in front of the rest.
pub(super) struct Sniffed<R> {
    head: [u8; 4],
    at: usize,
    len: usize,
    rest: R,
}

impl<R: Read> Sniffed<R> {
    /// Reads up to four bytes, fewer only at the end.
    fn new(mut rest: R) -> Result<Self, FileError> {
        let (mut head, mut len) = ([0; 4], 0);
        while len < head.len() {
            match rest.read(&mut head[len..]) {
                Ok(0) => break,
                Ok(read) => len += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(FileError::Read { offset: len as u64, source }),
            }
        }
        Ok(Self { head, at: 0, len, rest })
    }
}

impl<R: Read> Read for Sniffed<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.len {
            return self.rest.read(out);
        }
        let n = (self.len - self.at).min(out.len());
        out[..n].copy_from_slice(&self.head[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

/// A source and how it is compressed.
pub(super) enum Source<R: Read> {
    Plain(Sniffed<R>),
    Gzip(Box<MultiGzDecoder<Sniffed<R>>>),
    Zstd(Box<zstd::Decoder<'static, BufReader<Sniffed<R>>>>),
}

impl<R: Read> Source<R> {
    /// Looks at the first bytes for a compressed format.
    pub fn new(inner: R) -> Result<Self, FileError> {
        let sniffed = Sniffed::new(inner)?;
        Ok(match sniffed.head {
            _ if sniffed.len == 0 => return Err(FileError::Empty),
            [0x1f, 0x8b, ..] => Self::Gzip(Box::new(MultiGzDecoder::new(sniffed))),
            // A frame, or a frame to skip that tools put in front (RFC 8878 §3.1).
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
                let decoder = zstd::Decoder::new(sniffed);
                Self::Zstd(Box::new(decoder.map_err(|source| FileError::Read { offset: 0, source })?))
            }
            _ => Self::Plain(sniffed),
        })
    }

    /// What an error of reading means.
    pub fn error(&self, offset: u64, source: io::Error) -> FileError {
        let compression = match self {
            Self::Plain(_) => return FileError::Read { offset, source },
            Self::Gzip(_) => Compression::Gzip,
            Self::Zstd(_) => Compression::Zstd,
        };
        // An error of the source itself has a number of the system.
        if source.raw_os_error().is_some() {
            return FileError::Read { offset, source };
        }
        FileError::BadCompression { compression, offset, source }
    }

    /// Whether an error means that the compressed bytes end too early, as those of a plain file would.
    pub fn is_cut(&self, error: &io::Error) -> bool {
        !matches!(self, Self::Plain(_)) && error.kind() == io::ErrorKind::UnexpectedEof
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(inner) => inner.read(out),
            Self::Gzip(inner) => inner.read(out),
            Self::Zstd(inner) => inner.read(out),
        }
    }
}

impl<R: Read> fmt::Debug for Source<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain(_) => "Plain",
            Self::Gzip(_) => "Gzip",
            Self::Zstd(_) => "Zstd",
        })
    }
}
