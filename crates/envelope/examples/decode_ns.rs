//! Times the decode path of one message: HEP3, SIP, and every field that a row needs.
//!
//! `cargo run --release -p envelope --example decode_ns [ROUNDS]` prints the least and the median
//! time of a message in nanoseconds, for the parts of the path and for the whole of it. With
//! `--count N [open|parse|all]` it takes N messages through a part and prints nothing, for a profiler
//! that counts instructions (`make instructions`).

use std::{hint::black_box, net::IpAddr, time::Instant};

use decode::sip::{self, Message};
use envelope::hep::{self, Hep};

const INVITE: &[u8] = include_bytes!("../../../tests/vectors/hep3_invite.bin");
const MESSAGES: u32 = 20_000;

/// The columns of a row, borrowed.
#[allow(dead_code, reason = "written, and read by nobody but the optimiser's barrier")]
#[derive(Debug, Default)]
struct Row<'a> {
    src: Option<IpAddr>,
    dst: Option<IpAddr>,
    ports: (Option<u16>, Option<u16>),
    time_ns: i64,
    capture_id: Option<u32>,
    cid: Option<&'a [u8]>,
    method: Option<&'a str>,
    code: Option<u16>,
    reason: Option<&'a str>,
    cseq: Option<u32>,
    call_id: Option<&'a str>,
    from: [Option<&'a str>; 3],
    to: [Option<&'a str>; 3],
    ruri: [Option<&'a str>; 2],
    contact: [Option<&'a str>; 2],
    user_agent: Option<&'a str>,
    via: [Option<&'a str>; 3],
    content_type: Option<&'a str>,
    max_forwards: Option<u32>,
    expires: Option<u32>,
    payload: &'a [u8],
}

fn main() {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("--count") => {
            let count = args.next().and_then(|n| n.parse().ok()).unwrap_or(1000);
            repeat(count, &args.next().unwrap_or_default());
        }
        rounds => {
            let rounds = rounds.and_then(|n| n.parse().ok()).unwrap_or(200);
            let payload = hep::open(INVITE).ok().and_then(|hep| hep.payload).map_or(INVITE, |p| p.bytes);
            println!("{:<24} {:>8} {:>8}", "738 B INVITE", "min ns", "median");
            let mut hep = Hep::default();
            time("hep::open", rounds, || {
                let done = hep::open_into(black_box(INVITE), &mut hep).is_ok();
                black_box(&hep);
                done
            });
            let mut message = Message::default();
            time("sip::parse", rounds, || {
                let done = sip::parse_into(black_box(payload), &mut message).is_ok();
                black_box(&message);
                done
            });
            let mut columns = Row::default();
            time("open + parse + fields", rounds, || {
                let done = row(black_box(INVITE), &mut columns).is_some();
                black_box(&columns);
                done
            });
        }
    }
}

/// Takes `count` messages through a part of the path.
fn repeat(count: u32, part: &str) {
    let payload = hep::open(INVITE).ok().and_then(|hep| hep.payload).map_or(INVITE, |p| p.bytes);
    let (mut hep, mut message, mut columns) = (Hep::default(), Message::default(), Row::default());
    for _ in 0..count {
        let done = match part {
            "open" => hep::open_into(black_box(INVITE), &mut hep).is_ok(),
            "parse" => sip::parse_into(black_box(payload), &mut message).is_ok(),
            _ => row(black_box(INVITE), &mut columns).is_some(),
        };
        assert!(done);
        black_box((&hep, &message, &columns));
    }
}

fn time(name: &str, rounds: usize, mut message: impl FnMut() -> bool) {
    let mut ns: Vec<f64> = (0..rounds.max(1))
        .map(|_| {
            let start = Instant::now();
            for _ in 0..MESSAGES {
                assert!(message());
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(MESSAGES)
        })
        .collect();
    ns.sort_by(f64::total_cmp);
    println!("{name:<24} {:>8.1} {:>8.1}", ns[0], ns[ns.len() / 2]);
}

#[inline(never)]
fn row<'a>(packet: &'a [u8], row: &mut Row<'a>) -> Option<()> {
    let mut hep = Hep::default();
    hep::open_into(packet, &mut hep).ok()?;
    envelope(row, &hep);
    let mut message = Message::default();
    sip::parse_into(row.payload, &mut message).ok()?;
    fields(row, &message);
    Some(())
}

// As a store does it: the columns of the envelope and those of the message are set by functions of
// their own.
#[inline(never)]
fn envelope<'a>(row: &mut Row<'a>, hep: &Hep<'a>) {
    row.src = hep.src;
    row.dst = hep.dst;
    row.ports = (hep.src_port, hep.dst_port);
    row.time_ns = hep.time.map_or(0, |time| time.normalise(1_800_000_000_000_000_000).0);
    row.capture_id = hep.capture_id;
    row.cid = hep.correlation_id;
    row.payload = hep.payload.map_or(&[], |payload| payload.bytes);
}

#[inline(never)]
fn fields<'a>(row: &mut Row<'a>, message: &Message<'a>) {
    let text = |part: Option<&[u8]>| part.and_then(|part| message.text(part));
    row.method = text(message.method());
    row.code = message.code();
    row.reason = text(message.reason());
    row.cseq = message.cseq().map(|cseq| cseq.number);
    row.call_id = text(message.call_id());
    if let Some(from) = message.from() {
        row.from = [text(from.uri.user), text(from.uri.host), text(from.tag)];
    }
    if let Some(to) = message.to() {
        row.to = [text(to.uri.user), text(to.uri.host), text(to.tag)];
    }
    if let Some(uri) = message.ruri() {
        row.ruri = [text(uri.user), text(uri.host)];
    }
    if let Some(contact) = message.contact() {
        row.contact = [text(contact.uri.user), text(contact.uri.host)];
    }
    row.user_agent = text(message.user_agent());
    if let Some(via) = message.hop() {
        row.via = [text(via.branch), text(via.host), text(via.transport)];
    }
    row.content_type = text(message.content_type());
    row.max_forwards = message.max_forwards();
    row.expires = message.expires();
}
