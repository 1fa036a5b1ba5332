//! Packets in a byte stream: TCP and TLS carry them back to back.

use super::v3::MAGICS;

/// Length of the HEP3 header: magic and total length.
pub(super) const HEADER: usize = 6;

/// What the first bytes of a stream say about the packet that starts there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Fewer than 6 bytes, so far those of a HEP3 packet.
    NeedMore,
    /// The packet has this many bytes in all, 6 to 65535.
    Len(usize),
    /// This is no HEP3 packet, and where the next one starts is unknown: the stream must end.
    Bad,
}

/// Reads the length of the packet at the start of `prefix`, from its first 6 bytes. HEP1 and HEP2
/// have no length and cannot be in a stream.
#[inline]
pub fn frame_len(prefix: &[u8]) -> Frame {
    match prefix {
        [a, b, c, d, high, low, ..] => {
            let len = usize::from(u16::from_be_bytes([*high, *low]));
            if MAGICS.contains(&[*a, *b, *c, *d]) && len >= HEADER { Frame::Len(len) } else { Frame::Bad }
        }
        _ => {
            let magic = prefix.get(..4).unwrap_or(prefix);
            if MAGICS.iter().any(|known| known.starts_with(magic)) { Frame::NeedMore } else { Frame::Bad }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_six_bytes() {
        let packet = b"HEP3\x00\x06";
        for n in 0..6 {
            assert_eq!(frame_len(&packet[..n]), Frame::NeedMore, "{n}");
        }
        assert_eq!(frame_len(packet), Frame::Len(6));
        assert_eq!(frame_len(b"EEP1\xff\xff..."), Frame::Len(65535));
        assert_eq!(frame_len(b"EEP3\x01\x00"), Frame::Len(256));
    }

    #[test]
    fn refuses_early() {
        assert_eq!(frame_len(b"G"), Frame::Bad);
        assert_eq!(frame_len(b"HEP4"), Frame::Bad);
        assert_eq!(frame_len(b"HEP4\x01\x00"), Frame::Bad);
        assert_eq!(frame_len(b"HEP3\x00\x05"), Frame::Bad);
        assert_eq!(frame_len(b"HEP3\x00\x00"), Frame::Bad);
    }
}
