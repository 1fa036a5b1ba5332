//! What was probably meant.

use super::key::{Key, keys};

/// The most alike of the known words, when one is alike enough.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    known
        .into_iter()
        .map(|known| (likeness(&word, &known.to_lowercase()), known))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, known)| known)
}

/// From 0 to 1. A common start counts most; so does a slip of one key in three.
fn likeness(word: &str, known: &str) -> f64 {
    let slips = strsim::damerau_levenshtein(word, known);
    let few = slips <= (known.chars().count() / 3).min(3);
    let alike = strsim::jaro_winkler(word, known);
    if few { alike.max(0.9) } else { alike }
}

/// The key that a wrong name in a section was probably meant for: one of the same section, one
/// written with its section's name (`hep_udp`), or one of another section.
pub(super) fn key_for(section: &str, name: &str) -> Option<&'static Key> {
    let exact = |key: &&Key| name == format!("{}_{}", key.section, key.name);
    if let Some(key) = keys().find(exact) {
        return Some(key);
    }
    if let Some(key) = keys().find(|key| key.name == name) {
        return Some(key);
    }
    let here = keys().filter(|key| key.section == section).map(|key| key.name);
    if let Some(found) = nearest(name, here) {
        return keys().find(|key| key.section == section && key.name == found);
    }
    let found = nearest(name, keys().map(|key| key.name))?;
    keys().find(|key| key.name == found)
}

/// The value in the key's own unit of text with a unit: `32MiB` for a key in bytes is 33554432.
pub(super) fn quantity(text: &str, key: &Key) -> Option<u64> {
    const BYTES: [(&str, u64); 10] = [
        ("b", 1),
        ("k", 1 << 10),
        ("kb", 1_000),
        ("kib", 1 << 10),
        ("m", 1 << 20),
        ("mb", 1_000_000),
        ("mib", 1 << 20),
        ("g", 1 << 30),
        ("gb", 1_000_000_000),
        ("gib", 1 << 30),
    ];
    const TIME: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let unit = unit.trim().to_lowercase();
    let (units, own): (&[(&str, u64)], u64) = match key.unit()? {
        "bytes" => (&BYTES, 1),
        "KiB" => (&BYTES, 1 << 10),
        "MiB" => (&BYTES, 1 << 20),
        "milliseconds" => (&TIME, 1),
        "seconds" => (&TIME, 1_000),
        _ => return unit.is_empty().then_some(number),
    };
    if unit.is_empty() {
        return Some(number);
    }
    let scale = units.iter().find(|(known, _)| *known == unit)?.1;
    Some(number.checked_mul(scale)? / own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::key;

    #[test]
    fn finds_what_was_meant() {
        let meant = |section, name| key_for(section, name).map(Key::path).unwrap_or_default();
        assert_eq!(meant("hep", "hep_udp"), "hep.udp");
        assert_eq!(meant("hep", "upd"), "hep.udp");
        assert_eq!(meant("hep", "rcvbuf"), "hep.rcvbuf_bytes");
        assert_eq!(meant("hep", "token"), "api.token");
        assert_eq!(meant("lake", "flush_seconds"), "lake.flush_s");
        assert_eq!(meant("lake", "zzz"), "");
    }

    #[test]
    fn converts_into_the_keys_unit() {
        let value = |text, path| quantity(text, key(path).unwrap());
        assert_eq!(value("32MiB", "hep.rcvbuf_bytes"), Some(33_554_432));
        assert_eq!(value("1 GiB", "memory.budget_mib"), Some(1_024));
        assert_eq!(value("2m", "hep.tcp_frame_timeout_s"), Some(120));
        assert_eq!(value("1s", "lake.seal_ms"), Some(1_000));
        assert_eq!(value("many", "lake.seal_ms"), None);
        assert_eq!(value("65536", "lake.seal_rows"), Some(65_536));
    }
}
