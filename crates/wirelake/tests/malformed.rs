//! Bytes that no agent should send: each unit is counted with its reason, the neighbours are served, memory stays flat.

mod common;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use common::packets::{VECTORS, envelope, options, request, wrap};
use common::{Random, Server, balanced, dropped, folder, noticed, until_closed, wait};
use decode::What;
use envelope::hep::{self, Hep, Payload};

/// Random bytes for each of UDP and TCP.
const NOISE: usize = 50 << 20;
/// What the process may grow by in the second half of the noise.
const GROWTH: u64 = 32 << 20;
/// The most that it may use, with 32 MiB for packets.
const MEMORY: u64 = 256 << 20;

/// What the books must say: units in, rows out, and drops by reason.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Expected {
    units: u64,
    rows: u64,
    drops: BTreeMap<&'static str, u64>,
}

impl Expected {
    fn drop(&mut self, reason: &'static str) {
        self.units += 1;
        *self.drops.entry(reason).or_default() += 1;
    }

    /// One datagram, or one frame.
    fn message(&mut self, bytes: &[u8]) {
        match hep::open(bytes) {
            Ok(_) => {
                self.units += 1;
                self.rows += 1;
            }
            Err(error) => self.drop(match error.what {
                What::Empty | What::KeepAlive => "empty",
                What::Truncated => "truncated",
                What::BadLength => "bad_length",
                _ => "not_hep",
            }),
        }
    }

    /// A connection that sends these bytes and ends.
    fn stream(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match hep::frame_len(bytes) {
                hep::Frame::Len(length) if length <= bytes.len() => {
                    let (frame, rest) = bytes.split_at(length);
                    self.message(frame);
                    bytes = rest;
                }
                hep::Frame::Len(_) | hep::Frame::NeedMore => return self.drop("frame_incomplete"),
                hep::Frame::Bad => return self.drop("bad_framing"),
            }
        }
    }

    fn check(&self, ledger: &serde_json::Value) {
        balanced(ledger);
        for (reason, count) in &self.drops {
            assert_eq!(dropped(ledger, reason), *count, "{reason}: {ledger:#}");
        }
        assert_eq!(ledger["in"]["total"], self.units, "{ledger:#}");
        assert_eq!(ledger["out"]["total"], self.rows, "{ledger:#}");
    }
}

/// Every beginning of the vectors, and the vectors with each byte flipped.
fn damaged() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for (_, vector) in VECTORS {
        found.extend((0..vector.len()).map(|length| vector[..length].to_vec()));
        found.extend((0..vector.len()).map(|at| {
            let mut flipped = vector.to_vec();
            flipped[at] ^= 0xff;
            flipped
        }));
    }
    found
}

/// The packet with its own length written into its header, so that TCP carries it to the decoder.
fn framed(packet: &[u8]) -> Option<Vec<u8>> {
    let mut framed = packet.to_vec();
    let length = u16::try_from(framed.len()).ok()?;
    framed.get_mut(4..6)?.copy_from_slice(&length.to_be_bytes());
    framed.starts_with(b"HEP3").then_some(framed)
}

/// Sends bytes on a connection of their own and waits until the server has ended it too.
fn connection(address: SocketAddr, bytes: &[u8]) {
    let mut stream = TcpStream::connect(address).unwrap();
    // The server may close as soon as it has seen enough.
    let _ = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
    until_closed(&mut stream);
}

/// Well-behaved senders over both transports, until told to stop. Answers how many messages each sent.
fn neighbours(server: &Server, quiet: &AtomicBool) -> (u64, u64) {
    let (udp, tcp) = (server.udp(), server.tcp());
    thread::scope(|scope| {
        let udp = scope.spawn(move || {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            speak("udp", quiet, |packet| assert_eq!(socket.send_to(packet, udp).unwrap(), packet.len()))
        });
        let tcp = scope.spawn(move || {
            let mut stream = TcpStream::connect(tcp).unwrap();
            speak("tcp", quiet, |packet| stream.write_all(packet).unwrap())
        });
        (udp.join().unwrap(), tcp.join().unwrap())
    })
}

fn speak(name: &str, quiet: &AtomicBool, mut send: impl FnMut(&[u8])) -> u64 {
    let mut sent = 0;
    while !quiet.load(Ordering::Relaxed) {
        send(&options(&format!("neighbour-{name}-{sent}")));
        sent += 1;
        thread::sleep(Duration::from_millis(1));
    }
    sent
}

#[test]
fn damaged_packets_are_counted_one_by_one() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let mut expected = Expected::default();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(server.udp()).unwrap();
    let mut special = vec![
        b"HEP3\0\0".to_vec(),
        b"HEP3\0\x05".to_vec(),
        vec![0; 65_507],
        vec![1; 65_507],
        b"\r\n".to_vec(),
    ];
    let room = 65_507 - wrap(&envelope(), b"").len();
    let largest = request("MESSAGE", "largest") + &"x".repeat(room);
    special.push(wrap(&envelope(), &largest.as_bytes()[..room]));
    for packet in damaged().into_iter().chain(special) {
        socket.send(&packet).unwrap();
        expected.message(&packet);
        if expected.units % 32 == 0 {
            server.received(expected.units);
        }
    }
    expected.check(&server.settled(expected.units));
    for reason in ["empty", "not_hep", "truncated", "bad_length"] {
        assert!(expected.drops[reason] > 0, "{reason}");
    }
    assert_eq!(server.number("SELECT length(payload) AS n FROM sip WHERE call_id = 'largest'"), room as u64);

    // The same over TCP: as they are, each on its own connection, and framed anew, all on one.
    for packet in damaged() {
        connection(server.tcp(), &packet);
        expected.stream(&packet);
    }
    let stream: Vec<u8> = damaged().iter().filter_map(|packet| framed(packet)).flatten().collect();
    connection(server.tcp(), &stream);
    expected.stream(&stream);
    for nothing in
        [&b"HEP3\0\0"[..], b"HEP3\0\x05rest", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\0\x01", b""]
    {
        connection(server.tcp(), nothing);
        expected.stream(nothing);
    }
    expected.check(&server.settled(expected.units));
    assert!(expected.drops["bad_framing"] > 0 && expected.drops["frame_incomplete"] > 0);
    println!("{expected:?}");
    server.stop().well();
}

#[test]
fn noise_does_not_disturb_the_neighbours() {
    let data = folder();
    // With little memory to fill, more use of it would show soon.
    let little = [
        "--set",
        "hep.tcp_frame_timeout_s=1",
        "--set",
        "memory.budget_mib=32",
        "--set",
        "lake.flush_mib=8",
        "--set",
        "memory.block_kib=256",
    ];
    let mut server = Server::start(data.path(), &little);
    let (quiet, units) = (AtomicBool::new(false), AtomicU64::new(0));
    // These stay open and silent, one before and one inside a frame.
    let silent = TcpStream::connect(server.tcp()).unwrap();
    let mut half = TcpStream::connect(server.tcp()).unwrap();
    half.write_all(&options("half")[..100]).unwrap();
    let (neighbours, halfway, end) = thread::scope(|scope| {
        let good = scope.spawn(|| neighbours(&server, &quiet));
        let slow = scope.spawn(|| byte_by_byte(server.tcp()));
        let tcp = scope.spawn(|| tcp_noise(server.tcp(), &units));
        let halfway = udp_noise(&server, &units);
        tcp.join().unwrap();
        slow.join().unwrap();
        let end = server.memory("VmRSS");
        quiet.store(true, Ordering::Relaxed);
        (good.join().unwrap(), halfway, end)
    });
    println!("memory halfway {} MiB, at the end {} MiB", halfway >> 20, end >> 20);
    assert!(end < halfway + GROWTH && end < MEMORY, "{halfway} {end}");

    // The unfinished frame is given up after its time, the connection that has begun none is not.
    let mut byte = [0];
    half.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    assert!(half.read(&mut byte).is_ok_and(|read| read == 0));
    silent.set_nonblocking(true).unwrap();
    assert_eq!((&silent).read(&mut byte).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);

    let noise = units.load(Ordering::Relaxed);
    let ledger = server.settled(noise + neighbours.0 + neighbours.1 + 2);
    balanced(&ledger);
    assert_eq!(dropped(&ledger, "kernel_buffer"), 0, "{ledger:#}");
    assert_eq!(dropped(&ledger, "frame_incomplete"), 1);
    assert!(dropped(&ledger, "bad_framing") > 0 && dropped(&ledger, "not_hep") > 0);
    for (name, sent) in [("udp", neighbours.0), ("tcp", neighbours.1)] {
        assert!(sent > 100);
        let count =
            format!("SELECT count(DISTINCT call_id) AS n FROM sip WHERE call_id LIKE 'neighbour-{name}-%'");
        assert_eq!(server.number(&count), sent, "{name}");
    }
    assert_eq!(server.number("SELECT count(*) AS n FROM sip WHERE call_id = 'slow'"), 1);
    assert!(server.is_alive());
    server.stop().well();
}

/// A whole packet, a byte at a time; each byte is in time, the whole packet is not.
fn byte_by_byte(address: SocketAddr) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    for byte in options("slow") {
        stream.write_all(&[byte]).unwrap();
        thread::sleep(Duration::from_millis(10));
    }
}

/// Random datagrams. Answers the memory in use when half of them were sent.
fn udp_noise(server: &Server, units: &AtomicU64) -> u64 {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(server.udp()).unwrap();
    let mut random = Random(1);
    let (mut sent, mut count, mut halfway) = (0, 0, 0);
    while sent < NOISE {
        let length = random.range(0, 2_500);
        socket.send(&random.bytes(length)).unwrap();
        sent += length;
        count += 1;
        if count % 16 == 0 {
            // A sender this fast would overflow the small buffers that a plain user gets.
            thread::sleep(Duration::from_micros(100));
        }
        if halfway == 0 && sent >= NOISE / 2 {
            halfway = server.memory("VmRSS");
        }
    }
    units.fetch_add(count, Ordering::Relaxed);
    halfway
}

fn tcp_noise(address: SocketAddr, units: &AtomicU64) {
    let mut random = Random(2);
    let mut sent = 0;
    while sent < NOISE {
        let bytes = random.bytes(256 << 10);
        connection(address, &bytes);
        let mut expected = Expected::default();
        expected.stream(&bytes);
        units.fetch_add(expected.units, Ordering::Relaxed);
        sent += bytes.len();
    }
}

#[test]
fn a_payload_that_inflates_too_far_is_kept_as_it_came() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let bomb = gzip(&vec![b'a'; 16 << 20]);
    let short = gzip(request("OPTIONS", "short").as_bytes());
    let damaged = &short[..short.len() - 20];
    let mut stream = TcpStream::connect(server.tcp()).unwrap();
    for (port, bytes) in [(1, bomb.as_slice()), (2, damaged), (3, b"neither gzip nor deflate".as_slice())] {
        let packed =
            Hep { src_port: Some(port), payload: Some(Payload { bytes, compressed: true }), ..envelope() };
        stream.write_all(&hep::encode(&packed).unwrap()).unwrap();
    }
    let before = server.memory("VmRSS");
    let ledger = server.settled(3);
    balanced(&ledger);
    assert_eq!(ledger["out"]["sip"], 3);
    assert_eq!(noticed(&ledger, "not_inflated"), 3, "{ledger:#}");
    let rows =
        server.sql("SELECT parse_error, octet_length(payload_raw) AS bytes FROM sip ORDER BY src_port");
    assert_eq!(rows[0]["parse_error"], "too_large");
    assert_eq!(rows[0]["bytes"], bomb.len());
    assert_eq!(rows[1]["parse_error"], "bad_compression");
    assert_eq!(rows[2]["parse_error"], "bad_compression");
    assert!(server.memory("VmRSS") < before + (8 << 20) + (64 << 20));
    server.stop().well();
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_wrong_key_is_refused() {
    let data = folder();
    let server = Server::start(data.path(), &["--set", "hep.key=right"]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let send = |key: Option<&[u8]>| {
        let packet = wrap(&Hep { auth_key: key, ..envelope() }, request("OPTIONS", "keyed").as_bytes());
        socket.send_to(&packet, server.udp()).unwrap();
    };
    for key in [None, Some(&b"wrong"[..]), Some(b"righ"), Some(b"rightt"), Some(b"Right"), Some(b"right")] {
        send(key);
    }
    // HEP1 and HEP2 have no room for a key.
    for (_, packet) in &VECTORS[2..] {
        socket.send_to(packet, server.udp()).unwrap();
    }
    let ledger = server.settled(8);
    balanced(&ledger);
    assert_eq!((dropped(&ledger, "auth_missing"), dropped(&ledger, "auth_wrong")), (3, 4), "{ledger:#}");
    let rows = server.sql("SELECT auth FROM sip");
    assert_eq!((rows.len(), &rows[0]["auth"]), (1, &"valid".into()));
    server.stop().well();
}

#[test]
fn connections_beyond_the_limit_are_refused_and_counted() {
    let data = folder();
    let server = Server::start(data.path(), &["--set", "hep.tcp_connections=2", "--shards", "1"]);
    let mut held: Vec<_> = (0..5).map(|_| TcpStream::connect(server.tcp()).unwrap()).collect();
    wait("three refusals", || (dropped(&server.ledger(), "connection_limit") == 3).then_some(()));
    for stream in &mut held[2..] {
        until_closed(stream);
    }
    held[1].write_all(&options("within")).unwrap();
    let ledger = server.settled(4);
    balanced(&ledger);
    assert_eq!((&ledger["in"]["refused"], &ledger["out"]["sip"]), (&3.into(), &1.into()), "{ledger:#}");
    server.stop().well();
}
