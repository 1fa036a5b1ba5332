//! An opened envelope.

use super::{
    bodies::{Body, Parts, Seen},
    error::{Error, Field, What},
    names::event_type,
    tags::{Forwarded, TAGS, Tags, entry},
};
use crate::protobuf::{LEN, Reader, Text, VARINT, tag};

const ORIGIN: u32 = tag(1, LEN);
const EVENT_TYPE: u32 = tag(2, VARINT);
const TIMESTAMP: u32 = tag(6, VARINT);
const FIRST_BODY: u32 = tag(7, LEN);
const LAST_BODY: u32 = tag(12, LEN);
const DEPLOYMENT: u32 = tag(13, LEN);
const JOB: u32 = tag(14, LEN);
const INDEX: u32 = tag(15, LEN);
const IP: u32 = tag(16, LEN);

/// An opened envelope. Texts are bytes as they stand on the wire.
#[derive(Clone, Debug)]
pub struct Envelope<'a> {
    /// The component that sent it.
    pub origin: &'a [u8],
    /// Nanoseconds since the epoch.
    pub timestamp: Option<i64>,
    /// Name of the deployment.
    pub deployment: Option<&'a [u8]>,
    /// Name of the job.
    pub job: Option<&'a [u8]>,
    /// Index or id of the job.
    pub index: Option<&'a [u8]>,
    /// Address of the machine.
    pub ip: Option<&'a [u8]>,
    /// What it is about.
    pub body: Body<'a>,
    /// What its tags are, found while they were checked.
    pub(crate) known: KnownTags<'a>,
    bytes: &'a [u8],
    tags: Tags<'a>,
    /// There are several bodies, or several parts of one.
    in_parts: bool,
}

/// The tags that have a meaning of their own; of one that comes again, the last value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KnownTags<'a> {
    pub count: u32,
    /// Two tags have the same key, as they stand or once repaired; or there are more than
    /// [`FEW_TAGS`], and nobody looked.
    pub repeated: bool,
    pub source_id: Option<&'a [u8]>,
    pub instance_id: Option<&'a [u8]>,
    pub process_instance_id: Option<&'a [u8]>,
}

impl<'a> Envelope<'a> {
    /// The tags in their order on the wire. A key may come again: the last value counts.
    #[must_use]
    pub fn tags(&self) -> Tags<'a> {
        self.tags.clone()
    }

    /// The hops of the request that an `HttpStartStop` is about; none in other envelopes.
    pub fn forwarded(&self) -> Forwarded<'a> {
        match &self.body {
            Body::HttpStartStop(_) if self.in_parts => Forwarded::of_envelope(self.bytes),
            Body::HttpStartStop(http) => Forwarded::of_body(http.first_hop, http.behind_first_hop),
            _ => Forwarded::default(),
        }
    }

    /// The event type as the number that it has on the wire: 4 to 9.
    #[must_use]
    pub const fn event_type(&self) -> i32 {
        match self.body {
            Body::HttpStartStop(_) => event_type::HTTP_START_STOP,
            Body::LogMessage(_) => event_type::LOG_MESSAGE,
            Body::ValueMetric(_) => event_type::VALUE_METRIC,
            Body::CounterEvent(_) => event_type::COUNTER_EVENT,
            Body::Error(_) => event_type::ERROR,
            Body::ContainerMetric(_) => event_type::CONTAINER_METRIC,
        }
    }

    /// The datagram.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// Opens the envelope that a datagram holds. Does not allocate.
///
/// # Errors
/// What the reference refuses; see the [module](super).
pub fn open(bytes: &[u8]) -> Result<Envelope<'_>, Error> {
    let mut envelope = Envelope {
        origin: &[],
        timestamp: None,
        deployment: None,
        job: None,
        index: None,
        ip: None,
        body: Body::CounterEvent(Default::default()),
        known: KnownTags::default(),
        bytes,
        tags: Tags::default(),
        in_parts: false,
    };
    let (mut origin, mut event_type) = (None, None);
    // Nearly always there is one body, in one part.
    let (mut bodies, mut last): (u32, (usize, &[u8])) = (0, (0, &[]));
    let mut first_tag = Reader::default();
    let mut buckets = 0u128;
    let mut fields = Reader::new(bytes);
    loop {
        let here = fields;
        let Some(tag) = fields.tag()? else { break };
        match tag {
            ORIGIN => origin = Some(fields.bytes()?),
            EVENT_TYPE => event_type = Some(fields.int32()?),
            TIMESTAMP => envelope.timestamp = Some(fields.int64()?),
            FIRST_BODY..=LAST_BODY if tag & 7 == LEN => {
                last = (body_index(tag), fields.bytes()?);
                bodies = bodies.saturating_add(1);
            }
            DEPLOYMENT => envelope.deployment = Some(fields.bytes()?),
            JOB => envelope.job = Some(fields.bytes()?),
            INDEX => envelope.index = Some(fields.bytes()?),
            IP => envelope.ip = Some(fields.bytes()?),
            TAGS => {
                let (key, value) = entry(fields.bytes()?)?;
                if envelope.known.count == 0 {
                    first_tag = here;
                }
                if envelope.known.add(key, value, &mut buckets) {
                    let before = Tags::new(first_tag, envelope.known.count.saturating_sub(1));
                    envelope.known.repeated |= is_repeated(before, key);
                }
            }
            _ => fields.skip(tag)?,
        }
    }
    envelope.tags = Tags::new(first_tag, envelope.known.count);

    let wanted = event_type.and_then(type_index);
    let is_there = match bodies {
        0 => false,
        1 => {
            envelope.body = body(last.0, Source::Part(last.1))?;
            wanted == Some(last.0)
        }
        _ => {
            envelope.in_parts = true;
            several(&mut envelope, wanted)?
        }
    };
    envelope.origin = origin.ok_or(Error::missing(Field::Origin))?;
    let event_type = event_type.ok_or(Error::missing(Field::EventType))?;
    if is_there { Ok(envelope) } else { Err(no_body(event_type)) }
}

/// Reads each body that is there by walking the envelope again, and keeps the one that is wanted.
#[cold]
fn several(envelope: &mut Envelope<'_>, wanted: Option<usize>) -> Result<bool, Error> {
    let mut is_there = false;
    for index in 0..6 {
        let mut fields = Reader::new(envelope.bytes);
        let mut found = false;
        while let Some(tag) = fields.tag()? {
            found |= tag & 7 == LEN && body_index(tag) == index;
            fields.skip(tag)?;
        }
        if found {
            let body = body(index, Source::Envelope(envelope.bytes))?;
            if wanted == Some(index) {
                envelope.body = body;
                is_there = true;
            }
        }
    }
    Ok(is_there)
}

/// Where a body is read from.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// Its only part.
    Part(&'a [u8]),
    /// All of its parts in an envelope.
    Envelope(&'a [u8]),
}

/// Place of a body among the six, by its tag.
#[inline(always)]
const fn body_index(tag: u32) -> usize {
    (tag.wrapping_sub(FIRST_BODY) >> 3) as usize
}

/// Place of the body that an event type names.
fn type_index(event_type: i32) -> Option<usize> {
    usize::try_from(event_type.checked_sub(event_type::HTTP_START_STOP)?).ok().filter(|index| *index < 6)
}

#[cold]
fn no_body(event_type: i32) -> Error {
    const FIELDS: [Field; 6] = [
        Field::HttpStartStop,
        Field::LogMessage,
        Field::ValueMetric,
        Field::CounterEvent,
        Field::ErrorEvent,
        Field::ContainerMetric,
    ];
    match type_index(event_type).and_then(|index| FIELDS.get(index)) {
        Some(field) => Error { what: What::NoBody, field: *field },
        None => Error { what: What::UnknownEventType, field: Field::None },
    }
}

#[inline]
fn body(index: usize, source: Source<'_>) -> Result<Body<'_>, Error> {
    Ok(match index {
        0 => Body::HttpStartStop(read(source, 0)?),
        1 => Body::LogMessage(read(source, 1)?),
        2 => Body::ValueMetric(read(source, 2)?),
        3 => Body::CounterEvent(read(source, 3)?),
        4 => Body::Error(read(source, 4)?),
        _ => Body::ContainerMetric(read(source, 5)?),
    })
}

#[inline]
fn read<'a, T: Parts<'a>>(source: Source<'a>, index: usize) -> Result<T, Error> {
    let (mut body, mut seen) = (T::default(), Seen::default());
    match source {
        Source::Part(bytes) => body.merge(bytes, &mut seen)?,
        Source::Envelope(bytes) => read_parts(&mut body, &mut seen, bytes, index)?,
    }
    T::complete(seen)?;
    Ok(body)
}

/// Reads a body that comes in several parts by walking the envelope again.
#[cold]
fn read_parts<'a, T: Parts<'a>>(
    body: &mut T,
    seen: &mut Seen,
    envelope: &'a [u8],
    index: usize,
) -> Result<(), Error> {
    let mut fields = Reader::new(envelope);
    while let Some(tag) = fields.tag()? {
        if tag & 7 == LEN && body_index(tag) == index {
            body.merge(fields.bytes()?, seen)?;
        } else {
            fields.skip(tag)?;
        }
    }
    Ok(())
}

impl<'a> KnownTags<'a> {
    /// Returns whether a tag before may have the same key.
    #[inline]
    fn add(&mut self, key: &'a [u8], value: &'a [u8], buckets: &mut u128) -> bool {
        self.count = self.count.saturating_add(1);
        let bucket = 1u128.wrapping_shl(bucket(key));
        let maybe_repeated = *buckets & bucket != 0;
        *buckets |= bucket;
        match key {
            b"source_id" => self.source_id = Some(value),
            b"instance_id" => self.instance_id = Some(value),
            b"process_instance_id" => self.process_instance_id = Some(value),
            _ => {}
        }
        maybe_repeated
    }
}

/// More tags than these are not compared pairwise.
pub(crate) const FEW_TAGS: u32 = 32;

/// Whether one of the tags before, if they are few, has this key.
#[inline(never)]
fn is_repeated(mut before: Tags<'_>, key: &[u8]) -> bool {
    before.left() >= FEW_TAGS || before.any(|(one, _)| Text::new(one).same(Text::new(key)))
}

/// One of 128 for each key. Keys that are equal, as they stand or once repaired, have the same one. The
/// factor was sought so that no two of the two dozen names in use do.
#[inline(always)]
fn bucket(key: &[u8]) -> u32 {
    const FACTOR: u64 = 0x587f_d280_3bab_6c39;
    if !key.is_ascii() {
        return 0;
    }
    let end = key.last_chunk().map_or_else(
        || key.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        |bytes| u64::from_le_bytes(*bytes),
    );
    let first = key.first().map_or(0, |byte| u64::from(*byte));
    let word = end ^ (first << 56) ^ (key.len() as u64).wrapping_shl(48);
    let [.., high] = word.wrapping_mul(FACTOR).to_le_bytes();
    u32::from(high >> 1)
}
