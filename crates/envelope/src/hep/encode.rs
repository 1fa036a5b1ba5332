//! Writes HEP3 packets: for tests, benchmarks and generators.

use core::net::IpAddr;

use decode::{DecodeError, What};

use super::{chunks::id, packet::Hep, v3::MAGICS};

/// Builds a HEP3 packet chunk by chunk.
#[derive(Clone, Debug)]
pub struct Encoder {
    bytes: Vec<u8>,
    too_large: bool,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// Starts a packet without chunks.
    pub fn new() -> Self {
        let [magic, ..] = MAGICS;
        let mut bytes = Vec::with_capacity(1024);
        bytes.extend_from_slice(&magic);
        bytes.extend_from_slice(&[0, 0]);
        Self { bytes, too_large: false }
    }

    /// Appends a chunk of any vendor and type.
    pub fn chunk(&mut self, vendor: u16, id: u16, body: &[u8]) -> &mut Self {
        match u16::try_from(body.len().saturating_add(6)) {
            Ok(len) => {
                for field in [vendor, id, len] {
                    self.bytes.extend_from_slice(&field.to_be_bytes());
                }
                self.bytes.extend_from_slice(body);
            }
            Err(_) => self.too_large = true,
        }
        self
    }

    /// Gives the packet with its length set.
    ///
    /// # Errors
    /// `TooLarge` when a chunk or the packet is longer than 65535 bytes.
    pub fn finish(mut self) -> Result<Vec<u8>, DecodeError> {
        let len = u16::try_from(self.bytes.len()).ok().filter(|_| !self.too_large);
        match (len, self.bytes.get_mut(4..6)) {
            (Some(len), Some(field)) => {
                field.copy_from_slice(&len.to_be_bytes());
                Ok(self.bytes)
            }
            _ => Err(DecodeError::new(What::TooLarge, self.bytes.len())),
        }
    }

    fn generic(&mut self, id: u16, body: Option<impl AsRef<[u8]>>) -> &mut Self {
        if let Some(body) = body {
            self.chunk(0, id, body.as_ref());
        }
        self
    }
}

/// Encodes the fields of `hep` as a HEP3 packet, in the order of common agents with the payload
/// last. `version`, `notices`, `consumed`, `chunks` and `has_others` are not looked at; MAC
/// addresses take 8 bytes. Allocates the packet.
///
/// ```
/// use envelope::hep::{self, Hep, Payload, RawTime};
///
/// let hep = Hep {
///     src: Some([10, 0, 0, 1].into()),
///     dst: Some([10, 0, 0, 2].into()),
///     src_port: Some(5060),
///     dst_port: Some(5060),
///     time: Some(RawTime { sec: 1_700_000_000, usec: 0 }),
///     proto_type: Some(1),
///     payload: Some(Payload { bytes: b"OPTIONS sip:b SIP/2.0\r\n\r\n", compressed: false }),
///     ..Hep::default()
/// };
/// let packet = hep::encode(&hep)?;
/// assert_eq!(hep::open(&packet)?.src_port, Some(5060));
/// # Ok::<(), decode::DecodeError>(())
/// ```
///
/// # Errors
/// `TooLarge` when the packet is longer than 65535 bytes.
pub fn encode(hep: &Hep<'_>) -> Result<Vec<u8>, DecodeError> {
    let mut out = Encoder::new();
    let octet = |value: Option<u8>| value.map(|value| [value]);
    let short = |value: Option<u16>| value.map(u16::to_be_bytes);
    let word = |value: Option<u32>| value.map(u32::to_be_bytes);
    let long = |value: Option<u64>| value.map(u64::to_be_bytes);

    out.generic(id::FAMILY, octet(hep.family));
    out.generic(id::IP_PROTO, octet(hep.ip_proto));
    for (address, v4, v6) in [(hep.src, id::SRC_V4, id::SRC_V6), (hep.dst, id::DST_V4, id::DST_V6)] {
        match address {
            Some(IpAddr::V4(address)) => out.chunk(0, v4, &address.octets()),
            Some(IpAddr::V6(address)) => out.chunk(0, v6, &address.octets()),
            None => &mut out,
        };
    }
    out.generic(id::SRC_PORT, short(hep.src_port))
        .generic(id::DST_PORT, short(hep.dst_port))
        .generic(id::SEC, word(hep.time.map(|time| time.sec)))
        .generic(id::USEC, word(hep.time.map(|time| time.usec)))
        .generic(id::PROTO_TYPE, octet(hep.proto_type))
        .generic(id::CAPTURE_ID, word(hep.capture_id))
        .generic(id::KEEPALIVE, short(hep.keepalive_s))
        .generic(id::AUTH_KEY, hep.auth_key)
        .generic(id::CORRELATION_ID, hep.correlation_id)
        .generic(id::VLAN, short(hep.vlan))
        .generic(id::NODE_NAME, hep.node_name)
        .generic(id::SRC_MAC, long(hep.src_mac))
        .generic(id::DST_MAC, long(hep.dst_mac))
        .generic(id::ETHERTYPE, short(hep.ethertype))
        .generic(id::TCP_FLAGS, octet(hep.tcp_flags))
        .generic(id::IP_TOS, octet(hep.ip_tos))
        .generic(id::MOS, short(hep.mos))
        .generic(id::R_FACTOR, short(hep.r_factor))
        .generic(id::GEO, hep.geo)
        .generic(id::JITTER, word(hep.jitter))
        .generic(id::TRANSACTION_TYPE, hep.transaction_type)
        .generic(id::JSON_KEYS, hep.json_keys)
        .generic(id::TAG_VALUES, hep.tag_values)
        .generic(id::TAG_TYPE, short(hep.tag_type))
        .generic(id::EVENT_TYPE, short(hep.event_type))
        .generic(id::GROUP_ID, hep.group_id);
    if let Some(payload) = hep.payload {
        let id = if payload.compressed { id::COMPRESSED } else { id::PAYLOAD };
        out.chunk(0, id, payload.bytes);
    }
    out.finish()
}
