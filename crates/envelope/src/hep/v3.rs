//! HEP3: a header and chunks in any order.

use core::net::IpAddr;

use decode::{DecodeError, What};

use super::{
    chunks::{CHUNK_HEADER, UNKNOWN, id, is_known, split_key},
    frame::{Frame, HEADER, frame_len},
    notices::Notices,
    packet::{Hep, Payload},
    time::RawTime,
    usual,
};

/// What a packet may start with: the specification, its variant, and the IETF draft.
pub(super) const MAGICS: [[u8; 4]; 3] = [*b"HEP3", *b"EEP3", *b"EEP1"];

#[inline(never)]
pub(super) fn open<'a>(bytes: &'a [u8], hep: &mut Hep<'a>) -> Result<(), DecodeError> {
    let len = match frame_len(bytes) {
        Frame::Len(len) => len,
        Frame::NeedMore => return Err(DecodeError::new(What::Truncated, bytes.len())),
        Frame::Bad => return Err(refused(bytes)),
    };
    let Some(area) = bytes.get(HEADER..len) else {
        return Err(DecodeError::new(What::Truncated, bytes.len()));
    };
    hep.version = 3;
    hep.consumed = len;
    hep.chunks = area;
    if bytes.len() > len {
        hep.notices |= Notices::TRAILING_BYTES;
    }
    let mut walk = Walk::default();
    let mut rest = match area.split_first_chunk() {
        Some((prefix, rest)) if usual::matches(prefix) => {
            walk.prefix(hep, prefix);
            rest
        }
        _ => area,
    };
    while let Some((key, body, after)) = split_key(rest) {
        walk.chunk(hep, key, body);
        rest = after;
    }
    if rest.len() >= CHUNK_HEADER {
        return Err(broken_chunk(rest, len));
    }
    if !rest.is_empty() {
        hep.notices |= Notices::TRAILING_BYTES;
    }
    walk.finish(hep);
    Ok(())
}

#[cold]
fn refused(bytes: &[u8]) -> DecodeError {
    let magic = bytes.first_chunk::<4>().is_some_and(|magic| MAGICS.contains(magic));
    if magic { DecodeError::new(What::BadLength, 4) } else { DecodeError::new(What::BadMagic, 0) }
}

/// Says why the chunk at the start of `rest`, which is the end of a packet of `len` bytes, cannot
/// be split off.
#[cold]
fn broken_chunk(rest: &[u8], len: usize) -> DecodeError {
    let at = len.saturating_sub(rest.len());
    let too_short = rest
        .get(4..CHUNK_HEADER)
        .and_then(|field| field.first_chunk::<2>())
        .is_some_and(|field| usize::from(u16::from_be_bytes(*field)) < CHUNK_HEADER);
    if too_short {
        DecodeError::new(What::BadLength, at.saturating_add(4))
    } else {
        DecodeError::new(What::Truncated, at)
    }
}

/// What is known only while the chunks are walked.
#[derive(Default)]
struct Walk<'a> {
    /// Bit set of the generic chunk types seen.
    seen: u64,
    sec: Option<u32>,
    usec: Option<u32>,
    compressed: Option<&'a [u8]>,
}

impl<'a> Walk<'a> {
    /// Reads the chunks of a usual prefix, whose places are known.
    #[inline(always)]
    fn prefix(&mut self, hep: &mut Hep<'a>, prefix: &[u8; usual::LEN]) {
        let usual::Fields {
            family,
            ip_proto,
            src,
            dst,
            src_port,
            dst_port,
            sec,
            usec,
            proto_type,
            capture_id,
        } = usual::fields(prefix);
        hep.family = Some(family);
        hep.ip_proto = Some(ip_proto);
        hep.src = Some(IpAddr::from(src));
        hep.dst = Some(IpAddr::from(dst));
        hep.src_port = Some(src_port);
        hep.dst_port = Some(dst_port);
        self.sec = Some(sec);
        self.usec = Some(usec);
        hep.proto_type = Some(proto_type);
        hep.capture_id = Some(capture_id);
        self.seen = usual::SEEN;
    }

    #[inline(always)]
    fn chunk(&mut self, hep: &mut Hep<'a>, key: u32, body: &'a [u8]) {
        let bit = 1u64.wrapping_shl(key);
        // One question for nearly every chunk: whether it is known and new.
        if key >= 64 || (self.seen | UNKNOWN) & bit != 0 {
            if is_known(key) {
                hep.notices |= Notices::DUPLICATE_CHUNK;
            } else {
                hep.has_others = true;
            }
            return;
        }
        self.seen |= bit;
        #[allow(clippy::cast_possible_truncation, reason = "a known key is below 64")]
        let fits = match key as u16 {
            id::PAYLOAD => {
                hep.payload = Some(Payload { bytes: body, compressed: false });
                true
            }
            id::FAMILY => u8(body, &mut hep.family),
            id::IP_PROTO => u8(body, &mut hep.ip_proto),
            id::SRC_V4 => address::<4>(body, &mut hep.src, &mut hep.notices),
            id::DST_V4 => address::<4>(body, &mut hep.dst, &mut hep.notices),
            id::SRC_V6 => address::<16>(body, &mut hep.src, &mut hep.notices),
            id::DST_V6 => address::<16>(body, &mut hep.dst, &mut hep.notices),
            id::SRC_PORT => u16(body, &mut hep.src_port),
            id::DST_PORT => u16(body, &mut hep.dst_port),
            id::SEC => u32(body, &mut self.sec),
            id::USEC => u32(body, &mut self.usec),
            id::PROTO_TYPE => u8(body, &mut hep.proto_type),
            id::CAPTURE_ID => u32(body, &mut hep.capture_id),
            id::KEEPALIVE => u16(body, &mut hep.keepalive_s),
            id::AUTH_KEY => text(body, &mut hep.auth_key),
            id::COMPRESSED => {
                self.compressed = Some(body);
                true
            }
            id::CORRELATION_ID => text(body, &mut hep.correlation_id),
            id::VLAN => u16(body, &mut hep.vlan),
            id::NODE_NAME => text(body, &mut hep.node_name),
            id::SRC_MAC => mac(body, &mut hep.src_mac),
            id::DST_MAC => mac(body, &mut hep.dst_mac),
            id::ETHERTYPE => u16(body, &mut hep.ethertype),
            id::TCP_FLAGS => u8(body, &mut hep.tcp_flags),
            id::IP_TOS => u8(body, &mut hep.ip_tos),
            id::MOS => u16(body, &mut hep.mos),
            id::R_FACTOR => u16(body, &mut hep.r_factor),
            id::GEO => text(body, &mut hep.geo),
            id::JITTER => u32(body, &mut hep.jitter),
            id::TRANSACTION_TYPE => text(body, &mut hep.transaction_type),
            id::JSON_KEYS => text(body, &mut hep.json_keys),
            id::TAG_VALUES => text(body, &mut hep.tag_values),
            id::TAG_TYPE => u16(body, &mut hep.tag_type),
            id::EVENT_TYPE => u16(body, &mut hep.event_type),
            id::GROUP_ID => text(body, &mut hep.group_id),
            _ => true,
        };
        if !fits {
            hep.notices |= Notices::BAD_CHUNK_SIZE;
        }
    }

    #[inline(always)]
    fn finish(self, hep: &mut Hep<'a>) {
        match self.sec {
            Some(sec) => {
                let time = RawTime { sec, usec: self.usec.unwrap_or(0) };
                if !time.is_within_second() {
                    hep.notices |= Notices::USEC_OUT_OF_RANGE;
                }
                hep.time = Some(time);
            }
            None => hep.notices |= Notices::MISSING_TIME,
        }
        match (self.compressed, hep.payload) {
            (Some(_), Some(_)) => hep.notices |= Notices::TWO_PAYLOADS,
            (Some(bytes), None) => hep.payload = Some(Payload { bytes, compressed: true }),
            (None, None) => hep.notices |= Notices::MISSING_PAYLOAD,
            (None, Some(_)) => {}
        }
        let wrong = match hep.family {
            Some(2) => matches!(hep.src.or(hep.dst), Some(IpAddr::V6(_))),
            Some(10) => matches!(hep.src.or(hep.dst), Some(IpAddr::V4(_))),
            _ => false,
        };
        if wrong {
            hep.notices |= Notices::FAMILY_MISMATCH;
        }
    }
}

// Each of these says whether the body has the size of its type; if not, the field stays empty.

#[inline(always)]
fn u8(body: &[u8], field: &mut Option<u8>) -> bool {
    *field = <[u8; 1]>::try_from(body).ok().map(u8::from_be_bytes);
    field.is_some()
}

#[inline(always)]
fn u16(body: &[u8], field: &mut Option<u16>) -> bool {
    *field = <[u8; 2]>::try_from(body).ok().map(u16::from_be_bytes);
    field.is_some()
}

#[inline(always)]
fn u32(body: &[u8], field: &mut Option<u32>) -> bool {
    *field = <[u8; 4]>::try_from(body).ok().map(u32::from_be_bytes);
    field.is_some()
}

/// Eight bytes as the specification says, or the six that a MAC address has.
#[inline(always)]
fn mac(body: &[u8], field: &mut Option<u64>) -> bool {
    *field = match body {
        [a, b, c, d, e, f] => Some(u64::from_be_bytes([0, 0, *a, *b, *c, *d, *e, *f])),
        _ => <[u8; 8]>::try_from(body).ok().map(u64::from_be_bytes),
    };
    field.is_some()
}

#[inline(always)]
fn text<'a>(body: &'a [u8], field: &mut Option<&'a [u8]>) -> bool {
    *field = if body.is_empty() { None } else { Some(body) };
    true
}

#[inline(always)]
fn address<const N: usize>(body: &[u8], field: &mut Option<IpAddr>, notices: &mut Notices) -> bool
where
    IpAddr: From<[u8; N]>,
{
    let Ok(octets) = <[u8; N]>::try_from(body) else { return false };
    if field.is_none() {
        *field = Some(IpAddr::from(octets));
    } else {
        // An IPv4 and an IPv6 chunk for the same end.
        *notices |= Notices::DUPLICATE_CHUNK;
    }
    true
}
