//! The usual prefix: the ten chunks with which nearly every agent begins an IPv4 packet.
//!
//! A chunk says where the next one starts, so a walk waits for each length before it can go on.
//! Agents write the same ten chunks in the same order, though, so their headers are compared at the
//! places where they must be, all at once, and the walk starts behind them. A packet of another
//! form is walked from its first chunk and reads the same.

/// The ten chunks with `..` for the bytes of their bodies: family, protocol, IPv4 source and
/// destination, source and destination port, seconds, microseconds, payload type, agent id.
const FORM: &[u8] = b"\
    \0\0\0\x01\0\x07.\
    \0\0\0\x02\0\x07.\
    \0\0\0\x03\0\x0a....\
    \0\0\0\x04\0\x0a....\
    \0\0\0\x07\0\x08..\
    \0\0\0\x08\0\x08..\
    \0\0\0\x09\0\x0a....\
    \0\0\0\x0a\0\x0a....\
    \0\0\0\x0b\0\x07.\
    \0\0\0\x0c\0\x0a....";

/// Length of the ten chunks in bytes.
pub(super) const LEN: usize = FORM.len();

/// The ten types as a bit set.
pub(super) const SEEN: u64 = 0b1_1111_1001_1110;

/// The form as an array, and which of its bytes count.
static BYTES: [u8; LEN] = form_and_mask().0;
static MASK: [u8; LEN] = form_and_mask().1;

#[allow(clippy::indexing_slicing, reason = "compile time only")]
const fn form_and_mask() -> ([u8; LEN], [u8; LEN]) {
    let (mut bytes, mut mask, mut at) = ([0; LEN], [0xff; LEN], 0usize);
    while at < LEN {
        bytes[at] = FORM[at];
        if FORM[at] == b'.' {
            mask[at] = 0;
        }
        at = at.wrapping_add(1);
    }
    (bytes, mask)
}

/// What the bodies say.
#[derive(Debug)]
pub(super) struct Fields {
    pub family: u8,
    pub ip_proto: u8,
    pub src: [u8; 4],
    pub dst: [u8; 4],
    pub src_port: u16,
    pub dst_port: u16,
    pub sec: u32,
    pub usec: u32,
    pub proto_type: u8,
    pub capture_id: u32,
}

/// Whether these bytes are the ten chunks.
#[inline(always)]
pub(super) fn matches(prefix: &[u8; LEN]) -> bool {
    simd::is_like(prefix, &BYTES, &MASK)
}

/// Reads the bodies of ten chunks that match.
#[inline(always)]
pub(super) const fn fields(prefix: &[u8; LEN]) -> Fields {
    Fields {
        family: prefix[6],
        ip_proto: prefix[13],
        src: [prefix[20], prefix[21], prefix[22], prefix[23]],
        dst: [prefix[30], prefix[31], prefix[32], prefix[33]],
        src_port: u16::from_be_bytes([prefix[40], prefix[41]]),
        dst_port: u16::from_be_bytes([prefix[48], prefix[49]]),
        sec: u32::from_be_bytes([prefix[56], prefix[57], prefix[58], prefix[59]]),
        usec: u32::from_be_bytes([prefix[66], prefix[67], prefix[68], prefix[69]]),
        proto_type: prefix[76],
        capture_id: u32::from_be_bytes([prefix[83], prefix[84], prefix[85], prefix[86]]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hep::{Encoder, open};

    #[test]
    fn the_form_is_ten_chunks() {
        let (mut at, mut seen) = (0, 0u64);
        while at < LEN {
            assert!(MASK[at..at + 6].iter().all(|mask| *mask == 0xff));
            let end = at + usize::from(BYTES[at + 5]);
            assert!(MASK[at + 6..end].iter().all(|mask| *mask == 0));
            seen |= 1 << BYTES[at + 3];
            at = end;
        }
        assert_eq!((at, seen), (LEN, SEEN));
    }

    #[test]
    fn both_ways_read_the_same() {
        let prefix: Vec<u8> = (0..LEN).map(|i| if MASK[i] == 0 { i as u8 } else { BYTES[i] }).collect();
        // A vendor's chunk in front makes the packet one of another form.
        let packet = |before: &[u8]| {
            let mut bytes = [b"HEP3\0\0", before, &prefix, &[0, 0, 0, 0x0f, 0, 7, b'x']].concat();
            let len = bytes.len() as u16;
            bytes[4..6].copy_from_slice(&len.to_be_bytes());
            bytes
        };
        let (usual, general) = (packet(&[]), packet(&[0, 9, 0, 1, 0, 6]));
        assert!(matches(prefix.first_chunk().unwrap()));
        let (usual, general) = (open(&usual).unwrap(), open(&general).unwrap());
        assert!(general.has_others && crate::fuzz::same_fields(&usual, &general));
        assert_eq!(usual.notices, general.notices);
    }

    #[test]
    fn a_second_chunk_of_the_prefix_is_told() {
        let mut again = Encoder::new();
        let mut rest = FORM;
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(usize::from(rest[5]));
            again.chunk(0, u16::from(chunk[3]), &chunk[6..]);
            rest = after;
        }
        again.chunk(0, 0x0c, &[0; 4]);
        let bytes = again.finish().unwrap();
        let hep = open(&bytes).unwrap();
        assert!(hep.notices.contains(crate::hep::Notices::DUPLICATE_CHUNK));
        assert_eq!(hep.capture_id, Some(u32::from_be_bytes(*b"....")));
    }
}
