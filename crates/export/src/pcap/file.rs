//! The file around the packets: 24 bytes once, 16 bytes per packet.

use std::io::{self, Write};

use model::Nanos;

/// tcpdump's limit; Wireshark refuses larger packets.
const SNAP_LENGTH: u32 = 262_144;
const ETHERNET: u32 = 1;
const SECOND: i64 = 1_000_000_000;

/// What the fraction of a second counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resolution {
    Micros,
    Nanos,
}

impl Resolution {
    fn magic(self) -> u32 {
        match self {
            Self::Micros => 0xa1b2_c3d4,
            Self::Nanos => 0xa1b2_3c4d,
        }
    }

    /// Whether the format's unsigned 32-bit seconds hold the time.
    pub(super) fn holds(time: Nanos) -> bool {
        u32::try_from(time.0.div_euclid(SECOND)).is_ok()
    }

    /// Seconds and fraction, clamped to what the format holds.
    fn split(self, time: Nanos) -> (u32, u32) {
        let last = i64::from(u32::MAX) * SECOND + SECOND - 1;
        let ns = time.0.clamp(0, last);
        let fraction = u32::try_from(ns % SECOND).unwrap_or_default();
        let seconds = u32::try_from(ns / SECOND).unwrap_or(u32::MAX);
        match self {
            Self::Micros => (seconds, fraction / 1_000),
            Self::Nanos => (seconds, fraction),
        }
    }
}

/// A capture file being written.
pub(super) struct File<'a, W: Write> {
    out: &'a mut W,
    resolution: Resolution,
    packets: u64,
    bytes: u64,
}

impl<'a, W: Write> File<'a, W> {
    /// Writes the file header.
    pub(super) fn start(out: &'a mut W, resolution: Resolution) -> io::Result<Self> {
        let mut header = Vec::with_capacity(24);
        header.extend(resolution.magic().to_le_bytes());
        header.extend(2u16.to_le_bytes());
        header.extend(4u16.to_le_bytes());
        header.extend([0; 8]); // time zone and accuracy: UTC, unused
        header.extend(SNAP_LENGTH.to_le_bytes());
        header.extend(ETHERNET.to_le_bytes());
        out.write_all(&header)?;
        Ok(Self { out, resolution, packets: 0, bytes: 24 })
    }

    /// Writes one packet. `missing` bytes were cut from its end.
    pub(super) fn packet(&mut self, time: Nanos, frame: &[u8], missing: usize) -> io::Result<()> {
        let (seconds, fraction) = self.resolution.split(time);
        let captured = u32::try_from(frame.len()).map_err(io::Error::other)?;
        let original = u32::try_from(frame.len().saturating_add(missing)).unwrap_or(u32::MAX);
        let mut header = [0; 16];
        for (field, value) in header.chunks_exact_mut(4).zip([seconds, fraction, captured, original]) {
            field.copy_from_slice(&value.to_le_bytes());
        }
        self.out.write_all(&header)?;
        self.out.write_all(frame)?;
        self.packets += 1;
        self.bytes += 16 + u64::from(captured);
        Ok(())
    }

    /// Flushes; packets and bytes written.
    pub(super) fn finish(self) -> io::Result<(u64, u64)> {
        self.out.flush()?;
        Ok((self.packets, self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_times_exactly_and_clamps() {
        let time = Nanos(1_700_000_000_123_456_789);
        assert_eq!(Resolution::Nanos.split(time), (1_700_000_000, 123_456_789));
        assert_eq!(Resolution::Micros.split(time), (1_700_000_000, 123_456));
        assert_eq!(Resolution::Nanos.split(Nanos(-1)), (0, 0));
        assert_eq!(Resolution::Nanos.split(Nanos(i64::MAX)), (u32::MAX, 999_999_999));
        assert!(Resolution::holds(time) && !Resolution::holds(Nanos(-1)));
    }
}
