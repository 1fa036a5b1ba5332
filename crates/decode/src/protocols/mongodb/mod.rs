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
#[cfg(test)]
mod tests;
mod walk;
mod wire;

use crate::{
    AfterGap, DecodeError, Decoder, Input, Key, Message, Meta, Name, Notice, Out, Progress, Role, Start,
    Status, Verdict, What,
};
use model::{Dir, Transport};
use walk::{Facts, Numbers, Stop, Walk};
use wire::{HEADER, Header, MAX_MESSAGE_BYTES, Opcode, le_i32, le_u32};

/// Bytes of a message that are looked at at once.
const WINDOW: usize = 4_096;

/// Bytes of the longest namespace in a legacy message.
const MAX_NAMESPACE: usize = 512;

/// Bytes of a command's name that are remembered for the replies pushed after it.
const MAX_COMMAND: usize = 24;

/// Bytes that tell whether a message starts here: header, flags, section kind, and the first type and key.
const START_BYTES: usize = 32;

/// Flags of an OP_MSG.
const CHECKSUM_PRESENT: u32 = 1;
const MORE_TO_COME: u32 = 1 << 1;
const EXHAUST_ALLOWED: u32 = 1 << 16;
/// The flags that a receiver must understand and that no version defines.
const UNDEFINED_FLAGS: u32 = 0xfffc;

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

/// What the head of a message said.
struct Head<'a> {
    opcode: Opcode,
    compressor: Option<&'static str>,
    flags: u32,
    /// `db.collection` of a legacy message.
    namespace: Option<&'a [u8]>,
    label: Option<&'static str>,
    unknown: bool,
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
        let (mut head, bytes, fixed, mut walk);
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
            (head, fixed, walk) = match self::head(opcode, bytes, left, reply) {
                Ok(Ok(read)) => read,
                _ => (Head::new(opcode), 0, None),
            };
            head.unknown = filled == 0;
            head.compressor = Some(compressed::compressor(id).unwrap_or("unknown"));
        } else {
            bytes = body;
            let left = header.len.saturating_sub(16);
            match self::head(header.opcode, bytes, left, reply)? {
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
        self.describe(message, role, &head, &facts);
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
            if let Some(code) = numbers.code {
                let mut room = [0; 20];
                message = message.text(Name::StatusCode, digits(code, &mut room));
            }
            if let Some(text) = facts.message {
                message = message.text(Name::Error, text);
            }
            if let Some(name) = facts.code_name {
                message = message.text(Name::Attribute("error.type"), name);
            }
            if let Some(count) = numbers.write_errors {
                message = message.int(Name::Attribute("db.mongodb.write_errors"), i64::from(count));
            }
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

    fn describe(&self, mut message: Message<'_>, role: Role, head: &Head<'_>, facts: &Facts<'_>) {
        let reply = role == Role::Response || head.opcode == Opcode::Reply;
        if reply {
            compression(message, head);
            return;
        }
        if role == Role::OneWay && facts.command.is_none() && head.label.is_none() && !head.unknown {
            let name = self.pushed.get(..usize::from(self.pushed_len)).unwrap_or_default();
            compression(message.text(Name::Operation, name), head);
            return;
        }
        let mut db = facts.db;
        let mut target = facts.target;
        match (facts.command.filter(|_| head.label.is_none()), head.label) {
            (Some(command), _) => message = message.text(Name::Operation, command),
            (None, Some(label)) => message = message.label(Name::Operation, label),
            (None, None) => message = message.notice(Notice::Unknown),
        }
        if let Some(namespace) = head.namespace {
            let dot = memchr::memchr(b'.', namespace).unwrap_or(namespace.len());
            db = namespace.get(..dot);
            if head.label.is_some() {
                target = namespace.get(dot.saturating_add(1)..);
            }
        }
        if let Some(target) = target.filter(|target| !target.is_empty()) {
            message = message.text(Name::Resource, target);
            if facts.command.is_none_or(names_collection) || head.label.is_some() {
                message = message.text(Name::Attribute("db.collection.name"), target);
            }
        }
        if let Some(db) = db.filter(|db| !db.is_empty()) {
            message = message.text(Name::Attribute("db.namespace"), db);
        }
        if let Some(cursor) = facts.numbers.cursor {
            message = message.int(Name::Attribute("db.mongodb.cursor_id"), cursor);
        }
        if let Some(count) = facts.numbers.batch {
            message = message.int(Name::Attribute("db.operation.batch.size"), i64::from(count));
        }
        if facts.numbers.cut {
            message = message.notice(Notice::FieldsCut);
        }
        if head.unknown && head.compressor.is_some() {
            message = message.notice(Notice::Unknown);
        }
        compression(message, head);
    }
}

/// Says how a message was compressed.
fn compression<'o>(message: Message<'o>, head: &Head<'_>) -> Message<'o> {
    let Some(name) = head.compressor else { return message };
    message
        .label(Name::Attribute("db.mongodb.compressor"), name)
        .label(Name::Attribute("db.mongodb.opcode"), head.opcode.as_str())
}

impl Head<'_> {
    const fn new(opcode: Opcode) -> Self {
        Self { opcode, compressor: None, flags: 0, namespace: None, label: None, unknown: false }
    }
}

/// What stands before the documents: the head, its bytes, and the walk that follows.
type Read<'a> = (Head<'a>, usize, Option<Walk>);

/// Reads what stands before the documents of a message of `left` bytes; `Err(n)` when `n` bytes are needed.
fn head(
    opcode: Opcode,
    bytes: &[u8],
    left: u32,
    reply: bool,
) -> Result<Result<Read<'_>, usize>, DecodeError> {
    let mut head = Head::new(opcode);
    let behind = |fixed: usize| left.saturating_sub(u32::try_from(fixed).unwrap_or(u32::MAX));
    let fixed = match opcode {
        Opcode::Msg => {
            let Some(flags) = le_u32(bytes, 0) else { return Ok(Err(4)) };
            if flags & UNDEFINED_FLAGS != 0 {
                return Err(DecodeError::new(What::BadMagic, HEADER));
            }
            head.flags = flags;
            let walk = Walk::sections(behind(4), flags & CHECKSUM_PRESENT != 0, reply);
            return Ok(Ok((head, 4, Some(walk))));
        }
        Opcode::Reply => {
            let (Some(flags), Some(count)) = (le_u32(bytes, 0), le_i32(bytes, 16)) else {
                return Ok(Err(20));
            };
            head.flags = flags & 3;
            let walk = (count == 1 && left > 20).then(|| Walk::document(behind(20), true));
            return Ok(Ok((head, 20, walk)));
        }
        Opcode::KillCursors => {
            head.label = Some("killCursors");
            return Ok(Ok((head, 8, None)));
        }
        // Compressed inside of compressed does not exist.
        Opcode::Compressed => return Err(DecodeError::new(What::BadMagic, HEADER)),
        Opcode::Insert => "insert",
        Opcode::Update => "update",
        Opcode::Delete => "delete",
        Opcode::GetMore => "getMore",
        Opcode::Query => "find",
    };
    head.label = Some(fixed);
    let rest = bytes.get(4..).unwrap_or_default();
    let Some(namespace) = bson::cstring(rest, MAX_NAMESPACE) else {
        if rest.len() >= MAX_NAMESPACE {
            return Err(DecodeError::new(What::TooLarge, HEADER));
        }
        return Ok(Err(bytes.len().saturating_add(1).max(5)));
    };
    head.namespace = Some(namespace);
    let fixed = namespace.len().saturating_add(5);
    if opcode == Opcode::Query && namespace.ends_with(b".$cmd") {
        head.label = None;
        let fixed = fixed.saturating_add(8);
        return Ok(Ok((head, fixed, Some(Walk::document(behind(fixed), false)))));
    }
    Ok(Ok((head, fixed, None)))
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

/// Whether a message starts here; `None` when it takes more bytes to say.
fn starts(bytes: &[u8]) -> Option<Option<Header>> {
    let Some(first) = bytes.first_chunk() else {
        // The length alone rules out most.
        let long = le_u32(bytes, 0).is_some_and(|len| !(16..=MAX_MESSAGE_BYTES).contains(&len));
        return if long { Some(None) } else { None };
    };
    let Ok(header) = Header::read(first) else { return Some(None) };
    let body = bytes.get(HEADER..).unwrap_or_default();
    if body.len() < START_BYTES.saturating_sub(HEADER).min(header.len.saturating_sub(16) as usize) {
        return None;
    }
    let most = header.len.saturating_sub(16);
    let likely = match header.opcode {
        Opcode::Msg => {
            let flags = le_u32(body, 0).unwrap_or(u32::MAX);
            let defined = flags & !(CHECKSUM_PRESENT | MORE_TO_COME | EXHAUST_ALLOWED) == 0;
            defined
                && match body.get(4) {
                    Some(0) => {
                        let section = body.get(5..).unwrap_or_default();
                        bson::plausible(section, most.saturating_sub(5))
                    }
                    Some(1) => le_u32(body, 5).is_some_and(|len| len >= 5 && len < most),
                    _ => false,
                }
        }
        Opcode::Compressed => {
            let inner = le_u32(body, 0).and_then(Opcode::from_number);
            let id = body.get(8).copied();
            inner.is_some_and(|inner| inner != Opcode::Compressed)
                && le_u32(body, 4).is_some_and(|len| len <= MAX_MESSAGE_BYTES)
                && id.is_some_and(|id| compressed::compressor(id).is_some())
        }
        Opcode::Reply => {
            le_u32(body, 0).is_some_and(|flags| flags < 16) && le_i32(body, 12).is_some_and(|n| n >= 0)
        }
        Opcode::KillCursors => {
            le_u32(body, 0) == Some(0)
                && le_u32(body, 4).and_then(|n| n.checked_mul(8)).and_then(|n| n.checked_add(8)) == Some(most)
        }
        Opcode::Query => le_u32(body, 0).is_some_and(|flags| flags < 256) && namespace(body),
        Opcode::Insert => le_u32(body, 0).is_some_and(|flags| flags < 2) && namespace(body),
        _ => le_u32(body, 0) == Some(0) && namespace(body),
    };
    Some(likely.then_some(header))
}

/// Whether a readable namespace stands behind the flags, as far as it is there.
fn namespace(body: &[u8]) -> bool {
    let name = body.get(4..).unwrap_or_default();
    let readable = name.iter().take_while(|byte| **byte != 0);
    name.first().is_some_and(|byte| *byte != 0) && readable.into_iter().all(|byte| *byte >= b' ')
}

/// Whether the value of a command's first element is a collection.
fn names_collection(command: &[u8]) -> bool {
    !matches!(
        command,
        b"createUser"
            | b"updateUser"
            | b"dropUser"
            | b"grantRolesToUser"
            | b"revokeRolesFromUser"
            | b"usersInfo"
            | b"createRole"
            | b"updateRole"
            | b"dropRole"
            | b"rolesInfo"
            | b"grantPrivilegesToRole"
            | b"revokePrivilegesFromRole"
            | b"grantRolesToRole"
            | b"revokeRolesFromRole"
            | b"getLog"
            | b"getParameter"
            | b"setFeatureCompatibilityVersion"
            | b"configureFailPoint"
            | b"renameCollection"
            | b"enableSharding"
            | b"addShard"
            | b"removeShard"
            | b"movePrimary"
    )
}

/// A number as text.
fn digits(number: i64, room: &mut [u8; 20]) -> &[u8] {
    let mut rest = number.unsigned_abs();
    let mut at = room.len();
    for slot in room.iter_mut().rev() {
        *slot = b'0'.wrapping_add(u8::try_from(rest % 10).unwrap_or_default());
        at = at.saturating_sub(1);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0
        && let Some(slot) = at.checked_sub(1).and_then(|sign| room.get_mut(sign))
    {
        *slot = b'-';
        at = at.saturating_sub(1);
    }
    room.get(at..).unwrap_or_default()
}
