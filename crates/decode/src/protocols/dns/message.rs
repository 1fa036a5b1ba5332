//! One message (RFC 1035 §4), with EDNS (RFC 6891).
//!
//! * In: the bytes of one message, without the length that TCP puts in front.
//! * Out: its header, first question, answers as text, and what EDNS says.
//! * Bounded by: [`ANSWER_BYTES`] bytes of answers as text; the records are no more than fit the message.
//! * Lost: what is behind a record that cannot be read; [`Message::malformed`] says so.

use super::{
    name::{NAME_BYTES, name, skip_name},
    names,
    rdata::{kind_name, rdata, unknown},
};
use crate::{Cursor, DecodeError, What, hash::Hash, scratch::Scratch};

/// Bytes of the header.
pub(super) const HEADER: usize = 12;

/// Bytes of the answers as text.
pub(super) const ANSWER_BYTES: usize = 1_024;

/// Bytes of the text of an extended error (RFC 8914) that are kept.
const ERROR_BYTES: usize = 256;

pub(super) const SOA: u16 = 6;
const OPT: u16 = 41;
pub(super) const IXFR: u16 = 251;
pub(super) const AXFR: u16 = 252;

/// The fixed part at the front.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub id: u16,
    pub flags: u16,
    pub questions: u16,
    pub answers: u16,
    pub authorities: u16,
    pub additional: u16,
}

impl Header {
    pub(super) fn read(message: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(message);
        Ok(Self {
            id: cursor.be_u16()?,
            flags: cursor.be_u16()?,
            questions: cursor.be_u16()?,
            answers: cursor.be_u16()?,
            authorities: cursor.be_u16()?,
            additional: cursor.be_u16()?,
        })
    }

    pub(super) const fn is_response(&self) -> bool {
        self.flags & 0x8000 != 0
    }

    pub(super) fn opcode(&self) -> u8 {
        u8::try_from(self.flags >> 11 & 15).unwrap_or_default()
    }

    pub(super) const fn is_authoritative(&self) -> bool {
        self.flags & 0x0400 != 0
    }

    pub(super) const fn is_truncated(&self) -> bool {
        self.flags & 0x0200 != 0
    }

    /// Whether it can be a header at all: a known operation, no reserved bit, and in a query no response code.
    pub(super) fn is_plausible(&self) -> bool {
        names::opcode(self.opcode()).is_some()
            && self.flags & 0x0040 == 0
            && (self.is_response() || (self.flags & 15 == 0 && self.questions > 0))
            && self.questions <= 32
    }
}

/// What EDNS adds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edns {
    /// The largest datagram that the sender takes.
    pub payload: u16,
    /// The sender wants DNSSEC records.
    pub dnssec: bool,
    /// The upper bits of the response code.
    code: u16,
}

/// The sequence of SOA records of a zone transfer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Serials {
    /// Serial of the first record of the transfer.
    pub first: Option<u32>,
    /// How often that serial was seen.
    pub seen: u8,
    /// Records so far.
    pub records: u32,
    /// The second record is an SOA too: only what changed is sent (RFC 1995 §4).
    pub incremental: bool,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Message {
    pub header: Header,
    /// First question: name as text, type, class.
    pub name: Scratch<NAME_BYTES>,
    pub kind: u16,
    pub class: u16,
    /// Whether there is a question.
    pub asked: bool,
    /// Hash of the first question.
    pub hash: u64,
    pub edns: Option<Edns>,
    /// Text of the first extended error.
    pub error: Scratch<ERROR_BYTES>,
    /// Something behind the question could not be read.
    pub malformed: bool,
    /// Where the message ended.
    pub end: usize,
    /// Where the records begin.
    records_at: usize,
}

impl Message {
    /// Reads header and questions.
    ///
    /// # Errors
    /// They cannot be read.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let header = Header::read(bytes)?;
        if !header.is_plausible() {
            return Err(DecodeError::new(What::BadMagic, 2));
        }
        let mut message = Self {
            header,
            name: Scratch::new(),
            kind: 0,
            class: 1,
            asked: header.questions > 0,
            hash: 0,
            edns: None,
            error: Scratch::new(),
            malformed: false,
            end: HEADER,
            records_at: HEADER,
        };
        for index in 0..header.questions {
            let after = match index {
                0 => name(bytes, message.end, &mut message.name)?,
                _ => skip_name(bytes, message.end)?,
            };
            let mut cursor = Cursor::new(bytes.get(after..).unwrap_or_default());
            let (kind, class) = (cursor.be_u16()?, cursor.be_u16()?);
            if index == 0 {
                (message.kind, message.class) = (kind, class);
                let mut hash = Hash::new();
                hash.add_ignore_case(message.name.get());
                hash.add(&kind.to_be_bytes());
                message.hash = hash.finish();
            }
            message.end = after.saturating_add(4);
        }
        message.records_at = message.end;
        Ok(message)
    }

    /// Reads the records: writes the answers and takes in EDNS. `serials` is followed in zone transfers.
    pub(super) fn records(
        &mut self,
        bytes: &[u8],
        text: &mut Scratch<ANSWER_BYTES>,
        mut serials: Option<&mut Serials>,
    ) {
        let header = self.header;
        self.end = self.records_at;
        let answers = u32::from(header.answers);
        let others = u32::from(header.authorities).saturating_add(header.additional.into());
        for index in 0..answers.saturating_add(others) {
            let Ok(record) = Record::read(bytes, self.end) else {
                self.malformed = true;
                return;
            };
            if index < answers {
                if !text.is_cut() {
                    self.malformed |= record.write(bytes, text).is_err();
                }
                if let Some(serials) = &mut serials {
                    serials.take(bytes, &record);
                }
            } else if record.kind == OPT {
                self.options(bytes, &record);
            }
            self.end = record.end;
        }
    }

    /// Owner and type of the first answer, for messages without a question.
    pub(super) fn first_answer(&mut self, bytes: &[u8]) {
        if self.header.answers == 0 || !self.name.is_empty() {
            return;
        }
        if let Ok(record) = Record::read(bytes, self.records_at)
            && name(bytes, self.records_at, &mut self.name).is_ok()
        {
            self.kind = record.kind;
        }
    }

    /// The response code, with the bits of EDNS.
    pub(super) fn code(&self) -> u16 {
        let upper = self.edns.map_or(0, |edns| edns.code);
        upper << 4 | (self.header.flags & 15)
    }

    fn options(&mut self, bytes: &[u8], record: &Record) {
        let [code, _version, flags, _] = record.ttl.to_be_bytes();
        self.edns = Some(Edns { payload: record.class, dnssec: flags & 0x80 != 0, code: code.into() });
        let mut options = Cursor::new(bytes.get(record.data..record.end).unwrap_or_default());
        while !options.is_empty() {
            let Ok((code, mut value)) = option(&mut options) else {
                self.malformed = true;
                return;
            };
            // Extended DNS error (RFC 8914).
            if code == 15
                && self.error.is_empty()
                && let Ok(info) = value.be_u16()
            {
                self.error.push(b"EDE ");
                self.error.decimal(info.into());
                if !value.is_empty() {
                    self.error.push(b": ");
                    self.error.push(value.rest());
                }
            }
        }
    }
}

/// One option of EDNS: its code and its value.
fn option<'a>(options: &mut Cursor<'a>) -> Result<(u16, Cursor<'a>), DecodeError> {
    let (code, len) = (options.be_u16()?, options.be_u16()?);
    Ok((code, options.sub(len.into())?))
}

impl Serials {
    fn take(&mut self, bytes: &[u8], record: &Record) {
        let serial = (record.kind == SOA).then(|| record.serial(bytes)).flatten();
        if self.records == 0 {
            self.first = serial;
        }
        if self.records == 1 {
            self.incremental = serial.is_some() && serial != self.first;
        }
        if serial.is_some() && serial == self.first {
            self.seen = self.seen.saturating_add(1);
        }
        self.records = self.records.saturating_add(1);
    }

    /// Whether the transfer is over: the first SOA came again (RFC 5936 §2.2); incrementally it is there
    /// once more, in front of the last additions. A single SOA says that nothing changed.
    pub(super) fn is_over(&self, kind: u16) -> bool {
        match self.first {
            None => true,
            Some(_) if self.incremental => self.seen >= 3,
            Some(_) => self.seen >= 2 || (kind == IXFR && self.records == 1),
        }
    }
}

/// A resource record.
#[derive(Debug, Clone, Copy)]
struct Record {
    kind: u16,
    class: u16,
    ttl: u32,
    /// Where its data begins and ends.
    data: usize,
    end: usize,
}

impl Record {
    fn read(bytes: &[u8], at: usize) -> Result<Self, DecodeError> {
        let after = skip_name(bytes, at)?;
        let mut cursor = Cursor::new(bytes.get(after..).unwrap_or_default());
        let (kind, class, ttl) = (cursor.be_u16()?, cursor.be_u16()?, cursor.be_u32()?);
        let len = cursor.be_u16()?;
        let data = after.saturating_add(cursor.at());
        cursor.take(len.into())?;
        Ok(Self { kind, class, ttl, data, end: data.saturating_add(len.into()) })
    }

    /// Writes `A 192.0.2.1` behind what is there.
    fn write(&self, bytes: &[u8], text: &mut Scratch<ANSWER_BYTES>) -> Result<(), DecodeError> {
        if !text.is_empty() {
            text.push(b"; ");
        }
        kind_name(self.kind, text);
        text.byte(b' ');
        let before = text.get().len();
        let written = rdata(bytes, self.data, self.end, self.kind, text);
        if written.is_err() {
            text.truncate(before);
            unknown(bytes.get(self.data..self.end).unwrap_or_default(), text);
        }
        written
    }

    fn serial(&self, bytes: &[u8]) -> Option<u32> {
        let next = skip_name(bytes, skip_name(bytes, self.data).ok()?).ok()?;
        Cursor::new(bytes.get(next..self.end)?).be_u32().ok()
    }
}
