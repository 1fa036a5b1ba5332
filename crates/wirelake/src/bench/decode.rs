//! `bench decode`: one message from bytes to fields, and from bytes to columns, on one thread.

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Instant;

use decode::sip::{self, Known, Message};
use envelope::hep::{self, Hep};
use lake::rows::{Arrival, Payload, RowOptions, Rows};
use mem::counting::allocations;
use mem::pool::Pool;

use super::report::{self, Row};
use super::{INVITE, Settings};

/// Messages per round; short, so that a median over rounds leaves interruptions out.
const ROUND: u32 = 4_096;

/// Runs both cases.
pub fn run(settings: &Settings) -> Vec<Row> {
    let bare = time(settings, || u64::from(simd_pass(black_box(INVITE))));
    let fields = time(settings, || fields(black_box(INVITE)));
    let columns = columns(settings);
    let row = |case: &str, (ns, allocs): (f64, f64)| Row {
        bench: "decode",
        case: case.to_owned(),
        shards: 1,
        messages: u64::from(ROUND),
        ns_per_message: ns,
        allocs_per_message: allocs,
        rate_per_s: 1e9 / ns,
        bare_rate_per_s: Some(1e9 / bare.0),
        ratio: Some(bare.0 / ns),
        bare: "one pass over the bytes that checks them to be UTF-8",
        peak_rss_mib: report::peak_rss_mib(),
        ..Row::default()
    };
    vec![row("HEP3 + SIP, all fields", fields), row("and appended to columns", columns)]
}

/// Nanoseconds and allocations per message: the median of rounds.
fn time(settings: &Settings, mut message: impl FnMut() -> u64) -> (f64, f64) {
    let mut rounds = Vec::new();
    let mut allocated = 0;
    let mut messages = 0u64;
    let began = Instant::now();
    while began.elapsed() < settings.seconds || rounds.len() < 5 {
        let before = allocations();
        let start = Instant::now();
        for _ in 0..ROUND {
            black_box(message());
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
    time(settings, || {
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
