//! The walk over one message: its sections, and the top elements of its body document.
//!
//! Values that nobody reads are jumped over by their length, however long: what stands behind them (`$db`
//! of a command, `ok` of a reply) is still read.

use super::bson::{self, Element, Read};
use super::wire::le_u32;
use crate::{DecodeError, What};

/// Top elements of a document that are looked at; the rest is skipped.
const MAX_ELEMENTS: u16 = 128;

/// Bytes of a text, or of an error document, that are waited for; of a longer one the front is read.
pub(super) const MAX_VALUE: usize = 1_024;

/// What the walk found. Texts borrow from the bytes given last.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Facts<'a> {
    /// The key of the first element.
    pub(super) command: Option<&'a [u8]>,
    /// Its value, or that of `collection`.
    pub(super) target: Option<&'a [u8]>,
    pub(super) db: Option<&'a [u8]>,
    pub(super) code_name: Option<&'a [u8]>,
    pub(super) message: Option<&'a [u8]>,
    pub(super) numbers: Numbers,
}

/// The part of [`Facts`] that outlives the bytes.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Numbers {
    pub(super) cursor: Option<i64>,
    /// Documents in the sections that were counted.
    pub(super) batch: Option<u32>,
    pub(super) ok: Option<bool>,
    pub(super) code: Option<i64>,
    /// There are write errors, or a write concern error.
    pub(super) write_failed: bool,
    pub(super) write_errors: Option<u32>,
    /// More elements than are looked at.
    pub(super) cut: bool,
}

/// Where the walk is in a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk {
    /// Bytes of the message from here on.
    pub(super) left: u32,
    /// Bytes of the body document from here on, its last NUL included; 0 between sections.
    doc: u32,
    /// The body is all there is: no sections.
    bare: bool,
    /// Bytes behind the last section.
    checksum: u32,
    /// It is a reply.
    reply: bool,
    elements: u16,
    get_more: bool,
}

/// Why the walk stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Nothing more is to be learned; `left` bytes remain.
    Done,
    /// So many bytes are of no interest, then it goes on.
    Jump(u32),
    /// So many bytes must be there; nothing was used.
    Need(usize),
}

impl Walk {
    /// The sections of an OP_MSG, `left` bytes from the first section kind to the end of the message.
    pub(super) const fn sections(left: u32, checksum: bool, reply: bool) -> Self {
        let checksum = if checksum { 4 } else { 0 };
        Self { left, doc: 0, bare: false, checksum, reply, elements: 0, get_more: false }
    }

    /// One document at the front of `left` bytes.
    pub(super) const fn document(left: u32, reply: bool) -> Self {
        Self { left, doc: 0, bare: true, checksum: 0, reply, elements: 0, get_more: false }
    }

    /// Walks on over `bytes`, which start where the walk is; returns how many were used. `count`: sections
    /// of documents that are whole are counted.
    ///
    /// # Errors
    /// Lengths that do not fit their message, types that do not exist.
    pub(super) fn run<'a>(
        &mut self,
        bytes: &'a [u8],
        count: bool,
        facts: &mut Facts<'a>,
    ) -> Result<(usize, Stop), DecodeError> {
        let mut used = 0usize;
        loop {
            let rest = bytes.get(used..).unwrap_or_default();
            let stop = match self.doc {
                0 if self.left <= self.checksum => Some(Stop::Done),
                0 => self.section(rest, count, facts, &mut used)?,
                1 => {
                    self.pass(1, &mut used);
                    self.doc = 0;
                    if self.bare { Some(Stop::Done) } else { None }
                }
                _ => self.element(rest, facts, &mut used)?,
            };
            match stop {
                Some(Stop::Need(more)) => return Ok((used, Stop::Need(used.saturating_add(more)))),
                Some(stop) => return Ok((used, stop)),
                None if used > bytes.len() => {
                    let beyond = u32::try_from(used.saturating_sub(bytes.len())).unwrap_or(u32::MAX);
                    return Ok((bytes.len(), Stop::Jump(beyond)));
                }
                None => {}
            }
        }
    }

    /// Counts `n` bytes as dealt with.
    fn pass(&mut self, n: usize, used: &mut usize) {
        *used = used.saturating_add(n);
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        self.left = self.left.saturating_sub(n);
        self.doc = self.doc.saturating_sub(n);
    }

    fn section<'a>(
        &mut self,
        rest: &'a [u8],
        count: bool,
        facts: &mut Facts<'a>,
        used: &mut usize,
    ) -> Result<Option<Stop>, DecodeError> {
        let room = self.left.saturating_sub(self.checksum);
        let kind_bytes = usize::from(!self.bare);
        let need = kind_bytes.saturating_add(4);
        if (room as usize) < need {
            return Err(DecodeError::new(What::BadLength, *used));
        }
        if rest.len() < need {
            return Ok(Some(Stop::Need(need)));
        }
        let kind = if self.bare { 0 } else { rest.first().copied().unwrap_or_default() };
        let len = le_u32(rest, kind_bytes).unwrap_or_default();
        let most = room.saturating_sub(u32::from(!self.bare));
        match kind {
            0 | 1 if len < 5 || len > most => Err(DecodeError::new(What::BadLength, *used)),
            0 => {
                self.pass(need, used);
                self.doc = len.saturating_sub(4);
                self.elements = 0;
                Ok(None)
            }
            1 => {
                let whole = kind_bytes.saturating_add(len as usize);
                if count && let Some(section) = rest.get(need..whole) {
                    let id = bson::cstring(section, usize::MAX).map_or(0, |id| id.len().saturating_add(1));
                    let documents = section.get(id..).and_then(bson::count_documents);
                    facts.numbers.batch =
                        documents.map(|more| facts.numbers.batch.unwrap_or(0).saturating_add(more));
                }
                self.pass(whole, used);
                Ok(None)
            }
            // A security token between servers: no length to go by, nothing of interest.
            2 => Ok(Some(Stop::Done)),
            _ => Err(DecodeError::new(What::BadMagic, *used)),
        }
    }

    fn element<'a>(
        &mut self,
        rest: &'a [u8],
        facts: &mut Facts<'a>,
        used: &mut usize,
    ) -> Result<Option<Stop>, DecodeError> {
        let element = match bson::element(rest)? {
            Read::Element(element) if self.elements < MAX_ELEMENTS => element,
            Read::Need(need) if need <= self.doc as usize => return Ok(Some(Stop::Need(need))),
            Read::Need(_) => return Err(DecodeError::new(What::BadLength, *used)),
            Read::Odd | Read::Element(_) => {
                facts.numbers.cut = true;
                self.pass(self.doc as usize, used);
                return Ok(if self.bare { Some(Stop::Done) } else { None });
            }
        };
        let whole = element.head.saturating_add(element.value);
        if whole >= self.doc as usize {
            return Err(DecodeError::new(What::BadLength, *used));
        }
        if self.elements == 0 && element.key == b"$query" && element.kind == bson::DOCUMENT {
            // A command in an envelope of read preferences: go on inside, and forget what surrounds it.
            let inner = element.head.saturating_add(4);
            self.pass(inner, used);
            self.doc = u32::try_from(element.value.saturating_sub(4)).unwrap_or_default();
            self.bare = true;
            return Ok(None);
        }
        if self.wants(&element) {
            let there = element.head.saturating_add(element.value.min(MAX_VALUE));
            let Some(value) = rest.get(element.head..there) else { return Ok(Some(Stop::Need(there))) };
            self.take(&element, value, facts);
        } else if self.elements == 0 {
            facts.command = Some(element.key);
        }
        self.elements = self.elements.saturating_add(1);
        self.pass(whole, used);
        Ok(None)
    }

    fn wants(&self, element: &Element<'_>) -> bool {
        if self.reply {
            return matches!(
                element.key,
                b"ok" | b"code" | b"codeName" | b"errmsg" | b"$err" | b"writeErrors" | b"writeConcernError"
            );
        }
        let scalar = matches!(element.kind, bson::STRING | bson::INT64);
        (self.elements == 0 && scalar)
            || element.key == b"$db"
            || (self.get_more && element.key == b"collection")
    }

    fn take<'a>(&mut self, element: &Element<'a>, value: &'a [u8], facts: &mut Facts<'a>) {
        let text = (element.kind == bson::STRING).then(|| bson::text(value));
        let number = bson::number(element.kind, value);
        if !self.reply {
            if self.elements == 0 {
                facts.command = Some(element.key);
                facts.target = text;
                self.get_more = element.key == b"getMore";
                facts.numbers.cursor = number.filter(|_| self.get_more);
            } else if element.key == b"$db" {
                facts.db = text;
            } else {
                facts.target = text;
            }
            return;
        }
        match element.key {
            b"ok" => facts.numbers.ok = number.map(|ok| ok != 0),
            b"code" => facts.numbers.code = number,
            b"codeName" => facts.code_name = text,
            b"errmsg" | b"$err" => facts.message = text,
            b"writeErrors" if element.kind == bson::ARRAY => {
                facts.numbers.write_failed = true;
                facts.numbers.write_errors = (value.len() == element.value).then(|| entries(value)).flatten();
                if let Some(first) = first_document(value) {
                    cause(first, facts);
                }
            }
            b"writeConcernError" if element.kind == bson::DOCUMENT => {
                facts.numbers.write_failed = true;
                cause(value.get(4..).unwrap_or_default(), facts);
            }
            _ => {}
        }
    }
}

/// The elements inside the first document of an array.
fn first_document(array: &[u8]) -> Option<&[u8]> {
    let inside = array.get(4..)?;
    match bson::element(inside) {
        Ok(Read::Element(Element { kind: bson::DOCUMENT, head, value, .. })) => {
            let end = head.checked_add(value)?.min(inside.len());
            inside.get(head.checked_add(4)?..end)
        }
        _ => None,
    }
}

/// How many elements a whole array has.
fn entries(array: &[u8]) -> Option<u32> {
    let mut rest = array.get(4..)?;
    let mut count = 0u32;
    while rest.len() > 1 {
        let Ok(Read::Element(element)) = bson::element(rest) else { return None };
        rest = rest.get(element.head.checked_add(element.value)?..)?;
        count = count.checked_add(1)?;
    }
    Some(count)
}

/// Reads code, name and message among the elements of an error document.
fn cause<'a>(mut rest: &'a [u8], facts: &mut Facts<'a>) {
    for _ in 0..MAX_ELEMENTS {
        let Ok(Read::Element(element)) = bson::element(rest) else { return };
        let end = element.head.saturating_add(element.value);
        let Some(value) = rest.get(element.head..end) else { return };
        match (element.key, element.kind) {
            (b"code", kind) => facts.numbers.code = bson::number(kind, value),
            (b"codeName", bson::STRING) => facts.code_name = Some(bson::text(value)),
            (b"errmsg", bson::STRING) => facts.message = Some(bson::text(value)),
            _ => {}
        }
        rest = rest.get(end..).unwrap_or_default();
    }
}
