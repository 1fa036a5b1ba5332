//! Frames out of a capture, whichever its format is.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use model::{Frame, LinkType, Nanos};

use super::compress::Source;
use super::error::FileError;
use super::pcap::Pcap;
use super::pcapng::Pcapng;
use super::totals::Totals;
use super::window::Window;

/// Reads the frames of a capture in their order.
#[derive(Debug)]
pub struct Reader<R: Read> {
    input: Input<R>,
    format: Format,
    ended: bool,
}

/// What both formats read from, and where they count.
#[derive(Debug)]
pub(super) struct Input<R: Read> {
    pub window: Window<Source<R>>,
    pub totals: Totals,
    /// The compressed bytes ended before the end of what they hold.
    short: bool,
}

#[derive(Debug)]
enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// A record that lies in the window: `record` bytes are taken when it is handed out.
#[derive(Debug)]
pub(super) struct Found {
    pub time: Nanos,
    pub link: LinkType,
    pub wire_len: u32,
    /// Where the frame lies in the record.
    pub bytes: Range<usize>,
    /// The size of the record.
    pub record: usize,
}

/// Opens a file.
///
/// # Errors
///
/// When there is no such file, it cannot be read, or is not a capture.
pub fn open(path: &Path) -> Result<Reader<Box<dyn Read + Send>>, FileError> {
    let file = File::open(path).map_err(|source| FileError::Open { path: path.into(), source })?;
    stream(Box::new(file))
}

/// Reads a stream. Waits for its header, and later for one record at a time: a frame is handed out when its
/// last byte has come, whatever is behind it. The source should not be buffered, this reader is.
///
/// # Errors
///
/// When the stream cannot be read or is not a capture.
pub fn stream<R: Read>(source: R) -> Result<Reader<R>, FileError> {
    let mut input =
        Input { window: Window::new(Source::new(source)?), totals: Totals::default(), short: false };
    // A short source is told from a cut one below.
    input.fill(4)?;
    let mut magic = [0; 4];
    let there = input.window.bytes().len().min(4);
    magic[..there].copy_from_slice(&input.window.bytes()[..there]);
    let format = match magic {
        [0x0a, 0x0d, 0x0d, 0x0a] => Format::Pcapng(Pcapng::new(&mut input)?),
        [0xa1, 0xb2, 0xc3, 0xd4]
        | [0xd4, 0xc3, 0xb2, 0xa1]
        | [0xa1, 0xb2, 0x3c, 0x4d]
        | [0x4d, 0x3c, 0xb2, 0xa1] => Format::Pcap(Pcap::new(&mut input, magic)?),
        _ if there == 0 => return Err(FileError::Empty),
        _ => return Err(foreign(magic)),
    };
    Ok(Reader { input, format, ended: false })
}

impl<R: Read> Reader<R> {
    /// The next frame; `None` at the end, and for good after an error.
    ///
    /// # Errors
    ///
    /// Once, when the capture is cut or damaged or cannot be read further. All frames before that place
    /// have been handed out.
    #[expect(
        clippy::should_implement_trait,
        reason = "a frame borrows from the reader, an iterator's item cannot"
    )]
    pub fn next(&mut self) -> Result<Option<Frame<'_>>, FileError> {
        if self.ended {
            return Ok(None);
        }
        let found = match &mut self.format {
            Format::Pcap(pcap) => pcap.next(&mut self.input),
            Format::Pcapng(pcapng) => pcapng.next(&mut self.input),
        };
        let Ok(Some(Found { time, link, wire_len, bytes, record })) = found else {
            self.ended = true;
            return found.map(|_| None);
        };
        let totals = &mut self.input.totals;
        totals.frames += 1;
        totals.bytes += bytes.len() as u64;
        let bytes = self.input.window.take(record).get(bytes).unwrap_or_default();
        Ok(Some(Frame { time, link, wire_len, vlan: None, bytes }))
    }

    /// What was read so far.
    pub fn totals(&self) -> &Totals {
        &self.input.totals
    }
}

impl<R: Read> Input<R> {
    /// As [`Window::fill`].
    pub fn fill(&mut self, n: usize) -> Result<bool, FileError> {
        let filled = self.window.fill(n);
        self.done(filled)
    }

    /// As [`Window::skip`].
    pub fn skip(&mut self, n: u64) -> Result<bool, FileError> {
        let skipped = self.window.skip(n);
        self.done(skipped)
    }

    fn done(&mut self, result: std::io::Result<bool>) -> Result<bool, FileError> {
        match result {
            Err(error) if self.window.inner().is_cut(&error) => {
                self.short = true;
                Ok(false)
            }
            Err(error) => Err(self.window.inner().error(self.window.read_to(), error)),
            Ok(done) => Ok(done),
        }
    }

    /// There is no whole header of a record at `offset`: the end, unless something is missing.
    pub fn end(&mut self, offset: u64) -> Result<Option<Found>, FileError> {
        if self.window.bytes().is_empty() && !self.short { Ok(None) } else { Err(self.cut(offset)) }
    }

    /// The capture ends inside the record that starts at `offset`.
    #[cold]
    pub fn cut(&mut self, offset: u64) -> FileError {
        self.totals.cut = Some(offset);
        FileError::Cut { offset, end: self.window.read_to(), frames: self.totals.frames }
    }
}

/// What is not a capture, by its name where it has one.
fn foreign(found: [u8; 4]) -> FileError {
    let (name, way_out) = match found {
        [0xa1, 0xb2, 0xcd, 0x34] | [0x34, 0xcd, 0xb2, 0xa1] => (
            "modified pcap (Kuznetzov's patch of libpcap)",
            "its records have a length of their own; convert it with `editcap -F pcapng`",
        ),
        [b's', b'n', b'o', b'o'] => ("a snoop capture", "convert it with `editcap -F pcapng`"),
        [b'G', b'M', b'B', b'U'] | [b'R', b'T', b'S', b'S'] => {
            ("a Microsoft Network Monitor capture", "convert it with `editcap -F pcapng`")
        }
        [0xfd, b'7', b'z', b'X'] => ("xz data", "pipe it in: `xz -dc FILE | wirelake read -`"),
        [b'B', b'Z', b'h', _] => ("bzip2 data", "pipe it in: `bzip2 -dc FILE | wirelake read -`"),
        [0x04, 0x22, 0x4d, 0x18] => ("lz4 data", "pipe it in: `lz4 -dc FILE | wirelake read -`"),
        [b'P', b'K', 3, 4] => ("a zip archive", "unpack it first"),
        found => return FileError::NotACapture { found },
    };
    FileError::Unsupported { name, way_out }
}
