//! Batches: encoded envelopes put together once, for all destinations.
//!
//! An `EnvelopeBatch` of loggregator v2 is `repeated Envelope batch = 1`, so one envelope in it is an *entry*: the tag
//! `0a`, a length, the envelope. Entries that stand one behind the other are the message. The reader encodes them into
//! the builder's buffer; nothing is allocated for an envelope. Sealing copies them once into memory of their exact size,
//! behind the five bytes with which gRPC frames a message, so that a queue holds bytes and no half-empty buffers.
//!
//! Sources: <https://github.com/cloudfoundry/loggregator-api/blob/master/v2/envelope.proto>,
//! <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md> (length-prefixed message).

use bytes::{BufMut, Bytes, BytesMut};

/// The bytes in front of a gRPC message: one flag and the length.
pub const PREFIX: usize = 5;

/// The tag of an entry: field 1, length-delimited.
pub const ENTRY_TAG: u8 = 0x0a;

/// Envelopes that travel together. Cloning shares the bytes.
#[derive(Debug, Clone)]
pub struct Batch {
    framed: Bytes,
    envelopes: u32,
    first_ns: i64,
}

impl Batch {
    /// A batch of the entries in `message`. Copies them once. `first_ns` is when the first of them was received, as
    /// nanoseconds since the Unix epoch.
    ///
    /// A message beyond 4 GiB, which gRPC cannot frame, gives `None`.
    pub fn new(message: &[u8], envelopes: u32, first_ns: i64) -> Option<Self> {
        let length = u32::try_from(message.len()).ok()?;
        let mut framed = BytesMut::with_capacity(PREFIX.checked_add(message.len())?);
        framed.put_u8(0);
        framed.put_u32(length);
        framed.put_slice(message);
        Some(Self { framed: framed.freeze(), envelopes, first_ns })
    }

    /// The bytes of an `EnvelopeBatch` message.
    pub fn message(&self) -> &[u8] {
        self.framed.get(PREFIX..).unwrap_or_default()
    }

    /// The same with the prefix of a gRPC message, sharing the memory.
    pub fn framed(&self) -> Bytes {
        self.framed.clone()
    }

    /// How many envelopes there are.
    pub fn envelopes(&self) -> u32 {
        self.envelopes
    }

    /// Bytes of the message, without the prefix.
    pub fn bytes(&self) -> usize {
        self.message().len()
    }

    /// When the first envelope was received: nanoseconds since the Unix epoch.
    pub fn first_ns(&self) -> i64 {
        self.first_ns
    }
}

/// When a batch is sealed; whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Envelopes in a batch.
    pub envelopes: u32,
    /// Bytes of a batch. One envelope that is larger makes a batch of its own.
    pub bytes: usize,
    /// Age of the first envelope.
    pub age_ns: i64,
    /// Bytes of an envelope beyond which it is not taken: servers refuse the message. gRPC's own default is 4 MiB.
    pub envelope_bytes: usize,
}

impl Default for Limits {
    /// 100 envelopes or 100 ms as the clients of loggregator have it, and 1 MiB.
    fn default() -> Self {
        Self { envelopes: 100, bytes: 1 << 20, age_ns: 100_000_000, envelope_bytes: 3 << 20 }
    }
}

/// An envelope was larger than [`Limits::envelope_bytes`] and is not in the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an envelope of {bytes} bytes is too large for a batch")]
pub struct TooLarge {
    /// What it had.
    pub bytes: usize,
}

/// Where a reader encodes envelopes until they make a batch. Belongs to one thread.
#[derive(Debug)]
pub struct BatchBuilder {
    limits: Limits,
    buffer: Vec<u8>,
    /// Bytes of committed entries; what stands behind them is being written.
    committed: usize,
    envelopes: u32,
    first_ns: i64,
}

impl BatchBuilder {
    /// An empty builder. Its buffer grows to the largest batch and stays.
    pub fn new(limits: Limits) -> Self {
        Self { limits, buffer: Vec::new(), committed: 0, envelopes: 0, first_ns: 0 }
    }

    /// Where the next entry is appended. Only append; then [`commit`](Self::commit) or [`abandon`](Self::abandon).
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Takes what was appended as one entry, received at `now_ns`. Gives the batch that this seals, if any: at most one.
    /// Nothing appended is no entry.
    ///
    /// # Errors
    /// The entry was too large; it is thrown away.
    pub fn commit(&mut self, now_ns: i64) -> Result<Option<Batch>, TooLarge> {
        let entry = self.buffer.len().saturating_sub(self.committed);
        if entry == 0 {
            return Ok(None);
        }
        if entry > self.limits.envelope_bytes {
            self.abandon();
            return Err(TooLarge { bytes: entry });
        }
        let mut sealed = None;
        if self.buffer.len() > self.limits.bytes && self.envelopes > 0 {
            // What was there goes without the new one, which moves to the front.
            sealed = self.take(self.committed);
        }
        if self.envelopes == 0 {
            self.first_ns = now_ns;
        }
        self.envelopes = self.envelopes.saturating_add(1);
        self.committed = self.buffer.len();
        let full = self.envelopes >= self.limits.envelopes || self.committed >= self.limits.bytes;
        if full && sealed.is_none() {
            sealed = self.take(self.committed);
        }
        Ok(sealed)
    }

    /// Appends a ready entry (`0a`, length, envelope) and commits it.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn push(&mut self, entry: &[u8], now_ns: i64) -> Result<Option<Batch>, TooLarge> {
        self.buffer.extend_from_slice(entry);
        self.commit(now_ns)
    }

    /// Throws away what was appended since the last commit.
    pub fn abandon(&mut self) {
        self.buffer.truncate(self.committed);
    }

    /// The batch whose age has come. A clock that stepped back makes it due at once rather than late.
    pub fn due(&mut self, now_ns: i64) -> Option<Batch> {
        let age = now_ns.saturating_sub(self.first_ns);
        (self.envelopes > 0 && !(0..self.limits.age_ns).contains(&age)).then(|| self.seal()).flatten()
    }

    /// When [`due`](Self::due) will give a batch, for the time-out of a poll.
    pub fn due_at_ns(&self) -> Option<i64> {
        (self.envelopes > 0).then(|| self.first_ns.saturating_add(self.limits.age_ns))
    }

    /// What is there as a batch, full or not.
    pub fn seal(&mut self) -> Option<Batch> {
        self.take(self.committed)
    }

    /// Envelopes that wait to be sealed.
    pub fn envelopes(&self) -> u32 {
        self.envelopes
    }

    fn take(&mut self, bytes: usize) -> Option<Batch> {
        if self.envelopes == 0 {
            return None;
        }
        let batch = Batch::new(self.buffer.get(..bytes)?, self.envelopes, self.first_ns);
        self.buffer.drain(..bytes);
        self.committed = 0;
        self.envelopes = 0;
        batch
    }
}

/// The envelopes of an `EnvelopeBatch` message, each without its tag and length. Fields that are no entry are skipped.
/// Ends early with [`Broken`] where the bytes are no message.
pub fn envelopes(message: &[u8]) -> Envelopes<'_> {
    Envelopes { rest: message }
}

/// Appends `envelope` to `out` as an entry.
pub fn put_entry(envelope: &[u8], out: &mut Vec<u8>) {
    out.push(ENTRY_TAG);
    let mut length = envelope.len();
    while length > 0x7f {
        out.push(u8::try_from(length & 0x7f).unwrap_or(0x7f) | 0x80);
        length >>= 7;
    }
    out.push(u8::try_from(length).unwrap_or(0x7f));
    out.extend_from_slice(envelope);
}

/// The bytes are no protobuf message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are no EnvelopeBatch")]
pub struct Broken;

/// See [`envelopes`].
#[derive(Debug, Clone)]
pub struct Envelopes<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Envelopes<'a> {
    type Item = Result<&'a [u8], Broken>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            match field(&mut self.rest) {
                Some((1, Some(envelope))) => return Some(Ok(envelope)),
                Some(_) => {}
                None => {
                    self.rest = &[];
                    return Some(Err(Broken));
                }
            }
        }
        None
    }
}

/// Takes one field off the front: its number, and its bytes where it is length-delimited.
/// <https://protobuf.dev/programming-guides/encoding/>; groups, which proto3 does not have, are refused.
pub(crate) fn field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Option<&'a [u8]>)> {
    let key = varint(rest)?;
    let number = key >> 3;
    let bytes = match key & 7 {
        0 => {
            varint(rest)?;
            None
        }
        1 => {
            *rest = rest.get(8..)?;
            None
        }
        2 => {
            let length = usize::try_from(varint(rest)?).ok()?;
            let (bytes, after) = rest.split_at_checked(length)?;
            *rest = after;
            Some(bytes)
        }
        5 => {
            *rest = rest.get(4..)?;
            None
        }
        _ => return None,
    };
    (number > 0).then_some((number, bytes))
}

/// Takes a base-128 number of at most ten bytes off the front.
pub(crate) fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..70).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        put_entry(text, &mut out);
        out
    }

    fn texts(batch: &Batch) -> Vec<Vec<u8>> {
        envelopes(batch.message()).map(|envelope| envelope.unwrap().to_vec()).collect()
    }

    #[test]
    fn a_batch_is_sealed_by_count() {
        let mut builder = BatchBuilder::new(Limits { envelopes: 3, ..Limits::default() });
        assert!(builder.push(&entry(b"a"), 5).unwrap().is_none());
        assert!(builder.push(&entry(b"b"), 6).unwrap().is_none());
        let batch = builder.push(&entry(b"c"), 7).unwrap().unwrap();
        assert_eq!((batch.envelopes(), batch.first_ns()), (3, 5));
        assert_eq!(texts(&batch), [b"a", b"b", b"c"]);
        assert_eq!(&batch.framed()[..PREFIX], [0, 0, 0, 0, 9]);
        assert!(builder.seal().is_none());
    }

    #[test]
    fn a_batch_is_sealed_by_bytes_before_it_grows_beyond_them() {
        let mut builder = BatchBuilder::new(Limits { bytes: 100, ..Limits::default() });
        assert!(builder.push(&entry(&[1; 60]), 1).unwrap().is_none());
        let first = builder.push(&entry(&[2; 60]), 2).unwrap().unwrap();
        assert_eq!((first.envelopes(), first.bytes()), (1, 62));
        // A single large one is sealed as soon as it is there.
        let second = builder.push(&entry(&[3; 200]), 3).unwrap().unwrap();
        assert_eq!(texts(&second), [vec![2; 60]]);
        assert_eq!(builder.envelopes(), 1);
        assert_eq!(texts(&builder.seal().unwrap()), [vec![3; 200]]);
    }

    #[test]
    fn a_batch_is_sealed_by_age_and_when_the_clock_steps_back() {
        let mut builder = BatchBuilder::new(Limits::default());
        builder.push(&entry(b"a"), 1_000).unwrap();
        assert_eq!(builder.due_at_ns(), Some(100_001_000));
        assert!(builder.due(100_000_999).is_none());
        assert!(builder.due(100_001_000).is_some());
        assert_eq!(builder.due_at_ns(), None);
        builder.push(&entry(b"a"), 1_000).unwrap();
        assert!(builder.due(999).is_some());
    }

    #[test]
    fn what_is_abandoned_or_too_large_is_not_in_the_batch() {
        let mut builder = BatchBuilder::new(Limits { envelope_bytes: 10, ..Limits::default() });
        builder.push(&entry(b"a"), 1).unwrap();
        builder.buffer().extend_from_slice(b"half an ent");
        builder.abandon();
        assert_eq!(builder.push(&entry(&[0; 9]), 1).unwrap_err(), TooLarge { bytes: 11 });
        builder.push(&entry(b"b"), 1).unwrap();
        assert_eq!(texts(&builder.seal().unwrap()), [b"a", b"b"]);
    }

    #[test]
    fn the_buffer_is_used_again() {
        let mut builder = BatchBuilder::new(Limits::default());
        let bytes = entry(&[7; 300]);
        let mut places = Vec::new();
        for _ in 0..5_000 {
            if builder.push(&bytes, 1).unwrap().is_some() {
                places.push(builder.buffer().as_ptr());
            }
        }
        assert_eq!(places.len(), 50);
        assert!(places.iter().all(|place| *place == places[0]));
    }

    #[test]
    fn entries_of_every_length_are_read_back() {
        for length in [0, 1, 127, 128, 16_383, 16_384, 70_000] {
            let bytes = entry(&vec![7; length]);
            assert_eq!(envelopes(&bytes).collect::<Vec<_>>(), [Ok(&vec![7; length][..])]);
            for cut in 1..bytes.len().min(300) {
                assert_eq!(envelopes(&bytes[..cut]).last(), Some(Err(Broken)), "{length} {cut}");
            }
        }
        // Another field before the entry; a group; a number of eleven bytes.
        assert_eq!(envelopes(&[0x10, 5, 0x0a, 1, 9]).collect::<Vec<_>>(), [Ok(&[9u8][..])]);
        assert_eq!(envelopes(&[0x0b]).collect::<Vec<_>>(), [Err(Broken)]);
        assert_eq!(envelopes(&[0x80; 11]).collect::<Vec<_>>(), [Err(Broken)]);
    }
}
