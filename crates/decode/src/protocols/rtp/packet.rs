//! The header of an RTP packet (RFC 3550 §5.1) and the static payload types (RFC 3551 §6).

use crate::{Cursor, DecodeError, What};

/// Bytes of a header without sources and extension.
pub(super) const HEADER: usize = 12;

/// What is used of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packet {
    pub payload_type: u8,
    pub sequence: u16,
    pub timestamp: u32,
    pub ssrc: u32,
    /// Bytes of the payload, without padding.
    pub payload: usize,
}

impl Packet {
    /// Reads the header of a datagram.
    ///
    /// # Errors
    /// `Truncated`; `BadMagic` when the version is not 2; `BadLength` when there is more padding than payload.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(bytes);
        let [flags, kind] = cursor.array::<2>()?;
        if flags >> 6 != 2 {
            return Err(DecodeError::new(What::BadMagic, 0));
        }
        let (sequence, timestamp, ssrc) = (cursor.be_u16()?, cursor.be_u32()?, cursor.be_u32()?);
        cursor.take(usize::from(flags & 15).saturating_mul(4))?;
        if flags & 0x10 != 0 {
            let (_profile, words) = (cursor.be_u16()?, cursor.be_u16()?);
            cursor.take(usize::from(words).saturating_mul(4))?;
        }
        let mut payload = cursor.rest().len();
        if flags & 0x20 != 0 {
            let padding = usize::from(bytes.last().copied().unwrap_or_default());
            payload = payload
                .checked_sub(padding)
                .filter(|_| padding > 0)
                .ok_or(DecodeError::new(What::BadLength, bytes.len()))?;
        }
        Ok(Self { payload_type: kind & 0x7f, sequence, timestamp, ssrc, payload })
    }
}

/// What a payload type stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Codec {
    pub name: &'static str,
    /// Clock rate of the timestamps, Hz.
    pub clock: u32,
    /// Impairment by the codec and robustness against loss (ITU-T G.113 Appendix I), where they are known.
    pub impairment: Option<(f64, f64)>,
}

/// The static assignments; `None` for a type that is dynamic or not assigned.
pub(super) const fn codec(payload_type: u8) -> Option<Codec> {
    // G.711 with packet loss concealment, G.729A, G.723.1 at 6.3 kbit/s, GSM full rate.
    let (name, clock, impairment) = match payload_type {
        0 => ("PCMU", 8_000, Some((0.0, 25.1))),
        3 => ("GSM", 8_000, Some((20.0, 43.0))),
        4 => ("G723", 8_000, Some((15.0, 16.1))),
        5 => ("DVI4", 8_000, None),
        6 => ("DVI4", 16_000, None),
        7 => ("LPC", 8_000, None),
        8 => ("PCMA", 8_000, Some((0.0, 25.1))),
        // The clock of G.722 is 8000 by an error that was kept (RFC 3551 §4.5.2).
        9 => ("G722", 8_000, None),
        10 | 11 => ("L16", 44_100, None),
        12 => ("QCELP", 8_000, None),
        13 => ("CN", 8_000, None),
        14 => ("MPA", 90_000, None),
        15 => ("G728", 8_000, None),
        16 => ("DVI4", 11_025, None),
        17 => ("DVI4", 22_050, None),
        18 => ("G729", 8_000, Some((11.0, 19.0))),
        25 => ("CelB", 90_000, None),
        26 => ("JPEG", 90_000, None),
        28 => ("nv", 90_000, None),
        31 => ("H261", 90_000, None),
        32 => ("MPV", 90_000, None),
        33 => ("MP2T", 90_000, None),
        34 => ("H263", 90_000, None),
        _ => return None,
    };
    Some(Codec { name, clock, impairment })
}
