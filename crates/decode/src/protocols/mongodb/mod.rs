//! MongoDB: one message after the other, requests paired with replies by their ids.
//!
//! * In: both lanes of a flow.
//! * Out: a roundtrip a command: `operation` the command, `resource` its collection; from the reply whether
//!   it went well, and why not. Unacknowledged writes and pushed replies are one-way.
//! * Owned: where each lane is in its message; the command whose replies are pushed.
//! * Bounded by: [`WINDOW`] bytes of a message looked at at once; values that nobody reads are skipped by
//!   their length, so a batch of 48 MB is counted and not stored.
//! * Lost: elements behind the first 128 of a document; commands inside zstd.
//!
//! Decoded: OP_MSG with its sections, OP_COMPRESSED (noop, snappy, zlib), and the opcodes that servers
//! before 5.1 know: OP_QUERY, OP_REPLY, OP_INSERT, OP_UPDATE, OP_DELETE, OP_GET_MORE, OP_KILL_CURSORS.
//! Values of a command's fields (filters, documents, passwords, SASL payloads) are never kept.

mod bson;
mod compressed;
mod describe;
mod head;
#[cfg(test)]
mod tests;
mod walk;
mod wire;

use crate::{
    AfterGap, DecodeError, Decoder, Input, Key, Meta, Name, Notice, Out, Progress, Role, Start, Status,
    Verdict, What,
};
use describe::{describe, failure};
use head::{Head, START_BYTES, starts};
use model::{Dir, Transport};
use walk::{Facts, Numbers, Stop, Walk};
use wire::{HEADER, Header, Opcode, le_u32};

/// Bytes of a message that are looked at at once.
const WINDOW: usize = 4_096;

/// Bytes of a command's name that are remembered for the replies pushed after it.
const MAX_COMMAND: usize = 24;

/// Flags of an OP_MSG.
const CHECKSUM_PRESENT: u32 = 1;
const MORE_TO_COME: u32 = 1 << 1;
const EXHAUST_ALLOWED: u32 = 1 << 16;
/// MongoDB.
#[derive(Debug)]
pub struct Mongodb {
    lanes: [Lane; 2],
    /// The id of the reply that announced another one.
    pushing: Option<u32>,
    /// The command that allowed replies to be pushed.
    pushed: [u8; MAX_COMMAND],
    pushed_len: u8,
}

#[derive(Debug, Clone, Copy)]
enum Lane {
    /// Anywhere in a message.
    Lost,
    /// At the start of one.
    Start,
    /// Inside one.
    Inside(Body),
}

/// A message that has begun.
#[derive(Debug, Clone, Copy)]
struct Body {
    role: Role,
    key: Key,
    bytes: u32,
    /// `None` when the rest is skipped.
    walk: Option<Walk>,
    numbers: Numbers,
}

impl Decoder for Mongodb {
    const META: Meta = Meta {
        name: "mongodb",
        title: "MongoDB",
        transports: &[Transport::Tcp],
        ports: &[27017, 27018, 27019],
        probe_bytes: START_BYTES,
        max_message: 16_384,
        specs: &[
            "https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/",
            "https://bsonspec.org/spec.html",
        ],
        decoded: "Commands with collection, database and outcome; legacy opcodes; snappy and zlib.",
        not_decoded: "Commands inside zstd; filters and documents are never kept.",
    };

    fn open(start: Start) -> Self {
        let lane = if start == Start::Middle { Lane::Lost } else { Lane::Start };
        Self { lanes: [lane; 2], pushing: None, pushed: [0; MAX_COMMAND], pushed_len: 0 }
    }

    fn probe(input: &Input<'_>) -> Verdict {
        match starts(input.bytes) {
            None => Verdict::NeedMore,
            Some(None) => Verdict::No,
            Some(Some(header)) => match (header.opcode, input.dir) {
                (Opcode::Reply, Dir::ToServer) => Verdict::No,
                (Opcode::Msg | Opcode::Compressed | Opcode::Query, _) => Verdict::Yes,
                _ => Verdict::Likely,
            },
        }
    }

    fn decode(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        if let Lane::Inside(body) = *self.lane(input.dir) {
            if input.bytes.is_empty() && input.is_last() {
                // The lane ended inside the message: it has no end to tell.
                return Ok(Progress::at_least(1));
            }
            match self.go_on(input, body, out)? {
                Some(progress) => return Ok(progress),
                None if input.bytes.is_empty() => return Ok(Progress::at_least(1)),
                None => {}
            }
        }
        if matches!(self.lane(input.dir), Lane::Lost) {
            match starts(input.bytes) {
                _ if !input.segment_start => return Ok(Progress::consumed(input.bytes.len())),
                None if input.is_last() => return Ok(Progress::consumed(input.bytes.len())),
                None => return Ok(Progress::at_least(START_BYTES)),
                Some(None) => return Ok(Progress::consumed(input.bytes.len())),
                Some(Some(_)) => *self.lane(input.dir) = Lane::Start,
            }
        }
        let Some(first) = input.bytes.first_chunk() else { return Ok(Progress::at_least(HEADER)) };
        let header = Header::read(first)?;
        self.message(input, &header, out)
    }

    fn gap(&mut self, dir: Dir, _: u64, _: &mut Out) -> AfterGap {
        *self.lane(dir) = Lane::Lost;
        self.pushing = None;
        AfterGap::Resync
    }
}

impl Mongodb {
    const fn lane(&mut self, dir: Dir) -> &mut Lane {
        let [to_server, to_client] = &mut self.lanes;
        match dir {
            Dir::ToServer => to_server,
            Dir::ToClient => to_client,
        }
    }

    /// Begins a message; its first byte is the first of `input`.
    fn message(
        &mut self,
        input: &Input<'_>,
        header: &Header,
        out: &mut Out,
    ) -> Result<Progress, DecodeError> {
        let size = header.len as usize;
        let window = input.bytes.get(..size.min(WINDOW)).unwrap_or(input.bytes);
        let more = |need: usize| Ok(Progress::at_least(need));
        let body = window.get(HEADER..).unwrap_or_default();
        let reply = input.dir == Dir::ToClient;
        let mut front = [0; compressed::FRONT];
        let (mut head, bytes, fixed, mut walk): (Head<'_>, &[u8], usize, Option<Walk>);
        if header.opcode == Opcode::Compressed {
            if window.len() < size.min(WINDOW) && !input.is_last() {
                return more(size.min(WINDOW));
            }
            let (Some(number), Some(id)) = (le_u32(body, 0), body.get(8).copied()) else {
                return Err(DecodeError::new(What::Truncated, HEADER));
            };
            let opcode =
                Opcode::from_number(number).ok_or_else(|| DecodeError::new(What::BadMagic, HEADER))?;
            let packed = body.get(9..).unwrap_or_default();
            let filled = compressed::decompress(id, packed, &mut front);
            let left = le_u32(body, 4).unwrap_or_default();
            bytes = front.get(..filled).unwrap_or_default();
            // What is inside may be cut or damaged; the message around it is not, so nothing is an error.
            (head, fixed, walk) = match head::head(opcode, bytes, left, reply) {
                Ok(Ok(read)) => read,
                _ => (Head::new(opcode), 0, None),
            };
            head.unknown = filled == 0;
            head.compressor = Some(compressed::compressor(id).unwrap_or("unknown"));
        } else {
            bytes = body;
            let left = header.len.saturating_sub(16);
            match head::head(header.opcode, bytes, left, reply)? {
                Ok(read) => (head, fixed, walk) = read,
                Err(need) if need.saturating_add(HEADER) > size => {
                    return Err(DecodeError::new(What::BadLength, 0));
                }
                Err(need) => return more(need.saturating_add(HEADER)),
            }
        }
        let mut facts = Facts::default();
        let mut used = HEADER.saturating_add(fixed);
        let mut next = walk.as_ref().map_or(Stop::Done, |_| Stop::Jump(0));
        if let Some(walk) = &mut walk {
            let (n, stop) = match walk.run(bytes.get(fixed..).unwrap_or_default(), true, &mut facts) {
                Err(_) if head.compressor.is_some() => (0, Stop::Done),
                other => other?,
            };
            if head.compressor.is_none()
                && let Some(need) = wanted(stop, used, n, window.len(), size)
            {
                return more(need);
            }
            used = used.saturating_add(n);
            next = stop;
        }
        if head.compressor.is_some() {
            (used, next, walk) = (HEADER, Stop::Done, None);
        }
        let (role, key) = self.role(input.dir, header, &head, facts.command);
        let message = out.begin(input, role, key);
        let pushed = self.pushed.get(..usize::from(self.pushed_len));
        let pushed = pushed.filter(|_| reply && role == Role::OneWay);
        describe(message, role, &head, &facts, pushed);
        let (next, skip) = match next {
            Stop::Jump(skip) => (walk, u64::from(skip)),
            Stop::Need(_) => (walk, 0),
            Stop::Done => (None, size.saturating_sub(used) as u64),
        };
        let body = Body { role, key, bytes: header.len, walk: next, numbers: facts.numbers };
        Ok(self.advance(input, body, used, skip, &facts, out))
    }

    /// Goes on inside a message; `None` when it has ended and nothing was consumed.
    fn go_on(
        &mut self,
        input: &Input<'_>,
        mut body: Body,
        out: &mut Out,
    ) -> Result<Option<Progress>, DecodeError> {
        let mut facts = Facts { numbers: body.numbers, ..Facts::default() };
        let (mut used, mut skip) = (0, 0);
        if let Some(walk) = &mut body.walk {
            let left = walk.left as usize;
            let window = input.bytes.get(..left.min(WINDOW)).unwrap_or(input.bytes);
            let (n, stop) = walk.run(window, false, &mut facts)?;
            if let Some(need) = wanted(stop, 0, n, window.len(), left) {
                return Ok(Some(Progress::at_least(need)));
            }
            used = n;
            match stop {
                Stop::Jump(jump) => skip = u64::from(jump),
                Stop::Need(_) => {}
                Stop::Done => {
                    skip = u64::from(walk.left);
                    body.walk = None;
                }
            }
        }
        body.numbers = facts.numbers;
        if used == 0 && skip == 0 && body.walk.is_none() {
            self.end(input, &body, &facts, out);
            return Ok(None);
        }
        Ok(Some(self.advance(input, body, used, skip, &facts, out)))
    }

    /// Consumes `used` bytes and skips `skip`; ends the message when that was its end.
    fn advance(
        &mut self,
        input: &Input<'_>,
        body: Body,
        used: usize,
        skip: u64,
        facts: &Facts<'_>,
        out: &mut Out,
    ) -> Progress {
        // A value may end behind what is here: the rest of it is skipped.
        let beyond = used.saturating_sub(input.bytes.len());
        let used = used.saturating_sub(beyond);
        let skip = skip.saturating_add(u64::try_from(beyond).unwrap_or(u64::MAX));
        if body.walk.is_none() && skip == 0 {
            self.end(input, &body, facts, out);
            return Progress::consumed(used);
        }
        // Of a rest that is in the window nothing more need be asked.
        let here = input.bytes.len().saturating_sub(used);
        if body.walk.is_none()
            && let Ok(rest) = usize::try_from(skip)
            && rest <= here
        {
            self.end(input, &body, facts, out);
            return Progress::consumed(used.saturating_add(rest));
        }
        *self.lane(input.dir) = Lane::Inside(body);
        if skip == 0 { Progress::consumed(used) } else { Progress::skip(used, skip) }
    }

    fn end(&mut self, input: &Input<'_>, body: &Body, facts: &Facts<'_>, out: &mut Out) {
        *self.lane(input.dir) = Lane::Start;
        let numbers = &body.numbers;
        let reply = input.dir == Dir::ToClient;
        let status = match (numbers.ok, numbers.write_failed) {
            _ if !reply => Status::Unset,
            (Some(false), _) | (_, true) => Status::Error,
            (Some(true), false) => Status::Ok,
            (None, false) => Status::Unset,
        };
        let mut message = out.end(input, body.role, body.key, u64::from(body.bytes), status);
        if !reply {
            // What stood behind a value too large to wait for.
            if let Some(db) = facts.db.filter(|_| body.bytes as usize > WINDOW) {
                message = message.text(Name::Attribute("db.namespace"), db);
            }
        } else if status == Status::Error {
            message = failure(message, facts, numbers);
        }
        if numbers.cut {
            message.notice(Notice::FieldsCut);
        }
    }

    /// What a message is to the pairing; remembers who may push replies.
    fn role(&mut self, dir: Dir, header: &Header, head: &Head<'_>, command: Option<&[u8]>) -> (Role, Key) {
        let more = head.opcode == Opcode::Msg && head.flags & MORE_TO_COME != 0;
        if dir == Dir::ToServer {
            let role = match head.opcode {
                Opcode::Insert | Opcode::Update | Opcode::Delete | Opcode::KillCursors => Role::OneWay,
                _ if more => Role::OneWay,
                _ => Role::Request,
            };
            if head.flags & EXHAUST_ALLOWED != 0
                && let Some(name) = command
            {
                self.pushed_len = 0;
                for (slot, byte) in self.pushed.iter_mut().zip(name) {
                    *slot = *byte;
                    self.pushed_len = self.pushed_len.saturating_add(1);
                }
            }
            return (role, Key::Id(u64::from(header.request_id)));
        }
        // Each pushed reply answers the one before it, not the request.
        let pushed = self.pushing == Some(header.response_to);
        if more {
            self.pushing = Some(header.request_id);
        } else if pushed {
            self.pushing = None;
        }
        (if pushed { Role::OneWay } else { Role::Response }, Key::Id(u64::from(header.response_to)))
    }
}

/// What must be there before a step of the walk counts: everything in the window that it could read, so
/// that segments do not decide what is read. `size` is where the message ends, seen from the window's start.
fn wanted(stop: Stop, before: usize, used: usize, there: usize, size: usize) -> Option<usize> {
    let reach = match stop {
        Stop::Need(need) => before.saturating_add(need),
        Stop::Jump(jump) => before.saturating_add(used).saturating_add(jump as usize),
        Stop::Done => return None,
    };
    let enough = reach <= there || reach > WINDOW.min(size);
    // A need beyond the window starts a window of its own, unless it stands at the front of this one.
    let stuck = matches!(stop, Stop::Need(_)) && used == 0 && before == 0;
    (!enough || stuck).then_some(reach)
}
