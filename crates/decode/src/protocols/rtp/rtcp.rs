//! Reports about streams: RTCP (RFC 3550 §6) and its extended reports (RFC 3611).
//!
//! * In: one datagram, a compound of packets.
//! * Out: a [`Compound`]: the first report of a sender, the first report about a stream, the first metrics of a
//!   call, who leaves.
//! * Bounded by: the length of the datagram; [`MAX_BYES`] sources that leave.
//! * Lost: the further report blocks of one compound, which are counted.

use crate::{Cursor, DecodeError, What};

/// Sources of one BYE that are looked at; a BYE has at most 31.
const MAX_BYES: usize = 31;

/// Packet types of RFC 3550 §12.1 and later.
const SR: u8 = 200;
const RR: u8 = 201;
const BYE: u8 = 203;
const XR: u8 = 207;

/// What a sender says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sender {
    /// The middle 32 bits of its clock in NTP's format.
    pub ntp: u32,
    pub packets: u32,
    pub octets: u32,
}

/// What a receiver says of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Report {
    pub ssrc: u32,
    /// Lost since the last report, in 256ths.
    pub fraction: u8,
    /// Lost in all; negative when there are duplicates.
    pub lost: i32,
    /// In units of the timestamp.
    pub jitter: u32,
    /// The clock of the last sender report that it got, and how long ago in 65536ths of a second.
    pub last_sr: u32,
    pub delay: u32,
}

/// Metrics of a call (RFC 3611 §4.7), each of which may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Metrics {
    /// In 256ths.
    pub loss_rate: u8,
    pub discard_rate: u8,
    /// Milliseconds.
    pub round_trip: u16,
    pub end_delay: u16,
    pub r_factor: Option<u8>,
    /// In tenths.
    pub mos_lq: Option<u8>,
    pub mos_cq: Option<u8>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Compound {
    /// Type of the first packet.
    pub kind: u8,
    /// Who sends it.
    pub ssrc: u32,
    pub sender: Option<Sender>,
    pub report: Option<Report>,
    /// Report blocks in all.
    pub reports: u32,
    pub metrics: Option<Metrics>,
    /// Sources that leave.
    pub byes: [u32; MAX_BYES],
    pub leaving: usize,
}

/// Whether a datagram is RTCP and not RTP where both come to one port (RFC 5761 §4).
pub(super) const fn is_rtcp(bytes: &[u8]) -> bool {
    matches!(bytes, [first, 192..=223, ..] if *first >> 6 == 2)
}

/// The name of a packet type.
pub(super) const fn name(kind: u8) -> &'static str {
    match kind {
        SR => "RTCP SR",
        RR => "RTCP RR",
        202 => "RTCP SDES",
        BYE => "RTCP BYE",
        204 => "RTCP APP",
        205 => "RTCP RTPFB",
        206 => "RTCP PSFB",
        XR => "RTCP XR",
        _ => "RTCP",
    }
}

impl Compound {
    /// Reads a datagram.
    ///
    /// # Errors
    /// `Truncated`, `BadMagic`: it is no compound of whole packets.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut whole = Self {
            kind: 0,
            ssrc: 0,
            sender: None,
            report: None,
            reports: 0,
            metrics: None,
            byes: [0; MAX_BYES],
            leaving: 0,
        };
        let mut cursor = Cursor::new(bytes);
        let mut first = true;
        while !cursor.is_empty() {
            let at = cursor.at();
            let [flags, kind] = cursor.array::<2>()?;
            if flags >> 6 != 2 {
                return Err(DecodeError::new(What::BadMagic, at));
            }
            let words = cursor.be_u16()?;
            let packet = cursor.sub(usize::from(words).saturating_mul(4))?;
            if core::mem::take(&mut first) {
                whole.kind = kind;
                whole.ssrc = packet.rest().first_chunk().map_or(0, |ssrc| u32::from_be_bytes(*ssrc));
            }
            match kind {
                SR | RR => whole.reports(kind, flags & 31, packet)?,
                BYE => whole.bye(flags & 31, packet)?,
                XR => whole.extended(packet)?,
                _ => {}
            }
        }
        if first { Err(DecodeError::new(What::Empty, 0)) } else { Ok(whole) }
    }

    fn reports(&mut self, kind: u8, count: u8, mut packet: Cursor<'_>) -> Result<(), DecodeError> {
        packet.take(4)?;
        if kind == SR {
            let ntp = u32::try_from(packet.be_u64()? >> 16 & 0xffff_ffff).unwrap_or_default();
            packet.take(4)?;
            self.sender = Some(Sender { ntp, packets: packet.be_u32()?, octets: packet.be_u32()? });
        }
        for _ in 0..count {
            let ssrc = packet.be_u32()?;
            let [fraction, lost @ ..] = packet.array::<4>()?;
            let [a, b, c] = lost;
            // 24 bits with a sign.
            let lost = i32::from_be_bytes([a, b, c, 0]) >> 8;
            packet.take(4)?;
            let (jitter, last_sr, delay) = (packet.be_u32()?, packet.be_u32()?, packet.be_u32()?);
            self.report = self.report.or(Some(Report { ssrc, fraction, lost, jitter, last_sr, delay }));
            self.reports = self.reports.saturating_add(1);
        }
        Ok(())
    }

    fn bye(&mut self, count: u8, mut packet: Cursor<'_>) -> Result<(), DecodeError> {
        for place in self.byes.iter_mut().take(count.into()) {
            *place = packet.be_u32()?;
        }
        self.leaving = count.into();
        Ok(())
    }

    fn extended(&mut self, mut packet: Cursor<'_>) -> Result<(), DecodeError> {
        packet.take(4)?;
        while !packet.is_empty() {
            let [kind, _] = packet.array::<2>()?;
            let words = packet.be_u16()?;
            let block = packet.sub(usize::from(words).saturating_mul(4))?;
            // VoIP metrics: SSRC, four rates, two durations, two delays, levels, R factors, scores.
            if let (7, Some(body)) = (kind, block.rest().first_chunk::<32>()) {
                let known = |value: &u8| (*value != 127).then_some(*value);
                let [_, _, _, _, loss_rate, discard_rate, _, _, _, _, _, _, r0, r1, e0, e1, rest @ ..] = body;
                let [_, _, _, _, r_factor, _, mos_lq, mos_cq, ..] = rest;
                self.metrics = Some(Metrics {
                    loss_rate: *loss_rate,
                    discard_rate: *discard_rate,
                    round_trip: u16::from_be_bytes([*r0, *r1]),
                    end_delay: u16::from_be_bytes([*e0, *e1]),
                    r_factor: known(r_factor),
                    mos_lq: known(mos_lq),
                    mos_cq: known(mos_cq),
                });
            }
        }
        Ok(())
    }
}
