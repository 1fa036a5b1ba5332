//! What may occur any number of times in an envelope: tags, and the hops of a request.

use crate::protobuf::{LEN, Reader, What, tag};

pub(super) const TAGS: u32 = tag(17, LEN);

/// The tags of an envelope in their order on the wire. A key may come again: the last value counts.
#[derive(Clone, Debug, Default)]
pub struct Tags<'a> {
    fields: Reader<'a>,
    /// How many are left, so that nothing behind the last one is walked.
    left: u32,
}

impl<'a> Tags<'a> {
    /// `count` tags, the first of which is the next field of `fields`.
    pub(super) const fn new(fields: Reader<'a>, count: u32) -> Self {
        Self { fields, left: count }
    }

    /// How many tags are left.
    pub(super) const fn left(&self) -> u32 {
        self.left
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = (&'a [u8], &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        loop {
            match self.fields.tag().ok()?? {
                TAGS => return entry(self.fields.bytes().ok()?).ok(),
                tag => self.fields.skip(tag).ok()?,
            }
        }
    }
}

/// Key and value of a map entry; either is empty where it is not there.
#[inline]
pub(crate) fn entry(bytes: &[u8]) -> Result<(&[u8], &[u8]), What> {
    const KEY: u32 = tag(1, LEN);
    const VALUE: u32 = tag(2, LEN);
    // As every library writes it: the key, the value, nothing else, both below 128 bytes.
    if let [0x0a, key_len @ ..0x80, rest @ ..] = bytes
        && let Some((key, rest)) = rest.split_at_checked(usize::from(*key_len))
        && let [0x12, value_len @ ..0x80, value @ ..] = rest
        && value.len() == usize::from(*value_len)
    {
        return Ok((key, value));
    }
    let (mut key, mut value): (&[u8], &[u8]) = (&[], &[]);
    let mut fields = Reader::new(bytes);
    while let Some(tag) = fields.tag()? {
        match tag {
            KEY => key = fields.bytes()?,
            VALUE => value = fields.bytes()?,
            _ => fields.skip(tag)?,
        }
    }
    Ok((key, value))
}

/// The hops of a request (`X-Forwarded-For`), in their order on the wire.
///
/// Where the body of the envelope occurs again, the hops of all of its parts count.
#[derive(Clone, Debug, Default)]
pub struct Forwarded<'a> {
    first: Option<&'a [u8]>,
    body: Reader<'a>,
    envelope: Reader<'a>,
}

impl<'a> Forwarded<'a> {
    /// The hops of a body in one part: the first, and where to look for the others.
    pub(super) fn of_body(first: Option<&'a [u8]>, behind: Reader<'a>) -> Self {
        Self { first, body: behind, ..Self::default() }
    }

    /// The hops of a body in several parts.
    pub(super) fn of_envelope(envelope: &'a [u8]) -> Self {
        Self { envelope: Reader::new(envelope), ..Self::default() }
    }
}

impl<'a> Iterator for Forwarded<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<Self::Item> {
        const BODY: u32 = tag(7, LEN);
        const FORWARDED: u32 = tag(15, LEN);
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            match self.body.tag().ok()? {
                Some(FORWARDED) => return self.body.bytes().ok(),
                Some(tag) => self.body.skip(tag).ok()?,
                None => match self.envelope.tag().ok()?? {
                    BODY => self.body = Reader::new(self.envelope.bytes().ok()?),
                    tag => self.envelope.skip(tag).ok()?,
                },
            }
        }
    }
}
