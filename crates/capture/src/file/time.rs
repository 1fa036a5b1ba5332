//! Units of time in capture files.

use model::Nanos;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// How long one unit of a timestamp is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resolution {
    /// This many nanoseconds.
    Nanos(u64),
    /// A nanosecond is this many units.
    PerNano(u64),
    /// A second is two to the power of this many units.
    Binary(u8),
}

impl Resolution {
    pub const MICROS: Self = Self::Nanos(1_000);
    pub const NANOS: Self = Self::Nanos(1);

    /// The option `if_tsresol` of pcapng: a power of ten, or of two when the highest bit is set.
    pub const fn from_option(value: u8) -> Self {
        let exponent = value & 0x7f;
        if value & 0x80 != 0 {
            return Self::Binary(exponent);
        }
        if exponent <= 9 {
            return Self::Nanos(10u64.pow(9 - exponent as u32));
        }
        // A unit so short that 64 bits of them are no nanosecond is no time at all.
        match 10u64.checked_pow(exponent as u32 - 9) {
            Some(units) => Self::PerNano(units),
            None => Self::PerNano(u64::MAX),
        }
    }

    /// A number of units since the epoch, `offset` seconds later; saturates at the ends of the range.
    pub fn time(self, units: u64, offset: i64) -> Nanos {
        let nanos = match self {
            Self::Nanos(nanos) => u128::from(units) * u128::from(nanos),
            Self::PerNano(per_nano) => u128::from(units / per_nano),
            Self::Binary(shift) => (u128::from(units) * u128::from(NANOS_PER_SECOND)) >> shift,
        };
        let offset = i128::from(offset) * i128::from(NANOS_PER_SECOND);
        let nanos = i128::try_from(nanos).unwrap_or(i128::MAX).saturating_add(offset);
        Nanos(i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX }))
    }

    /// Seconds and a fraction of them in units, as pcap has them.
    pub fn parts(self, seconds: u32, fraction: u32) -> Nanos {
        let Self::Nanos(nanos) = self else { return Nanos(0) };
        let fraction = i64::from(fraction) * i64::try_from(nanos).unwrap_or(0);
        Nanos(i64::from(seconds) * NANOS_PER_SECOND as i64 + fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_every_length() {
        for (option, units, nanos) in [
            (6, 1_700_000_000_123_456, 1_700_000_000_123_456_000),
            (9, 1_700_000_000_123_456_789, 1_700_000_000_123_456_789),
            (0, 1_700_000_000, 1_700_000_000_000_000_000),
            (3, 1_700_000_000_123, 1_700_000_000_123_000_000),
            (10, 15, 1),
            (12, 1_700_000_000_999, 1_700_000_000),
            (40, u64::MAX - 1, 0),
            (127, u64::MAX - 1, 0),
            (0x80, 3, 3_000_000_000),
            (0x81, 3, 1_500_000_000),
            (0x80 | 20, 1 << 20, 1_000_000_000),
            (0x80 | 32, 0x8000_0000, 500_000_000),
            (0x80 | 127, u64::MAX, 0),
            (0, u64::MAX, i64::MAX),
        ] {
            assert_eq!(Resolution::from_option(option).time(units, 0), Nanos(nanos), "{option:#x}");
        }
        assert_eq!(Resolution::MICROS.time(1, -1), Nanos(-999_999_000));
        assert_eq!(Resolution::MICROS.time(0, i64::MIN), Nanos(i64::MIN));
        assert_eq!(Resolution::NANOS.parts(1, 2), Nanos(1_000_000_002));
        assert_eq!(Resolution::MICROS.parts(u32::MAX, u32::MAX), Nanos(4_294_971_589_967_295_000));
    }
}
