//! Frames as a source hands them out.

use crate::Nanos;

/// What the first bytes of a frame are. The numbers are those of <https://www.tcpdump.org/linktypes.html>.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkType {
    /// BSD loopback: the address family in the byte order of the machine that captured (0).
    Null,
    /// Ethernet II and IEEE 802.3 (1).
    Ethernet,
    /// IPv4 or IPv6, told apart by the version (12, 14, 101).
    Raw,
    /// OpenBSD loopback: the address family in network byte order (108).
    Loop,
    /// Linux cooked capture (113).
    LinuxSll,
    /// IPv4 only (228).
    Ipv4,
    /// IPv6 only (229).
    Ipv6,
    /// Linux cooked capture v2 (276).
    LinuxSll2,
}

impl LinkType {
    /// The type of a number in a file's header; `None` when it is not one that can be read.
    pub const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Null,
            1 => Self::Ethernet,
            12 | 14 | 101 => Self::Raw,
            108 => Self::Loop,
            113 => Self::LinuxSll,
            228 => Self::Ipv4,
            229 => Self::Ipv6,
            276 => Self::LinuxSll2,
            _ => return None,
        })
    }

    /// The number that files carry.
    pub const fn number(self) -> u32 {
        match self {
            Self::Null => 0,
            Self::Ethernet => 1,
            Self::Raw => 101,
            Self::Loop => 108,
            Self::LinuxSll => 113,
            Self::Ipv4 => 228,
            Self::Ipv6 => 229,
            Self::LinuxSll2 => 276,
        }
    }
}

/// One frame, borrowed from the ring block or file that holds it.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// When the source saw it.
    pub time: Nanos,
    /// What its first bytes are.
    pub link: LinkType,
    /// How many bytes it had on the wire; more than `bytes` holds when it was cut by a snapshot length.
    pub wire_len: u32,
    /// The outermost VLAN id when the kernel took the tag out of the bytes.
    pub vlan: Option<u16>,
    /// The bytes that were captured.
    pub bytes: &'a [u8],
}
