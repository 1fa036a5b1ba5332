//! Writes pcapng: one section, nanoseconds, one interface per link type.

use std::io::{self, Write};

use model::{Frame, LinkType};

/// Where an IEEE 802.1Q tag belongs: behind the two addresses of an Ethernet header.
const ETHERNET_TYPE: usize = 12;
/// Where it belongs in a Linux cooked header: before the protocol.
const SLL_TYPE: usize = 14;

/// A pcapng file that is being written. Blocks are written whole, one `write_all` each: give it a
/// [`io::BufWriter`] where calls cost.
///
/// Bounded by: the largest block, which is kept to be built in. A tag that the kernel took out of a frame
/// ([`Frame::vlan`]) is put back, as libpcap does; its priority and type are not known and become 0 and
/// 0x8100.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    /// The link types that have an interface, in its order.
    links: Vec<LinkType>,
    block: Vec<u8>,
    written: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the header of the section.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn new(out: W) -> io::Result<Self> {
        let mut new = Self { out, links: Vec::new(), block: Vec::new(), written: 0 };
        new.begin(0x0a0d_0d0a);
        new.u32(0x1a2b_3c4d);
        new.u32(1);
        // The length of the section is not known.
        new.block.extend_from_slice(&u64::MAX.to_le_bytes());
        // shb_userappl
        new.option(4, b"wirelake");
        new.option(0, &[]);
        new.end()?;
        Ok(new)
    }

    /// Appends a frame. Times before 1970 become 1970. Allocates only for a frame larger than all before.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let interface = match self.links.iter().position(|link| *link == frame.link) {
            Some(interface) => interface,
            None => self.interface(frame.link)?,
        };
        let tag = tag(frame);
        let (before, after) = match tag {
            Some((at, _)) => frame.bytes.split_at_checked(at).unwrap_or((frame.bytes, &[])),
            None => (frame.bytes, &[][..]),
        };
        let tag = tag.as_ref().map_or(&[][..], |(_, tag)| &tag[..]);
        let size = |n: usize| u32::try_from(n).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge));
        let time = frame.time.0.max(0).cast_unsigned();
        self.begin(6);
        self.u32(size(interface)?);
        self.u32((time >> 32) as u32);
        self.u32(time as u32);
        self.u32(size(frame.bytes.len() + tag.len())?);
        self.u32(frame.wire_len.saturating_add(size(tag.len())?));
        for part in [before, tag, after] {
            self.block.extend_from_slice(part);
        }
        self.end()
    }

    /// Bytes written so far.
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Hands what is buffered on.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// The output, after everything was written; it may still have to be flushed.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn interface(&mut self, link: LinkType) -> io::Result<usize> {
        self.begin(1);
        self.u32(link.number());
        // No snapshot length.
        self.u32(0);
        // if_tsresol: nanoseconds.
        self.option(9, &[9]);
        self.option(0, &[]);
        self.end()?;
        self.links.push(link);
        Ok(self.links.len() - 1)
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.u32(kind);
        self.u32(0);
    }

    fn u32(&mut self, number: u32) {
        self.block.extend_from_slice(&number.to_le_bytes());
    }

    /// An option of less than 64 KiB.
    fn option(&mut self, code: u16, value: &[u8]) {
        self.block.extend_from_slice(&code.to_le_bytes());
        self.block.extend_from_slice(&(value.len() as u16).to_le_bytes());
        self.block.extend_from_slice(value);
        self.pad();
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn end(&mut self) -> io::Result<()> {
        self.pad();
        let len = u32::try_from(self.block.len() + 4).map_err(|_| io::ErrorKind::FileTooLarge)?;
        self.u32(len);
        self.block[4..8].copy_from_slice(&len.to_le_bytes());
        self.out.write_all(&self.block)?;
        self.written += u64::from(len);
        Ok(())
    }
}

/// Where the tag goes back and its four bytes; `None` when there is none or no room for it.
fn tag(frame: &Frame<'_>) -> Option<(usize, [u8; 4])> {
    let [high, low] = frame.vlan?.to_be_bytes();
    match frame.link {
        LinkType::Ethernet if frame.bytes.len() >= ETHERNET_TYPE => {
            Some((ETHERNET_TYPE, [0x81, 0, high, low]))
        }
        // The protocol of the header becomes that of the tag, and its own moves behind the tag.
        LinkType::LinuxSll if frame.bytes.len() >= SLL_TYPE => Some((SLL_TYPE, [0x81, 0, high, low])),
        _ => None,
    }
}
