//! Times as people write them.

use jiff::{SignedDuration, Timestamp, civil, tz::TimeZone};

/// Microseconds since the epoch of `2026-11-21T09:00:00Z`, `2026-11-21 09:00` (UTC), `2026-11-21`, or a
/// span before `now` such as `90s`, `15m`, `2h`, `1d`, `2w`; `now` itself is `now`.
///
/// # Errors
/// One sentence with the forms that are understood.
pub fn parse_time(text: &str, now: Timestamp) -> Result<i64, String> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("now") {
        return Ok(now.as_microsecond());
    }
    if let Some(span) = span(text) {
        return Ok(now.checked_sub(span).unwrap_or(Timestamp::MIN).as_microsecond());
    }
    if let Ok(stamp) = text.parse::<Timestamp>() {
        return Ok(stamp.as_microsecond());
    }
    let local = text.parse::<civil::DateTime>().or_else(|_| text.parse::<civil::Date>().map(Into::into));
    match local.map(|local: civil::DateTime| local.to_zoned(TimeZone::UTC)) {
        Ok(Ok(zoned)) => Ok(zoned.timestamp().as_microsecond()),
        _ => Err(format!(
            "`{text}` is no time; write 2026-11-21T09:00:00Z, 2026-11-21, or a span back from now such as 15m, 2h or 1d"
        )),
    }
}

fn span(text: &str) -> Option<SignedDuration> {
    let unit = text.chars().last()?;
    let number: i64 = text.strip_suffix(unit)?.trim().parse().ok().filter(|number| *number >= 0)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    Some(SignedDuration::from_secs(number.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_people_use() {
        let now: Timestamp = "2026-11-21T10:00:00Z".parse().unwrap();
        let at = |text: &str| {
            parse_time(text, now).map(|micros| Timestamp::from_microsecond(micros).unwrap().to_string())
        };
        assert_eq!(at("15m").unwrap(), "2026-11-21T09:45:00Z");
        assert_eq!(at("1d").unwrap(), "2026-11-20T10:00:00Z");
        assert_eq!(at("now").unwrap(), "2026-11-21T10:00:00Z");
        assert_eq!(at("2026-11-21").unwrap(), "2026-11-21T00:00:00Z");
        assert_eq!(at("2026-11-21 09:00").unwrap(), "2026-11-21T09:00:00Z");
        assert_eq!(at("2026-11-21T09:00:00+02:00").unwrap(), "2026-11-21T07:00:00Z");
        for wrong in ["", "m", "yesterday", "-5m", "2026-13-01", "99999999999999999999d"] {
            assert!(at(wrong).is_err(), "{wrong}");
        }
    }
}
