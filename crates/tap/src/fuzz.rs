//! What must hold for any sequence of frames: called by the fuzz target and by a stable test over random
//! input. A function here panics when an invariant is broken.

use crate::{About, Ledger, Options, Row, Sink, SourceTotals, Tap, json};
use correlate::Roundtrip;
use decode::Protocol;
use flow::{End, Flow};
use model::{Frame, LinkType, Nanos, Transport};
use std::time::Duration;

/// Reads the bytes as operations on a small tap. Each is `op, flow, len low, len high`, and `len` bytes of
/// payload where it has one: the next bytes of a lane, repeated ones, ones behind a hole, a datagram, a
/// handshake, an end, time that passes.
///
/// Asserts after each operation that the budgets hold, and at the end that the books balance and that every
/// flow has its row. Twice the same input must give the same rows.
pub fn chain(bytes: &[u8]) {
    let first = run(bytes);
    assert!(first == run(bytes), "the same frames gave other rows");
}

fn options() -> Options {
    let flows = flow::Limits {
        flows: 6,
        opening: Duration::from_secs(3),
        idle: Duration::from_secs(30),
        linger: Duration::from_secs(1),
        udp: Duration::from_secs(6),
        held_bytes: 16_000,
        lane_bytes: 8_000,
        lane_pieces: 16,
        ..flow::Limits::default()
    };
    Options { flows, answer_timeout_ns: 5_000_000_000, ..Options::default() }
}

/// Writes every row down.
#[derive(Debug, Default, PartialEq, Eq)]
struct Rows {
    text: Vec<u8>,
    roundtrips: u64,
    flows: u64,
}

impl Sink for Rows {
    fn roundtrip(&mut self, flow: &Flow, about: &About, roundtrip: &Roundtrip) {
        let answered = roundtrip.outcome == correlate::Outcome::Answered;
        assert!(!answered || (roundtrip.request.is_some() && roundtrip.response.is_some()));
        assert!(roundtrip.duration_ns().is_none_or(|duration| duration >= 0));
        self.roundtrips += 1;
        json::write(&Row::Roundtrip(flow, about, roundtrip), &mut self.text);
        self.text.push(b'\n');
    }

    fn flow(&mut self, flow: &Flow, about: &About, end: End) {
        self.flows += 1;
        json::write(&Row::Flow(flow, about, end), &mut self.text);
        self.text.push(b'\n');
    }
}

/// The place of both lanes of a flow.
#[derive(Debug, Clone, Copy)]
struct Lanes([u32; 2]);

fn run(bytes: &[u8]) -> Rows {
    let options = options();
    let (most, held) = (options.flows.flows as usize, options.flows.held_bytes);
    let mut tap = Tap::new(options, Rows::default());
    let mut flows = [Lanes([u32::MAX - 3_000, 7]); 256];
    let mut now = 1_000_000_000_i64;
    let mut rest = bytes;
    while let Some((&[op, which, low, high], behind)) = rest.split_first_chunk::<4>() {
        let len = usize::from(u16::from_le_bytes([low, high]));
        now += 100_000;
        rest = behind;
        if op & 7 == 7 {
            now += [1_000_000, 60_000_000, 2_000_000_000, 70_000_000_000][len % 4];
            tap.tick(Nanos(now));
            continue;
        }
        let (payload, behind) = behind.split_at_checked(len).unwrap_or((behind, &[]));
        rest = behind;
        let lanes = &mut flows[usize::from(which)];
        let frame = frame(op, which, payload, lanes);
        // A frame may be cut by the capture.
        let kept = if op & 0x40 == 0 { frame.len() } else { frame.len().min(96) };
        let wire_len = u32::try_from(frame.len()).unwrap_or(u32::MAX);
        let bytes = frame.get(..kept).unwrap_or_default();
        tap.frame(&Frame { time: Nanos(now), link: LinkType::Ipv4, wire_len, vlan: None, bytes });
        assert!(tap.held_bytes() <= held && tap.open_flows() <= most);
    }
    tap.finish();
    assert_eq!((tap.held_bytes(), tap.open_flows()), (0, 0));
    let (rows, closed) = (tap.sink().roundtrips, tap.sink().flows);
    let ledger = Ledger::new([&tap.page(SourceTotals::default(), rows)]);
    assert!(ledger.balanced, "{ledger:#?}");
    assert_eq!(closed, ledger.flows.opened);
    tap.into_sink()
}

/// An IPv4 packet. The low bits of `which` say which protocol's port it goes to.
fn frame(op: u8, which: u8, payload: &[u8], lanes: &mut Lanes) -> Vec<u8> {
    let protocol = Protocol::ALL[usize::from(which) % Protocol::ALL.len()].meta();
    let udp = protocol.transports.first() == Some(&Transport::Udp);
    // Half of the flows go to a port that says nothing.
    let usual = protocol.ports.first().copied().filter(|_| which & 0x80 == 0);
    let (client, server) = ([10, 0, 0, which], [192, 0, 2, 1]);
    let (client_port, server_port) = (40_000 + u16::from(which), usual.unwrap_or(20_000));
    let to_client = op & 8 != 0;
    let (from, to) = if to_client { (server, client) } else { (client, server) };
    let ports = if to_client { [server_port, client_port] } else { [client_port, server_port] };
    let header = if udp { 8 } else { 20 };
    let total = u16::try_from(20 + header + payload.len()).unwrap_or(u16::MAX);
    let mut packet = vec![0x45, 0];
    packet.extend(total.to_be_bytes());
    packet.extend([0, 0, 0x40, 0, 64, if udp { 17 } else { 6 }, 0, 0]);
    packet.extend(from);
    packet.extend(to);
    packet.extend(ports.map(u16::to_be_bytes).as_flattened());
    if udp {
        packet.extend((total - 20).to_be_bytes());
        packet.extend([0, 0]);
    } else {
        let Lanes(next) = lanes;
        let own = usize::from(to_client);
        let (seq, flags) = match op & 7 {
            // The next bytes.
            0..=2 => (next[own], 0x10),
            // A hole before them.
            3 => (next[own].wrapping_add(u32::from(op >> 4) * 10 + 1), 0x10),
            // Some that were there.
            4 => (next[own].wrapping_sub(u32::from(op >> 4) * 20), 0x10),
            // A handshake, or the end.
            5 => (next[own].wrapping_sub(1), if to_client { 0x12 } else { 0x02 }),
            _ => (next[own], if op & 0x10 == 0 { 0x11 } else { 0x14 }),
        };
        if op & 7 != 5 {
            let len = u32::try_from(payload.len()).unwrap_or(0);
            let end = seq.wrapping_add(len).wrapping_add(u32::from(flags == 0x11));
            // The place moves on, but not back.
            if end.wrapping_sub(next[own]).cast_signed() > 0 {
                next[own] = end;
            }
        }
        packet.extend(seq.to_be_bytes());
        let lag = if op & 0x20 == 0 { 0 } else { 100 };
        packet.extend(next[1 - own].wrapping_sub(lag).to_be_bytes());
        packet.extend([0x50, flags, 0xFF, 0xFF, 0, 0, 0, 0]);
    }
    packet.extend_from_slice(payload);
    packet
}
