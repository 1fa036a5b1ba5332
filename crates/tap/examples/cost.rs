//! Plays the same roundtrip again and again, for counting what one costs from frame to row:
//!
//! ```text
//! valgrind --tool=callgrind target/release/examples/cost --count 500 http
//! ```
//!
//! `http` is one request and its answer of two segments; `segment` is one segment in the middle of an answer;
//! `rows` is a query of MySQL and its answer of 1,000 rows in frames of 64 KiB, as loopback has them.

use correlate::{Outcome, Roundtrip};
use flow::{End, Flow};
use model::Dir::{self, ToClient, ToServer};
use model::{Frame, LinkType, Nanos};
use tap::{About, Options, Sink, Tap};

/// Counts answered roundtrips.
struct Count(usize);

impl Sink for Count {
    fn roundtrip(&mut self, _: &Flow, _: &About, roundtrip: &Roundtrip) {
        self.0 += usize::from(roundtrip.outcome == Outcome::Answered);
    }

    fn flow(&mut self, _: &Flow, _: &About, _: End) {}
}

const SYN: u8 = 2;
const ACK: u8 = 16;
const HEADERS: usize = 40;

/// An IPv4 packet whose numbers are set when it is sent.
struct Shot {
    dir: Dir,
    flags: u8,
    bytes: Vec<u8>,
}

fn shot(dir: Dir, port: u16, flags: u8, payload: &[u8]) -> Shot {
    let mut bytes = vec![0; HEADERS];
    let total = u16::try_from(HEADERS + payload.len()).expect("a packet");
    let (client, server) = ([10, 0, 0, 1], [10, 0, 0, 2]);
    let mut ports = [40_000, port];
    let mut hosts = [client, server];
    if dir == ToClient {
        ports.reverse();
        hosts.reverse();
    }
    bytes[0] = 0x45;
    bytes[2..4].copy_from_slice(&total.to_be_bytes());
    bytes[8..10].copy_from_slice(&[64, 6]);
    bytes[12..20].copy_from_slice(hosts.as_flattened());
    bytes[20..24].copy_from_slice(ports.map(u16::to_be_bytes).as_flattened());
    bytes[32..36].copy_from_slice(&[0x50, flags, 0xff, 0xff]);
    bytes.extend_from_slice(payload);
    Shot { dir, flags, bytes }
}

/// The one flow.
struct Wire {
    tap: Tap<Count>,
    next: [u32; 2],
    time: i64,
}

impl Wire {
    fn send(&mut self, shot: &mut Shot) {
        let own = shot.dir.index();
        shot.bytes[24..28].copy_from_slice(&self.next[own].to_be_bytes());
        shot.bytes[28..32].copy_from_slice(&self.next[1 - own].to_be_bytes());
        let len = shot.bytes.len();
        let more = u32::try_from(len - HEADERS).expect("a packet") + u32::from(shot.flags & SYN != 0);
        self.next[own] = self.next[own].wrapping_add(more);
        self.time += 10_000;
        let wire_len = u32::try_from(len).expect("a packet");
        let time = Nanos(self.time);
        let frame = Frame { time, link: LinkType::Ipv4, wire_len, vlan: None, bytes: &shot.bytes };
        self.tap.frame(&frame);
    }
}

fn packet(number: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = u32::try_from(payload.len()).expect("a packet").to_le_bytes();
    [&[a, b, c, number], payload].concat()
}

/// What is said before the first roundtrip.
fn prologue(case: &str, count: usize) -> Vec<(Dir, Vec<u8>)> {
    if case == "segment" {
        return vec![(ToServer, request()), (ToClient, head(count * SEGMENT))];
    }
    if case != "rows" {
        return Vec::new();
    }
    let mut greeting = b"\x0a8.0.36\0\x01\0\0\x0012345678\0\xff\xf7\x21\x02\0\xff\x81\x15".to_vec();
    greeting.extend(b"\0\0\0\0\0\0\0\0\0\x00123456789012\0mysql_native_password\0");
    let mut login = b"\x85\xa6\x0f\0\0\0\0\x01\x21".to_vec();
    login.extend([0; 23]);
    login.extend(b"me\0\0mysql_native_password\0");
    let ok = b"\0\0\0\x02\0\0\0";
    vec![(ToClient, packet(0, &greeting)), (ToServer, packet(1, &login)), (ToClient, packet(2, ok))]
}

/// One roundtrip.
fn roundtrip(case: &str) -> Vec<(Dir, Vec<u8>)> {
    if case == "rows" {
        let query = packet(0, b"\x03SELECT id, name, price, stock FROM article WHERE price < 100");
        let mut answer = packet(1, b"\x04");
        let mut number = 1_u8;
        let mut add = |payload: &[u8]| {
            number = number.wrapping_add(1);
            answer.extend(packet(number, payload));
        };
        for column in ["id", "name", "price", "stock"] {
            let name = [&[u8::try_from(column.len()).expect("short")], column.as_bytes()].concat();
            let fixed = b"\x0c\x21\0\xff\0\0\0\xfd\0\0\0\0\0";
            add(&[b"\x03def\x04shop\x07article\x07article", &name[..], &name[..], fixed].concat());
        }
        add(b"\xfe\0\0\x22\0");
        for row in 0..1_000 {
            let id = format!("{row:06}");
            let name = format!("a thing of the kind with number {id}");
            let name_len = u8::try_from(name.len()).expect("short");
            add(&[b"\x06", id.as_bytes(), &[name_len], name.as_bytes(), b"\x0519.95\x0242"].concat());
        }
        add(b"\xfe\0\0\x22\0");
        let mut said = vec![(ToServer, query)];
        said.extend(answer.chunks(65_483).map(|part| (ToClient, part.to_vec())));
        return said;
    }
    let part = (ToClient, vec![b'x'; SEGMENT]);
    if case == "segment" {
        return vec![part];
    }
    vec![(ToServer, request()), (ToClient, head(SEGMENT)), part]
}

/// Bytes of a whole segment on Ethernet.
const SEGMENT: usize = 1_448;

fn request() -> Vec<u8> {
    "GET /api/v1/articles?page=7&sort=price HTTP/1.1\r\nHost: shop.example\r\n\
    User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36\r\nAccept: application/json\r\n\
    Accept-Encoding: gzip, deflate, br\r\nAccept-Language: en\r\nConnection: keep-alive\r\n\
    traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n"
        .into()
}

fn head(body: usize) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Sat, 21 Nov 2026 16:15:00 GMT\r\n\
        Content-Type: application/json\r\nContent-Length: {body}\r\nConnection: keep-alive\r\n\
        Cache-Control: no-cache\r\nVary: Accept-Encoding\r\n\r\n"
    )
    .into_bytes()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [_, count, case] = arguments.as_slice() else {
        eprintln!("cost --count N http|segment|rows");
        std::process::exit(2);
    };
    let count: usize = count.parse().expect("a number");
    let port = if case == "rows" { 3306 } else { 80 };
    let options = Options { flows: flow::Limits { flows: 64, ..Default::default() }, ..Options::default() };
    let mut wire = Wire { tap: Tap::new(options, Count(0)), next: [1_000, 5_000], time: 1_000_000_000 };
    wire.send(&mut shot(ToServer, port, SYN, b""));
    wire.send(&mut shot(ToClient, port, SYN | ACK, b""));
    for (dir, bytes) in prologue(case, count) {
        wire.send(&mut shot(dir, port, ACK, &bytes));
    }
    let before = wire.tap.sink().0;
    let said = roundtrip(case);
    let mut shots: Vec<Shot> = said.iter().map(|(dir, bytes)| shot(*dir, port, ACK, bytes)).collect();
    for _ in 0..count {
        for shot in &mut shots {
            wire.send(shot);
        }
    }
    wire.tap.finish();
    let answered = if case == "segment" { 1 } else { count };
    assert_eq!(wire.tap.sink().0 - before, answered, "every one is answered");
}
