//! An envelope of version 2 as a view.

use super::{error::Error, parse};
use crate::{
    dropsonde::entry,
    protobuf::{LEN, Reader, tag},
};

pub(super) const DEPRECATED_TAGS: u32 = tag(3, LEN);
pub(super) const GAUGE: u32 = tag(6, LEN);
pub(super) const METRICS: u32 = tag(1, LEN);
pub(super) const TAGS: u32 = tag(9, LEN);

/// An envelope. Texts are bytes that were found to be UTF-8.
#[derive(Clone, Debug)]
pub struct Envelope<'a> {
    /// Nanoseconds since the epoch.
    pub timestamp: i64,
    /// What it is about.
    pub source_id: &'a [u8],
    /// Which instance of it.
    pub instance_id: &'a [u8],
    /// What it says.
    pub message: Message<'a>,
    pub(super) bytes: &'a [u8],
    pub(super) tags: Tags<'a>,
    pub(super) deprecated: DeprecatedTags<'a>,
}

/// The message of an envelope: of several the last one.
#[derive(Clone, Debug, Default)]
pub enum Message<'a> {
    /// There is none.
    #[default]
    None,
    /// Field 4.
    Log(Log<'a>),
    /// Field 5.
    Counter(Counter<'a>),
    /// Field 6.
    Gauge(Gauge<'a>),
    /// Field 7.
    Timer(Timer<'a>),
    /// Field 10.
    Event(Event<'a>),
}

/// A line of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log<'a> {
    /// The line.
    pub payload: &'a [u8],
    /// 0 standard output, 1 standard error.
    pub kind: i32,
}

/// A counter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counter<'a> {
    /// Name.
    pub name: &'a [u8],
    /// By how much it grew.
    pub delta: u64,
    /// Its total.
    pub total: u64,
}

/// Values at one time.
#[derive(Clone, Debug, Default)]
pub struct Gauge<'a> {
    /// Fields of the envelope from its first gauge on.
    pub(super) fields: Reader<'a>,
}

/// A span of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timer<'a> {
    /// Name.
    pub name: &'a [u8],
    /// Nanoseconds since the epoch.
    pub start: i64,
    /// Nanoseconds since the epoch.
    pub stop: i64,
}

/// Something that happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event<'a> {
    /// What.
    pub title: &'a [u8],
    /// More about it.
    pub body: &'a [u8],
}

/// A tag of the old form.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Value<'a> {
    /// It has no value.
    #[default]
    None,
    /// A text.
    Text(&'a [u8]),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Decimal(f64),
}

impl<'a> Envelope<'a> {
    /// Reads an envelope: every byte is checked, nothing is copied or allocated.
    ///
    /// # Errors
    /// What `protobuf-go` refuses: bytes that are no message, and texts that are not UTF-8.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        parse::envelope(bytes)
    }

    /// The bytes that it was read from.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The tags in their order on the wire. A key may come again: the last value counts.
    #[must_use]
    pub fn tags(&self) -> Tags<'a> {
        self.tags.clone()
    }

    /// The value of a tag; of one that comes again, the last one.
    #[must_use]
    pub fn tag(&self, key: &[u8]) -> Option<&'a [u8]> {
        self.tags().filter(|(one, _)| *one == key).last().map(|(_, value)| value)
    }

    /// Tags of the old form, in their order on the wire. A key may come again: the last value counts.
    #[must_use]
    pub fn deprecated_tags(&self) -> DeprecatedTags<'a> {
        self.deprecated.clone()
    }
}

/// The tags of an envelope.
#[derive(Clone, Debug, Default)]
pub struct Tags<'a> {
    pub(super) fields: Reader<'a>,
    pub(super) left: usize,
}

impl<'a> Iterator for Tags<'a> {
    type Item = (&'a [u8], &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        entry(field(&mut self.fields, TAGS)?).ok()
    }
}

/// The tags of the old form.
#[derive(Clone, Debug, Default)]
pub struct DeprecatedTags<'a> {
    pub(super) fields: Reader<'a>,
    pub(super) left: usize,
}

impl<'a> Iterator for DeprecatedTags<'a> {
    type Item = (&'a [u8], Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        parse::deprecated_tag(field(&mut self.fields, DEPRECATED_TAGS)?).ok()
    }
}

impl<'a> Gauge<'a> {
    /// Its values, in their order on the wire. A name may come again: the last value counts.
    #[must_use]
    pub const fn metrics(&self) -> Metrics<'a> {
        Metrics { envelope: self.fields, gauge: Reader::new(&[]) }
    }

    pub(super) fn by_name(&self) -> impl Iterator<Item = (&'a [u8], (&'a [u8], f64))> + Clone + use<'a> {
        self.metrics().map(|(name, unit, value)| (name, (unit, value)))
    }
}

/// The values of a gauge: name, unit, value.
#[derive(Clone, Debug)]
pub struct Metrics<'a> {
    envelope: Reader<'a>,
    gauge: Reader<'a>,
}

impl<'a> Iterator for Metrics<'a> {
    type Item = (&'a [u8], &'a [u8], f64);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(metric) = field(&mut self.gauge, METRICS) {
                return parse::metric(metric).ok();
            }
            self.gauge = Reader::new(field(&mut self.envelope, GAUGE)?);
        }
    }
}

/// The bytes of the next field with a tag. Fields were checked before, so there are no errors.
#[inline]
fn field<'a>(fields: &mut Reader<'a>, wanted: u32) -> Option<&'a [u8]> {
    loop {
        let found = fields.tag().ok()??;
        if found == wanted {
            return fields.bytes().ok();
        }
        fields.skip(found).ok()?;
    }
}
