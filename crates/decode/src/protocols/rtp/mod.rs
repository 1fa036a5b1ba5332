//! RTP and RTCP (RFC 3550, RFC 3551, RFC 3611).
//!
//! * In: datagrams of a flow that SDP announced, or that look like RTP.
//! * Out: one one-way message for each stream (one source in one direction), when it ends: packets, losses,
//!   order, jitter, and for the codecs that the E-model knows an estimate of how it sounded ([`quality`]). One
//!   one-way message for each RTCP compound.
//! * Owned: the reckoning of each stream; the last sender reports, for the round trip.
//! * Bounded by: [`MAX_STREAMS`] streams a flow; the one that was quiet for longest makes room.
//! * Lost: a stream of a single packet. Other protocols on the same port (STUN, DTLS, ZRTP; RFC 7983) are
//!   passed over.
//!
//! The clock of a dynamic payload type is guessed: the nearest of 8, 16, 32, 48 and 90 kHz to how fast its
//! timestamps go in the first 150 ms. Jitter is counted from then on.

mod packet;
mod quality;
mod rtcp;
mod stream;
#[cfg(test)]
mod tests;

use crate::{
    AfterGap, DecodeError, Decoder, End, Input, Key, Meta, Name, Out, Progress, Role, Shape, Start, Status,
    Verdict, scratch::Scratch,
};
use core::fmt::Write;
use model::{Dir, Nanos, Transport};
use packet::{HEADER, Packet, codec};
use rtcp::Compound;
use stream::Stream;

/// Streams of one flow that are reckoned at a time.
const MAX_STREAMS: usize = 16;

/// A stream that was quiet for this long when another one begins in its direction is over.
const IDLE_NS: i64 = 2_000_000_000;

/// Sender reports that are remembered for each direction.
const SENDER_REPORTS: usize = 4;

/// RTP.
#[derive(Debug)]
pub struct Rtp {
    streams: Vec<Stream>,
    /// Per lane: clocks of the last sender reports and when they passed.
    sent: [[(u32, Nanos); SENDER_REPORTS]; 2],
    next: [usize; 2],
    /// The last round trip, nanoseconds: from here to the receiver and back.
    round_trip: Option<i64>,
}

impl Decoder for Rtp {
    const META: Meta = Meta {
        name: "rtp",
        title: "RTP and RTCP",
        transports: &[Transport::Udp],
        ports: &[],
        probe_bytes: 1_500,
        max_message: 65_536,
        specs: &[
            "https://www.rfc-editor.org/rfc/rfc3550",
            "https://www.rfc-editor.org/rfc/rfc3611",
            "https://www.itu.int/rec/T-REC-G.107",
        ],
        decoded: "Streams with packets, losses, order, jitter and an estimated score; RTCP reports and the round \
                  trip that they tell.",
        not_decoded: "Payloads, feedback messages, what SRTP encrypts.",
    };

    fn open(_: Start) -> Self {
        Self {
            streams: Vec::new(),
            sent: [[(0, Nanos(0)); SENDER_REPORTS]; 2],
            next: [0; 2],
            round_trip: None,
        }
    }

    /// Never sure: only who announced the endpoint can be.
    fn probe(input: &Input<'_>) -> Verdict {
        if input.shape != Shape::Datagram {
            return Verdict::No;
        }
        if rtcp::is_rtcp(input.bytes) {
            let known = Compound::read(input.bytes).is_ok_and(|whole| matches!(whole.kind, 200..=207));
            return if known { Verdict::Likely } else { Verdict::No };
        }
        // Without sources in front and padding behind, as nearly all of it is.
        let plain = matches!(input.bytes, [0x80 | 0x90, ..]);
        let likely = Packet::read(input.bytes).is_ok_and(|packet| {
            let whole = match packet.payload_type {
                // 2.5 ms of samples at a time.
                0 | 8 | 9 => packet.payload % 20 == 0,
                18 => packet.payload % 10 == 0 || packet.payload % 10 == 2,
                kind => codec(kind).is_some() || kind >= 96,
            };
            packet.payload > 0 && packet.ssrc != 0 && whole
        });
        if plain && likely { Verdict::Likely } else { Verdict::No }
    }

    fn decode(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let bytes = input.bytes;
        let whole = bytes.len().saturating_add(input.cut);
        let done = Progress::consumed(bytes.len());
        // What does not have version 2 is another protocol on the same port.
        if bytes.len() < 8 || bytes.first().is_none_or(|first| first >> 6 != 2) {
            return Ok(done);
        }
        if rtcp::is_rtcp(bytes) {
            self.report(input, &Compound::read(bytes)?, out);
            return Ok(done);
        }
        if bytes.len() < HEADER {
            return Ok(done);
        }
        let packet = Packet::read(bytes)?;
        let known = |stream: &&mut Stream| stream.ssrc == packet.ssrc && stream.dir == input.dir;
        match self.streams.iter_mut().find(known) {
            Some(stream) => stream.packet(&packet, whole, input.time),
            None => {
                self.make_room(input.dir, input.time, out);
                let mut stream = Stream::new(input.dir, &packet, input.time);
                stream.packet(&packet, whole, input.time);
                self.streams.push(stream);
            }
        }
        Ok(done)
    }

    fn gap(&mut self, _: Dir, _: u64, _: &mut Out) -> AfterGap {
        AfterGap::Resync
    }

    fn finish(&mut self, _: End, out: &mut Out) {
        for stream in self.streams.drain(..) {
            tell(&stream, self.round_trip, out);
        }
    }
}

impl Rtp {
    /// Tells the streams of a direction that are over, now that another one begins there; and when there are
    /// still too many, the one that was quiet for longest.
    fn make_room(&mut self, dir: Dir, now: Nanos, out: &mut Out) {
        let round_trip = self.round_trip;
        self.streams.retain(|stream| {
            let over = stream.dir == dir && now.0.saturating_sub(stream.last.0) > IDLE_NS;
            if over {
                tell(stream, round_trip, out);
            }
            !over
        });
        if self.streams.len() >= MAX_STREAMS {
            let quietest = self.streams.iter().enumerate().min_by_key(|(_, stream)| stream.last);
            if let Some((at, _)) = quietest {
                tell(&self.streams.swap_remove(at), round_trip, out);
            }
        }
    }

    /// Tells a compound, and the streams that it ends.
    fn report(&mut self, input: &Input<'_>, whole: &Compound, out: &mut Out) {
        let lane = input.dir.index();
        if let Some(sender) = whole.sender {
            let next = self.next.get(lane).copied().unwrap_or_default();
            if let Some(place) = self.sent.get_mut(lane).and_then(|sent| sent.get_mut(next)) {
                *place = (sender.ntp, input.time);
            }
            if let Some(place) = self.next.get_mut(lane) {
                *place = next.saturating_add(1) % SENDER_REPORTS;
            }
        }
        let round_trip = whole.report.and_then(|report| {
            let other = self.sent.get(input.dir.reverse().index())?;
            let (_, passed) = other.iter().find(|(ntp, _)| *ntp == report.last_sr && report.last_sr != 0)?;
            // Delay in 65536ths of a second.
            let held = i64::from(report.delay).saturating_mul(1_000_000_000) >> 16;
            Some(input.time.0.saturating_sub(passed.0).saturating_sub(held)).filter(|trip| *trip >= 0)
        });
        self.round_trip = round_trip.or(self.round_trip);
        let told = out.begin(input, Role::OneWay, Key::Order).label(Name::Operation, rtcp::name(whole.kind));
        let told = told.text(Name::Resource, hex(whole.ssrc).get());
        compound(told, whole, round_trip);
        let bytes = input.bytes.len().saturating_add(input.cut) as u64;
        out.end(input, Role::OneWay, Key::Order, bytes, Status::Unset);
        let byes = whole.byes.get(..whole.leaving).unwrap_or_default();
        let round_trip = self.round_trip;
        self.streams.retain(|stream| {
            let leaves = stream.dir == input.dir && byes.contains(&stream.ssrc);
            if leaves {
                tell(stream, round_trip, out);
            }
            !leaves
        });
    }
}

/// Writes the facts of a compound.
fn compound(told: crate::Message<'_>, whole: &Compound, round_trip: Option<i64>) {
    let mut told = told;
    if let Some(sender) = whole.sender {
        told = told
            .int(Name::Attribute("rtcp.packets"), sender.packets.into())
            .int(Name::Attribute("rtcp.octets"), sender.octets.into());
    }
    if let Some(report) = whole.report {
        told = told
            .text(Name::Attribute("rtcp.about_ssrc"), hex(report.ssrc).get())
            .text(Name::Attribute("rtcp.fraction_lost"), decimal(f64::from(report.fraction) / 256.0).get())
            .int(Name::Attribute("rtcp.lost"), report.lost.into())
            .int(Name::Attribute("rtcp.jitter"), report.jitter.into());
        if whole.reports > 1 {
            told = told.int(Name::Attribute("rtcp.reports"), whole.reports.into());
        }
    }
    if let Some(trip) = round_trip {
        told = told.text(Name::Attribute("rtcp.rtt_ms"), decimal(trip as f64 / 1e6).get());
    }
    if let Some(metrics) = whole.metrics {
        told = told
            .text(Name::Attribute("rtcp.xr.loss_rate"), decimal(f64::from(metrics.loss_rate) / 256.0).get())
            .text(
                Name::Attribute("rtcp.xr.discard_rate"),
                decimal(f64::from(metrics.discard_rate) / 256.0).get(),
            )
            .int(Name::Attribute("rtcp.xr.round_trip_ms"), metrics.round_trip.into())
            .int(Name::Attribute("rtcp.xr.end_delay_ms"), metrics.end_delay.into());
        if let Some(r) = metrics.r_factor {
            told = told.int(Name::Attribute("rtcp.xr.r_factor"), r.into());
        }
        let scores = [("rtcp.xr.mos_lq", metrics.mos_lq), ("rtcp.xr.mos_cq", metrics.mos_cq)];
        for (name, score) in scores {
            if let Some(score) = score {
                told = told.text(Name::Attribute(name), decimal(f64::from(score) / 10.0).get());
            }
        }
    }
    if whole.leaving > 0 {
        told.int(Name::Attribute("rtcp.bye"), i64::try_from(whole.leaving).unwrap_or(0));
    }
}

/// Tells a stream that is over.
fn tell(stream: &Stream, round_trip: Option<i64>, out: &mut Out) {
    if stream.packets < 2 {
        return;
    }
    let known = codec(stream.payload_type);
    let mut resource = Scratch::<8>::new();
    resource.push(b"PT ");
    resource.decimal(stream.payload_type.into());
    let told =
        out.begin_at(stream.dir, stream.first, Role::OneWay, Key::Order).label(Name::Operation, "RTP stream");
    match known {
        Some(codec) => told.label(Name::Resource, codec.name),
        None => told.text(Name::Resource, resource.get()),
    };
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let (lost, expected) = (stream.lost(), stream.expected());
    let percent = if expected == 0 { 0.0 } else { lost as f64 * 100.0 / expected as f64 };
    let mut told = out
        .end_at(stream.dir, stream.last, Role::OneWay, Key::Order, stream.bytes, Status::Unset)
        .text(Name::Attribute("rtp.ssrc"), hex(stream.ssrc).get())
        .int(Name::Attribute("rtp.payload_type"), stream.payload_type.into())
        .int(Name::Attribute("rtp.packets"), number(stream.packets))
        .int(Name::Attribute("rtp.lost"), number(lost))
        .text(Name::Attribute("rtp.lost_percent"), decimal(percent).get())
        .int(Name::Attribute("rtp.out_of_order"), number(stream.misordered))
        .int(Name::Attribute("rtp.duplicates"), number(stream.duplicates))
        .text(Name::Attribute("rtp.max_delta_ms"), decimal(stream.delta_max as f64 / 1e6).get());
    if stream.restarts > 0 {
        told = told.int(Name::Attribute("rtp.restarts"), stream.restarts.into());
    }
    if let Some(clock) = stream.clock {
        told = told.int(Name::Attribute("rtp.clock_hz"), clock.into());
    }
    let Some(jitter) = stream.jitter_mean() else { return };
    told = told
        .text(Name::Attribute("rtp.jitter_ms"), decimal(jitter).get())
        .text(Name::Attribute("rtp.max_jitter_ms"), decimal(stream.jitter_max).get());
    if let Some(impairment) = known.and_then(|codec| codec.impairment) {
        let r = quality::r_factor(impairment, percent, jitter, round_trip.map(|trip| trip as f64 / 1e6));
        told.text(Name::Attribute("rtp.r_factor"), decimal(r).get())
            .text(Name::Attribute("rtp.mos"), decimal(quality::mos(r)).get());
    }
}

/// A source as it is usually written: `0x1234abcd`.
fn hex(ssrc: u32) -> Scratch<10> {
    let mut text = Scratch::new();
    text.push(b"0x");
    text.hex(&ssrc.to_be_bytes());
    text
}

/// A number with three decimals.
fn decimal(number: f64) -> Scratch<32> {
    let mut text = Scratch::new();
    let _ = write!(text, "{number:.3}");
    text
}
