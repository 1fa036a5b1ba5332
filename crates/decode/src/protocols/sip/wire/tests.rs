//! Transactions as datagrams and as a stream.

use super::Sip;
use crate::{Decoder, Input, Limits, Protocol, Shape, Start, Verdict, pcap, testkit::*};
use model::{
    Dir::{self, ToClient, ToServer},
    Heard, Nanos, Transport,
};

const SDP: &str = "v=0\r\no=- 1 1 IN IP4 192.0.2.9\r\ns=-\r\nc=IN IP4 192.0.2.9\r\nt=0 0\r\n\
    m=audio 4000 RTP/AVP 0\r\nm=video 4010 RTP/SAVPF 96\r\na=rtcp-mux\r\nm=audio 0 RTP/AVP 8\r\n\
    m=audio 4020 RTP/AVP 8\r\na=rtcp:5021 IN IP4 192.0.2.8\r\nm=image 4030 udptl t38\r\n";

fn message(first: &str, branch: &str, cseq: &str, more: &str, body: &str) -> String {
    format!(
        "{first}\r\nVia: SIP/2.0/UDP 192.0.2.1;branch={branch}\r\nFrom: <sip:a:secret@x.test>;tag=1\r\n\
         To: <sip:b@y.test>\r\nCall-ID: c1\r\nCSeq: {cseq}\r\n{more}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn request(method: &str, branch: &str, number: u32) -> String {
    message(&format!("{method} sip:b@y.test SIP/2.0"), branch, &format!("{number} {method}"), "", "")
}

fn response(code: &str, method: &str, branch: &str, number: u32) -> String {
    message(&format!("SIP/2.0 {code}"), branch, &format!("{number} {method}"), "", "")
}

/// Plays datagrams a millisecond apart; leaves keys and sizes out of the lines.
fn datagrams(said: &[(Dir, String)]) -> Vec<String> {
    let mut player = Player::new(Protocol::Sip, Start::Beginning, Limits::default());
    for (dir, message) in said {
        player.datagram(*dir, message.as_bytes());
        player.clock += 1_000_000;
    }
    brief(player.finish())
}

fn brief(lines: Vec<String>) -> Vec<String> {
    let plain = |word: &&str| !word.starts_with("Id(") && !word.starts_with("bytes=");
    lines.iter().map(|line| line.split(' ').filter(plain).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn a_call() {
    let invite = message(
        "INVITE sip:b:pw@y.test;user=phone SIP/2.0",
        "z9hG4bK1",
        "7 INVITE",
        "User-Agent: phone\r\nSession-ID: AB30317f1a784dc48ff824d0d3715d86;remote=00\r\n\
         Content-Type: application/sdp\r\n",
        SDP,
    );
    let lines = datagrams(&[
        (ToServer, invite.clone()),
        (ToServer, invite),
        (ToClient, response("100 Trying", "INVITE", "z9hG4bK1", 7)),
        (ToClient, response("180 Ringing", "INVITE", "z9hG4bK1", 7)),
        (ToClient, response("200 OK", "INVITE", "z9hG4bK1", 7)),
        (ToClient, response("200 OK", "INVITE", "z9hG4bK1", 7)),
        (ToServer, request("ACK", "z9hG4bK2", 7)),
        (ToServer, request("ACK", "z9hG4bK2", 7)),
        (ToClient, request("BYE", "z9hG4bK1", 9)),
        (ToServer, response("481 Call/Transaction Does Not Exist", "BYE", "z9hG4bK1", 9)),
    ]);
    assert_eq!(
        lines,
        [
            "> begin Request t0 operation=INVITE resource=b@y.test sip.call_id=c1 sip.from=a@x.test \
             sip.to=b@y.test sip.cseq=7 user_agent.original=phone trace_id=ab30317f1a784dc48ff824d0d3715d86",
            "> end Request t0",
            "expect rtp 192.0.2.9:4000 sip.call_id=c1",
            "expect rtp 192.0.2.9:4001 sip.call_id=c1",
            "expect rtp 192.0.2.9:4010 sip.call_id=c1",
            "expect rtp 192.0.2.9:4020 sip.call_id=c1",
            "expect rtp 192.0.2.8:5021 sip.call_id=c1",
            "< begin Response t4000",
            "< end Response t4000 Ok status_code=200 sip.retransmissions=1 sip.provisional=2 \
             sip.post_dial_delay_ms=3",
            "> begin OneWay t6000 operation=ACK resource=b@y.test sip.call_id=c1 sip.from=a@x.test \
             sip.to=b@y.test sip.cseq=7",
            "> end OneWay t6000",
            "< begin Request t8000 operation=BYE resource=b@y.test sip.call_id=c1 sip.from=a@x.test \
             sip.to=b@y.test sip.cseq=9",
            "< end Request t8000",
            "> begin Response t9000",
            "> end Response t9000 Error status_code=481 error=Call/Transaction Does Not Exist",
        ]
    );
}

#[test]
fn both_sides_ask_with_one_branch() {
    let mut player = Player::new(Protocol::Sip, Start::Beginning, Limits::default());
    for (dir, message) in [
        (ToServer, request("OPTIONS", "z9hG4bKx", 1)),
        (ToClient, request("OPTIONS", "z9hG4bKx", 1)),
        (ToClient, response("200 OK", "OPTIONS", "z9hG4bKx", 1)),
        (ToServer, response("486 Busy Here", "OPTIONS", "z9hG4bKx", 1)),
    ] {
        player.datagram(dir, message.as_bytes());
    }
    let lines = player.finish();
    let key = |at: usize| lines[at].split(' ').find(|word| word.starts_with("Id(")).unwrap().to_owned();
    assert_eq!((key(0), key(2)), (key(4), key(6)));
    assert_ne!(key(0), key(2));
}

#[test]
fn a_refused_call_a_cancel_and_an_orphan() {
    let lines = datagrams(&[
        (ToServer, request("INVITE", "z9hG4bK1", 1)),
        (ToServer, request("CANCEL", "z9hG4bK1", 1)),
        (ToClient, response("200 OK", "CANCEL", "z9hG4bK1", 1)),
        (ToClient, response("487 Request Terminated", "INVITE", "z9hG4bK1", 1)),
        (ToServer, request("ACK", "z9hG4bK1", 1)),
        (ToClient, response("404 Not Found", "OPTIONS", "z9hG4bK9", 1)),
    ]);
    assert_eq!(lines.len(), 10, "{lines:#?}");
    assert!(lines[0].contains("INVITE") && lines[2].contains("CANCEL"));
    assert_eq!(lines[7], "< end Response t3000 Error status_code=487 error=Request Terminated");
    assert!(lines[8].starts_with("< begin Response t5000 operation=OPTIONS sip.call_id=c1"));
}

#[test]
fn without_a_unique_branch_the_call_makes_the_key() {
    let lines = datagrams(&[
        (ToServer, request("OPTIONS", "1", 1)),
        (ToServer, request("OPTIONS", "1", 2)),
        (ToServer, request("OPTIONS", "1", 2)),
    ]);
    assert_eq!(lines.len(), 4);
}

#[test]
fn a_branch_is_used_again_after_a_while() {
    let mut player = Player::new(Protocol::Sip, Start::Beginning, Limits::default());
    for _ in 0..2 {
        player.datagram(ToServer, request("OPTIONS", "z9hG4bK1", 1).as_bytes());
        player.datagram(ToClient, response("200 OK", "OPTIONS", "z9hG4bK1", 1).as_bytes());
        player.clock += 33_000_000_000;
    }
    assert_eq!(player.finish().len(), 8);
}

#[test]
fn a_stream_is_framed_by_content_length() {
    let invite =
        message("INVITE sip:b@y.test SIP/2.0", "z9hG4bK1", "1 INVITE", "c: application/sdp\r\n", SDP);
    let said = [
        client(format!("\r\n\r\n{invite}\r\n\r\n{}", request("OPTIONS", "z9hG4bK2", 2))),
        server(
            [
                response("200 OK", "INVITE", "z9hG4bK1", 1),
                "\r\n".to_owned(),
                response("200 OK", "OPTIONS", "z9hG4bK2", 2),
            ]
            .concat(),
        ),
    ];
    let lines = assert_cuts_do_not_matter(Protocol::Sip, Start::Beginning, &said);
    assert_eq!(lines.len(), 13, "{lines:#?}");
    let size = format!("bytes={}", invite.len());
    assert!(lines[1].contains(&size), "{}", lines[1]);
}

#[test]
fn a_body_that_is_too_long_is_skipped() {
    let body = "x".repeat(70_000);
    let long = message("MESSAGE sip:b@y.test SIP/2.0", "z9hG4bK1", "1 MESSAGE", "", &body);
    let said = [client(&long), client(request("OPTIONS", "z9hG4bK2", 2))];
    let lines = play_with(Protocol::Sip, Start::Beginning, Limits::default(), &said, 1_448);
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert!(lines[1].contains(&format!("bytes={}", long.len())));
}

#[test]
fn what_is_not_sip() {
    let mut player = Player::new(Protocol::Sip, Start::Beginning, Limits::default());
    player.datagram(ToServer, b"\r\n\r\n");
    player.datagram(ToServer, b"\0\0\0\0");
    player.datagram(ToServer, b"");
    player.datagram(ToServer, b"SIP/2.0 xx\r\n\r\n");
    assert_eq!(player.finish(), ["errors 1 bad_start_line"]);
    let lines = play(Protocol::Sip, Start::Beginning, &[client([0x16; 40])]);
    assert_eq!(lines.last().unwrap(), "errors 1 not_sip");
    let endless = [client(format!("INVITE sip:x SIP/2.0\r\n{}", "a: b\r\n".repeat(12_000)))];
    let lines = play_with(Protocol::Sip, Start::Beginning, Limits::default(), &endless, 9_000);
    assert!(lines.last().unwrap().ends_with("too_large"), "{lines:?}");
}

#[test]
fn a_stream_goes_on_behind_a_gap() {
    let mut player = Player::new(Protocol::Sip, Start::Middle, Limits::default());
    player.bytes(ToServer, b"rest of a body\r\n", true);
    player.bytes(ToServer, request("OPTIONS", "z9hG4bK1", 1).as_bytes(), true);
    player.gap(ToServer, 10);
    player.bytes(ToServer, b"n: y\r\n\r\n", true);
    player.bytes(ToServer, request("OPTIONS", "z9hG4bK2", 2).as_bytes(), true);
    assert_eq!(player.finish().len(), 5);
}

#[test]
fn probes() {
    let tuple = tuple(Transport::Tcp);
    let probe = |shape, bytes: &[u8]| {
        let (first, time) = (Nanos(0), Nanos(0));
        let input = Input {
            bytes,
            dir: ToServer,
            first,
            time,
            shape,
            heard: Heard::All,
            segment_start: true,
            cut: 0,
            tuple: &tuple,
        };
        Sip::probe(&input)
    };
    let stream = Shape::Stream { eof: false };
    assert_eq!(probe(Shape::Datagram, request("REGISTER", "z", 1).as_bytes()), Verdict::Yes);
    assert_eq!(probe(stream, b"SIP/2.0 200 OK\r\n"), Verdict::Yes);
    assert_eq!(probe(stream, b"\r\n\r\nSIP/2.0 200"), Verdict::NeedMore);
    assert_eq!(probe(stream, b"OPTIONS rtsp://x RTSP/1.0\r\n"), Verdict::No);
    assert_eq!(probe(stream, b"OPTIONS * HTTP/1.1\r\n"), Verdict::No);
    assert_eq!(probe(stream, b"GET / HTTP/1.1 and more"), Verdict::No);
    assert_eq!(probe(Shape::Datagram, b"\x80\0\0\x01"), Verdict::No);
}

#[test]
fn golden() {
    pcap::golden(Protocol::Sip, 5070, "sipp");
}
