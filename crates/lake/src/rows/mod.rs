//! From decoded messages to rows.
//!
//! In: an opened HEP packet and its payload. Out: one row of `sip` or `hep` for each, never none: what
//! is no SIP after all is a row of `sip` with the reason. Owned: the growing columns of both tables.
//! Bounded by: the rows and bytes at which the shard seals. Lost: nothing.

mod address;
mod capture;
mod envelope;
mod sip;
mod telemetry;
mod text;

use std::net::IpAddr;

use ::envelope::hep::{Hep, TimeSource};
use arrow_array::RecordBatch;
use decode::sip::{Known, Message, Problems, parse_into, parse_str_into};
use mem::block::Shared;
use mem::cycles;
use model::table::{HEP, SIP, Table, proto_name};
use model::{Endpoint, Nanos};
use tap::media::{Calls, Lane};

use crate::columns::Columns;
use address::AddressCache;
use text::Escaped;

pub use capture::CaptureRows;
pub use sip::worth_telling;
pub use telemetry::{Made, TelemetryRows};

/// HEP protocol type of SIP.
const PROTO_SIP: u8 = 1;

/// HEP protocol types of RTP, RTCP, and reports on them.
const ON_MEDIA: [u8; 5] = [4, 5, 34, 35, 58];

/// What is known of a packet beside its own bytes.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// When it was received, nanoseconds since the epoch.
    pub received_ns: i64,
    /// Whom it came from.
    pub peer: IpAddr,
    /// Whether its key was compared with a configured one.
    pub key_checked: bool,
}

/// The payload of a packet.
#[derive(Debug, Clone, Copy)]
pub enum Payload<'a> {
    /// There is none.
    Missing,
    /// The bytes, inflated where they came compressed.
    Plain(&'a [u8]),
    /// Compressed bytes that could not be inflated, and why.
    Packed(&'a [u8], &'static str),
}

impl<'a> Payload<'a> {
    fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Missing => None,
            Self::Plain(bytes) | Self::Packed(bytes, _) => Some(bytes),
        }
    }
}

/// Settings of row building.
#[derive(Debug, Clone, Default)]
pub struct RowOptions {
    /// SIP headers that give the correlation id where the packet has none, in order of preference.
    pub correlation_headers: Vec<String>,
    /// What all threads know of media: SIP adds to it, and reports on media without a correlation id get theirs from it.
    pub calls: Option<Calls>,
}

/// What a row is and what was odd about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Whether it is a row of `sip`.
    pub sip: bool,
    /// Whether its payload could not be parsed as SIP.
    pub unparsed: bool,
    /// What the SIP message lacks.
    pub problems: Problems,
    /// Where its time comes from.
    pub time: Option<TimeSource>,
}

/// A closed batch of one table.
#[derive(Debug)]
pub struct Sealed {
    /// The table.
    pub table: &'static Table,
    /// The rows.
    pub rows: RecordBatch,
    /// Memory that they keep in use.
    pub held_bytes: usize,
}

/// The growing rows of one shard.
#[derive(Debug)]
pub struct Rows {
    sip: Columns,
    hep: Columns,
    sip_addresses: AddressCache,
    hep_addresses: AddressCache,
    options: RowOptions,
    escaped: Escaped,
    media: String,
    /// Cycles that parsing took, while that is measured.
    parsing: Option<u64>,
    calls: Option<Lane>,
}

impl Rows {
    /// Rows for batches of about `capacity` rows.
    pub fn new(capacity: usize, options: RowOptions) -> Self {
        Self {
            sip: Columns::new(&SIP, capacity),
            hep: Columns::new(&HEP, capacity.min(4_096)),
            sip_addresses: AddressCache::default(),
            hep_addresses: AddressCache::default(),
            calls: options.calls.as_ref().map(Calls::lane),
            options,
            escaped: Escaped::default(),
            media: String::new(),
            parsing: None,
        }
    }

    /// From now on the time of parsing is measured.
    pub fn measure(&mut self) {
        self.parsing = Some(0);
    }

    /// Whether it is.
    #[inline]
    pub fn is_measured(&self) -> bool {
        self.parsing.is_some()
    }

    /// Ends measuring; answers the cycles that parsing took.
    pub fn measured(&mut self) -> u64 {
        self.parsing.take().unwrap_or(0)
    }

    /// Rows in the growing batches.
    pub fn len(&self) -> usize {
        self.sip.rows() + self.hep.rows()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory that the growing batches keep in use.
    pub fn held_bytes(&self) -> usize {
        self.sip.held_bytes().max(self.hep.held_bytes())
    }

    /// The messages to come lie in this block.
    pub fn use_block(&mut self, block: &Shared) {
        self.sip.use_block(block);
        self.hep.use_block(block);
    }

    /// Lets go of the block in use and of what is shared with other threads: a wait follows.
    pub fn forget_block(&mut self) {
        if let Some(calls) = &mut self.calls {
            calls.leave();
        }
        self.sip.forget_block();
        self.hep.forget_block();
    }

    /// Makes the row of one packet.
    #[inline]
    pub fn append(&mut self, hep: &Hep<'_>, payload: Payload<'_>, arrival: &Arrival) -> Appended {
        match payload.bytes() {
            Some(bytes) if hep.proto_type.unwrap_or(PROTO_SIP) == PROTO_SIP => {
                let packed = if let Payload::Packed(_, why) = payload { Some(why) } else { None };
                self.append_sip(hep, bytes, packed, arrival)
            }
            bytes => self.append_other(hep, bytes, arrival),
        }
    }

    fn append_other(&mut self, hep: &Hep<'_>, payload: Option<&[u8]>, arrival: &Arrival) -> Appended {
        let time = envelope::set(
            &mut self.hep,
            &envelope::HEP_COLUMNS,
            hep,
            arrival,
            &mut self.hep_addresses,
            &mut self.escaped,
        );
        if let Some(proto_type) = hep.proto_type {
            use model::table::hep::{PROTO, PROTO_TYPE};
            self.hep.int(PROTO_TYPE, i32::from(proto_type));
            match proto_name(proto_type) {
                Some(name) => self.hep.text(PROTO, name),
                None => self.hep.text(PROTO, itoa(proto_type, &mut [0; 3])),
            }
        }
        let cid = match &mut self.calls {
            Some(calls) if hep.correlation_id.is_none() => call_of(hep, arrival, calls),
            _ => hep.correlation_id,
        };
        if let Some(id) = cid {
            self.escaped.set(&mut self.hep, model::table::hep::CID, id);
        }
        if let Some(payload) = payload {
            use model::table::hep::{PAYLOAD, PAYLOAD_RAW};
            self.escaped.payload(&mut self.hep, PAYLOAD, PAYLOAD_RAW, payload);
        }
        self.hep.end_row();
        Appended { sip: false, unparsed: false, problems: Problems::NONE, time }
    }

    fn append_sip(
        &mut self,
        hep: &Hep<'_>,
        payload: &[u8],
        packed: Option<&'static str>,
        arrival: &Arrival,
    ) -> Appended {
        use model::table::sip::{CID, PARSE_ERROR, PAYLOAD, PAYLOAD_RAW};
        let time = envelope::set(
            &mut self.sip,
            &envelope::SIP_COLUMNS,
            hep,
            arrival,
            &mut self.sip_addresses,
            &mut self.escaped,
        );
        let text = self.escaped.payload(&mut self.sip, PAYLOAD, PAYLOAD_RAW, payload);
        let mut cid = hep.correlation_id;
        let mut message = Message::default();
        let began = self.parsing.map(|_| cycles::now());
        let parsed = match (packed, text) {
            (Some(why), _) => Err(why),
            (None, Some(text)) => parse_str_into(text, &mut message).map_err(|error| error.what.as_str()),
            (None, None) => parse_into(payload, &mut message).map_err(|error| error.what.as_str()),
        };
        if let (Some(cycles), Some(began)) = (&mut self.parsing, began) {
            *cycles += cycles::now().saturating_sub(began);
        }
        let (unparsed, problems) = match parsed {
            Ok(()) => {
                let call_id = message.call_id().unwrap_or_default();
                let calls = &mut self.calls;
                sip::set(&mut self.sip, &message, &mut self.escaped, &mut self.media, &mut |media| {
                    if let Some(calls) = calls {
                        calls.announce_media(media, call_id, Nanos(arrival.received_ns));
                    }
                });
                if cid.is_none() {
                    cid = self
                        .options
                        .correlation_headers
                        .iter()
                        .find_map(|name| message.header(name.as_bytes()));
                }
                let lacking = message.problems();
                if sip::worth_telling(lacking) {
                    self.sip.text(PARSE_ERROR, &sip::told(lacking));
                }
                (false, lacking)
            }
            Err(why) => {
                self.sip.text(PARSE_ERROR, why);
                (true, Problems::NONE)
            }
        };
        if let Some(cid) = cid {
            self.escaped.set(&mut self.sip, CID, cid);
        }
        self.sip.end_row();
        Appended { sip: true, unparsed, problems, time }
    }

    /// The messages that came together have been taken; a wait may follow.
    pub fn end_batch(&mut self, now: i64) {
        if let Some(calls) = &mut self.calls {
            calls.end_batch(Nanos(now));
        }
    }

    /// Closes the growing batches and hands them to `out`.
    pub fn seal(&mut self, mut out: impl FnMut(Sealed)) {
        self.sip_addresses.clear();
        self.hep_addresses.clear();
        for (table, columns) in [(&SIP, &mut self.sip), (&HEP, &mut self.hep)] {
            if let Some((rows, held_bytes)) = columns.seal() {
                out(Sealed { table, rows, held_bytes });
            } else {
                columns.discard_blocks();
            }
        }
    }
}

/// The Call-ID of a report on media, by where it was sent from or to.
#[inline]
fn call_of<'a>(hep: &Hep<'_>, arrival: &Arrival, calls: &'a mut Lane) -> Option<&'a [u8]> {
    if !hep.proto_type.is_some_and(|kind| ON_MEDIA.contains(&kind)) {
        return None;
    }
    let sides = [Endpoint::new(hep.src?, hep.src_port?), Endpoint::new(hep.dst?, hep.dst_port?)];
    calls.call_id_of(sides, Nanos(arrival.received_ns))
}

/// A small number as text.
fn itoa(number: u8, buffer: &mut [u8; 3]) -> &str {
    let digits = [number / 100, number / 10 % 10, number % 10];
    let skip = digits.iter().take(2).take_while(|digit| **digit == 0).count();
    for (place, digit) in buffer.iter_mut().zip(digits) {
        *place = b'0' + digit;
    }
    buffer.get(skip..).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or("")
}

/// The headers whose value is copied to a column as it is.
const PLAIN_HEADERS: &[(Known, usize)] = &[
    (Known::CallId, model::table::sip::CALL_ID),
    (Known::Contact, model::table::sip::CONTACT),
    (Known::ContentType, model::table::sip::CONTENT_TYPE),
    (Known::PAssertedIdentity, model::table::sip::P_ASSERTED_IDENTITY),
    (Known::RemotePartyId, model::table::sip::REMOTE_PARTY_ID),
    (Known::Diversion, model::table::sip::DIVERSION),
    (Known::Privacy, model::table::sip::PRIVACY),
    (Known::Reason, model::table::sip::REASON_HEADER),
    (Known::Organization, model::table::sip::ORGANIZATION),
    (Known::SessionId, model::table::sip::SESSION_ID),
    (Known::XRtpStat, model::table::sip::X_RTP_STAT),
];
