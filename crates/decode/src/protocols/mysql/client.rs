//! Packets of the client.

use super::attributes::{self, Behind};
use super::command::{self, Kind, Waiting};
use super::framing::{HEAD, Head, Reader};
use super::login::input_rest;
use super::{Ending, MAX_NAMESPACE, MAX_PENDING, Mysql, Phase, lane};
use crate::protocols::sql::{self, Dialect, Ref};
use crate::{DecodeError, Input, Key, Message, Name, Notice, Out, Progress, Role, Verdict, What};
use model::Dir;

/// Bytes in front of a statement that attributes may take.
const ATTRIBUTES_WINDOW: usize = 1_024;

/// Bytes of other commands that are read.
const COMMAND_WINDOW: usize = 512;

/// The number of the statement prepared last, in MariaDB.
const LAST: u32 = u32::MAX;

/// Whether a client's first bytes are a login or a command.
pub(super) fn probe(bytes: &[u8]) -> Verdict {
    match (Head::read(bytes), bytes.get(HEAD..)) {
        (Some(Head { sequence: 1, length }), Some(payload)) if (32..4_096).contains(&length) => {
            // Capabilities, size, character set, then NULs; MariaDB uses the last 4 of the 23.
            match payload.first_chunk::<28>() {
                Some([_, flags, _, _, _, _, _, _, _, nuls @ ..]) => {
                    if flags & 2 != 0 && nuls.iter().all(|byte| *byte == 0) {
                        Verdict::Yes
                    } else {
                        Verdict::No
                    }
                }
                None => Verdict::NeedMore,
            }
        }
        _ if is_command(bytes) => Verdict::Likely,
        _ => Verdict::No,
    }
}

/// Whether a segment starts with a command, and with others behind it if it is longer.
fn is_command(mut bytes: &[u8]) -> bool {
    loop {
        let Some((Head { length, sequence: 0 }, [command, text @ ..])) =
            Head::read(bytes).zip(bytes.get(HEAD..))
        else {
            return false;
        };
        let Some((_, kind)) = command::find(*command) else { return false };
        let sound = match (*command, text.first()) {
            (command::QUERY, Some(byte)) => *byte < 0x80,
            (command::STMT_PREPARE, Some(byte)) => byte.is_ascii_graphic() || byte.is_ascii_whitespace(),
            (command::STMT_EXECUTE, _) => length >= 10,
            (command::STMT_CLOSE | command::STMT_RESET, _) => length == 5,
            (command::INIT_DB, _) => length <= MAX_NAMESPACE,
            (command::STMT_SEND_LONG_DATA | command::STMT_BULK_EXECUTE, _) => length >= 7,
            (command::CHANGE_USER, _) => length < COMMAND_WINDOW,
            (_, _) => length <= 16 || kind == Kind::Rows || kind == Kind::Stream,
        };
        if !sound || length == 0 {
            return false;
        }
        match bytes.get(HEAD.saturating_add(length)..) {
            Some([]) => return true,
            Some(behind) => bytes = behind,
            // Only a long one goes on in the next segment.
            None => return bytes.len() >= 512,
        }
    }
}

impl Mysql {
    /// One packet.
    pub(super) fn client(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let [continued, _] = self.continued;
        if !continued {
            self.end_request(input, out);
        }
        if self.phase == Phase::Login {
            return self.login(input, out);
        }
        if !*lane(&mut self.placed, Dir::ToServer) {
            if !input.segment_start || !is_command(input.bytes) {
                return Ok(Progress::consumed(input.bytes.len()));
            }
            *lane(&mut self.placed, Dir::ToServer) = true;
        }
        let Some(head) = Head::read(input.bytes) else { return Ok(Progress::at_least(HEAD)) };
        if let Some(progress) = self.continuation(Dir::ToServer, head) {
            if let Some(ending) = &mut self.ending {
                ending.bytes = ending.bytes.saturating_add(head.total());
            }
            if let Some(waiting) = self.pending.back_mut() {
                waiting.sequence = head.sequence;
            }
            return Ok(progress);
        }
        if self.sending_file {
            return Ok(self.file(head));
        }
        match self.pending.front_mut() {
            Some(waiting) if waiting.kind == Kind::Login && head.sequence != 0 => {
                // A proof of the password: nobody's business.
                waiting.sequence = head.sequence;
                *lane(&mut self.continued, Dir::ToServer) = head.continues();
                return Ok(Progress::skip(HEAD, head.length as u64));
            }
            _ if head.sequence != 0 && self.in_step => {
                return Err(DecodeError::new(What::BadSequence, 3));
            }
            _ if head.sequence != 0 => {
                *lane(&mut self.continued, Dir::ToServer) = head.continues();
                return Ok(Progress::skip(HEAD, head.length as u64));
            }
            _ => {}
        }
        if head.length == 0 {
            return Err(DecodeError::new(What::BadLength, 0));
        }
        let Some(command) = input.bytes.get(HEAD).copied() else {
            return Ok(Progress::at_least(HEAD.saturating_add(1)));
        };
        let wanted = match command {
            command::QUERY => sql::window(out.limits(), head.length).saturating_add(ATTRIBUTES_WINDOW),
            command::STMT_PREPARE => sql::window(out.limits(), head.length).saturating_add(1),
            _ => COMMAND_WINDOW,
        };
        let wanted = wanted.min(head.length);
        let window = HEAD.saturating_add(wanted);
        let Some(body) = input.bytes.get(HEAD.saturating_add(1)..window) else {
            return Ok(Progress::at_least(window));
        };
        self.command(input, command, body, head, out)?;
        *lane(&mut self.continued, Dir::ToServer) = head.continues();
        Ok(Progress::skip(window, input_rest(head.length, wanted)))
    }

    /// Data of a `LOAD DATA LOCAL INFILE`; an empty packet ends it.
    fn file(&mut self, head: Head) -> Progress {
        if let Some(waiting) = self.pending.front_mut() {
            waiting.sequence = head.sequence;
        }
        self.sending_file = head.length > 0;
        self.answer.copied(head.length);
        Progress::skip(HEAD, head.length as u64)
    }

    fn command(
        &mut self,
        input: &Input<'_>,
        command: u8,
        body: &[u8],
        head: Head,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        let (name, kind) = command::find(command).ok_or(DecodeError::new(What::BadMagic, HEAD))?;
        if !self.in_step {
            // The server is done with what came before, or the client would not speak.
            self.in_step = input.first >= self.heard;
        }
        if self.pending.len() >= MAX_PENDING {
            return Err(DecodeError::new(What::TooLarge, 0));
        }
        let whole = head.length == body.len().saturating_add(1);
        let statement = match command {
            command::QUERY => None,
            command::STMT_PREPARE => {
                let at = self.statements.insert_unnumbered(body, whole, Dialect::Mysql, out.limits());
                self.last_prepared = Some(at);
                Some(at)
            }
            command::STMT_EXECUTE
            | command::STMT_BULK_EXECUTE
            | command::STMT_RESET
            | command::STMT_FETCH
            | command::STMT_SEND_LONG_DATA
            | command::STMT_CLOSE => self.numbered(body),
            _ => None,
        };
        if command == command::STMT_CLOSE
            && let Some(number) = Reader::new(body).u32()
        {
            self.statements.remove_number(number);
        }
        if command == command::RESET_CONNECTION || command == command::CHANGE_USER {
            self.statements.clear();
        }
        if !self.in_step {
            return Ok(());
        }
        let (role, key) = match kind {
            Kind::None => (Role::OneWay, self.one_way_key()),
            _ => (Role::Request, Key::Order),
        };
        if kind != Kind::None {
            let statement = statement.filter(|_| kind == Kind::Prepare);
            self.pending.push_back(Waiting { kind, sequence: head.sequence, statement });
        }
        self.ending = Some(Ending { role, key, bytes: head.total() });
        match command {
            command::QUERY => self.query(input, body, whole, out),
            command::CHANGE_USER => {
                let mut reader = Reader::new(body);
                let user = reader.text().unwrap_or_default();
                let proof = reader.u8().and_then(|length| reader.take(usize::from(length)));
                let database = proof.and_then(|_| reader.text()).unwrap_or_default();
                self.begin_login(input, name, user, database, out);
            }
            _ => self.plain(input, (role, key), command, body, statement, out),
        }
        Ok(())
    }

    /// The statement of a number at the front of a body.
    fn numbered(&mut self, body: &[u8]) -> Option<Ref> {
        match Reader::new(body).u32()? {
            LAST => self.last_prepared,
            number => Some(match self.statements.by_number(number) {
                Some(known) => known,
                None => self.statements.insert_unknown_number(number, Dialect::Mysql),
            }),
        }
    }

    fn query(&mut self, input: &Input<'_>, body: &[u8], whole: bool, out: &mut Out) {
        let behind = attributes::pass(body, self.capabilities.query_attributes());
        let message = match behind {
            Behind::Unknown => {
                let message = out.begin(input, Role::Request, Key::Order);
                message.label(Name::Operation, "QUERY").notice(Notice::Unknown)
            }
            Behind::Text(text) => {
                self.query.set(text, whole, Dialect::Mysql, out.limits());
                let verb = self.query.verb();
                if verb == "USE" && !self.query.table().is_empty() {
                    self.want_namespace_of_query();
                }
                let message = out.begin(input, Role::Request, Key::Order);
                let operation = if verb.is_empty() { "QUERY" } else { verb };
                self.query.describe(message.label(Name::Operation, operation))
            }
        };
        self.place(message);
    }

    fn want_namespace_of_query(&mut self) {
        let wanted = self.query.table();
        self.wanted_namespace = Some(wanted.get(..MAX_NAMESPACE).unwrap_or(wanted).to_vec());
    }

    fn plain(
        &mut self,
        input: &Input<'_>,
        (role, key): (Role, Key),
        command: u8,
        body: &[u8],
        statement: Option<Ref>,
        out: &mut Out,
    ) {
        let name = command::find(command).map_or("", |(name, _)| name);
        let executes = matches!(command, command::STMT_EXECUTE | command::STMT_BULK_EXECUTE);
        let verb = statement.and_then(|at| self.statements.get(at)).map_or("", |known| known.verb());
        let operation = if executes && !verb.is_empty() { verb } else { name };
        let mut message = out.begin(input, role, key).label(Name::Operation, operation);
        match command {
            command::INIT_DB | command::CREATE_DB | command::DROP_DB => {
                message = message.text(Name::Resource, body);
                if command == command::INIT_DB {
                    self.wanted_namespace = Some(body.get(..MAX_NAMESPACE).unwrap_or(body).to_vec());
                }
            }
            command::FIELD_LIST => {
                if let Some(table) = Reader::new(body).text() {
                    message = message
                        .text(Name::Resource, table)
                        .text(Name::Attribute("db.collection.name"), table);
                }
            }
            _ if statement.is_some() => message = self.statements.describe(statement, message),
            _ => {}
        }
        self.place(message);
    }

    /// Adds system and database.
    fn place(&self, message: Message<'_>) {
        let message = message.label(Name::Attribute("db.system.name"), self.system());
        if !self.namespace.is_empty() {
            message.text(Name::Attribute("db.namespace"), &self.namespace);
        }
    }
}
