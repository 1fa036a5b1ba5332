//! An opened packet, and the door to the three versions.

use core::net::IpAddr;

use decode::{DecodeError, What};

use super::{
    chunks::{self, Chunk},
    notices::Notices,
    time::RawTime,
    v3, v12,
};

/// The bytes that a packet wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload<'a> {
    /// As they stand on the wire, NUL and invalid UTF-8 included.
    pub bytes: &'a [u8],
    /// Whether they came in chunk 0x10 and must be [inflated](super::inflate) first.
    pub compressed: bool,
}

/// An opened HEP packet. Fields are as on the wire; what the packet does not say is `None`.
///
/// Of chunks that occur twice the first one counts. Text chunks without a byte read as `None`,
/// an empty payload does not.
#[derive(Clone, Debug, Default)]
pub struct Hep<'a> {
    /// 1, 2 or 3; 0 only in a value that was not opened.
    pub version: u8,
    /// IP family: 2 is IPv4, 10 is IPv6; senders on other systems than Linux may say otherwise.
    pub family: Option<u8>,
    /// IP protocol number: 6 TCP, 17 UDP, 132 SCTP.
    pub ip_proto: Option<u8>,
    /// Source address.
    pub src: Option<IpAddr>,
    /// Destination address.
    pub dst: Option<IpAddr>,
    /// Source port.
    pub src_port: Option<u16>,
    /// Destination port.
    pub dst_port: Option<u16>,
    /// Capture time; see [`RawTime::normalise`].
    pub time: Option<RawTime>,
    /// Type of the payload: 1 SIP, 5 RTCP as JSON, 100 log and so on; always 1 in HEP1 and HEP2.
    pub proto_type: Option<u8>,
    /// Id of the capture agent; 16 bits in HEP2.
    pub capture_id: Option<u32>,
    /// Keep-alive timer in seconds.
    pub keepalive_s: Option<u16>,
    /// Auth key; compare it with [`auth_ok`](super::auth_ok).
    pub auth_key: Option<&'a [u8]>,
    /// The wrapped bytes. Where a plain and a compressed payload are there, the plain one.
    pub payload: Option<Payload<'a>>,
    /// Correlation id.
    pub correlation_id: Option<&'a [u8]>,
    /// Name of the capture agent.
    pub node_name: Option<&'a [u8]>,
    /// VLAN id.
    pub vlan: Option<u16>,
    /// Source MAC address in the low 48 bits.
    pub src_mac: Option<u64>,
    /// Destination MAC address in the low 48 bits.
    pub dst_mac: Option<u64>,
    /// Ethernet type.
    pub ethertype: Option<u16>,
    /// TCP flags.
    pub tcp_flags: Option<u8>,
    /// IP type of service.
    pub ip_tos: Option<u8>,
    /// Mean opinion score, in the unit of the sender.
    pub mos: Option<u16>,
    /// R-factor.
    pub r_factor: Option<u16>,
    /// Geographic location.
    pub geo: Option<&'a [u8]>,
    /// Jitter, in the unit of the sender.
    pub jitter: Option<u32>,
    /// Transaction type.
    pub transaction_type: Option<&'a [u8]>,
    /// JSON keys of the payload.
    pub json_keys: Option<&'a [u8]>,
    /// Values of tags.
    pub tag_values: Option<&'a [u8]>,
    /// Type of tags.
    pub tag_type: Option<u16>,
    /// Event type.
    pub event_type: Option<u16>,
    /// Group id.
    pub group_id: Option<&'a [u8]>,
    /// Whether [`others`](Self::others) has any.
    pub has_others: bool,
    /// What is odd about the packet.
    pub notices: Notices,
    /// Length of the packet in bytes, as its header announces it; what follows is not part of it.
    pub consumed: usize,
    /// The chunk area of a HEP3 packet.
    pub chunks: &'a [u8],
}

impl<'a> Hep<'a> {
    /// The chunks that have no field here: those of vendors, and generic ones of unknown type.
    /// Walks the chunk area again.
    pub fn others(&self) -> impl Iterator<Item = Chunk<'a>> + use<'a> {
        let mut area = if self.has_others { self.chunks } else { &[] };
        core::iter::from_fn(move || {
            let (chunk, rest) = chunks::split(area)?;
            area = rest;
            Some(chunk)
        })
        .filter(|chunk| chunk.vendor != 0 || !chunks::is_known(u32::from(chunk.id)))
    }
}

/// Opens one HEP packet of any version.
///
/// `HEP3`, `EEP3` and `EEP1` begin a packet of chunks; a first byte of 1 or 2 one of HEP1 or HEP2.
/// Bytes after the length that the header announces are left alone and told by
/// [`Notices::TRAILING_BYTES`]. Does not allocate.
///
/// # Errors
/// `Empty`, `BadMagic`; `Truncated` when the packet is shorter than it says or a chunk runs past
/// its end; `BadLength` when a length is smaller than the header it belongs to.
#[inline]
pub fn open(bytes: &[u8]) -> Result<Hep<'_>, DecodeError> {
    let mut hep = Hep::default();
    open_into(bytes, &mut hep)?;
    Ok(hep)
}

/// As [`open`], into a packet whose content is replaced; after an error it is of no use.
///
/// A [`Hep`] is some 320 bytes of many small values. Where it is made, nothing moves it right behind
/// their writes, which would wait for each of them.
///
/// # Errors
/// Those of [`open`].
#[inline(always)]
pub fn open_into<'a>(bytes: &'a [u8], hep: &mut Hep<'a>) -> Result<(), DecodeError> {
    *hep = Hep::default();
    match bytes.first() {
        Some(b'H' | b'E') => v3::open(bytes, hep),
        Some(1 | 2) => v12::open(bytes, hep),
        Some(_) => Err(DecodeError::new(What::BadMagic, 0)),
        None => Err(DecodeError::new(What::Empty, 0)),
    }
}
