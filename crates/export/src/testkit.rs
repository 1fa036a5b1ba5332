//! Messages for the tests of this crate, written as one reads them.

use std::net::SocketAddr;

use model::{CallMessage, Media, Nanos};

/// 2026-11-21T09:41:54.123456Z.
pub(crate) const START: i64 = 1_795_254_114_123_456_000;

/// A message between two ends, to be finished by [`Draft::request`] or [`Draft::response`].
pub(crate) fn message(src: &str, dst: &str) -> Draft {
    let ends: [SocketAddr; 2] = [src.parse().unwrap(), dst.parse().unwrap()];
    Draft { ends, offset_ms: 0, cseq: 1, call_id: "basic@atlanta.example.com".into(), sdp: false }
}

pub(crate) struct Draft {
    ends: [SocketAddr; 2],
    offset_ms: i64,
    cseq: u32,
    call_id: String,
    sdp: bool,
}

impl Draft {
    pub(crate) fn at_ms(mut self, offset_ms: i64) -> Self {
        self.offset_ms = offset_ms;
        self
    }

    pub(crate) fn cseq(mut self, cseq: u32) -> Self {
        self.cseq = cseq;
        self
    }

    pub(crate) fn call(mut self, call_id: &str) -> Self {
        self.call_id = call_id.into();
        self
    }

    pub(crate) fn sdp(mut self) -> Self {
        self.sdp = true;
        self
    }

    pub(crate) fn request(self, method: &str) -> CallMessage {
        let start_line = format!("{method} sip:bob@biloxi.example.com SIP/2.0");
        self.build(start_line, method, None, None)
    }

    pub(crate) fn response(self, code: u16, reason: &str, method: &str) -> CallMessage {
        let start_line = format!("SIP/2.0 {code} {reason}");
        self.build(start_line, method, Some(code), Some(reason.to_owned()))
    }

    fn build(
        self,
        start_line: String,
        method: &str,
        code: Option<u16>,
        reason: Option<String>,
    ) -> CallMessage {
        let [src, dst] = self.ends;
        let body = if self.sdp {
            "v=0\r\no=- 1 1 IN IP4 10.0.0.1\r\ns=-\r\nc=IN IP4 10.0.0.1\r\nt=0 0\r\n\
             m=audio 49172 RTP/AVP 0\r\n"
        } else {
            ""
        };
        let content = if self.sdp { "Content-Type: application/sdp\r\n" } else { "" };
        let payload = format!(
            "{start_line}\r\n\
             Via: SIP/2.0/UDP {src};branch=z9hG4bK{cseq}{method}\r\n\
             Max-Forwards: 70\r\n\
             From: Alice <sip:alice@atlanta.example.com>;tag=9fxced76sl\r\n\
             To: Bob <sip:bob@biloxi.example.com>\r\n\
             Call-ID: {call_id}\r\n\
             CSeq: {cseq} {method}\r\n\
             {content}Content-Length: {length}\r\n\r\n{body}",
            cseq = self.cseq,
            call_id = self.call_id,
            length = body.len(),
        );
        CallMessage {
            time: Nanos(START + self.offset_ms * 1_000_000),
            src_ip: Some(src.ip()),
            src_port: src.port(),
            dst_ip: Some(dst.ip()),
            dst_port: dst.port(),
            ip_proto: 17,
            vlan: None,
            call_id: self.call_id,
            cid: None,
            method: Some(method.to_owned()),
            code,
            reason,
            cseq: Some(self.cseq),
            from_user: Some("alice".into()),
            from_host: Some("atlanta.example.com".into()),
            from_tag: Some("9fxced76sl".into()),
            to_user: Some("bob".into()),
            to_host: Some("biloxi.example.com".into()),
            to_tag: None,
            user_agent: None,
            node_id: Some(2001),
            node_name: None,
            parse_error: None,
            payload: payload.into_bytes(),
            media: if self.sdp {
                vec![Media { kind: "audio".into(), address: "10.0.0.1".into(), port: 49172 }]
            } else {
                Vec::new()
            },
        }
    }
}

/// Alice calls Bob, they talk, Bob hangs up.
pub(crate) fn basic_call() -> Vec<CallMessage> {
    call_between("192.0.2.10:5060", "198.51.100.20:5060")
}

/// The basic call between two given ends.
pub(crate) fn call_between(alice: &str, bob: &str) -> Vec<CallMessage> {
    let asks = || message(alice, bob);
    let answers = || message(bob, alice);
    vec![
        asks().sdp().request("INVITE"),
        answers().at_ms(3).response(100, "Trying", "INVITE"),
        answers().at_ms(120).response(180, "Ringing", "INVITE"),
        answers().at_ms(2_254).sdp().response(200, "OK", "INVITE"),
        asks().at_ms(2_260).request("ACK"),
        answers().at_ms(12_004).cseq(2).request("BYE"),
        asks().at_ms(12_010).cseq(2).response(200, "OK", "BYE"),
    ]
}

/// A call through a B2BUA: two legs, two Call-IDs.
pub(crate) fn b2bua_call() -> Vec<CallMessage> {
    let (alice, pbx, bob) = ("10.0.0.1:5060", "10.0.0.2:5060", "10.0.0.3:5060");
    let leg_a = |src, dst| message(src, dst).call("leg-a@pbx");
    let leg_b = |src, dst| message(src, dst).call("leg-b@pbx");
    vec![
        leg_a(alice, pbx).sdp().request("INVITE"),
        leg_a(pbx, alice).at_ms(1).response(407, "Proxy Authentication Required", "INVITE"),
        leg_a(alice, pbx).at_ms(2).request("ACK"),
        leg_a(alice, pbx).at_ms(10).cseq(2).sdp().request("INVITE"),
        leg_b(pbx, bob).at_ms(12).cseq(102).sdp().request("INVITE"),
        leg_b(bob, pbx).at_ms(80).cseq(102).response(180, "Ringing", "INVITE"),
        leg_a(pbx, alice).at_ms(81).cseq(2).response(180, "Ringing", "INVITE"),
        leg_b(bob, pbx).at_ms(900).cseq(102).sdp().response(200, "OK", "INVITE"),
        leg_a(pbx, alice).at_ms(901).cseq(2).sdp().response(200, "OK", "INVITE"),
        leg_a(alice, pbx).at_ms(903).cseq(2).request("ACK"),
        leg_b(pbx, bob).at_ms(904).cseq(102).request("ACK"),
    ]
}
