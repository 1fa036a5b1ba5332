//! The first arguments of a command: all that a row shows of it.
//!
//! * In: the bytes of a command from its `*` on, or an inline command (a line of words).
//! * Out: a [`Head`]: the arguments, borrowed, and how many more there are.
//! * Bounded by: [`MAX_ARGS`] arguments, [`HEAD_BYTES`] bytes. Where a head ends depends on what the command
//!   says, never on how it is cut into segments.
//! * Lost: the arguments behind it.

use super::{
    commands::{self, Command, Keys, MAX_NAME},
    resp::number,
};
use crate::{DecodeError, What};

/// Arguments that are looked at.
pub(super) const MAX_ARGS: usize = 12;

/// Bytes of a head: the most that is waited for. Keys behind a longer script are not seen.
pub(super) const HEAD_BYTES: usize = 8_192;

/// An argument that is longer than this and that no key follows ends the head.
const SHORT: usize = 64;

/// Arguments of one command, as Redis allows them.
const MAX_COUNT: i64 = 1 << 30;

/// A name in upper case.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Upper {
    bytes: [u8; MAX_NAME],
    len: usize,
}

impl Upper {
    /// `None` when it is too long or no word.
    pub(super) fn new(name: &[u8]) -> Option<Self> {
        let mut upper = Self { len: name.len(), ..Self::default() };
        if name.is_empty() || name.len() > MAX_NAME {
            return None;
        }
        for (to, from) in upper.bytes.iter_mut().zip(name) {
            if !(from.is_ascii_alphanumeric() || matches!(from, b'.' | b'_' | b'-' | b'|' | b':')) {
                return None;
            }
            *to = from.to_ascii_uppercase();
        }
        Some(upper)
    }

    pub(super) fn get(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Head<'a> {
    pub args: [&'a [u8]; MAX_ARGS],
    /// How many of `args` are set.
    pub len: usize,
    /// How many arguments the command has, its name included.
    pub count: u32,
    /// Bytes up to the end of the last one in `args`.
    pub end: usize,
    /// The name in upper case, when it is a word.
    pub name: Option<Upper>,
    pub command: Option<&'static Command>,
}

impl<'a> Head<'a> {
    fn empty(count: u32, end: usize) -> Self {
        Self { args: [&[]; MAX_ARGS], len: 0, count, end, name: None, command: None }
    }

    fn push(&mut self, arg: &'a [u8], end: usize) {
        if let Some(place) = self.args.get_mut(self.len) {
            *place = arg;
            self.len = self.len.saturating_add(1);
            self.end = end;
        }
        if self.len == 1 {
            self.name = Upper::new(arg);
            self.command = self.name.as_ref().and_then(|name| commands::find(name.get()));
        }
    }

    pub(super) fn arg(&self, index: usize) -> Option<&'a [u8]> {
        self.args.get(..self.len)?.get(index).copied()
    }

    /// The arguments in view.
    pub(super) fn shown(&self) -> &[&'a [u8]] {
        self.args.get(..self.len).unwrap_or_default()
    }

    /// The sub-command in upper case.
    pub(super) fn sub(&self) -> Option<Upper> {
        self.command.filter(|command| command.container)?;
        Upper::new(self.arg(1)?)
    }

    /// Which argument the first key is.
    pub(super) fn key(&self) -> Option<usize> {
        let index = match self.command?.keys {
            Keys::None => return None,
            Keys::At(at) => usize::from(at),
            Keys::Counted(at) => match self.arg(usize::from(at)) {
                None | Some(b"0") => return None,
                Some(_) => usize::from(at).saturating_add(1),
            },
            Keys::Streams => self
                .shown()
                .iter()
                .position(|arg| arg.eq_ignore_ascii_case(b"streams"))
                .map(|at| at.saturating_add(1))?,
        };
        self.arg(index).filter(|key| !key.is_empty()).map(|_| index)
    }

    /// Whether the key may be behind argument `index`.
    fn key_follows(&self, index: usize) -> bool {
        match self.command.map_or(Keys::At(1), |command| command.keys) {
            Keys::None => false,
            Keys::At(at) => index <= usize::from(at),
            Keys::Counted(at) => index <= usize::from(at).saturating_add(1),
            Keys::Streams => self.key().is_none(),
        }
    }
}

/// What the front of a lane is.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "it lives on the stack, for one call")]
pub(super) enum Front<'a> {
    /// The head of a command.
    Head(Head<'a>),
    /// No command, and none that is answered: `*0`, an empty line.
    Nothing(usize),
    /// The head is not whole.
    More,
}

/// Reads the head of a command that starts with `*`.
pub(super) fn multibulk(bytes: &[u8]) -> Result<Front<'_>, DecodeError> {
    let Some((count, mut at)) = number(bytes, 1)? else { return Ok(Front::More) };
    if count <= 0 {
        return Ok(Front::Nothing(at));
    }
    if count > MAX_COUNT {
        return Err(DecodeError::new(What::BadLength, 1));
    }
    let count = u32::try_from(count).map_err(|_| DecodeError::new(What::BadLength, 1))?;
    let mut head = Head::empty(count, at);
    for index in 0..MAX_ARGS.min(count as usize) {
        match bytes.get(at) {
            None => return Ok(Front::More),
            Some(b'$') => {}
            Some(_) => return Err(DecodeError::new(What::BadMagic, at)),
        }
        let Some((len, body)) = number(bytes, at.saturating_add(1))? else { return Ok(Front::More) };
        let len = usize::try_from(len).map_err(|_| DecodeError::new(What::BadLength, at))?;
        let end = body.saturating_add(len).saturating_add(2);
        if index > 0 && len > SHORT && !head.key_follows(index) || end > HEAD_BYTES {
            break;
        }
        match bytes.get(body..end) {
            None => return Ok(Front::More),
            Some([arg @ .., b'\r', b'\n']) => head.push(arg, end),
            Some(_) => return Err(DecodeError::new(What::BadLength, at)),
        }
        at = end;
    }
    Ok(Front::Head(head))
}

/// Reads an inline command: words with white space between them, in quotes where they hold some.
///
/// `line` is without its end, `end` behind it. Escapes in quotes stay as they are.
pub(super) fn inline(line: &[u8], end: usize) -> Front<'_> {
    let mut head = Head::empty(0, end);
    let mut rest = line.trim_ascii_start();
    while let Some(first) = rest.first() {
        let (word, after) = if let b'"' | b'\'' = first {
            quoted(rest, *first)
        } else {
            let stop = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            rest.split_at_checked(stop).unwrap_or((rest, &[]))
        };
        head.count = head.count.saturating_add(1);
        head.push(word, end);
        rest = after.trim_ascii_start();
    }
    if head.count == 0 { Front::Nothing(end) } else { Front::Head(head) }
}

/// A word in quotes, without them, and what follows it.
fn quoted(text: &[u8], quote: u8) -> (&[u8], &[u8]) {
    let inner = text.get(1..).unwrap_or_default();
    let mut escaped = false;
    for (at, byte) in inner.iter().enumerate() {
        if escaped {
            escaped = false;
        } else if *byte == b'\\' {
            escaped = true;
        } else if *byte == quote {
            return (
                inner.get(..at).unwrap_or_default(),
                inner.get(at.saturating_add(1)..).unwrap_or_default(),
            );
        }
    }
    (inner, &[])
}
