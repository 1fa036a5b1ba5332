//! The six bodies of an envelope.

use super::error::{Error, Field};
use crate::protobuf::{FIXED64, LEN, Reader, VARINT, What, tag};

/// The body that the event type of an envelope names.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "it lives on the stack, for the time of one envelope")]
pub enum Body<'a> {
    /// Event type 4.
    HttpStartStop(HttpStartStop<'a>),
    /// Event type 5.
    LogMessage(LogMessage<'a>),
    /// Event type 6.
    ValueMetric(ValueMetric<'a>),
    /// Event type 7.
    CounterEvent(CounterEvent<'a>),
    /// Event type 8.
    Error(ErrorEvent<'a>),
    /// Event type 9.
    ContainerMetric(ContainerMetric<'a>),
}

/// A UUID in two halves, each in little-endian order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uuid {
    /// Bytes 0 to 7.
    pub low: u64,
    /// Bytes 8 to 15.
    pub high: u64,
}

/// One request, as a client or as a server saw it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HttpStartStop<'a> {
    /// Nanoseconds since the epoch.
    pub start: i64,
    /// Nanoseconds since the epoch.
    pub stop: i64,
    /// Id of the request.
    pub request_id: Uuid,
    /// 1 client, 2 server; see [`peer_type_name`](super::peer_type_name).
    pub peer_type: i32,
    /// See [`method_name`](super::method_name).
    pub method: i32,
    /// URI.
    pub uri: &'a [u8],
    /// Address of the other side.
    pub remote_address: &'a [u8],
    /// User agent.
    pub user_agent: &'a [u8],
    /// Status code.
    pub status_code: i32,
    /// Length of the answer's body.
    pub content_length: i64,
    /// Application that the request was for.
    pub application_id: Option<Uuid>,
    /// Index of its instance.
    pub instance_index: Option<i32>,
    /// Id of its instance; empty where it is not there.
    pub instance_id: &'a [u8],
    /// [`Envelope::forwarded`](super::Envelope::forwarded) gives them all.
    pub(super) first_hop: Option<&'a [u8]>,
    pub(super) behind_first_hop: Reader<'a>,
}

/// One line of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogMessage<'a> {
    /// The line.
    pub message: &'a [u8],
    /// 1 standard output, 2 standard error.
    pub message_type: i32,
    /// Nanoseconds since the epoch.
    pub timestamp: i64,
    /// Application; empty where it is not there.
    pub app_id: &'a [u8],
    /// Kind of the source: `APP`, `RTR` and so on; empty where it is not there.
    pub source_type: &'a [u8],
    /// Instance of the source; empty where it is not there.
    pub source_instance: &'a [u8],
}

/// One value of a gauge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueMetric<'a> {
    /// Name.
    pub name: &'a [u8],
    /// Value.
    pub value: f64,
    /// Unit.
    pub unit: &'a [u8],
}

/// One increment of a counter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CounterEvent<'a> {
    /// Name.
    pub name: &'a [u8],
    /// By how much it grew.
    pub delta: u64,
    /// Its total; 0 where it is not there.
    pub total: u64,
}

/// An error that a component reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorEvent<'a> {
    /// What reports it.
    pub source: &'a [u8],
    /// Code.
    pub code: i32,
    /// Text.
    pub message: &'a [u8],
}

/// Resources that an instance of an application uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContainerMetric<'a> {
    /// Application.
    pub application_id: &'a [u8],
    /// Index of the instance.
    pub instance_index: i32,
    /// Processor time in percent.
    pub cpu_percentage: f64,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Disk in bytes.
    pub disk_bytes: u64,
    /// Limit of the memory; 0 where it is not there.
    pub memory_bytes_quota: u64,
    /// Limit of the disk; 0 where it is not there.
    pub disk_bytes_quota: u64,
}

/// Which fields of a body were there: a bit for each field number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen(u32);

impl Seen {
    #[inline(always)]
    fn set(&mut self, bit: u32) {
        self.0 |= 1u32.wrapping_shl(bit);
    }

    const fn has(self, bit: u32) -> bool {
        self.0 & 1u32.wrapping_shl(bit) != 0
    }

    /// Whether all of `required` were there; else the first that was not.
    #[inline(always)]
    fn all<const N: usize>(self, required: &'static [(u32, Field); N]) -> Result<(), Error> {
        let bits = required.iter().fold(0, |bits, (bit, _)| bits | 1u32.wrapping_shl(*bit));
        if self.0 & bits == bits { Ok(()) } else { self.first_missing(required) }
    }

    #[cold]
    fn first_missing(self, required: &[(u32, Field)]) -> Result<(), Error> {
        match required.iter().find(|(bit, _)| !self.has(*bit)) {
            None => Ok(()),
            Some((_, field)) => Err(Error::missing(*field)),
        }
    }
}

/// A body that is read from one or more parts.
pub(super) trait Parts<'a>: Default {
    /// Reads one part: its fields replace those of the parts before.
    fn merge(&mut self, bytes: &'a [u8], seen: &mut Seen) -> Result<(), What>;

    /// Whether the required fields were there.
    fn complete(seen: Seen) -> Result<(), Error>;
}

/// Reads the fields of a message: a table of tags and what each one sets.
macro_rules! fields {
    ($bytes:ident, $seen:ident, $reader:ident, { $($number:literal $wire:ident => $set:expr;)+ }) => {{
        let mut $reader = Reader::new($bytes);
        while let Some(found) = $reader.tag()? {
            $(if found == const { tag($number, $wire) } {
                $set;
                $seen.set($number);
                continue;
            })+
            $reader.skip(found)?;
        }
        Ok(())
    }};
}

// Bits of Seen beyond the field numbers: the halves of the UUIDs.
const REQUEST_ID: u32 = 16;
const APPLICATION_ID: u32 = 18;

impl Uuid {
    fn merge(&mut self, bytes: &[u8], seen: &mut Seen, first: u32) -> Result<(), What> {
        let mut part = Seen::default();
        let result: Result<(), What> = fields!(bytes, part, reader, {
            1 VARINT => self.low = reader.varint()?;
            2 VARINT => self.high = reader.varint()?;
        });
        seen.0 |= part.0.wrapping_shr(1).wrapping_shl(first);
        result
    }
}

impl<'a> Parts<'a> for HttpStartStop<'a> {
    #[inline]
    fn merge(&mut self, bytes: &'a [u8], seen: &mut Seen) -> Result<(), What> {
        fields!(bytes, seen, reader, {
            1 VARINT => self.start = reader.int64()?;
            2 VARINT => self.stop = reader.int64()?;
            3 LEN => self.request_id.merge(reader.bytes()?, seen, REQUEST_ID)?;
            4 VARINT => self.peer_type = reader.int32()?;
            5 VARINT => self.method = reader.int32()?;
            6 LEN => self.uri = reader.bytes()?;
            7 LEN => self.remote_address = reader.bytes()?;
            8 LEN => self.user_agent = reader.bytes()?;
            9 VARINT => self.status_code = reader.int32()?;
            10 VARINT => self.content_length = reader.int64()?;
            12 LEN => self.application_id.get_or_insert_default().merge(reader.bytes()?, seen, APPLICATION_ID)?;
            13 VARINT => self.instance_index = Some(reader.int32()?);
            14 LEN => self.instance_id = reader.bytes()?;
            15 LEN => {
                let hop = reader.bytes()?;
                if self.first_hop.is_none() {
                    (self.first_hop, self.behind_first_hop) = (Some(hop), reader);
                }
            };
        })
    }

    fn complete(seen: Seen) -> Result<(), Error> {
        seen.all(&[
            (1, Field::HttpStart),
            (2, Field::HttpStop),
            (3, Field::HttpRequestId),
            (4, Field::HttpPeerType),
            (5, Field::HttpMethod),
            (6, Field::HttpUri),
            (7, Field::HttpRemoteAddress),
            (8, Field::HttpUserAgent),
            (9, Field::HttpStatusCode),
            (10, Field::HttpContentLength),
            (REQUEST_ID, Field::UuidLow),
            (REQUEST_ID + 1, Field::UuidHigh),
        ])?;
        if seen.has(12) {
            seen.all(&[(APPLICATION_ID, Field::UuidLow), (APPLICATION_ID + 1, Field::UuidHigh)])?;
        }
        Ok(())
    }
}

impl<'a> Parts<'a> for LogMessage<'a> {
    #[inline]
    fn merge(&mut self, bytes: &'a [u8], seen: &mut Seen) -> Result<(), What> {
        fields!(bytes, seen, reader, {
            1 LEN => self.message = reader.bytes()?;
            2 VARINT => self.message_type = reader.int32()?;
            3 VARINT => self.timestamp = reader.int64()?;
            4 LEN => self.app_id = reader.bytes()?;
            5 LEN => self.source_type = reader.bytes()?;
            6 LEN => self.source_instance = reader.bytes()?;
        })
    }

    fn complete(seen: Seen) -> Result<(), Error> {
        seen.all(&[(1, Field::LogText), (2, Field::LogType), (3, Field::LogTimestamp)])
    }
}

impl<'a> Parts<'a> for ValueMetric<'a> {
    #[inline]
    fn merge(&mut self, bytes: &'a [u8], seen: &mut Seen) -> Result<(), What> {
        fields!(bytes, seen, reader, {
            1 LEN => self.name = reader.bytes()?;
            2 FIXED64 => self.value = reader.double()?;
            3 LEN => self.unit = reader.bytes()?;
        })
    }

    fn complete(seen: Seen) -> Result<(), Error> {
        seen.all(&[(1, Field::ValueName), (2, Field::Value), (3, Field::ValueUnit)])
    }
}

impl<'a> Parts<'a> for CounterEvent<'a> {
    #[inline]
    fn merge(&mut self, bytes: &'a [u8], seen: &mut Seen) -> Result<(), What> {
        fields!(bytes, seen, reader, {
            1 LEN => self.name = reader.bytes()?;
            2 VARINT => self.delta = reader.varint()?;
            3 VARINT => self.total = reader.varint()?;
        })
    }

    fn complete(seen: Seen) -> Result<(), Error> {
        seen.all(&[(1, Field::CounterName), (2, Field::CounterDelta)])
    }
}

impl<'a> Parts<'a> for ErrorEvent<'a> {
    #[inline]
    fn merge(&mut self, bytes: &'a [u8], seen: &mut Seen) -> Result<(), What> {
        fields!(bytes, seen, reader, {
            1 LEN => self.source = reader.bytes()?;
            2 VARINT => self.code = reader.int32()?;
            3 LEN => self.message = reader.bytes()?;
        })
    }

    fn complete(seen: Seen) -> Result<(), Error> {
        seen.all(&[(1, Field::ErrorSource), (2, Field::ErrorCode), (3, Field::ErrorMessage)])
    }
}

impl<'a> Parts<'a> for ContainerMetric<'a> {
    #[inline]
    fn merge(&mut self, bytes: &'a [u8], seen: &mut Seen) -> Result<(), What> {
        fields!(bytes, seen, reader, {
            1 LEN => self.application_id = reader.bytes()?;
            2 VARINT => self.instance_index = reader.int32()?;
            3 FIXED64 => self.cpu_percentage = reader.double()?;
            4 VARINT => self.memory_bytes = reader.varint()?;
            5 VARINT => self.disk_bytes = reader.varint()?;
            6 VARINT => self.memory_bytes_quota = reader.varint()?;
            7 VARINT => self.disk_bytes_quota = reader.varint()?;
        })
    }

    fn complete(seen: Seen) -> Result<(), Error> {
        seen.all(&[
            (1, Field::ContainerApplicationId),
            (2, Field::ContainerInstanceIndex),
            (3, Field::ContainerCpu),
            (4, Field::ContainerMemory),
            (5, Field::ContainerDisk),
        ])
    }
}
