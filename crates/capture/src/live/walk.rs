//! From a block of a ring to frames: where each lies, when it came, what its first bytes are.
//!
//! * In: the bytes of a block that the kernel handed over. Out: one [`Frame`] after the other, borrowed.
//! * Owned: nothing. Bounded by: the number of frames that the block says it holds, and its bytes.
//! * Lost: packets that are neither Ethernet nor IP, counted as unsupported; nothing else.

use std::mem::offset_of;

use libc::{sockaddr_ll, tpacket_hdr_variant1, tpacket3_hdr};
use model::{Frame, LinkType, Nanos};

use crate::sys::ring::FRAME_HEADER;

const NANOS_PER_SECOND: i64 = 1_000_000_000;
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
const VLAN_ID: u32 = 0x0fff;

/// Where the kernel puts what is read here.
const NEXT: usize = offset_of!(tpacket3_hdr, tp_next_offset);
const SECONDS: usize = offset_of!(tpacket3_hdr, tp_sec);
const NANOS: usize = offset_of!(tpacket3_hdr, tp_nsec);
const CAPTURED: usize = offset_of!(tpacket3_hdr, tp_snaplen);
const LENGTH: usize = offset_of!(tpacket3_hdr, tp_len);
const STATUS: usize = offset_of!(tpacket3_hdr, tp_status);
const LINK_AT: usize = offset_of!(tpacket3_hdr, tp_mac);
const NETWORK_AT: usize = offset_of!(tpacket3_hdr, tp_net);
const TCI: usize = offset_of!(tpacket3_hdr, hv1) + offset_of!(tpacket_hdr_variant1, tp_vlan_tci);
const SENDER: usize = size_of::<tpacket3_hdr>();
const PROTOCOL: usize = SENDER + offset_of!(sockaddr_ll, sll_protocol);
const HATYPE: usize = SENDER + offset_of!(sockaddr_ll, sll_hatype);

// The address stands at a multiple of 16 (TPACKET_ALIGN), as the header's size is.
const _: () = assert!(SENDER.is_multiple_of(16));

/// The header before a frame.
struct Header<'a>(&'a [u8; FRAME_HEADER]);

impl Header<'_> {
    fn word(&self, at: usize) -> u32 {
        self.0.get(at..).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_ne_bytes(*b))
    }
    fn half(&self, at: usize) -> u16 {
        self.0.get(at..).and_then(|b| b.first_chunk()).map_or(0, |b| u16::from_ne_bytes(*b))
    }
}

/// How many packets of a block were frames, and how many were nothing that can be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Walked {
    pub(super) frames: usize,
    pub(super) unsupported: u64,
}

/// Shows each of the `count` frames of a block, the first of which has its header at `first`.
#[inline]
pub(super) fn walk(block: &[u8], first: usize, count: u32, each: &mut impl FnMut(Frame<'_>)) -> Walked {
    let mut walked = Walked::default();
    let mut at = first;
    for _ in 0..count {
        let Some(packet) = block.get(at..) else { break };
        let Some(header) = packet.first_chunk().map(Header) else { break };
        match frame(&header, packet) {
            Some(frame) => {
                walked.frames += 1;
                each(frame);
            }
            None => walked.unsupported += 1,
        }
        let Some(next) = at.checked_add(header.word(NEXT) as usize) else { break };
        at = next;
    }
    walked
}

/// One frame. Ethernet from its first byte, everything else from its IP header, which stands where the
/// kernel says that the network header is, whatever is before it. `None` when it is neither.
#[inline]
fn frame<'a>(header: &Header<'_>, packet: &'a [u8]) -> Option<Frame<'a>> {
    let link_at = usize::from(header.half(LINK_AT));
    let (link, start) = match header.half(HATYPE) {
        libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => (LinkType::Ethernet, link_at),
        _ => match u16::from_be(header.half(PROTOCOL)) {
            ETHERTYPE_IPV4 | ETHERTYPE_IPV6 => (LinkType::Raw, usize::from(header.half(NETWORK_AT))),
            _ => return None,
        },
    };
    let before = start.checked_sub(link_at)?;
    let captured = (header.word(CAPTURED) as usize).checked_sub(before)?;
    let bytes = packet.get(start..)?.get(..captured)?;
    let tagged = header.word(STATUS) & libc::TP_STATUS_VLAN_VALID != 0;
    Some(Frame {
        time: Nanos(i64::from(header.word(SECONDS)) * NANOS_PER_SECOND + i64::from(header.word(NANOS))),
        link,
        wire_len: header.word(LENGTH).saturating_sub(u32::try_from(before).unwrap_or(u32::MAX)),
        vlan: tagged.then(|| (header.word(TCI) & VLAN_ID) as u16),
        bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet as the kernel lays it out: header, gap, link header of `mac` bytes, network bytes.
    fn packet(hatype: u16, protocol: u16, mac: u16, bytes: &[u8], last: bool) -> Vec<u8> {
        let network_at = (FRAME_HEADER as u16 + mac.max(16)).next_multiple_of(16);
        let mut packet = vec![0; usize::from(network_at - mac)];
        packet.extend(bytes);
        packet.resize(packet.len().next_multiple_of(16), 0);
        let mut put = |at: usize, value: &[u8]| packet[at..at + value.len()].copy_from_slice(value);
        put(SECONDS, &7u32.to_ne_bytes());
        put(NANOS, &9u32.to_ne_bytes());
        put(CAPTURED, &(bytes.len() as u32).to_ne_bytes());
        put(LENGTH, &(bytes.len() as u32 + 100).to_ne_bytes());
        put(STATUS, &libc::TP_STATUS_VLAN_VALID.to_ne_bytes());
        put(TCI, &0x2005u32.to_ne_bytes());
        put(LINK_AT, &(network_at - mac).to_ne_bytes());
        put(NETWORK_AT, &network_at.to_ne_bytes());
        put(HATYPE, &hatype.to_ne_bytes());
        put(PROTOCOL, &protocol.to_be_bytes());
        let next = if last { 0 } else { packet.len() as u32 };
        packet[NEXT..NEXT + 4].copy_from_slice(&next.to_ne_bytes());
        packet
    }

    #[test]
    fn ethernet_starts_at_its_link_header_and_everything_else_at_ip() {
        let mut block = vec![0; 16];
        block.extend(packet(libc::ARPHRD_ETHER, 0x0806, 14, &[1; 60], false));
        block.extend(packet(libc::ARPHRD_NONE, ETHERTYPE_IPV4, 0, &[2; 20], false));
        block.extend(packet(libc::ARPHRD_INFINIBAND, ETHERTYPE_IPV6, 4, &[3; 44], false));
        block.extend(packet(libc::ARPHRD_INFINIBAND, 0x0806, 4, &[4; 44], true));
        let mut seen = Vec::new();
        let walked =
            walk(&block, 16, 4, &mut |f| seen.push((f.link, f.bytes.to_vec(), f.wire_len, f.vlan, f.time)));
        assert_eq!(walked, Walked { frames: 3, unsupported: 1 });
        let time = Nanos(7_000_000_009);
        assert_eq!(seen[0], (LinkType::Ethernet, vec![1; 60], 160, Some(5), time));
        assert_eq!(seen[1], (LinkType::Raw, vec![2; 20], 120, Some(5), time));
        assert_eq!(seen[2], (LinkType::Raw, vec![3; 40], 140, Some(5), time));
    }

    #[test]
    fn a_block_that_lies_ends_the_walk() {
        let whole = packet(libc::ARPHRD_ETHER, 0x0800, 14, &[1; 60], false);
        let end = whole.iter().rposition(|&byte| byte == 1).unwrap() + 1;
        for cut in 0..whole.len() {
            let walked = walk(&whole[..cut], 0, u32::MAX, &mut |frame| assert_eq!(frame.bytes, [1; 60]));
            assert!(walked.frames == usize::from(cut >= end) && walked.unsupported <= 1, "{cut}");
        }
        assert_eq!(walk(&whole, usize::MAX, 3, &mut |_| {}), Walked::default());
    }
}
