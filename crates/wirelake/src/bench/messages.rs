//! The messages of the benchmarks: the INVITE that all figures are of, heads of other sizes, and a mix as a proxy sees
//! it.

use envelope::hep::{self, Hep, Payload, RawTime};

/// 738 bytes of HEP3 around a SIP INVITE with SDP.
pub const INVITE: &[u8] = include_bytes!("../../../../tests/vectors/hep3_invite.bin");

/// 2023-11-14T22:13:20Z.
const EPOCH: u32 = 1_700_000_000;

/// HEP3 around some bytes, from one host to another.
fn wrap(proto_type: u8, payload: &[u8]) -> Vec<u8> {
    let packet = Hep {
        family: Some(2),
        ip_proto: Some(17),
        src: Some([192, 0, 2, 1].into()),
        dst: Some([192, 0, 2, 2].into()),
        src_port: Some(5060),
        dst_port: Some(5060),
        time: Some(RawTime { sec: EPOCH, usec: 1 }),
        proto_type: Some(proto_type),
        capture_id: Some(2001),
        payload: Some(Payload { bytes: payload, compressed: false }),
        ..Hep::default()
    };
    // It fails for payloads above 64 KiB alone.
    hep::encode(&packet).unwrap_or_default()
}

/// The headers that every request has, and so many more, of the kind that proxies and border elements add.
fn request(method: &str, more: usize) -> String {
    let mut text = format!(
        "{method} sip:bob@biloxi.example.com SIP/2.0\r\n\
         Via: SIP/2.0/UDP pc33.atlanta.example.com:5060;branch=z9hG4bK776asdhds;rport\r\n\
         Max-Forwards: 70\r\n\
         From: \"Alice\" <sip:alice@atlanta.example.com>;tag=1928301774\r\n\
         To: Bob <sip:bob@biloxi.example.com>\r\n\
         Call-ID: a84b4c76e66710@pc33.atlanta.example.com\r\n\
         CSeq: 314159 {method}\r\n\
         Contact: <sip:alice@pc33.atlanta.example.com>\r\n"
    );
    for number in 0..more {
        text.push_str(match number % 4 {
            0 => "Record-Route: <sip:p2.example.com;lr;ftag=1928301774>\r\n",
            1 => "X-Account-Info: 4711;plan=flat;region=eu-central\r\n",
            2 => "Allow: INVITE, ACK, CANCEL, OPTIONS, BYE, REFER, NOTIFY\r\n",
            _ => "Supported: replaces, timer, 100rel, path, gruu\r\n",
        });
    }
    text
}

/// An INVITE with so many headers beyond the usual eight, and a body of so many bytes.
pub fn invite(more_headers: usize, body: usize) -> Vec<u8> {
    let line = "a=rtpmap:101 telephone-event/8000\r\n";
    let sdp = "v=0\r\no=alice 1 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 49170 RTP/AVP 0\r\n";
    let mut content = sdp.to_owned();
    while content.len() < body {
        content.push_str(line);
    }
    content.truncate(body);
    let kind = if body == 0 { "" } else { "Content-Type: application/sdp\r\n" };
    let head = request("INVITE", more_headers);
    wrap(1, format!("{head}{kind}Content-Length: {body}\r\n\r\n{content}").as_bytes())
}

/// What a busy proxy mirrors: a call from INVITE to BYE, registrations that are challenged, OPTIONS, RTCP and a log line.
pub fn mix() -> Vec<Vec<u8>> {
    let answer = |code: &str, method: &str| {
        let head = request(method, 0);
        let headers = head.split_once("\r\n").map_or("", |(_, headers)| headers);
        wrap(1, format!("SIP/2.0 {code}\r\n{headers}Content-Length: 0\r\n\r\n").as_bytes())
    };
    let ask = |method: &str| wrap(1, format!("{}Content-Length: 0\r\n\r\n", request(method, 2)).as_bytes());
    let rtcp: Vec<u8> = (0..76u8).collect();
    vec![
        INVITE.to_vec(),
        answer("100 Trying", "INVITE"),
        answer("180 Ringing", "INVITE"),
        invite(6, 400),
        ask("ACK"),
        wrap(5, &rtcp),
        ask("BYE"),
        answer("200 OK", "BYE"),
        ask("REGISTER"),
        answer("401 Unauthorized", "REGISTER"),
        ask("REGISTER"),
        answer("200 OK", "REGISTER"),
        ask("OPTIONS"),
        answer("200 OK", "OPTIONS"),
        wrap(5, &rtcp),
        wrap(100, b"NOTICE: dialog removed after timeout"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use decode::sip::{Message, parse_into};

    #[test]
    fn every_message_of_the_benchmarks_is_read_whole() {
        let sizes = [(0, 0), (8, 0), (56, 0), (0, 1_000), (24, 3_000)].map(|(more, body)| invite(more, body));
        for bytes in mix().iter().chain(&sizes) {
            let packet = hep::open(bytes).unwrap();
            assert!(packet.notices.is_empty());
            if packet.proto_type == Some(1) {
                let mut message = Message::default();
                parse_into(packet.payload.unwrap().bytes, &mut message).unwrap();
                assert!(message.problems().is_empty(), "{bytes:?}");
            }
        }
    }
}
