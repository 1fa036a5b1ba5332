//! The greeting of the server and the login of the client.
//!
//! `Protocol::HandshakeV10`, `SSLRequest` and `Protocol::HandshakeResponse41` of the MySQL manual. MariaDB
//! has further capabilities in bytes that MySQL leaves 0; what they change can be told from the packets.

use super::command::{Kind, Waiting};
use super::framing::{HEAD, Head, Reader};
use super::{Ending, MAX_NAMESPACE, Mysql, Phase};
use crate::{DecodeError, Input, Key, Name, Next, Out, Progress, Protocol, Role, Status, Verdict, What};

/// Bytes of a greeting or login that are read.
const LOGIN_WINDOW: usize = 4_096;

/// Bytes of an `SSLRequest`: the first fields of a login.
const SSL_REQUEST: usize = 32;

const CONNECT_WITH_DB: u32 = 1 << 3;
const COMPRESS: u32 = 1 << 5;
const PROTOCOL_41: u32 = 1 << 9;
const SSL: u32 = 1 << 11;
const SECURE_CONNECTION: u32 = 1 << 15;
const AUTH_LENENC: u32 = 1 << 21;
const DEPRECATE_EOF: u32 = 1 << 24;
const OPTIONAL_METADATA: u32 = 1 << 25;
const ZSTD: u32 = 1 << 26;
const QUERY_ATTRIBUTES: u32 = 1 << 27;

/// What both sides can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Capabilities {
    /// Whether they were seen at all.
    pub known: bool,
    /// Whether the server calls itself MariaDB.
    pub mariadb: bool,
    server: u32,
    both: u32,
}

impl Capabilities {
    /// Whether no `EOF` packet follows column definitions; `None` when that is not known.
    pub fn deprecate_eof(self) -> Option<bool> {
        self.known.then_some(self.both & DEPRECATE_EOF != 0)
    }

    pub const fn compressed(self) -> bool {
        self.both & (COMPRESS | ZSTD) != 0
    }

    /// Whether column definitions may be left out, said by a byte before their count.
    pub const fn optional_metadata(self) -> bool {
        self.both & OPTIONAL_METADATA != 0
    }

    /// Whether queries come with attributes; `None` when that is not known.
    pub fn query_attributes(self) -> Option<bool> {
        self.known.then_some(self.both & QUERY_ATTRIBUTES != 0)
    }
}

/// Whether a server's first bytes are a greeting.
pub(super) fn probe(bytes: &[u8]) -> Verdict {
    let Some((head, payload)) = Head::read(bytes).zip(bytes.get(HEAD..)) else { return Verdict::NeedMore };
    if head.sequence != 0 || !(8..=LOGIN_WINDOW).contains(&head.length) {
        return Verdict::No;
    }
    match payload {
        [] => Verdict::NeedMore,
        [10, version @ ..] => match version.iter().position(|byte| *byte == 0) {
            _ if !version.first().is_none_or(u8::is_ascii_digit) => Verdict::No,
            Some(end) if version.iter().take(end).all(u8::is_ascii_graphic) && end > 2 => Verdict::Yes,
            Some(_) => Verdict::No,
            None if version.len() < 128 && version.iter().all(u8::is_ascii_graphic) => Verdict::NeedMore,
            None => Verdict::No,
        },
        // Too many connections, host is blocked, host is not allowed.
        [0xff, 16 | 105 | 106, 4, ..] => Verdict::Likely,
        _ => Verdict::No,
    }
}

impl Mysql {
    /// The server's first packet.
    pub(super) fn greeting(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let Some(head) = Head::read(input.bytes) else { return Ok(Progress::at_least(HEAD)) };
        if head.sequence != 0 || !(8..=LOGIN_WINDOW).contains(&head.length) {
            return Err(DecodeError::new(What::BadMagic, 0));
        }
        let whole = HEAD.saturating_add(head.length);
        let Some(payload) = input.bytes.get(HEAD..whole) else { return Ok(Progress::at_least(whole)) };
        match payload.first() {
            Some(10) => {}
            Some(0xff) => {
                self.idle_error(input, payload, head.total(), out);
                return Ok(Progress::consumed(whole));
            }
            _ => return Err(DecodeError::new(What::BadMagic, HEAD)),
        }
        self.read_greeting(payload).ok_or(DecodeError::new(What::Truncated, whole))?;
        self.phase = Phase::Login;
        Ok(Progress::consumed(whole))
    }

    fn read_greeting(&mut self, payload: &[u8]) -> Option<()> {
        let mut reader = Reader::new(payload);
        reader.u8()?;
        let version = reader.text()?;
        reader.take(4 + 8 + 1)?;
        let low = u32::from(reader.u16()?);
        // Servers before 4.1 say no more.
        let high = reader.take(3).and_then(|_| reader.u16()).map_or(0, u32::from);
        let capabilities = &mut self.capabilities;
        capabilities.server = low | high << 16;
        capabilities.mariadb = version.windows(7).any(|window| window.eq_ignore_ascii_case(b"mariadb"));
        Some(())
    }

    /// The client's first packet.
    pub(super) fn login(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let Some(head) = Head::read(input.bytes) else { return Ok(Progress::at_least(HEAD)) };
        if head.sequence != 1 || head.length < SSL_REQUEST {
            return Err(DecodeError::new(What::BadMagic, 0));
        }
        let window = HEAD.saturating_add(head.length.min(LOGIN_WINDOW));
        let Some(payload) = input.bytes.get(HEAD..window) else { return Ok(Progress::at_least(window)) };
        let mut reader = Reader::new(payload);
        let client = reader.u32().unwrap_or_default();
        if client & PROTOCOL_41 == 0 {
            return Err(DecodeError::new(What::BadMagic, HEAD));
        }
        if head.length == SSL_REQUEST && client & SSL != 0 {
            return Ok(Progress { consumed: window, next: Next::Switch(Protocol::Tls) });
        }
        reader.take(4 + 1 + 23);
        let capabilities = &mut self.capabilities;
        capabilities.known = true;
        capabilities.both = client & capabilities.server;
        self.phase = Phase::Commands;
        let (user, database) = account(&mut reader, client).unwrap_or_default();
        self.begin_login(input, "CONNECT", user, database, out);
        self.pending.push_back(Waiting { kind: Kind::Login, sequence: head.sequence, statement: None });
        self.ending = Some(Ending { role: Role::Request, key: Key::Order, bytes: head.total() });
        Ok(Progress::skip(window, input_rest(head.length, LOGIN_WINDOW)))
    }

    /// A login or a change of the user begins; its answer decides about the database.
    pub(super) fn begin_login(
        &mut self,
        input: &Input<'_>,
        operation: &'static str,
        user: &[u8],
        database: &[u8],
        out: &mut Out,
    ) {
        self.wanted_namespace = Some(database.get(..MAX_NAMESPACE).unwrap_or(database).to_vec());
        let mut message = out
            .begin(input, Role::Request, Key::Order)
            .label(Name::Attribute("db.system.name"), self.system())
            .label(Name::Operation, operation);
        if !database.is_empty() {
            message = message.text(Name::Resource, database).text(Name::Attribute("db.namespace"), database);
        }
        message.text(Name::Attribute("user.name"), user).notice(crate::Notice::Redacted);
    }

    /// An error that answers nothing: too many connections, a session that was idle for too long.
    pub(super) fn idle_error(&mut self, input: &Input<'_>, payload: &[u8], total: u64, out: &mut Out) {
        let key = self.one_way_key();
        let limits = *out.limits();
        let message = out
            .begin(input, Role::OneWay, key)
            .label(Name::Attribute("db.system.name"), self.system())
            .label(Name::Operation, "ERROR");
        super::answer::error(payload, &mut self.query, &limits, message);
        out.end(input, Role::OneWay, key, total, Status::Error);
    }
}

/// User and database of a login; what stands between them is the password's proof.
fn account<'a>(reader: &mut Reader<'a>, client: u32) -> Option<(&'a [u8], &'a [u8])> {
    let user = reader.text()?;
    if client & AUTH_LENENC != 0 {
        reader.counted()?;
    } else if client & SECURE_CONNECTION != 0 {
        let length = reader.u8()?;
        reader.take(usize::from(length))?;
    } else {
        reader.text()?;
    }
    let database =
        if client & CONNECT_WITH_DB != 0 { reader.text().unwrap_or_else(|| reader.rest()) } else { b"" };
    Some((user, database))
}

/// What of a payload lies behind the part that was read.
pub(super) const fn input_rest(length: usize, read: usize) -> u64 {
    length.saturating_sub(read) as u64
}
