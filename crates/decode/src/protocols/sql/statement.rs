//! One statement: its text without secrets, its verb, its first table.
//!
//! * In: the text as the wire has it, maybe cut.
//! * Out: fields of a message.
//! * Owned: one buffer, used again for the next statement.
//! * Bounded by: [`MAX_TEXT`](super::MAX_TEXT) bytes of text and [`MAX_TABLE`] of a table's name.
//! * Lost: tables beyond the first; the name of a table that is longer.

use super::lexer::{Dialect, Kind, Lexer, Token};
use super::secrets::Watch;
use super::verb::{self, Place};
use crate::{Limits, Message, Name, Notice};

/// Bytes of a table's name, schema included.
const MAX_TABLE: usize = 256;

/// What a secret becomes.
const REDACTED: &[u8] = b"[redacted]";

/// A statement as rows show it.
#[derive(Debug, Default)]
pub(crate) struct Statement {
    /// The text, then the table's name.
    bytes: Vec<u8>,
    text: usize,
    verb: &'static str,
    redacted: bool,
    cut: bool,
}

/// How far the search for verb and table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Search {
    /// No word has come.
    Verb,
    /// Behind `WITH`: the main verb comes outside of parentheses.
    Main,
    /// The verb is known; the word that announces the table has not come.
    Announcement(Place),
    /// The table's name comes next.
    Table(Place),
    /// A part of the name has come: a dot, or the end of the name.
    Dot(Place),
    /// Nothing more is sought.
    Over,
}

impl Statement {
    /// Takes a text; `whole` says that nothing of it was cut.
    pub fn set(&mut self, text: &[u8], whole: bool, dialect: Dialect, limits: &Limits) {
        self.bytes.clear();
        self.verb = "";
        self.redacted = false;
        self.cut = !whole;
        let mut table = Table::default();
        let mut search = Search::Verb;
        let mut watch = Watch::default();
        let mut depth = 0_u32;
        let mut home = 0_u32;
        let mut copied = 0;
        for token in Lexer::new(text, dialect) {
            if watch.see(&token, text) && !limits.show_secrets {
                let from = token.start.saturating_add(token.open);
                let to = token.end.saturating_sub(token.close).max(from);
                self.bytes.extend_from_slice(text.get(copied..from).unwrap_or_default());
                self.bytes.extend_from_slice(REDACTED);
                copied = to;
                self.redacted = true;
            }
            match token.kind {
                Kind::Sign(b'(') => depth = depth.saturating_add(1),
                Kind::Sign(b')') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if search == Search::Verb {
                home = depth;
            }
            search = self.step(search, &token, text, depth == home, &mut table);
        }
        self.bytes.extend_from_slice(text.get(copied..).unwrap_or_default());
        let end = self
            .bytes
            .iter()
            .rposition(|byte| !byte.is_ascii_whitespace())
            .map_or(0, |at| at.saturating_add(1));
        self.bytes.truncate(end);
        self.text = self.bytes.len();
        if !table.lost {
            self.bytes.extend_from_slice(table.bytes());
        }
    }

    fn step(&mut self, search: Search, token: &Token, text: &[u8], home: bool, table: &mut Table) -> Search {
        let word = token.raw(text);
        match (search, token.kind) {
            // What another statement behind it says is not this one's.
            (Search::Announcement(_) | Search::Main, Kind::Sign(b';')) => Search::Over,
            (Search::Verb, Kind::Word) if word.eq_ignore_ascii_case(b"with") => Search::Main,
            (Search::Verb, Kind::Word) => self.verb_is(word),
            (Search::Main, Kind::Word) if home && verb::is_main(word) => self.verb_is(word),
            (Search::Announcement(place), Kind::Word) if home && place.is_announced_by(word) => {
                Search::Table(place)
            }
            (Search::Table(place), Kind::Word) => {
                if !verb::is_modifier(word) {
                    table.part(word);
                    return Search::Dot(place);
                }
                search
            }
            (Search::Table(place), Kind::Name) => {
                table.part(token.content(text));
                Search::Dot(place)
            }
            (Search::Table(_), _) => Search::Over,
            (Search::Dot(place), Kind::Sign(b'.')) => {
                table.part(b".");
                Search::Table(place)
            }
            // What looked like a table is a function.
            (Search::Dot(Place::From), Kind::Sign(b'(')) => {
                table.lost = true;
                Search::Over
            }
            (Search::Dot(_), _) => Search::Over,
            _ => search,
        }
    }

    fn verb_is(&mut self, word: &[u8]) -> Search {
        let (verb, place) = verb::find(word).unwrap_or((verb::OTHER, Place::None));
        self.verb = verb;
        match place {
            Place::None => Search::Over,
            Place::Next => Search::Table(place),
            _ => Search::Announcement(place),
        }
    }

    /// The verb; empty when there is none, as in an empty statement.
    pub const fn verb(&self) -> &'static str {
        self.verb
    }

    /// The text without secrets.
    pub fn text(&self) -> &[u8] {
        self.bytes.get(..self.text).unwrap_or_default()
    }

    /// Whether a secret was taken out of the text.
    pub const fn is_redacted(&self) -> bool {
        self.redacted
    }

    /// The first table, unquoted; empty when it is not plain.
    pub fn table(&self) -> &[u8] {
        self.bytes.get(self.text..).unwrap_or_default()
    }

    /// Bytes held, room included.
    pub const fn held_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Adds resource, table, text and the notices; the operation is the caller's.
    pub fn describe<'o>(&self, mut message: Message<'o>) -> Message<'o> {
        if !self.table().is_empty() {
            message = message.text(Name::Resource, self.table());
            // `USE` and `CALL` name no table.
            if !matches!(self.verb, "USE" | "CALL") {
                message = message.text(Name::Attribute("db.collection.name"), self.table());
            }
        }
        if self.text > 0 {
            message = message.text(Name::Attribute("db.query.text"), self.text());
        }
        if self.redacted {
            message = message.notice(Notice::Redacted);
        }
        if self.cut {
            message = message.notice(Notice::TextCut);
        }
        message
    }
}

/// A table's name while it is read.
#[derive(Debug)]
struct Table {
    name: [u8; MAX_TABLE],
    length: usize,
    lost: bool,
}

impl Default for Table {
    fn default() -> Self {
        Self { name: [0; MAX_TABLE], length: 0, lost: false }
    }
}

impl Table {
    fn part(&mut self, part: &[u8]) {
        let end = self.length.saturating_add(part.len());
        match self.name.get_mut(self.length..end) {
            Some(place) => {
                place.copy_from_slice(part);
                self.length = end;
            }
            None => self.lost = true,
        }
    }

    fn bytes(&self) -> &[u8] {
        self.name.get(..self.length).unwrap_or_default()
    }
}
