//! The dynamic table of one direction, RFC 7541 §2.3.2 and §4.
//!
//! Entries are counted from the newest, so a table that was joined late is right for all that was inserted
//! since, and knows that it does not know the rest. Of an entry only its size is kept, and its value where
//! that is a field of [`Known`].

use super::names::Known;
use std::collections::VecDeque;

/// The most bytes of a table, by RFC 7541's count of 32 and more an entry: what an encoder puts beyond it is
/// unknown. The default is 4,096; browsers and proxies go up to 65,536.
pub(super) const MAX_TABLE: usize = 65_536;

/// RFC 7541 §4.1: what an entry counts beside its texts.
const ENTRY_OVERHEAD: usize = 32;

/// The size of a table until its encoder says otherwise (RFC 9113 §6.5.2).
const DEFAULT_SIZE: usize = 4_096;

/// Dead bytes in front of the texts that are worth moving the rest.
const COMPACT_BYTES: usize = 4_096;

#[derive(Debug)]
struct Entry {
    known: Known,
    name_len: usize,
    /// By RFC 7541's count.
    size: usize,
    /// Bytes of value in `texts`.
    kept: usize,
    /// Where they begin, counted over all texts ever kept.
    at: u64,
}

/// The dynamic table of one encoder.
#[derive(Debug)]
pub(crate) struct Table {
    /// Newest first.
    entries: VecDeque<Entry>,
    texts: Vec<u8>,
    /// The position of the first byte of `texts` in all texts ever kept.
    base: u64,
    size: usize,
    max: usize,
    /// The largest size that the decoder on the other side has allowed.
    allowed: usize,
    /// Whether entries were inserted that were not seen.
    late: bool,
}

impl Table {
    /// The table of a connection that begins, or of one that is joined.
    pub(crate) fn new(late: bool) -> Self {
        Self {
            entries: VecDeque::new(),
            texts: Vec::new(),
            base: 0,
            size: 0,
            max: DEFAULT_SIZE,
            allowed: DEFAULT_SIZE,
            late,
        }
    }

    /// Entries may have been inserted without being seen: what is older is unknown from now on.
    pub(crate) fn lose(&mut self) {
        self.entries.clear();
        self.texts.clear();
        self.size = 0;
        self.late = true;
    }

    /// Whether entries beyond those that are held may be referred to.
    pub(super) const fn is_late(&self) -> bool {
        self.late
    }

    /// The other side allows a table of `size` bytes (SETTINGS_HEADER_TABLE_SIZE). Blocks written before it
    /// was lowered may still be under way, so the bound only grows.
    pub(crate) fn allow(&mut self, size: usize) {
        self.allowed = self.allowed.max(size);
    }

    /// The encoder uses `size` bytes from now on; `false` when it was not allowed to.
    pub(super) fn resize(&mut self, size: usize) -> bool {
        let known = size > MAX_TABLE;
        if size > self.allowed && !self.late {
            return false;
        }
        // Of a table that is larger than is kept the oldest entries are unknown.
        self.late |= known;
        self.max = size.min(MAX_TABLE);
        self.evict();
        true
    }

    /// The entry that was inserted `nth` from last, from 0: field, bytes of its name, kept value.
    pub(super) fn get(&self, nth: usize) -> Option<(Known, usize, &[u8])> {
        let entry = self.entries.get(nth)?;
        let at = usize::try_from(entry.at.wrapping_sub(self.base)).ok()?;
        Some((entry.known, entry.name_len, self.texts.get(at..at.checked_add(entry.kept)?)?))
    }

    /// The sizes of all entries, newest first.
    #[cfg(test)]
    pub(super) fn sizes(&self) -> Vec<usize> {
        self.entries.iter().map(|entry| entry.size).collect()
    }

    pub(super) fn insert(&mut self, known: Known, name_len: usize, value: &[u8]) {
        let size = name_len.saturating_add(value.len()).saturating_add(ENTRY_OVERHEAD);
        let kept = if known == Known::Other || size > self.max { &[] } else { value };
        let at = self.base.wrapping_add(self.texts.len() as u64);
        self.texts.extend_from_slice(kept);
        self.entries.push_front(Entry { known, name_len, size, kept: kept.len(), at });
        self.size = self.size.saturating_add(size);
        // An entry that is larger than the table empties it (§4.4), this one included.
        self.evict();
    }

    fn evict(&mut self) {
        while self.size > self.max
            && let Some(oldest) = self.entries.pop_back()
        {
            self.size = self.size.saturating_sub(oldest.size);
        }
        let live = self.entries.back().map_or(self.texts.len(), |oldest| {
            usize::try_from(oldest.at.wrapping_sub(self.base)).unwrap_or(0)
        });
        if live > COMPACT_BYTES || self.entries.is_empty() {
            self.texts.drain(..live.min(self.texts.len()));
            self.base = self.base.wrapping_add(live as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_counted_from_the_newest_and_the_oldest_leave() {
        let mut table = Table::new(false);
        for i in 0..10_000u32 {
            table.insert(Known::Path, 5, i.to_string().as_bytes());
            assert_eq!(table.get(0).unwrap().2, i.to_string().as_bytes());
            if i >= 90 {
                assert_eq!(table.get(90).unwrap().2, (i - 90).to_string().as_bytes());
            }
        }
        // 41 bytes an entry.
        assert!(table.get(4_096 / 41 - 1).is_some() && table.get(4_096 / 41).is_none());
        assert!(table.texts.len() < 2 * COMPACT_BYTES, "{}", table.texts.len());
        assert!(table.resize(41) && table.get(0).is_some() && table.get(1).is_none());
        assert!(table.resize(0) && table.get(0).is_none());
        assert!(!table.resize(4_097));
        table.allow(8_192);
        assert!(table.resize(8_192));
        table.insert(Known::Path, 1, &[b'a'; 9_000]);
        assert!(table.get(0).is_none());
    }
}
