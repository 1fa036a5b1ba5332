//! A million messages of mixed sizes over TCP, cut anywhere: each is one row, within the memory that is allowed.

mod common;

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use common::packets::{EPOCH, envelope, wrap};
use common::{Random, Server, balanced, folder};
use envelope::hep::RawTime;

const CONNECTIONS: usize = 8;
const EACH: usize = 125_000;
const MESSAGES: u64 = (CONNECTIONS * EACH) as u64;
const MEMORY: u64 = 512 << 20;

#[test]
fn a_million_messages_are_a_million_rows() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let address = server.tcp();
    let started = Instant::now();
    let senders: Vec<_> =
        (0..CONNECTIONS).map(|number| std::thread::spawn(move || send(address, number))).collect();
    let bytes: u64 = senders.into_iter().map(|sender| sender.join().unwrap()).sum();
    let ledger = server.settled(MESSAGES);
    println!("{MESSAGES} messages, {} MB, in {:.1?}", bytes / 1_000_000, started.elapsed());
    balanced(&ledger);
    assert_eq!(ledger["in"]["hep_tcp"], MESSAGES);
    assert_eq!(ledger["out"]["sip"], MESSAGES);
    assert_eq!(ledger["drops_total"], 0, "{ledger:#}");
    println!("most memory while receiving: {} MiB", server.memory("VmHWM") >> 20);
    assert!(server.memory("VmHWM") < MEMORY);

    assert_eq!(server.rows("sip"), MESSAGES);
    let sums = "SELECT approx_count_distinct(call_id) AS about, sum(length(payload))::BIGINT AS bytes, \
                count(*) FILTER (parse_error IS NOT NULL) AS odd, count(DISTINCT src_port) AS connections FROM sip";
    let sums = &server.sql(sums)[0];
    assert_eq!(sums["bytes"], bytes);
    assert_eq!(sums["odd"], 0);
    assert_eq!(sums["connections"], CONNECTIONS);
    // Each connection numbers its messages: equal ends and counts with no repeat leave no gap.
    let runs = "SELECT src_port, count(DISTINCT cseq) AS n, min(cseq) AS low, max(cseq) AS high FROM sip GROUP BY ALL";
    for run in server.sql(runs) {
        assert_eq!((&run["n"], &run["low"], &run["high"]), (&EACH.into(), &1.into(), &EACH.into()), "{run}");
    }
    println!("most memory with queries: {} MiB", server.memory("VmHWM") >> 20);
    assert!(server.memory("VmHWM") < MEMORY);

    let started = Instant::now();
    let ledger = server.stop().well();
    println!("stopped in {:.1?}", started.elapsed());
    assert_eq!(ledger["store"]["durable"], MESSAGES);

    let started = Instant::now();
    let server = Server::start(data.path(), &[]);
    assert_eq!(server.rows("sip"), MESSAGES);
    let restart = started.elapsed();
    println!("restarted and counted in {restart:.1?}");
    assert!(restart < Duration::from_secs(10));
}

/// Sends one connection's messages; answers how many bytes their payloads have.
fn send(address: SocketAddr, number: usize) -> u64 {
    let mut random = Random(number as u64);
    let filler: String = (0..16_384).map(|_| char::from(b"0123456789abcdef"[random.range(0, 16)])).collect();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut hep = envelope();
    hep.src_port = Some(5_000 + u16::try_from(number).unwrap());
    let mut bytes = 0;
    let mut waiting = Vec::new();
    for message in 1..=EACH {
        let micros = u32::try_from(message * CONNECTIONS + number).unwrap();
        hep.time = Some(RawTime { sec: EPOCH + micros / 1_000_000, usec: micros % 1_000_000 });
        let body = match random.range(0, 100) {
            0 => random.range(2_000, 7_500),
            1..10 => random.range(400, 2_000),
            _ => random.range(0, 400),
        };
        let from = random.range(0, filler.len() - body);
        let body = &filler[from..from + body];
        let payload = format!(
            "MESSAGE sip:b SIP/2.0\r\nFrom: <sip:a@x>;tag=1\r\nTo: <sip:b@x>\r\nCall-ID: {number}-{message}\r\nCSeq: {message} MESSAGE\r\n\
             Via: SIP/2.0/UDP h\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        bytes += payload.len() as u64;
        let packet = wrap(&hep, payload.as_bytes());
        // Now and then the stream is cut within the six bytes that say how long the packet is.
        if random.range(0, 256) == 0 {
            let cut = random.range(1, 6);
            waiting.extend_from_slice(&packet[..cut]);
            stream.write_all(&waiting).unwrap();
            waiting.clear();
            waiting.extend_from_slice(&packet[cut..]);
        } else {
            waiting.extend_from_slice(&packet);
        }
        while waiting.len() > 65_536 {
            let most = if random.range(0, 8) == 0 { 16 } else { 40_000 };
            let cut = random.range(1, most) | 1;
            stream.write_all(&waiting[..cut]).unwrap();
            waiting.drain(..cut);
        }
    }
    stream.write_all(&waiting).unwrap();
    bytes
}
