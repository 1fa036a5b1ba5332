//! Which side is the client.
//!
//! A SYN comes from the client, a SYN-ACK goes to it. Where neither was seen: the side whose port is a known
//! server port is the server, if the other one's is not. Else, for TCP, the side with the lower port is the
//! server; for UDP, and where the ports are equal, who sends first is the client.

use model::Transport;

/// A set of ports, one bit each.
#[derive(Clone)]
pub(crate) struct Ports(Box<[u64; 1024]>);

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (0..=u16::MAX).filter(|port| self.has(*port)).collect::<Vec<_>>().fmt(f)
    }
}

impl Ports {
    pub fn new(ports: &[u16]) -> Self {
        let mut set = Box::new([0; 1024]);
        for port in ports {
            set[usize::from(port / 64)] |= 1 << (port % 64);
        }
        Self(set)
    }

    fn has(&self, port: u16) -> bool {
        self.0[usize::from(port / 64)] >> (port % 64) & 1 == 1
    }

    /// Whether the sender of a packet from `src` to `dst` is the client of a flow whose handshake was not seen.
    pub fn client_sends(&self, transport: Transport, src: u16, dst: u16) -> bool {
        match (self.has(src), self.has(dst)) {
            (true, false) => false,
            (false, true) => true,
            _ => match transport {
                Transport::Tcp => src >= dst,
                Transport::Udp => true,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_port_says_more_than_a_low_one() {
        let ports = Ports::new(&[8080, 65535, 0]);
        let client = |transport, src, dst| ports.client_sends(transport, src, dst);
        assert!(client(Transport::Tcp, 1024, 8080) && !client(Transport::Tcp, 8080, 1024));
        assert!(client(Transport::Tcp, 40_000, 1024) && !client(Transport::Tcp, 1024, 40_000));
        assert!(!client(Transport::Tcp, 8080, 65535) && client(Transport::Tcp, 65535, 8080));
        assert!(client(Transport::Tcp, 7, 7));
        assert!(client(Transport::Udp, 53, 40_000), "first sender");
        assert!(!client(Transport::Udp, 8080, 53));
    }
}
