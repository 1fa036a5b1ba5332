//! What was asked and not answered, and the answer under way.
//!
//! A roundtrip of the extended protocol asks with several messages: everything since the last `Execute`,
//! `Sync` or `Flush`, up to the next of them. Each message is one [`Item`], so that an answer is known to
//! belong to it, and a mismatch to be one.

use super::{MAX_PENDING, Postgresql, report};
use crate::protocols::sql::Ref;
use crate::{DecodeError, Input, Key, Message, Name, Out, Role, Status, What};
use model::{Dir, Heard, Nanos};

/// A message of the client that the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    pub kind: Kind,
    /// The roundtrip starts with it.
    pub first: bool,
    /// The roundtrip ends with it.
    pub last: bool,
}

impl Item {
    /// A message that is a roundtrip.
    pub const fn whole(kind: Kind) -> Self {
        Self { kind, first: true, last: true }
    }
}

/// Its type, in the order of what names the roundtrip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Kind {
    #[default]
    Sync,
    Close,
    Describe,
    Bind,
    Parse,
    Execute,
    Startup,
    Query,
    Function,
}

/// The request of the extended protocol under way.
#[derive(Debug, Default)]
pub(super) struct Unit {
    /// Its messages; 0 when none is under way.
    pub items: usize,
    /// Whether it was emitted.
    begun: bool,
    first: Nanos,
    heard: Heard,
    pub bytes: u64,
    pub statement: Option<Ref>,
    /// Something was bound, so that it will be run.
    bound: bool,
    /// What it is named after.
    kind: Kind,
}

/// The answer under way.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub open: bool,
    /// When it was complete, if only the transaction's end is outstanding.
    pub done: Option<Nanos>,
    /// When its last byte so far was seen.
    last: Nanos,
    pub bytes: u64,
    pub rows: u64,
    /// Rows since the last command tag.
    pub fresh_rows: u64,
    pub returns: bool,
    pub affected: Option<u64>,
    pub commands: i64,
    pub copied: Option<u64>,
    pub notices: i64,
}

impl Postgresql {
    /// A key for a message that is no part of a roundtrip.
    pub(super) const fn one_way_key(&mut self) -> Key {
        self.one_way = self.one_way.wrapping_add(1);
        Key::Id(self.one_way)
    }

    /// Remembers a message of the client.
    pub(super) fn ask(&mut self, item: Item) -> Result<(), DecodeError> {
        if self.pending.len() >= MAX_PENDING {
            return Err(DecodeError::new(What::TooLarge, 0));
        }
        self.pending.push_back(item);
        Ok(())
    }

    /// A message that prepares or runs a statement.
    pub(super) fn part(
        &mut self,
        input: &Input<'_>,
        kind: Kind,
        bytes: u64,
        statement: Option<Ref>,
    ) -> Result<(), DecodeError> {
        let first = self.unit.items == 0;
        self.ask(Item { kind, first, last: kind == Kind::Execute })?;
        let unit = &mut self.unit;
        if first {
            *unit = Unit { first: input.first, heard: input.heard, ..Unit::default() };
        }
        unit.items = unit.items.saturating_add(1);
        unit.bytes = unit.bytes.saturating_add(bytes);
        unit.bound |= kind == Kind::Bind;
        if kind >= unit.kind {
            unit.kind = kind;
            unit.statement = statement;
        }
        Ok(())
    }

    /// Emits the start of the request under way.
    pub(super) fn begin_unit(&mut self, out: &mut Out) {
        if self.unit.begun {
            return;
        }
        self.unit.begun = true;
        let unit = &self.unit;
        let verb = unit.statement.and_then(|at| self.statements.get(at)).map_or("", |known| known.verb());
        let operation = match unit.kind {
            Kind::Close => "CLOSE",
            Kind::Describe => "DESCRIBE",
            Kind::Bind => "BIND",
            Kind::Parse if !unit.bound || verb.is_empty() => "PREPARE",
            _ if verb.is_empty() => "EXECUTE",
            _ => verb,
        };
        let message = out.begin_at(Dir::ToServer, unit.first, Role::Request, Key::Order);
        let message = self.place(message.heard(unit.heard)).label(Name::Operation, operation);
        if unit.kind != Kind::Close {
            self.statements.describe(unit.statement, message);
        }
    }

    /// Adds system and database.
    pub(super) fn place<'o>(&self, message: Message<'o>) -> Message<'o> {
        let message = report::system(message);
        if self.namespace.is_empty() {
            return message;
        }
        message.text(Name::Attribute("db.namespace"), &self.namespace)
    }

    /// The request under way has all its messages; its end is emitted once the last of them has passed.
    pub(super) fn close_unit(&mut self, out: &mut Out) {
        self.begin_unit(out);
        self.ending = Some(self.unit.bytes);
        self.unit = Unit::default();
    }

    /// Emits the end of a request.
    pub(super) fn end_request(&mut self, input: &Input<'_>, bytes: u64, out: &mut Out) {
        out.end(input, Role::Request, Key::Order, bytes, Status::Unset);
    }

    /// A message of the server belongs to the oldest item.
    pub(super) fn answer(&mut self, input: &Input<'_>, first: bool, bytes: u64, out: &mut Out) {
        if first && self.answer.done.is_some() {
            self.end_answer(out);
        }
        if !self.answer.open {
            if self.unit.items > 0 && self.pending.len() <= self.unit.items {
                // It is answered before it is complete.
                self.begin_unit(out);
            }
            self.answer.open = true;
            out.begin(input, Role::Response, Key::Order);
        }
        self.answer.bytes = self.answer.bytes.saturating_add(bytes);
        self.answer.last = input.time;
    }

    /// The oldest item is answered.
    pub(super) fn answered(&mut self, out: &mut Out) {
        let Some(item) = self.pending.pop_front() else { return };
        if !item.last {
            return;
        }
        // The commit comes with the Sync behind: it belongs to the answer.
        if matches!(self.pending.front(), Some(Item { kind: Kind::Sync, last: false, .. })) {
            self.answer.done = Some(self.answer.last);
        } else {
            self.end_answer(out);
        }
    }

    /// Emits the end of the answer under way, if there is one.
    pub(super) fn end_answer(&mut self, out: &mut Out) {
        let answer = core::mem::take(&mut self.answer);
        if answer.open {
            let time = answer.done.unwrap_or(answer.last);
            answer.end(time, Status::Ok, out);
        }
    }

    /// Emits the end of the answer under way as one that failed.
    pub(super) fn fail_answer<'o>(&mut self, time: Nanos, out: &'o mut Out) -> Message<'o> {
        core::mem::take(&mut self.answer).end(time, Status::Error, out)
    }
}

impl Answer {
    /// The transaction of a complete answer has ended.
    pub const fn ready(&mut self, time: Nanos, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.last = time;
        self.done = None;
    }

    fn end(self, time: Nanos, status: Status, out: &mut Out) -> Message<'_> {
        let mut message = out.end_at(Dir::ToClient, time, Role::Response, Key::Order, self.bytes, status);
        let int = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        if self.returns || self.rows > 0 {
            message = message.int(Name::Attribute("db.response.returned_rows"), int(self.rows));
        }
        if let Some(rows) = self.affected {
            message = message.int(Name::Attribute("db.response.affected_rows"), int(rows));
        }
        if self.commands > 1 {
            message = message.int(Name::Attribute("db.operation.batch.size"), self.commands);
        }
        if let Some(bytes) = self.copied {
            message = message.int(Name::Attribute("postgresql.copy.bytes"), int(bytes));
        }
        if self.notices > 0 {
            message = message.int(Name::Attribute("db.response.warnings"), self.notices);
        }
        message
    }
}
