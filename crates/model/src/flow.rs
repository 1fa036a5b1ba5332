//! Who talks to whom: endpoints, oriented five-tuples and directions.

use crate::Nanos;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// A direction of a flow, seen from the side that opened it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dir {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

impl Dir {
    /// Both directions, in the order of [`Dir::index`].
    pub const BOTH: [Dir; 2] = [Dir::ToServer, Dir::ToClient];

    /// 0 towards the server, 1 towards the client.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other direction.
    pub const fn reverse(self) -> Self {
        match self {
            Self::ToServer => Self::ToClient,
            Self::ToClient => Self::ToServer,
        }
    }
}

/// How much of the other lane the sender of bytes had received when it sent them, by the acknowledgement that
/// came with them (RFC 9293 section 3.10.7.4: it is set in every segment, and says what was received in order).
/// What a host has received its program may not have read yet; what it has not received, no program knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Heard {
    /// Everything that was told of the other lane before.
    All,
    /// Not the last bytes of it.
    Less,
    /// Nothing says.
    #[default]
    Unknown,
}

/// What is known of a datagram, or of consecutive bytes of a lane, beside what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When they were captured.
    pub time: Nanos,
    /// Whether the first of them started a segment.
    pub segment_start: bool,
    /// What their sender had received.
    pub heard: Heard,
    /// How many bytes of a datagram the capture cut off behind them; those of a lane are a gap.
    pub cut: u32,
}

impl Arrival {
    /// A datagram, `cut` bytes of which were cut off.
    pub const fn datagram(time: Nanos, cut: u32) -> Self {
        Self { time, segment_start: true, heard: Heard::Unknown, cut }
    }
}

/// The transport protocol of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Transport {
    /// RFC 9293.
    Tcp,
    /// RFC 768.
    Udp,
}

impl Transport {
    /// The name in rows: `tcp` or `udp`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }
}

/// An address and a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    /// The address; an IPv4 address is never written as an IPv6 one.
    pub ip: IpAddr,
    /// The port.
    pub port: u16,
}

impl Endpoint {
    /// `0.0.0.0:0`, for places that are filled later.
    pub const UNSET: Self = Self { ip: IpAddr::V4(Ipv4Addr::UNSPECIFIED), port: 0 };

    /// Joins an address and a port.
    pub const fn new(ip: IpAddr, port: u16) -> Self {
        Self { ip, port }
    }
}

impl fmt::Display for Endpoint {
    /// `192.0.2.1:80`, `[2001:db8::1]:80`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SocketAddr::new(self.ip, self.port).fmt(f)
    }
}

/// A five-tuple that knows which side is the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FiveTuple {
    /// The side that opened the flow, as far as is known.
    pub client: Endpoint,
    /// The side that was there before.
    pub server: Endpoint,
    /// The transport.
    pub transport: Transport,
}

impl FiveTuple {
    /// Who sends in a direction.
    pub const fn sender(&self, dir: Dir) -> Endpoint {
        match dir {
            Dir::ToServer => self.client,
            Dir::ToClient => self.server,
        }
    }

    /// The same flow with the sides exchanged.
    pub const fn reverse(&self) -> Self {
        Self { client: self.server, server: self.client, transport: self.transport }
    }
}

impl fmt::Display for FiveTuple {
    /// `tcp 192.0.2.1:40000 > 192.0.2.2:80`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} > {}", self.transport.as_str(), self.client, self.server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_read_as_people_write_them() {
        let client = Endpoint::new("2001:db8::1".parse().unwrap(), 40_000);
        let server = Endpoint::new("192.0.2.2".parse().unwrap(), 80);
        let tuple = FiveTuple { client, server, transport: Transport::Tcp };
        assert_eq!(tuple.to_string(), "tcp [2001:db8::1]:40000 > 192.0.2.2:80");
        assert_eq!(tuple.sender(Dir::ToClient), server);
        assert_eq!(tuple.reverse().client, server);
        assert_eq!(Dir::ToServer.reverse().index(), 1);
    }
}
