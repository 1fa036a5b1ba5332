//! Messages as bytes.

use super::Dns;
use crate::{Decoder, Driver, Input, Limits, Out, Protocol, Shape, Start, Verdict, pcap, testkit::*};
use model::{Arrival, Dir, Endpoint, FiveTuple, Heard, Nanos, Transport};

/// A message: header, and what follows it.
fn message(id: u16, flags: u16, counts: [u16; 4], rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in [id, flags].iter().chain(&counts) {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    bytes.extend_from_slice(rest);
    bytes
}

fn query(id: u16, name: &[u8], kind: u16) -> Vec<u8> {
    message(id, 0x0100, [1, 0, 0, 0], &[name, &kind.to_be_bytes(), &[0, 1]].concat())
}

/// `a.test A`, with answers.
fn answer(id: u16, flags: u16, count: u16, records: &[u8]) -> Vec<u8> {
    message(id, 0x8000 | flags, [1, count, 0, 0], &[b"\x01a\x04test\0\0\x01\0\x01", records].concat())
}

fn record(name: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let len = u16::try_from(data.len()).unwrap().to_be_bytes();
    [name, &kind.to_be_bytes(), &[0, 1, 0, 0, 0, 60], &len, data].concat()
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&u16::try_from(message.len()).unwrap().to_be_bytes()[..], message].concat()
}

/// Plays datagrams between two endpoints; gives the lines.
fn datagrams(from: &str, to: &str, said: &[(Dir, Vec<u8>)]) -> Vec<String> {
    let end = |text: &str| {
        let address: std::net::SocketAddr = text.parse().unwrap();
        Endpoint::new(address.ip(), address.port())
    };
    let tuple = FiveTuple { client: end(from), server: end(to), transport: Transport::Udp };
    let mut driver = Driver::new(Protocol::Dns, Start::Beginning);
    let mut out = Out::new(Limits::default());
    for (dir, bytes) in said {
        driver.datagram(&tuple, *dir, bytes, Arrival::datagram(Nanos(0), 0), &mut out);
    }
    let mut lines: Vec<String> = out.events().iter().map(|event| line(event, out.fields())).collect();
    if let Some(error) = driver.last_error() {
        lines.push(error.what.as_str().to_owned());
    }
    lines
}

fn unicast(said: &[(Dir, Vec<u8>)]) -> Vec<String> {
    datagrams("192.0.2.1:40000", "192.0.2.2:53", said)
}

const A: &[u8] = b"\x01a\x04test\0";

#[test]
fn a_message_that_was_cut_has_the_size_that_it_had_on_the_wire() {
    let tuple = crate::testkit::tuple(Transport::Udp);
    let mut driver = Driver::new(Protocol::Dns, Start::Beginning);
    let mut out = Out::new(Limits::default());
    let query = query(7, A, 1);
    driver.datagram(&tuple, Dir::ToServer, &query, Arrival::datagram(Nanos(0), 30), &mut out);
    let sizes: Vec<u64> = out
        .events()
        .iter()
        .filter_map(|event| if let crate::Event::End { bytes, .. } = event { Some(*bytes) } else { None })
        .collect();
    assert_eq!(sizes, [query.len() as u64 + 30]);
}

#[test]
fn a_query_and_its_answers() {
    let records = [
        record(b"\xc0\x0c", 5, b"\x01b\xc0\x0e"),
        record(b"\xc0\x24", 1, &[192, 0, 2, 1]),
        record(b"\xc0\x24", 4711, &[1, 2]),
        record(b"\xc0\x24", 65, b"\0\x01\0\0\x01\0\x06\x02h2\x02h3\0\x03\0\x02\x01\xbb\0\x63\0\x01z"),
        record(b"\xc0\x24", 52, &[3, 1, 1, 0xab, 0xcd]),
        record(b"\xc0\x24", 43, &[0x30, 0x39, 8, 2, 0xff]),
        record(b"\xc0\x24", 48, &[1, 1, 3, 8, 1, 2, 3, 4]),
        record(b"\xc0\x24", 28, &[1]),
    ]
    .concat();
    let lines = unicast(&[
        (Dir::ToServer, query(7, b"\x01A\x04tesT\0", 1)),
        (Dir::ToClient, answer(7, 0x0400, 8, &records)),
    ]);
    assert!(lines[0].ends_with("operation=A resource=A.tesT. dns.question.name=A.tesT. dns.question.type=A"));
    let key = |line: &str| line.split(' ').find(|word| word.starts_with("Id(")).unwrap().to_owned();
    assert_eq!(key(&lines[0]), key(&lines[2]), "the case of a question makes no other key");
    assert!(
        lines[3].ends_with(
            "Ok notices=8 status_code=NOERROR dns.response.code=NOERROR dns.answers.count=8 \
         dns.answers=CNAME b.test.; A 192.0.2.1; TYPE4711 \\\\# 2 0102; \
         HTTPS 1 . alpn=h2,h3 port=443 key99=\\\"z\\\"; TLSA 3 1 1 abcd; DS 12345 8 2 ff; \
         DNSKEY 257 3 8 AQIDBA==; AAAA \\\\# 1 01 dns.authoritative=true"
        ),
        "{}",
        lines[3]
    );
}

#[test]
fn codes_truncation_and_edns() {
    let opt = |code: u8, data: &[u8]| {
        let len = u16::try_from(data.len()).unwrap().to_be_bytes();
        [&[0, 0, 41, 16, 0, code, 0, 0x80, 0][..], &len, data].concat()
    };
    let with_opt = |mut bytes: Vec<u8>, opt: &[u8]| {
        bytes[11] = 1;
        bytes.extend_from_slice(opt);
        bytes
    };
    let lines = unicast(&[
        (Dir::ToServer, with_opt(query(1, A, 1), &opt(0, b""))),
        (Dir::ToClient, with_opt(answer(1, 0x0202, 0, b""), &opt(0, b"\0\x0f\0\x06\0\x16lame"))),
        (Dir::ToClient, with_opt(answer(1, 0, 0, b""), &opt(1, b""))),
        (Dir::ToClient, answer(1, 3, 0, b"")),
        (Dir::ToClient, answer(1, 14, 0, b"")),
    ]);
    assert!(lines[0].ends_with("dns.edns.udp_size=4096 dns.edns.do=true"), "{}", lines[0]);
    assert!(lines[3].contains("Error status_code=SERVFAIL"));
    assert!(lines[3].ends_with("dns.truncated=true error=EDE 22: lame"), "{}", lines[3]);
    assert!(lines[5].contains("Error status_code=BADVERS"));
    assert!(lines[7].contains("Error status_code=NXDOMAIN"));
    assert!(lines[9].contains("Error status_code=RCODE14"));
}

#[test]
fn a_response_without_its_question_is_still_paired() {
    let lines = unicast(&[
        (Dir::ToServer, query(9, A, 1)),
        (Dir::ToClient, message(9, 0x8001, [0; 4], b"")),
        (Dir::ToServer, message(10, 0x2000, [1, 0, 0, 0], &[A, &[0, 6, 0, 1]].concat())),
        (Dir::ToClient, message(10, 0xa000, [0; 4], b"")),
    ]);
    let key = |at: usize| lines[at].split(' ').nth(3).unwrap();
    assert_eq!((key(0), key(4)), (key(2), key(6)));
    assert!(lines[4].contains("operation=NOTIFY resource=a.test."));
}

#[test]
fn several_questions_and_odd_classes() {
    let two = [A, &[0, 1, 0, 3], A, &[0, 28, 0, 1]].concat();
    let lines = unicast(&[
        (Dir::ToServer, message(1, 0, [2, 0, 0, 0], &two)),
        (Dir::ToServer, message(1, 0, [1, 0, 0, 0], &[A, &[0x10, 0x92, 0, 99]].concat())),
    ]);
    assert!(lines[0].ends_with("dns.question.type=A dns.question.class=CH dns.questions.count=2"));
    assert!(lines[2].contains("operation=TYPE4242"));
    assert!(lines[2].ends_with("dns.question.class=99"));
}

#[test]
fn a_stream_has_several_messages_a_segment() {
    let asked = [framed(&query(1, A, 1)), framed(&query(2, A, 28)), framed(&query(3, A, 16))].concat();
    let a = record(b"\xc0\x0c", 1, &[192, 0, 2, 1]);
    let answers = [framed(&answer(3, 0, 1, &a)), framed(&answer(1, 0, 1, &a))].concat();
    let said = [client(&asked), server(&answers)];
    let mut player = Player::new(Protocol::Dns, Start::Beginning, Limits::default());
    for said in &said {
        player.bytes(said.dir, &said.bytes, true);
    }
    assert_eq!(player.finish().len(), 10);
    // The test kit plays a protocol of two transports as a stream.
    assert_cuts_do_not_matter(Protocol::Dns, Start::Beginning, &said);
}

#[test]
fn a_transfer_is_one_response() {
    let soa = |serial: u8| {
        record(b"\xc0\x0c", 6, &[0, 0, 0, 0, 0, serial, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    };
    let a = record(b"\xc0\x0c", 1, &[192, 0, 2, 1]);
    let reply = |kind: u8, count: u16, records: &[Vec<u8>]| {
        let question = [A, &[0, kind, 0, 1]].concat();
        framed(&message(1, 0x8000, [1, count, 0, 0], &[question, records.concat()].concat()))
    };
    let full = [
        client(framed(&query(1, A, 252))),
        server([reply(252, 2, &[soa(9), a.clone()]), reply(252, 1, std::slice::from_ref(&a))].concat()),
        server(reply(252, 2, &[a.clone(), soa(9)])),
    ];
    let lines = assert_cuts_do_not_matter(Protocol::Dns, Start::Beginning, &full);
    assert_eq!(lines.len(), 4);
    assert!(lines[3].contains("t2 bytes=") && lines[3].contains("dns.answers.count=5"), "{}", lines[3]);
    let some = [
        client(framed(&query(1, A, 251))),
        server(reply(251, 3, &[soa(9), soa(8), soa(9)])),
        server(reply(251, 2, &[a, soa(9)])),
        client(framed(&query(1, A, 251))),
        server(reply(251, 1, &[soa(9)])),
    ];
    let lines = assert_cuts_do_not_matter(Protocol::Dns, Start::Beginning, &some);
    assert!(lines[3].contains("t2 ") && lines[3].contains("dns.answers.count=5"), "{}", lines[3]);
    assert!(lines[7].contains("t4 ") && lines[7].contains("dns.answers.count=1"), "{}", lines[7]);
}

#[test]
fn multicast_is_one_way() {
    let asked = message(0, 0, [1, 0, 0, 0], &[A, &[0, 12, 0x80, 1]].concat());
    let told = message(0, 0x8400, [0, 1, 0, 0], &record(A, 12, b"\x01x\0"));
    let lines = datagrams(
        "192.0.2.1:5353",
        "224.0.0.251:5353",
        &[(Dir::ToServer, asked.clone()), (Dir::ToServer, told.clone())],
    );
    assert!(
        lines[0].contains("begin OneWay")
            && lines[0].ends_with("dns.message=query dns.unicast_response=true")
    );
    assert!(lines[2].contains("OneWay") && lines[2].contains("operation=PTR resource=a.test."));
    assert!(lines[3].ends_with("dns.answers=PTR x. dns.authoritative=true"), "{}", lines[3]);
    // The answer to one host, a legacy query's answer, LLMNR's answer: their questions are in other flows.
    for (from, to) in [
        ("192.0.2.1:5353", "192.0.2.2:5353"),
        ("192.0.2.1:5353", "192.0.2.2:40000"),
        ("192.0.2.1:5355", "192.0.2.2:40000"),
    ] {
        assert!(datagrams(from, to, &[(Dir::ToServer, told.clone())])[0].contains("OneWay"));
    }
    // Asked directly, it answers.
    let lines = datagrams(
        "192.0.2.1:40000",
        "192.0.2.2:5353",
        &[
            (Dir::ToServer, query(5, A, 12)),
            (Dir::ToClient, message(5, 0x8400, [0, 1, 0, 0], &record(A, 12, b"\x01x\0"))),
        ],
    );
    assert!(lines[0].contains("Request") && lines[2].contains("Response"));
}

#[test]
fn what_is_no_message_is_an_error() {
    let error = |bytes: &[u8]| unicast(&[(Dir::ToServer, bytes.to_vec())]).pop().unwrap();
    assert_eq!(error(&query(1, A, 1)[..11]), "truncated");
    assert_eq!(error(&query(1, A, 1)[..20]), "truncated");
    assert_eq!(error(&message(1, 0x0040, [1, 0, 0, 0], A)), "bad_magic");
    assert_eq!(error(&message(1, 0x0001, [1, 0, 0, 0], A)), "bad_magic");
    assert_eq!(error(&message(1, 0x7800, [1, 0, 0, 0], A)), "bad_magic");
    assert_eq!(error(&message(1, 0, [1, 0, 0, 0], b"\xc0\x0c\0\x01\0\x01")), "bad_length");
    // What follows the question is cut: all that could be read is kept.
    let cut = unicast(&[(Dir::ToClient, answer(1, 0, 2, &record(b"\xc0\x0c", 1, &[192, 0, 2, 1])))]);
    assert!(cut[1].contains("notices=8") && cut[1].contains("dns.answers=A 192.0.2.1"), "{}", cut[1]);
}

#[test]
fn a_stream_goes_on_behind_a_gap() {
    let mut player = Player::new(Protocol::Dns, Start::Middle, Limits::default());
    player.bytes(Dir::ToServer, b"\0\x20the middle of some message", true);
    assert!(player.lines().is_empty());
    player.bytes(Dir::ToServer, &framed(&query(1, A, 1)), true);
    player.gap(Dir::ToServer, 3);
    player.bytes(Dir::ToServer, &framed(&query(1, A, 1))[3..], true);
    player.bytes(Dir::ToServer, &framed(&query(2, A, 1)), true);
    assert_eq!(player.finish().len(), 5);
}

#[test]
fn probes() {
    let probe = |shape, bytes: &[u8]| {
        let tuple = tuple(Transport::Udp);
        let (first, time) = (Nanos(0), Nanos(0));
        let input = Input {
            bytes,
            dir: Dir::ToServer,
            first,
            time,
            shape,
            heard: Heard::All,
            segment_start: true,
            cut: 0,
            tuple: &tuple,
        };
        Dns::probe(&input)
    };
    let asked = query(1, A, 1);
    let stream = Shape::Stream { eof: false };
    assert_eq!(probe(Shape::Datagram, &asked), Verdict::Yes);
    assert_eq!(probe(Shape::Datagram, &[&asked[..], b"x"].concat()), Verdict::No);
    assert_eq!(probe(Shape::Datagram, &query(1, A, 4242)), Verdict::Likely);
    assert_eq!(probe(stream, &framed(&asked)), Verdict::Yes);
    for end in 0..framed(&asked).len() {
        assert_eq!(probe(stream, &framed(&asked)[..end]), Verdict::NeedMore, "{end}");
    }
    assert_eq!(probe(stream, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"), Verdict::No);
    assert_eq!(probe(Shape::Datagram, &[0x80; 40]), Verdict::No);
    assert_eq!(probe(Shape::Datagram, &[0; 40]), Verdict::No);
}

#[test]
fn golden() {
    pcap::golden(Protocol::Dns, 5333, "dnsmasq");
}
