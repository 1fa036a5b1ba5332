//! Cuts a statement into tokens, as far as verb, table and secrets need it.
//!
//! * In: the text of a statement, maybe cut at its end.
//! * Out: one token after the other, with its place; comments and white space are passed over.
//! * Owned: a position.
//! * Bounded by: the length of the text; each byte is looked at once.
//! * Lost: nothing. What is never closed (a string, a comment) lasts until the end of the text.

/// Whose SQL it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `"x"` is a name, `$$x$$` a string, a backslash escapes only in `E'x'`.
    Postgresql,
    /// `` `x` `` is a name, `"x"` a string, a backslash escapes, `/*! x */` is executed.
    Mysql,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A keyword, a plain name or a number.
    Word,
    /// A quoted name, quotes included.
    Name,
    /// A string, its prefix and quotes included.
    Text,
    /// Any other byte.
    Sign(u8),
}

/// A token and its place in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
    /// Bytes in front of the content of a string or of a quoted name: quote and prefix.
    pub open: usize,
    /// Bytes behind it; 0 when the text ends first.
    pub close: usize,
}

impl Token {
    /// The token as it is written.
    pub fn raw<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// What is between the quotes.
    pub fn content<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        text.get(self.start.saturating_add(self.open)..self.end.saturating_sub(self.close))
            .unwrap_or_default()
    }
}

/// A position in a statement.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    dialect: Dialect,
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t [u8], dialect: Dialect) -> Self {
        Self { text, at: 0, dialect }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at.saturating_add(ahead)).copied()
    }

    fn advance(&mut self, n: usize) {
        self.at = self.at.saturating_add(n).min(self.text.len());
    }

    /// Behind the next `byte`, or at the end.
    fn pass(&mut self, byte: u8) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let n = rest.iter().position(|b| *b == byte).map_or(rest.len(), |n| n.saturating_add(1));
        self.advance(n);
    }

    /// Passes over white space and comments.
    fn blank(&mut self) {
        while let Some(byte) = self.peek(0) {
            match (byte, self.peek(1)) {
                (b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c | 0, _) => self.advance(1),
                (b'-', Some(b'-')) => self.pass(b'\n'),
                (b'#', _) if self.dialect == Dialect::Mysql => self.pass(b'\n'),
                (b'/', Some(b'*')) => self.comment(),
                _ => return,
            }
        }
    }

    fn comment(&mut self) {
        if self.dialect == Dialect::Mysql {
            let bang = match (self.peek(2), self.peek(3)) {
                (Some(b'!'), _) => 3,
                (Some(b'M'), Some(b'!')) => 4,
                _ => 0,
            };
            if bang > 0 {
                // `/*!40101 SET … */` is a statement to the servers that are new enough: nearly all.
                self.advance(bang);
                while self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) {
                    self.advance(1);
                }
                return;
            }
        }
        self.advance(2);
        let mut depth = 1_u32;
        while let Some(byte) = self.peek(0) {
            match (byte, self.peek(1)) {
                (b'*', Some(b'/')) => {
                    self.advance(2);
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                (b'/', Some(b'*')) if self.dialect == Dialect::Postgresql => {
                    self.advance(2);
                    depth = depth.saturating_add(1);
                }
                _ => self.advance(1),
            }
        }
    }

    /// A string or name whose first quote is `open - 1` bytes ahead.
    fn quoted(&mut self, kind: Kind, open: usize, quote: u8, escapes: bool) -> Token {
        let start = self.at;
        self.advance(open);
        let mut close = 0;
        while let Some(byte) = self.peek(0) {
            if byte == quote {
                if self.peek(1) != Some(quote) {
                    self.advance(1);
                    close = 1;
                    break;
                }
                self.advance(2);
            } else {
                self.advance(if escapes && byte == b'\\' { 2 } else { 1 });
            }
        }
        Token { kind, start, end: self.at, open, close }
    }

    /// `$tag$ … $tag$`, when it is one.
    fn dollars(&mut self) -> Option<Token> {
        let rest = self.text.get(self.at..)?;
        let tag = rest.get(1..)?.iter().position(|byte| !is_word(*byte) || *byte == b'$')?;
        let fence = rest.get(..tag.checked_add(2)?)?;
        if fence.last() != Some(&b'$') || fence.get(1).is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let behind = rest.get(fence.len()..)?;
        let found = find(behind, fence);
        let close = if found.is_some() { fence.len() } else { 0 };
        let start = self.at;
        self.advance(fence.len().saturating_add(found.unwrap_or(behind.len())).saturating_add(close));
        Some(Token { kind: Kind::Text, start, end: self.at, open: fence.len(), close })
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.blank();
        let byte = self.peek(0)?;
        let mysql = self.dialect == Dialect::Mysql;
        let start = self.at;
        match byte {
            b'\'' => return Some(self.quoted(Kind::Text, 1, byte, mysql)),
            b'"' if mysql => return Some(self.quoted(Kind::Text, 1, byte, true)),
            b'"' | b'`' => return Some(self.quoted(Kind::Name, 1, byte, false)),
            b'e' | b'E' | b'n' | b'N' | b'b' | b'B' | b'x' | b'X' if self.peek(1) == Some(b'\'') => {
                let escapes = mysql || byte.eq_ignore_ascii_case(&b'e');
                return Some(self.quoted(Kind::Text, 2, b'\'', escapes));
            }
            b'$' if !mysql && let Some(token) = self.dollars() => return Some(token),
            byte if is_word(byte) => {
                let rest = self.text.get(start..).unwrap_or_default();
                let n = rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len());
                self.advance(n);
                return Some(Token { kind: Kind::Word, start, end: self.at, open: 0, close: 0 });
            }
            _ => self.advance(1),
        }
        Some(Token { kind: Kind::Sign(byte), start, end: self.at, open: 0, close: 0 })
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Where `needle` occurs first.
fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    hay.windows(needle.len().max(1)).position(|window| window == needle)
}
