//! The columns of batches as column chunks.
//!
//! In: one column of some batches, and which rows of them in which order. Out: a [`Chunk`] with its pages.
//! Numbers are packed as differences. Text begins with a dictionary and goes on without one where its
//! values turn out to be many: what repeats differs from site to site, and no list of columns knows it.
//! Bounded by: a page of each kind, and a dictionary of 1 MiB.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use arrow_array::types::ByteViewType;
use arrow_array::{Array, GenericByteViewArray};
use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::bloom_filter::Sbbf;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;

use super::chunk::Chunk;
use super::hybrid::{self, Runs};
use super::order::Piece;
use super::{BLOOM_FALSE, delta};

/// Most rows in a page.
const PAGE_ROWS: u32 = 20_000;
/// A page ends soon after it has this many bytes, before compression.
const PAGE_BYTES: usize = 1 << 20;
/// Rows between two looks at the size of a page.
const STEP: u32 = 32;
/// A dictionary of more than this many bytes is given up.
const DICTIONARY_BYTES: usize = 1 << 20;
/// Values of a page after which a dictionary must have proved itself: half of them were known.
const TRIAL: usize = 1_024;

/// Writes a column of numbers: `read` adds a row's number, or says that it is null.
///
/// # Errors
/// What the codec says.
pub fn numbers<A: Array>(
    chunk: &mut Chunk<'_>,
    arrays: &[&A],
    pieces: &[Piece],
    kind: Numbers,
    mut read: impl FnMut(&A, usize, usize, &mut Vec<i64>),
) -> Result<()> {
    let mut levels = Runs::default();
    let (mut numbers, mut bytes, mut rows) = (Vec::new(), Vec::new(), 0);
    let mut end =
        |chunk: &mut Chunk<'_>, rows: &mut u32, levels: &mut Runs, numbers: &mut Vec<i64>| -> Result<()> {
            bytes.clear();
            let encoding = if kind == Numbers::Double {
                numbers.iter().for_each(|bits| bytes.extend_from_slice(&bits.to_le_bytes()));
                Encoding::PLAIN
            } else {
                delta::encode(numbers, kind == Numbers::Int, &mut bytes);
                Encoding::DELTA_BINARY_PACKED
            };
            if kind == Numbers::Times {
                let least = numbers.iter().copied().min().unwrap_or(0);
                chunk.times(least, numbers.iter().copied().max().unwrap_or(0));
            }
            chunk.data(encoding, *rows, levels, &bytes)?;
            *rows = 0;
            levels.clear();
            numbers.clear();
            Ok(())
        };
    for (piece, array) in pieces.iter().filter_map(|piece| Some((piece, *arrays.get(piece.batch)?))) {
        let mut from = piece.from;
        while from < piece.to {
            let to = piece.to.min(from + PAGE_ROWS - rows);
            match array.nulls() {
                Some(nulls) if nulls.null_count() > 0 => {
                    for row in from as usize..to as usize {
                        let valid = nulls.is_valid(row);
                        levels.push(u32::from(valid), 1);
                        if valid {
                            read(array, row, row + 1, &mut numbers);
                        }
                    }
                }
                _ => {
                    levels.push(1, to - from);
                    read(array, from as usize, to as usize, &mut numbers);
                }
            }
            rows += to - from;
            from = to;
            if rows == PAGE_ROWS {
                end(chunk, &mut rows, &mut levels, &mut numbers)?;
            }
        }
    }
    if rows > 0 || chunk.is_empty() {
        end(chunk, &mut rows, &mut levels, &mut numbers)?;
    }
    Ok(())
}

/// What a column of numbers holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// 32 bits.
    Int,
    /// 64 bits.
    Long,
    /// 64 bits, the time that files are sorted by.
    Times,
    /// The bits of a double, which are not packed.
    Double,
}

/// A column of text or bytes while it is written.
pub struct Text<'a, 'b> {
    chunk: Chunk<'b>,
    bloom: Option<Sbbf>,
    dictionary: Dictionary<'a>,
    /// Whether the growing page has keys into the dictionary, not values.
    keyed: bool,
    levels: Runs,
    keys: Runs,
    /// Plain values of the growing page.
    values: Vec<u8>,
    rows: u32,
    last: Option<(&'a [u8], u32)>,
}

impl<'a, 'b> Text<'a, 'b> {
    /// A column without rows; `bloom` is filled with its values.
    pub fn new(chunk: Chunk<'b>, bloom: Option<Sbbf>) -> Self {
        Self {
            chunk,
            bloom,
            dictionary: Dictionary::default(),
            keyed: true,
            levels: Runs::default(),
            keys: Runs::default(),
            values: Vec::new(),
            rows: 0,
            last: None,
        }
    }

    /// Adds rows.
    ///
    /// # Errors
    /// What the codec says.
    pub fn add<T: ByteViewType>(
        &mut self,
        arrays: &[&'a GenericByteViewArray<T>],
        pieces: &[Piece],
    ) -> Result<()> {
        for (piece, array) in pieces.iter().filter_map(|piece| Some((piece, *arrays.get(piece.batch)?))) {
            let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
            let mut from = piece.from;
            while from < piece.to {
                let to = piece.to.min(from + STEP).min(from + PAGE_ROWS - self.rows);
                let these = from as usize..to as usize;
                match nulls {
                    None => {
                        self.levels.push(1, to - from);
                        these.for_each(|row| self.value(array.value(row).as_ref()));
                    }
                    Some(nulls) if nulls.null_count() == array.len() => self.levels.push(0, to - from),
                    Some(nulls) => {
                        for row in these {
                            let valid = nulls.is_valid(row);
                            self.levels.push(u32::from(valid), 1);
                            if valid {
                                self.value(array.value(row).as_ref());
                            }
                        }
                    }
                }
                self.rows += to - from;
                from = to;
                if self.keyed && self.dictionary.is_vain() {
                    self.go_on_plainly()?;
                }
                if self.rows >= PAGE_ROWS || self.values.len() >= PAGE_BYTES {
                    self.end_page()?;
                }
            }
        }
        Ok(())
    }

    /// Ends the column.
    ///
    /// # Errors
    /// What the codec or the page writer says.
    pub fn finish(mut self) -> Result<(Bytes, ColumnCloseResult)> {
        if self.rows > 0 {
            self.end_page()?;
        }
        let texts = &self.dictionary.texts;
        self.values.clear();
        texts.iter().for_each(|text| plain(text, &mut self.values));
        let dictionary = (!texts.is_empty()).then_some((texts.len() as u32, self.values.as_slice()));
        // Sized for values that are all distinct; what is too much for those there are is folded away.
        if let Some(bloom) = &mut self.bloom {
            bloom.fold_to_target_fpp(BLOOM_FALSE);
        }
        self.chunk.finish(dictionary, self.bloom)
    }

    #[inline]
    fn value(&mut self, value: &'a [u8]) {
        if !self.keyed {
            if let Some(bloom) = &mut self.bloom {
                bloom.insert(value);
            }
            plain(value, &mut self.values);
            return;
        }
        self.dictionary.uses += 1;
        if let Some((last, key)) = self.last
            && last == value
        {
            self.keys.push(key, 1);
            return;
        }
        let (key, new) = self.dictionary.key(value);
        if new && let Some(bloom) = &mut self.bloom {
            bloom.insert(value);
        }
        self.last = Some((value, key));
        self.keys.push(key, 1);
    }

    fn end_page(&mut self) -> Result<()> {
        // A page of nulls has no keys, and readers that see keys want a dictionary.
        let encoding = if self.keyed && !self.dictionary.texts.is_empty() {
            let width = hybrid::width((self.dictionary.texts.len() as u32).saturating_sub(1));
            self.values.clear();
            self.values.push(width as u8);
            self.keys.encode(width, &mut self.values);
            Encoding::RLE_DICTIONARY
        } else {
            Encoding::PLAIN
        };
        self.chunk.data(encoding, self.rows, &self.levels, &self.values)?;
        self.values.clear();
        self.keys.clear();
        self.levels.clear();
        self.rows = 0;
        (self.dictionary.uses, self.dictionary.fresh) = (0, 0);
        Ok(())
    }

    /// Gives the dictionary up. Pages with keys into it keep it; without such a page nothing is left of it.
    fn go_on_plainly(&mut self) -> Result<()> {
        if self.chunk.is_empty() {
            for (key, count) in self.keys.iter() {
                let text = self.dictionary.texts.get(key as usize).copied().unwrap_or_default();
                (0..count).for_each(|_| plain(text, &mut self.values));
            }
            self.keys.clear();
            self.dictionary = Dictionary::default();
        } else if self.rows > 0 {
            self.end_page()?;
        }
        self.keyed = false;
        Ok(())
    }
}

/// A value as its length and its bytes.
#[inline]
fn plain(value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(value.len() as u32).to_le_bytes());
    out.extend_from_slice(value);
}

/// The distinct values of a chunk, and the key of each.
#[derive(Default)]
struct Dictionary<'a> {
    keys: HashMap<&'a [u8], u32, foldhash::fast::RandomState>,
    texts: Vec<&'a [u8]>,
    bytes: usize,
    /// Values looked up for the growing page.
    uses: usize,
    /// Those of them that were new.
    fresh: usize,
}

impl<'a> Dictionary<'a> {
    /// The key of a value, and whether the value is new.
    fn key(&mut self, value: &'a [u8]) -> (u32, bool) {
        let next = self.texts.len() as u32;
        match self.keys.entry(value) {
            Entry::Occupied(known) => (*known.get(), false),
            Entry::Vacant(place) => {
                place.insert(next);
                self.texts.push(value);
                self.bytes += value.len() + 4;
                self.fresh += 1;
                (next, true)
            }
        }
    }

    /// Whether its values repeat too little.
    fn is_vain(&self) -> bool {
        self.bytes > DICTIONARY_BYTES || self.uses >= TRIAL && self.fresh * 2 > self.uses
    }
}
