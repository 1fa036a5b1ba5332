//! HEP1 and HEP2: a fixed header, then SIP.

use core::net::IpAddr;

use decode::{Cursor, DecodeError, What, sip};

use super::{
    notices::Notices,
    packet::{Hep, Payload},
    time::RawTime,
};

/// Header lengths that a packet may announce: with IPv4 and with IPv6 addresses.
const LEN_V4: u8 = 16;
const LEN_V6: u8 = 40;
/// The payload is SIP, always.
const SIP: u8 = 1;
/// Seconds, microseconds and capture id of HEP2.
const TIME: usize = 10;
/// The same with the padding that a C compiler adds.
const TIME_PADDED: usize = 12;

pub(super) fn open<'a>(bytes: &'a [u8], hep: &mut Hep<'a>) -> Result<(), DecodeError> {
    let mut cursor = Cursor::new(bytes);
    hep.version = cursor.u8()?;
    let len = cursor.u8()?;
    if !matches!(len, LEN_V4 | LEN_V6) {
        return Err(DecodeError::new(What::BadLength, 1));
    }
    hep.family = Some(cursor.u8()?);
    hep.ip_proto = Some(cursor.u8()?);
    hep.src_port = Some(cursor.be_u16()?);
    hep.dst_port = Some(cursor.be_u16()?);
    hep.proto_type = Some(SIP);
    hep.consumed = bytes.len();
    if len == LEN_V4 {
        hep.src = Some(IpAddr::from(cursor.array::<4>()?));
        hep.dst = Some(IpAddr::from(cursor.array::<4>()?));
    } else {
        hep.src = Some(IpAddr::from(cursor.array::<16>()?));
        hep.dst = Some(IpAddr::from(cursor.array::<16>()?));
    }
    // Linux says 10 for IPv6, other systems 28 or 30: only a plain contradiction is told.
    if matches!((len, hep.family), (LEN_V4, Some(10)) | (LEN_V6, Some(2))) {
        hep.notices |= Notices::FAMILY_MISMATCH;
    }
    if hep.version == 2 {
        time_header(hep, &mut cursor)?;
    } else {
        hep.notices |= Notices::MISSING_TIME;
    }
    let payload = cursor.rest();
    if payload.is_empty() {
        hep.notices |= Notices::MISSING_PAYLOAD;
    } else {
        hep.payload = Some(Payload { bytes: payload, compressed: false });
    }
    Ok(())
}

/// Reads `{u32 seconds, u32 microseconds, u16 capture id}` and the padding behind it.
///
/// Senders write the struct as their memory has it, so the order is that of their machine. Little
/// endian comes first, because nearly all are; the other order is taken only when it makes sense
/// and little endian does not.
fn time_header<'a>(hep: &mut Hep<'a>, cursor: &mut Cursor<'a>) -> Result<(), DecodeError> {
    let header = cursor.rest();
    let (sec, usec) = (cursor.array::<4>()?, cursor.array::<4>()?);
    let capture_id = cursor.array::<2>()?;
    let little = RawTime { sec: u32::from_le_bytes(sec), usec: u32::from_le_bytes(usec) };
    let big = RawTime { sec: u32::from_be_bytes(sec), usec: u32::from_be_bytes(usec) };
    let swapped = !little.is_plausible() && big.is_plausible();
    let (time, id) = if swapped {
        hep.notices |= Notices::TIME_SWAPPED;
        (big, u16::from_be_bytes(capture_id))
    } else {
        (little, u16::from_le_bytes(capture_id))
    };
    if !time.is_plausible() {
        hep.notices |= Notices::TIME_IMPLAUSIBLE;
    }
    if !time.is_within_second() {
        hep.notices |= Notices::USEC_OUT_OF_RANGE;
    }
    hep.time = Some(time);
    hep.capture_id = Some(u32::from(id));
    // Where SIP starts says whether there is padding; by itself it can be anything.
    let starts_at = |at| header.get(at..).is_some_and(sip::looks_like_start);
    let padded = starts_at(TIME_PADDED) || !starts_at(TIME);
    if padded {
        // A packet that ends within its padding has no payload.
        let _ = cursor.take(TIME_PADDED.saturating_sub(TIME).min(cursor.rest().len()))?;
    }
    Ok(())
}
