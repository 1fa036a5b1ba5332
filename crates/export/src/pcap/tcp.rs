//! TCP segments with running sequence numbers.

use std::collections::HashMap;
use std::io::{self, Write};

use etherparse::{IpNumber, TcpHeader};
use model::CallMessage;

use super::file::File;
use super::frame::{Addresses, Ends, MAX_IP_PAYLOAD};

const TCP_HEADER: usize = 20;
const MAX_SEGMENT: usize = MAX_IP_PAYLOAD - TCP_HEADER;
const FIRST_SEQUENCE: u32 = 1;

/// The next sequence number of every direction seen so far.
#[derive(Default)]
pub(super) struct Connections {
    next: HashMap<(Addresses, u16, u16), u32>,
}

impl Connections {
    /// Writes a message as one segment, or as several when it is larger than a packet.
    pub(super) fn write<W: Write>(
        &mut self,
        message: &CallMessage,
        ends: &Ends,
        file: &mut File<'_, W>,
    ) -> io::Result<()> {
        let ack = self.next.get(&ends.swapped()).copied().unwrap_or(FIRST_SEQUENCE);
        let mut sequence = self.next.get(&ends.key()).copied().unwrap_or(FIRST_SEQUENCE);
        let mut rest = message.payload.as_slice();
        loop {
            let (segment, later) = rest.split_at(rest.len().min(MAX_SEGMENT));
            write_segment(message, ends, sequence, ack, segment, file)?;
            sequence = sequence.wrapping_add(wrapped(segment.len()));
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        let sequence = sequence.wrapping_add(wrapped(hole(&message.payload)));
        self.next.insert(ends.key(), sequence);
        Ok(())
    }
}

/// Sequence numbers count modulo 2^32.
fn wrapped(bytes: usize) -> u32 {
    (bytes & 0xffff_ffff) as u32
}

/// How many bytes to leave out after a message, so that a reader does not take the next one for its
/// end: those it announces and lacks, one when its end is in doubt otherwise, none when it is whole.
fn hole(payload: &[u8]) -> usize {
    if payload.trim_ascii().is_empty() {
        return 0; // a keep-alive
    }
    let Some(body) = crate::call::body(payload) else { return 1 };
    match crate::call::content_length(payload) {
        None => 0,
        Some(announced) if announced == body.len() => 0,
        // A length nobody would send is a broken header.
        Some(announced) if announced > 1 << 20 => 1,
        Some(announced) => announced.saturating_sub(body.len()).max(1),
    }
}

fn write_segment<W: Write>(
    message: &CallMessage,
    ends: &Ends,
    sequence: u32,
    ack: u32,
    segment: &[u8],
    file: &mut File<'_, W>,
) -> io::Result<()> {
    let mut tcp = TcpHeader::new(ends.src_port, ends.dst_port, sequence, u16::MAX);
    tcp.psh = true;
    tcp.ack = true;
    tcp.acknowledgment_number = ack;
    tcp.checksum = match ends.addresses {
        Addresses::V4(src, dst) => tcp.calc_checksum_ipv4_raw(src.octets(), dst.octets(), segment),
        Addresses::V6(src, dst) => tcp.calc_checksum_ipv6_raw(src.octets(), dst.octets(), segment),
    }
    .map_err(io::Error::other)?;
    let mut frame = ends.headers(message, IpNumber::TCP, TCP_HEADER + segment.len())?;
    tcp.write(&mut frame)?;
    frame.extend(segment);
    file.packet(message.time, &frame, 0)
}

#[cfg(test)]
mod tests {
    use super::hole;

    #[test]
    fn finds_where_a_message_does_not_end_as_it_says() {
        let with = |length: &str, body: &str| {
            hole(format!("INFO sip:a SIP/2.0\r\nl: {length}\r\n\r\n{body}").as_bytes())
        };
        assert_eq!(with("4", "body"), 0);
        assert_eq!(with("10", "body"), 6);
        assert_eq!(with("2", "body"), 1);
        assert_eq!(with("99999999999", "body"), 1);
        assert_eq!(with("x", "body"), 0);
        assert_eq!(hole(b"INFO sip:a SIP/2.0\r\nl: 4"), 1);
        assert_eq!(hole(b"\r\n\r\n"), 0);
        assert_eq!(hole(b"\r\n\r\nINFO sip:a SIP/2.0\r\nl: 4\r\n\r\nbody"), 0);
    }
}
