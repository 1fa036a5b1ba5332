//! Why a capture file gives no more frames.

use std::io;
use std::path::PathBuf;

use super::{MAX_BLOCK, MAX_FRAME, MAX_INTERFACES};

/// Why a capture cannot be read, or not further. Offsets count from the start of the capture, after it was
/// decompressed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file cannot be opened.
    #[error("cannot open {}", path.display())]
    Open {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The source cannot be read further.
    #[error("cannot read the capture behind byte {offset}")]
    Read {
        /// Bytes read before.
        offset: u64,
        /// Why.
        source: io::Error,
    },
    /// The compressed bytes are damaged.
    #[error(
        "the {} data is damaged behind byte {offset} of the capture inside; the frames before it were read. \
         Check the file with `{} -t`",
        compression.as_str(), compression.as_str()
    )]
    BadCompression {
        /// How it is compressed.
        compression: Compression,
        /// Bytes decompressed before.
        offset: u64,
        /// What the decompressor said.
        source: io::Error,
    },
    /// There is not one byte.
    #[error(
        "the capture is empty: the program that writes it has ended before its first byte, see its own error"
    )]
    Empty,
    /// It does not start as a capture does.
    #[error(
        "this is no capture: it starts with {found:02x?}, and pcap or pcapng, plain or in gzip or zstd, was expected"
    )]
    NotACapture {
        /// The first bytes.
        found: [u8; 4],
    },
    /// It is something that is known and not read.
    #[error("this is {name}, which is not read; {way_out}")]
    Unsupported {
        /// The name of the format.
        name: &'static str,
        /// What to do.
        way_out: &'static str,
    },
    /// A version of a format that is not known.
    #[error(
        "this is {format} of version {major}.{minor}, which is not known; convert it with `editcap -F pcapng`"
    )]
    Version {
        /// `pcap` or `pcapng`.
        format: &'static str,
        /// The major version.
        major: u16,
        /// The minor version.
        minor: u16,
    },
    /// The capture ends inside a record.
    #[error(
        "the capture is cut: it ends at byte {end}, inside the record that starts at byte {offset}; the {frames} \
         frames before it were read. It is still being written, or its disk was full, or its copy is not whole"
    )]
    Cut {
        /// Where the record starts.
        offset: u64,
        /// How long the capture is.
        end: u64,
        /// Frames that were read.
        frames: u64,
    },
    /// A length that no capture has: what follows cannot be told from it.
    #[error(
        "the capture is damaged at byte {offset}: a record of {len} bytes, and none has more than {}; the {frames} \
         frames before it were read. A copy in text mode does this; copy it again",
        MAX_FRAME.max(MAX_BLOCK)
    )]
    TooLarge {
        /// Where the record starts.
        offset: u64,
        /// What it says.
        len: u32,
        /// Frames that were read.
        frames: u64,
    },
    /// A block whose lengths contradict each other: what follows cannot be told from it.
    #[error(
        "the capture is damaged at byte {offset}: the two lengths of a block are {len} and {trailer}; the {frames} \
         frames before it were read"
    )]
    BlockLength {
        /// Where the block starts.
        offset: u64,
        /// The length in front.
        len: u32,
        /// The length behind; the same when it is not possible in itself.
        trailer: u32,
        /// Frames that were read.
        frames: u64,
    },
    /// A section header without the number that tells its byte order.
    #[error(
        "the capture is damaged at byte {offset}: a section without a byte order; the {frames} frames before it were read"
    )]
    ByteOrder {
        /// Where the section starts.
        offset: u64,
        /// Frames that were read.
        frames: u64,
    },
    /// A section that describes more interfaces than are kept.
    #[error(
        "a section describes more than {MAX_INTERFACES} interfaces at byte {offset}; split the file with `editcap -c`"
    )]
    TooManyInterfaces {
        /// Where the block starts that describes one too many.
        offset: u64,
    },
}

/// How a capture is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// RFC 1952, one or several members.
    Gzip,
    /// RFC 8878, one or several frames.
    Zstd,
}

impl Compression {
    /// The name, which is also that of the program.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}
