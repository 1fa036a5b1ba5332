//! What must hold for any input: called by the fuzz target and by stable tests. A function here panics
//! when an invariant is broken.

use std::io::Read;

use super::{MAX_FRAME, Totals, Writer, stream};

/// Any bytes as a capture: whole, and in pieces as a pipe gives them.
pub fn capture(bytes: &[u8]) {
    let (whole, written) = read(bytes, bytes.len().max(1));
    let (pieces, again) = read(bytes, 7);
    assert_eq!((whole, &written), (pieces, &again), "the pieces of a stream change what it holds");
    if let (Some(whole), Some(written)) = (whole, written) {
        let (copy, _) = read(&written, 4096);
        assert!(copy.is_some_and(|copy| (copy.frames, copy.bytes) == (whole.frames, whole.bytes)));
    }
}

/// Reads a capture in pieces and writes what it held.
fn read(bytes: &[u8], piece: usize) -> (Option<Totals>, Option<Vec<u8>>) {
    let Ok(mut reader) = stream(Pieces { bytes, piece }) else { return (None, None) };
    let Ok(mut writer) = Writer::new(Vec::new()) else { return (None, None) };
    let (mut frames, mut sum) = (0u64, 0u64);
    let mut failed = false;
    loop {
        match reader.next() {
            Ok(Some(frame)) => {
                assert!(
                    u32::try_from(frame.bytes.len()).is_ok_and(|len| len <= frame.wire_len.min(MAX_FRAME))
                );
                frames += 1;
                sum += frame.bytes.len() as u64;
                assert!(writer.write(&frame).is_ok());
            }
            Ok(None) => break,
            Err(error) => {
                assert!(!failed, "an error is said once");
                failed = true;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    let totals = *reader.totals();
    assert_eq!((totals.frames, totals.bytes), (frames, sum));
    (Some(totals), Some(writer.into_inner()))
}

/// Gives at most so many bytes a read.
struct Pieces<'a> {
    bytes: &'a [u8],
    piece: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.piece.min(out.len()).min(self.bytes.len());
        let (now, later) = self.bytes.split_at(n);
        out[..n].copy_from_slice(now);
        self.bytes = later;
        Ok(n)
    }
}
