//! Which strings of a statement are secrets.
//!
//! * In: the tokens of a statement in order.
//! * Out: for each string, whether it must not be shown.
//! * Owned: what was said before the string, one byte of it.
//! * Bounded by: [`REACH`] tokens between the word that announces a secret and the secret.
//! * Lost: secrets that no word announces, such as the values of an `INSERT`.

use super::lexer::{Kind, Token};

/// Tokens between the word that announces a secret and the secret itself, as in
/// `IDENTIFIED WITH caching_sha2_password BY 'x'` or `password = crypt('x', …)`.
const REACH: u8 = 8;

/// Words that announce a secret when a word or a quoted name ends with them.
pub(super) const ANNOUNCE: &[&[u8]] = &[
    b"password",
    b"passwd",
    b"passphrase",
    b"pwd",
    b"secret",
    b"token",
    b"api_key",
    b"apikey",
    b"secret_key",
    b"access_key",
];

/// Words that may stand between a password's name and its value.
const BETWEEN: &[&[u8]] = &[
    b"by", b"as", b"to", b"in", b"is", b"not", b"like", b"using", b"crypt", b"md5", b"sha", b"sha1", b"sha2",
    b"encrypt", b"digest", b"hex", b"unhex", b"concat", b"lower", b"upper",
];

/// What has been announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Watch {
    /// Nothing.
    #[default]
    Idle,
    /// The value of a password, for so many more tokens.
    Value(u8),
    /// `IDENTIFIED`, behind which every string is a method, a password or its hash.
    Identified(u8),
    /// `SET PASSWORD FOR`: an account, then the value.
    Account,
}

impl Watch {
    /// Sees the next token; whether it is a string that must not be shown.
    pub fn see(&mut self, token: &Token, text: &[u8]) -> bool {
        match token.kind {
            Kind::Text => {
                let secret = match *self {
                    Self::Idle | Self::Account => false,
                    Self::Value(_) => {
                        *self = Self::Idle;
                        true
                    }
                    Self::Identified(_) => {
                        *self = Self::Identified(REACH);
                        true
                    }
                };
                secret || tells_secret(token.content(text))
            }
            Kind::Word | Kind::Name => {
                let word = if token.kind == Kind::Name { token.content(text) } else { token.raw(text) };
                *self = self.word(word);
                false
            }
            Kind::Sign(sign) => {
                *self = match (*self, sign) {
                    (_, b';') => Self::Idle,
                    (Self::Account, b'=') => Self::Value(REACH),
                    (Self::Value(_), b',' | b')') => Self::Idle,
                    (watch, _) => watch.older(),
                };
                false
            }
        }
    }

    fn word(self, word: &[u8]) -> Self {
        if word.eq_ignore_ascii_case(b"identified") {
            return Self::Identified(REACH);
        }
        if announces(word) {
            return Self::Value(REACH);
        }
        match self {
            Self::Value(_) if word.eq_ignore_ascii_case(b"for") => Self::Account,
            Self::Value(_) if BETWEEN.iter().all(|known| !word.eq_ignore_ascii_case(known)) => Self::Idle,
            Self::Account if word.eq_ignore_ascii_case(b"to") => Self::Value(REACH),
            watch => watch.older(),
        }
    }

    const fn older(self) -> Self {
        match self {
            Self::Value(left) if left > 1 => Self::Value(left.saturating_sub(1)),
            Self::Identified(left) if left > 1 => Self::Identified(left.saturating_sub(1)),
            Self::Account => Self::Account,
            _ => Self::Idle,
        }
    }
}

fn announces(word: &[u8]) -> bool {
    // Most words end with none of the letters that those of the list end with.
    let may = word.last().is_some_and(|byte| matches!(byte | 0x20, b'd' | b'e' | b't' | b'n' | b'y'));
    may && ANNOUNCE.iter().any(|known| {
        let tail = word.len().checked_sub(known.len()).and_then(|at| word.get(at..));
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(known))
    })
}

/// Whether a string holds a secret inside: a connection string (`password=x`, `scheme://user:x@host`), JSON
/// (`"password": "x"`), a function's body (`PASSWORD 'x'`).
fn tells_secret(content: &[u8]) -> bool {
    content.windows(5).enumerate().any(|(at, window)| {
        let [first, ..] = window else { return false };
        if !matches!(first, b'p' | b'P' | b':') {
            return false;
        }
        if window.eq_ignore_ascii_case(b"passw") {
            let behind = content.get(at.saturating_add(5)..).unwrap_or_default();
            let mut behind = behind.iter().skip_while(|byte| byte.is_ascii_alphabetic() || **byte == b'"');
            return matches!(behind.find(|byte| **byte != b' '), Some(b'=' | b':' | b'\''));
        }
        // The user's part of a URL: a colon between `://` and `@`, before any slash.
        window.starts_with(b"://") && {
            let behind = content.get(at.saturating_add(3)..).unwrap_or_default();
            let host =
                behind.iter().position(|byte| matches!(byte, b'/' | b' ' | b'?')).unwrap_or(behind.len());
            let user = behind.get(..host).unwrap_or_default();
            let user = user.iter().rposition(|byte| *byte == b'@').and_then(|at| user.get(..at));
            user.is_some_and(|user| user.contains(&b':'))
        }
    })
}
