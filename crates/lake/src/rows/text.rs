//! Bytes of the wire as text columns: UTF-8 as it is, anything else escaped without loss.

use std::fmt::Write;

use decode::sip::{Message, unfold};

use crate::columns::Columns;

/// Buffers for the rare values that cannot be a view of the wire's bytes.
#[derive(Debug, Default)]
pub struct Escaped {
    text: String,
    flat: Vec<u8>,
}

impl Escaped {
    /// Sets a text column to bytes that nobody has looked at yet.
    #[inline]
    pub fn set(&mut self, columns: &mut Columns, column: usize, bytes: &[u8]) {
        match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => columns.text(column, text),
            Err(_) => columns.text(column, self.escape(bytes)),
        }
    }

    /// Sets a text column to a header value of `message`; a folded one is written on one line.
    #[inline]
    pub fn header(&mut self, columns: &mut Columns, column: usize, value: &[u8], message: &Message<'_>) {
        match message.text(value) {
            Some(text) if !message.has_folds() => columns.text(column, text),
            _ => self.odd_header(columns, column, value),
        }
    }

    #[cold]
    fn odd_header(&mut self, columns: &mut Columns, column: usize, value: &[u8]) {
        let mut flat = std::mem::take(&mut self.flat);
        flat.clear();
        unfold(value, &mut flat);
        self.set(columns, column, &flat);
        self.flat = flat;
    }

    /// Sets the payload columns: text where it is UTF-8, else escaped text beside the exact bytes.
    /// Returns it as text where it is.
    #[inline]
    pub fn payload<'a>(
        &mut self,
        columns: &mut Columns,
        column: usize,
        raw: usize,
        bytes: &'a [u8],
    ) -> Option<&'a str> {
        let text = simdutf8::basic::from_utf8(bytes).ok();
        match text {
            Some(text) => columns.payload(column, text),
            None => {
                columns.bytes(raw, bytes);
                columns.payload(column, self.escape(bytes));
            }
        }
        text
    }

    /// Valid UTF-8 as it is, every other byte as `\xHH`.
    #[cold]
    fn escape(&mut self, bytes: &[u8]) -> &str {
        self.text.clear();
        for part in bytes.utf8_chunks() {
            self.text.push_str(part.valid());
            for byte in part.invalid() {
                let _ = write!(self.text, "\\x{byte:02X}");
            }
        }
        &self.text
    }
}
