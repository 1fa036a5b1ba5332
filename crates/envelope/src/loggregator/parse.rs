//! Reads an envelope of version 2, and checks all of it.

use super::{
    error::Error,
    view::{
        Counter, DEPRECATED_TAGS, DeprecatedTags, Envelope, Event, GAUGE, Gauge, Log, METRICS, Message, TAGS,
        Tags, Timer, Value,
    },
};
use crate::{
    dropsonde::entry,
    protobuf::{FIXED64, LEN, Reader, VARINT, tag},
};

const TIMESTAMP: u32 = tag(1, VARINT);
const SOURCE_ID: u32 = tag(2, LEN);
const LOG: u32 = tag(4, LEN);
const COUNTER: u32 = tag(5, LEN);
const TIMER: u32 = tag(7, LEN);
const INSTANCE_ID: u32 = tag(8, LEN);
const EVENT: u32 = tag(10, LEN);

// First fields of the messages inside.
const BYTES_1: u32 = tag(1, LEN);
const BYTES_2: u32 = tag(2, LEN);
const INT_2: u32 = tag(2, VARINT);
const INT_3: u32 = tag(3, VARINT);
const DOUBLE_2: u32 = tag(2, FIXED64);
const DOUBLE_3: u32 = tag(3, FIXED64);

pub(super) fn envelope(bytes: &[u8]) -> Result<Envelope<'_>, Error> {
    let mut envelope = Envelope {
        timestamp: 0,
        source_id: &[],
        instance_id: &[],
        message: Message::None,
        bytes,
        tags: Tags::default(),
        deprecated: DeprecatedTags::default(),
    };
    let mut fields = Reader::new(bytes);
    loop {
        let here = fields;
        let Some(found) = fields.tag()? else { return Ok(envelope) };
        match found {
            TIMESTAMP => envelope.timestamp = fields.int64()?,
            SOURCE_ID => envelope.source_id = text(&mut fields)?,
            INSTANCE_ID => envelope.instance_id = text(&mut fields)?,
            LOG | COUNTER | GAUGE | TIMER | EVENT => {
                message(&mut envelope.message, found, here, fields.bytes()?)?;
            }
            TAGS => {
                let (key, value) = entry(fields.bytes()?)?;
                utf8(key)?;
                utf8(value)?;
                if envelope.tags.left == 0 {
                    envelope.tags.fields = here;
                }
                envelope.tags.left = envelope.tags.left.saturating_add(1);
            }
            DEPRECATED_TAGS => {
                deprecated_tag(fields.bytes()?)?;
                if envelope.deprecated.left == 0 {
                    envelope.deprecated.fields = here;
                }
                envelope.deprecated.left = envelope.deprecated.left.saturating_add(1);
            }
            _ => fields.skip(found)?,
        }
    }
}

/// Reads one message: into the one that is there where it is of the same kind, else in its place.
fn message<'a>(
    message: &mut Message<'a>,
    found: u32,
    here: Reader<'a>,
    bytes: &'a [u8],
) -> Result<(), Error> {
    match (&mut *message, found) {
        (Message::Log(_), LOG)
        | (Message::Counter(_), COUNTER)
        | (Message::Gauge(_), GAUGE)
        | (Message::Timer(_), TIMER)
        | (Message::Event(_), EVENT) => {}
        (_, LOG) => *message = Message::Log(Log::default()),
        (_, COUNTER) => *message = Message::Counter(Counter::default()),
        (_, GAUGE) => *message = Message::Gauge(Gauge { fields: here }),
        (_, TIMER) => *message = Message::Timer(Timer::default()),
        _ => *message = Message::Event(Event::default()),
    }
    let mut fields = Reader::new(bytes);
    while let Some(found) = fields.tag()? {
        match (&mut *message, found) {
            (Message::Log(log), BYTES_1) => log.payload = fields.bytes()?,
            (Message::Log(log), INT_2) => log.kind = fields.int32()?,
            (Message::Counter(counter), BYTES_1) => counter.name = text(&mut fields)?,
            (Message::Counter(counter), INT_2) => counter.delta = fields.varint()?,
            (Message::Counter(counter), INT_3) => counter.total = fields.varint()?,
            (Message::Gauge(_), METRICS) => drop(metric(fields.bytes()?)?),
            (Message::Timer(timer), BYTES_1) => timer.name = text(&mut fields)?,
            (Message::Timer(timer), INT_2) => timer.start = fields.int64()?,
            (Message::Timer(timer), INT_3) => timer.stop = fields.int64()?,
            (Message::Event(event), BYTES_1) => event.title = text(&mut fields)?,
            (Message::Event(event), BYTES_2) => event.body = text(&mut fields)?,
            _ => fields.skip(found)?,
        }
    }
    Ok(())
}

/// Name, unit and value of an entry of a gauge.
pub(super) fn metric(bytes: &[u8]) -> Result<(&[u8], &[u8], f64), Error> {
    let (mut name, mut unit, mut value): (&[u8], &[u8], f64) = (&[], &[], 0.0);
    let mut fields = Reader::new(bytes);
    while let Some(found) = fields.tag()? {
        match found {
            BYTES_1 => name = text(&mut fields)?,
            BYTES_2 => {
                let mut fields = Reader::new(fields.bytes()?);
                while let Some(found) = fields.tag()? {
                    match found {
                        BYTES_1 => unit = text(&mut fields)?,
                        DOUBLE_2 => value = fields.double()?,
                        _ => fields.skip(found)?,
                    }
                }
            }
            _ => fields.skip(found)?,
        }
    }
    Ok((name, unit, value))
}

/// Key and value of a tag of the old form.
pub(super) fn deprecated_tag(bytes: &[u8]) -> Result<(&[u8], Value<'_>), Error> {
    let (mut key, mut value): (&[u8], Value<'_>) = (&[], Value::None);
    let mut fields = Reader::new(bytes);
    while let Some(found) = fields.tag()? {
        match found {
            BYTES_1 => key = text(&mut fields)?,
            BYTES_2 => {
                let mut fields = Reader::new(fields.bytes()?);
                while let Some(found) = fields.tag()? {
                    match found {
                        BYTES_1 => value = Value::Text(text(&mut fields)?),
                        INT_2 => value = Value::Integer(fields.int64()?),
                        DOUBLE_3 => value = Value::Decimal(fields.double()?),
                        _ => fields.skip(found)?,
                    }
                }
            }
            _ => fields.skip(found)?,
        }
    }
    Ok((key, value))
}

#[inline(always)]
fn text<'a>(fields: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    let bytes = fields.bytes()?;
    utf8(bytes)?;
    Ok(bytes)
}

#[inline(always)]
fn utf8(bytes: &[u8]) -> Result<(), Error> {
    if bytes.is_ascii() || core::str::from_utf8(bytes).is_ok() { Ok(()) } else { Err(Error::NotUtf8) }
}
