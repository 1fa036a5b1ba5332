//! Writes envelopes.

use super::batch::BATCH;
use crate::protobuf::{
    LEN, Text, bytes_len, int_len, put_bytes, put_double, put_int, put_tag, put_varint, tag, varint_len,
    with_len,
};

/// Writes the fields of one envelope behind what a `Vec` already has.
///
/// Each field is to be written once, each tag with a key of its own, and one message at most. Texts
/// that are not UTF-8 are repaired as [`Text`] says.
#[derive(Debug)]
pub struct Encoder<'o> {
    out: &'o mut Vec<u8>,
    repaired: bool,
}

impl Encoder<'_> {
    /// Writes one entry of an `EnvelopeBatch`: its tag, its length, and the envelope that `fields`
    /// writes, which has about `about` bytes. Returns whether a text had to be repaired.
    #[inline]
    pub fn entry(out: &mut Vec<u8>, about: usize, fields: impl FnOnce(&mut Encoder<'_>)) -> bool {
        with_len(out, BATCH, about, |out| {
            let mut encoder = Encoder { out, repaired: false };
            fields(&mut encoder);
            encoder.repaired
        })
    }

    /// Writes one envelope by itself. Returns whether a text had to be repaired.
    #[inline]
    pub fn envelope(out: &mut Vec<u8>, fields: impl FnOnce(&mut Encoder<'_>)) -> bool {
        let mut encoder = Encoder { out, repaired: false };
        fields(&mut encoder);
        encoder.repaired
    }

    #[inline(always)]
    fn text<'a>(&mut self, bytes: &'a [u8]) -> Text<'a> {
        let text = Text::new(bytes);
        self.repaired |= !text.is_valid();
        text
    }

    #[inline(always)]
    fn put_text(&mut self, number: u32, text: Text<'_>) {
        put_tag(self.out, number, LEN);
        put_varint(self.out, text.len() as u64);
        text.put(self.out);
    }

    #[inline(always)]
    fn put_some_text(&mut self, number: u32, text: Text<'_>) {
        if !text.is_empty() {
            self.put_text(number, text);
        }
    }

    /// Nanoseconds since the epoch.
    #[inline(always)]
    pub fn timestamp(&mut self, timestamp: i64) {
        put_int(self.out, 1, timestamp.cast_unsigned());
    }

    /// What the envelope is about.
    #[inline(always)]
    pub fn source_id(&mut self, id: &[u8]) {
        let id = self.text(id);
        self.put_some_text(2, id);
    }

    /// Which instance of it.
    #[inline(always)]
    pub fn instance_id(&mut self, id: &[u8]) {
        let id = self.text(id);
        self.put_some_text(8, id);
    }

    /// A tag.
    #[inline(always)]
    pub fn tag(&mut self, key: &[u8], value: &[u8]) {
        let (key, value) = (self.text(key), self.text(value));
        self.put_tag(key, value);
    }

    /// A tag with a key that is known to be UTF-8.
    #[inline(always)]
    pub(super) fn known_tag(&mut self, key: &'static str, value: &[u8]) {
        let value = self.text(value);
        self.put_tag(Text::from(key), value);
    }

    #[inline(always)]
    fn put_tag(&mut self, key: Text<'_>, value: Text<'_>) {
        let (key_len, value_len) = (key.len(), value.len());
        let len = key_len.wrapping_add(value_len).wrapping_add(4);
        if let Ok(len @ 0..0x80) = u8::try_from(len)
            && let (Ok(key_len), Ok(value_len)) = (u8::try_from(key_len), u8::try_from(value_len))
        {
            self.out.extend_from_slice(&[const { tag_byte(9) }, len, const { tag_byte(1) }, key_len]);
            key.put(self.out);
            self.out.extend_from_slice(&[const { tag_byte(2) }, value_len]);
            value.put(self.out);
            return;
        }
        put_tag(self.out, 9, LEN);
        put_varint(self.out, bytes_len(1, key.len()).wrapping_add(bytes_len(2, value.len())) as u64);
        self.put_text(1, key);
        self.put_text(2, value);
    }

    /// A tag whose value is several pieces with `between` in between.
    pub fn joined_tag<'a>(
        &mut self,
        key: &[u8],
        pieces: impl Iterator<Item = &'a [u8]> + Clone,
        between: u8,
    ) {
        let key = self.text(key);
        let (mut len, mut count) = (0usize, 0usize);
        for piece in pieces.clone() {
            len = len.wrapping_add(self.text(piece).len());
            count = count.wrapping_add(1);
        }
        len = len.wrapping_add(count.saturating_sub(1));
        put_tag(self.out, 9, LEN);
        put_varint(self.out, bytes_len(1, key.len()).wrapping_add(bytes_len(2, len)) as u64);
        self.put_text(1, key);
        put_tag(self.out, 2, LEN);
        put_varint(self.out, len as u64);
        for (at, piece) in pieces.enumerate() {
            if at > 0 {
                self.out.push(between);
            }
            Text::new(piece).put(self.out);
        }
    }

    /// A line of a log; `kind` is 0 for standard output and 1 for standard error.
    #[inline]
    pub fn log(&mut self, payload: &[u8], kind: i32) {
        let kind = i64::from(kind).cast_unsigned();
        let payload_len = if payload.is_empty() { 0 } else { bytes_len(1, payload.len()) };
        put_tag(self.out, 4, LEN);
        put_varint(self.out, payload_len.wrapping_add(int_len(2, kind)) as u64);
        if !payload.is_empty() {
            put_bytes(self.out, 1, payload);
        }
        put_int(self.out, 2, kind);
    }

    /// A counter.
    #[inline]
    pub fn counter(&mut self, name: &[u8], delta: u64, total: u64) {
        let name = self.text(name);
        let len = some_len(1, name).wrapping_add(int_len(2, delta)).wrapping_add(int_len(3, total));
        put_tag(self.out, 5, LEN);
        put_varint(self.out, len as u64);
        self.put_some_text(1, name);
        put_int(self.out, 2, delta);
        put_int(self.out, 3, total);
    }

    /// A gauge with its metrics: name, unit and value. Names are to be different.
    #[inline]
    pub fn gauge<'a>(&mut self, metrics: impl Iterator<Item = (&'a [u8], &'a [u8], f64)> + Clone) {
        let mut len = 0usize;
        for (name, unit, value) in metrics.clone() {
            let (name, unit) = (self.text(name), self.text(unit));
            len = len.wrapping_add(bytes_len(1, metric_len(name, unit, value)));
        }
        put_tag(self.out, 6, LEN);
        put_varint(self.out, len as u64);
        for (name, unit, value) in metrics {
            let (name, unit) = (Text::new(name), Text::new(unit));
            put_tag(self.out, 1, LEN);
            put_varint(self.out, metric_len(name, unit, value) as u64);
            self.put_text(1, name);
            put_tag(self.out, 2, LEN);
            put_varint(self.out, gauge_value_len(unit, value) as u64);
            self.put_some_text(1, unit);
            if value.to_bits() != 0 {
                put_double(self.out, 2, value);
            }
        }
    }

    /// A timer.
    #[inline]
    pub fn timer(&mut self, name: &[u8], start: i64, stop: i64) {
        let name = self.text(name);
        let (start, stop) = (start.cast_unsigned(), stop.cast_unsigned());
        let len = some_len(1, name).wrapping_add(int_len(2, start)).wrapping_add(int_len(3, stop));
        put_tag(self.out, 7, LEN);
        put_varint(self.out, len as u64);
        self.put_some_text(1, name);
        put_int(self.out, 2, start);
        put_int(self.out, 3, stop);
    }

    /// An event.
    #[inline]
    pub fn event(&mut self, title: &[u8], body: &[u8]) {
        let (title, body) = (self.text(title), self.text(body));
        put_tag(self.out, 10, LEN);
        put_varint(self.out, some_len(1, title).wrapping_add(some_len(2, body)) as u64);
        self.put_some_text(1, title);
        self.put_some_text(2, body);
    }
}

/// The tag of a text or message with a number below 16.
#[allow(clippy::cast_possible_truncation, reason = "it fits")]
const fn tag_byte(number: u32) -> u8 {
    tag(number, LEN) as u8
}

#[inline(always)]
fn some_len(number: u32, text: Text<'_>) -> usize {
    if text.is_empty() { 0 } else { bytes_len(number, text.len()) }
}

#[inline(always)]
fn gauge_value_len(unit: Text<'_>, value: f64) -> usize {
    some_len(1, unit).wrapping_add(if value.to_bits() == 0 { 0 } else { 9 })
}

#[inline(always)]
fn metric_len(name: Text<'_>, unit: Text<'_>, value: f64) -> usize {
    let value = gauge_value_len(unit, value);
    bytes_len(1, name.len()).wrapping_add(1).wrapping_add(varint_len(value as u64)).wrapping_add(value)
}
