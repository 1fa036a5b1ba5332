//! Frames built by hand and by `etherparse`, each link type and each tunnel once, every cause once.

use std::net::IpAddr;

use etherparse::PacketBuilder;
use model::{Frame, LinkType, Nanos};
use proptest::prelude::*;

use super::*;

mod witness;

const A: [u8; 4] = [192, 0, 2, 1];
const B: [u8; 4] = [192, 0, 2, 2];
const PAYLOAD: &[u8] = b"GET / HTTP/1.1\r\n\r\n";

fn frame(link: LinkType, bytes: &[u8]) -> Frame<'_> {
    Frame { time: Nanos(0), link, wire_len: bytes.len() as u32, vlan: None, bytes }
}

fn ethernet(bytes: &[u8]) -> Result<Packet<'_>, WireError> {
    parse(&frame(LinkType::Ethernet, bytes))
}

/// An IPv4 packet around `payload`.
fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0x45, 0, 0, 0, 0x12, 0x34, 0, 0, 64, protocol, 0, 0];
    out.extend(A.iter().chain(&B));
    out.extend(payload);
    let len = out.len() as u16;
    out[2..4].copy_from_slice(&len.to_be_bytes());
    out
}

/// An IPv6 packet around `payload`.
fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0x60, 0, 0, 0];
    out.extend((payload.len() as u16).to_be_bytes());
    out.extend([next, 63]);
    out.extend([[0x20; 16], [0x21; 16]].concat());
    out.extend(payload);
    out
}

fn tcp() -> Vec<u8> {
    let mut out = vec![0x9c, 0x40, 0, 80, 0, 0, 0, 7, 0, 0, 0, 9, 0x50, 0x18, 1, 2, 0, 0, 0, 0];
    out.extend(PAYLOAD);
    out
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![0x9c, 0x40];
    out.extend(port.to_be_bytes());
    out.extend((payload.len() as u16 + 8).to_be_bytes());
    out.extend([0, 0]);
    out.extend(payload);
    out
}

fn mac(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let mut out = vec![2; 12];
    out.extend(ether_type.to_be_bytes());
    out.extend(payload);
    out
}

fn join(head: &[u8], tail: &[u8]) -> Vec<u8> {
    [head, tail].concat()
}

/// Asserts that the segment of [`tcp`] was found.
fn is_http(packet: &Packet<'_>) {
    let Body::Tcp(segment) = packet.body else { panic!("{packet:?}") };
    assert_eq!((segment.src_port, segment.dst_port, segment.seq, segment.ack), (40_000, 80, 7, 9));
    assert_eq!((segment.flags, segment.window), (TcpFlags::PSH.union(TcpFlags::ACK), 0x0102));
    assert_eq!((segment.payload, segment.payload_len), (PAYLOAD, PAYLOAD.len() as u32));
}

/// A name, link type, bytes, VLAN and tunnel.
type Sample = (&'static str, LinkType, Vec<u8>, Option<u16>, Option<(TunnelKind, u32)>);

/// Each way to carry an HTTP request.
fn samples() -> Vec<Sample> {
    use LinkType::*;
    use TunnelKind::*;
    let v4 = ipv4(6, &tcp());
    let v6 = ipv6(6, &tcp());
    let inner = mac(0x0800, &v4);
    let gre = |head: &[u8], inner: &[u8]| mac(0x0800, &ipv4(47, &join(head, inner)));
    let over = |port, head: &[u8], inner: &[u8]| mac(0x0800, &ipv4(17, &udp(port, &join(head, inner))));
    let ext = |next, bytes: &[u8]| mac(0x86dd, &ipv6(next, &join(bytes, &tcp())));
    let sll = |kind: u16, p: &[u8]| {
        join(&join(&[0, 0, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0], &kind.to_be_bytes()), p)
    };
    let llc = |head: &[u8]| mac((head.len() + v4.len()) as u16, &join(head, &v4));
    vec![
        ("ethernet", Ethernet, inner.clone(), None, None),
        ("ethernet v6", Ethernet, mac(0x86dd, &v6), None, None),
        ("padded", Ethernet, join(&inner, &[0xee; 9]), None, None),
        ("vlan", Ethernet, mac(0x8100, &join(&[0xe0, 100, 8, 0], &v4)), Some(100), None),
        ("qinq", Ethernet, mac(0x88a8, &join(&[1, 0, 0x81, 0, 0, 7, 8, 0], &v4)), Some(256), None),
        ("old qinq", Ethernet, mac(0x9100, &join(&[0, 9, 0x81, 0, 0, 7, 8, 0], &v4)), Some(9), None),
        ("priority tag", Ethernet, mac(0x8100, &join(&[0xe0, 0, 8, 0], &v4)), None, None),
        ("snap", Ethernet, llc(&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0]), None, None),
        ("snap bridged", Ethernet, llc(&[0xaa, 0xaa, 3, 0, 0, 0xf8, 8, 0]), None, None),
        ("llc ip", Ethernet, llc(&[6, 6, 3]), None, None),
        ("sll", LinuxSll, sll(0x0800, &v4), None, None),
        ("sll vlan", LinuxSll, sll(0x8100, &join(&[0, 5, 8, 0], &v4)), Some(5), None),
        ("sll llc", LinuxSll, sll(4, &join(&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &v4)), None, None),
        ("sll2", LinuxSll2, join(&join(&[0x86, 0xdd], &[0; 18]), &v6), None, None),
        ("null little", Null, join(&[2, 0, 0, 0], &v4), None, None),
        ("null big", Null, join(&[0, 0, 0, 2], &v4), None, None),
        ("null darwin", Null, join(&[30, 0, 0, 0], &v6), None, None),
        ("null freebsd", Null, join(&[28, 0, 0, 0], &v6), None, None),
        ("loop", Loop, join(&[0, 0, 0, 24], &v6), None, None),
        ("raw 4", Raw, v4.clone(), None, None),
        ("raw 6", Raw, v6.clone(), None, None),
        ("ipv4", Ipv4, v4.clone(), None, None),
        ("ipv6", Ipv6, v6.clone(), None, None),
        ("mpls", Ethernet, mac(0x8847, &join(&[0, 1, 0, 64, 0, 2, 1, 64], &v4)), None, None),
        ("mpls v6", Ethernet, mac(0x8848, &join(&[0, 1, 1, 64], &v6)), None, None),
        ("pseudowire", Ethernet, mac(0x8847, &join(&[0, 1, 1, 64, 0, 0, 0, 0], &inner)), None, None),
        ("mpls in ip", Raw, ipv4(137, &join(&[0, 1, 1, 64], &v4)), None, None),
        (
            "pppoe",
            Ethernet,
            mac(0x8864, &join(&[0x11, 0, 0, 9, 0, 60, 0, 0x21], &v4)),
            None,
            Some((Pppoe, 9)),
        ),
        (
            "pppoe v6",
            Ethernet,
            mac(0x8864, &join(&[0x11, 0, 0, 9, 0, 80, 0, 0x57], &v6)),
            None,
            Some((Pppoe, 9)),
        ),
        (
            "pppoe short",
            Ethernet,
            mac(0x8864, &join(&[0x11, 0, 0, 9, 0, 59, 0x21], &v4)),
            None,
            Some((Pppoe, 9)),
        ),
        ("gre", Ethernet, gre(&[0, 0, 8, 0], &v4), None, Some((Gre, 0))),
        (
            "gre all",
            Ethernet,
            gre(&[0xb0, 0, 0x86, 0xdd, 9, 9, 0, 0, 0, 0, 1, 2, 0, 0, 0, 3], &v6),
            None,
            Some((Gre, 258)),
        ),
        (
            "gre routed",
            Ethernet,
            gre(&[0x60, 0, 8, 0, 9, 9, 0, 0, 0, 0, 0, 7, 8, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 0], &v4),
            None,
            Some((Gre, 7)),
        ),
        ("gretap", Ethernet, gre(&[0x20, 0, 0x65, 0x58, 0, 0, 0, 5], &inner), None, Some((Gre, 5))),
        ("erspan 1", Ethernet, gre(&[0, 0, 0x88, 0xbe], &inner), None, Some((Erspan, 0))),
        (
            "erspan 2",
            Ethernet,
            gre(&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 77, 0xe1, 2, 0, 0, 0, 0], &inner),
            Some(77),
            Some((Erspan, 258)),
        ),
        (
            "erspan 3",
            Ethernet,
            gre(
                &[
                    0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 0, 0, 30, 1, 1, 1, 1, 0, 0, 0, 1, 9, 9, 9, 9, 9,
                    9, 9, 9,
                ],
                &inner,
            ),
            None,
            Some((Erspan, 30)),
        ),
        ("vxlan", Ethernet, over(4789, &[8, 0, 0, 0, 0, 1, 2, 0], &inner), None, Some((Vxlan, 258))),
        ("vxlan linux", Ethernet, over(8472, &[8, 0, 0, 0, 0, 1, 2, 0], &inner), None, Some((Vxlan, 258))),
        ("vxlan gpe", Ethernet, over(4790, &[0x0c, 0, 0, 2, 0, 0, 2, 0], &v6), None, Some((Vxlan, 2))),
        (
            "geneve",
            Ethernet,
            over(6081, &[2, 0x40, 0x65, 0x58, 0, 1, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8], &inner),
            None,
            Some((Geneve, 258)),
        ),
        ("geneve ip", Ethernet, over(6081, &[0, 0, 0x86, 0xdd, 0, 0, 3, 0], &v6), None, Some((Geneve, 3))),
        ("ip in ip", Ethernet, mac(0x0800, &ipv4(4, &v4)), None, Some((IpInIp, 0))),
        ("6in4", Ethernet, mac(0x0800, &ipv4(41, &v6)), None, Some((IpInIp, 0))),
        ("4in6", Ethernet, mac(0x86dd, &ipv6(4, &v4)), None, Some((IpInIp, 0))),
        ("hop by hop", Ethernet, ext(0, &[6, 0, 1, 4, 0, 0, 0, 0]), None, None),
        ("destination", Ethernet, ext(60, &[6, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None, None),
        ("authentication", Ethernet, ext(51, &[6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None, None),
        (
            "authentication v4",
            Raw,
            ipv4(51, &join(&[6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &tcp())),
            None,
            None,
        ),
        ("atomic fragment", Ethernet, ext(44, &[6, 0, 0, 0, 0, 0, 0, 9]), None, None),
    ]
}

#[test]
fn every_way_to_carry_a_segment() {
    for (name, link, bytes, vlan, tunnel) in samples() {
        let packet = parse(&frame(link, &bytes)).unwrap_or_else(|error| panic!("{name}: {error}"));
        is_http(&packet);
        let v4: [IpAddr; 2] = [A.into(), B.into()];
        let v6: [IpAddr; 2] = [[0x20; 16].into(), [0x21; 16].into()];
        let addresses = [packet.src, packet.dst];
        assert!(addresses == v4 || addresses == v6, "{name}: {addresses:?}");
        assert_eq!(packet.ttl, if addresses == v4 { 64 } else { 63 }, "{name}");
        assert_eq!(packet.vlan, vlan, "{name}");
        assert_eq!(packet.tunnel, tunnel.map(|(kind, id)| Tunnel { kind, id }), "{name}");
    }
}

#[test]
fn the_tag_that_the_kernel_took_is_the_outermost() {
    let bytes = mac(0x8100, &join(&[0, 7, 8, 0], &ipv4(6, &tcp())));
    let of = |vlan| parse(&Frame { vlan, ..frame(LinkType::Ethernet, &bytes) }).unwrap().vlan;
    assert_eq!([of(Some(9)), of(Some(0)), of(None)], [Some(9), Some(7), Some(7)]);
}

#[test]
fn no_truncation_and_no_flip_panics() {
    for (_, link, bytes, ..) in samples() {
        for cut in 0..bytes.len() {
            fuzz::parse(&frame(link, &bytes[..cut]));
            fuzz::parse(&Frame { wire_len: bytes.len() as u32, ..frame(link, &bytes[..cut]) });
            for bit in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
                let mut flipped = bytes.clone();
                flipped[cut] ^= bit;
                fuzz::parse(&frame(link, &flipped));
            }
        }
    }
}

/// Where the frame was cut shows in the error, or in the length of the payload.
#[test]
fn a_cut_frame_says_what_was_sent() {
    let bytes = mac(0x0800, &ipv4(6, &tcp()));
    for cut in 0..bytes.len() {
        let whole = Frame { wire_len: bytes.len() as u32, ..frame(LinkType::Ethernet, &bytes[..cut]) };
        match parse(&whole) {
            Err(error) => assert!(cut < 54 && error == WireError::Cut, "{cut}: {error}"),
            Ok(packet) => {
                let Body::Tcp(segment) = packet.body else { panic!() };
                assert_eq!(
                    (segment.payload, segment.payload_len),
                    (&PAYLOAD[..cut - 54], PAYLOAD.len() as u32)
                );
            }
        }
        // A mirror that cuts inside its tunnel leaves a frame that is as long as it says.
        if cut >= 54 {
            assert!(matches!(ethernet(&bytes[..cut]).unwrap().body, Body::Tcp(s) if s.payload_len == 18));
        }
    }
    assert_eq!(ethernet(&bytes[..10]).err(), Some(WireError::Truncated));
    assert_eq!(ethernet(&bytes[..30]).err(), Some(WireError::Truncated));
}

#[test]
fn every_cause_once() {
    use WireError::*;
    let gre = |head: &[u8]| ipv4(47, &join(head, &[0; 60]));
    let cases: Vec<(LinkType, Vec<u8>, WireError)> = vec![
        (LinkType::Raw, vec![], Truncated),
        (LinkType::Ethernet, mac(0x0806, &[0; 28]), NotIp),
        (LinkType::Ethernet, mac(0x0026, &join(&[0x42, 0x42, 3], &[0; 60])), NotIp),
        (LinkType::Ethernet, mac(0x8864, &[0x11, 0, 0, 9, 0, 4, 0xc0, 0x21, 1, 2]), NotIp),
        (LinkType::Null, vec![99, 0, 0, 0, 0x45], NotIp),
        (LinkType::Raw, vec![0x50; 40], BadIpVersion),
        (LinkType::Ipv4, vec![0x60; 40], BadIpVersion),
        (LinkType::Ipv6, vec![0x45; 60], BadIpVersion),
        (LinkType::Ipv4, vec![0x44; 40], BadIpLength),
        (LinkType::Ipv4, join(&[0x45, 0, 0, 19], &[0; 40]), BadIpLength),
        (LinkType::Ipv6, ipv6(44, &[6, 0, 0, 1, 0, 0, 0, 9]), BadFragment),
        (LinkType::Ipv6, ipv6(44, &[6, 0, 0xff, 0xf9, 0, 0, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8]), BadFragment),
        (
            LinkType::Ipv4,
            ipv4(6, &{
                let mut t = tcp();
                t[12] = 0x40;
                t
            }),
            BadTcpLength,
        ),
        (
            LinkType::Ipv4,
            ipv4(6, &{
                let mut t = tcp();
                t[12] = 0xf0;
                t
            }),
            BadTcpLength,
        ),
        (LinkType::Ipv4, ipv4(17, &[0, 1, 0, 2, 0, 7, 0, 0, 1]), BadUdpLength),
        (LinkType::Ipv4, ipv4(17, &[0, 1, 0, 2, 0, 10, 0, 0, 1]), BadUdpLength),
        (LinkType::Ipv4, gre(&[0x20, 1, 0x88, 0x0b]), GrePptp),
        (LinkType::Ipv4, gre(&[0x20, 2, 8, 0]), GreVersion),
        (LinkType::Ipv4, gre(&[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x30]), ErspanType),
        (
            LinkType::Ipv4,
            gre(&[0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]),
            ErspanType,
        ),
        (LinkType::Ethernet, mac(0x8847, &[0; 80]), TooDeep),
        (LinkType::Ethernet, mac(0x8100, &[0x81, 0, 0x81, 0].repeat(40)), TooDeep),
        (LinkType::Ipv6, (0..40).fold(ipv6(6, &tcp()), |inner, _| ipv6(41, &inner)), TooDeep),
    ];
    for (link, bytes, cause) in &cases {
        assert_eq!(parse(&frame(*link, bytes)).err(), Some(*cause), "{bytes:02x?}");
    }
    let cut = Frame { wire_len: 100, ..frame(LinkType::Ethernet, &[0; 13]) };
    assert_eq!(parse(&cut).err(), Some(Cut));
    for cause in WireError::ALL {
        assert!(*cause == Cut || cases.iter().any(|case| case.2 == *cause), "{cause} has no test");
        assert!(cause.as_str().bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
        assert_eq!(WireError::ALL.iter().filter(|other| other.as_str() == cause.as_str()).count(), 1);
    }
}

#[test]
fn fragments_of_both_versions_and_what_they_make() {
    let whole = udp(53, &[7; 30]);
    let part = |place: u16, bytes: &[u8]| {
        let mut out = ipv4(17, bytes);
        out[6..8].copy_from_slice(&place.to_be_bytes());
        join(&mac(0x0800, &out), &[0; 9])
    };
    let (first, last) = (part(0x2000, &whole[..24]), part(3, &whole[24..]));
    let mut bytes = vec![];
    for (frame, offset, more) in [(&first, 0, true), (&last, 24, false)] {
        let Ok(Packet { body: Body::Fragment(f), .. }) = ethernet(frame) else { panic!() };
        assert_eq!((f.id, f.offset, f.more, f.protocol), (0x1234, offset, more, 17));
        assert_eq!(f.payload.len() as u32, f.payload_len);
        bytes.extend(f.payload);
    }
    let around = ethernet(&first).unwrap().around();
    let packet = parse_payload(A.into(), B.into(), 17, &bytes, around).unwrap();
    assert!(matches!(packet.body, Body::Udp(d) if d.dst_port == 53 && d.payload == [7; 30]));
    assert_eq!(packet.ttl, 64);

    let v6 = ipv6(60, &join(&[44, 0, 1, 4, 0, 0, 0, 0, 17, 0, 0, 0x11, 0xde, 0xad, 0xbe, 0xef], &[1; 16]));
    let Body::Fragment(f) = parse(&frame(LinkType::Ipv6, &v6)).unwrap().body else { panic!() };
    assert_eq!((f.id, f.offset, f.more, f.protocol, f.payload_len), (0xdead_beef, 16, true, 17, 16));
}

/// Segments larger than what an IP length can say.
#[test]
fn lengths_of_zero_reach_to_the_end() {
    let large = join(&tcp()[..20], &vec![5; 200_000]);
    let payload_len = |link, bytes: &[u8]| match parse(&frame(link, bytes)).unwrap().body {
        Body::Tcp(segment) => (segment.payload.len(), segment.payload_len),
        body => panic!("{body:?}"),
    };
    let mut v4 = ipv4(6, &large);
    v4[2..4].copy_from_slice(&[0, 0]);
    assert_eq!(payload_len(LinkType::Ipv4, &v4), (200_000, 200_000));
    let mut v6 = ipv6(6, &large);
    v6[4..6].copy_from_slice(&[0, 0]);
    assert_eq!(payload_len(LinkType::Ipv6, &v6), (200_000, 200_000));
    // With the jumbo option, and padding behind.
    let jumbo = join(&[6, 0, 0xc2, 4], &(200_028u32).to_be_bytes());
    let mut v6 = join(&ipv6(0, &join(&jumbo, &large)), &[0; 5]);
    v6[4..6].copy_from_slice(&[0, 0]);
    assert_eq!(payload_len(LinkType::Ipv6, &v6), (200_000, 200_000));
    // Beside a length it means nothing.
    assert_eq!(payload_len(LinkType::Ipv6, &ipv6(0, &join(&jumbo, &tcp()))), (18, 18));
    let mut datagram = ipv4(17, &udp(53, &[1; 9]));
    datagram[24..26].copy_from_slice(&[0, 0]);
    assert!(
        matches!(parse(&frame(LinkType::Raw, &datagram)).unwrap().body, Body::Udp(d) if d.payload == [1; 9])
    );
}

#[test]
fn a_datagram_ends_where_its_own_length_says() {
    let bytes = ipv4(17, &join(&udp(53, b"query"), b"trailer"));
    let Body::Udp(datagram) = parse(&frame(LinkType::Raw, &bytes)).unwrap().body else { panic!() };
    assert_eq!((datagram.payload, datagram.payload_len), (&b"query"[..], 5));
}

/// What is sent to a tunnel's port and is no tunnel stays a datagram.
#[test]
fn ports_alone_make_no_tunnel() {
    for (port, payload) in [
        (4789, &[0, 0, 0, 0, 0, 1, 2, 0, 9][..]),
        (8472, &[8, 0, 0, 1, 0, 1, 2, 0, 9]),
        (6081, &[0x40, 0, 8, 0, 0, 1, 2, 0, 9]),
        (4790, &[0x0c, 0, 0, 9, 0, 1, 2, 0, 9]),
        (4789, &[8]),
    ] {
        let bytes = ipv4(17, &udp(port, payload));
        let packet = parse(&frame(LinkType::Raw, &bytes)).unwrap();
        assert!(matches!(packet.body, Body::Udp(d) if d.dst_port == port && d.payload == payload));
        assert_eq!(packet.tunnel, None);
    }
}

#[test]
fn a_routing_header_names_the_final_destination() {
    let route = |kind: u8, left: u8| {
        let stops = [[0x31; 16], [0x32; 16]].concat();
        let bytes = ipv6(43, &[&[6, 4, kind, left, 1, 0, 0, 0], &stops[..], &tcp()].concat());
        let packet = parse(&frame(LinkType::Ipv6, &bytes)).map(|packet| packet.dst);
        packet.unwrap()
    };
    let [here, first, last]: [IpAddr; 3] = [[0x21; 16].into(), [0x31; 16].into(), [0x32; 16].into()];
    assert_eq!([route(4, 1), route(4, 0), route(0, 2), route(9, 1)], [first, here, last, here]);
}

#[test]
fn other_protocols_keep_their_number() {
    for protocol in [1u8, 50, 132] {
        let bytes = ipv4(protocol, b"12345678");
        let body = parse(&frame(LinkType::Raw, &bytes)).unwrap().body;
        assert!(matches!(body, Body::Other(number, b"12345678") if number == protocol));
    }
    // IPv6 extension headers are no protocols of IPv4.
    let bytes = ipv4(60, b"12345678");
    assert!(matches!(parse(&frame(LinkType::Raw, &bytes)).unwrap().body, Body::Other(60, _)));
}

#[test]
fn options_are_read_when_asked_for() {
    let syn = [2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 3, 3, 7];
    let options = TcpOptions::new(&syn);
    assert_eq!(
        (options.mss(), options.window_scale(), options.sack_permitted()),
        (Some(1460), Some(7), true)
    );
    let times = Some(Timestamps { value: 1, echo: 2 });
    assert_eq!(options.timestamps(), times);
    assert_eq!(options.iter().count(), 4);
    let usual = TcpOptions::new(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
    assert_eq!((usual.timestamps(), usual.mss(), usual.sack_permitted()), (times, None, false));
    assert_eq!(TcpOptions::new(&[3, 3, 99]).window_scale(), Some(14));
    assert_eq!(TcpOptions::new(&[0, 2, 4, 5, 0xb4]).mss(), None, "nothing is behind the end");
    for damaged in [&[2, 0, 5, 0xb4][..], &[2, 1], &[2, 4, 5], &[2], &[1, 1, 8, 10, 0], &[8, 4, 1, 1]] {
        let options = TcpOptions::new(damaged);
        assert_eq!((options.mss(), options.timestamps()), (None, None), "{damaged:?}");
    }
    assert_eq!(format!("{:?}", TcpFlags::SYN.union(TcpFlags::ACK)), "[S.]");
}

/// Another implementation builds what is parsed here.
#[test]
fn what_etherparse_builds() {
    let options = [
        etherparse::TcpOptionElement::MaximumSegmentSize(1400),
        etherparse::TcpOptionElement::WindowScale(9),
        etherparse::TcpOptionElement::Timestamp(5, 6),
    ];
    let mut bytes = vec![];
    PacketBuilder::ethernet2([1; 6], [2; 6])
        .double_vlan(300.try_into().unwrap(), 400.try_into().unwrap())
        .ipv6([3; 16], [4; 16], 47)
        .tcp(1234, 443, 0xffff_fff0, 1024)
        .syn()
        .ack(77)
        .options(&options)
        .unwrap()
        .write(&mut bytes, b"early")
        .unwrap();
    let packet = ethernet(&bytes).unwrap();
    let Body::Tcp(segment) = packet.body else { panic!() };
    assert_eq!((packet.src, packet.dst, packet.ttl), ([3; 16].into(), [4; 16].into(), 47));
    assert_eq!((packet.vlan, packet.tunnel), (Some(300), None));
    assert_eq!((segment.src_port, segment.dst_port, segment.seq, segment.ack), (1234, 443, 0xffff_fff0, 77));
    assert!(segment.flags.syn() && segment.flags.ack() && !segment.flags.fin() && !segment.flags.rst());
    let read = segment.options;
    assert_eq!((read.mss(), read.window_scale()), (Some(1400), Some(9)));
    assert_eq!(read.timestamps(), Some(Timestamps { value: 5, echo: 6 }));
    assert_eq!(segment.payload, b"early");
}

proptest! {
    #[test]
    fn arbitrary_frames(bytes in proptest::collection::vec(any::<u8>(), 0..160), more in 0u32..100) {
        for link in fuzz::LINKS {
            let wire_len = bytes.len() as u32 + more;
            fuzz::parse(&Frame { wire_len, ..frame(link, &bytes) });
        }
    }

    /// Valid headers in front of arbitrary bytes reach further than chance does.
    #[test]
    fn arbitrary_contents(protocol in prop::sample::select(&[0u8, 4, 6, 17, 41, 43, 44, 47, 51, 60, 137][..]),
        bytes in proptest::collection::vec(any::<u8>(), 0..120), port in prop::sample::select(&[4789u16, 8472, 4790, 6081][..])) {
        fuzz::parse(&frame(LinkType::Ipv4, &ipv4(protocol, &bytes)));
        fuzz::parse(&frame(LinkType::Ipv6, &ipv6(protocol, &bytes)));
        fuzz::parse(&frame(LinkType::Ipv4, &ipv4(17, &udp(port, &bytes))));
    }
}
