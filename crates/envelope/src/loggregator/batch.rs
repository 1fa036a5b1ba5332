//! The envelopes of an `EnvelopeBatch`.

use super::error::Error;
use crate::protobuf::{LEN, Reader, tag};

/// Field `batch` of an `EnvelopeBatch`.
pub(super) const BATCH: u32 = 1;

/// Goes through the envelopes of a batch; [`Envelope::parse`](super::Envelope::parse) reads each.
///
/// After an error, which is the end of what can be told apart, there are no more.
#[must_use]
pub fn entries(batch: &[u8]) -> Entries<'_> {
    Entries { fields: Reader::new(batch) }
}

/// The envelopes of a batch, as bytes.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    fields: Reader<'a>,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<&'a [u8], Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let found = match self.fields.tag() {
                Ok(Some(found)) if found == const { tag(BATCH, LEN) } => self.fields.bytes().map(Some),
                Ok(Some(found)) => self.fields.skip(found).map(|()| None),
                Ok(None) => return None,
                Err(what) => Err(what),
            };
            match found {
                Ok(None) => {}
                Ok(Some(bytes)) => return Some(Ok(bytes)),
                Err(what) => {
                    self.fields = Reader::default();
                    return Some(Err(what.into()));
                }
            }
        }
    }
}
