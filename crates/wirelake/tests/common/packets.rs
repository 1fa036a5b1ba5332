//! Packets as capture agents send them.

use std::net::IpAddr;

use envelope::hep::{self, Hep, Payload, RawTime};

/// The packets of tests/vectors.
pub const VECTORS: [(&str, &[u8]); 4] = [
    ("hep3_invite", include_bytes!("../../../../tests/vectors/hep3_invite.bin")),
    ("hep3_spec_example", include_bytes!("../../../../tests/vectors/hep3_spec_example.bin")),
    ("hep2_le_options", include_bytes!("../../../../tests/vectors/hep2_le_options.bin")),
    ("hep1_options", include_bytes!("../../../../tests/vectors/hep1_options.bin")),
];

/// 2023-11-14T22:13:20Z.
pub const EPOCH: u32 = 1_700_000_000;

/// An envelope between two hosts, with the payload still missing.
pub fn envelope() -> Hep<'static> {
    Hep {
        family: Some(2),
        ip_proto: Some(17),
        src: Some(IpAddr::from([10, 0, 0, 1])),
        dst: Some(IpAddr::from([10, 0, 0, 2])),
        src_port: Some(5060),
        dst_port: Some(5060),
        time: Some(RawTime { sec: EPOCH, usec: 0 }),
        proto_type: Some(1),
        capture_id: Some(2001),
        ..Hep::default()
    }
}

/// HEP3 around some bytes.
pub fn wrap(hep: &Hep<'_>, payload: &[u8]) -> Vec<u8> {
    hep::encode(&Hep { payload: Some(Payload { bytes: payload, compressed: false }), ..hep.clone() }).unwrap()
}

/// A request of alice to bob.
pub fn request(method: &str, call_id: &str) -> String {
    format!(
        "{method} sip:bob@biloxi.example.com SIP/2.0\r\n\
         Via: SIP/2.0/UDP 10.0.0.1:5060;branch=z9hG4bK{call_id}\r\n\
         Max-Forwards: 70\r\n\
         From: \"Alice\" <sip:alice@atlanta.example.com>;tag=a1\r\n\
         To: <sip:bob@biloxi.example.com>\r\n\
         Call-ID: {call_id}\r\n\
         CSeq: 1 {method}\r\n\
         Content-Length: 0\r\n\r\n"
    )
}

/// An answer of bob.
pub fn answer(code: u16, reason: &str, method: &str, call_id: &str) -> String {
    format!(
        "SIP/2.0 {code} {reason}\r\n\
         Via: SIP/2.0/UDP 10.0.0.1:5060;branch=z9hG4bK{call_id}\r\n\
         From: \"Alice\" <sip:alice@atlanta.example.com>;tag=a1\r\n\
         To: <sip:bob@biloxi.example.com>;tag=b1\r\n\
         Call-ID: {call_id}\r\n\
         CSeq: 1 {method}\r\n\
         Content-Length: 0\r\n\r\n"
    )
}

/// A small packet with this Call-ID.
pub fn options(call_id: &str) -> Vec<u8> {
    wrap(&envelope(), request("OPTIONS", call_id).as_bytes())
}
