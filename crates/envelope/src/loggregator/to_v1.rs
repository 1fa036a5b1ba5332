//! Version 2 back to version 1, as `conversion.ToV1` of `go-loggregator`.

use std::borrow::Cow;

use super::{
    distinct::{Distinct, sorted},
    view::{Envelope, Gauge, Log, Message, Timer, Value},
};
use crate::{
    dropsonde::{Uuid, event_type, method, peer_type},
    protobuf::{VARINT, put_bytes, put_double, put_tag, put_varint, with_len},
};

/// Tags that are fields in version 1.
const FIELDS: [&[u8]; 6] = [b"__v1_type", b"origin", b"deployment", b"job", b"index", b"ip"];

const HTTP_FIELDS: [&[u8]; 10] = [
    b"peer_type",
    b"method",
    b"request_id",
    b"uri",
    b"remote_address",
    b"user_agent",
    b"status_code",
    b"content_length",
    b"routing_instance_id",
    b"forwarded",
];

/// The names that make a gauge a container metric.
const CONTAINER: [&[u8]; 5] = [b"cpu", b"memory", b"disk", b"memory_quota", b"disk_quota"];

/// Gives `each` the envelopes of version 1 that an envelope becomes: one, for a gauge that is no
/// container metric one for each of its values, and none for an event or for an envelope without a
/// message. Returns how many.
///
/// Tags come in the order of their keys, then `instance_id` and `source_id`. Where a timer has no request id that is a UUID, it is zero:
/// the reference makes an envelope then that cannot be marshalled. `scratch` is overwritten; memory is
/// allocated for the tags.
pub fn to_v1(envelope: &Envelope<'_>, scratch: &mut Vec<u8>, mut each: impl FnMut(&[u8])) -> usize {
    let tags = Tags::new(envelope);
    let mut count = 0usize;
    let mut make = |event_type: i32, drop: &[&[u8]], number: u32, body: &dyn Fn(&mut Vec<u8>)| {
        scratch.clear();
        tags.put(envelope, event_type, drop, scratch);
        with_len(scratch, number, envelope.bytes().len(), |out| body(out));
        each(scratch);
        count = count.saturating_add(1);
    };
    match &envelope.message {
        Message::None | Message::Event(_) => {}
        Message::Log(log) if &*tags.field(b"__v1_type") == b"Error" => {
            make(event_type::ERROR, &[b"source", b"code"], 11, &|out| {
                put_bytes(out, 1, &tags.field(b"source"));
                put_int(out, 2, low_bits(number(&tags.field(b"code"))).into());
                put_bytes(out, 3, log.payload);
            });
        }
        Message::Log(log) => {
            make(event_type::LOG_MESSAGE, &[b"source_type"], 8, &|out| log_body(envelope, &tags, log, out));
        }
        Message::Counter(counter) => make(event_type::COUNTER_EVENT, &[], 10, &|out| {
            put_bytes(out, 1, counter.name);
            put_unsigned(out, 2, counter.delta);
            put_unsigned(out, 3, counter.total);
        }),
        Message::Timer(timer) => {
            make(event_type::HTTP_START_STOP, &HTTP_FIELDS, 7, &|out| http_body(envelope, &tags, timer, out));
        }
        Message::Gauge(gauge) => match container(envelope, gauge) {
            Some(container) => {
                make(event_type::CONTAINER_METRIC, &[], 12, &|out| container.put(envelope, out));
            }
            None => {
                for (name, (unit, value)) in Distinct::new(gauge.by_name()) {
                    make(event_type::VALUE_METRIC, &[], 9, &|out| {
                        put_bytes(out, 1, name);
                        put_double(out, 2, value);
                        put_bytes(out, 3, unit);
                    });
                }
            }
        },
    }
    count
}

fn put_unsigned(out: &mut Vec<u8>, number: u32, value: u64) {
    put_tag(out, number, VARINT);
    put_varint(out, value);
}

fn put_int(out: &mut Vec<u8>, number: u32, value: i64) {
    put_unsigned(out, number, value.cast_unsigned());
}

/// The tags of both forms as text.
struct Tags<'a> {
    /// As fields are read: those of the old form count only where there is none of the new one.
    fields: Vec<(&'a [u8], Cow<'a, [u8]>)>,
    /// As tags are copied: those of the old form replace those of the new one.
    copied: Vec<(&'a [u8], Cow<'a, [u8]>)>,
}

impl<'a> Tags<'a> {
    fn new(envelope: &Envelope<'a>) -> Self {
        let new = envelope.tags().map(|(key, value)| (key, Cow::Borrowed(value)));
        // Of a key of the old form that comes again the last one counts, even where it has no value.
        let old = sorted(envelope.deprecated_tags());
        let field = |value: Value<'a>| as_text(value).unwrap_or_default();
        let fields = old.iter().map(|(key, value)| (*key, field(*value))).chain(new.clone());
        let copied = old.iter().filter_map(|(key, value)| Some((*key, as_text(*value)?)));
        Self { fields: sorted(fields), copied: sorted(new.chain(copied)) }
    }

    /// The value of a tag that is a field in version 1; empty where it is not there.
    fn field(&self, key: &[u8]) -> Cow<'a, [u8]> {
        match self.fields.binary_search_by(|(one, _)| (*one).cmp(key)) {
            Ok(at) => self.fields.get(at).map(|(_, value)| value.clone()).unwrap_or_default(),
            Err(_) => Cow::Borrowed(&[]),
        }
    }

    /// Writes the fields that every envelope has, and the tags without those named in `drop`.
    fn put(&self, envelope: &Envelope<'_>, event_type: i32, drop: &[&[u8]], out: &mut Vec<u8>) {
        put_bytes(out, 1, &self.field(b"origin"));
        put_int(out, 2, event_type.into());
        put_int(out, 6, envelope.timestamp);
        for (number, key) in [(13, b"deployment".as_slice()), (14, b"job"), (15, b"index"), (16, b"ip")] {
            put_bytes(out, number, &self.field(key));
        }
        let has_instance_tag = matches!(event_type, event_type::COUNTER_EVENT | event_type::VALUE_METRIC);
        let ids = [
            (b"instance_id".as_slice(), envelope.instance_id, has_instance_tag),
            (b"source_id", envelope.source_id, true),
        ];
        let ids = ids.map(|(key, id, when)| (key, Some(id).filter(|id| when && !id.is_empty())));
        for (key, value) in &self.copied {
            let replaced = ids.iter().any(|(id, value)| id == key && value.is_some());
            if !replaced && !drop.contains(key) && !FIELDS.contains(key) {
                put_entry(out, key, value);
            }
        }
        for (key, id) in ids {
            if let Some(id) = id {
                put_entry(out, key, id);
            }
        }
    }
}

fn put_entry(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    with_len(out, 17, key.len().saturating_add(value.len()).saturating_add(4), |out| {
        put_bytes(out, 1, key);
        put_bytes(out, 2, value);
    });
}

/// A tag of the old form as text; a decimal number with six places, as `%f` has it.
fn as_text(value: Value<'_>) -> Option<Cow<'_, [u8]>> {
    match value {
        Value::None => None,
        Value::Text(text) => Some(Cow::Borrowed(text)),
        Value::Integer(number) => Some(Cow::Owned(number.to_string().into_bytes())),
        Value::Decimal(number) => Some(Cow::Owned(match number {
            _ if number.is_nan() => b"NaN".to_vec(),
            f64::INFINITY => b"+Inf".to_vec(),
            f64::NEG_INFINITY => b"-Inf".to_vec(),
            _ => format!("{number:.6}").into_bytes(),
        })),
    }
}

fn log_body(envelope: &Envelope<'_>, tags: &Tags<'_>, log: &Log<'_>, out: &mut Vec<u8>) {
    put_bytes(out, 1, log.payload);
    put_int(out, 2, if log.kind == 0 { 1 } else { 2 });
    put_int(out, 3, envelope.timestamp);
    put_bytes(out, 4, envelope.source_id);
    put_bytes(out, 5, &tags.field(b"source_type"));
    put_bytes(out, 6, envelope.instance_id);
}

fn http_body(envelope: &Envelope<'_>, tags: &Tags<'_>, timer: &Timer<'_>, out: &mut Vec<u8>) {
    put_int(out, 1, timer.start);
    put_int(out, 2, timer.stop);
    put_uuid(out, 3, uuid(&tags.field(b"request_id")).unwrap_or_default());
    put_int(out, 4, peer_type(&tags.field(b"peer_type")).unwrap_or(0).into());
    put_int(out, 5, method(&tags.field(b"method")).unwrap_or(0).into());
    put_bytes(out, 6, &tags.field(b"uri"));
    put_bytes(out, 7, &tags.field(b"remote_address"));
    put_bytes(out, 8, &tags.field(b"user_agent"));
    put_int(out, 9, low_bits(number(&tags.field(b"status_code"))).into());
    put_int(out, 10, number(&tags.field(b"content_length")));
    if let Some(id) = uuid(envelope.source_id) {
        put_uuid(out, 12, id);
    }
    put_int(out, 13, index(envelope.instance_id).into());
    put_bytes(out, 14, &tags.field(b"routing_instance_id"));
    for hop in tags.field(b"forwarded").split(|byte| *byte == b'\n') {
        put_bytes(out, 15, hop);
    }
}

fn put_uuid(out: &mut Vec<u8>, number: u32, uuid: Uuid) {
    with_len(out, number, 22, |out| {
        put_unsigned(out, 1, uuid.low);
        put_unsigned(out, 2, uuid.high);
    });
}

/// The UUID of a text of 36 bytes; what stands between its groups does not matter.
fn uuid(text: &[u8]) -> Option<Uuid> {
    const GROUPS: [core::ops::Range<usize>; 5] = [0..8, 9..13, 14..18, 19..23, 24..36];
    if text.len() != 36 {
        return None;
    }
    let mut bytes = [0; 16];
    let mut places = bytes.iter_mut();
    for group in GROUPS {
        for pair in text.get(group)?.chunks_exact(2) {
            let [high, low] = *pair else { return None };
            *places.next()? = nibble(high)? << 4 | nibble(low)?;
        }
    }
    let (low, high) = bytes.split_first_chunk()?;
    Some(Uuid { low: u64::from_le_bytes(*low), high: u64::from_le_bytes(*high.first_chunk()?) })
}

fn nibble(digit: u8) -> Option<u8> {
    u8::try_from(char::from(digit).to_digit(16)?).ok()
}

/// A decimal number, 0 where it is none.
fn number(text: &[u8]) -> i64 {
    core::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The index of an instance, 0 where its id is no number of 32 bits.
fn index(id: &[u8]) -> i32 {
    i32::try_from(number(id)).unwrap_or(0)
}

#[allow(clippy::cast_possible_truncation, reason = "the reference does not look at the high bits")]
const fn low_bits(number: i64) -> i32 {
    number as i32
}

struct Container {
    index: i32,
    values: [f64; 5],
}

/// The values of a gauge that has all five of a container, each with a unit or not zero.
fn container(envelope: &Envelope<'_>, gauge: &Gauge<'_>) -> Option<Container> {
    let mut values = [None; 5];
    let (mut index_value, mut many) = (None, false);
    let mut first = None;
    for (name, unit, value) in gauge.metrics() {
        many |= first.get_or_insert(name) != &name;
        if name == b"instance_index" {
            index_value = Some(value);
        }
        if let Some(place) = CONTAINER.iter().zip(&mut values).find(|(one, _)| **one == name) {
            *place.1 = Some(value).filter(|value| !unit.is_empty() || *value != 0.0);
        }
    }
    let [Some(cpu), Some(memory), Some(disk), Some(memory_quota), Some(disk_quota)] = values else {
        return None;
    };
    #[allow(clippy::cast_possible_truncation, reason = "a number beyond the range becomes its end")]
    let index = index_value.map_or(index(envelope.instance_id), |value| value as i32);
    many.then_some(Container { index, values: [cpu, memory, disk, memory_quota, disk_quota] })
}

impl Container {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number beyond the range becomes its end"
    )]
    fn put(&self, envelope: &Envelope<'_>, out: &mut Vec<u8>) {
        let [cpu, counts @ ..] = &self.values;
        put_bytes(out, 1, envelope.source_id);
        put_int(out, 2, self.index.into());
        put_double(out, 3, *cpu);
        for (number, count) in (4..).zip(counts) {
            put_unsigned(out, number, *count as u64);
        }
    }
}
