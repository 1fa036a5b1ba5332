//! The recorded packets: what they say, and that no damage to them does harm.

use std::net::IpAddr;

use decode::sip::{self, Problems};
use envelope::hep::{self, Frame, Notices, RawTime, TimeSource};

const VECTORS: [&[u8]; 4] = [
    include_bytes!("../../../tests/vectors/hep3_invite.bin"),
    include_bytes!("../../../tests/vectors/hep3_spec_example.bin"),
    include_bytes!("../../../tests/vectors/hep2_le_options.bin"),
    include_bytes!("../../../tests/vectors/hep1_options.bin"),
];

fn text(part: Option<&[u8]>) -> &str {
    std::str::from_utf8(part.unwrap_or_default()).unwrap()
}

#[test]
fn hep3_invite() {
    let hep = hep::open(VECTORS[0]).unwrap();
    assert_eq!((hep.version, hep.family, hep.ip_proto), (3, Some(2), Some(17)));
    assert_eq!((hep.src, hep.dst), (Some(IpAddr::from([10, 0, 0, 1])), Some(IpAddr::from([10, 0, 0, 2]))));
    assert_eq!((hep.src_port, hep.dst_port), (Some(5060), Some(5060)));
    assert_eq!((hep.proto_type, hep.capture_id), (Some(1), Some(2001)));
    assert!(hep::auth_ok(b"myHep", hep.auth_key));
    assert_eq!(text(hep.correlation_id), "bench-callid-12345@atlanta.example.com");
    assert_eq!((hep.notices, hep.consumed, hep.has_others), (Notices::NONE, 738, false));
    assert_eq!(hep::frame_len(VECTORS[0]), Frame::Len(738));

    let payload = hep.payload.unwrap();
    assert_eq!((payload.bytes.len(), payload.compressed), (584, false));
    let m = sip::parse(payload.bytes).unwrap();
    assert_eq!(m.problems(), Problems::CONTENT_LENGTH_MISMATCH);
    assert_eq!((m.body().len(), m.content_length()), (166, Some(150)));
    assert_eq!((text(m.method()), m.code(), m.reason()), ("INVITE", None, None));
    assert_eq!(m.cseq(), Some(sip::CSeq { number: 1, method: b"INVITE" }));
    assert_eq!(text(m.call_id()), "bench-callid-12345@atlanta.example.com");
    let (from, to, contact) = (m.from().unwrap(), m.to().unwrap(), m.contact().unwrap());
    assert_eq!((text(from.display), text(from.tag)), ("Alice", "1928301774"));
    assert_eq!((text(from.uri.user), text(from.uri.host)), ("alice", "atlanta.example.com"));
    assert_eq!((text(to.display), to.tag), ("Bob", None));
    assert_eq!((text(to.uri.user), text(to.uri.host)), ("bob", "biloxi.example.com"));
    assert_eq!(text(contact.uri.raw.into()), "sip:alice@pc33.atlanta.example.com");
    let via = m.via().unwrap();
    assert_eq!((text(via.transport), text(via.branch)), ("UDP", "z9hG4bK776asdhds"));
    assert_eq!((text(via.host), via.port), ("pc33.atlanta.example.com", None));
    assert_eq!((text(m.user_agent()), m.max_forwards(), m.expires()), ("bench-ua/1.0", Some(70), None));
    assert_eq!(text(m.content_type()), "application/sdp");
    assert_eq!(text(m.ruri_raw()), "sip:bob@biloxi.example.com");
    assert_eq!(m.text(m.call_id().unwrap()), Some("bench-callid-12345@atlanta.example.com"));
    assert_eq!(m.text(b"not of this message"), None);

    let mut media = Vec::new();
    decode::sdp::media(m.body(), |one| media.push(*one));
    assert_eq!(media.len(), 1);
    assert_eq!((media[0].port, text(media[0].codec), media[0].clock_hz), (3456, "PCMU", Some(8000)));
    assert_eq!((text(media[0].address), media[0].ip()), ("pc33.atlanta.example.com", None));
}

#[test]
fn hep3_of_the_specification() {
    let hep = hep::open(VECTORS[1]).unwrap();
    assert_eq!(hep.src, Some(IpAddr::from([212, 202, 0, 1])));
    assert_eq!(hep.dst, Some(IpAddr::from([82, 116, 0, 211])));
    assert_eq!((hep.src_port, hep.dst_port, hep.capture_id), (Some(12010), Some(5060), Some(228)));
    let time = hep.time.unwrap();
    assert_eq!(time, RawTime { sec: 1_313_440_459, usec: 120_000 });
    let (ns, source) = time.normalise(1_700_000_000_000_000_000);
    assert_eq!((ns, source), (1_313_440_459_120_000_000, TimeSource::Packet));
    let m = sip::parse(hep.payload.unwrap().bytes).unwrap();
    assert_eq!((text(m.method()), text(m.ruri().unwrap().host)), ("INVITE", "bob"));
    assert!(m.problems().contains(Problems::NO_END_OF_HEAD | Problems::NO_CALL_ID | Problems::BAD_VERSION));
}

#[test]
fn hep1_and_hep2() {
    for (vector, version) in [(VECTORS[2], 2), (VECTORS[3], 1)] {
        let hep = hep::open(vector).unwrap();
        assert_eq!((hep.version, hep.proto_type, hep.ip_proto), (version, Some(1), Some(17)));
        assert_eq!((hep.src, hep.src_port), (Some(IpAddr::from([10, 0, 0, 1])), Some(5060)));
        let m = sip::parse(hep.payload.unwrap().bytes).unwrap();
        assert_eq!((text(m.method()), text(m.call_id())), ("OPTIONS", "hep2-le@x"));
        assert_eq!(m.problems(), Problems::NONE);
    }
    let hep1 = hep::open(VECTORS[3]).unwrap();
    assert_eq!((hep1.time, hep1.capture_id, hep1.notices), (None, None, Notices::MISSING_TIME));
}

/// A HEP2 packet with IPv6 addresses and this time header in front of the payload.
fn hep2_v6(header: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![2, 40, 10, 6, 0x13, 0xc4, 0x13, 0xc5];
    packet.extend("2001:db8::1".parse::<std::net::Ipv6Addr>().unwrap().octets());
    packet.extend("2001:db8::2".parse::<std::net::Ipv6Addr>().unwrap().octets());
    packet.extend(header);
    packet.extend(payload);
    packet
}

#[test]
fn hep2_ipv6_in_both_orders_with_and_without_padding() {
    let payload = b"SIP/2.0 200 OK\r\n\r\n";
    let (sec, usec, id) = (1_700_000_000u32, 5u32, 300u16);
    let little = [&sec.to_le_bytes()[..], &usec.to_le_bytes(), &id.to_le_bytes()].concat();
    let big = [&sec.to_be_bytes()[..], &usec.to_be_bytes(), &id.to_be_bytes()].concat();
    for (header, notices) in [(little, Notices::NONE), (big, Notices::TIME_SWAPPED)] {
        // Padding is whatever was in memory.
        for padding in [&b""[..], b"\0\0", b"\xaa\x55", b"SI"] {
            let header = [&header[..], padding].concat();
            let packet = hep2_v6(&header, payload);
            let hep = hep::open(&packet).unwrap();
            assert_eq!(hep.payload.unwrap().bytes, payload, "{padding:?}");
            assert_eq!((hep.time, hep.capture_id), (Some(RawTime { sec, usec }), Some(300)));
            assert_eq!((hep.notices, hep.src_port, hep.dst_port), (notices, Some(5060), Some(5061)));
            assert_eq!(hep.src.unwrap().to_string(), "2001:db8::1");
        }
    }
}

#[test]
fn hep2_odd_headers() {
    let packet = hep2_v6(&[0xff; 12], b"");
    let hep = hep::open(&packet).unwrap();
    assert!(
        hep.notices.contains(Notices::TIME_IMPLAUSIBLE) && hep.notices.contains(Notices::MISSING_PAYLOAD)
    );
    assert_eq!(hep::open(&packet[..packet.len() - 1]).unwrap().payload, None);
    let mut wrong_length = packet.clone();
    wrong_length[1] = 17;
    assert_eq!(hep::open(&wrong_length).unwrap_err().what, decode::What::BadLength);
    let mut family = packet;
    family[2] = 2;
    assert!(hep::open(&family).unwrap().notices.contains(Notices::FAMILY_MISMATCH));
}

#[test]
fn every_truncation_and_every_flipped_byte() {
    for vector in VECTORS {
        for len in 0..=vector.len() {
            envelope::fuzz::hep(&vector[..len]);
            decode::fuzz::sip(&vector[len..]);
        }
        let mut damaged = vector.to_vec();
        for at in 0..vector.len() {
            for mask in [0x01, 0x20, 0x80, 0xff, vector[at], vector[at] ^ b'\n', vector[at] ^ b'"'] {
                damaged[at] = vector[at] ^ mask;
                envelope::fuzz::hep(&damaged);
            }
            damaged[at] = vector[at];
        }
    }
}

#[test]
fn streams_of_vectors() {
    let stream: Vec<u8> = [VECTORS[0], VECTORS[1], VECTORS[0], VECTORS[1], VECTORS[1]].concat();
    for step in 0..=255u8 {
        let mut input = vec![step];
        input.extend(&stream);
        envelope::fuzz::tcp_framing(&input);
        input.extend(b"garbage");
        envelope::fuzz::tcp_framing(&input);
    }
}
