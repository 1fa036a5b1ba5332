//! Time as the product keeps it: nanoseconds since the Unix epoch, UTC.

use std::fmt;

/// Nanoseconds since 1970-01-01T00:00:00Z. Covers the years 1677 to 2262.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanos(pub i64);

impl Nanos {
    /// Whole microseconds, rounded down: the resolution of the lake's `TIMESTAMP`.
    pub const fn micros(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// From microseconds; saturates at the ends of the range.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// Days since the epoch: the value of a `DATE`.
    pub const fn days(self) -> i64 {
        self.0.div_euclid(86_400 * 1_000_000_000)
    }
}

impl fmt::Display for Nanos {
    /// RFC 3339 in UTC with microseconds, as in `2026-11-21T09:41:54.123456Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.micros();
        let (seconds, fraction) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
        let (year, month, day) = civil(seconds.div_euclid(86_400));
        let second = seconds.rem_euclid(86_400);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{fraction:06}Z",
            second / 3_600,
            second / 60 % 60,
            second % 60,
        )
    }
}

/// Days since the epoch to year, month, day (Hinnant, "chrono-compatible low-level date algorithms").
pub fn civil(days: i64) -> (i64, u8, u8) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = u8::try_from(day_of_year - (153 * shifted_month + 2) / 5 + 1).unwrap_or(1);
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, u8::try_from(month).unwrap_or(1), day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_known_instants() {
        assert_eq!(Nanos(0).to_string(), "1970-01-01T00:00:00.000000Z");
        assert_eq!(Nanos(1_700_000_000_123_456_789).to_string(), "2023-11-14T22:13:20.123456Z");
        assert_eq!(Nanos(-1).to_string(), "1969-12-31T23:59:59.999999Z");
        assert_eq!(Nanos(951_782_400_000_000_000).to_string(), "2000-02-29T00:00:00.000000Z");
    }
}
