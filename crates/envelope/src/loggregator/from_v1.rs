//! Version 1 to version 2, as the `udp-forwarder` does it.
//!
//! Three steps of the reference in one pass, from the bytes of version 1 straight to those of
//! version 2: an envelope without a `source_id` tag gets its origin as one, absent deployment, job,
//! index and ip become those of this process, and `conversion.ToV2` of `go-loggregator` with
//! preferred tags.

use core::fmt;

use super::{decimal::Decimal, encode::Encoder};
use crate::{
    dropsonde::{self, Body, ContainerMetric, FEW_TAGS, HttpStartStop, Uuid, method_name, peer_type_name},
    protobuf::Text,
};

/// What envelopes get that do not say where they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Name of the deployment.
    pub deployment: String,
    /// Name of the job.
    pub job: String,
    /// Index or id of the job.
    pub index: String,
    /// Address of the machine.
    pub ip: String,
}

/// Where the conversion may differ from the reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The router sends no index of the instance with a request, and the reference makes it `0`, for
    /// every instance. With this, `instance_id` is then the first of these that says something: the tag
    /// `instance_id`, the id of the instance (`routing_instance_id`), the tag `process_instance_id`.
    pub fix_instance_id: bool,
}

/// What was odd about a converted envelope: a set of bits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Notices(u8);

impl Notices {
    /// Nothing.
    pub const NONE: Notices = Notices(0);
    /// A text was not UTF-8 and was repaired. The reference loses the whole batch then.
    pub const REPAIRED: Notices = Notices(1);
    /// `instance_id` is not what the reference would write; see [`Options::fix_instance_id`].
    pub const INSTANCE_ID_FIXED: Notices = Notices(2);

    /// Every single notice with its label.
    pub const ALL: &'static [(Notices, &'static str)] =
        &[(Self::REPAIRED, "text_repaired"), (Self::INSTANCE_ID_FIXED, "instance_id_fixed")];

    /// Whether all of `other` are in the set.
    #[must_use]
    pub const fn contains(self, other: Notices) -> bool {
        self.0 & other.0 == other.0
    }

    /// The set with `other`, where `when`.
    #[must_use]
    const fn with(self, other: Notices, when: bool) -> Notices {
        if when { Notices(self.0 | other.0) } else { self }
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels = Self::ALL.iter().filter(|(one, _)| self.contains(*one)).map(|(_, label)| label);
        f.debug_set().entries(labels).finish()
    }
}

/// What [`write_v1`] wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Bytes that `out` grew by.
    pub bytes: usize,
    /// What was odd.
    pub notices: Notices,
}

/// Writes the envelope as an entry of an `EnvelopeBatch` at the end of `out`.
///
/// Fields come in the order of their numbers. Tags come in the order that the envelope has them in, of
/// a key that comes again the last one, and without those that the conversion sets; then `origin`,
/// `deployment`, `job`, `index`, `ip`, `__v1_type`, and what belongs to the event type in the order of
/// its fields in version 1.
///
/// Allocates nothing once `out` has the capacity, but for an envelope with more than 32 tags, two of
/// which may have the same key: 16 bytes for each of its tags.
pub fn write_v1(
    envelope: &dropsonde::Envelope<'_>,
    identity: &Identity,
    options: &Options,
    out: &mut Vec<u8>,
) -> Written {
    let begin = out.len();
    let ids = Ids::new(envelope, options);
    // The six tags that every envelope gets take about a hundred bytes.
    let about = envelope.bytes().len().saturating_add(100);
    let repaired = Encoder::entry(out, about, |out| write(envelope, identity, &ids, out));
    Written {
        bytes: out.len().saturating_sub(begin),
        notices: Notices::NONE
            .with(Notices::REPAIRED, repaired)
            .with(Notices::INSTANCE_ID_FIXED, ids.instance_id_fixed),
    }
}

fn write(envelope: &dropsonde::Envelope<'_>, identity: &Identity, ids: &Ids<'_>, out: &mut Encoder<'_>) {
    out.timestamp(envelope.timestamp.unwrap_or(0));
    out.source_id(ids.source_id.as_bytes());
    match &envelope.body {
        Body::LogMessage(log) => out.log(log.message, i32::from(log.message_type == 2)),
        Body::Error(error) => out.log(error.message, 0),
        Body::CounterEvent(counter) => out.counter(counter.name, counter.delta, counter.total),
        Body::ValueMetric(metric) => {
            out.gauge(core::iter::once((metric.name, metric.unit, metric.value)));
        }
        Body::ContainerMetric(metric) => out.gauge(container_metrics(metric).iter().copied()),
        Body::HttpStartStop(http) => out.timer(b"http", http.start, http.stop),
    }
    out.instance_id(ids.instance_id.as_bytes());

    user_tags(envelope, out);
    out.known_tag("origin", envelope.origin);
    out.known_tag("deployment", envelope.deployment.unwrap_or(identity.deployment.as_bytes()));
    out.known_tag("job", envelope.job.unwrap_or(identity.job.as_bytes()));
    out.known_tag("index", envelope.index.unwrap_or(identity.index.as_bytes()));
    out.known_tag("ip", envelope.ip.unwrap_or(identity.ip.as_bytes()));
    let name = dropsonde::event_type_name(envelope.event_type()).unwrap_or_default();
    out.known_tag("__v1_type", name.as_bytes());
    match &envelope.body {
        Body::LogMessage(log) => out.known_tag("source_type", log.source_type),
        Body::Error(error) => {
            out.known_tag("source", error.source);
            out.known_tag("code", Decimal::new(error.code.into()).as_bytes());
        }
        Body::HttpStartStop(http) => http_tags(envelope, http, out),
        Body::CounterEvent(_) | Body::ValueMetric(_) | Body::ContainerMetric(_) => {}
    }
}

#[allow(clippy::cast_precision_loss, reason = "version 2 has no other number for it")]
fn container_metrics<'a>(metric: &ContainerMetric<'_>) -> [(&'a [u8], &'a [u8], f64); 5] {
    [
        (b"cpu", b"percentage", metric.cpu_percentage),
        (b"memory", b"bytes", metric.memory_bytes as f64),
        (b"disk", b"bytes", metric.disk_bytes as f64),
        (b"memory_quota", b"bytes", metric.memory_bytes_quota as f64),
        (b"disk_quota", b"bytes", metric.disk_bytes_quota as f64),
    ]
}

fn http_tags(envelope: &dropsonde::Envelope<'_>, http: &HttpStartStop<'_>, out: &mut Encoder<'_>) {
    out.known_tag("request_id", &uuid_text(http.request_id));
    let number = Decimal::new(http.peer_type.into());
    out.known_tag("peer_type", peer_type_name(http.peer_type).map_or(number.as_bytes(), str::as_bytes));
    let number = Decimal::new(http.method.into());
    out.known_tag("method", method_name(http.method).map_or(number.as_bytes(), str::as_bytes));
    out.known_tag("uri", http.uri);
    out.known_tag("remote_address", http.remote_address);
    out.known_tag("user_agent", http.user_agent);
    out.known_tag("status_code", Decimal::new(http.status_code.into()).as_bytes());
    out.known_tag("content_length", Decimal::new(http.content_length).as_bytes());
    out.known_tag("routing_instance_id", http.instance_id);
    out.joined_tag(b"forwarded", envelope.forwarded(), b'\n');
}

/// Writes the tags that the envelope has of its own.
fn user_tags(envelope: &dropsonde::Envelope<'_>, out: &mut Encoder<'_>) {
    let mut tags = envelope.tags();
    if !envelope.known.repeated {
        for (key, value) in tags.filter(|(key, _)| !is_set(key, &envelope.body)) {
            out.tag(key, value);
        }
    } else if envelope.known.count <= FEW_TAGS {
        while let Some((key, value)) = tags.next() {
            let text = Text::new(key);
            let again = tags.clone().any(|(later, _)| text.same(Text::new(later)));
            if !again && !is_set(key, &envelope.body) {
                out.tag(key, value);
            }
        }
    } else {
        many_tags(envelope, out);
    }
}

/// As pairwise comparison would do it, in less than the square of the time.
#[cold]
fn many_tags(envelope: &dropsonde::Envelope<'_>, out: &mut Encoder<'_>) {
    let repaired = |key: &[u8]| {
        let mut bytes = Vec::new();
        Text::new(key).put(&mut bytes);
        bytes
    };
    let mut last: Vec<(Vec<u8>, usize)> =
        envelope.tags().enumerate().map(|(at, (key, _))| (repaired(key), at)).collect();
    last.sort_unstable();
    let mut keep = vec![true; last.len()];
    for (one, next) in last.iter().zip(last.iter().skip(1)) {
        if one.0 == next.0
            && let Some(keep) = keep.get_mut(one.1)
        {
            *keep = false;
        }
    }
    for ((key, value), keep) in envelope.tags().zip(keep) {
        if keep && !is_set(key, &envelope.body) {
            out.tag(key, value);
        }
    }
}

/// Whether the conversion sets or removes the tag, whatever the envelope has in it.
fn is_set(key: &[u8], body: &Body<'_>) -> bool {
    match key {
        b"origin" | b"deployment" | b"job" | b"index" | b"ip" | b"__v1_type" | b"source_id" => true,
        b"instance_id" => matches!(body, Body::CounterEvent(_)),
        b"source_type" => matches!(body, Body::LogMessage(_)),
        b"source" | b"code" => matches!(body, Body::Error(_)),
        b"request_id"
        | b"peer_type"
        | b"method"
        | b"uri"
        | b"remote_address"
        | b"user_agent"
        | b"status_code"
        | b"content_length"
        | b"routing_instance_id"
        | b"forwarded" => {
            matches!(body, Body::HttpStartStop(_))
        }
        _ => false,
    }
}

/// Bytes of the envelope, or text made of a number or a UUID.
enum Id<'a> {
    Borrowed(&'a [u8]),
    Decimal(Decimal),
    Uuid([u8; 36]),
}

impl Id<'_> {
    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Decimal(decimal) => decimal.as_bytes(),
            Self::Uuid(text) => text,
        }
    }
}

struct Ids<'a> {
    source_id: Id<'a>,
    instance_id: Id<'a>,
    instance_id_fixed: bool,
}

impl<'a> Ids<'a> {
    fn new(envelope: &dropsonde::Envelope<'a>, options: &Options) -> Self {
        let known = &envelope.known;
        let tagged = some(known.source_id).unwrap_or(envelope.origin);
        let source = |id: &'a [u8]| Id::Borrowed(if id.is_empty() { tagged } else { id });
        let mut instance_id_fixed = false;
        let (source_id, instance_id) = match &envelope.body {
            Body::LogMessage(log) => (source(log.app_id), Id::Borrowed(log.source_instance)),
            Body::Error(_) => (Id::Borrowed(tagged), Id::Borrowed(&[])),
            Body::CounterEvent(_) | Body::ValueMetric(_) => {
                (Id::Borrowed(tagged), Id::Borrowed(known.instance_id.unwrap_or_default()))
            }
            Body::ContainerMetric(metric) => {
                (source(metric.application_id), Id::Decimal(Decimal::new(metric.instance_index.into())))
            }
            Body::HttpStartStop(http) => {
                let source_id = match http.application_id {
                    Some(id) if id != Uuid::default() => Id::Uuid(uuid_text(id)),
                    _ => Id::Borrowed(tagged),
                };
                let better = || {
                    some(known.instance_id)
                        .or(some(Some(http.instance_id)))
                        .or(some(known.process_instance_id))
                        .filter(|_| options.fix_instance_id)
                };
                let instance_id = match http.instance_index {
                    Some(index) => Id::Decimal(Decimal::new(index.into())),
                    None => better().map_or(Id::Decimal(Decimal::new(0)), |id| {
                        instance_id_fixed = true;
                        Id::Borrowed(id)
                    }),
                };
                (source_id, instance_id)
            }
        };
        Self { source_id, instance_id, instance_id_fixed }
    }
}

/// What is there and not empty.
fn some(bytes: Option<&[u8]>) -> Option<&[u8]> {
    bytes.filter(|bytes| !bytes.is_empty())
}

/// A UUID as text, in the order of the reference: each half in little-endian order.
pub(super) fn uuid_text(uuid: Uuid) -> [u8; 36] {
    const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
    let mut text = [b'-'; 36];
    let bytes = uuid.low.to_le_bytes().into_iter().chain(uuid.high.to_le_bytes());
    for (byte, place) in bytes.zip(PLACES) {
        if let Some([high, low]) = text.get_mut(place..).and_then(<[u8]>::first_chunk_mut) {
            (*high, *low) = (digit(byte >> 4), digit(byte & 0xf));
        }
    }
    text
}
