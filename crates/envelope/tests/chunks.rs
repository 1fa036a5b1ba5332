//! HEP3 packets built here: chunk order, sizes, duplicates, and the round trip.

use std::net::IpAddr;

use decode::What;
use envelope::hep::{self, Encoder, Hep, Notices, Payload, RawTime, id};
use proptest::prelude::*;

fn packet(chunks: &[(u16, &[u8])]) -> Vec<u8> {
    let mut packet = Encoder::new();
    for (id, body) in chunks {
        packet.chunk(0, *id, body);
    }
    packet.finish().unwrap()
}

fn full() -> Hep<'static> {
    Hep {
        family: Some(10),
        ip_proto: Some(6),
        src: Some("2001:db8::1".parse().unwrap()),
        dst: Some("2001:db8::2".parse().unwrap()),
        src_port: Some(1),
        dst_port: Some(65535),
        time: Some(RawTime { sec: 1_700_000_000, usec: 999_999 }),
        proto_type: Some(34),
        capture_id: Some(u32::MAX),
        keepalive_s: Some(30),
        auth_key: Some(b"key"),
        payload: Some(Payload { bytes: b"{}", compressed: false }),
        correlation_id: Some(b"cid"),
        node_name: Some(b"node"),
        vlan: Some(4094),
        src_mac: Some(0x0102_0304_0506),
        dst_mac: Some(0xffff_ffff_ffff),
        ethertype: Some(0x86dd),
        tcp_flags: Some(0x18),
        ip_tos: Some(0xb8),
        mos: Some(430),
        r_factor: Some(93),
        geo: Some(b"52.5,13.4"),
        jitter: Some(12),
        transaction_type: Some(b"call"),
        json_keys: Some(b"k"),
        tag_values: Some(b"v"),
        tag_type: Some(1),
        event_type: Some(2),
        group_id: Some(b"g"),
        ..Hep::default()
    }
}

#[test]
fn every_generic_chunk_survives() {
    let bytes = hep::encode(&full()).unwrap();
    let hep = hep::open(&bytes).unwrap();
    assert!(envelope::fuzz::same_fields(&hep, &full()), "{hep:?}");
    assert_eq!((hep.notices, hep.has_others), (Notices::NONE, false));
}

#[test]
fn magics() {
    let mut bytes = hep::encode(&full()).unwrap();
    for magic in [b"HEP3", b"EEP3", b"EEP1"] {
        bytes[..4].copy_from_slice(magic);
        assert!(hep::open(&bytes).is_ok());
    }
    for magic in [b"HEP2", b"EEP2", b"hep3", b"\x03\0\0\0"] {
        bytes[..4].copy_from_slice(magic);
        assert_eq!(hep::open(&bytes).unwrap_err().what, What::BadMagic);
    }
}

#[test]
fn mac_addresses_of_six_bytes() {
    let bytes = packet(&[(id::SRC_MAC, &[1, 2, 3, 4, 5, 6]), (id::DST_MAC, &[0; 7])]);
    let hep = hep::open(&bytes).unwrap();
    assert_eq!((hep.src_mac, hep.dst_mac), (Some(0x0102_0304_0506), None));
    assert!(hep.notices.contains(Notices::BAD_CHUNK_SIZE));
}

#[test]
fn wrong_sizes_are_told_and_not_read() {
    for (id, size) in
        [(id::FAMILY, 2), (id::SRC_V4, 16), (id::DST_V6, 4), (id::SRC_PORT, 4), (id::SEC, 8), (id::JITTER, 0)]
    {
        let bytes = packet(&[(id, &vec![1; size]), (id::CAPTURE_ID, &[0, 0, 0, 9])]);
        let hep = hep::open(&bytes).unwrap();
        assert!(hep.notices.contains(Notices::BAD_CHUNK_SIZE), "{id}");
        assert_eq!((hep.capture_id, hep.src, hep.dst, hep.family), (Some(9), None, None, None));
    }
}

#[test]
fn the_first_of_two_chunks_counts() {
    let bytes = packet(&[(id::CAPTURE_ID, &[0, 0, 0, 1]), (id::CAPTURE_ID, &[0, 0, 0, 2])]);
    let hep = hep::open(&bytes).unwrap();
    assert_eq!(hep.capture_id, Some(1));
    assert!(hep.notices.contains(Notices::DUPLICATE_CHUNK));
    let bytes = packet(&[(id::SRC_V6, &[1; 16]), (id::SRC_V4, &[2; 4])]);
    let hep = hep::open(&bytes).unwrap();
    assert_eq!(hep.src, Some(IpAddr::from([1; 16])));
    assert!(hep.notices.contains(Notices::DUPLICATE_CHUNK));
}

#[test]
fn payloads() {
    let both = packet(&[(id::COMPRESSED, b"z"), (id::PAYLOAD, b"p")]);
    let hep = hep::open(&both).unwrap();
    assert_eq!(hep.payload, Some(Payload { bytes: b"p", compressed: false }));
    assert!(hep.notices.contains(Notices::TWO_PAYLOADS));
    let one = packet(&[(id::COMPRESSED, b"z")]);
    assert_eq!(hep::open(&one).unwrap().payload, Some(Payload { bytes: b"z", compressed: true }));
    let none = packet(&[]);
    let hep = hep::open(&none).unwrap();
    assert!(hep.payload.is_none() && hep.notices.contains(Notices::MISSING_PAYLOAD));
    let empty = packet(&[(id::PAYLOAD, b""), (id::CORRELATION_ID, b"")]);
    let hep = hep::open(&empty).unwrap();
    assert_eq!(hep.payload, Some(Payload { bytes: b"", compressed: false }));
    assert_eq!(hep.correlation_id, None);
}

#[test]
fn times() {
    let bytes = packet(&[(id::SEC, &[1, 2, 3, 4])]);
    assert_eq!(hep::open(&bytes).unwrap().time, Some(RawTime { sec: 0x0102_0304, usec: 0 }));
    let bytes = packet(&[(id::USEC, &[1, 2, 3, 4])]);
    let hep = hep::open(&bytes).unwrap();
    assert!(hep.time.is_none() && hep.notices.contains(Notices::MISSING_TIME));
    let bytes = packet(&[(id::SEC, &[1, 2, 3, 4]), (id::USEC, &[0, 0x0f, 0x42, 0x40])]);
    assert!(hep::open(&bytes).unwrap().notices.contains(Notices::USEC_OUT_OF_RANGE));
}

#[test]
fn lengths() {
    let good = packet(&[(id::PAYLOAD, b"abc"), (id::GROUP_ID, b"g")]);
    let with = |at: usize, value: u16| {
        let mut bytes = good.clone();
        bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
        bytes
    };
    // The packet: shorter than its header, longer than the datagram, cut within a chunk.
    for len in [0, 5] {
        assert_eq!(hep::open(&with(4, len)).unwrap_err().what, What::BadLength);
    }
    for len in [u16::try_from(good.len()).unwrap() + 1, u16::MAX] {
        assert_eq!(hep::open(&with(4, len)).unwrap_err().what, What::Truncated);
    }
    assert_eq!(hep::open(&with(4, 14)).unwrap_err().what, What::Truncated);
    assert_eq!(hep::open(&with(4, 15)).unwrap().payload.unwrap().bytes, b"abc");
    // A chunk: shorter than its header, past the end of the packet.
    for len in [0, 5] {
        let error = hep::open(&with(10, len)).unwrap_err();
        assert_eq!((error.what, error.at), (What::BadLength, 10));
    }
    let error = hep::open(&with(10, 1000)).unwrap_err();
    assert_eq!((error.what, error.at), (What::Truncated, 6));
}

#[test]
fn too_large_to_encode() {
    let big = vec![0; 65536];
    for bytes in [&big[..], &big[..65530]] {
        let hep = Hep { payload: Some(Payload { bytes, compressed: false }), ..Hep::default() };
        assert_eq!(hep::encode(&hep).unwrap_err().what, What::TooLarge);
    }
    let hep = Hep { payload: Some(Payload { bytes: &big[..65523], compressed: true }), ..Hep::default() };
    let packet = hep::encode(&hep).unwrap();
    assert_eq!(hep::open(&packet).unwrap().consumed, 65535);
}

proptest! {
    #[test]
    fn any_order_of_chunks_says_the_same(order in Just((0..40usize).collect::<Vec<_>>()).prop_shuffle(), vendor in 1..=u16::MAX) {
        let encoded = hep::encode(&full()).unwrap();
        let mut chunks = Vec::new();
        let mut rest = &encoded[6..];
        while !rest.is_empty() {
            let len = usize::from(u16::from_be_bytes([rest[4], rest[5]]));
            chunks.push((u16::from_be_bytes([rest[2], rest[3]]), &rest[6..len]));
            rest = &rest[len..];
        }
        let mut out = Encoder::new();
        for at in order {
            if let Some((id, body)) = chunks.get(at) {
                out.chunk(vendor, *id, b"of a vendor").chunk(0, *id, body);
            }
        }
        let packet = out.finish().unwrap();
        let hep = hep::open(&packet).unwrap();
        prop_assert!(envelope::fuzz::same_fields(&hep, &full()));
        prop_assert_eq!(hep.others().count(), chunks.len());
        prop_assert!(hep.others().all(|chunk| chunk.vendor == vendor));
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), version in 0..4usize) {
        envelope::fuzz::hep(&bytes);
        envelope::fuzz::tcp_framing(&bytes);
        let start: [&[u8]; 4] = [b"HEP3", &[1, 16, 2], &[2, 16, 2], &[2, 40, 10]];
        envelope::fuzz::hep(&[start[version], &bytes].concat());
    }

    #[test]
    fn any_chunks(chunks in prop::collection::vec((0..3u16, 0..0x30u16, prop::collection::vec(any::<u8>(), 0..20)), 0..40)) {
        let mut packet = Encoder::new();
        for (vendor, id, body) in &chunks {
            packet.chunk(*vendor, *id, body);
        }
        envelope::fuzz::hep(&packet.finish().unwrap());
    }
}
