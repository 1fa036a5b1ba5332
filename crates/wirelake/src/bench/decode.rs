//! `bench decode`: messages from bytes to fields, and from bytes to columns, without sockets: on one core and on all, of
//! several sizes and numbers of headers.

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant;

use decode::sip::{self, Known, Message};
use envelope::hep::{self, Hep};
use lake::rows::{Arrival, Payload, RowOptions, Rows};
use mem::counting::allocations;
use mem::pool::Pool;

use super::report::{self, Row};
use super::{INVITE, Settings, messages};

/// Messages per round; short, so that a median over rounds leaves interruptions out.
const ROUND: u32 = 4_096;

/// Runs all cases.
pub fn run(settings: &Settings) -> Vec<Row> {
    let one = [INVITE.to_vec()];
    let heads = [(0, 0), (8, 0), (24, 0), (56, 0)].map(|(more, body)| vec![messages::invite(more, body)]);
    let bodies = [400, 1_400, 3_000].map(|body| vec![messages::invite(0, body)]);
    let mut rows = vec![row(&one, "INVITE, all fields".to_owned(), 1, fields_of(settings, &one))];
    rows.push(row(&one, "INVITE, appended to columns".to_owned(), 1, columns(settings)));
    for message in heads.iter().chain(&bodies) {
        let case = format!("{}, all fields", about(message));
        rows.push(row(message, case, 1, fields_of(settings, message)));
    }
    let mix = messages::mix();
    rows.push(row(&mix, "mixed messages, all fields".to_owned(), 1, fields_of(settings, &mix)));
    rows.push(on_all_cores(settings, &one));
    let bare = time(settings, 1, |_| u64::from(simd_pass(black_box(INVITE)))).0;
    for row in &mut rows {
        let bare = 1e9 / bare * row.shards as f64;
        row.bare_rate_per_s = Some(bare);
        row.ratio = Some(row.rate_per_s / bare);
    }
    rows
}

fn row(messages: &[Vec<u8>], case: String, shards: usize, (ns, allocs): (f64, f64)) -> Row {
    let bytes: usize = messages.iter().map(Vec::len).sum();
    let rate = 1e9 / ns * shards as f64;
    Row {
        bench: "decode",
        case,
        shards,
        messages: u64::from(ROUND),
        ns_per_message: ns,
        allocs_per_message: allocs,
        rate_per_s: rate,
        gbit_per_s: Some(rate * bytes as f64 / messages.len() as f64 * 8.0 / 1e9),
        bare: "one pass over the INVITE that checks it to be UTF-8, on as many cores",
        peak_rss_mib: report::peak_rss_mib(),
        ..Row::default()
    }
}

/// Size and number of headers of a message.
fn about(messages: &[Vec<u8>]) -> String {
    let Some(bytes) = messages.first() else { return String::new() };
    let payload =
        hep::open(bytes).ok().and_then(|packet| packet.payload).map_or(&[][..], |payload| payload.bytes);
    let head = payload.windows(4).position(|at| at == b"\r\n\r\n").unwrap_or(payload.len());
    let lines = payload[..head].iter().filter(|byte| **byte == b'\n').count();
    format!("{} B, {lines} headers", bytes.len())
}

fn fields_of(settings: &Settings, messages: &[Vec<u8>]) -> (f64, f64) {
    let count = messages.len();
    time(settings, count, |at| fields(black_box(messages.get(at).map_or(&[], Vec::as_slice))))
}

/// The same on every core at once: what one message takes on each of them.
fn on_all_cores(settings: &Settings, messages: &[Vec<u8>]) -> Row {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let taken: Vec<(f64, f64)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(|| fields_of(settings, messages))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let mean = |of: fn(&(f64, f64)) -> f64| taken.iter().map(of).sum::<f64>() / taken.len().max(1) as f64;
    row(
        messages,
        "INVITE, all fields, all cores".to_owned(),
        cores,
        (mean(|each| each.0), mean(|each| each.1)),
    )
}

/// Nanoseconds and allocations per message, of so many kinds in turn: the median of rounds.
fn time(settings: &Settings, kinds: usize, mut message: impl FnMut(usize) -> u64) -> (f64, f64) {
    let mut rounds = Vec::new();
    let mut allocated = 0;
    let mut messages = 0u64;
    let began = Instant::now();
    while began.elapsed() < settings.seconds || rounds.len() < 5 {
        let before = allocations();
        let start = Instant::now();
        let mut kind = 0;
        for _ in 0..ROUND {
            black_box(message(kind));
            kind = if kind + 1 < kinds { kind + 1 } else { 0 };
        }
        rounds.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(ROUND));
        allocated += allocations() - before;
        messages += u64::from(ROUND);
    }
    (report::median(rounds), allocated as f64 / messages as f64)
}

fn simd_pass(bytes: &[u8]) -> bool {
    decode::is_utf8(bytes)
}

/// Takes every field that a row needs out of one packet.
fn fields(bytes: &[u8]) -> u64 {
    let mut packet = Hep::default();
    if hep::open_into(bytes, &mut packet).is_err() {
        return 0;
    }
    let Some(payload) = packet.payload else { return 0 };
    let time = packet.time.map(|time| time.normalise(i64::MAX));
    black_box((
        &packet.src,
        &packet.dst,
        packet.src_port,
        packet.dst_port,
        time,
        packet.capture_id,
        packet.correlation_id,
    ));
    let mut message = Message::default();
    match sip::parse_into(payload.bytes, &mut message) {
        Ok(()) => sip_fields(&message),
        Err(_) => 0,
    }
}

fn sip_fields(message: &Message<'_>) -> u64 {
    let text = |part: Option<&[u8]>| {
        black_box(part.and_then(|part| message.text(part))).map_or(0, |text| text.len() as u64)
    };
    let mut sum = text(message.method()) + text(message.reason()) + text(message.ruri_raw());
    for header in [
        Known::CallId,
        Known::Contact,
        Known::ContentType,
        Known::PAssertedIdentity,
        Known::RemotePartyId,
        Known::Diversion,
        Known::Privacy,
        Known::Reason,
        Known::Organization,
        Known::SessionId,
        Known::XRtpStat,
    ] {
        sum += text(message.value(header));
    }
    sum += text(message.user_agent().or_else(|| message.server())) + text(message.auth_username());
    for party in [message.from(), message.to()].into_iter().flatten() {
        sum += text(party.uri.user) + text(party.uri.host) + text(party.tag);
    }
    if let Some(contact) = message.contact() {
        sum += text(contact.uri.user) + text(contact.uri.host);
    }
    if let Some(uri) = message.ruri() {
        sum += text(uri.user) + text(uri.host);
    }
    if let Some(via) = message.hop() {
        sum += text(via.branch) + text(via.host);
    }
    black_box((
        message.code(),
        message.cseq(),
        message.content_length(),
        message.max_forwards(),
        message.expires(),
    ));
    sum
}

/// The same into the columns of a growing batch, views into a block; sealed batches are dropped.
fn columns(settings: &Settings) -> (f64, f64) {
    let mut pool = Pool::new(1 << 20, 4);
    let Some(mut block) = pool.take() else { return (f64::NAN, 0.0) };
    let mut rows = Rows::new(ROUND as usize, RowOptions::default());
    let arrival =
        Arrival { received_ns: i64::MAX / 2, peer: IpAddr::V4(Ipv4Addr::LOCALHOST), key_checked: false };
    block.spare()[..INVITE.len()].copy_from_slice(INVITE);
    block.commit(INVITE.len());
    rows.use_block(&block.share());
    let mut count = 0;
    time(settings, 1, |_| {
        let mut packet = Hep::default();
        if hep::open_into(black_box(block.frozen()), &mut packet).is_err() {
            return 0;
        }
        let payload = packet.payload.map_or(Payload::Missing, |payload| Payload::Plain(payload.bytes));
        rows.append(&packet, payload, &arrival);
        count += 1;
        if count % ROUND == 0 {
            rows.seal(|sealed| drop(black_box(sealed)));
        }
        1
    })
}
