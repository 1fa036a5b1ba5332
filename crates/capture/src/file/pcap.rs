//! The pcap format (draft-ietf-opsawg-pcap; <https://www.tcpdump.org/manpages/pcap-savefile.5.html>).

use std::io::Read;

use model::LinkType;

use super::MAX_FRAME;
use super::error::FileError;
use super::reader::{Found, Input};
use super::time::Resolution;

/// Bytes of the header of a file.
const HEADER: usize = 24;
/// Bytes of the header of a record.
const RECORD: usize = 16;

/// What the header says.
#[derive(Debug)]
pub(super) struct Pcap {
    big_endian: bool,
    resolution: Resolution,
    minor: u16,
    /// The link type without the bits that say how long the check sequence is: IP's own length ends packets.
    link: u32,
}

impl Pcap {
    /// Reads the header of a file that starts with `magic`.
    pub fn new<R: Read>(input: &mut Input<R>, magic: [u8; 4]) -> Result<Self, FileError> {
        if !input.fill(HEADER)? {
            return Err(input.cut(0));
        }
        let header: [u8; HEADER] = input.window.take(HEADER).try_into().unwrap_or([0; HEADER]);
        let big_endian = magic[0] == 0xa1;
        let [_, _, _, _, a, b, c, d, ..] = header;
        let version = |bytes| if big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
        let (major, minor) = (version([a, b]), version([c, d]));
        if major != 2 {
            return Err(FileError::Version { format: "pcap", major, minor });
        }
        let nanos = matches!(magic, [_, _, 0x3c, _] | [_, 0x3c, _, _]);
        let resolution = if nanos { Resolution::NANOS } else { Resolution::MICROS };
        let link = number(&header, 20, big_endian) & 0xffff;
        Ok(Self { big_endian, resolution, minor, link })
    }

    pub fn next<R: Read>(&mut self, input: &mut Input<R>) -> Result<Option<Found>, FileError> {
        loop {
            let offset = input.window.offset();
            if !input.fill(RECORD)? {
                return input.end(offset);
            }
            let header = input.window.bytes();
            let field = |at| number(header, at, self.big_endian);
            let (seconds, fraction, mut captured, mut wire_len) = (field(0), field(4), field(8), field(12));
            // Before version 2.3 the lengths were the other way round, in 2.3 some writers still had them so.
            if self.minor < 3 || (self.minor == 3 && captured > wire_len) {
                (captured, wire_len) = (wire_len, captured);
            }
            if captured > MAX_FRAME {
                return Err(FileError::TooLarge { offset, len: captured, frames: input.totals.frames });
            }
            let record = RECORD + captured as usize;
            if !input.fill(record)? {
                return Err(input.cut(offset));
            }
            let Some(link) = LinkType::from_number(self.link) else {
                input.totals.unknown_link += 1;
                input.totals.unknown_link_type = Some(self.link);
                input.window.take(record);
                continue;
            };
            let time = self.resolution.parts(seconds, fraction);
            // Some writers leave the length on the wire at 0.
            let wire_len = wire_len.max(captured);
            return Ok(Some(Found { time, link, wire_len, bytes: RECORD..record, record }));
        }
    }
}

/// The 32-bit number at `at`, 0 when it is not there.
pub(super) fn number(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let Some(bytes) = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()) else { return 0 };
    if big_endian { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) }
}
