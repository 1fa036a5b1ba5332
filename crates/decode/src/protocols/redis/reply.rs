//! The server's lane: replies, and what is pushed between them.

use super::{
    commands::Topics,
    resp::{bulk, line, number},
    session::{Session, Special},
    walk::{Walk, Walked},
};
use crate::{DecodeError, Input, Key, Name, Notice, Out, Progress, Role, Status};
use model::{Dir, Nanos};

/// Bytes of a channel's name or a key for which a push is waited for.
const MAX_TOPIC: usize = 4_096;

/// The reply under way.
#[derive(Debug)]
pub(super) struct Replies {
    walk: Walk,
    /// Bytes that have passed.
    bytes: u64,
    /// What it was begun as.
    role: Role,
    /// Whether a reply is under way.
    open: bool,
    /// A response whose confirmations are not all there, and when the last of them ended.
    partial: Option<Nanos>,
    /// What its request asked for.
    special: Option<Special>,
    /// The place in the lane is lost.
    pub lost: bool,
}

/// The front of a message that may be pushed.
#[derive(Debug, Clone, Copy)]
struct Push<'a> {
    word: Word,
    /// The channel, or the first key.
    topic: Option<&'a [u8]>,
    /// How many subscriptions there are, of a confirmation.
    count: Option<u32>,
}

/// What kind of push it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    /// Subscribed or left.
    Confirm(&'static str, Topics),
    /// A message on a channel, or another push.
    Message(&'static str),
    /// None that is known.
    Other,
}

impl Word {
    fn new(word: &[u8]) -> Self {
        match word {
            b"subscribe" => Self::Confirm("SUBSCRIBE", Topics::Channels),
            b"psubscribe" => Self::Confirm("PSUBSCRIBE", Topics::Patterns),
            b"ssubscribe" => Self::Confirm("SSUBSCRIBE", Topics::Shards),
            b"unsubscribe" => Self::Confirm("UNSUBSCRIBE", Topics::Channels),
            b"punsubscribe" => Self::Confirm("PUNSUBSCRIBE", Topics::Patterns),
            b"sunsubscribe" => Self::Confirm("SUNSUBSCRIBE", Topics::Shards),
            b"message" => Self::Message("MESSAGE"),
            b"pmessage" => Self::Message("PMESSAGE"),
            b"smessage" => Self::Message("SMESSAGE"),
            b"invalidate" => Self::Message("INVALIDATE"),
            b"tracking-redir-broken" => Self::Message("TRACKING-REDIR-BROKEN"),
            _ => Self::Other,
        }
    }
}

impl Replies {
    pub(super) const fn new() -> Self {
        Self {
            walk: Walk::new(),
            bytes: 0,
            role: Role::Response,
            open: false,
            partial: None,
            special: None,
            lost: false,
        }
    }

    /// Forgets the reply under way.
    pub(super) fn clear(&mut self) {
        self.walk.clear();
        (self.open, self.partial, self.special) = (false, None, None);
    }

    pub(super) fn step(
        &mut self,
        session: &mut Session,
        input: &Input<'_>,
        out: &mut Out,
    ) -> Result<Progress, DecodeError> {
        let was_open = self.open;
        let progress = self.go_on(session, input, out)?;
        // What ends with a skip consumes nothing: go on with what follows it.
        if was_open && !self.open && progress == Progress::consumed(0) {
            return self.go_on(session, input, out);
        }
        Ok(progress)
    }

    fn go_on(
        &mut self,
        session: &mut Session,
        input: &Input<'_>,
        out: &mut Out,
    ) -> Result<Progress, DecodeError> {
        let bytes = input.bytes;
        let begins = !self.open;
        if begins {
            match bytes {
                [] => return Ok(Progress::at_least(1)),
                // A master that prepares a replica sends line feeds to keep the connection alive.
                [b'\n', ..] => return Ok(Progress::consumed(1)),
                _ => {}
            }
            if bytes.first() == Some(&b'$') && session.next_special() == Some(Special::Replicate) {
                // SYNC is answered by the file itself: a length, or `EOF:` and a mark, and no reply.
                let Some((_, end)) = line(bytes, 1, 0) else {
                    return Ok(Progress::at_least(bytes.len().saturating_add(1)));
                };
                out.begin(input, Role::Response, Key::Order);
                out.end(input, Role::Response, Key::Order, end as u64, Status::Ok);
                out.opaque("replication");
                return Ok(Progress::stop(bytes.len()));
            }
            if !self.begin(session, input, out)? {
                return Ok(Progress::at_least(bytes.len().saturating_add(1)));
            }
            self.open = true;
        }
        if self.walk.skipping && bytes.is_empty() && input.is_last() {
            return Ok(Progress::consumed(0));
        }
        match self.walk.step(bytes)? {
            Walked::More { consumed } => {
                self.bytes = self.bytes.saturating_add(consumed as u64);
                Ok(Progress::consumed(consumed))
            }
            Walked::Skip { consumed, skip } => {
                self.bytes = self.bytes.saturating_add(consumed as u64).saturating_add(skip);
                Ok(Progress::skip(consumed, skip))
            }
            Walked::Done { consumed } => {
                self.bytes = self.bytes.saturating_add(consumed as u64);
                let text = if begins { top_error(bytes) } else { None };
                self.end(consumed, text, session, input, out)
            }
        }
    }

    /// Tells the begin of a reply; `false` when it cannot be said yet what it is.
    fn begin(
        &mut self,
        session: &mut Session,
        input: &Input<'_>,
        out: &mut Out,
    ) -> Result<bool, DecodeError> {
        let bytes = input.bytes;
        let sign = bytes.first().copied().unwrap_or_default();
        let special = session.next_special();
        let subscribing = matches!(special, Some(Special::Subscribe { .. } | Special::Unsubscribe { .. }));
        let mut push = None;
        if sign == b'>' || (sign == b'*' && (session.confirms > 0 || subscribing || session.pushes_arrays()))
        {
            let Some(found) = peek(bytes)? else { return Ok(false) };
            push = Some(found);
        } else if sign == b'+' && session.monitor {
            let Some((text, _)) = line(bytes, 1, 0) else { return Ok(false) };
            if is_monitored(text) {
                self.start(Role::OneWay);
                monitored(text, input, out);
                return Ok(true);
            }
        }
        session.resp3 |= sign == b'>';
        if let Some(Push { word: Word::Confirm(_, kind), count, .. }) = push {
            if session.confirms > 0 && self.partial.is_some() {
                // The next part of a response that was begun.
                session.confirms = session.confirms.saturating_sub(1);
                confirm(session, kind, count);
                self.walk.clear();
                return Ok(true);
            }
            if subscribing {
                let all = special.map_or(1, |special| session.confirmations(special));
                session.reply();
                session.confirms = all.saturating_sub(1);
                confirm(session, kind, count);
                self.start(Role::Response);
                out.begin(input, Role::Response, Key::Order);
                return Ok(true);
            }
        }
        self.close_partial(session, input.dir, out);
        match push {
            Some(push) if sign == b'>' || push.word != Word::Other => {
                if let Push { word: Word::Confirm(_, kind), count, .. } = push {
                    confirm(session, kind, count);
                }
                self.start(Role::OneWay);
                let name = match push.word {
                    Word::Confirm(name, _) | Word::Message(name) => name,
                    Word::Other => "PUSH",
                };
                let message = out
                    .begin(input, Role::OneWay, Key::Order)
                    .label(Name::Operation, name)
                    .label(Name::Attribute("db.system.name"), "redis");
                if let Some(topic) = push.topic {
                    message.text(Name::Resource, topic);
                }
            }
            _ => {
                self.start(Role::Response);
                self.special = session.reply();
                out.begin(input, Role::Response, Key::Order);
            }
        }
        Ok(true)
    }

    fn start(&mut self, role: Role) {
        self.walk.clear();
        self.role = role;
        self.bytes = 0;
        self.special = None;
        self.partial = None;
    }

    /// A reply is whole; `text` is its error, when it is nothing else.
    fn end(
        &mut self,
        consumed: usize,
        text: Option<&[u8]>,
        session: &mut Session,
        input: &Input<'_>,
        out: &mut Out,
    ) -> Result<Progress, DecodeError> {
        self.open = false;
        if session.confirms > 0 && self.role != Role::OneWay {
            self.partial = Some(input.time);
            return Ok(Progress::consumed(consumed));
        }
        self.partial = None;
        let kind = self.walk.kind;
        let failed = self.walk.error().is_some();
        let role = self.role;
        let status = match (role, failed) {
            (Role::OneWay, _) => Status::Unset,
            (_, true) => Status::Error,
            (_, false) => Status::Ok,
        };
        let mut message = out.end(input, role, Key::Order, self.bytes, status);
        if let (Role::Response, Some(kind)) = (role, kind) {
            message = message.label(Name::Attribute("redis.reply.type"), kind.name);
            if let Some(elements) = kind.elements {
                let name = Name::Attribute("db.response.returned_rows");
                message = message.int(name, i64::from(elements));
            }
        }
        if let (Role::Response, Some(error)) = (role, text.or(self.walk.error())) {
            if let Some(code) = code(error) {
                message = message.text(Name::StatusCode, code);
            }
            message.text(Name::Error, error);
        }
        match (self.special.take(), failed) {
            (Some(Special::Replicate), false)
                if input.bytes.starts_with(b"+FULLRESYNC") || input.bytes.starts_with(b"+CONTINUE") =>
            {
                out.opaque("replication");
                return Ok(Progress::stop(consumed));
            }
            (Some(Special::Monitor), false) => session.monitor = true,
            (Some(Special::Reset), false) => session.reset(),
            (Some(Special::Hello), false) => session.resp3 = kind.is_some_and(|kind| kind.name == "map"),
            (Some(Special::Select { before }), true) => session.database = before,
            _ => {}
        }
        Ok(Progress::consumed(consumed))
    }

    /// Ends a response whose last confirmations did not come.
    fn close_partial(&mut self, session: &mut Session, dir: Dir, out: &mut Out) {
        session.confirms = 0;
        if let Some(time) = self.partial.take() {
            out.end_at(dir, time, self.role, Key::Order, self.bytes, Status::Ok).notice(Notice::Malformed);
        }
    }

    /// Whether `bytes`, the start of a segment, are the start of a reply for sure. `None`: too few.
    pub(super) fn resync(bytes: &[u8]) -> Option<bool> {
        let plain = |text: &[u8]| text.iter().all(|byte| (b' '..0x7f).contains(byte));
        match *bytes.first()? {
            b'+' => Some(line(bytes, 1, 0).is_some_and(|(text, _)| text.len() <= 64 && plain(text))),
            b'-' => Some(line(bytes, 1, 0).is_some_and(|(text, _)| code(text).is_some() && plain(text))),
            b':' => Some(matches!(number(bytes, 1), Ok(Some(_)))),
            b'_' => Some(bytes.starts_with(b"_\r\n")),
            b'$' => match number(bytes, 1) {
                Ok(Some((-1, _))) => Some(true),
                Ok(Some((len, body))) => {
                    let end = usize::try_from(len).ok().and_then(|len| body.checked_add(len));
                    // Where its end is not in view, it may be anything.
                    Some(end.and_then(|end| bytes.get(end..)?.get(..2)) == Some(b"\r\n"))
                }
                _ => Some(false),
            },
            b'*' | b'%' | b'~' | b'>' => match number(bytes, 1) {
                Ok(Some((count, next))) => {
                    let sign = bytes.get(next).copied().unwrap_or_default();
                    Some(count == -1 || count == 0 || (count > 0 && b"+-:$*%~_#,(=!".contains(&sign)))
                }
                _ => Some(false),
            },
            _ => Some(false),
        }
    }
}

/// The text of a reply that is an error: the whole of it, and not only what is kept of a nested one.
fn top_error(bytes: &[u8]) -> Option<&[u8]> {
    if bytes.first() == Some(&b'-') { line(bytes, 1, 0).map(|(text, _)| text) } else { None }
}

fn confirm(session: &mut Session, kind: Topics, count: Option<u32>) {
    if let Some(count) = count {
        session.confirmed(kind, count);
    }
}

/// The prefix of an error: its first word, when that is in upper case.
fn code(error: &[u8]) -> Option<&[u8]> {
    let word = error.split(|byte| *byte == b' ').next()?;
    let is_code = !word.is_empty()
        && word.len() <= 32
        && word.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_');
    is_code.then_some(word)
}

/// Reads the front of an array or a push; `None` when it is not whole.
fn peek(bytes: &[u8]) -> Result<Option<Push<'_>>, DecodeError> {
    let other = Push { word: Word::Other, topic: None, count: None };
    let Some((count, at)) = number(bytes, 1)? else { return Ok(None) };
    if count <= 0 {
        return Ok(Some(other));
    }
    match bytes.get(at) {
        None => return Ok(None),
        Some(b'$') => {}
        Some(_) => return Ok(Some(other)),
    }
    // The longest word of a push has 21 letters.
    let Ok(first) = bulk(bytes, at, 21) else { return Ok(Some(other)) };
    let Some((word, at)) = first else { return Ok(None) };
    let word = Word::new(word.unwrap_or_default());
    let push = Push { word, ..other };
    match word {
        Word::Other => Ok(Some(push)),
        Word::Confirm(..) => {
            if count != 3 {
                return Ok(Some(other));
            }
            let Ok(topic) = bulk(bytes, at, MAX_TOPIC) else { return Ok(Some(push)) };
            let Some((topic, at)) = topic else { return Ok(None) };
            match bytes.get(at) {
                None => Ok(None),
                Some(b':') => {
                    let Some((count, _)) = number(bytes, at.saturating_add(1))? else { return Ok(None) };
                    Ok(Some(Push { topic, count: u32::try_from(count).ok(), ..push }))
                }
                Some(_) => Ok(Some(other)),
            }
        }
        Word::Message(name) => {
            // The channel of a pattern's message is behind the pattern; keys are in an array of their own.
            let at = match (name, bytes.get(at)) {
                ("PMESSAGE", _) => match bulk(bytes, at, MAX_TOPIC) {
                    Ok(Some((_, at))) => at,
                    Ok(None) => return Ok(None),
                    Err(_) => return Ok(Some(push)),
                },
                ("INVALIDATE", None) => return Ok(None),
                ("INVALIDATE", Some(b'*')) => match number(bytes, at.saturating_add(1))? {
                    Some((_, at)) => at,
                    None => return Ok(None),
                },
                _ => at,
            };
            match bulk(bytes, at, MAX_TOPIC) {
                Ok(Some((topic, _))) => Ok(Some(Push { topic, ..push })),
                Ok(None) if count > 1 => Ok(None),
                _ => Ok(Some(push)),
            }
        }
    }
}

/// Whether a simple string is a line of `MONITOR`: `1339518083.107412 [0 127.0.0.1:60866] "keys" "*"`.
fn is_monitored(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    digits > 2 && text.get(digits..).is_some_and(|rest| rest.starts_with(b" ["))
}

/// Tells a line of `MONITOR`: the command in it, without its arguments.
fn monitored(text: &[u8], input: &Input<'_>, out: &mut Out) {
    let message = out
        .begin(input, Role::OneWay, Key::Order)
        .label(Name::Operation, "MONITOR")
        .label(Name::Attribute("db.system.name"), "redis");
    let mut quoted = text.split(|byte| *byte == b'"');
    if let (Some(_), Some(command)) = (quoted.next(), quoted.next()) {
        message.text(Name::Resource, command);
    }
}
