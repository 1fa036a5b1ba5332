//! The reckoning of one stream: one source in one direction.
//!
//! * In: packets as they arrive.
//! * Out: packets, bytes, losses, order, jitter.
//! * Lost: the jitter of a dynamic payload type up to the packet from which its clock is known; packets that
//!   arrive later than [`WINDOW`] behind the newest count as out of order, whether seen or not.

use super::packet::{Packet, codec};
use model::{Dir, Nanos};

/// A jump ahead of this many packets is a restart (RFC 3550 A.1, MAX_DROPOUT).
const MAX_DROPOUT: u16 = 3_000;

/// A packet this far behind is late; further behind it is a restart (RFC 3550 A.1, MAX_MISORDER).
const MAX_MISORDER: u16 = 100;

/// How many of the last sequence numbers are remembered, to tell duplicates.
const WINDOW: u16 = 128;

/// How long the timestamps of a dynamic payload type are watched before their clock is guessed.
const GUESS_NS: i64 = 150_000_000;

/// The payload type of pauses (RFC 3389).
const COMFORT_NOISE: u8 = 13;

/// Clock rates that a guess may have: those of the audio and video codecs in use.
const CLOCKS: [u32; 5] = [8_000, 16_000, 32_000, 48_000, 90_000];

/// See the module.
#[derive(Debug)]
pub(super) struct Stream {
    pub dir: Dir,
    pub ssrc: u32,
    pub payload_type: u8,
    pub first: Nanos,
    pub last: Nanos,
    pub packets: u64,
    /// Bytes of datagrams.
    pub bytes: u64,
    pub duplicates: u64,
    pub misordered: u64,
    /// Jumps of the sequence that are taken for a restart of the sender.
    pub restarts: u32,
    /// Packets expected before the last restart.
    expected_before: u64,
    base: u16,
    highest: u16,
    cycles: u32,
    /// Bit n: the packet n behind the highest was seen.
    seen: u128,
    /// The highest sequence number after which another restart is taken for one.
    bad: Option<u16>,
    /// Hz; `None` while it is not known.
    pub clock: Option<u32>,
    /// Timestamp and arrival of the packet in front, of the same payload type.
    before: Option<(u32, Nanos)>,
    /// The same of the first packet, for the guess.
    origin: (u32, Nanos),
    jitter: f64,
    jitter_sum: f64,
    jitter_count: u64,
    /// Milliseconds.
    pub jitter_max: f64,
    /// Longest time between two packets, nanoseconds.
    pub delta_max: i64,
}

impl Stream {
    pub(super) fn new(dir: Dir, packet: &Packet, time: Nanos) -> Self {
        Self {
            dir,
            ssrc: packet.ssrc,
            payload_type: packet.payload_type,
            first: time,
            last: time,
            packets: 0,
            bytes: 0,
            duplicates: 0,
            misordered: 0,
            restarts: 0,
            expected_before: 0,
            base: packet.sequence,
            highest: packet.sequence.wrapping_sub(1),
            cycles: 0,
            seen: 0,
            bad: None,
            clock: codec(packet.payload_type).map(|codec| codec.clock),
            before: None,
            origin: (packet.timestamp, time),
            jitter: 0.0,
            jitter_sum: 0.0,
            jitter_count: 0,
            jitter_max: 0.0,
            delta_max: 0,
        }
    }

    /// Takes in a packet whose datagram has `bytes` bytes.
    pub(super) fn packet(&mut self, packet: &Packet, bytes: usize, time: Nanos) {
        if self.packets > 0 {
            self.delta_max = self.delta_max.max(time.0.saturating_sub(self.last.0));
        }
        self.packets = self.packets.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes as u64);
        self.last = time;
        if self.sequence(packet.sequence) {
            self.timing(packet, time);
        }
    }

    /// Follows the sequence number; whether the packet is a new one.
    fn sequence(&mut self, sequence: u16) -> bool {
        let ahead = sequence.wrapping_sub(self.highest);
        let behind = self.highest.wrapping_sub(sequence);
        if ahead != 0 && ahead < MAX_DROPOUT {
            if sequence < self.highest && self.packets > 1 {
                self.cycles = self.cycles.saturating_add(1);
            }
            self.highest = sequence;
            self.seen = self.seen.checked_shl(ahead.into()).unwrap_or(0) | 1;
            self.bad = None;
            return true;
        }
        if behind < MAX_MISORDER {
            let bit = 1u128.checked_shl(behind.into()).unwrap_or(0);
            if behind < WINDOW && self.seen & bit != 0 {
                self.duplicates = self.duplicates.saturating_add(1);
                return false;
            }
            self.seen |= bit;
            self.misordered = self.misordered.saturating_add(1);
            if u64::from(behind) >= self.expected().saturating_sub(self.expected_before) {
                // It was sent before the first that came.
                self.cycles = self.cycles.saturating_add((sequence > self.base).into());
                self.base = sequence;
            }
            return true;
        }
        // Two in a row from there are a restart; one alone is a stray.
        if self.bad == Some(sequence) {
            self.expected_before = self.expected().saturating_add(1);
            self.restarts = self.restarts.saturating_add(1);
            (self.base, self.highest) = (sequence, sequence);
            (self.cycles, self.seen, self.bad) = (0, 1, None);
            self.before = None;
            return true;
        }
        self.bad = Some(sequence.wrapping_add(1));
        self.misordered = self.misordered.saturating_add(1);
        false
    }

    /// Interarrival jitter (RFC 3550 A.8), in milliseconds.
    fn timing(&mut self, packet: &Packet, time: Nanos) {
        if self.payload_type == COMFORT_NOISE && packet.payload_type != COMFORT_NOISE {
            // It began with a pause.
            self.payload_type = packet.payload_type;
            self.clock = codec(packet.payload_type).map(|codec| codec.clock);
            self.origin = (packet.timestamp, time);
        }
        if packet.payload_type != self.payload_type {
            // Comfort noise and telephone events keep a time of their own.
            self.before = None;
            return;
        }
        let Some(clock) = self.clock else {
            self.guess(packet.timestamp, time);
            self.before = Some((packet.timestamp, time));
            return;
        };
        if let Some((timestamp, arrival)) = self.before {
            let sent = f64::from(packet.timestamp.wrapping_sub(timestamp).cast_signed()) * 1_000.0
                / f64::from(clock);
            let came = time.0.saturating_sub(arrival.0) as f64 / 1e6;
            self.jitter += ((came - sent).abs() - self.jitter) / 16.0;
            self.jitter_sum += self.jitter;
            self.jitter_count = self.jitter_count.saturating_add(1);
            self.jitter_max = self.jitter_max.max(self.jitter);
        }
        self.before = Some((packet.timestamp, time));
    }

    /// Guesses the clock as the usual one that is nearest to how fast the timestamps go.
    fn guess(&mut self, timestamp: u32, time: Nanos) {
        let (first, since) = self.origin;
        let elapsed = time.0.saturating_sub(since.0);
        let advance = timestamp.wrapping_sub(first).cast_signed();
        if elapsed < GUESS_NS || advance <= 0 {
            return;
        }
        let rate = f64::from(advance) * 1e9 / elapsed as f64;
        let distance = |clock: u32| (rate / f64::from(clock)).ln().abs();
        self.clock = CLOCKS.into_iter().min_by(|a, b| distance(*a).total_cmp(&distance(*b)));
    }

    /// How many packets were sent, by their numbers.
    pub(super) fn expected(&self) -> u64 {
        let highest = u64::from(self.cycles) << 16 | u64::from(self.highest);
        highest.saturating_add(1).saturating_sub(self.base.into()).saturating_add(self.expected_before)
    }

    /// How many of them did not come.
    pub(super) fn lost(&self) -> u64 {
        self.expected().saturating_sub(self.packets.saturating_sub(self.duplicates))
    }

    /// Mean of the jitter, milliseconds; `None` when it was never known.
    pub(super) fn jitter_mean(&self) -> Option<f64> {
        (self.jitter_count > 0).then(|| self.jitter_sum / self.jitter_count as f64)
    }
}
