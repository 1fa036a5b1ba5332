//! Frames (RFC 9113 §4.1 and §6): their header, and whether bytes can be one.

use crate::Verdict;
use model::Dir;

/// Bytes of a frame's header.
pub(super) const HEADER: usize = 9;

/// What a client sends first, §3.4.
pub(super) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// SETTINGS_MAX_FRAME_SIZE until it is announced.
pub(super) const DEFAULT_MAX_FRAME: u32 = 16_384;

/// The same, where the announcement may have been missed. Larger frames are legal, and not in use.
pub(super) const UNSEEN_MAX_FRAME: u32 = 1 << 20;

/// Frames that must follow each other for the place in a lane to be found again.
const CHAIN: usize = 3;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const PRIORITY: u8 = 2;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

/// On DATA and HEADERS: the sender's side of the stream ends. On SETTINGS and PING: acknowledgement.
pub(super) const END_STREAM: u8 = 0x1;
pub(super) const ACK: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;
pub(super) const PADDED: u8 = 0x8;
pub(super) const PRIORITISED: u8 = 0x20;

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// Bytes of payload.
    pub len: u32,
    pub kind: u8,
    pub flags: u8,
    /// 0 for the connection itself.
    pub stream: u32,
}

impl Frame {
    /// The header at the front of `bytes`; `None` when it is not whole.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let [a, b, c, kind, flags, stream @ ..] = *bytes.first_chunk::<HEADER>()?;
        let stream = u32::from_be_bytes(stream) & 0x7fff_ffff;
        Some(Self { len: u32::from_be_bytes([0, a, b, c]), kind, flags, stream })
    }

    pub(super) const fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Bytes of the frame, header included.
    pub(super) const fn size(self) -> usize {
        (self.len as usize).saturating_add(HEADER)
    }

    /// Whether it is a frame as one meets them: strict, to tell frames from what lies in them.
    fn is_plausible(self) -> bool {
        let flags = |allowed: u8| self.flags & !allowed == 0;
        let connection = self.stream == 0;
        // The streams that clients open; pushed ones are out of use.
        let stream = self.stream & 1 == 1;
        match self.kind {
            DATA => flags(END_STREAM | PADDED) && stream && (self.len > 0 || self.flags == END_STREAM),
            HEADERS => flags(END_STREAM | END_HEADERS | PADDED | PRIORITISED) && stream && self.len > 0,
            PRIORITY => self.flags == 0 && stream && self.len == 5,
            RST_STREAM => self.flags == 0 && stream && self.len == 4,
            SETTINGS => {
                flags(ACK) && connection && self.len.is_multiple_of(6) && (self.flags == 0 || self.len == 0)
            }
            PING => flags(ACK) && connection && self.len == 8,
            GOAWAY => self.flags == 0 && connection && self.len >= 8,
            WINDOW_UPDATE => self.flags == 0 && (connection || stream) && self.len == 4,
            CONTINUATION => flags(END_HEADERS) && stream,
            _ => false,
        }
    }
}

/// Whether `bytes`, where a segment starts, begin with frames.
///
/// `Ok`: they do, either several in a row or up to the very end. `Err(Some(n))`: `n` bytes are needed to
/// say. `Err(None)`: they do not.
pub(super) fn chain(bytes: &[u8]) -> Result<usize, Option<usize>> {
    let mut at = 0usize;
    for seen in 0.. {
        let rest = bytes.get(at..).unwrap_or_default();
        if seen >= CHAIN || (seen > 0 && rest.is_empty()) {
            return Ok(seen);
        }
        // A length of 65,536 and more is not met in practice.
        if rest.first().is_some_and(|first| *first != 0) {
            return Err(None);
        }
        let Some(frame) = Frame::parse(rest) else {
            return Err(Some(at.saturating_add(HEADER)));
        };
        if !frame.is_plausible() || frame.len > DEFAULT_MAX_FRAME {
            return Err(None);
        }
        at = at.saturating_add(frame.size());
        if at > bytes.len() {
            return Err(Some(at));
        }
    }
    Err(None)
}

/// Whether the first bytes of a lane are HTTP/2.
pub(super) fn verdict(dir: Dir, bytes: &[u8]) -> Verdict {
    if dir == Dir::ToServer && bytes.iter().zip(PREFACE).all(|(byte, wanted)| byte == wanted) {
        return if bytes.len() >= PREFACE.len() { Verdict::Yes } else { Verdict::NeedMore };
    }
    // A server begins with SETTINGS; their identifiers are 1 to 9, or GREASE.
    let settings =
        Frame::parse(bytes).filter(|frame| frame.kind == SETTINGS && !frame.has(ACK) && frame.is_plausible());
    if dir == Dir::ToClient
        && let Some(frame) = settings
    {
        return match bytes.get(HEADER..) {
            Some([0, 1..=9, ..]) if frame.len > 0 && frame.len <= 600 => Verdict::Yes,
            _ => Verdict::Likely,
        };
    }
    match chain(bytes) {
        Ok(_) => Verdict::Likely,
        // A whole frame header that fits and a frame that goes on.
        Err(Some(needed)) if bytes.len() < HEADER && needed <= HEADER => Verdict::NeedMore,
        Err(Some(_)) if bytes.len() >= HEADER => Verdict::Likely,
        _ => Verdict::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(len: u32, kind: u8, flags: u8, stream: u32) -> Vec<u8> {
        let mut bytes = len.to_be_bytes()[1..].to_vec();
        bytes.extend([kind, flags]);
        bytes.extend(stream.to_be_bytes());
        bytes.resize(HEADER + len as usize, b'x');
        bytes
    }

    #[test]
    fn a_chain_of_frames_is_one_and_text_is_none() {
        assert_eq!(chain(&frame(4, WINDOW_UPDATE, 0, 0)), Ok(1));
        let long = frame(5_000, DATA, 0, 7);
        assert_eq!(chain(&long[..100]), Err(Some(5_009)));
        assert_eq!(chain(&[long, frame(0, DATA, END_STREAM, 7)].concat()), Ok(2));
        assert_eq!(chain(&frame(8, PING, 0, 0)[..5]), Err(Some(9)));
        for none in [
            frame(4, WINDOW_UPDATE, 1, 0),
            frame(5, WINDOW_UPDATE, 0, 0),
            frame(4, DATA, 0, 2),
            frame(0, DATA, 0, 1),
            frame(20_000, DATA, 0, 1),
            frame(7, SETTINGS, 0, 0),
            frame(6, SETTINGS, ACK, 0),
            frame(1, 10, 0, 0),
            b"GET / HTTP/1.1\r\n".to_vec(),
            // A gRPC message: a prefix of five bytes and a field of protobuf.
            b"\0\0\0\0\x07\x0a\x05world".to_vec(),
        ] {
            assert_eq!(chain(&none), Err(None), "{}", none.escape_ascii());
        }
        let broken = [frame(4, WINDOW_UPDATE, 0, 0), b"\0nothing like it".to_vec()].concat();
        assert_eq!(chain(&broken), Err(None));
    }

    #[test]
    fn the_probe() {
        assert_eq!(verdict(Dir::ToServer, PREFACE), Verdict::Yes);
        assert_eq!(verdict(Dir::ToServer, b"PRI * H"), Verdict::NeedMore);
        assert_eq!(verdict(Dir::ToServer, b"GET / HTTP/1.1\r\n"), Verdict::No);
        assert_eq!(verdict(Dir::ToClient, b"HTTP/1.1 200"), Verdict::No);
        assert_eq!(verdict(Dir::ToClient, b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x80"), Verdict::Yes);
        assert_eq!(verdict(Dir::ToClient, b"\0\0\0\x04\0\0\0\0\0"), Verdict::Likely);
        assert_eq!(verdict(Dir::ToServer, &frame(5_000, DATA, 0, 7)[..99]), Verdict::Likely);
    }
}
