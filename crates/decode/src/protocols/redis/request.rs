//! The client's lane: commands.

use super::{
    commands::Act,
    head::{Front, Head, MAX_ARGS, Upper, inline, multibulk},
    resp::{line, number},
    secrets::Secrets,
    session::{Session, Silence, Special},
    walk::MAX_LINE,
};
use crate::{DecodeError, Input, Key, Message, Name, Notice, Out, Progress, Role, Status, What};

/// Bytes that are shown of one argument.
const SHOWN_BYTES: usize = 256;

const REDACTED: &[u8] = b"[redacted]";

/// The command under way.
#[derive(Debug)]
pub(super) struct Requests {
    /// Arguments to come.
    left: u32,
    /// Bytes that have passed.
    bytes: u64,
    /// What it was begun as.
    role: Role,
    /// The rest of an argument is being skipped.
    skipping: bool,
    /// Whether a command is under way at all.
    open: bool,
    /// Bytes of an inline command in which there is no line feed.
    scanned: usize,
    /// The place in the lane is lost.
    pub lost: bool,
}

impl Requests {
    pub(super) fn new(lost: bool) -> Self {
        Self { left: 0, bytes: 0, role: Role::Request, skipping: false, open: false, scanned: 0, lost }
    }

    pub(super) fn step(
        &mut self,
        session: &mut Session,
        input: &Input<'_>,
        out: &mut Out,
    ) -> Result<Progress, DecodeError> {
        let bytes = input.bytes;
        if self.open {
            let progress = self.rest(0, input, out)?;
            // What ends with a skip consumes nothing: go on with what follows it.
            if self.open || progress.consumed > 0 {
                return Ok(progress);
            }
        }
        let front = match bytes.first() {
            None => return Ok(Progress::at_least(1)),
            Some(b'*') => multibulk(bytes)?,
            Some(_) => match line(bytes, 0, self.scanned) {
                Some((text, end)) => {
                    self.scanned = 0;
                    if !text.iter().all(|byte| *byte >= b' ' || *byte == b'\t') {
                        return Err(DecodeError::new(What::BadMagic, 0));
                    }
                    inline(text, end)
                }
                None if bytes.len() > MAX_LINE => return Err(DecodeError::new(What::TooLarge, 0)),
                None => {
                    self.scanned = bytes.len();
                    Front::More
                }
            },
        };
        match front {
            Front::More => Ok(Progress::at_least(bytes.len().saturating_add(1))),
            Front::Nothing(end) => Ok(Progress::consumed(end)),
            Front::Head(head) => {
                self.role = begin(&head, session, input, out);
                self.open = true;
                self.bytes = 0;
                let seen = u32::try_from(head.len).unwrap_or(u32::MAX);
                // An inline command is whole; its arguments are not counted off.
                self.left = if bytes.first() == Some(&b'*') { head.count.saturating_sub(seen) } else { 0 };
                self.rest(head.end, input, out)
            }
        }
    }

    /// Passes over the arguments behind the head, and ends the command.
    fn rest(&mut self, mut at: usize, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let bytes = input.bytes;
        if self.skipping {
            if bytes.is_empty() && input.is_last() {
                return Ok(Progress::consumed(0));
            }
            self.skipping = false;
            self.left = self.left.saturating_sub(1);
        }
        while self.left > 0 {
            let body = match bytes.get(at) {
                None => None,
                Some(b'$') => number(bytes, at.saturating_add(1))?,
                Some(_) => return Err(DecodeError::new(What::BadMagic, at)),
            };
            let Some((len, body)) = body else {
                self.bytes = self.bytes.saturating_add(at as u64);
                return Ok(Progress::consumed(at));
            };
            let whole =
                u64::try_from(len).map_err(|_| DecodeError::new(What::BadLength, at))?.saturating_add(2);
            let there = bytes.len().saturating_sub(body) as u64;
            if whole > there {
                self.skipping = true;
                let skip = whole.saturating_sub(there);
                self.bytes = self.bytes.saturating_add(bytes.len() as u64).saturating_add(skip);
                return Ok(Progress::skip(bytes.len(), skip));
            }
            at = body.saturating_add(usize::try_from(whole).unwrap_or(usize::MAX));
            self.left = self.left.saturating_sub(1);
        }
        self.open = false;
        self.bytes = self.bytes.saturating_add(at as u64);
        out.end(input, self.role, Key::Order, self.bytes, Status::Unset);
        Ok(Progress::consumed(at))
    }

    /// Whether `bytes`, the start of a segment, are the start of a command for sure. `None`: too few.
    pub(super) fn resync(bytes: &[u8]) -> Option<bool> {
        if bytes.first() != Some(&b'*') {
            return Some(false);
        }
        match multibulk(bytes) {
            Ok(Front::Head(head)) => Some(head.command.is_some()),
            Ok(Front::Nothing(_)) | Err(_) => Some(false),
            Ok(Front::More) => None,
        }
    }
}

/// Tells the begin of a command and what it does to the session; gives its role.
fn begin(head: &Head<'_>, session: &mut Session, input: &Input<'_>, out: &mut Out) -> Role {
    let sub = head.sub();
    let sub = sub.as_ref().map(Upper::get).unwrap_or_default();
    let act = head.command.map_or(Act::None, |command| command.act);
    // What was selected before: a SELECT itself runs in it.
    let database = session.database;
    let batch = session.queued;
    let silent = session.silence != Silence::No;
    if session.silence == Silence::Next {
        session.silence = Silence::No;
    }
    let special = act_on(act, sub, head, session);
    // CLIENT REPLY is answered when replies are on behind it.
    let about_replies = act == Act::Client && sub == b"REPLY";
    let answered = if about_replies { session.silence == Silence::No } else { !silent };
    let role = if answered {
        session.request(special);
        Role::Request
    } else {
        Role::OneWay
    };
    let show = out.limits().show_secrets;
    let message = out.begin(input, role, Key::Order);
    let message = tell(message, head, sub, database, batch.filter(|_| act == Act::Exec));
    text(message, head, sub, show);
    role
}

/// What a command does to the session, and what its reply will be.
fn act_on(act: Act, sub: &[u8], head: &Head<'_>, session: &mut Session) -> Option<Special> {
    let topics = head.count.saturating_sub(1);
    let queued = session.queued;
    session.queued = match act {
        Act::Multi => Some(0),
        Act::Exec | Act::Discard | Act::Reset => None,
        _ => queued.map(|count| count.saturating_add(1)),
    };
    if queued.is_some() && !matches!(act, Act::Select | Act::Client | Act::Reset) {
        // It is answered by QUEUED, or with EXEC's array.
        return None;
    }
    match act {
        Act::Subscribe(_) => Some(Special::Subscribe { topics }),
        Act::Unsubscribe(kind) => Some(Special::Unsubscribe { kind, topics }),
        Act::Monitor => Some(Special::Monitor),
        Act::Replicate => Some(Special::Replicate),
        Act::Hello if topics > 0 => Some(Special::Hello),
        Act::Reset => {
            session.database = None;
            Some(Special::Reset)
        }
        Act::Select => {
            let before = session.database;
            session.database = head.arg(1).and_then(|arg| core::str::from_utf8(arg).ok()?.parse().ok());
            Some(Special::Select { before })
        }
        Act::Client if sub == b"REPLY" => {
            let word = head.arg(2).unwrap_or_default();
            session.silence = if word.eq_ignore_ascii_case(b"off") {
                Silence::On
            } else if word.eq_ignore_ascii_case(b"skip") && session.silence == Silence::No {
                Silence::Next
            } else if word.eq_ignore_ascii_case(b"on") {
                Silence::No
            } else {
                session.silence
            };
            None
        }
        _ => None,
    }
}

/// Writes the fields of a command.
fn tell<'o>(
    message: Message<'o>,
    head: &Head<'_>,
    sub: &[u8],
    database: Option<u32>,
    batch: Option<u32>,
) -> Message<'o> {
    let message = match (head.command, &head.name) {
        (Some(command), _) if sub.is_empty() => message.label(Name::Operation, command.name),
        (Some(command), _) => message.parts(Name::Operation, &[command.name.as_bytes(), b" ", sub]),
        (None, Some(name)) => message.text(Name::Operation, name.get()),
        (None, None) => message.text(Name::Operation, head.arg(0).unwrap_or_default()),
    };
    let message = match head.key() {
        Some(key) => message.text(Name::Resource, head.arg(key).unwrap_or_default()),
        None => message,
    };
    let mut message = message
        .label(Name::Attribute("db.system.name"), "redis")
        .int(Name::Attribute("redis.args"), i64::from(head.count.saturating_sub(1)));
    if let Some(database) = database {
        message = message.int(Name::Attribute("db.namespace"), i64::from(database));
    }
    if let Some(batch) = batch {
        message = message.int(Name::Attribute("db.operation.batch.size"), i64::from(batch));
    }
    message
}

/// `db.query.text`: the command with its values as `?`, its secrets redacted.
fn text(message: Message<'_>, head: &Head<'_>, sub: &[u8], show: bool) {
    let mut parts: [&[u8]; MAX_ARGS * 2 + 1] = [&[]; MAX_ARGS * 2 + 1];
    let mut secrets = Secrets::default();
    let mut redacted = false;
    let shown = head.command.map_or(1, |command| usize::from(command.shown));
    let mut used = 0usize;
    let mut places = parts.iter_mut();
    for (index, arg) in head.shown().iter().enumerate() {
        let secret = head.command.is_some_and(|command| secrets.is_secret(command, sub, index, arg));
        let value: &[u8] = if show {
            arg
        } else if secret {
            redacted = true;
            REDACTED
        } else if index > shown {
            b"?"
        } else {
            arg.get(..SHOWN_BYTES).unwrap_or(arg)
        };
        let space: &[u8] = if index == 0 { b"" } else { b" " };
        for (part, place) in [space, value].into_iter().zip(places.by_ref()) {
            *place = part;
            used = used.saturating_add(1);
        }
    }
    if head.count as usize > head.len
        && let Some(place) = places.next()
    {
        *place = b" ...";
        used = used.saturating_add(1);
    }
    let parts = parts.get(..used).unwrap_or_default();
    let message = message.parts(Name::Attribute("db.query.text"), parts);
    if redacted {
        message.notice(Notice::Redacted);
    }
}
