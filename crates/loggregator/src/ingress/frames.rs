//! gRPC messages cut out of a stream of bytes.

use bytes::{Buf, BytesMut};

use crate::batch::PREFIX;

/// What is wrong with a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad {
    /// The flag says that the message is compressed; no coding was agreed on.
    Compressed,
    /// It is longer than allowed.
    TooLarge,
}

/// The bytes that are no whole message yet. Holds at most one message and what came with its end.
#[derive(Debug)]
pub(super) struct Frames {
    bytes: BytesMut,
    limit: usize,
}

impl Frames {
    pub fn new(limit: usize) -> Self {
        Self { bytes: BytesMut::new(), limit }
    }

    /// Adds what was received.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message, without its prefix. A length beyond the limit is refused before it is waited for.
    pub fn next(&mut self) -> Result<Option<BytesMut>, Bad> {
        let Some(&[flag, l0, l1, l2, l3]) = self.bytes.first_chunk::<PREFIX>() else { return Ok(None) };
        if flag != 0 {
            return Err(Bad::Compressed);
        }
        let length = usize::try_from(u32::from_be_bytes([l0, l1, l2, l3])).unwrap_or(usize::MAX);
        if length > self.limit {
            return Err(Bad::TooLarge);
        }
        if self.bytes.len().saturating_sub(PREFIX) < length {
            return Ok(None);
        }
        self.bytes.advance(PREFIX);
        Ok(Some(self.bytes.split_to(length)))
    }

    /// Whether the stream may end here.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cut_at_every_split() {
        let bytes = [&[0, 0, 0, 0, 2][..], b"ab", &[0, 0, 0, 0, 0], &[0, 0, 0, 0, 3], b"cde"].concat();
        for cut in 0..=bytes.len() {
            let (mut frames, mut found) = (Frames::new(3), Vec::new());
            for part in [&bytes[..cut], &bytes[cut..]] {
                frames.push(part);
                while let Some(message) = frames.next().unwrap() {
                    found.push(message.to_vec());
                }
            }
            assert_eq!(found, [&b"ab"[..], b"", b"cde"], "cut at {cut}");
            assert!(frames.is_empty());
        }
    }

    #[test]
    fn what_is_not_allowed_is_refused_by_its_prefix() {
        let mut frames = Frames::new(3);
        frames.push(&[0, 0, 0, 0, 4]);
        assert_eq!(frames.next(), Err(Bad::TooLarge));
        let mut frames = Frames::new(3);
        frames.push(&[1, 0, 0, 0, 1]);
        assert_eq!(frames.next(), Err(Bad::Compressed));
    }
}
