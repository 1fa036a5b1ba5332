//! Ethernet, VLAN, IP and UDP around a payload.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use etherparse::{IpHeaders, IpNumber, Ipv4Header, Ipv6FlowLabel, Ipv6Header, UdpHeader, VlanId};
use model::CallMessage;

use super::file::File;

const ETHERTYPE_VLAN: u16 = 0x8100;
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
const TTL: u8 = 64;
const UDP_HEADER: usize = 8;
/// The most that follows an IPv4 header, whose length field counts itself; also what is used for
/// IPv6, so that a message is cut in the same place on both.
pub(super) const MAX_IP_PAYLOAD: usize = 65_535 - 20;

/// Both ends of a packet in one address family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) addresses: Addresses,
    pub(super) src_port: u16,
    pub(super) dst_port: u16,
    /// An address was missing.
    pub(super) stand_in: bool,
    /// The families differed.
    pub(super) mixed: bool,
}

/// Source and destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Addresses {
    V4(Ipv4Addr, Ipv4Addr),
    V6(Ipv6Addr, Ipv6Addr),
}

impl Addresses {
    /// The same pair seen from the other side.
    pub(super) fn swapped(self) -> Self {
        match self {
            Self::V4(src, dst) => Self::V4(dst, src),
            Self::V6(src, dst) => Self::V6(dst, src),
        }
    }
}

impl Ends {
    pub(super) fn of(message: &CallMessage) -> Self {
        let (src, dst) = (message.src_ip, message.dst_ip);
        let any = |peer: Option<IpAddr>| match peer {
            Some(IpAddr::V6(_)) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
            _ => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        };
        let v6 = |ip| match ip {
            IpAddr::V4(v4) => Ipv4Addr::to_ipv6_mapped(&v4),
            IpAddr::V6(v6) => v6,
        };
        let (from, to) = (src.unwrap_or_else(|| any(dst)), dst.unwrap_or_else(|| any(src)));
        let addresses = match (from, to) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => Addresses::V4(src, dst),
            (src, dst) => Addresses::V6(v6(src), v6(dst)),
        };
        Self {
            addresses,
            src_port: message.src_port,
            dst_port: message.dst_port,
            stand_in: src.is_none() || dst.is_none(),
            mixed: from.is_ipv4() != to.is_ipv4(),
        }
    }

    /// The same conversation seen from the other end.
    pub(super) fn swapped(&self) -> (Addresses, u16, u16) {
        (self.addresses.swapped(), self.dst_port, self.src_port)
    }

    /// What tells one direction of one conversation from another.
    pub(super) fn key(&self) -> (Addresses, u16, u16) {
        (self.addresses, self.src_port, self.dst_port)
    }

    /// Everything before the transport header, for `transport_bytes` of transport header and
    /// payload, which must not exceed [`MAX_IP_PAYLOAD`].
    pub(super) fn headers(
        &self,
        message: &CallMessage,
        proto: IpNumber,
        transport_bytes: usize,
    ) -> io::Result<Vec<u8>> {
        let length = u16::try_from(transport_bytes).map_err(io::Error::other)?;
        let (src_mac, dst_mac, ethertype, ip) = match self.addresses {
            Addresses::V4(src, dst) => {
                let mut header = Ipv4Header::new(length, TTL, proto, src.octets(), dst.octets())
                    .map_err(io::Error::other)?;
                header.dont_fragment = true;
                header.header_checksum = header.calc_header_checksum();
                let ip = IpHeaders::Ipv4(header, Default::default());
                (mac_v4(src), mac_v4(dst), ETHERTYPE_IPV4, ip)
            }
            Addresses::V6(src, dst) => {
                let header = Ipv6Header {
                    traffic_class: 0,
                    flow_label: Ipv6FlowLabel::ZERO,
                    payload_length: length,
                    next_header: proto,
                    hop_limit: TTL,
                    source: src.octets(),
                    destination: dst.octets(),
                };
                let ip = IpHeaders::Ipv6(header, Default::default());
                (mac_v6(src), mac_v6(dst), ETHERTYPE_IPV6, ip)
            }
        };
        let mut frame = Vec::with_capacity(14 + 4 + 40 + transport_bytes);
        frame.extend(dst_mac);
        frame.extend(src_mac);
        if let Some(id) = message.vlan {
            let vlan = etherparse::SingleVlanHeader {
                vlan_id: VlanId::try_new(id & 0x0fff).unwrap_or(VlanId::ZERO),
                ether_type: etherparse::EtherType(ethertype),
                ..Default::default()
            };
            frame.extend(ETHERTYPE_VLAN.to_be_bytes());
            frame.extend(vlan.to_bytes());
        } else {
            frame.extend(ethertype.to_be_bytes());
        }
        ip.write(&mut frame).map_err(io::Error::other)?;
        Ok(frame)
    }
}

/// `02:00` and the address.
fn mac_v4(ip: Ipv4Addr) -> [u8; 6] {
    let [a, b, c, d] = ip.octets();
    [0x02, 0x00, a, b, c, d]
}

/// `02:06` and the address folded to four bytes.
fn mac_v6(ip: Ipv6Addr) -> [u8; 6] {
    let mut folded = [0u8; 4];
    for word in ip.octets().chunks_exact(4) {
        for (into, byte) in folded.iter_mut().zip(word) {
            *into ^= byte;
        }
    }
    let [a, b, c, d] = folded;
    [0x02, 0x06, a, b, c, d]
}

/// Writes a message as one UDP datagram. Returns whether it had to be cut.
pub(super) fn write_udp<W: Write>(
    message: &CallMessage,
    ends: &Ends,
    file: &mut File<'_, W>,
) -> io::Result<bool> {
    let fits = message.payload.len().min(MAX_IP_PAYLOAD - UDP_HEADER);
    let (payload, missing) = message.payload.split_at(fits);
    let (src_port, dst_port) = (ends.src_port, ends.dst_port);
    let udp = match ends.addresses {
        Addresses::V4(src, dst) => UdpHeader::with_ipv4_checksum(
            src_port,
            dst_port,
            &Ipv4Header::new(0, TTL, IpNumber::UDP, src.octets(), dst.octets()).map_err(io::Error::other)?,
            payload,
        ),
        Addresses::V6(src, dst) => UdpHeader::with_ipv6_checksum(
            src_port,
            dst_port,
            &Ipv6Header { source: src.octets(), destination: dst.octets(), ..Default::default() },
            payload,
        ),
    }
    .map_err(io::Error::other)?;
    let mut frame = ends.headers(message, IpNumber::UDP, UDP_HEADER + payload.len())?;
    frame.extend(udp.to_bytes());
    frame.extend(payload);
    file.packet(message.time, &frame, missing.len())?;
    Ok(!missing.is_empty())
}
