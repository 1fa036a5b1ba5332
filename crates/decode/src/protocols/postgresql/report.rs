//! Fields that several messages have, and the texts of errors, notices and command tags.

use super::framing;
use crate::{Message, Name};

/// Bytes of an `ErrorResponse` or `NoticeResponse` that are read; the primary message comes early.
pub(super) const REPORT_WINDOW: usize = 8_192;

/// Details that are longer are left out: they may quote whole rows.
const MAX_DETAIL: usize = 200;

/// Says which system it is.
pub(super) fn system(message: Message<'_>) -> Message<'_> {
    message.label(Name::Attribute("db.system.name"), "postgresql")
}

/// The fields of an error or a notice.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Report<'a> {
    severity: &'a [u8],
    code: &'a [u8],
    text: &'a [u8],
    detail: &'a [u8],
}

impl<'a> Report<'a> {
    pub fn read(mut body: &'a [u8]) -> Self {
        let mut report = Self::default();
        while let Some((kind, rest)) = body.split_first()
            && *kind != 0
        {
            // The last text may be cut.
            let (text, rest) = framing::text(rest).unwrap_or((rest, &[]));
            match kind {
                b'S' if report.severity.is_empty() => report.severity = text,
                b'V' => report.severity = text,
                b'C' => report.code = text,
                b'M' => report.text = text,
                b'D' => report.detail = text,
                _ => {}
            }
            body = rest;
        }
        report
    }

    /// Adds the fields; a notice is no error.
    pub fn describe<'o>(&self, mut message: Message<'o>, error: bool) -> Message<'o> {
        if !self.code.is_empty() {
            message = message.text(Name::StatusCode, self.code);
        }
        let text = if error { Name::Error } else { Name::Attribute("db.response.notice") };
        message = message.text(text, self.text);
        if !self.severity.is_empty() {
            message = message.text(Name::Attribute("postgresql.severity"), self.severity);
        }
        if (1..=MAX_DETAIL).contains(&self.detail.len()) {
            message = message.text(Name::Attribute("postgresql.detail"), self.detail);
        }
        message
    }
}

/// What a command tag says, such as `INSERT 0 5` or `CREATE TABLE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// Rows were returned.
    Returned(u64),
    /// Rows were changed, copied or passed over.
    Affected(u64),
    /// No count.
    Plain,
}

impl Tag {
    pub fn read(tag: &[u8]) -> Self {
        let tag = tag.strip_suffix(&[0]).unwrap_or(tag);
        let mut words = tag.split(|byte| *byte == b' ');
        let verb = words.next().unwrap_or_default();
        let count = words.next_back().and_then(|word| core::str::from_utf8(word).ok());
        match (verb, count.and_then(|word| word.parse().ok())) {
            (b"SELECT" | b"FETCH", Some(count)) => Self::Returned(count),
            (_, Some(count)) => Self::Affected(count),
            (_, None) => Self::Plain,
        }
    }
}
