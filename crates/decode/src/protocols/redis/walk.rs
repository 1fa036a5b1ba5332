//! Walks one reply, element by element, without holding any of it.
//!
//! * In: the bytes of a reply as they come.
//! * Out: where it ends, its type, how many elements it has, and the first error inside it.
//! * Bounded by: [`MAX_DEPTH`] levels of nesting; [`MAX_LINE`] bytes of one line; [`KEPT_ERROR`] bytes of an
//!   error that is nested in an aggregate.
//! * Lost: values. A bulk string is skipped as soon as its length is known.

use super::resp::{STREAMED, line, number};
use crate::{DecodeError, What};

/// Levels of nesting that are followed. Replies of Redis have up to 7, scripts can make more.
const MAX_DEPTH: usize = 32;

/// Bytes of one line: simple strings, errors, big numbers.
pub(super) const MAX_LINE: usize = 65_000;

/// Bytes that are kept of an error inside an aggregate until the aggregate ends.
const KEPT_ERROR: usize = 160;

/// An aggregate that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// So many elements are to come.
    Elements(u32),
    /// So many elements of attributes are to come; then the value that they are about.
    Attributes(u32),
    /// Elements up to a line with a dot.
    Open,
    /// Parts of a string up to an empty one.
    Parts,
}

/// The type of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    /// Its name, for an attribute.
    pub name: &'static str,
    /// Elements at the top level, of an aggregate whose count is announced.
    pub elements: Option<u32>,
}

/// How far a walk came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walked {
    /// More bytes are needed behind what was consumed.
    More { consumed: usize },
    /// The rest of a bulk string.
    Skip { consumed: usize, skip: u64 },
    /// The reply ends here.
    Done { consumed: usize },
}

/// See the module.
#[derive(Debug)]
pub(super) struct Walk {
    stack: [Frame; MAX_DEPTH],
    depth: usize,
    /// The rest of a bulk string is being skipped.
    pub skipping: bool,
    /// Bytes of the line under way in which there is no line feed.
    scanned: usize,
    pub kind: Option<Kind>,
    error: [u8; KEPT_ERROR],
    error_len: usize,
}

impl Walk {
    pub(super) const fn new() -> Self {
        Self {
            stack: [Frame::Open; MAX_DEPTH],
            depth: 0,
            skipping: false,
            scanned: 0,
            kind: None,
            error: [0; KEPT_ERROR],
            error_len: 0,
        }
    }

    /// Forgets the reply under way.
    pub(super) fn clear(&mut self) {
        self.depth = 0;
        self.skipping = false;
        self.scanned = 0;
        self.kind = None;
        self.error_len = 0;
    }

    /// The first error inside of the reply.
    pub(super) fn error(&self) -> Option<&[u8]> {
        self.error.get(..self.error_len).filter(|error| !error.is_empty())
    }

    /// Goes on in `bytes`, which follow what was consumed and skipped.
    pub(super) fn step(&mut self, bytes: &[u8]) -> Result<Walked, DecodeError> {
        let mut at = 0;
        if core::mem::take(&mut self.skipping) && self.element() {
            return Ok(Walked::Done { consumed: 0 });
        }
        loop {
            if let Some(end) = self.short_element(bytes, at) {
                at = end;
                continue;
            }
            let Some(sign) = bytes.get(at) else { return Ok(Walked::More { consumed: at }) };
            let after = at.saturating_add(1);
            let done = match sign {
                b'+' | b'-' | b':' | b'#' | b',' | b'(' | b'_' | b'.' => {
                    let scanned = core::mem::take(&mut self.scanned);
                    let Some((text, end)) = line(bytes, after, scanned) else {
                        self.scanned = bytes.len().saturating_sub(after);
                        if self.scanned > MAX_LINE {
                            return Err(DecodeError::new(What::TooLarge, at));
                        }
                        return Ok(Walked::More { consumed: at });
                    };
                    if text.len() > MAX_LINE {
                        return Err(DecodeError::new(What::TooLarge, at));
                    }
                    self.line(*sign, text, at)?;
                    at = end;
                    true
                }
                b'$' | b'=' | b'!' | b';' => {
                    let Some((len, body)) = number(bytes, after)? else {
                        return Ok(Walked::More { consumed: at });
                    };
                    match self.string(*sign, len, bytes, body, at)? {
                        Ok((end, done)) => {
                            at = end;
                            done
                        }
                        Err(stop) => return Ok(stop),
                    }
                }
                b'*' | b'%' | b'~' | b'>' | b'|' => {
                    let Some((count, end)) = number(bytes, after)? else {
                        return Ok(Walked::More { consumed: at });
                    };
                    let done = self.aggregate(*sign, count, at)?;
                    at = end;
                    done
                }
                _ => return Err(DecodeError::new(What::BadMagic, at)),
            };
            if done && self.element() {
                return Ok(Walked::Done { consumed: at });
            }
        }
    }

    /// Passes over a bulk string of less than ten bytes that is whole and not the last of its aggregate: what
    /// most elements of long replies are.
    fn short_element(&mut self, bytes: &[u8], at: usize) -> Option<usize> {
        let index = self.depth.checked_sub(1)?;
        let Some(Frame::Elements(left @ 2..)) = self.stack.get_mut(index) else { return None };
        let [b'$', digit @ b'0'..=b'9', b'\r', b'\n', body @ ..] = bytes.get(at..)? else { return None };
        let len = usize::from(digit.wrapping_sub(b'0'));
        let [b'\r', b'\n', ..] = body.get(len..)? else { return None };
        *left = left.wrapping_sub(1);
        Some(at.saturating_add(len).saturating_add(6))
    }

    fn line(&mut self, sign: u8, text: &[u8], at: usize) -> Result<(), DecodeError> {
        if self.top() == Some(Frame::Parts) {
            return Err(DecodeError::new(What::BadMagic, at));
        }
        let name = match sign {
            b'+' => "simple_string",
            b'-' => {
                self.keep_error(text);
                "error"
            }
            b':' => "integer",
            b'#' => "boolean",
            b',' => "double",
            b'(' => "big_number",
            b'_' => "null",
            _ => {
                // The end of a streamed aggregate.
                if self.pop() != Some(Frame::Open) {
                    return Err(DecodeError::new(What::BadMagic, at));
                }
                return Ok(());
            }
        };
        self.first(name, None);
        Ok(())
    }

    /// A string of `len` bytes at `body`. Gives where the next element begins and whether an element is over,
    /// or why to stop.
    fn string(
        &mut self,
        sign: u8,
        len: i64,
        bytes: &[u8],
        body: usize,
        at: usize,
    ) -> Result<Result<(usize, bool), Walked>, DecodeError> {
        let bad = || DecodeError::new(What::BadLength, at);
        let part = sign == b';';
        if part != (self.top() == Some(Frame::Parts)) {
            return Err(DecodeError::new(What::BadMagic, at));
        }
        if len == STREAMED && !part {
            self.first("bulk_string", None);
            self.push(Frame::Parts, at)?;
            return Ok(Ok((body, false)));
        }
        if len == -1 && sign == b'$' {
            self.first("null", None);
            return Ok(Ok((body, true)));
        }
        let len = u64::try_from(len).map_err(|_| bad())?;
        if part && len == 0 {
            self.pop();
            return Ok(Ok((body, true)));
        }
        let rest = bytes.get(body..).unwrap_or_default();
        let whole = len.saturating_add(2);
        if sign == b'!' && self.error_len == 0 {
            // As much of it as is kept has to be there.
            let kept = usize::try_from(len).unwrap_or(usize::MAX).min(KEPT_ERROR);
            match rest.get(..kept) {
                Some(text) => self.keep_error(text),
                None => return Ok(Err(Walked::More { consumed: at })),
            }
        }
        match sign {
            b'!' => self.first("error", None),
            b'=' => self.first("verbatim_string", None),
            _ => self.first("bulk_string", None),
        }
        match usize::try_from(whole).ok().and_then(|whole| rest.split_at_checked(whole)) {
            Some(([.., b'\r', b'\n'], _)) => {
                Ok(Ok((body.saturating_add(usize::try_from(whole).map_err(|_| bad())?), !part)))
            }
            Some(_) => Err(bad()),
            None => {
                self.skipping = !part;
                let skip = whole.saturating_sub(rest.len() as u64);
                Ok(Err(Walked::Skip { consumed: bytes.len(), skip }))
            }
        }
    }

    /// An aggregate begins; whether it is over too.
    fn aggregate(&mut self, sign: u8, count: i64, at: usize) -> Result<bool, DecodeError> {
        let bad = || DecodeError::new(What::BadLength, at);
        if self.top() == Some(Frame::Parts) {
            return Err(DecodeError::new(What::BadMagic, at));
        }
        let name = match sign {
            b'*' => "array",
            b'%' => "map",
            b'~' => "set",
            b'>' => "push",
            _ => "",
        };
        let attributes = sign == b'|';
        if count == STREAMED && !attributes {
            self.first(name, None);
            self.push(Frame::Open, at)?;
            return Ok(false);
        }
        if count == -1 && sign == b'*' {
            self.first("null", None);
            return Ok(true);
        }
        let count = u32::try_from(count).map_err(|_| bad())?;
        if !attributes {
            self.first(name, Some(count));
        }
        let elements = match sign {
            b'%' | b'|' => count.checked_mul(2).ok_or_else(bad)?,
            _ => count,
        };
        match (elements, attributes) {
            (0, _) => return Ok(!attributes),
            (_, true) => self.push(Frame::Attributes(elements), at)?,
            (_, false) => self.push(Frame::Elements(elements), at)?,
        }
        Ok(false)
    }

    /// An element is over; whether the reply is.
    fn element(&mut self) -> bool {
        loop {
            let Some(index) = self.depth.checked_sub(1) else { return true };
            match self.stack.get_mut(index) {
                Some(Frame::Elements(left)) if *left > 1 => {
                    *left = left.saturating_sub(1);
                    return false;
                }
                Some(Frame::Attributes(left)) if *left > 1 => {
                    *left = left.saturating_sub(1);
                    return false;
                }
                Some(Frame::Elements(_)) => self.depth = index,
                Some(Frame::Attributes(_)) => {
                    self.depth = index;
                    return false;
                }
                _ => return false,
            }
        }
    }

    fn first(&mut self, name: &'static str, elements: Option<u32>) {
        if self.kind.is_some() {
            return;
        }
        // Attributes are about the reply; they are not it.
        let about = self.stack.get(..self.depth).unwrap_or_default();
        if !about.iter().any(|frame| matches!(frame, Frame::Attributes(_))) {
            self.kind = Some(Kind { name, elements });
        }
    }

    fn keep_error(&mut self, text: &[u8]) {
        if self.error_len == 0 {
            for (kept, byte) in self.error.iter_mut().zip(text) {
                *kept = *byte;
            }
            self.error_len = text.len().min(KEPT_ERROR);
        }
    }

    fn top(&self) -> Option<Frame> {
        self.depth.checked_sub(1).and_then(|index| self.stack.get(index)).copied()
    }

    fn pop(&mut self) -> Option<Frame> {
        let top = self.top();
        self.depth = self.depth.saturating_sub(1);
        top
    }

    fn push(&mut self, frame: Frame, at: usize) -> Result<(), DecodeError> {
        let place = self.stack.get_mut(self.depth).ok_or(DecodeError::new(What::TooLarge, at))?;
        *place = frame;
        self.depth = self.depth.saturating_add(1);
        Ok(())
    }
}
