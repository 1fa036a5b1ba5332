//! A queue on disk, for what does not fit into memory while a destination is away.
//!
//! * In: batches, oldest first. Out: the same, in order, also after a restart.
//! * Owned: a folder of segment files that are only appended to, and a file `cursor` that says how far one of them was
//!   confirmed. The folder is locked, so that no second program writes it.
//! * Bounded by: bytes on disk. A segment is an eighth of it and is deleted when all of it was confirmed.
//! * Lost: what the machine, not the program, had not written to disk when it failed: a segment is synced when it is
//!   full and at the end. A torn record at the end of a segment is left out; a damaged one hides what stands behind it
//!   in its segment. Confirmed batches may come again after a crash, as the cursor is written now and then.

mod record;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::batch::Batch;
use crate::counters::Tally;
use record::{MAGIC, Next};

/// Segments that the bound is divided into.
const SEGMENTS: u64 = 8;

/// The number of the first segment of a new folder; there is room before it for [`Spool::close`].
const FIRST: u64 = 1 << 32;

/// Where the first record of a segment begins.
const START: u64 = MAGIC.len() as u64;

/// Where a record ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    segment: u64,
    offset: u64,
}

#[derive(Debug)]
struct Segment {
    number: u64,
    /// Where the last whole record ends.
    end: u64,
    /// Where reading goes on.
    at: u64,
    /// What was not read yet.
    unread: Tally,
}

/// Whether a batch found room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// It is there.
    Yes,
    /// The bound is reached.
    Full,
}

/// What reading gave.
#[derive(Debug)]
pub enum Taken {
    /// The next batch, and where it ends.
    Batch(Batch, Position),
    /// The rest of a segment could not be read: this was in it.
    Lost(Tally),
    /// Everything was read.
    Empty,
}

/// The queue. All calls read or write files; none belongs on an event loop.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    limit: u64,
    segments: VecDeque<Segment>,
    /// The last segment, if it is open for appending.
    tail: Option<File>,
    reader: Option<(u64, BufReader<File>)>,
    cursor: File,
    next_number: u64,
    /// Segments with bytes behind their last whole record, found when the folder was opened.
    torn: u64,
    scratch: Vec<u8>,
    _lock: File,
}

impl Spool {
    /// Opens or makes the folder and counts what waits in it, for which all of it is read.
    ///
    /// # Errors
    /// The folder cannot be made, read or written, or another program has it.
    pub fn open(folder: &Path, limit: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let lock = OpenOptions::new().write(true).create(true).truncate(false).open(folder.join("lock"))?;
        lock.try_lock().map_err(|error| match error {
            fs::TryLockError::Error(error) => error,
            fs::TryLockError::WouldBlock => io::Error::new(
                io::ErrorKind::WouldBlock,
                format!("{} is in use by another program", folder.display()),
            ),
        })?;
        let cursor = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(folder.join("cursor"))?;
        let mut numbers = Vec::new();
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".spool"));
            numbers.extend(number.and_then(|number| u64::from_str_radix(number, 16).ok()));
        }
        numbers.sort_unstable();
        let mut spool = Self {
            folder: folder.to_owned(),
            limit,
            segments: VecDeque::new(),
            tail: None,
            reader: None,
            cursor,
            next_number: numbers.last().map_or(FIRST, |last| last.saturating_add(1)),
            torn: 0,
            scratch: Vec::new(),
            _lock: lock,
        };
        let confirmed = spool.read_cursor()?;
        for number in numbers {
            // Segments before the confirmed one would have been deleted, so only its own number counts.
            let at = confirmed.filter(|at| at.segment == number).map_or(START, |at| at.offset.max(START));
            let segment = spool.count(number, at)?;
            if segment.unread.batches == 0 {
                fs::remove_file(spool.path(number))?;
            } else {
                spool.segments.push_back(segment);
            }
        }
        Ok(spool)
    }

    /// What waits to be read.
    pub fn waiting(&self) -> Tally {
        let mut sum = Tally::default();
        for segment in &self.segments {
            sum.envelopes += segment.unread.envelopes;
            sum.batches += segment.unread.batches;
            sum.bytes += segment.unread.bytes;
        }
        sum
    }

    /// Segments that were damaged or cut when the folder was opened.
    pub fn torn(&self) -> u64 {
        self.torn
    }

    /// Appends a batch.
    ///
    /// # Errors
    /// Those of writing. The batch is not there then, and the next one goes to a new segment.
    pub fn append(&mut self, batch: &Batch) -> io::Result<Appended> {
        let bytes = record::size(batch);
        let size = self.segments.iter().map(|segment| segment.end).sum::<u64>();
        if size.saturating_add(bytes) > self.limit {
            return Ok(Appended::Full);
        }
        let share = self.limit / SEGMENTS;
        let full = self.segments.back().is_some_and(|last| last.end.saturating_add(bytes) > share);
        if full && let Some(tail) = self.tail.take() {
            tail.sync_data()?;
        }
        if self.tail.is_none() {
            let number = self.next_number;
            self.next_number = number.saturating_add(1);
            self.tail = Some(begin(&self.path(number))?);
            self.segments.push_back(Segment { number, end: START, at: START, unread: Tally::default() });
        }
        self.scratch.clear();
        record::put(batch, &mut self.scratch);
        let written = self.tail.as_mut().map_or(Ok(()), |tail| tail.write_all(&self.scratch));
        if let Err(error) = written {
            // What stands there of it is a torn tail, which readers stop at.
            self.tail = None;
            return Err(error);
        }
        if let Some(segment) = self.segments.back_mut() {
            segment.end = segment.end.saturating_add(bytes);
            segment.unread.add(batch.envelopes(), batch.bytes());
        }
        Ok(Appended::Yes)
    }

    /// The next batch in order.
    ///
    /// # Errors
    /// Those of opening and reading; the same batch is tried again by the next call.
    pub fn read(&mut self) -> io::Result<Taken> {
        let folder = &self.folder;
        let Some(segment) = self.segments.iter_mut().find(|segment| segment.unread.batches > 0) else {
            return Ok(Taken::Empty);
        };
        let number = segment.number;
        let mut reader = match self.reader.take().filter(|(open, _)| *open == number) {
            Some((_, reader)) => reader,
            None => {
                let mut file = File::open(path(folder, number))?;
                file.seek(SeekFrom::Start(segment.at))?;
                BufReader::with_capacity(64 << 10, file)
            }
        };
        if let Next::Batch(batch) = record::read(&mut reader, &mut self.scratch)? {
            segment.at = segment.at.saturating_add(record::size(&batch));
            segment.unread.remove(batch.envelopes(), batch.bytes());
            let position = Position { segment: number, offset: segment.at };
            self.reader = Some((number, reader));
            return Ok(Taken::Batch(batch, position));
        }
        // Its records were counted when they were written, so it ends too early. Nothing more goes there.
        let lost = std::mem::take(&mut segment.unread);
        segment.at = segment.end;
        if self.segments.back().is_some_and(|last| last.number == number) {
            self.tail = None;
        }
        Ok(Taken::Lost(lost))
    }

    /// Everything that was read up to `position` was confirmed: whole segments before it are deleted.
    ///
    /// # Errors
    /// Those of writing the cursor and deleting. Batches may come again after a restart then.
    pub fn confirmed(&mut self, position: Position) -> io::Result<()> {
        while let Some(first) = self.segments.front() {
            let before = first.number < position.segment;
            let done = first.number == position.segment && first.end <= position.offset;
            if !(before || done) || first.unread.batches > 0 {
                break;
            }
            self.remove_first()?;
        }
        let mut bytes = Vec::with_capacity(20);
        bytes.extend_from_slice(&position.segment.to_le_bytes());
        bytes.extend_from_slice(&position.offset.to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        self.cursor.seek(SeekFrom::Start(0))?;
        self.cursor.write_all(&bytes)
    }

    /// Gives up the oldest segment with something unread, to make room. Gives what it held unread.
    ///
    /// # Errors
    /// Those of deleting.
    pub fn drop_oldest(&mut self) -> io::Result<Tally> {
        while self.segments.front().is_some_and(|first| first.unread.batches == 0) {
            self.remove_first()?;
        }
        let lost = self.segments.front().map(|first| first.unread).unwrap_or_default();
        self.remove_first()?;
        Ok(lost)
    }

    /// Keeps for the next start what is in memory: `front` stands before everything unread, `back` behind it. What was
    /// read from here and not confirmed must be in `front`. Gives what of `back` found no room; the bound does not hold
    /// back `front`, whose size is bounded by the memory it was in.
    ///
    /// # Errors
    /// Those of writing; what was read and not confirmed is read again by the next start then.
    pub fn close(&mut self, front: &[Batch], back: &[Batch]) -> io::Result<Tally> {
        let number = self.segments.front().map_or(FIRST, |first| first.number).saturating_sub(1);
        let mut first = Segment { number, end: START, at: START, unread: Tally::default() };
        if !front.is_empty() {
            let mut file = begin(&self.path(number))?;
            for batch in front {
                self.scratch.clear();
                record::put(batch, &mut self.scratch);
                file.write_all(&self.scratch)?;
                first.end = first.end.saturating_add(record::size(batch));
                first.unread.add(batch.envelopes(), batch.bytes());
            }
            file.sync_data()?;
        }
        let reading = self.segments.iter().rev().find(|segment| segment.at > START);
        if let Some(position) =
            reading.map(|segment| Position { segment: segment.number, offset: segment.at })
        {
            self.confirmed(position)?;
        }
        if !front.is_empty() {
            self.segments.push_front(first);
        }
        let mut left = Tally::default();
        for batch in back {
            if left.batches > 0 || self.append(batch)? == Appended::Full {
                left.add(batch.envelopes(), batch.bytes());
            }
        }
        self.tail.as_ref().map_or(Ok(()), File::sync_data)?;
        self.cursor.sync_data()?;
        Ok(left)
    }

    fn remove_first(&mut self) -> io::Result<()> {
        let Some(first) = self.segments.pop_front() else { return Ok(()) };
        if self.segments.is_empty() {
            self.tail = None;
        }
        self.reader.take_if(|(open, _)| *open == first.number);
        fs::remove_file(self.path(first.number))
    }

    /// Counts the records of a segment that end behind `at`.
    fn count(&mut self, number: u64, at: u64) -> io::Result<Segment> {
        let mut segment = Segment { number, end: START, at, unread: Tally::default() };
        let mut reader = BufReader::with_capacity(64 << 10, File::open(self.path(number))?);
        let mut magic = Vec::with_capacity(MAGIC.len());
        reader.by_ref().take(START).read_to_end(&mut magic)?;
        if magic != MAGIC {
            self.torn = self.torn.saturating_add(1);
            return Ok(segment);
        }
        loop {
            match record::read(&mut reader, &mut self.scratch)? {
                Next::Batch(batch) => {
                    segment.end = segment.end.saturating_add(record::size(&batch));
                    if segment.end > at {
                        segment.unread.add(batch.envelopes(), batch.bytes());
                    }
                }
                Next::End => return Ok(segment),
                Next::Damaged => {
                    self.torn = self.torn.saturating_add(1);
                    return Ok(segment);
                }
            }
        }
    }

    /// Where the cursor stands; nothing if it was cut or never written.
    fn read_cursor(&mut self) -> io::Result<Option<Position>> {
        let mut bytes = Vec::with_capacity(20);
        Read::by_ref(&mut self.cursor).take(20).read_to_end(&mut bytes)?;
        let Some((place, crc)) = bytes.split_last_chunk::<4>() else { return Ok(None) };
        if crc32fast::hash(place) != u32::from_le_bytes(*crc) {
            return Ok(None);
        }
        let position = place.split_first_chunk::<8>().and_then(|(segment, offset)| {
            let offset = u64::from_le_bytes(offset.try_into().ok()?);
            Some(Position { segment: u64::from_le_bytes(*segment), offset })
        });
        Ok(position)
    }

    fn path(&self, number: u64) -> PathBuf {
        path(&self.folder, number)
    }
}

fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:016x}.spool"))
}

fn begin(path: &Path) -> io::Result<File> {
    let mut file = File::create_new(path)?;
    file.write_all(MAGIC)?;
    Ok(file)
}
