//! What a filter means: tests, joined.

/// A filter as a tree. Lists are flat, so depth comes from parentheses and changes of the word only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// True when all are; true when empty.
    All(Vec<Node>),
    /// True when one is; false when empty.
    Any(Vec<Node>),
    Not(Box<Node>),
    Test(Test),
}

impl From<Test> for Node {
    fn from(test: Test) -> Self {
        Self::Test(test)
    }
}

/// Which of two places is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Source,
    Destination,
    Either,
    Both,
}

/// One question about a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    /// The type of what is behind link header and tags.
    Type(u16),
    /// The protocol that the IP header names.
    Protocol(u8),
    /// An IPv4 address in the header of `family`.
    V4 {
        family: Family4,
        side: Side,
        net: u32,
        mask: u32,
    },
    /// An IPv6 address.
    V6 {
        side: Side,
        net: [u32; 4],
        mask: [u32; 4],
    },
    /// A port of TCP, UDP or SCTP.
    Port {
        side: Side,
        low: u16,
        high: u16,
    },
    /// A hardware address.
    Mac {
        side: Side,
        mac: [u8; 6],
    },
    /// Whether the destination's hardware address is for a group.
    MacGroup,
    /// Whether there is a tag, and of this number.
    Vlan(Option<u16>),
    /// A part of a datagram that has no ports: not the first of IPv4, any of IPv6.
    PartWithoutPorts,
    Compare {
        left: Value,
        how: How,
        right: Value,
    },
}

/// Where an IPv4 address can stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family4 {
    Ip,
    Arp,
    Rarp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A number of 32 bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Number(u32),
    /// The frame's length on the wire.
    Length,
    /// Bytes of a header, in network order.
    Bytes {
        of: Layer,
        at: Box<Value>,
        size: Size,
    },
    /// The same modulo 2^32; `code` is that of the BPF instruction.
    Arithmetic {
        code: u16,
        left: Box<Value>,
        right: Box<Value>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    One,
    Two,
    Four,
}

/// Where bytes are counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    Ethernet,
    Ip,
    Ip6,
    Arp,
    Rarp,
    Transport(u8),
    Icmp,
    Icmp6,
}

pub(super) mod ethertype {
    pub(in super::super) const IPV4: u16 = 0x0800;
    pub(in super::super) const ARP: u16 = 0x0806;
    pub(in super::super) const RARP: u16 = 0x8035;
    pub(in super::super) const IPV6: u16 = 0x86dd;
    pub(in super::super) const VLAN: u16 = 0x8100;
    pub(in super::super) const SERVICE_VLAN: u16 = 0x88a8;
    pub(in super::super) const OLD_SERVICE_VLAN: u16 = 0x9100;
    pub(in super::super) const MPLS: u16 = 0x8847;
    pub(in super::super) const MPLS_MULTICAST: u16 = 0x8848;
}

/// Assigned Internet protocol numbers.
pub(super) mod protocol {
    pub(in super::super) const ICMP: u8 = 1;
    pub(in super::super) const IPIP: u8 = 4;
    pub(in super::super) const TCP: u8 = 6;
    pub(in super::super) const UDP: u8 = 17;
    pub(in super::super) const IPV6: u8 = 41;
    pub(in super::super) const FRAGMENT: u8 = 44;
    pub(in super::super) const GRE: u8 = 47;
    pub(in super::super) const ICMPV6: u8 = 58;
    pub(in super::super) const MPLS: u8 = 137;
    pub(in super::super) const SCTP: u8 = 132;
}
