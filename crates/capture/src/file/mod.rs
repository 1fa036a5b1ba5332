//! Capture files and capture streams: pcap and pcapng, plain or inside gzip or zstd.
//!
//! * In: a path, or anything that can be read, such as the standard input behind
//!   `ssh host tcpdump -U -w - | wirelake read -`.
//! * Out: each [`Frame`] with its own time, in the order of the file, as soon as its last byte is there.
//! * Owned: one buffer, which grows to the largest record and is used again for every other.
//! * Bounded by: [`MAX_FRAME`] and [`MAX_BLOCK`] bytes of a record, [`MAX_INTERFACES`] of a section, and
//!   the window of zstd (128 MiB).
//! * Lost: frames of link types that are not read, records that contradict themselves, and what is behind
//!   the place where a file is cut or damaged; all counted in [`Totals`].
//!
//! The formats are read here and not by a crate: a record is two dozen bytes of header, and what matters
//! is around it. A frame borrows from the buffer, a read takes what is there and does not wait for more,
//! what went before damage stays, and the error says what happened at which byte and what to do.

mod compress;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod pcap;
mod pcapng;
mod reader;
mod time;
mod totals;
mod window;
mod writer;

#[cfg(test)]
mod tests;

pub use error::{Compression, FileError};
pub use model::Frame;
pub use reader::{Reader, open, stream};
pub use totals::Totals;
pub use writer::Writer;

/// The largest frame that is believed: 1 MiB. Linux hands out segments of up to 512 KiB (BIG TCP), and
/// tcpdump's own limit is 256 KiB.
pub const MAX_FRAME: u32 = 1 << 20;

/// The largest pcapng block that is read as a whole: a frame and its options. Blocks of kinds that are
/// skipped may be larger.
pub const MAX_BLOCK: u32 = MAX_FRAME + (1 << 16);

/// The largest number of interfaces that one section of a pcapng file describes.
pub const MAX_INTERFACES: usize = 4096;
