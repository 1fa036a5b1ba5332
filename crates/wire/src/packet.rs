//! What a frame carries: the packet and its body, borrowed from the frame.

use core::fmt;
use std::net::IpAddr;

use crate::TcpOptions;

/// The innermost IP packet of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Who sent it.
    pub src: IpAddr,
    /// Who is to get it: the final destination when a routing header names one.
    pub dst: IpAddr,
    /// The id of the outermost VLAN tag (1 to 4095).
    pub vlan: Option<u16>,
    /// The innermost tunnel that carries it.
    pub tunnel: Option<Tunnel>,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// What it carries.
    pub body: Body<'a>,
}

impl Packet<'_> {
    /// What [`crate::parse_payload`] needs beside the addresses.
    pub const fn around(&self) -> Around {
        Around { vlan: self.vlan, tunnel: self.tunnel, ttl: self.ttl }
    }
}

/// What was around a fragmented datagram and holds for the packet inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// As [`Packet::vlan`].
    pub vlan: Option<u16>,
    /// As [`Packet::tunnel`].
    pub tunnel: Option<Tunnel>,
    /// As [`Packet::ttl`].
    pub ttl: u8,
}

/// A tunnel and which one of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tunnel {
    /// How packets are carried.
    pub kind: TunnelKind,
    /// VXLAN and Geneve: the virtual network (24 bits). GRE: the key. ERSPAN: the session (10 bits).
    /// PPPoE: the session. 0 when there is none.
    pub id: u32,
}

/// How a tunnel carries packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TunnelKind {
    /// RFC 2784, RFC 2890.
    Gre,
    /// A mirror port over GRE (draft-foschiano-erspan-03).
    Erspan,
    /// RFC 7348.
    Vxlan,
    /// RFC 8926.
    Geneve,
    /// RFC 2003, RFC 4213 and their combinations.
    IpInIp,
    /// RFC 2516.
    Pppoe,
}

impl TunnelKind {
    /// The name in rows and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gre => "gre",
            Self::Erspan => "erspan",
            Self::Vxlan => "vxlan",
            Self::Geneve => "geneve",
            Self::IpInIp => "ip_in_ip",
            Self::Pppoe => "pppoe",
        }
    }
}

/// What an IP packet carries.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    /// A TCP segment.
    Tcp(Segment<'a>),
    /// A UDP datagram that is not a tunnel's.
    Udp(Datagram<'a>),
    /// A part of a datagram; the first part has the transport header in its payload.
    Fragment(Fragment<'a>),
    /// Another protocol, by its IP protocol number, and its bytes as far as they were captured.
    Other(u8, &'a [u8]),
}

/// A TCP segment (RFC 9293 §3.1).
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The sender's port.
    pub src_port: u16,
    /// The receiver's port.
    pub dst_port: u16,
    /// The number of the first byte of the payload, or of the SYN.
    pub seq: u32,
    /// The next byte that the sender expects; means something only with [`TcpFlags::ACK`].
    pub ack: u32,
    /// The control bits.
    pub flags: TcpFlags,
    /// The receive window as it is on the wire, before it is scaled.
    pub window: u16,
    /// The options, as far as they were captured.
    pub options: TcpOptions<'a>,
    /// The payload as far as it was captured.
    pub payload: &'a [u8],
    /// Bytes of payload on the wire, by the IP length: more than `payload.len()` when the frame was cut.
    pub payload_len: u32,
}

/// A UDP datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// The sender's port.
    pub src_port: u16,
    /// The receiver's port.
    pub dst_port: u16,
    /// The payload as far as it was captured.
    pub payload: &'a [u8],
    /// Bytes of payload on the wire, by the UDP length: more than `payload.len()` when the frame was cut.
    pub payload_len: u32,
}

/// A part of a datagram.
#[derive(Clone, Copy, Debug)]
pub struct Fragment<'a> {
    /// Which datagram of its sender, receiver and protocol: 16 bits in IPv4, 32 in IPv6.
    pub id: u32,
    /// Where `payload` lies in the datagram: bytes, a multiple of 8.
    pub offset: u32,
    /// Whether parts follow.
    pub more: bool,
    /// What the datagram carries: an IP protocol number, which may be that of an IPv6 extension header.
    pub protocol: u8,
    /// The payload as far as it was captured.
    pub payload: &'a [u8],
    /// Bytes of payload on the wire, at least 1; `offset + payload_len` is at most 65,535.
    pub payload_len: u32,
}

/// The control bits of a segment.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronize sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number means something.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer means something.
    pub const URG: Self = Self(0x20);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);

    /// Whether all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any bit of `other` is set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The bits of both.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether [`TcpFlags::SYN`] is set.
    pub const fn syn(self) -> bool {
        self.contains(Self::SYN)
    }

    /// Whether [`TcpFlags::ACK`] is set.
    pub const fn ack(self) -> bool {
        self.contains(Self::ACK)
    }

    /// Whether [`TcpFlags::FIN`] is set.
    pub const fn fin(self) -> bool {
        self.contains(Self::FIN)
    }

    /// Whether [`TcpFlags::RST`] is set.
    pub const fn rst(self) -> bool {
        self.contains(Self::RST)
    }
}

impl fmt::Debug for TcpFlags {
    /// As tcpdump writes them: `[S.]`, `[FP.]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (bit, letter) in [
            (Self::FIN, "F"),
            (Self::SYN, "S"),
            (Self::RST, "R"),
            (Self::PSH, "P"),
            (Self::ACK, "."),
            (Self::URG, "U"),
            (Self::ECE, "E"),
            (Self::CWR, "W"),
        ] {
            if self.contains(bit) {
                f.write_str(letter)?;
            }
        }
        f.write_str("]")
    }
}
