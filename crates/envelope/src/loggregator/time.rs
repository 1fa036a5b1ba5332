//! Times as text.

use super::decimal::Decimal;

/// Writes nanoseconds since the epoch as `YYYY-MM-DDTHH:MM:SS.ffffff+00:00`: microseconds without the
/// zeros at their end, and no point where none are left.
pub(super) fn put_time(out: &mut Vec<u8>, ns: i64) {
    const DAY: i64 = 86_400;
    let seconds = ns.div_euclid(1_000_000_000);
    let micros = ns.rem_euclid(1_000_000_000) / 1_000;
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = date(days);
    put_digits(out, year, 4);
    for (before, number) in
        [(b'-', month), (b'-', day), (b'T', second / 3_600), (b':', second / 60 % 60), (b':', second % 60)]
    {
        out.push(before);
        put_digits(out, number, 2);
    }
    if micros > 0 {
        out.push(b'.');
        put_digits(out, micros, 6);
        let zeros = out.iter().rev().take_while(|byte| **byte == b'0').count();
        out.truncate(out.len().saturating_sub(zeros));
    }
    out.extend_from_slice(b"+00:00");
}

/// Writes a number in at least `count` digits.
fn put_digits(out: &mut Vec<u8>, number: i64, count: usize) {
    let digits = Decimal::unsigned(number.unsigned_abs());
    let digits = digits.as_bytes();
    out.resize(out.len().saturating_add(count.saturating_sub(digits.len())), b'0');
    out.extend_from_slice(digits);
}

/// Year, month and day of a number of days since the epoch, by the proleptic Gregorian calendar. A year
/// begins in March here, so that the day that comes and goes is the last one.
/// <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>
#[allow(clippy::arithmetic_side_effects, reason = "nanoseconds in 64 bits end in the year 2262")]
const fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + (month <= 2) as i64;
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times() {
        let cases = [
            (0, "1970-01-01T00:00:00+00:00"),
            (12_345_678, "1970-01-01T00:00:00.012345+00:00"),
            (1_745_398_018_763_910_970, "2025-04-23T08:46:58.76391+00:00"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00+00:00"),
            (-1, "1969-12-31T23:59:59.999999+00:00"),
            (i64::MAX, "2262-04-11T23:47:16.854775+00:00"),
            (i64::MIN, "1677-09-21T00:12:43.145224+00:00"),
        ];
        for (ns, want) in cases {
            let mut out = Vec::new();
            put_time(&mut out, ns);
            assert_eq!(std::str::from_utf8(&out).unwrap(), want);
        }
    }
}
