//! HPACK (RFC 7541): one header block in, the fields that rows need out.
//!
//! * In: a whole header block, and the dynamic table of its encoder.
//! * Out: the first value of each field of [`Known`], and whether the block refers to entries that were
//!   inserted before the capture saw them.
//! * Bounded by: [`table::MAX_TABLE`] bytes of table, [`MAX_TEXT`] bytes of values; a value that is repeated
//!   is not copied again.
//! * Lost: repeated values, all other fields.

mod huffman;
mod names;
mod static_table;
mod table;
#[cfg(test)]
mod tests;

use crate::{Cursor, DecodeError, What};
pub(crate) use names::Known;
use static_table::STATIC_ENTRIES;
pub(crate) use table::Table;

/// The most text of one block, with one string of it that is not kept.
const MAX_TEXT: usize = 131_072;

/// The highest index into a table of which the older part was not seen; 32 bytes is the least of an entry.
const MAX_LATE_INDEX: usize = STATIC_ENTRIES + table::MAX_TABLE / 32;

/// The fields of one header block.
#[derive(Debug, Default)]
pub(crate) struct Block {
    text: Vec<u8>,
    values: [Option<(usize, usize)>; names::KEPT],
    /// It refers to entries that were not seen.
    pub(crate) unknown: bool,
}

/// Room for text that an idle block may keep.
const KEPT_ROOM: usize = 8_192;

impl Block {
    /// The value of a field.
    pub(crate) fn get(&self, known: Known) -> Option<&[u8]> {
        let (start, end) = (*self.values.get(known as usize)?)?;
        self.text.get(start..end)
    }

    fn clear(&mut self) {
        self.text.clear();
        self.text.shrink_to(KEPT_ROOM);
        self.values = Default::default();
        self.unknown = false;
    }

    /// Keeps the text from `start` on as the value of a field, or drops it.
    fn keep(&mut self, known: Known, start: usize) {
        match self.values.get_mut(known as usize) {
            Some(place @ None) => *place = Some((start, self.text.len())),
            _ => self.text.truncate(start),
        }
    }

    fn add(&mut self, known: Known, value: &[u8]) {
        if let Some(None) = self.values.get(known as usize) {
            let start = self.text.len();
            self.text.extend_from_slice(value);
            self.keep(known, start);
        }
    }

    /// Decodes a whole header block.
    ///
    /// # Errors
    /// `BadCompression`, `Truncated`, `TooLarge`: the block is damaged, and with it the table.
    pub(crate) fn decode(&mut self, bytes: &[u8], table: &mut Table) -> Result<(), DecodeError> {
        self.clear();
        let mut cursor = Cursor::new(bytes);
        while let Some(first) = cursor.rest().first().copied() {
            let at = cursor.at();
            match first {
                0x80.. => {
                    let index = integer(&mut cursor, 7)?;
                    self.indexed(index, table, at)?;
                }
                0x40.. => self.literal(&mut cursor, 6, true, table)?,
                0x20.. => {
                    let size = integer(&mut cursor, 5)?;
                    if !table.resize(size) {
                        return Err(DecodeError::new(What::BadCompression, at));
                    }
                }
                _ => self.literal(&mut cursor, 4, false, table)?,
            }
        }
        Ok(())
    }

    fn indexed(&mut self, index: usize, table: &Table, at: usize) -> Result<(), DecodeError> {
        if let Some((name, value)) = static_table::entry(index) {
            self.add(Known::of(name), value);
            return Ok(());
        }
        match dynamic(index, table, at)? {
            Some((known, _, value)) => self.add(known, value),
            None => self.unknown = true,
        }
        Ok(())
    }

    /// A name by index or as text, and a value as text.
    fn literal(
        &mut self,
        cursor: &mut Cursor<'_>,
        prefix: u32,
        insert: bool,
        table: &mut Table,
    ) -> Result<(), DecodeError> {
        let at = cursor.at();
        let index = integer(cursor, prefix)?;
        let start = self.text.len();
        let (known, name_len) = if index == 0 {
            self.string(cursor)?;
            let name = self.text.get(start..).unwrap_or_default();
            let found = (Known::of(name), name.len());
            self.text.truncate(start);
            found
        } else if let Some((name, _)) = static_table::entry(index) {
            (Known::of(name), name.len())
        } else if let Some((known, name_len, _)) = dynamic(index, table, at)? {
            (known, name_len)
        } else {
            self.unknown = true;
            (Known::Other, 0)
        };
        self.string(cursor)?;
        if insert {
            table.insert(known, name_len, self.text.get(start..).unwrap_or_default());
        }
        self.keep(known, start);
        Ok(())
    }

    /// Appends a string literal (§5.2) to the text.
    fn string(&mut self, cursor: &mut Cursor<'_>) -> Result<(), DecodeError> {
        let at = cursor.at();
        let huffman = cursor.rest().first().is_some_and(|first| first & 0x80 != 0);
        let len = integer(cursor, 7)?;
        let bytes = cursor.take(len)?;
        if huffman {
            huffman::decode(bytes, &mut self.text)?;
        } else {
            self.text.extend_from_slice(bytes);
        }
        if self.text.len() > MAX_TEXT {
            return Err(DecodeError::new(What::TooLarge, at));
        }
        Ok(())
    }
}

/// An entry of the dynamic table; `None` when it was inserted unseen.
type Found<'a> = Option<(Known, usize, &'a [u8])>;

fn dynamic(index: usize, table: &Table, at: usize) -> Result<Found<'_>, DecodeError> {
    let nth = index.checked_sub(STATIC_ENTRIES.saturating_add(1));
    match nth.and_then(|nth| table.get(nth)) {
        Some(found) => Ok(Some(found)),
        None if nth.is_some() && table.is_late() && index <= MAX_LATE_INDEX => Ok(None),
        None => Err(DecodeError::new(What::BadCompression, at)),
    }
}

/// An integer with a prefix of `bits` bits (§5.1); larger than any block it may count, it is an error.
fn integer(cursor: &mut Cursor<'_>, bits: u32) -> Result<usize, DecodeError> {
    let at = cursor.at();
    let mask = 0xffu8.wrapping_shr(8u32.wrapping_sub(bits));
    let first = cursor.u8()? & mask;
    let mut value = u64::from(first);
    if first == mask {
        let mut shift = 0u32;
        loop {
            let byte = cursor.u8()?;
            value = value.saturating_add(u64::from(byte & 0x7f).wrapping_shl(shift));
            if byte & 0x80 == 0 {
                break;
            }
            shift = shift.wrapping_add(7);
            if shift > 28 {
                return Err(DecodeError::new(What::BadCompression, at));
            }
        }
    }
    usize::try_from(value).map_err(|_| DecodeError::new(What::BadCompression, at))
}
