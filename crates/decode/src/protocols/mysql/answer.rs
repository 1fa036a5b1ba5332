//! What an answer has told so far, and the fields it becomes.

use super::framing::Reader;
use crate::protocols::sql::{Dialect, Statement};
use crate::{Input, Key, Limits, Message, Name, Notice, Out, Role, Status};

/// Where the answer under way is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Stage {
    /// The first packet of a result, or of the answer.
    #[default]
    First,
    /// Column definitions: so many are left.
    Columns(u64),
    /// The `EOF` behind column definitions, if there is one.
    ColumnsEnd,
    /// Rows.
    Rows,
    /// A prepared statement's parameters: so many are left, and so many columns follow.
    Parameters(u16, u16),
    /// The `EOF` behind them, if there is one.
    ParametersEnd(u16),
    /// A prepared statement's columns.
    Results(u16),
    /// The `EOF` behind them.
    ResultsEnd,
}

/// The answer under way.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub open: bool,
    pub stage: Stage,
    pub bytes: u64,
    rows: Option<u64>,
    affected: Option<u64>,
    insert_id: u64,
    warnings: u64,
    results: i64,
    copied: Option<u64>,
    /// An `EOF` may follow that nothing waits for: the capabilities were not seen.
    pub stray_eof: bool,
}

/// What an `OK` or `EOF` packet tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Done {
    affected: u64,
    insert_id: u64,
    pub status: u16,
    warnings: u16,
}

/// `SERVER_MORE_RESULTS_EXISTS`.
const MORE_RESULTS: u16 = 1 << 3;

/// `SERVER_STATUS_CURSOR_EXISTS`.
const CURSOR: u16 = 1 << 6;

impl Done {
    /// Reads the payload of an `EOF` (5 bytes) or an `OK`.
    pub fn read(payload: &[u8], length: usize) -> Option<Self> {
        let mut reader = Reader::new(payload);
        reader.u8()?;
        if length == 5 {
            let warnings = reader.u16()?;
            return Some(Self { warnings, status: reader.u16()?, ..Self::default() });
        }
        let (affected, insert_id) = (reader.int()?, reader.int()?);
        let status = reader.u16()?;
        Some(Self { affected, insert_id, status, warnings: reader.u16().unwrap_or_default() })
    }

    /// Whether another result follows.
    pub const fn more(self) -> bool {
        self.status & MORE_RESULTS != 0
    }

    /// Whether the rows wait to be fetched.
    pub const fn cursor(self) -> bool {
        self.status & CURSOR != 0
    }
}

impl Answer {
    /// One result is complete.
    pub const fn result(&mut self, done: Done, rows: bool) {
        self.results = self.results.saturating_add(1);
        self.warnings = self.warnings.saturating_add(done.warnings as u64);
        if !rows {
            let before = match self.affected {
                Some(before) => before,
                None => 0,
            };
            self.affected = Some(before.saturating_add(done.affected));
            if done.insert_id > 0 {
                self.insert_id = done.insert_id;
            }
        }
    }

    /// Rows have passed.
    pub const fn add_rows(&mut self, rows: u64) {
        let before = match self.rows {
            Some(before) => before,
            None => 0,
        };
        self.rows = Some(before.saturating_add(rows));
    }

    /// Bytes of a file have passed.
    pub fn copied(&mut self, bytes: usize) {
        self.copied = Some(self.copied.unwrap_or_default().saturating_add(bytes as u64));
    }

    /// Emits the end, with the counts where the command `counts`.
    pub fn end<'o>(&self, input: &Input<'_>, status: Status, counts: bool, out: &'o mut Out) -> Message<'o> {
        let mut message = out.end(input, Role::Response, Key::Order, self.bytes, status);
        let int = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        if counts {
            if let Some(rows) = self.rows {
                message = message.int(Name::Attribute("db.response.returned_rows"), int(rows));
            }
            if let (Some(rows), true) = (self.affected, self.rows.is_none() || self.affected != Some(0)) {
                message = message.int(Name::Attribute("db.response.affected_rows"), int(rows));
            }
        }
        if self.insert_id > 0 {
            message = message.int(Name::Attribute("mysql.last_insert_id"), int(self.insert_id));
        }
        if self.warnings > 0 {
            message = message.int(Name::Attribute("db.response.warnings"), int(self.warnings));
        }
        if self.results > 1 {
            message = message.int(Name::Attribute("mysql.results"), self.results);
        }
        if let Some(bytes) = self.copied {
            message = message.int(Name::Attribute("mysql.local_infile.bytes"), int(bytes));
        }
        message
    }
}

/// What a syntax error quotes the statement behind.
const QUOTE: &[u8] = b"near '";

/// Adds what an `ERR` packet tells. A syntax error quotes the rest of the statement, secrets included;
/// `scratch` is used to take them out.
pub(super) fn error(payload: &[u8], scratch: &mut Statement, limits: &Limits, message: Message<'_>) {
    let mut reader = Reader::new(payload);
    let (Some(_), Some(code)) = (reader.u8(), reader.u16()) else { return };
    let mut message = message.int(Name::Attribute("db.response.status_code"), i64::from(code));
    let mut text = reader.rest();
    if let [b'#', a, b, c, d, e, rest @ ..] = text {
        message = message.text(Name::StatusCode, &[*a, *b, *c, *d, *e]);
        text = rest;
    }
    let quote = text.windows(QUOTE.len()).position(|window| window == QUOTE);
    let behind = quote.map(|at| at.saturating_add(QUOTE.len()));
    match behind.and_then(|at| text.split_at_checked(at)) {
        Some((before, quoted)) => {
            scratch.set(quoted, true, Dialect::Mysql, limits);
            let message = message.parts(Name::Error, &[before, scratch.text()]);
            if scratch.is_redacted() {
                message.notice(Notice::Redacted);
            }
        }
        None => {
            message.text(Name::Error, text);
        }
    }
}
