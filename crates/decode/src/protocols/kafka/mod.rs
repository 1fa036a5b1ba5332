//! Kafka: requests named by API, answers by correlation id.
//!
//! * In: both lanes of a flow.
//! * Out: a roundtrip a request: `operation` the API, `resource` the first topic, else the group,
//!   transaction or other thing it is about; the first error of the answer, wherever its API and version
//!   put it. A Produce that asks for no acknowledgement is one-way.
//! * Owned: the requests that wait (an answer does not say what it answers), the names of topic ids.
//! * Bounded by: [`WINDOW`] bytes of a message looked at, 256 waiting requests, 64 topic ids.
//! * Lost: errors and topics behind the window of a message.
//!
//! Decoded: every API of releases 0.8 to 4.1 in every version, header and layout generated from the
//! protocol definition. Of later APIs and versions the header only, which a notice says. The tokens of
//! SaslAuthenticate and of the header-less SASL of version 0 are never kept. Topics that are named by id
//! appear with their name when the flow has told it before, else by id.

mod api;
mod batch;
mod describe;
mod errors;
mod header;
mod layout;
mod pending;
mod requests;
mod responses;
#[cfg(test)]
mod tests;
mod topics;

use crate::{
    AfterGap, DecodeError, Decoder, Input, Key, Meta, Name, Notice, Out, Progress, Role, Start, Status,
    Verdict,
};
use api::{API_VERSIONS, Call, PRODUCE, SASL_HANDSHAKE};
use describe::describe;
use header::{FIXED, Fixed, RESPONSE, Starts, starts};
use layout::{Facts, Halt, Walk};
use model::{Dir, Transport};
use pending::Pending;
use topics::TopicIds;

/// Bytes of a message that are looked at.
const WINDOW: usize = 4_096;

/// The code of UNSUPPORTED_VERSION: ApiVersions is then answered in its first version.
const UNSUPPORTED_VERSION: [u8; 2] = [0, 35];

/// Kafka.
#[derive(Debug)]
pub struct Kafka {
    lanes: [Lane; 2],
    pending: Pending,
    ids: TopicIds,
    /// Tokens without headers follow, until a request does.
    tokens: bool,
}

#[derive(Debug, Clone, Copy)]
enum Lane {
    /// Anywhere in a message.
    Lost,
    /// At the start of one.
    Start,
    /// Inside one whose rest is skipped.
    Inside(Body),
}

/// A message that has begun.
#[derive(Debug, Clone, Copy)]
struct Body {
    role: Role,
    key: Key,
    bytes: u64,
    status: Status,
    error: i16,
    /// Nobody waits for its end.
    silent: bool,
}

impl Decoder for Kafka {
    const META: Meta = Meta {
        name: "kafka",
        title: "Kafka",
        transports: &[Transport::Tcp],
        ports: &[9092, 9093, 9094, 19092, 29092],
        probe_bytes: FIXED + 2 + 255,
        max_message: WINDOW,
        specs: &["https://kafka.apache.org/protocol.html"],
        decoded: "Every API with topic, group, client and error; produced records counted.",
        not_decoded: "Records; errors behind the first 4 KiB of an answer.",
    };

    fn open(start: Start) -> Self {
        let lane = if start == Start::Middle { Lane::Lost } else { Lane::Start };
        Self { lanes: [lane; 2], pending: Pending::default(), ids: TopicIds::default(), tokens: false }
    }

    fn probe(input: &Input<'_>) -> Verdict {
        if input.dir == Dir::ToClient {
            // An answer alone says nothing but its length; the other lane will tell.
            let known = input.bytes.first().is_none_or(|byte| *byte == 0);
            return if known { Verdict::NeedMore } else { Verdict::No };
        }
        match starts(input.bytes) {
            Starts::Surely => Verdict::Yes,
            Starts::Maybe => Verdict::Likely,
            Starts::No => Verdict::No,
            Starts::Need(_) => Verdict::NeedMore,
        }
    }

    fn decode(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let bytes = input.bytes;
        match *self.lane(input.dir) {
            Lane::Start => {}
            Lane::Inside(_) if bytes.is_empty() && input.is_last() => return Ok(Progress::at_least(1)),
            Lane::Inside(body) => {
                self.end(input, &body, out);
                if bytes.is_empty() {
                    return Ok(Progress::at_least(1));
                }
            }
            Lane::Lost => {
                if let Some(progress) = self.hunt(input) {
                    return Ok(progress);
                }
                *self.lane(input.dir) = Lane::Start;
            }
        }
        match input.dir {
            Dir::ToServer => self.request(input, out),
            Dir::ToClient => self.response(input, out),
        }
    }

    fn gap(&mut self, dir: Dir, _: u64, _: &mut Out) -> AfterGap {
        *self.lane(dir) = Lane::Lost;
        AfterGap::Resync
    }
}

impl Kafka {
    const fn lane(&mut self, dir: Dir) -> &mut Lane {
        let [to_server, to_client] = &mut self.lanes;
        match dir {
            Dir::ToServer => to_server,
            Dir::ToClient => to_client,
        }
    }

    /// Looks for the start of a message; `None` when there is one.
    fn hunt(&self, input: &Input<'_>) -> Option<Progress> {
        let nothing = Some(Progress::consumed(input.bytes.len()));
        let more = |need| if input.is_last() { nothing } else { Some(Progress::at_least(need)) };
        if !input.segment_start {
            return nothing;
        }
        if input.dir == Dir::ToClient {
            let Some(first) = input.bytes.first_chunk::<RESPONSE>() else { return more(RESPONSE) };
            let [l0, l1, l2, l3, id @ ..] = *first;
            let fits = header::length([l0, l1, l2, l3], 4).is_ok();
            let waited = self.pending.contains(i32::from_be_bytes(id));
            return if fits && waited { None } else { nothing };
        }
        match starts(input.bytes) {
            Starts::Surely => None,
            Starts::Maybe | Starts::No => nothing,
            Starts::Need(need) => more(need),
        }
    }

    fn request(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let bytes = input.bytes;
        if self.tokens {
            match starts(bytes) {
                Starts::Need(need) if holds(bytes, need) => return Ok(Progress::at_least(need)),
                Starts::Surely => self.tokens = false,
                _ => return self.token(input),
            }
        }
        let Some(fixed) = bytes.first_chunk() else { return Ok(Progress::at_least(FIXED)) };
        let Fixed { size, call, correlation } = Fixed::read(fixed)?;
        let window = bytes.get(..size.min(WINDOW)).unwrap_or(bytes);
        let mut walk = Walk {
            window,
            at: FIXED,
            size,
            limit: size.min(WINDOW),
            version: call.version,
            flexible: false,
            ids: &mut self.ids,
            steps: 0,
        };
        let mut facts = Facts::default();
        let mut client_id = None;
        let halt = request_fields(&mut walk, call, &mut client_id, &mut facts);
        if let Some(need) = wanted(halt, window.len(), size) {
            return Ok(Progress::at_least(need));
        }
        facts.whole = halt.is_ok();
        let one_way = call.key == PRODUCE && facts.acks == Some(0);
        let role = if one_way { Role::OneWay } else { Role::Request };
        let key = key(correlation);
        let message = out.begin(input, role, key);
        let message = describe(message, call, client_id, &facts, &self.ids);
        if !call.is_known() {
            message.notice(Notice::Unknown);
        } else if halt == Err(Halt::Malformed) {
            message.notice(Notice::Malformed);
        }
        if !one_way {
            self.pending.ask(correlation, call);
        }
        self.tokens |= call == Call { key: SASL_HANDSHAKE, version: 0 };
        let body = Body { role, key, bytes: size as u64, status: Status::Unset, error: 0, silent: false };
        Ok(self.advance(input, body, out))
    }

    fn response(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let bytes = input.bytes;
        if self.tokens && token_fits(bytes) {
            // An answer has a correlation id; a token of fewer bytes cannot be one.
            let len = bytes.first_chunk().map_or(0, |first| u32::from_be_bytes(*first));
            if len >= 4 && bytes.len() < RESPONSE {
                return Ok(Progress::at_least(RESPONSE));
            }
            let known = bytes
                .first_chunk::<RESPONSE>()
                .is_some_and(|[_, _, _, _, id @ ..]| self.pending.contains(i32::from_be_bytes(*id)));
            if !known {
                return self.token(input);
            }
        }
        let Some([l0, l1, l2, l3, id @ ..]) = bytes.first_chunk::<RESPONSE>() else {
            return Ok(Progress::at_least(if self.tokens { 4 } else { RESPONSE }));
        };
        let size = header::length([*l0, *l1, *l2, *l3], 4)?.saturating_add(4);
        let correlation = i32::from_be_bytes(*id);
        let window = bytes.get(..size.min(WINDOW)).unwrap_or(bytes);
        let call = self.pending.call(correlation);
        let mut facts = Facts::default();
        let mut halt = Ok(());
        if let Some(call) = call {
            let mut walk = Walk {
                window,
                at: RESPONSE,
                size,
                limit: size.min(WINDOW),
                version: call.version,
                flexible: call.has_flexible_answer(),
                ids: &mut self.ids,
                steps: 0,
            };
            halt = response_fields(&mut walk, call, &mut facts);
            if let Some(need) = wanted(halt, window.len(), size) {
                return Ok(Progress::at_least(need));
            }
        }
        self.pending.answer(correlation);
        let role = Role::Response;
        let key = key(correlation);
        let mut message = out.begin(input, role, key);
        if call.is_none_or(|call| !call.is_known()) {
            message = message.notice(Notice::Unknown);
        } else if halt == Err(Halt::Malformed) {
            message = message.notice(Notice::Malformed);
        }
        if facts.throttle_ms > 0 {
            message = message
                .int(Name::Attribute("messaging.kafka.throttle_time_ms"), i64::from(facts.throttle_ms));
        }
        if let Some(why) = facts.why {
            message.text(Name::Error, why);
        }
        let status = match facts.error {
            None => Status::Unset,
            Some(0) => Status::Ok,
            Some(_) => Status::Error,
        };
        let error = facts.error.unwrap_or_default();
        let body = Body { role, key, bytes: size as u64, status, error, silent: false };
        Ok(self.advance(input, body, out))
    }

    /// Skips a token of header-less SASL.
    fn token(&mut self, input: &Input<'_>) -> Result<Progress, DecodeError> {
        let Some(first) = input.bytes.first_chunk() else { return Ok(Progress::at_least(4)) };
        let len = header::length(*first, 0)?;
        if len == 0 {
            return Ok(Progress::consumed(4));
        }
        let body = Body {
            role: Role::OneWay,
            key: Key::Order,
            bytes: 0,
            status: Status::Unset,
            error: 0,
            silent: true,
        };
        *self.lane(input.dir) = Lane::Inside(body);
        Ok(Progress::skip(4, len as u64))
    }

    /// Consumes a message that has begun with the first byte, or skips what of it is not there.
    fn advance(&mut self, input: &Input<'_>, body: Body, out: &mut Out) -> Progress {
        let there = input.bytes.len();
        match usize::try_from(body.bytes) {
            Ok(size) if size <= there => {
                self.end(input, &body, out);
                Progress::consumed(size)
            }
            _ => {
                *self.lane(input.dir) = Lane::Inside(body);
                Progress::skip(there, body.bytes.saturating_sub(there as u64))
            }
        }
    }

    fn end(&mut self, input: &Input<'_>, body: &Body, out: &mut Out) {
        *self.lane(input.dir) = Lane::Start;
        if body.silent {
            return;
        }
        let message = out.end(input, body.role, body.key, body.bytes, body.status);
        if body.status == Status::Error {
            match errors::name(body.error) {
                Some(name) => message.label(Name::StatusCode, name),
                None => message
                    .label(Name::StatusCode, "UNKNOWN_ERROR_CODE")
                    .int(Name::Attribute("messaging.kafka.error_code"), i64::from(body.error)),
            };
        }
    }
}

/// Reads the rest of a request's header and its fields.
fn request_fields<'a>(
    walk: &mut Walk<'_, 'a>,
    call: Call,
    client_id: &mut Option<&'a [u8]>,
    facts: &mut Facts<'a>,
) -> Result<(), Halt> {
    if call.name().is_none() {
        return Err(Halt::Enough);
    }
    if call.has_client_id() {
        // The client id is never compact, so that a broker can read it from a client of any release.
        *client_id = walk.text()?;
    }
    if !call.is_known() {
        return Err(Halt::Enough);
    }
    walk.flexible = call.is_flexible();
    walk.tags()?;
    walk.fields(layout(&requests::LAYOUTS, call), facts)
}

/// Reads the rest of an answer's header and its fields.
fn response_fields<'a>(walk: &mut Walk<'_, 'a>, call: Call, facts: &mut Facts<'a>) -> Result<(), Halt> {
    if !call.is_known() {
        return Err(Halt::Enough);
    }
    walk.tags()?;
    walk.flexible = call.is_flexible();
    if call.key == API_VERSIONS {
        let at = walk.at;
        if walk.array()? == UNSUPPORTED_VERSION {
            facts.error = Some(i16::from_be_bytes(UNSUPPORTED_VERSION));
            return Err(Halt::Enough);
        }
        walk.at = at;
    }
    walk.fields(layout(&responses::LAYOUTS, call), facts)
}

fn layout(layouts: &[&'static [layout::Field]], call: Call) -> &'static [layout::Field] {
    usize::try_from(call.key).ok().and_then(|key| layouts.get(key)).copied().unwrap_or_default()
}

/// What must be there so that segments do not decide how much of a message is read.
fn wanted(halt: Result<(), Halt>, there: usize, size: usize) -> Option<usize> {
    let limit = size.min(WINDOW);
    match halt {
        Err(Halt::Beyond(reach)) if there < limit && reach <= limit => Some(limit),
        _ => None,
    }
}

fn key(correlation: i32) -> Key {
    Key::Id(u64::from(correlation.cast_unsigned()))
}

/// Whether the frame that starts here has `need` bytes at least, as far as that is known.
fn holds(bytes: &[u8], need: usize) -> bool {
    let size = |first: &[u8; 4]| (u32::from_be_bytes(*first) as usize).saturating_add(4);
    bytes.first_chunk().is_none_or(|first| size(first) >= need)
}

/// Whether a frame without a header may start here.
fn token_fits(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|first| header::length(*first, 0).is_ok())
}
