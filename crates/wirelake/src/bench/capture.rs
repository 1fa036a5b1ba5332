//! `bench capture`: generated frames through the whole path into columns, on one thread.
//!
//! The bare path walks over the same frames as a ring's reader must: length, time, and the first cache line of
//! each. Rates are packets per second; processor time and allocations are per roundtrip.

use std::hint::black_box;
use std::time::Instant;

use correlate::Roundtrip;
use flow::{End, Flow};
use lake::rows::CaptureRows;
use mem::counting::allocations;
use model::{Frame, LinkType, Nanos};
use tap::{About, Options, Row as Cells, Sink, Tap};

use super::Settings;
use super::report::{self, Row};

/// Connections of a trace.
const FLOWS: u16 = 64;

/// Roundtrips of each connection.
const ROUNDTRIPS: usize = 16;

/// Payload of one segment at an MTU of 1500.
const MSS: usize = 1_448;

/// Payload of one super-frame on loopback.
const SUPER: usize = 65_483;

/// Control bits (RFC 9293 section 3.1).
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const PSH_ACK: u8 = 0x18;
const FIN_ACK: u8 = 0x11;

/// Rows after which a batch is sealed.
const BATCH_ROWS: usize = 16_384;

/// Runs every case.
pub fn run(settings: &Settings) -> Vec<Row> {
    let body = |length: usize| {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: {length}\r\n\r\n"
        );
        let mut bytes = head.into_bytes();
        bytes.resize(bytes.len() + length, b'x');
        bytes
    };
    let get = |at: usize| {
        format!(
            "GET /items/{at} HTTP/1.1\r\nHost: bench.example\r\nUser-Agent: bench/1\r\nAccept: */*\r\n\r\n"
        )
        .into_bytes()
    };
    let redis = |at: usize| format!("*2\r\n$3\r\nGET\r\n$7\r\nkey:{at:03}\r\n").into_bytes();
    let value = b"$5\r\nvalue\r\n".to_vec();
    let pipeline = |at: usize| redis(at).repeat(16);
    let cases = [
        ("HTTP, 10 KB bodies, MTU 1500", 1, trace(80, MSS, get, |_| body(10_240))),
        ("HTTP, 10 KB bodies, 64 KiB frames", 1, trace(80, SUPER, get, |_| body(10_240))),
        ("HTTP, 128 KB bodies, 64 KiB frames", 1, trace(80, SUPER, get, |_| body(128 << 10))),
        ("Redis GET, one at a time", 1, trace(6379, MSS, redis, |_| value.clone())),
        ("Redis GET, pipelines of 16", 16, trace(6379, MSS, pipeline, |_| value.repeat(16))),
    ];
    cases.into_iter().map(|(case, each, trace)| measure(settings, case, each, &trace)).collect()
}

/// Frames one behind the other.
struct Trace {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Trace {
    fn frames(&self, since: i64) -> impl Iterator<Item = Frame<'_>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).enumerate().map(move |(at, (start, end))| {
            let bytes = self.bytes.get(start..*end).unwrap_or_default();
            Frame {
                time: Nanos(since + at as i64 * 1_000),
                link: LinkType::Raw,
                wire_len: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
                vlan: None,
                bytes,
            }
        })
    }

    /// One IPv4 frame with a TCP segment.
    fn segment(&mut self, ends: (u8, u16, u8, u16), seq: u32, ack: u32, flags: u8, payload: &[u8]) {
        let (src, src_port, dst, dst_port) = ends;
        let total = u16::try_from(40 + payload.len()).unwrap_or(u16::MAX);
        self.bytes.extend([0x45, 0]);
        self.bytes.extend(total.to_be_bytes());
        self.bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 192, 0, 2, src, 192, 0, 2, dst]);
        self.bytes.extend(src_port.to_be_bytes());
        self.bytes.extend(dst_port.to_be_bytes());
        self.bytes.extend(seq.to_be_bytes());
        self.bytes.extend(ack.to_be_bytes());
        self.bytes.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
        self.bytes.extend_from_slice(payload);
        self.ends.push(self.bytes.len());
    }
}

/// Connections of handshake, roundtrips and close, interleaved roundtrip by roundtrip.
fn trace(
    port: u16,
    mss: usize,
    request: impl Fn(usize) -> Vec<u8>,
    response: impl Fn(usize) -> Vec<u8>,
) -> Trace {
    let mut trace = Trace { bytes: Vec::new(), ends: Vec::new() };
    let mut numbers = vec![(1_000u32, 9_000u32); usize::from(FLOWS)];
    let sides = |flow: u16| ((1, 40_000 + flow, 2, port), (2, port, 1, 40_000 + flow));
    for flow in 0..FLOWS {
        let (to, back) = sides(flow);
        trace.segment(to, 999, 0, SYN, &[]);
        trace.segment(back, 8_999, 1_000, SYN | ACK, &[]);
        trace.segment(to, 1_000, 9_000, ACK, &[]);
    }
    for at in 0..ROUNDTRIPS {
        for flow in 0..FLOWS {
            let (to, back) = sides(flow);
            let Some((client, server)) = numbers.get_mut(usize::from(flow)) else { continue };
            for part in request(at).chunks(mss) {
                trace.segment(to, *client, *server, PSH_ACK, part);
                *client = client.wrapping_add(u32::try_from(part.len()).unwrap_or(0));
            }
            for (count, part) in response(at).chunks(mss).enumerate() {
                trace.segment(back, *server, *client, PSH_ACK, part);
                *server = server.wrapping_add(u32::try_from(part.len()).unwrap_or(0));
                if count % 2 == 1 {
                    trace.segment(to, *client, *server, ACK, &[]);
                }
            }
        }
    }
    for (flow, (client, server)) in (0..FLOWS).zip(numbers) {
        let (to, back) = sides(flow);
        trace.segment(to, client, server, FIN_ACK, &[]);
        trace.segment(back, server, client.wrapping_add(1), FIN_ACK, &[]);
        trace.segment(to, client.wrapping_add(1), server.wrapping_add(1), ACK, &[]);
    }
    trace
}

/// Rows into columns, as `serve` makes them; sealed batches are dropped.
#[derive(Debug)]
struct Columns {
    rows: CaptureRows,
    roundtrips: u64,
}

impl Sink for Columns {
    fn roundtrip(&mut self, flow: &Flow, about: &About, roundtrip: &Roundtrip) {
        self.roundtrips += 1;
        self.rows.append(&Cells::Roundtrip(flow, about, roundtrip));
        if self.rows.len() >= BATCH_ROWS {
            self.rows.seal(|sealed| drop(black_box(sealed)));
        }
    }

    fn flow(&mut self, flow: &Flow, about: &About, end: End) {
        self.rows.append(&Cells::Flow(flow, about, end));
    }
}

fn measure(settings: &Settings, case: &str, each: u64, trace: &Trace) -> Row {
    let columns = Columns { rows: CaptureRows::new(BATCH_ROWS), roundtrips: 0 };
    let mut tap = Tap::new(Options::default(), columns);
    let mut since = 0;
    let mut turn = |tap: &mut Tap<Columns>| {
        for frame in trace.frames(since) {
            tap.frame(&frame);
        }
        // Far enough that the next turn's connections are new ones.
        since += trace.ends.len() as i64 * 1_000 + 10_000_000_000;
        tap.tick(Nanos(since));
    };
    turn(&mut tap);
    let (walked, bare) = (walk(settings, trace), tap.sink().roundtrips);
    let (frames, bytes) = (tap.counters().frames, tap.counters().bytes);
    let copied = tap.copied_bytes();
    let before = allocations();
    let cpu = report::thread_cpu_ns();
    let began = Instant::now();
    while began.elapsed() < settings.seconds {
        turn(&mut tap);
    }
    let wall = began.elapsed().as_secs_f64();
    let cpu = report::thread_cpu_ns() - cpu;
    let allocated = allocations() - before;
    let roundtrips = tap.sink().roundtrips - bare;
    let frames = tap.counters().frames - frames;
    let bytes = tap.counters().bytes - bytes;
    let expected = frames / trace.ends.len() as u64 * u64::from(FLOWS) * ROUNDTRIPS as u64 * each;
    let rate = frames as f64 / wall;
    Row {
        bench: "capture",
        case: case.to_owned(),
        shards: 1,
        messages: roundtrips,
        ns_per_message: cpu as f64 / roundtrips.max(1) as f64,
        allocs_per_message: allocated as f64 / roundtrips.max(1) as f64,
        rate_per_s: rate,
        bare_rate_per_s: Some(walked),
        ratio: Some(rate / walked),
        bare: "a walk over the same frames that reads the first cache line of each",
        sent: expected,
        drops: expected.saturating_sub(roundtrips),
        packets_per_message: Some(frames as f64 / roundtrips.max(1) as f64),
        copied_per_byte: Some((tap.copied_bytes() - copied) as f64 / bytes.max(1) as f64),
        peak_rss_mib: report::peak_rss_mib(),
        ..Row::default()
    }
}

/// Frames per second of the bare walk.
fn walk(settings: &Settings, trace: &Trace) -> f64 {
    let began = Instant::now();
    let mut frames = 0u64;
    while began.elapsed() < settings.seconds / 4 {
        for frame in trace.frames(0) {
            let line = frame.bytes.get(..64).unwrap_or(frame.bytes);
            black_box((frame.time, line.iter().map(|byte| u64::from(*byte)).sum::<u64>()));
        }
        frames += trace.ends.len() as u64;
    }
    frames as f64 / began.elapsed().as_secs_f64()
}
