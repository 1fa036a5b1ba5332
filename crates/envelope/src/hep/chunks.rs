//! Chunks: the type-length-value units of HEP3.

/// Types of generic chunks (vendor 0), specification revision 37.
pub mod id {
    macro_rules! ids {
        ($($(#[$doc:meta])* $name:ident = $value:literal;)+) => {
            $($(#[$doc])* pub const $name: u16 = $value;)+
        };
    }
    ids! {
        /// IP family, u8: 2 or 10.
        FAMILY = 0x01;
        /// IP protocol, u8.
        IP_PROTO = 0x02;
        /// IPv4 source.
        SRC_V4 = 0x03;
        /// IPv4 destination.
        DST_V4 = 0x04;
        /// IPv6 source.
        SRC_V6 = 0x05;
        /// IPv6 destination.
        DST_V6 = 0x06;
        /// Source port, u16.
        SRC_PORT = 0x07;
        /// Destination port, u16.
        DST_PORT = 0x08;
        /// Unix seconds, u32.
        SEC = 0x09;
        /// Microseconds, u32.
        USEC = 0x0a;
        /// Type of the payload, u8.
        PROTO_TYPE = 0x0b;
        /// Id of the capture agent, u32.
        CAPTURE_ID = 0x0c;
        /// Keep-alive timer in seconds, u16.
        KEEPALIVE = 0x0d;
        /// Auth key, octets.
        AUTH_KEY = 0x0e;
        /// Payload, octets.
        PAYLOAD = 0x0f;
        /// Compressed payload, octets.
        COMPRESSED = 0x10;
        /// Correlation id, octets.
        CORRELATION_ID = 0x11;
        /// VLAN id, u16.
        VLAN = 0x12;
        /// Name of the capture agent, octets.
        NODE_NAME = 0x13;
        /// Source MAC address, u64.
        SRC_MAC = 0x14;
        /// Destination MAC address, u64.
        DST_MAC = 0x15;
        /// Ethernet type, u16.
        ETHERTYPE = 0x16;
        /// TCP flags, u8.
        TCP_FLAGS = 0x17;
        /// IP type of service, u8.
        IP_TOS = 0x18;
        /// Mean opinion score, u16.
        MOS = 0x20;
        /// R-factor, u16.
        R_FACTOR = 0x21;
        /// Geographic location, octets.
        GEO = 0x22;
        /// Jitter, u32.
        JITTER = 0x23;
        /// Transaction type, octets: `call`, `registration`.
        TRANSACTION_TYPE = 0x24;
        /// JSON keys of the payload, octets.
        JSON_KEYS = 0x25;
        /// Values of tags, octets.
        TAG_VALUES = 0x26;
        /// Type of tags, u16.
        TAG_TYPE = 0x27;
        /// Event type, u16: 1 recording, 2 lawful interception.
        EVENT_TYPE = 0x28;
        /// Group id, octets.
        GROUP_ID = 0x29;
    }
}

/// Length of a chunk header: vendor, type, length.
pub(super) const CHUNK_HEADER: usize = 6;

/// One chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Vendor id; 0 is generic.
    pub vendor: u16,
    /// Type, whose meaning belongs to the vendor.
    pub id: u16,
    /// What follows the chunk header.
    pub body: &'a [u8],
}

/// Splits the first chunk off: vendor and type as one number, the body, and the rest. `None` when
/// its header or body is not whole, or its length is less than that of its header.
#[inline(always)]
pub(super) fn split_key(area: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let ([v1, v0, t1, t0, l1, l0], rest) = area.split_first_chunk::<CHUNK_HEADER>()?;
    let len = usize::from(u16::from_be_bytes([*l1, *l0])).checked_sub(CHUNK_HEADER)?;
    let (body, rest) = rest.split_at_checked(len)?;
    Some((u32::from_be_bytes([*v1, *v0, *t1, *t0]), body, rest))
}

/// The same with vendor and type apart.
pub(super) fn split(area: &[u8]) -> Option<(Chunk<'_>, &[u8])> {
    let (key, body, rest) = split_key(area)?;
    let [v1, v0, t1, t0] = key.to_be_bytes();
    let chunk = Chunk { vendor: u16::from_be_bytes([v1, v0]), id: u16::from_be_bytes([t1, t0]), body };
    Some((chunk, rest))
}

/// Whether a chunk, by vendor and type as one number, is one that [`open`](super::open) reads.
#[inline(always)]
pub(super) const fn is_known(key: u32) -> bool {
    key < 64 && UNKNOWN >> key & 1 == 0
}

/// The types below 64 that are none of generic chunks, as a bit set.
pub(super) const UNKNOWN: u64 = !(set(id::FAMILY, id::IP_TOS) | set(id::MOS, id::GROUP_ID));

/// The bits from `low` to `high`, both below 63.
const fn set(low: u16, high: u16) -> u64 {
    (2u64 << high).wrapping_sub(1u64 << low)
}
