//! The pcapng format (draft-ietf-opsawg-pcapng).

use std::io::Read;

use model::{LinkType, Nanos};

use super::error::FileError;
use super::pcap::number;
use super::reader::{Found, Input};
use super::time::Resolution;
use super::{MAX_BLOCK, MAX_FRAME, MAX_INTERFACES};

/// Section header; reads the same in both byte orders.
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
/// The packet block that the enhanced one replaced.
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;
const ISB_IFDROP: u16 = 5;
const ISB_OSDROP: u16 = 7;

/// Type and length in front of a block, and the length behind it.
const AROUND: usize = 12;
/// Where the body of a block starts.
const BODY: usize = 8;

/// The state of the section that is being read.
#[derive(Debug)]
pub(super) struct Pcapng {
    big_endian: bool,
    interfaces: Vec<Interface>,
    /// Drops of the sections before this one.
    earlier_drops: u64,
    /// The time of the last frame, for those that have none.
    last: Nanos,
}

#[derive(Debug)]
struct Interface {
    link: u32,
    snaplen: u32,
    resolution: Resolution,
    offset: i64,
    /// What its latest statistics say.
    drops: u64,
}

impl Pcapng {
    /// Reads the header of the first section.
    pub fn new<R: Read>(input: &mut Input<R>) -> Result<Self, FileError> {
        let mut new = Self { big_endian: false, interfaces: Vec::new(), earlier_drops: 0, last: Nanos(0) };
        if !input.fill(AROUND)? {
            return Err(input.cut(0));
        }
        let len = new.section(input)?;
        if !input.fill(len)? {
            return Err(input.cut(0));
        }
        new.trailer(input, len)?;
        input.window.take(len);
        Ok(new)
    }

    pub fn next<R: Read>(&mut self, input: &mut Input<R>) -> Result<Option<Found>, FileError> {
        loop {
            let offset = input.window.offset();
            if !input.fill(AROUND)? {
                return input.end(offset);
            }
            let kind = number(input.window.bytes(), 0, self.big_endian);
            if !matches!(
                kind,
                SECTION | INTERFACE | OLD_PACKET | SIMPLE_PACKET | STATISTICS | ENHANCED_PACKET
            ) {
                self.skip(input)?;
                continue;
            }
            let len = if kind == SECTION { self.section(input)? } else { self.length(input, MAX_BLOCK)? };
            if !input.fill(len)? {
                return Err(input.cut(offset));
            }
            self.trailer(input, len)?;
            let body = input.window.bytes().get(BODY..len - 4).unwrap_or_default();
            let found = match kind {
                INTERFACE => {
                    if self.interfaces.len() == MAX_INTERFACES {
                        return Err(FileError::TooManyInterfaces { offset });
                    }
                    self.interface(body).map(|()| None)
                }
                STATISTICS => self.statistics(body).map(|()| None),
                ENHANCED_PACKET => self.enhanced(body).map(Some),
                OLD_PACKET => self.old(body).map(Some),
                SIMPLE_PACKET => self.simple(body).map(Some),
                _ => Some(None),
            };
            match found {
                Some(Some(packet)) => {
                    if let Some(found) = self.found(input, packet, len) {
                        return Ok(Some(found));
                    }
                }
                Some(None) => {
                    let drops =
                        self.interfaces.iter().fold(self.earlier_drops, |sum, i| sum.saturating_add(i.drops));
                    input.totals.interface_drops = drops;
                }
                None => input.totals.damaged += 1,
            }
            input.window.take(len);
        }
    }

    /// Reads the byte order and the version of a section, and its length. The section's own length is not
    /// needed: writers of streams do not know it.
    fn section<R: Read>(&mut self, input: &Input<R>) -> Result<usize, FileError> {
        let bytes = input.window.bytes();
        self.big_endian = match bytes.get(8..12) {
            Some([0x1a, 0x2b, 0x3c, 0x4d]) => true,
            Some([0x4d, 0x3c, 0x2b, 0x1a]) => false,
            _ => {
                let (offset, frames) = (input.window.offset(), input.totals.frames);
                return Err(FileError::ByteOrder { offset, frames });
            }
        };
        let drops = self.interfaces.iter().map(|interface| interface.drops);
        self.earlier_drops = drops.fold(self.earlier_drops, u64::saturating_add);
        self.interfaces.clear();
        self.length(input, MAX_BLOCK)
    }

    /// The length of the block at the front.
    fn length<R: Read>(&self, input: &Input<R>, most: u32) -> Result<usize, FileError> {
        let (offset, frames) = (input.window.offset(), input.totals.frames);
        let len = number(input.window.bytes(), 4, self.big_endian);
        if len > most {
            return Err(FileError::TooLarge { offset, len, frames });
        }
        if len < AROUND as u32 || !len.is_multiple_of(4) {
            return Err(FileError::BlockLength { offset, len, trailer: len, frames });
        }
        Ok(len as usize)
    }

    /// Compares the length behind a block, all of which is there, with the one in front.
    fn trailer<R: Read>(&self, input: &Input<R>, len: usize) -> Result<(), FileError> {
        let bytes = input.window.bytes();
        let trailer = number(bytes, len - 4, self.big_endian);
        if trailer as usize == len {
            if number(bytes, 0, self.big_endian) == SECTION {
                return self.version(bytes, len);
            }
            return Ok(());
        }
        let (offset, frames) = (input.window.offset(), input.totals.frames);
        Err(FileError::BlockLength { offset, len: len as u32, trailer, frames })
    }

    fn version(&self, bytes: &[u8], len: usize) -> Result<(), FileError> {
        let [a, b, c, d] = number(bytes.get(..len).unwrap_or_default(), 12, self.big_endian).to_be_bytes();
        // The four bytes are two numbers in the order of the section.
        let (first, second) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        let (major, minor) = if self.big_endian { (first, second) } else { (second, first) };
        // Version 1.2 is 1.0 written by a tool that meant more by it.
        if major == 1 { Ok(()) } else { Err(FileError::Version { format: "pcapng", major, minor }) }
    }

    /// Goes past a block of a kind that is not read, however large it is, without holding it.
    fn skip<R: Read>(&self, input: &mut Input<R>) -> Result<(), FileError> {
        let (offset, frames) = (input.window.offset(), input.totals.frames);
        let len = self.length(input, u32::MAX)?;
        if !input.skip(len as u64 - 4)? || !input.fill(4)? {
            return Err(input.cut(offset));
        }
        let trailer = number(input.window.bytes(), 0, self.big_endian);
        input.window.take(4);
        if trailer as usize == len {
            return Ok(());
        }
        Err(FileError::BlockLength { offset, len: len as u32, trailer, frames })
    }

    fn interface(&mut self, body: &[u8]) -> Option<()> {
        let head = body.first_chunk::<8>()?;
        // The upper half is reserved.
        let link = u32::from(self.short([head[0], head[1]]));
        let snaplen = number(head, 4, self.big_endian);
        let mut new = Interface { link, snaplen, resolution: Resolution::MICROS, offset: 0, drops: 0 };
        self.options(body.get(8..)?, |code, value| match (code, value) {
            (IF_TSRESOL, [resolution, ..]) => new.resolution = Resolution::from_option(*resolution),
            (IF_TSOFFSET, value) => new.offset = self.long(value).unwrap_or(0).cast_signed(),
            _ => {}
        });
        self.interfaces.push(new);
        Some(())
    }

    /// Counts are totals since the interface was opened: the latest stands.
    fn statistics(&mut self, body: &[u8]) -> Option<()> {
        let index = usize::try_from(number(body.first_chunk::<12>()?, 0, self.big_endian)).ok()?;
        let mut drops = 0u64;
        self.options(body.get(12..)?, |code, value| {
            if matches!(code, ISB_IFDROP | ISB_OSDROP) {
                drops = drops.saturating_add(self.long(value).unwrap_or(0));
            }
        });
        self.interfaces.get_mut(index)?.drops = drops;
        Some(())
    }

    fn enhanced(&self, body: &[u8]) -> Option<Packet> {
        let head = body.first_chunk::<20>()?;
        let field = |at| number(head, at, self.big_endian);
        let interface = usize::try_from(field(0)).ok()?;
        self.timed(interface, field(4), field(8), field(12), field(16), body.len())
    }

    fn old(&self, body: &[u8]) -> Option<Packet> {
        let head = body.first_chunk::<20>()?;
        let field = |at| number(head, at, self.big_endian);
        let interface = usize::from(self.short([head[0], head[1]]));
        self.timed(interface, field(4), field(8), field(12), field(16), body.len())
    }

    fn timed(
        &self,
        interface: usize,
        high: u32,
        low: u32,
        captured: u32,
        wire_len: u32,
        body: usize,
    ) -> Option<Packet> {
        let Interface { link, resolution, offset, .. } = self.interfaces.get(interface)?;
        let units = u64::from(high) << 32 | u64::from(low);
        let time = Some(resolution.time(units, *offset));
        Packet::new(20, captured, wire_len, body, *link, time)
    }

    /// A packet of the first interface, without a time.
    fn simple(&self, body: &[u8]) -> Option<Packet> {
        let wire_len = number(body.first_chunk::<4>()?, 0, self.big_endian);
        let Interface { link, snaplen, .. } = self.interfaces.first()?;
        let captured = if *snaplen == 0 { wire_len } else { wire_len.min(*snaplen) };
        Packet::new(4, captured, wire_len, body.len(), *link, None)
    }

    /// Gives a packet its time and link type; counts and drops it when that is not one to be read.
    fn found<R: Read>(&mut self, input: &mut Input<R>, packet: Packet, record: usize) -> Option<Found> {
        let totals = &mut input.totals;
        let Some(link) = LinkType::from_number(packet.link) else {
            totals.unknown_link += 1;
            totals.unknown_link_type.get_or_insert(packet.link);
            return None;
        };
        if packet.time.is_none() {
            totals.without_time += 1;
        }
        let time = packet.time.unwrap_or(self.last);
        self.last = time;
        let start = BODY + packet.at;
        let bytes = start..start + packet.captured;
        Some(Found { time, link, wire_len: packet.wire_len, bytes, record })
    }

    /// Shows each option: its code and its value.
    fn options(&self, mut bytes: &[u8], mut show: impl FnMut(u16, &[u8])) {
        while let [a, b, c, d, rest @ ..] = bytes {
            let (code, len) = (self.short([*a, *b]), usize::from(self.short([*c, *d])));
            let Some(value) = rest.get(..len).filter(|_| code != 0) else { return };
            show(code, value);
            bytes = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
        }
    }

    fn short(&self, bytes: [u8; 2]) -> u16 {
        if self.big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    fn long(&self, bytes: &[u8]) -> Option<u64> {
        let bytes = *bytes.first_chunk::<8>()?;
        Some(if self.big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }
}

/// A packet as its block describes it.
struct Packet {
    /// Where its bytes start in the body of the block.
    at: usize,
    captured: usize,
    wire_len: u32,
    link: u32,
    time: Option<Nanos>,
}

impl Packet {
    /// `None` when the block is smaller than it says its packet is.
    fn new(
        at: usize,
        captured: u32,
        wire_len: u32,
        body: usize,
        link: u32,
        time: Option<Nanos>,
    ) -> Option<Self> {
        let size = usize::try_from(captured).ok().filter(|_| captured <= MAX_FRAME)?;
        if size > body.checked_sub(at)? {
            return None;
        }
        Some(Self { at, captured: size, wire_len: wire_len.max(captured), link, time })
    }
}
