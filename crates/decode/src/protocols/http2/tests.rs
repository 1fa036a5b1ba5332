//! Conversations made of frames.

use super::frame::*;
use crate::testkit::{Player, Said, assert_cuts_do_not_matter, client, play, server};
use crate::{Limits, Protocol, Start, pcap};
use model::Dir;

/// A frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A literal that is inserted, both texts plain.
fn insert(name: &str, value: &str) -> Vec<u8> {
    let mut bytes = vec![0x40, name.len() as u8];
    bytes.extend(name.bytes());
    bytes.push(value.len() as u8);
    bytes.extend(value.bytes());
    bytes
}

/// `GET` (2), `http` (6), and a path that is inserted.
fn get(path: &str) -> Vec<u8> {
    [&[0x82, 0x86][..], &insert(":path", path)].concat()
}

fn preface() -> Said {
    client([&PREFACE[..], &frame(SETTINGS, 0, 0, &[0, 5, 0, 0, 0x80, 0])].concat())
}

fn settings() -> Said {
    server([frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, ACK, 0, &[])].concat())
}

const WHOLE: u8 = END_STREAM | END_HEADERS;

fn http2(talk: &[Said]) -> Vec<String> {
    let lines = assert_cuts_do_not_matter(Protocol::Http2, Start::Beginning, talk);
    lines.into_iter().map(|line| line.replace(" network.protocol.version=2", "")).collect()
}

#[test]
fn requests_without_a_body_and_interleaved_streams() {
    let lines = http2(&[
        preface(),
        settings(),
        client(
            [frame(HEADERS, WHOLE, 1, &get("/a")), frame(HEADERS, WHOLE, 3, &[0x82, 0x86, 0xbe])].concat(),
        ),
        server(
            [
                frame(HEADERS, END_HEADERS, 3, &[0x88]),
                frame(HEADERS, END_HEADERS, 1, &[0x8d]),
                frame(DATA, 0, 3, b"hello"),
                frame(DATA, END_STREAM | PADDED, 1, b"\x02x\0\0"),
                frame(WINDOW_UPDATE, 0, 0, &[0, 0, 1, 0]),
                frame(DATA, END_STREAM, 3, b""),
            ]
            .concat(),
        ),
    ]);
    assert_eq!(
        lines,
        [
            "> begin Request Id(1) t2 operation=GET resource=/a",
            "> end Request Id(1) t2 bytes=21",
            "> begin Request Id(3) t2 operation=GET resource=/a",
            "> end Request Id(3) t2 bytes=12",
            "< begin Response Id(3) t3 status_code=200",
            "< begin Response Id(1) t3 status_code=404",
            "< end Response Id(1) t3 bytes=23 Error http.response.body.size=1",
            "< end Response Id(3) t3 bytes=33 Ok http.response.body.size=5",
        ]
    );
}

#[test]
fn continuation_padding_priority_interim_and_trailers() {
    let block = get("/path");
    let (first, rest) = block.split_at(4);
    let padded = [&[2, 0, 0, 0, 0, 16][..], first, &[0, 0]].concat();
    let lines = http2(&[
        preface(),
        client(
            [
                frame(HEADERS, END_STREAM | PADDED | PRIORITISED, 1, &padded),
                frame(CONTINUATION, 0, 1, &rest[..3]),
                frame(CONTINUATION, END_HEADERS, 1, &rest[3..]),
            ]
            .concat(),
        ),
        server(
            [
                frame(HEADERS, END_HEADERS, 1, &insert(":status", "103")),
                frame(HEADERS, END_HEADERS, 1, &[0x88]),
                frame(DATA, 0, 1, b"body"),
                frame(HEADERS, WHOLE, 1, &insert("x-sum", "1")),
            ]
            .concat(),
        ),
    ]);
    assert_eq!(
        lines,
        [
            "> begin Request Id(1) t1 operation=GET resource=/path",
            "> end Request Id(1) t1 bytes=50",
            "< begin Response Id(1) t2 status_code=200",
            "< end Response Id(1) t2 bytes=41 Ok http.response.body.size=4",
        ]
    );
}

#[test]
fn resets_refusals_and_pushes() {
    let lines = http2(&[
        preface(),
        client(
            [
                frame(HEADERS, END_HEADERS, 1, &get("/a")),
                frame(HEADERS, WHOLE, 3, &get("/b")),
                frame(HEADERS, WHOLE, 5, &get("/c")),
                frame(RST_STREAM, 0, 3, &[0, 0, 0, 8]),
            ]
            .concat(),
        ),
        server(
            [
                frame(PUSH_PROMISE, END_HEADERS, 1, &[&[0, 0, 0, 2][..], &get("/pushed")].concat()),
                frame(HEADERS, WHOLE, 1, &[0x88]),
                frame(RST_STREAM, 0, 1, &[0, 0, 0, 0]),
                // What was under way when the client reset the stream.
                frame(HEADERS, END_HEADERS, 3, &[0x88]),
                frame(DATA, END_STREAM, 3, b"late"),
                frame(GOAWAY, 0, 0, &[0, 0, 0, 3, 0, 0, 0, 0]),
                frame(HEADERS, WHOLE, 2, &[0x88]),
            ]
            .concat(),
        ),
    ]);
    assert_eq!(
        lines,
        [
            "> begin Request Id(1) t1 operation=GET resource=/a",
            "> begin Request Id(3) t1 operation=GET resource=/b",
            "> end Request Id(3) t1 bytes=21",
            "> begin Request Id(5) t1 operation=GET resource=/c",
            "> end Request Id(5) t1 bytes=21",
            "cut Id(3) cancelled",
            "> begin Request Id(2) t2 operation=GET resource=/pushed http.request.pushed=true",
            "> end Request Id(2) t2 bytes=30",
            "< begin Response Id(1) t2 status_code=200",
            "< end Response Id(1) t2 bytes=10 Ok",
            "> end Request Id(1) t2 bytes=21",
            "cut Id(5) goaway",
            "< begin Response Id(2) t2 status_code=200",
            "< end Response Id(2) t2 bytes=10 Ok",
        ]
    );
}

/// A gRPC call: `POST` (3), a path and a content type that are inserted.
fn call() -> Vec<u8> {
    let path = insert(":path", "/pkg.Service/Method");
    [&[0x83, 0x86][..], &path, &insert("content-type", "application/grpc"), &insert("grpc-timeout", "1S")]
        .concat()
}

#[test]
fn calls_have_a_status_and_count_their_messages() {
    let lines = http2(&[
        preface(),
        client(
            [
                frame(HEADERS, END_HEADERS, 1, &call()),
                frame(DATA, 0, 1, b"\0\0\0\0\x03ab"),
                frame(DATA, 0, 1, b"c\x01\0\0"),
                frame(DATA, END_STREAM | PADDED, 1, b"\x01\0\x02xy\0"),
            ]
            .concat(),
        ),
        server(
            [
                frame(
                    HEADERS,
                    END_HEADERS,
                    1,
                    &[&[0x88][..], &insert("content-type", "application/grpc")].concat(),
                ),
                frame(DATA, 0, 1, b"\0\0\0\0\0"),
                frame(
                    HEADERS,
                    WHOLE,
                    1,
                    &[insert("grpc-status", "5"), insert("grpc-message", "no%20x")].concat(),
                ),
            ]
            .concat(),
        ),
    ]);
    assert_eq!(
        lines,
        [
            "> begin Request Id(1) t1 protocol=grpc rpc.system=grpc operation=Method resource=pkg.Service/Method \
         rpc.grpc.timeout_ms=1000",
            "> end Request Id(1) t1 bytes=130 http.request.body.size=15 rpc.request.messages=2 \
         rpc.request.compressed=true",
            "< begin Response Id(1) t2 protocol=grpc",
            "< end Response Id(1) t2 bytes=100 Error http.response.body.size=5 status_code=5 error=no x \
         rpc.response.messages=1 rpc.streaming=client",
        ]
    );
}

#[test]
fn what_was_agreed_before_the_capture_is_unknown_and_still_paired() {
    let lines = assert_cuts_do_not_matter(
        Protocol::Http2,
        Start::Middle,
        &[
            // A path by an index that was inserted unseen; an answer with a status of the static table.
            client(frame(HEADERS, WHOLE, 7, &[0x82, 0x86, 0xc4])),
            server(
                [frame(HEADERS, END_HEADERS, 7, &[0x88, 0xc0]), frame(DATA, END_STREAM, 7, b"x")].concat(),
            ),
            // Trailers of a call that was not seen, and a response of one.
            server(frame(HEADERS, WHOLE, 3, &[0xbe, 0xbf])),
            server(frame(HEADERS, WHOLE, 5, &[0x89])),
            client(frame(HEADERS, WHOLE, 9, &get("/seen"))),
            client(frame(HEADERS, WHOLE, 11, &[0x82, 0x86, 0xbe])),
        ],
    );
    let lines: Vec<_> = lines.iter().map(|line| line.replace(" network.protocol.version=2", "")).collect();
    assert_eq!(
        lines,
        [
            "> begin Request Id(7) t0 notices=2 operation=GET",
            "> end Request Id(7) t0 bytes=12",
            "< begin Response Id(7) t1 notices=2",
            "< end Response Id(7) t1 bytes=21 Ok http.response.body.size=1 status_code=200",
            "< begin Response Id(5) t3 status_code=204",
            "< end Response Id(5) t3 bytes=10 Ok",
            "> begin Request Id(9) t4 operation=GET resource=/seen",
            "> end Request Id(9) t4 bytes=24",
            "> begin Request Id(11) t5 operation=GET resource=/seen",
            "> end Request Id(11) t5 bytes=12",
        ]
    );
}

#[test]
fn a_call_joined_late_shows_no_status_that_is_not_its_own() {
    let begun = frame(HEADERS, END_HEADERS, 7, &[0x88, 0xc0]);
    let ends = |trailers: &[u8]| {
        let talk = [
            client(frame(HEADERS, WHOLE, 7, &[0x83, 0x86, 0xc4])),
            server([begun.clone(), frame(HEADERS, WHOLE, 7, trailers)].concat()),
        ];
        assert_cuts_do_not_matter(Protocol::Http2, Start::Middle, &talk).pop().unwrap()
    };
    assert_eq!(
        ends(&insert("grpc-status", "12")),
        "< end Response Id(7) t1 bytes=36 Error status_code=12 protocol=grpc"
    );
    assert_eq!(ends(&[0xbe]), "< end Response Id(7) t1 bytes=21 status_code=200");
}

#[test]
fn a_gap_in_data_is_harmless_and_elsewhere_the_table_is_unknown() {
    let mut player = Player::new(Protocol::Http2, Start::Beginning, Limits::default());
    for said in [preface(), settings(), client(frame(HEADERS, WHOLE, 1, &get("/a")))] {
        player.bytes(said.dir, &said.bytes, true);
    }
    let data = frame(DATA, END_STREAM, 1, &[b'x'; 100]);
    player.bytes(
        Dir::ToClient,
        &[frame(HEADERS, END_HEADERS, 1, &[0x88]), data[..50].to_vec()].concat(),
        true,
    );
    player.gap(Dir::ToClient, 59);
    player.bytes(Dir::ToClient, &frame(PING, 0, 0, &[0; 8]), true);
    assert!(player.lines().last().unwrap().starts_with("< end Response Id(1)"), "{:?}", player.lines());
    let before = player.lines().len();
    player.bytes(Dir::ToServer, &frame(HEADERS, WHOLE, 3, &get("/b"))[..12], true);
    player.gap(Dir::ToServer, 500);
    player.bytes(Dir::ToServer, b"something in the middle of a frame", true);
    player.bytes(Dir::ToServer, &frame(HEADERS, WHOLE, 9, &[0x82, 0x86, 0xbe]), true);
    let lines = player.finish();
    assert_eq!(
        lines[before..],
        [
            "> gap 500",
            "> begin Request Id(9) t0 notices=2 operation=GET network.protocol.version=2",
            "> end Request Id(9) t0 bytes=12",
        ]
    );
}

#[test]
fn every_error() {
    let error = |talk: &[Said]| play(Protocol::Http2, Start::Beginning, talk).pop().unwrap();
    assert_eq!(error(&[client("GET / HTTP/1.1\r\n\r\n")]), "errors 1 bad_magic");
    assert_eq!(error(&[server("HTTP/1.1 400 Bad Request\r\n\r\n")]), "errors 1 bad_length");
    assert_eq!(error(&[preface(), client(frame(SETTINGS, 0, 0, b"x"))]), "errors 1 bad_length");
    assert_eq!(error(&[preface(), client(frame(DATA, PADDED, 1, &[9, 0]))]), "errors 1 bad_length");
    assert_eq!(error(&[preface(), client(frame(HEADERS, PADDED, 1, &[9, 0]))]), "errors 1 bad_length");
    let open = frame(HEADERS, 0, 1, &[0x82]);
    assert_eq!(
        error(&[preface(), client([open.clone(), frame(PING, 0, 0, &[0; 8])].concat())]),
        "errors 1 out_of_place"
    );
    assert_eq!(error(&[preface(), client(frame(HEADERS, WHOLE, 0, &[0x82]))]), "errors 1 out_of_place");
    assert_eq!(error(&[preface(), client(frame(HEADERS, WHOLE, 1, &[0xff]))]), "errors 1 truncated");
    assert_eq!(error(&[preface(), client(frame(HEADERS, WHOLE, 1, &[0xbe]))]), "errors 1 bad_compression");
    let flood = [open, frame(CONTINUATION, 0, 1, &[0x82; 16_000]).repeat(5)].concat();
    assert_eq!(error(&[preface(), client(flood)]), "errors 1 too_large");
}

#[test]
fn golden() {
    pcap::golden(Protocol::Http2, 50_051, "grpc");
}

/// Real conversations with bytes changed and segments lost: nothing panics, nothing hangs, and no flow
/// says more than a message a segment and a few.
#[test]
fn damaged_captures() {
    // Ethernet, IPv4, TCP with timestamps: what follows is payload.
    const HEADERS: usize = 14 + 20 + 32;
    let mut seed = 7u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let captures = [
        (Protocol::Http, 18_080, &include_bytes!("../http/golden/nginx.pcap")[..]),
        (Protocol::Http, 18_080, include_bytes!("../http/golden/pipelined.pcap")),
        (Protocol::Http, 18_090, include_bytes!("../http/golden/h2c.pcap")),
        (Protocol::Http2, 50_051, include_bytes!("golden/grpc.pcap")),
        (Protocol::Tls, 18_443, include_bytes!("../tls/golden/nginx.pcap")),
    ];
    for (protocol, port, pcap) in captures {
        for round in 0..100 {
            let mut damaged = pcap[..24].to_vec();
            let mut at = 24;
            while at < pcap.len() {
                let len = u32::from_le_bytes(pcap[at + 8..at + 12].try_into().unwrap()) as usize;
                let mut record = pcap[at..at + 16 + len].to_vec();
                at += 16 + len;
                if round % 2 == 1 && random(12) == 0 {
                    continue;
                }
                if len > HEADERS && random(4) == 0 {
                    let place = 16 + HEADERS + random(len - HEADERS);
                    record[place] = random(256) as u8;
                }
                damaged.extend(record);
            }
            let lines: usize = pcap::play(protocol, port, &damaged).iter().map(Vec::len).sum();
            assert!(lines < 1_000, "{lines} lines of {protocol:?}");
        }
    }
}
