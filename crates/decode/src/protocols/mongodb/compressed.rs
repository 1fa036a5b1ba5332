//! The front of a compressed message: as much as a command name needs, never the whole.
//!
//! Snappy is a dozen lines where only the front is wanted, zlib comes from the library; zstd is named only.

use core::cell::RefCell;
use flate2::{Decompress, FlushDecompress};

/// Bytes that are decompressed of a message.
pub(super) const FRONT: usize = 1_024;

thread_local! {
    /// One inflater a thread, so that a message costs no allocation.
    static INFLATE: RefCell<Decompress> = RefCell::new(Decompress::new(true));
}

/// The name of a compressor.
pub(super) const fn compressor(id: u8) -> Option<&'static str> {
    Some(match id {
        0 => "noop",
        1 => "snappy",
        2 => "zlib",
        3 => "zstd",
        _ => return None,
    })
}

/// Decompresses the front of `packed`, of which the end may be missing; returns how many bytes of `front`
/// are filled: none for a compressor that is not read.
pub(super) fn decompress(id: u8, packed: &[u8], front: &mut [u8; FRONT]) -> usize {
    match id {
        0 => {
            let n = packed.len().min(FRONT);
            copy(packed, 0..n, front, 0)
        }
        1 => snappy(packed, front).0,
        2 => INFLATE.with_borrow_mut(|inflate| {
            inflate.reset(true);
            let _ = inflate.decompress(packed, front, FlushDecompress::Sync);
            usize::try_from(inflate.total_out()).unwrap_or(0).min(FRONT)
        }),
        _ => 0,
    }
}

fn copy(from: &[u8], range: core::ops::Range<usize>, to: &mut [u8], at: usize) -> usize {
    let part = from.get(range).unwrap_or_default();
    let Some(room) = to.get_mut(at..) else { return at };
    let n = part.len().min(room.len());
    for (to, from) in room.iter_mut().zip(part) {
        *to = *from;
    }
    at.saturating_add(n)
}

/// The snappy block format (<https://github.com/google/snappy/blob/main/format_description.txt>): literals
/// and copies behind the length. Returns how much was written, and whether the input was sound so far.
fn snappy(packed: &[u8], front: &mut [u8; FRONT]) -> (usize, bool) {
    let Some(start) = packed.iter().take(5).position(|byte| byte & 0x80 == 0) else { return (0, false) };
    let mut at = start.saturating_add(1);
    let mut out = 0usize;
    let little = |at: usize, n: usize| {
        packed.get(at..at.saturating_add(n)).map(|bytes| {
            bytes.iter().rev().fold(0usize, |value, byte| value.wrapping_shl(8) | usize::from(*byte))
        })
    };
    while out < FRONT {
        let Some(&tag) = packed.get(at) else { return (out, true) };
        at = at.saturating_add(1);
        let high = usize::from(tag >> 2);
        let (len, offset, extra) = match tag & 3 {
            0 => {
                let extra = high.saturating_sub(59);
                let len = if extra == 0 { Some(high) } else { little(at, extra) };
                let Some(len) = len else { return (out, true) };
                at = at.saturating_add(extra);
                let len = len.saturating_add(1);
                out = copy(packed, at..at.saturating_add(len).min(packed.len()), front, out);
                at = at.saturating_add(len);
                continue;
            }
            1 => {
                let low = little(at, 1);
                (high & 7, low.map(|low| low | (high >> 3).wrapping_shl(8)), 1)
            }
            2 => (high, little(at, 2), 2),
            _ => (high, little(at, 4), 4),
        };
        let Some(offset) = offset else { return (out, true) };
        let len = if tag & 3 == 1 { len.saturating_add(4) } else { len.saturating_add(1) };
        at = at.saturating_add(extra);
        let Some(mut from) = out.checked_sub(offset).filter(|from| *from < out) else { return (out, false) };
        for _ in 0..len {
            let Some(byte) = front.get(from).copied() else { break };
            let Some(slot) = front.get_mut(out) else { break };
            *slot = byte;
            from = from.saturating_add(1);
            out = out.saturating_add(1);
        }
    }
    (out, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snappy_copies_overlap() {
        // "abcabcabc…": a literal of three, then a copy of nine from three bytes back.
        let packed = [12, 2 << 2, b'a', b'b', b'c', (9 - 4) << 2 | 1, 3];
        let mut front = [0; FRONT];
        assert_eq!(snappy(&packed, &mut front), (12, true));
        assert_eq!(&front[..12], b"abcabcabcabc");
        assert_eq!(snappy(&[12, 1, 3], &mut front), (0, false), "a copy from before the start");
    }

    #[test]
    fn only_the_front_is_made() {
        let mut packed = vec![0xff, 0xff, 3, 0, b'x'];
        for _ in 0..1_000 {
            packed.extend_from_slice(&[63 << 2 | 2, 1, 0]);
        }
        let mut front = [0; FRONT];
        assert_eq!(snappy(&packed, &mut front), (FRONT, true));
        assert_eq!(decompress(3, &packed, &mut front), 0);
        assert_eq!(decompress(2, &packed, &mut front), 0);
    }
}
