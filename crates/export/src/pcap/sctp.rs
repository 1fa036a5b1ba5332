//! SCTP packets of one DATA chunk each (RFC 9260).

use std::collections::HashMap;
use std::io::{self, Write};

use etherparse::IpNumber;
use model::CallMessage;

use super::file::File;
use super::frame::{Addresses, Ends, MAX_IP_PAYLOAD};

const COMMON_HEADER: usize = 12;
const CHUNK_HEADER: usize = 16;
/// Kept a multiple of four, so that only the last chunk of a message is padded.
const MAX_FRAGMENT: usize = (MAX_IP_PAYLOAD - COMMON_HEADER - CHUNK_HEADER) / 4 * 4;
/// HEP does not tell the verification tags. Zero would mean INIT, and one tag for both directions
/// would make a reader take the answers for retransmissions.
const TAGS: [u32; 2] = [1, 2];
const DATA: u8 = 0;
const BEGINS: u8 = 0b10;
const ENDS: u8 = 0b01;

/// What counts on in one direction of an association.
#[derive(Clone, Copy)]
struct Counters {
    tsn: u32,
    stream_sequence: u16,
}

/// Every direction seen so far.
#[derive(Default)]
pub(super) struct Associations {
    next: HashMap<(Addresses, u16, u16), Counters>,
}

impl Associations {
    /// Writes a message as one chunk, or as fragments of one user message when it is larger.
    pub(super) fn write<W: Write>(
        &mut self,
        message: &CallMessage,
        ends: &Ends,
        file: &mut File<'_, W>,
    ) -> io::Result<()> {
        let counters = self.next.entry(ends.key()).or_insert(Counters { tsn: 1, stream_sequence: 0 });
        let mut rest = message.payload.as_slice();
        let mut flags = BEGINS;
        loop {
            let (fragment, later) = rest.split_at(rest.len().min(MAX_FRAGMENT));
            rest = later;
            if rest.is_empty() {
                flags |= ENDS;
            }
            write_chunk(message, ends, *counters, flags, fragment, file)?;
            counters.tsn = counters.tsn.wrapping_add(1);
            flags = 0;
            if rest.is_empty() {
                break;
            }
        }
        counters.stream_sequence = counters.stream_sequence.wrapping_add(1);
        Ok(())
    }
}

fn write_chunk<W: Write>(
    message: &CallMessage,
    ends: &Ends,
    counters: Counters,
    flags: u8,
    fragment: &[u8],
    file: &mut File<'_, W>,
) -> io::Result<()> {
    let length = u16::try_from(CHUNK_HEADER + fragment.len()).map_err(io::Error::other)?;
    let padding = fragment.len().next_multiple_of(4) - fragment.len();
    let mut packet = Vec::with_capacity(COMMON_HEADER + CHUNK_HEADER + fragment.len() + padding);
    packet.extend(ends.src_port.to_be_bytes());
    packet.extend(ends.dst_port.to_be_bytes());
    packet.extend(TAGS[usize::from(ends.key() > ends.swapped())].to_be_bytes());
    packet.extend([0; 4]); // the checksum is taken over zeros, then put here
    packet.extend([DATA, flags]);
    packet.extend(length.to_be_bytes());
    packet.extend(counters.tsn.to_be_bytes());
    packet.extend(0u16.to_be_bytes());
    packet.extend(counters.stream_sequence.to_be_bytes());
    packet.extend(0u32.to_be_bytes()); // payload protocol: SIP has none (RFC 4168 §4)
    packet.extend(fragment);
    packet.extend(std::iter::repeat_n(0, padding));
    let checksum = crc32c(&packet).to_le_bytes();
    for (into, byte) in packet.iter_mut().skip(8).zip(checksum) {
        *into = byte;
    }
    let mut frame = ends.headers(message, IpNumber::SCTP, packet.len())?;
    frame.extend(packet);
    file.packet(message.time, &frame, 0)
}

/// The Castagnoli CRC of RFC 9260 appendix A.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        let [low, ..] = crc.to_le_bytes();
        (crc >> 8) ^ TABLE[usize::from(low ^ byte)]
    })
}

static TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let mut crc = at as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
            bit += 1;
        }
        table[at] = crc;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Check values of RFC 3720 appendix B.4.
    #[test]
    fn crc_has_the_published_values() {
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }
}
