//! A call as a capture file that Wireshark, tshark, tcpdump and sngrep read.
//!
//! In: the messages of a call, oldest first. Out: classic pcap, little-endian, link type Ethernet,
//! one packet per message with the real addresses, ports, VLAN and transport, right lengths and
//! checksums, and exact times (microseconds, or nanoseconds when a message has a finer time).
//!
//! What HEP does not tell is made up in one documented way, and counted in the [`PcapSummary`]:
//!
//! * **Ethernet addresses** are locally administered (`02:..`) and derived from the IP address.
//! * **An address that is missing** is written as the unspecified one (`0.0.0.0` or `::`).
//! * **IPv4 on one side and IPv6 on the other** is written as IPv6, the IPv4 side mapped
//!   (`::ffff:a.b.c.d`).
//! * **TCP** has no handshake: sequence numbers of each direction start at 1 and run on, every
//!   segment is PSH|ACK and acknowledges all that came the other way, so that a reader reassembles
//!   without complaint. Where a message does not end as its Content-Length says (the agent cut
//!   it, or it is no SIP), a gap in the sequence as large as what is missing, or of one byte,
//!   keeps the next message from being taken for its end. TLS arrives decrypted and is written as
//!   plain TCP on its port; for 5061, tell Wireshark to *decode as* SIP
//!   (`tshark -d tcp.port==5061,sip`).
//! * **SCTP** messages are DATA chunks of one association per pair of ends, stream 0.
//! * **Any other transport** is written as UDP.
//! * **A message larger than a packet** is cut into segments on TCP and into fragments of the
//!   chunk on SCTP. On UDP, where no such datagram can exist, the packet ends at the largest
//!   size and the packet's original length tells how long it was.
//! * **A time before 1970 or after 2106** is written as the nearest time that fits.

mod file;
mod frame;
mod sctp;
mod tcp;

#[cfg(test)]
mod tests;

use std::io::Write;

use model::CallMessage;

use file::{File, Resolution};
use frame::Ends;

/// What was written and what had to be made up or cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PcapSummary {
    /// Packets in the file; more than messages when one took several packets.
    pub packets: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Messages of a transport other than UDP, TCP and SCTP, written as UDP.
    pub as_udp: u64,
    /// Messages that lacked an address.
    pub without_address: u64,
    /// Messages whose ends were IPv4 and IPv6, written as IPv6.
    pub mixed_families: u64,
    /// Messages larger than a UDP datagram can be, cut.
    pub cut: u64,
    /// Messages whose time the format cannot hold.
    pub time_out_of_range: u64,
}

/// Why a capture file could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PcapError {
    /// The writer failed.
    #[error("the capture file cannot be written: {0}")]
    Write(#[from] std::io::Error),
}

/// Writes the messages in the order given, which should be time order. Buffers one packet.
pub fn write(messages: &[CallMessage], out: &mut impl Write) -> Result<PcapSummary, PcapError> {
    let resolution = match messages.iter().all(|message| message.time.0 % 1_000 == 0) {
        true => Resolution::Micros,
        false => Resolution::Nanos,
    };
    let mut summary = PcapSummary::default();
    let mut file = File::start(out, resolution)?;
    let mut tcp = tcp::Connections::default();
    let mut sctp = sctp::Associations::default();
    for message in messages {
        let ends = Ends::of(message);
        summary.without_address += u64::from(ends.stand_in);
        summary.mixed_families += u64::from(ends.mixed);
        summary.time_out_of_range += u64::from(!Resolution::holds(message.time));
        match message.ip_proto {
            6 => tcp.write(message, &ends, &mut file)?,
            132 => sctp.write(message, &ends, &mut file)?,
            other => {
                summary.as_udp += u64::from(other != 17);
                summary.cut += u64::from(frame::write_udp(message, &ends, &mut file)?);
            }
        }
    }
    (summary.packets, summary.bytes) = file.finish()?;
    Ok(summary)
}
