//! The format of a segment file.
//!
//! ```text
//! file    "wlspool1"  record*
//! record  u32 length of the message   u32 CRC-32 of what follows   u32 envelopes   i64 first_ns   message
//! ```
//!
//! Numbers are little-endian. The checksum covers envelopes, time and message, and the length decides where it ends, so
//! that a record that was cut or overwritten is not mistaken for one.

use std::io::{self, Read};

use crate::batch::Batch;

/// What a segment file begins with.
pub const MAGIC: &[u8; 8] = b"wlspool1";

/// Bytes of a record in front of the message.
pub const HEAD: usize = 20;

/// No message is longer: a length beyond it is a damaged record.
const MAX_MESSAGE: u32 = 64 << 20;

/// Appends the record of a batch to `out`.
pub fn put(batch: &Batch, out: &mut Vec<u8>) {
    let message = batch.message();
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    let (envelopes, first_ns) = (batch.envelopes().to_le_bytes(), batch.first_ns().to_le_bytes());
    let crc = checksum(&[&envelopes, &first_ns, message]);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&crc.to_le_bytes());
    out.extend_from_slice(&envelopes);
    out.extend_from_slice(&first_ns);
    out.extend_from_slice(message);
}

/// Bytes that the record of this batch takes.
pub fn size(batch: &Batch) -> u64 {
    (HEAD as u64).saturating_add(batch.bytes() as u64)
}

/// What stands at a place of a segment.
#[derive(Debug)]
pub enum Next {
    /// A batch.
    Batch(Batch),
    /// The end of the file.
    End,
    /// No whole record: the file was cut here, or overwritten.
    Damaged,
}

/// Reads the record at the front of `from`. `scratch` is reused between calls.
///
/// # Errors
/// Those of reading, except the end of the file.
pub fn read(from: &mut impl Read, scratch: &mut Vec<u8>) -> io::Result<Next> {
    scratch.clear();
    match from.by_ref().take(HEAD as u64).read_to_end(scratch)? {
        0 => return Ok(Next::End),
        HEAD => {}
        _ => return Ok(Next::Damaged),
    }
    let Ok([l0, l1, l2, l3, c0, c1, c2, c3, e0, e1, e2, e3, time @ ..]) =
        <[u8; HEAD]>::try_from(&scratch[..])
    else {
        return Ok(Next::Damaged);
    };
    let length = u32::from_le_bytes([l0, l1, l2, l3]);
    if length > MAX_MESSAGE {
        return Ok(Next::Damaged);
    }
    scratch.clear();
    // Grows with what is there, so that a wrong length takes no memory.
    let got = from.by_ref().take(u64::from(length)).read_to_end(scratch)?;
    let envelopes = [e0, e1, e2, e3];
    let whole = u32::try_from(got) == Ok(length);
    if !whole || checksum(&[&envelopes, &time, scratch]) != u32::from_le_bytes([c0, c1, c2, c3]) {
        return Ok(Next::Damaged);
    }
    let batch = Batch::new(scratch, u32::from_le_bytes(envelopes), i64::from_le_bytes(time));
    Ok(batch.map_or(Next::Damaged, Next::Batch))
}

fn checksum(parts: &[&[u8]]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    for part in parts {
        crc.update(part);
    }
    crc.finalize()
}
