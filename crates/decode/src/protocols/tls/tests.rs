//! Hellos made of bytes, and handshakes recorded.

use super::hello::is_grease;
use super::verdict;
use crate::testkit::{Player, assert_cuts_do_not_matter, client, play, server};
use crate::{Limits, Protocol, Start, Verdict, pcap};
use model::Dir;

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    [&[kind, 3, 1][..], &(content.len() as u16).to_be_bytes(), content].concat()
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &(body.len() as u32).to_be_bytes()[1..], body].concat()
}

fn list(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat()
}

fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &list(content)].concat()
}

/// A ClientHello for `a.test` that offers h2, with `more` extensions.
fn client_hello(more: &[u8]) -> Vec<u8> {
    let name = extension(0, &list(&[&[0][..], &list(b"a.test")].concat()));
    let alpn = extension(16, &list(b"\x02h2\x08http/1.1"));
    let versions = extension(43, &[4, 3, 4, 3, 3]);
    let extensions = list(&[&name[..], &alpn, &versions, more].concat());
    let body =
        [&[3, 3][..], &[7; 32], &[2, 0xaa, 0xbb], &list(&[0x13, 1, 0x13, 2]), &[1, 0], &extensions].concat();
    message(1, &body)
}

fn server_hello(random: &[u8; 32], version: [u8; 2], extensions: &[u8]) -> Vec<u8> {
    let body = [&version[..], random, &[2, 0xaa, 0xbb], &[0x13, 1, 0], &list(extensions)].concat();
    message(2, &body)
}

const CLIENT: [&str; 2] =
    ["flow tls.client.server_name=a.test", "flow tls.client.supported_protocols=h2,http/1.1"];

#[test]
fn a_hello_in_one_record_and_in_several() {
    let chosen = [extension(43, &[3, 4]), extension(41, &[0, 0])].concat();
    let answer =
        server([record(22, &server_hello(&[9; 32], [3, 3], &chosen)), record(23, &[0; 50])].concat());
    let hello = client_hello(&[]);
    let cut = [record(22, &hello[..2]), record(22, &hello[2..40]), record(22, &hello[40..])].concat();
    for first in [record(22, &hello), cut] {
        let lines =
            assert_cuts_do_not_matter(Protocol::Tls, Start::Beginning, &[client(first), answer.clone()]);
        assert_eq!(lines[..2], CLIENT);
        assert_eq!(
            lines[3..],
            [
                "flow tls.protocol.version=1.3",
                "flow tls.cipher=TLS_AES_128_GCM_SHA256",
                "flow tls.resumed=true",
                "opaque tls",
            ]
        );
    }
}

#[test]
fn a_large_hello_with_an_encrypted_one_inside() {
    let more = [extension(0xfe0d, &[0; 200]), extension(51, &vec![5; 20_000])].concat();
    let hello = client_hello(&more);
    let records: Vec<u8> = hello.chunks(16_384).flat_map(|part| record(22, part)).collect();
    let lines = play(Protocol::Tls, Start::Beginning, &[client(records)]);
    assert_eq!(lines[0], CLIENT[0]);
    assert_eq!(lines[3..], ["flow tls.client.ech=true", "opaque tls"]);
}

#[test]
fn a_retry_is_not_the_answer() {
    let retry = [
        0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2,
        0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
    ];
    let hello = record(22, &client_hello(&[]));
    let lines = assert_cuts_do_not_matter(
        Protocol::Tls,
        Start::Beginning,
        &[
            client(&hello),
            server(record(22, &server_hello(&retry, [3, 3], &extension(43, &[3, 4])))),
            client(&hello),
            server(record(22, &server_hello(&[9; 32], [3, 3], &extension(16, &list(b"\x02h2"))))),
        ],
    );
    assert_eq!(lines.len(), 8);
    // TLS 1.2 with the session id of the client: resumed.
    assert_eq!(
        lines[3..7],
        [
            "flow tls.protocol.version=1.2",
            "flow tls.cipher=TLS_AES_128_GCM_SHA256",
            "flow tls.next_protocol=h2",
            "flow tls.resumed=true",
        ]
    );
}

#[test]
fn alerts_in_plain_text() {
    let lines = assert_cuts_do_not_matter(
        Protocol::Tls,
        Start::Beginning,
        &[
            client(record(22, &client_hello(&[]))),
            server(record(21, &[1, 112])),
            server(record(21, &[2, 40])),
        ],
    );
    assert_eq!(
        lines[3..],
        ["flow tls.alert=unrecognized_name", "flow tls.alert=handshake_failure", "opaque tls"]
    );
    let lines = play(Protocol::Tls, Start::Beginning, &[server(record(21, &[2, 199]))]);
    assert_eq!(lines, ["flow tls.alert=199", "opaque tls"]);
}

#[test]
fn joined_in_the_middle() {
    let lines =
        play(Protocol::Tls, Start::Middle, &[client(b"\x99 part of a record"), server(record(23, &[1; 90]))]);
    assert_eq!(lines, ["opaque tls"]);
    let mut player = Player::new(Protocol::Tls, Start::Beginning, Limits::default());
    player.bytes(Dir::ToServer, &record(22, &client_hello(&[]))[..30], true);
    player.gap(Dir::ToServer, 100);
    player.bytes(Dir::ToServer, b"the rest of it", false);
    player.bytes(Dir::ToServer, &record(23, &[1; 30]), true);
    assert_eq!(player.finish(), ["> gap 100", "opaque tls"]);
}

#[test]
fn the_probe() {
    let hello = record(22, &client_hello(&[]));
    assert_eq!(verdict(Dir::ToServer, &hello), Verdict::Yes);
    assert_eq!(verdict(Dir::ToClient, &hello), Verdict::Likely);
    assert_eq!(verdict(Dir::ToServer, &hello[..4]), Verdict::NeedMore);
    assert_eq!(verdict(Dir::ToServer, b"GET / HTTP/1.1"), Verdict::No);
    assert_eq!(verdict(Dir::ToServer, &[0x80, 0x2e, 1, 0, 2, 0, 0x15]), Verdict::No, "SSL 2.0");
    assert_eq!(verdict(Dir::ToClient, &record(23, &[0; 40])), Verdict::Likely);
    assert_eq!(verdict(Dir::ToClient, &[22, 3, 1, 0xff, 0xff, 2]), Verdict::No);
}

#[test]
fn every_error() {
    let error = |bytes: &[u8]| play(Protocol::Tls, Start::Beginning, &[client(bytes)]).pop().unwrap();
    assert_eq!(error(b"GET / HTTP/1.1\r\n"), "errors 1 bad_magic");
    assert_eq!(error(&[22, 3, 1, 0xff, 0xff]), "errors 1 bad_length");
    assert_eq!(error(&record(22, &[1, 0xff, 0xff, 0xff])), "errors 1 too_large");
    assert_eq!(error(&record(22, &message(1, &[3, 3, 0]))), "errors 1 truncated");
}

#[test]
fn reserved_numbers() {
    let reserved = (0..=u16::MAX).filter(|number| is_grease(*number)).count();
    assert_eq!(reserved, 16);
}

#[test]
fn golden() {
    pcap::golden(Protocol::Tls, 18_443, "nginx");
}
