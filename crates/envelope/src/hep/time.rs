//! The capture time of a packet.

/// A time as a packet carries it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawTime {
    /// Seconds, as a rule since 1970-01-01 UTC.
    pub sec: u32,
    /// Microseconds.
    pub usec: u32,
}

/// Where a normalised time comes from. All but [`TimeSource::Packet`] are worth a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeSource {
    /// The packet.
    Packet,
    /// The packet, whose microseconds were 1,000,000 or more and read as 999,999.
    PacketClamped,
    /// The packet, whose seconds counted from 1900 as NTP does.
    PacketNtp,
    /// The receiver: the packet says a time before 2000 or more than a day ahead.
    Received,
}

impl TimeSource {
    /// The source as a label in snake case.
    pub const fn as_str(self) -> &'static str {
        match self {
            TimeSource::Packet => "packet",
            TimeSource::PacketClamped => "packet_clamped",
            TimeSource::PacketNtp => "packet_ntp",
            TimeSource::Received => "received",
        }
    }
}

/// 1970-01-01 in seconds since 1900-01-01 (RFC 5905 §6). Also 2040-01-01 in Unix seconds, from
/// where on a time is taken for one of NTP.
pub(super) const NTP_OFFSET: u32 = 2_208_988_800;
/// 2000-01-01 in Unix seconds: no HEP packet is older.
pub(super) const YEAR_2000: u32 = 946_684_800;
const USEC_LIMIT: u32 = 1_000_000;
const DAY_NS: i64 = 86_400 * 1_000_000_000;

impl RawTime {
    /// Gives the time in nanoseconds since 1970-01-01 UTC, and where it comes from.
    ///
    /// `received_ns` is when the packet arrived, in the same unit. It stands in for a time that is
    /// zero, before 2000, or more than 24 hours later than itself.
    pub fn normalise(self, received_ns: i64) -> (i64, TimeSource) {
        let mut source = TimeSource::Packet;
        let mut usec = self.usec;
        if usec >= USEC_LIMIT {
            usec = USEC_LIMIT.saturating_sub(1);
            source = TimeSource::PacketClamped;
        }
        let mut sec = self.sec;
        if sec > NTP_OFFSET {
            sec = sec.saturating_sub(NTP_OFFSET);
            source = TimeSource::PacketNtp;
        }
        // At most 2^31 s: no overflow in 64 bits.
        let time =
            i64::from(sec).saturating_mul(1_000_000_000).saturating_add(i64::from(usec).saturating_mul(1000));
        if sec < YEAR_2000 || time > received_ns.saturating_add(DAY_NS) {
            return (received_ns, TimeSource::Received);
        }
        (time, source)
    }

    /// Whether both parts make sense by themselves: from 2000 to 2039, below one second.
    #[inline]
    pub(super) const fn is_plausible(self) -> bool {
        self.sec >= YEAR_2000 && self.sec < NTP_OFFSET && self.usec < USEC_LIMIT
    }

    /// Whether the microseconds are below one second.
    #[inline]
    pub(super) const fn is_within_second(self) -> bool {
        self.usec < USEC_LIMIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_700_000_000_000_000_000;

    fn normalise(sec: u32, usec: u32) -> (i64, TimeSource) {
        RawTime { sec, usec }.normalise(NOW)
    }

    #[test]
    fn a_good_time_is_taken() {
        assert_eq!(normalise(1_699_999_999, 5), (1_699_999_999_000_005_000, TimeSource::Packet));
        assert_eq!(normalise(YEAR_2000, 0).1, TimeSource::Packet);
        assert_eq!(normalise(1_700_086_400, 0).1, TimeSource::Packet);
    }

    #[test]
    fn microseconds_are_clamped() {
        assert_eq!(
            normalise(1_699_999_999, 1_000_000),
            (1_699_999_999_999_999_000, TimeSource::PacketClamped)
        );
        assert_eq!(normalise(1_699_999_999, u32::MAX).0, 1_699_999_999_999_999_000);
    }

    #[test]
    fn ntp_seconds_are_converted() {
        assert_eq!(
            normalise(1_699_999_999 + NTP_OFFSET, 7),
            (1_699_999_999_000_007_000, TimeSource::PacketNtp)
        );
    }

    #[test]
    fn no_time_old_time_and_future_are_replaced() {
        for sec in [0, 1, YEAR_2000 - 1, 1_700_086_401, NTP_OFFSET, NTP_OFFSET + 1, u32::MAX] {
            assert_eq!(normalise(sec, 0), (NOW, TimeSource::Received), "{sec}");
        }
        assert_eq!(RawTime { sec: u32::MAX, usec: 0 }.normalise(i64::MAX).1, TimeSource::PacketNtp);
        assert_eq!(RawTime::default().normalise(i64::MIN).0, i64::MIN);
    }
}
