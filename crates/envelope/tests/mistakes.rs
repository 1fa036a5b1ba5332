//! What other HEP servers get wrong with real packets, one test each.

use decode::{What, sip};
use envelope::hep::{self, Encoder, Hep, Notices, Payload, RawTime, id};

const HEP3: &[u8] = include_bytes!("../../../tests/vectors/hep3_invite.bin");
const HEP3_SPEC: &[u8] = include_bytes!("../../../tests/vectors/hep3_spec_example.bin");
const HEP2: &[u8] = include_bytes!("../../../tests/vectors/hep2_le_options.bin");
const HEP1: &[u8] = include_bytes!("../../../tests/vectors/hep1_options.bin");

fn message(text: &str) -> sip::Message<'_> {
    sip::parse(text.as_bytes()).expect("a SIP message")
}

fn text(part: Option<&[u8]>) -> &str {
    core::str::from_utf8(part.unwrap_or_default()).expect("UTF-8")
}

#[test]
fn mistake_01_short_packets_panic() {
    for packet in [HEP3, HEP3_SPEC, HEP2, HEP1] {
        for len in 0..packet.len() {
            let _ = hep::open(&packet[..len]);
        }
    }
    assert_eq!(hep::open(&HEP2[..25]).unwrap_err().what, What::Truncated);
    assert_eq!(hep::open(&HEP3[..5]).unwrap_err().what, What::Truncated);
    assert_eq!(hep::open(b"").unwrap_err().what, What::Empty);
}

#[test]
fn mistake_02_vendor_chunks_overwrite_generic_ones() {
    let mut packet = Encoder::new();
    packet
        .chunk(0xaaaa, id::CORRELATION_ID, b"vendor")
        .chunk(0xaaaa, id::CAPTURE_ID, b"odd size")
        .chunk(0, id::CAPTURE_ID, &7u32.to_be_bytes())
        .chunk(0, id::CORRELATION_ID, b"generic")
        .chunk(2, id::CORRELATION_ID, b"vendor again")
        .chunk(0, 0x1f, b"reserved")
        .chunk(0, 0x4011, b"unknown");
    let packet = packet.finish().unwrap();
    let hep = hep::open(&packet).unwrap();
    assert_eq!((hep.correlation_id, hep.capture_id), (Some(&b"generic"[..]), Some(7)));
    assert!(hep.has_others);
    let others: Vec<_> = hep.others().map(|chunk| (chunk.vendor, chunk.id, chunk.body.len())).collect();
    assert_eq!(others, [(0xaaaa, 0x11, 6), (0xaaaa, 0x0c, 8), (2, 0x11, 12), (0, 0x1f, 8), (0, 0x4011, 7)]);
    assert!(!hep.notices.contains(Notices::BAD_CHUNK_SIZE));
}

#[test]
fn mistake_03_one_trailing_byte_rejects_the_packet() {
    let mut packet = HEP3.to_vec();
    packet.push(0);
    let hep = hep::open(&packet).unwrap();
    assert_eq!(hep.consumed, HEP3.len());
    assert!(hep.notices.contains(Notices::TRAILING_BYTES));
    assert!(envelope::fuzz::same_fields(&hep, &hep::open(HEP3).unwrap()));
    // The same byte within the announced length.
    let len = u16::try_from(packet.len()).unwrap();
    packet[4..6].copy_from_slice(&len.to_be_bytes());
    let hep = hep::open(&packet).unwrap();
    assert_eq!(hep.consumed, packet.len());
    assert!(hep.notices.contains(Notices::TRAILING_BYTES));
    assert_eq!(hep.capture_id, Some(2001));
}

#[test]
fn mistake_04_hep2_time_and_id_of_little_endian_senders() {
    let hep = hep::open(HEP2).unwrap();
    assert_eq!(hep.time, Some(RawTime { sec: 1_700_000_000, usec: 123_456 }));
    assert_eq!((hep.capture_id, hep.correlation_id), (Some(2001), None));
    assert_eq!(hep.notices, Notices::NONE);
    assert!(hep.payload.unwrap().bytes.starts_with(b"OPTIONS sip:a@b SIP/2.0\r\n"));
    // The same packet from a big-endian machine.
    let mut swapped = HEP2.to_vec();
    swapped[16..20].reverse();
    swapped[20..24].reverse();
    swapped[24..26].reverse();
    let hep = hep::open(&swapped).unwrap();
    assert_eq!(hep.time, Some(RawTime { sec: 1_700_000_000, usec: 123_456 }));
    assert_eq!(hep.capture_id, Some(2001));
    assert_eq!(hep.notices, Notices::TIME_SWAPPED);
}

#[test]
fn mistake_05_ipv6_text_is_not_canonical() {
    let hep = Hep {
        src: Some("2001:db8::1".parse().unwrap()),
        dst: Some("::1".parse().unwrap()),
        payload: Some(Payload { bytes: b"x", compressed: false }),
        ..Hep::default()
    };
    let packet = hep::encode(&hep).unwrap();
    let hep = hep::open(&packet).unwrap();
    assert_eq!(hep.src.unwrap().to_string(), "2001:db8::1");
    assert_eq!(hep.dst.unwrap().to_string(), "::1");
}

#[test]
fn mistake_06_ipv6_host_in_a_uri() {
    let m = message("INVITE sip:bob@[2001:db8::1]:5080;lr SIP/2.0\r\nFrom: <sip:[::1]>\r\n\r\n");
    let uri = m.ruri().unwrap();
    assert_eq!((text(uri.user), text(uri.host), uri.port()), ("bob", "2001:db8::1", Some(5080)));
    assert_eq!(text(m.from().unwrap().uri.host), "::1");
}

#[test]
fn mistake_07_the_bottom_via_wins() {
    let one_line = "INVITE sip:b SIP/2.0\r\nVia: SIP/2.0/UDP top;branch=1, SIP/2.0/TCP low;branch=2\r\n\r\n";
    let lines =
        "INVITE sip:b SIP/2.0\r\nv: SIP/2.0/UDP top;branch=1\r\nVia: SIP/2.0/TCP low;branch=2\r\n\r\n";
    for via in [message(one_line).via().unwrap(), message(lines).via().unwrap()] {
        assert_eq!((text(via.host), text(via.branch), text(via.transport)), ("top", "1", "UDP"));
    }
}

#[test]
fn mistake_08_two_letter_headers_overwrite_to() {
    let m = message("INVITE sip:b SIP/2.0\r\nTo: <sip:bob@x>\r\nxx: <sip:eve@x>\r\nox: 1\r\nxo: 2\r\n\r\n");
    assert_eq!(text(m.to().unwrap().uri.user), "bob");
    assert!(!m.problems().contains(sip::Problems::DUPLICATE_HEADER));
    assert_eq!(m.header(b"XX"), Some(&b"<sip:eve@x>"[..]));
}

#[test]
fn mistake_09_folded_from_is_lost() {
    let m = message(
        "INVITE sip:b SIP/2.0\r\nFrom: \"A\"\r\n <sip:alice@atlanta.com>\r\n\t;tag=88\r\nTo: x\r\n\r\n",
    );
    let from = m.from().unwrap();
    assert_eq!(text(from.display), "A");
    assert_eq!((text(from.uri.user), text(from.uri.host)), ("alice", "atlanta.com"));
    assert_eq!(text(from.tag), "88");
    assert_eq!(text(m.to().unwrap().uri.host), "x");
    assert!(m.has_folds());
}

#[test]
fn mistake_10_line_ends_and_compact_forms() {
    let crlf = "SIP/2.0 200 OK\r\nv: SIP/2.0/UDP h;branch=7\r\nf: <sip:a@b>;tag=1\r\nt: sip:c@d\r\n\
        i: 77\r\nm: <sip:m@n>\r\ns: hi\r\nk: timer\r\nx: 1800\r\ne: gzip\r\nb: <sip:r@s>\r\nd: queue\r\n\
        r: <sip:t@u>\r\no: presence\r\nu: talk\r\nc: text/plain\r\nCSeq: 5 BYE\r\nl: 2\r\n\r\nhi";
    for text_of in
        [crlf.to_owned(), crlf.replace("\r\n", "\n"), format!("\r\n\r\n{crlf}"), format!("\n{crlf}")]
    {
        let m = message(&text_of);
        assert_eq!(m.problems(), sip::Problems::NONE, "{text_of:?}");
        assert_eq!((m.code(), text(m.method()), text(m.reason())), (Some(200), "BYE", "OK"));
        assert_eq!((text(m.call_id()), text(m.content_type())), ("77", "text/plain"));
        assert_eq!(text(m.value(sip::Known::Subject)), "hi");
        assert_eq!(text(m.value(sip::Known::Event)), "presence");
        assert_eq!(text(m.contact().unwrap().uri.user), "m");
        assert_eq!((m.content_length(), m.body()), (Some(2), &b"hi"[..]));
        let full: [(&[u8], &str); 7] = [
            (b"Supported", "timer"),
            (b"Session-Expires", "1800"),
            (b"Content-Encoding", "gzip"),
            (b"Referred-By", "<sip:r@s>"),
            (b"Request-Disposition", "queue"),
            (b"Refer-To", "<sip:t@u>"),
            (b"Allow-Events", "talk"),
        ];
        for (name, value) in full {
            assert_eq!(text(m.header(name)), value);
        }
    }
}

#[test]
fn mistake_11_garbage_is_taken_for_sip() {
    let cases: [(&[u8], What); 12] = [
        (b"", What::Empty),
        (b"\r\n", What::KeepAlive),
        (b"\r\n\r\n", What::KeepAlive),
        (b"\0\0\0\0", What::KeepAlive),
        (b"jaK", What::NotSip),
        (b"\0\x01\0\0\x21\x12\xa4\x42 a STUN request.", What::NotSip),
        (b"\x80\x00\x12\x34\0\0\0\0\0\0\0\0", What::NotSip),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", What::NotSip),
        (b"hello world", What::NotSip),
        (b"{\"type\": \"report\"}", What::NotSip),
        (b"SIP/2.0", What::BadStartLine),
        (b"INVITE SIP/2.0\r\n\r\n", What::BadStartLine),
    ];
    for (bytes, what) in cases {
        assert_eq!(sip::parse(bytes).map(|m| m.problems()).unwrap_err().what, what, "{bytes:?}");
    }
    // 32 bytes of anything that is no start line.
    let mut seed = 7u32;
    for _ in 0..20_000 {
        let garbage: Vec<u8> = (0..32)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 24) as u8
            })
            .collect();
        for len in 0..=32 {
            assert!(sip::parse(&garbage[..len]).is_err());
        }
    }
}

#[test]
fn mistake_12_tel_uris() {
    let m = message(
        "INVITE tel:+1-201-555-0123;phone-context=x SIP/2.0\r\nFrom: <tel:7042>;tag=1\r\nTo: tel:911\r\n\r\n",
    );
    let uri = m.ruri().unwrap();
    assert_eq!((text(uri.user), uri.host), ("+1-201-555-0123", None));
    assert_eq!(text(m.from().unwrap().uri.user), "7042");
    assert_eq!((text(m.to().unwrap().uri.user), m.to().unwrap().uri.host), ("911", None));
}

#[test]
fn payload_bytes_stay_as_they_are() {
    let payload = b"\0\xff\xfe log line with NUL\0 and bytes \x80\r\n";
    let hep = Hep {
        payload: Some(Payload { bytes: payload, compressed: false }),
        proto_type: Some(100),
        ..Hep::default()
    };
    let packet = hep::encode(&hep).unwrap();
    assert_eq!(hep::open(&packet).unwrap().payload.unwrap().bytes, payload);

    let sip = b"INVITE sip:b SIP/2.0\r\nSubject: \xff\0\r\nCall-ID: 1\r\n\r\n\0\xff";
    let m = sip::parse(sip).unwrap();
    assert_eq!(m.value(sip::Known::Subject), Some(&b"\xff\0"[..]));
    assert_eq!(m.body(), b"\0\xff");
    assert!(m.problems().contains(sip::Problems::NOT_UTF8) && m.text(m.call_id().unwrap()).is_none());
}
