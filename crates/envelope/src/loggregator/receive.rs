//! What an agent does with an envelope of version 2 that it receives, before it hands it on.

use std::borrow::Cow;

use super::{
    batch::BATCH,
    distinct::sorted,
    view::{DEPRECATED_TAGS, Envelope, Message, TAGS, Value},
};
use crate::protobuf::{LEN, Reader, VARINT, bytes_len, put_bytes, put_tag, put_varint, tag, with_len};

/// What [`write_received`] wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Bytes that `out` grew by.
    pub bytes: usize,
    /// The envelope had no source id and got its origin as one; the agents count it as
    /// `origin_mappings`.
    pub origin_mapped: bool,
}

/// Writes an envelope as an entry of an `EnvelopeBatch` at the end of `out`, as the agents hand it on:
/// tags of the old form become tags, in place of those with the same key; the tags of `agent` are added
/// where there is none with their key; an empty source id becomes the tag `origin`; and a counter gets
/// the total that `total` says.
///
/// The bytes of the envelope are kept, fields that are not known here among them, and what changes is
/// written behind them: the last value of a field counts. Allocates only for tags of the old form.
pub fn write_received(
    envelope: &Envelope<'_>,
    agent: &[(String, String)],
    total: impl FnOnce(&Envelope<'_>) -> Option<u64>,
    out: &mut Vec<u8>,
) -> Received {
    let begin = out.len();
    let source_id = origin(envelope);
    let about = envelope.bytes().len();
    with_len(out, BATCH, about, |out| {
        let body = out.len();
        let old = sorted(envelope.deprecated_tags());
        if old.is_empty() {
            out.extend_from_slice(envelope.bytes());
        } else {
            move_tags(envelope, &old, out);
        }
        if let Some(id) = &source_id {
            put_bytes(out, 2, id);
        }
        for (key, value) in agent {
            let is_key = |one: &[u8]| one == key.as_bytes();
            let has_old = old.iter().any(|(key, _)| is_key(key));
            if !has_old && !envelope.tags().any(|(key, _)| is_key(key)) {
                put_tag_entry(out, key.as_bytes(), value.as_bytes());
            }
        }
        if matches!(envelope.message, Message::Counter(_)) {
            let total = out.get(body..).and_then(|bytes| total(&Envelope::parse(bytes).ok()?));
            if let Some(total) = total {
                with_len(out, 5, 11, |out| {
                    put_tag(out, 3, VARINT);
                    put_varint(out, total);
                });
            }
        }
    });
    Received { bytes: out.len().saturating_sub(begin), origin_mapped: source_id.is_some() }
}

/// The source id that an envelope without one gets: its tag `origin`, of the new form or of the old.
fn origin<'a>(envelope: &Envelope<'a>) -> Option<&'a [u8]> {
    if !envelope.source_id.is_empty() {
        return None;
    }
    let old = || envelope.deprecated_tags().filter(|(key, _)| *key == b"origin").last();
    envelope.tag(b"origin").or_else(|| {
        old().map(|(_, value)| match value {
            Value::Text(text) => text,
            Value::None | Value::Integer(_) | Value::Decimal(_) => &[],
        })
    })
}

/// Copies the envelope with all of its tags in the new form, each key once.
#[cold]
fn move_tags(envelope: &Envelope<'_>, old: &[(&[u8], Value<'_>)], out: &mut Vec<u8>) {
    let mut fields = Reader::new(envelope.bytes());
    loop {
        let before = fields;
        // The envelope was checked when it was parsed.
        let Ok(Some(found)) = fields.tag() else { break };
        if fields.skip(found).is_err() {
            break;
        }
        let len = before.rest().len().saturating_sub(fields.rest().len());
        if found != TAGS && found != DEPRECATED_TAGS {
            out.extend_from_slice(before.rest().get(..len).unwrap_or_default());
        }
    }
    let new = envelope.tags().map(|(key, value)| (key, Cow::Borrowed(value)));
    for (key, value) in sorted(new.chain(old.iter().map(|(key, value)| (*key, as_text(*value))))) {
        put_tag_entry(out, key, &value);
    }
}

/// A tag of the old form as text: a decimal number in as few digits as tell it from its neighbours.
fn as_text(value: Value<'_>) -> Cow<'_, [u8]> {
    match value {
        Value::None => Cow::Borrowed(&[]),
        Value::Text(text) => Cow::Borrowed(text),
        Value::Integer(number) => Cow::Owned(number.to_string().into_bytes()),
        Value::Decimal(number) => Cow::Owned(match number {
            f64::INFINITY => b"+Inf".to_vec(),
            f64::NEG_INFINITY => b"-Inf".to_vec(),
            _ => number.to_string().into_bytes(),
        }),
    }
}

fn put_tag_entry(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    put_varint(out, const { tag(9, LEN) }.into());
    put_varint(out, bytes_len(1, key.len()).wrapping_add(bytes_len(2, value.len())) as u64);
    put_bytes(out, 1, key);
    put_bytes(out, 2, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loggregator::{Encoder, entries};
    use crate::protobuf::{put_double, put_int};

    fn old_tag(out: &mut Vec<u8>, key: &str, value: impl FnOnce(&mut Vec<u8>)) {
        with_len(out, 3, 0, |out| {
            put_bytes(out, 1, key.as_bytes());
            with_len(out, 2, 0, value);
        });
    }

    fn received(bytes: &[u8], agent: &[(String, String)], total: Option<u64>) -> (Vec<u8>, bool) {
        let mut out = Vec::new();
        let received = write_received(&Envelope::parse(bytes).unwrap(), agent, |_| total, &mut out);
        assert_eq!(received.bytes, out.len());
        (entries(&out).next().unwrap().unwrap().to_vec(), received.origin_mapped)
    }

    #[test]
    fn nothing_to_do() {
        let mut bytes = Vec::new();
        Encoder::envelope(&mut bytes, |out| {
            out.source_id(b"app");
            out.log(b"line", 0);
            out.tag(b"a", b"1");
        });
        let agent = [("a".to_owned(), "2".to_owned())];
        assert_eq!(received(&bytes, &agent, Some(7)), (bytes.clone(), false));
    }

    #[test]
    fn tags_source_and_total() {
        let mut bytes = Vec::new();
        Encoder::envelope(&mut bytes, |out| {
            out.counter(b"requests", 3, 0);
            out.tag(b"origin", b"new");
            out.tag(b"kept", b"1");
        });
        old_tag(&mut bytes, "origin", |out| put_bytes(out, 1, b"old"));
        old_tag(&mut bytes, "number", |out| put_int(out, 2, (-7i64).cast_unsigned()));
        old_tag(&mut bytes, "decimal", |out| put_double(out, 3, 1e21));
        old_tag(&mut bytes, "nothing", |_| {});
        put_bytes(&mut bytes, 99, b"unknown");
        let agent = [("kept".to_owned(), "2".to_owned()), ("added".to_owned(), "3".to_owned())];
        let (bytes, mapped) = received(&bytes, &agent, Some(10));
        let envelope = Envelope::parse(&bytes).unwrap();
        assert!(mapped && envelope.source_id == b"new");
        let tags: Vec<_> =
            envelope.tags().map(|(k, v)| [k, v].map(|s| std::str::from_utf8(s).unwrap())).collect();
        let want = [
            ["decimal", "1000000000000000000000"],
            ["kept", "1"],
            ["nothing", ""],
            ["number", "-7"],
            ["origin", "old"],
            ["added", "3"],
        ];
        assert_eq!(tags, want);
        assert_eq!(envelope.deprecated_tags().count(), 0);
        let Message::Counter(counter) = envelope.message else { panic!("no counter") };
        assert_eq!((counter.name, counter.delta, counter.total), (&b"requests"[..], 3, 10));
        assert!(bytes.windows(7).any(|bytes| bytes == b"unknown"));
    }

    #[test]
    fn the_old_origin_where_there_is_no_new_one() {
        let mut bytes = Vec::new();
        old_tag(&mut bytes, "origin", |out| put_bytes(out, 1, b"old"));
        let (bytes, mapped) = received(&bytes, &[], None);
        assert!(mapped && Envelope::parse(&bytes).unwrap().source_id == b"old");
        assert_eq!(received(&[], &[], None), (Vec::new(), false));
    }
}
