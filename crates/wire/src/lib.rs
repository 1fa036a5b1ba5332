//! Views of link, IP, TCP and UDP headers and of the tunnels between them.
//!
//! The transport part only: the shapes that the flow table reads.
#![forbid(unsafe_code)]

use std::net::IpAddr;

/// A tunnel that a packet came out of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TunnelKind {
    /// RFC 7348.
    Vxlan,
}

/// A tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tunnel {
    /// Its kind.
    pub kind: TunnelKind,
    /// Its id.
    pub id: u32,
}

/// One IP packet.
#[derive(Debug, Clone, Copy)]
pub struct Packet<'a> {
    /// The sender.
    pub src: IpAddr,
    /// The receiver.
    pub dst: IpAddr,
    /// The VLAN id.
    pub vlan: Option<u16>,
    /// The tunnel.
    pub tunnel: Option<Tunnel>,
    /// Time to live or hop limit.
    pub ttl: u8,
    /// What it carries.
    pub body: Body<'a>,
}

/// What an IP packet carries.
#[derive(Debug, Clone, Copy)]
pub enum Body<'a> {
    /// A TCP segment.
    Tcp(Segment<'a>),
    /// A UDP datagram.
    Udp(Datagram<'a>),
    /// A part of a packet.
    Fragment(Fragment<'a>),
    /// Anything else.
    Other(u8, &'a [u8]),
}

/// The flags of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpFlags(u8);

impl TcpFlags {
    /// FIN.
    pub const fn fin(self) -> bool {
        self.0 & 1 != 0
    }
    /// SYN.
    pub const fn syn(self) -> bool {
        self.0 & 2 != 0
    }
    /// RST.
    pub const fn rst(self) -> bool {
        self.0 & 4 != 0
    }
    /// ACK.
    pub const fn ack(self) -> bool {
        self.0 & 16 != 0
    }
}

/// The options of a segment.
#[derive(Debug, Clone, Copy)]
pub struct TcpOptions<'a>(&'a [u8]);

impl TcpOptions<'_> {
    fn find(&self, wanted: u8) -> Option<&[u8]> {
        let mut rest = self.0;
        loop {
            match *rest.first()? {
                0 => return None,
                1 => rest = rest.get(1..)?,
                kind => {
                    let length = usize::from(*rest.get(1)?);
                    let option = rest.get(2..length)?;
                    if kind == wanted {
                        return Some(option);
                    }
                    rest = rest.get(length..)?;
                }
            }
        }
    }

    /// The maximum segment size.
    pub fn mss(&self) -> Option<u16> {
        self.find(2)?.try_into().ok().map(u16::from_be_bytes)
    }

    /// The window scale.
    pub fn window_scale(&self) -> Option<u8> {
        self.find(3)?.first().copied()
    }
}

/// A TCP segment.
#[derive(Debug, Clone, Copy)]
pub struct Segment<'a> {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Flags.
    pub flags: TcpFlags,
    /// Window, not scaled.
    pub window: u16,
    /// Options.
    pub options: TcpOptions<'a>,
    /// The captured payload.
    pub payload: &'a [u8],
    /// The payload's bytes on the wire.
    pub payload_len: u32,
}

/// A UDP datagram.
#[derive(Debug, Clone, Copy)]
pub struct Datagram<'a> {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// The captured payload.
    pub payload: &'a [u8],
    /// The payload's bytes on the wire.
    pub payload_len: u32,
}

/// A part of an IP packet.
#[derive(Debug, Clone, Copy)]
pub struct Fragment<'a> {
    /// Identification.
    pub id: u32,
    /// Offset in bytes.
    pub offset: u32,
    /// Whether more follow.
    pub more: bool,
    /// Protocol of the whole.
    pub protocol: u8,
    /// The captured payload.
    pub payload: &'a [u8],
    /// The payload's bytes on the wire.
    pub payload_len: u32,
}

/// Why bytes are no packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireError;

/// Parses what an IP packet carries.
///
/// # Errors
/// The header is cut.
pub fn parse_payload<'a>(
    src: IpAddr,
    dst: IpAddr,
    protocol: u8,
    bytes: &'a [u8],
) -> Result<Packet<'a>, WireError> {
    let body = match protocol {
        6 => tcp(bytes).ok_or(WireError)?,
        17 => udp(bytes).ok_or(WireError)?,
        other => Body::Other(other, bytes),
    };
    Ok(Packet { src, dst, vlan: None, tunnel: None, ttl: 0, body })
}

fn tcp(bytes: &[u8]) -> Option<Body<'_>> {
    let (head, rest) = bytes.split_first_chunk::<20>()?;
    let be16 = |high: u8, low: u8| u16::from_be_bytes([high, low]);
    let [a, b, c, d, s0, s1, s2, s3, a0, a1, a2, a3, offset, flags, w0, w1, ..] = *head;
    let options = usize::from(offset >> 4).checked_mul(4)?.checked_sub(20)?;
    let (options, payload) = rest.split_at_checked(options)?;
    Some(Body::Tcp(Segment {
        src_port: be16(a, b),
        dst_port: be16(c, d),
        seq: u32::from_be_bytes([s0, s1, s2, s3]),
        ack: u32::from_be_bytes([a0, a1, a2, a3]),
        flags: TcpFlags(flags),
        window: be16(w0, w1),
        options: TcpOptions(options),
        payload,
        payload_len: u32::try_from(payload.len()).ok()?,
    }))
}

fn udp(bytes: &[u8]) -> Option<Body<'_>> {
    let ([a, b, c, d, ..], payload) = bytes.split_first_chunk::<8>()?;
    Some(Body::Udp(Datagram {
        src_port: u16::from_be_bytes([*a, *b]),
        dst_port: u16::from_be_bytes([*c, *d]),
        payload,
        payload_len: u32::try_from(payload.len()).ok()?,
    }))
}
