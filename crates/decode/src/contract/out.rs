//! What a decoder hands back: the beginnings and ends of messages, with the few fields a row needs.
//!
//! The buffers are reused from call to call, so that nothing is allocated once they have grown.

use super::Input;
use crate::Protocol;
use core::ops::Range;
use model::{Dir, Endpoint, Heard, Nanos};

/// What a message is to the pairing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// An answer is expected from the other side.
    Request,
    /// It answers a request.
    Response,
    /// It neither answers nor expects an answer: a push, a notification, a publish without confirms.
    OneWay,
}

/// Which request a response belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// The oldest one that is unanswered: the protocol answers in order.
    Order,
    /// The one with the same number: a stream, a correlation id, a DNS id.
    Id(u64),
}

/// How a message went, in OpenTelemetry's sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Status {
    /// The message does not say.
    #[default]
    Unset,
    /// It succeeded.
    Ok,
    /// It failed.
    Error,
}

/// Oddities that do not stop the decoding. Each is a bit on the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Notice {
    /// A text was longer than the limit and was cut.
    TextCut = 1,
    /// A field refers to something agreed before the capture began.
    Unknown = 1 << 1,
    /// A value was a secret and was replaced.
    Redacted = 1 << 2,
    /// The message breaks its specification but could be read.
    Malformed = 1 << 3,
    /// More fields than are kept.
    FieldsCut = 1 << 4,
}

/// The name of a field: a column of its own, or an attribute by OpenTelemetry's semantic conventions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Name {
    /// Column `operation`: what was asked for (`GET`, `SELECT`, `Produce`).
    Operation,
    /// Column `resource`: on what (a path, a table or statement, a topic, a key's name).
    Resource,
    /// Column `status_code`: the protocol's own code as text (`404`, `42P01`, `NXDOMAIN`).
    StatusCode,
    /// Column `error`: the message of an error.
    Error,
    /// Column `trace_id`: 32 lower-case hex digits.
    TraceId,
    /// Column `span_id`: 16 lower-case hex digits; the span of the sender.
    SpanId,
    /// A key of column `attributes`.
    Attribute(&'static str),
    /// Column `protocol`, where a message says that it is more than the flow's protocol: gRPC in HTTP/2.
    Protocol,
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Bytes copied from the wire.
    Text(Range<u32>),
    /// Text known beforehand.
    Static(&'static str),
    /// A number.
    Int(i64),
    /// Yes or no.
    Bool(bool),
}

/// One field of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: Name,
    /// Its value; a text lies in [`Fields::text`].
    pub value: Value,
}

/// The fields of one or several messages.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

impl Fields {
    /// Every field in the order it was given.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The bytes of a text.
    pub fn text(&self, range: &Range<u32>) -> &[u8] {
        self.bytes.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    /// The first value of a name.
    pub fn find(&self, name: Name) -> Option<&Value> {
        self.entries.iter().find(|entry| entry.name == name).map(|entry| &entry.value)
    }

    /// How many bytes of text are held.
    pub fn text_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forgets all of them and keeps the room.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.bytes.clear();
    }

    /// Copies the fields of `range` of another set behind these.
    pub fn extend(&mut self, other: &Fields, range: Range<usize>) {
        for entry in other.entries.get(range).unwrap_or_default() {
            let value = match &entry.value {
                Value::Text(at) => Value::Text(self.push_bytes(other.text(at))),
                plain => plain.clone(),
            };
            self.entries.push(Entry { name: entry.name, value });
        }
    }

    /// Adds a field whose text is the given bytes.
    pub fn push_text(&mut self, name: Name, text: &[u8]) {
        let range = self.push_bytes(text);
        self.entries.push(Entry { name, value: Value::Text(range) });
    }

    fn push_bytes(&mut self, bytes: &[u8]) -> Range<u32> {
        let start = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        self.bytes.extend_from_slice(bytes);
        start..u32::try_from(self.bytes.len()).unwrap_or(u32::MAX)
    }
}

/// One thing that a decoder learned. `fields` counts into [`Out::fields`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The first byte of a message has passed, and so much of it that its key is known.
    Begin {
        /// What it is to the pairing.
        role: Role,
        /// Which way it goes.
        dir: Dir,
        /// What it is paired by.
        key: Key,
        /// When its first byte was seen.
        time: Nanos,
        /// What its sender had received of the other lane by then.
        heard: Heard,
        /// Its fields.
        fields: Range<usize>,
        /// Bits of [`Notice`].
        notices: u8,
    },
    /// The last byte of a message has passed. In order, it ends the message begun last in the lane; by id,
    /// the one of that id.
    End {
        /// What it is to the pairing.
        role: Role,
        /// Which way it goes.
        dir: Dir,
        /// What it is paired by.
        key: Key,
        /// When its last byte was seen.
        time: Nanos,
        /// Its size on the wire, framing included.
        bytes: u64,
        /// How it went.
        status: Status,
        /// Fields that only the end told.
        fields: Range<usize>,
        /// Bits of [`Notice`].
        notices: u8,
    },
    /// Bytes of a lane are missing, or the place in it was lost (0): nothing is paired across this.
    Gap {
        /// In which lane.
        dir: Dir,
        /// When that was known.
        time: Nanos,
        /// How many bytes.
        missing: u64,
    },
    /// The roundtrip of a key is over without an answer, or with half of one: a stream reset, a cancel.
    Cut {
        /// Which one.
        key: Key,
        /// When.
        time: Nanos,
        /// Why, for column `error`.
        why: &'static str,
    },
    /// The oldest unanswered request in order is answered under an id from now on (an h2c upgrade).
    Rekey {
        /// The id.
        id: u64,
    },
    /// A fact about the flow, for its row.
    Flow {
        /// One field.
        fields: Range<usize>,
    },
    /// An endpoint that will carry another protocol, read from this one (SDP).
    Expect(Expected),
    /// A message as it was, for who keeps whole messages (SIP).
    Raw {
        /// Which way it goes.
        dir: Dir,
        /// When its first byte was seen.
        time: Nanos,
        /// Where it lies in [`Out::fields`].
        bytes: Range<u32>,
    },
    /// Why the flow can show no more roundtrips: `tls`, `websocket`, `compressed`.
    Opaque(&'static str),
}

/// An endpoint announced by a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Where it will be.
    pub endpoint: Endpoint,
    /// What it will carry.
    pub protocol: Protocol,
    /// What it belongs to: one field, such as a Call-ID.
    pub fields: Range<usize>,
}

/// How much is kept of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one text.
    pub text: usize,
    /// Bytes of one body; 0 keeps none.
    pub body: usize,
    /// Fields of one message.
    pub fields: usize,
    /// Whether secrets stay as they are.
    pub show_secrets: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { text: 1_024, body: 0, fields: 64, show_secrets: false }
    }
}

/// Where a decoder writes.
#[derive(Debug, Default)]
pub struct Out {
    events: Vec<Event>,
    fields: Fields,
    limits: Limits,
    copied: u64,
}

impl Out {
    /// An empty one with limits of its own.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// How much may be kept.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What was learned since the last [`Out::clear`], in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The fields that the events refer to.
    pub const fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Bytes of the wire that were copied so far: texts of fields, tails of messages that straddle segments.
    pub const fn copied_bytes(&self) -> u64 {
        self.copied
    }

    /// Counts bytes that were copied.
    pub(crate) fn copied(&mut self, bytes: usize) {
        self.copied = self.copied.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    /// Forgets the events and keeps the room.
    pub fn clear(&mut self) {
        self.copied(self.fields.bytes.len());
        self.events.clear();
        self.fields.clear();
    }

    /// A message begins: its first byte is the first of `input`.
    pub fn begin(&mut self, input: &Input<'_>, role: Role, key: Key) -> Message<'_> {
        self.begin_at(input.dir, input.first, role, key).heard(input.heard)
    }

    /// A message began at a time that the decoder remembers; see [`Message::heard`].
    pub fn begin_at(&mut self, dir: Dir, time: Nanos, role: Role, key: Key) -> Message<'_> {
        let at = self.fields.entries.len();
        let heard = Heard::Unknown;
        self.push(Event::Begin { role, dir, key, time, heard, fields: at..at, notices: 0 })
    }

    /// A message ends: its last byte is in `input`, it had `bytes` bytes in all.
    pub fn end(
        &mut self,
        input: &Input<'_>,
        role: Role,
        key: Key,
        bytes: u64,
        status: Status,
    ) -> Message<'_> {
        self.end_at(input.dir, input.time, role, key, bytes, status)
    }

    /// A message ended at a time that the decoder remembers.
    pub fn end_at(
        &mut self,
        dir: Dir,
        time: Nanos,
        role: Role,
        key: Key,
        bytes: u64,
        status: Status,
    ) -> Message<'_> {
        let at = self.fields.entries.len();
        self.push(Event::End { role, dir, key, time, bytes, status, fields: at..at, notices: 0 })
    }

    /// The roundtrip of a key is over without a (whole) answer.
    pub fn cut(&mut self, time: Nanos, key: Key, why: &'static str) {
        self.events.push(Event::Cut { key, time, why });
    }

    /// Bytes of a lane are missing. The driver's, not a decoder's.
    pub(crate) fn gap(&mut self, dir: Dir, time: Nanos, missing: u64) {
        self.events.push(Event::Gap { dir, time, missing });
    }

    /// The oldest unanswered request in order is answered under `id`.
    pub fn rekey(&mut self, id: u64) {
        self.events.push(Event::Rekey { id });
    }

    /// A fact about the flow, such as `tls.client.server_name`.
    pub fn flow(&mut self, name: &'static str, text: &[u8]) {
        let at = self.fields.entries.len();
        self.push(Event::Flow { fields: at..at }).text(Name::Attribute(name), text);
    }

    /// An endpoint will carry `protocol`; what is sent there belongs to `owner` (attribute `name`).
    pub fn expect(&mut self, endpoint: Endpoint, protocol: Protocol, name: &'static str, owner: &[u8]) {
        let at = self.fields.entries.len();
        self.push(Event::Expect(Expected { endpoint, protocol, fields: at..at }))
            .text(Name::Attribute(name), owner);
    }

    /// A message as it was.
    pub fn raw(&mut self, input: &Input<'_>, message: &[u8]) {
        let bytes = self.fields.push_bytes(message);
        self.events.push(Event::Raw { dir: input.dir, time: input.first, bytes });
    }

    /// The flow will show no more roundtrips, because of `why`.
    pub fn opaque(&mut self, why: &'static str) {
        self.events.push(Event::Opaque(why));
    }

    fn push(&mut self, event: Event) -> Message<'_> {
        self.events.push(event);
        Message { out: self }
    }
}

/// Adds fields to the event made last.
#[derive(Debug)]
pub struct Message<'o> {
    out: &'o mut Out,
}

impl Message<'_> {
    /// A text from the wire; cut at the limit, which a notice then says.
    pub fn text(self, name: Name, text: &[u8]) -> Self {
        self.parts(name, &[text])
    }

    /// A text made of parts, one behind the other.
    pub fn parts(self, name: Name, parts: &[&[u8]]) -> Self {
        let limit = self.out.limits.text;
        self.join(name, parts, limit)
    }

    /// A captured body; cut at the limit for bodies.
    pub fn body(self, name: &'static str, body: &[u8]) -> Self {
        let limit = self.out.limits.body;
        self.join(Name::Attribute(name), &[body], limit)
    }

    /// A text known beforehand.
    pub fn label(self, name: Name, text: &'static str) -> Self {
        self.value(name, Value::Static(text))
    }

    /// A number.
    pub fn int(self, name: Name, number: i64) -> Self {
        self.value(name, Value::Int(number))
    }

    /// Yes or no.
    pub fn flag(self, name: Name, flag: bool) -> Self {
        self.value(name, Value::Bool(flag))
    }

    /// The message belongs to a protocol that the flow's one carries (`grpc`).
    pub fn protocol(self, name: &'static str) -> Self {
        self.label(Name::Protocol, name)
    }

    /// What the sender of a message had received when it began; matters where answers come in order.
    pub fn heard(self, what: Heard) -> Self {
        if let Some(Event::Begin { heard, .. }) = self.out.events.last_mut() {
            *heard = what;
        }
        self
    }

    /// Something odd to say about the message.
    pub fn notice(self, notice: Notice) -> Self {
        if let Some(Event::Begin { notices, .. } | Event::End { notices, .. }) = self.out.events.last_mut() {
            *notices |= notice as u8;
        }
        self
    }

    fn join(self, name: Name, parts: &[&[u8]], limit: usize) -> Self {
        let out = self.out;
        let start = out.fields.bytes.len();
        let mut room = limit;
        let mut cut = false;
        for part in parts {
            let kept = part.get(..room).unwrap_or(part);
            cut |= kept.len() < part.len();
            room = room.saturating_sub(kept.len());
            out.fields.bytes.extend_from_slice(kept);
        }
        let end = out.fields.bytes.len();
        let range = u32::try_from(start).unwrap_or(u32::MAX)..u32::try_from(end).unwrap_or(u32::MAX);
        let message = Message { out }.value(name, Value::Text(range));
        if cut { message.notice(Notice::TextCut) } else { message }
    }

    fn value(self, name: Name, value: Value) -> Self {
        let most = self.out.limits.fields;
        let end = self.out.fields.entries.len();
        let range = match self.out.events.last_mut() {
            Some(
                Event::Begin { fields, .. }
                | Event::End { fields, .. }
                | Event::Flow { fields }
                | Event::Expect(Expected { fields, .. }),
            ) => fields,
            _ => return self,
        };
        if end.saturating_sub(range.start) >= most {
            return self.notice(Notice::FieldsCut);
        }
        range.end = end.saturating_add(1);
        self.out.fields.entries.push(Entry { name, value });
        self
    }
}
