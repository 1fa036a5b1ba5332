//! What must hold for any input: called by the fuzz target and by stable tests. A function here panics
//! when an invariant is broken.

use model::{Frame, LinkType, Nanos};

use crate::{Body, Packet};

/// Every link type that there is.
pub const LINKS: [LinkType; 8] = [
    LinkType::Null,
    LinkType::Ethernet,
    LinkType::Raw,
    LinkType::Loop,
    LinkType::LinuxSll,
    LinkType::Ipv4,
    LinkType::Ipv6,
    LinkType::LinuxSll2,
];

/// The first byte chooses the link type, the second how much was cut; the rest is the frame.
pub fn frame(bytes: &[u8]) {
    let [link, cut, bytes @ ..] = bytes else { return };
    let link = LINKS.into_iter().cycle().nth(usize::from(*link)).unwrap_or(LinkType::Ethernet);
    let wire_len = u32::try_from(bytes.len()).unwrap_or(u32::MAX).saturating_add(u32::from(*cut));
    parse(&Frame { time: Nanos(0), link, wire_len, vlan: None, bytes });
}

/// Any frame.
pub fn parse(frame: &Frame<'_>) {
    let Ok(packet) = crate::parse(frame) else { return };
    assert!(packet.vlan.is_none_or(|id| (1..=4095).contains(&id)));
    assert_eq!(packet.src.is_ipv4(), packet.dst.is_ipv4());
    body(frame.bytes, &packet);
    if let Body::Fragment(fragment) = packet.body {
        // What was put together is read like a packet.
        let Packet { src, dst, .. } = packet;
        let inner = crate::parse_payload(src, dst, fragment.protocol, fragment.payload, packet.around());
        if let Ok(inner) = inner {
            body(fragment.payload, &inner);
        }
    }
}

fn body(frame: &[u8], packet: &Packet<'_>) {
    let (payload, payload_len) = match packet.body {
        Body::Tcp(segment) => {
            let options = segment.options;
            assert!(options.bytes().len() <= 40 && within(frame, options.bytes()));
            assert!(options.iter().count() <= 40);
            assert!(options.window_scale().is_none_or(|shift| shift <= 14));
            let _ = (options.mss(), options.sack_permitted(), options.timestamps());
            (segment.payload, segment.payload_len)
        }
        Body::Udp(datagram) => (datagram.payload, datagram.payload_len),
        Body::Fragment(fragment) => {
            assert!(fragment.payload_len > 0 && fragment.offset % 8 == 0);
            assert!(fragment.offset.checked_add(fragment.payload_len).is_some_and(|end| end <= 65_535));
            assert!(fragment.more || fragment.offset > 0);
            (fragment.payload, fragment.payload_len)
        }
        Body::Other(_, bytes) => (bytes, u32::MAX),
    };
    assert!(within(frame, payload), "the payload is not within the frame");
    assert!(u32::try_from(payload.len()).is_ok_and(|len| len <= payload_len), "more captured than sent");
}

fn within(whole: &[u8], part: &[u8]) -> bool {
    let (whole, part) = (whole.as_ptr_range(), part.as_ptr_range());
    part.is_empty() || (whole.start <= part.start && part.end <= whole.end)
}
