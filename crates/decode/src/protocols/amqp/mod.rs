//! AMQP 0-9-1: methods over the channels of a connection, contents with their properties.
//!
//! * In: both lanes of a flow.
//! * Out: a roundtrip a question (`queue.declare`, `basic.get`, ...); of a publish on a channel with confirms
//!   a roundtrip with its confirm, of any other publish and of deliveries and returns one message one-way.
//!   `operation` is the method, `resource` the queue, the exchange or `exchange:routing key`.
//! * Owned: questions and unconfirmed publishes per channel, contents under way.
//! * Bounded by: 256 channels, 32 questions a channel, 4,096 unconfirmed publishes, [`WINDOW`] bytes of a
//!   frame; bodies are skipped.
//! * Lost: methods larger than the window; confirms of a connection joined in the middle, whose count of
//!   publishes is not known.
//!
//! Not decoded: AMQP 1.0, which shares the port and the first four bytes. SASL responses are never kept.

mod channels;
mod describe;
mod frame;
mod method;
mod properties;
#[cfg(test)]
mod tests;

use crate::{
    AfterGap, DecodeError, Decoder, Input, Key, Meta, Name, Notice, Out, Progress, Role, Start, Status,
    Verdict, What,
};
use channels::{Channels, Content};
use describe::{describe, failure, properties as describe_properties};
use frame::{END, Frame, HEAD, MAX_PAYLOAD, Type, starts};
use method::{Args, Kind, Method};
use model::{Dir, Nanos, Transport};

/// Bytes of the largest method or header frame that is read.
const WINDOW: usize = 65_536;

/// Bytes of a frame around its payload.
const FRAMING: u64 = 8;

/// What both sides may start with.
const VERSION_0_9_1: [u8; 8] = *b"AMQP\x00\x00\x09\x01";

/// AMQP.
#[derive(Debug)]
pub struct Amqp {
    lanes: [Lane; 2],
    channels: Channels,
    /// The largest payload that was agreed on.
    most: u32,
    /// When the last byte of each lane was seen.
    seen: [Nanos; 2],
}

#[derive(Debug, Clone, Copy)]
enum Lane {
    /// Anywhere in a frame.
    Lost,
    /// At the start of one.
    Start,
    /// Before the last byte of one whose payload was skipped; a body of the channel, or nothing of interest.
    Last(Option<(u16, u32)>),
}

impl Decoder for Amqp {
    const META: Meta = Meta {
        name: "amqp",
        title: "AMQP 0-9-1",
        transports: &[Transport::Tcp],
        ports: &[5672],
        probe_bytes: 1_024,
        max_message: WINDOW,
        specs: &["https://www.rabbitmq.com/amqp-0-9-1-reference.html"],
        decoded: "Methods with queue, exchange and routing key; publishes with confirms; properties; errors.",
        not_decoded: "Bodies; AMQP 1.0; confirms of a connection joined in the middle.",
    };

    fn open(start: Start) -> Self {
        let lane = if start == Start::Middle { Lane::Lost } else { Lane::Start };
        Self {
            lanes: [lane; 2],
            channels: Channels::default(),
            most: MAX_PAYLOAD,
            seen: [Nanos(i64::MIN); 2],
        }
    }

    fn probe(input: &Input<'_>) -> Verdict {
        let bytes = input.bytes;
        if let Some(version) = bytes.strip_prefix(b"AMQP") {
            return match version {
                [0, 0, 9, 1, ..] | [0 | 2 | 3, 1, 0, 0, ..] => Verdict::Yes,
                [_, _, _, _, ..] => Verdict::Likely,
                _ => Verdict::NeedMore,
            };
        }
        if !bytes.is_empty() && b"AMQP".starts_with(bytes) {
            return Verdict::NeedMore;
        }
        match starts(bytes, Self::META.probe_bytes) {
            Ok(()) => Verdict::Yes,
            Err(0) => Verdict::No,
            Err(_) => Verdict::NeedMore,
        }
    }

    fn decode(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let bytes = input.bytes;
        if let Some(seen) = self.seen.get_mut(input.dir.index()) {
            *seen = input.time.max(*seen);
        }
        match *self.lane(input.dir) {
            Lane::Start => {}
            Lane::Last(body) => {
                let Some(last) = bytes.first() else { return Ok(Progress::at_least(1)) };
                if *last != END {
                    return Err(DecodeError::new(What::BadMagic, 0));
                }
                *self.lane(input.dir) = Lane::Start;
                if let Some((channel, payload)) = body {
                    self.body(input, channel, payload, out);
                }
                return Ok(Progress::consumed(1));
            }
            Lane::Lost => {
                if !input.segment_start {
                    return Ok(Progress::consumed(bytes.len()));
                }
                match starts(bytes, WINDOW) {
                    Ok(()) => *self.lane(input.dir) = Lane::Start,
                    Err(need) if need > bytes.len() && !input.is_last() => {
                        return Ok(Progress::at_least(need));
                    }
                    Err(_) => return Ok(Progress::consumed(bytes.len())),
                }
            }
        }
        if bytes.first() == Some(&b'A') {
            return version(input, out);
        }
        let Some(head) = bytes.first_chunk() else { return Ok(Progress::at_least(HEAD)) };
        let frame = Frame::read(head, self.most)?;
        let size = frame.size();
        let seen = matches!(frame.what, Type::Method | Type::Header) && size <= WINDOW;
        if bytes.len() < size {
            if seen || frame.what == Type::Heartbeat {
                return Ok(Progress::at_least(size.min(WINDOW)));
            }
            let body = (frame.what == Type::Body).then_some((frame.channel, frame.payload));
            *self.lane(input.dir) = Lane::Last(body);
            return Ok(Progress::skip(HEAD, u64::from(frame.payload)));
        }
        let last = size.saturating_sub(1);
        if bytes.get(last) != Some(&END) {
            return Err(DecodeError::new(What::BadMagic, last));
        }
        let payload = bytes.get(HEAD..last).unwrap_or_default();
        match frame.what {
            Type::Method if seen => self.method(input, &frame, payload, out),
            Type::Header if seen => self.header(input, &frame, payload, out),
            Type::Body => self.body(input, frame.channel, frame.payload, out),
            Type::Method | Type::Header | Type::Heartbeat => {}
        }
        Ok(Progress::consumed(size))
    }

    fn gap(&mut self, dir: Dir, _: u64, _: &mut Out) -> AfterGap {
        *self.lane(dir) = Lane::Lost;
        self.channels.gap(dir);
        AfterGap::Resync
    }
}

impl Amqp {
    const fn lane(&mut self, dir: Dir) -> &mut Lane {
        let [to_server, to_client] = &mut self.lanes;
        match dir {
            Dir::ToServer => to_server,
            Dir::ToClient => to_client,
        }
    }

    /// Whether the other lane is ahead: it showed bytes that were sent after these.
    fn is_late(&self, input: &Input<'_>) -> bool {
        self.seen.get(input.dir.reverse().index()).is_some_and(|seen| *seen > input.time)
    }

    fn method(&mut self, input: &Input<'_>, frame: &Frame, payload: &[u8], out: &mut Out) {
        let Some(([c0, c1, m0, m1], rest)) = payload.split_first_chunk::<4>() else { return };
        let (class, id) = (u16::from_be_bytes([*c0, *c1]), u16::from_be_bytes([*m0, *m1]));
        let bytes = frame.size() as u64;
        let Some(method) = method::find(class, id) else {
            let key = self.channels.fresh(frame.channel);
            out.begin(input, Role::OneWay, key).notice(Notice::Unknown);
            out.end(input, Role::OneWay, key, bytes, Status::Unset);
            return;
        };
        let read = method.read(rest);
        let args = read.unwrap_or_default();
        let sound = read.is_some();
        match method.kind {
            Kind::Content => self.content(input, frame, method, rest),
            Kind::Note if input.dir == Dir::ToClient && self.confirm(input, frame, method, &args, out) => {}
            Kind::Note => {
                let key = self.channels.fresh(frame.channel);
                one_way(input, key, frame, method, &args, out);
            }
            Kind::Answer => self.answer(input, frame, method, &args, out),
            Kind::Ask(_) if matches!(method.number(), method::CHANNEL_CLOSE | method::CONNECTION_CLOSE) => {
                self.close(input, frame, method, &args, out);
            }
            Kind::Ask(unless) => {
                if method.number() == method::CHANNEL_OPEN {
                    self.channels.close(frame.channel);
                }
                let wanted = sound && args.bits & unless == 0;
                let key = match wanted {
                    false => None,
                    // Held back behind a gap: its answer may have passed, and must not be another's.
                    true if self.is_late(input) => Some(self.channels.fresh(frame.channel)),
                    true => self.channels.ask(frame.channel, method.number(), input.dir),
                };
                match key {
                    Some(key) => {
                        let message = out.begin(input, Role::Request, key);
                        describe(message, method, &args, frame.channel);
                        out.end(input, Role::Request, key, bytes, Status::Unset);
                    }
                    None => {
                        let key = self.channels.fresh(frame.channel);
                        one_way(input, key, frame, method, &args, out);
                    }
                }
                if method.number() == method::CONFIRM_SELECT && input.dir == Dir::ToServer {
                    self.channels.confirm(frame.channel);
                }
            }
        }
    }

    /// A method that a content follows: it is told when the content's header has come.
    fn content(&mut self, input: &Input<'_>, frame: &Frame, method: &Method, args: &[u8]) {
        let (id, number) = (frame.channel, method.number());
        let (role, key) = match number {
            method::BASIC_PUBLISH if input.dir == Dir::ToServer => match self.channels.publish(id) {
                Some(key) => (Role::Request, key),
                None => (Role::OneWay, self.channels.fresh(id)),
            },
            method::BASIC_GET_OK => {
                let asked = self.channels.answer(id, input.dir, |asked| method.answers(asked), |_| {});
                (Role::Response, asked.map_or_else(|| self.channels.fresh(id), |ask| ask.key))
            }
            _ => (Role::OneWay, self.channels.fresh(id)),
        };
        let Some(channel) = self.channels.channel(id) else { return };
        let at = input.dir.index();
        let (Some(slot), Some(kept)) = (channel.contents.get_mut(at), channel.args.get_mut(at)) else {
            return;
        };
        kept.clear();
        kept.extend_from_slice(args);
        let bytes = frame.size() as u64;
        *slot = Some(Content { method: number, time: input.first, role, key, bytes, left: None });
    }

    fn header(&mut self, input: &Input<'_>, frame: &Frame, payload: &[u8], out: &mut Out) {
        let Some(channel) = self.channels.channel(frame.channel) else { return };
        let at = input.dir.index();
        let (Some(Some(content)), Some(kept)) = (channel.contents.get_mut(at), channel.args.get(at)) else {
            return;
        };
        let Some(properties) = properties::read(payload) else { return };
        if content.left.is_some() {
            return;
        }
        content.bytes = content.bytes.saturating_add(frame.size() as u64);
        content.left = Some(properties.body);
        let (class, id) = content.method;
        let Some(method) = method::find(class, id) else { return };
        let args = method.read(kept).unwrap_or_default();
        let message = out.begin_at(input.dir, content.time, content.role, content.key);
        let message = describe(message, method, &args, frame.channel);
        describe_properties(message, &properties);
        if properties.body == 0 {
            self.body(input, frame.channel, 0, out);
        }
    }

    /// So much of a content's body has passed.
    fn body(&mut self, input: &Input<'_>, id: u16, payload: u32, out: &mut Out) {
        let Some(channel) = self.channels.channel(id) else { return };
        let at = input.dir.index();
        let (Some(slot), Some(kept)) = (channel.contents.get_mut(at), channel.args.get(at)) else { return };
        let Some(content) = slot else { return };
        let Some(left) = content.left else { return };
        if payload > 0 {
            content.bytes = content.bytes.saturating_add(u64::from(payload)).saturating_add(FRAMING);
        }
        let left = left.saturating_sub(u64::from(payload));
        content.left = Some(left);
        if left > 0 {
            return;
        }
        let returned = content.method == method::BASIC_RETURN;
        let status = match content.role {
            Role::Response => Status::Ok,
            _ if returned => Status::Error,
            _ => Status::Unset,
        };
        let message = out.end(input, content.role, content.key, content.bytes, status);
        if returned && let Some(args) = method::find(60, 50).and_then(|method| method.read(kept)) {
            failure(message, &args);
        }
        *slot = None;
    }

    /// A confirm from the server; `false` when it is none, or of nothing that is waiting.
    fn confirm(
        &mut self,
        input: &Input<'_>,
        frame: &Frame,
        method: &Method,
        args: &Args<'_>,
        out: &mut Out,
    ) -> bool {
        let status = match method.number() {
            method::BASIC_ACK => Status::Ok,
            method::BASIC_NACK => Status::Error,
            _ => return false,
        };
        let Some(tag) = args.tag else { return true };
        // One frame may confirm many; its bytes are counted once.
        let mut bytes = frame.size() as u64;
        self.channels.confirmed(frame.channel, tag, args.bits & 1 != 0, |key| {
            out.begin(input, Role::Response, key);
            let message = out.end(input, Role::Response, key, bytes, status);
            if status == Status::Error {
                message.label(Name::StatusCode, "nack");
            }
            bytes = 0;
        });
        true
    }

    fn answer(&mut self, input: &Input<'_>, frame: &Frame, method: &Method, args: &Args<'_>, out: &mut Out) {
        let id = frame.channel;
        let bytes = frame.size() as u64;
        let cut = |key| out.cut(input.time, key, "no_answer");
        let asked = self.channels.answer(id, input.dir, |asked| method.answers(asked), cut);
        let closes = method.name.ends_with("close-ok");
        match asked {
            Some(ask) => {
                let message = out.begin(input, Role::Response, ask.key);
                describe::answer(message, args);
                // How it went, a close says itself.
                let status = if closes { Status::Unset } else { Status::Ok };
                out.end(input, Role::Response, ask.key, bytes, status);
            }
            // The close that answered a question had no row of its own.
            None if closes => {}
            None => {
                let key = self.channels.fresh(id);
                let message = out.begin(input, Role::Response, key).label(Name::Operation, method.name);
                describe::answer(message, args);
                out.end(input, Role::Response, key, bytes, Status::Ok);
            }
        }
        match method.number() {
            method::CONNECTION_TUNE_OK => {
                self.most = match args.count {
                    None | Some(0) => MAX_PAYLOAD,
                    Some(most) => most.max(4_096),
                };
            }
            method::CHANNEL_CLOSE_OK => {
                self.channels.give_up(id, |key| out.cut(input.time, key, "channel_closed"));
                self.channels.close(id);
            }
            _ if closes => self.channels.give_up_all(|key| out.cut(input.time, key, "connection_closed")),
            _ => {}
        }
    }

    /// A channel or connection is closed: the answer to the question that failed, or a question itself.
    fn close(&mut self, input: &Input<'_>, frame: &Frame, method: &Method, args: &Args<'_>, out: &mut Out) {
        let bytes = frame.size() as u64;
        let failed = args.code.is_some_and(|code| code >= 300);
        let connection = method.number() == method::CONNECTION_CLOSE;
        let mut asked = None;
        if failed && args.failing != (0, 0) {
            let mut at = 0usize;
            let mut next = if connection { self.channels.id(0) } else { Some(frame.channel) };
            while let Some(id) = next {
                let cut = |key| out.cut(input.time, key, "no_answer");
                asked = self.channels.answer(id, input.dir, |asked| asked == args.failing, cut);
                at = at.saturating_add(1);
                next = if connection && asked.is_none() { self.channels.id(at) } else { None };
            }
        }
        if failed {
            let why = if connection { "connection_closed" } else { "channel_closed" };
            let cut = |key| out.cut(input.time, key, why);
            if connection {
                self.channels.give_up_all(cut);
            } else {
                self.channels.give_up(frame.channel, cut);
            }
        }
        let status = if failed { Status::Error } else { Status::Ok };
        let (role, key) = match asked {
            Some(ask) => (Role::Response, ask.key),
            None => match self.channels.ask(frame.channel, method.number(), input.dir) {
                Some(key) => (Role::Request, key),
                None => (Role::OneWay, self.channels.fresh(frame.channel)),
            },
        };
        let message = out.begin(input, role, key);
        if role != Role::Response {
            describe(message, method, args, frame.channel);
        }
        let message = out.end(input, role, key, bytes, status);
        if failed {
            failure(message, args);
        }
    }
}

/// A method that nobody answers.
fn one_way(input: &Input<'_>, key: Key, frame: &Frame, method: &Method, args: &Args<'_>, out: &mut Out) {
    describe(out.begin(input, Role::OneWay, key), method, args, frame.channel);
    out.end(input, Role::OneWay, key, frame.size() as u64, Status::Unset);
}

/// The protocol header.
fn version(input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
    let Some(header) = input.bytes.first_chunk::<8>() else { return Ok(Progress::at_least(8)) };
    if *header == VERSION_0_9_1 {
        return Ok(Progress::consumed(8));
    }
    let Some(version) = header.strip_prefix(b"AMQP") else {
        return Err(DecodeError::new(What::BadMagic, 0));
    };
    out.opaque(if matches!(version, [_, 1, 0, 0]) { "amqp-1.0" } else { "amqp" });
    Ok(Progress::stop(input.bytes.len()))
}
