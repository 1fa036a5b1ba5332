//! Compressed payloads (chunk 0x10).

use decode::{DecodeError, What};
use flate2::{Decompress, FlushDecompress, Status};

/// Output grows by this many bytes at a time.
const STEP: usize = 16 * 1024;

/// Inflates `compressed` into `out`, whose content is replaced and whose room is used again.
///
/// gzip (RFC 1952), zlib (RFC 1950) and raw deflate (RFC 1951) are told apart by their first
/// bytes: the specification says "gzip/inflate", and senders do all three. At most `limit` bytes
/// come out, however small the input is. Allocates the window of the decompressor, and `out` where
/// it has no room.
///
/// # Errors
/// `TooLarge` beyond `limit`, `BadCompression` for anything that is not one whole stream; `out` is
/// empty then.
pub fn inflate(compressed: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<(), DecodeError> {
    let result = match compressed {
        [0x1f, 0x8b, ..] => run(Decompress::new_gzip(15), compressed, out, limit),
        _ if is_zlib(compressed) => match run(Decompress::new(true), compressed, out, limit) {
            // Two bytes of raw deflate may look like a zlib header.
            Err(error) if error.what == What::BadCompression => {
                run(Decompress::new(false), compressed, out, limit)
            }
            other => other,
        },
        _ => run(Decompress::new(false), compressed, out, limit),
    };
    if result.is_err() {
        out.clear();
    }
    result
}

/// The header check of RFC 1950 §2.2.
fn is_zlib(bytes: &[u8]) -> bool {
    match bytes {
        [cmf, flg, ..] => {
            cmf & 0x0f == 8 && cmf >> 4 <= 7 && u16::from_be_bytes([*cmf, *flg]).is_multiple_of(31)
        }
        _ => false,
    }
}

fn run(
    mut stream: Decompress,
    compressed: &[u8],
    out: &mut Vec<u8>,
    limit: usize,
) -> Result<(), DecodeError> {
    out.clear();
    loop {
        let read = usize::try_from(stream.total_in()).unwrap_or(usize::MAX);
        let rest = compressed.get(read..).unwrap_or(&[]);
        // One byte more than allowed tells a stream that is too long from one that just fits.
        let room = limit.saturating_add(1).saturating_sub(out.len());
        if room == 0 {
            return Err(DecodeError::new(What::TooLarge, read));
        }
        let (at, step) = (out.len(), room.min(STEP));
        out.resize(at.saturating_add(step), 0);
        let status = stream.decompress(rest, out.get_mut(at..).unwrap_or(&mut []), FlushDecompress::None);
        let written = usize::try_from(stream.total_out()).unwrap_or(usize::MAX);
        out.truncate(written);
        match status {
            Ok(Status::StreamEnd) if written <= limit => return Ok(()),
            Ok(Status::Ok) if written > at || usize::try_from(stream.total_in()) != Ok(read) => {}
            Ok(Status::StreamEnd) => return Err(DecodeError::new(What::TooLarge, read)),
            // No progress: the input ends before the stream does.
            Ok(_) | Err(_) => return Err(DecodeError::new(What::BadCompression, read)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write};

    use super::*;

    fn streams(plain: &[u8]) -> [Vec<u8>; 3] {
        let level = Compression::default();
        let mut gzip = write::GzEncoder::new(Vec::new(), level);
        let mut zlib = write::ZlibEncoder::new(Vec::new(), level);
        let mut raw = write::DeflateEncoder::new(Vec::new(), level);
        gzip.write_all(plain).unwrap();
        zlib.write_all(plain).unwrap();
        raw.write_all(plain).unwrap();
        [gzip.finish().unwrap(), zlib.finish().unwrap(), raw.finish().unwrap()]
    }

    #[test]
    fn three_formats_and_a_used_buffer() {
        let plain: Vec<u8> = (0..100_000u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
        for size in [0, 1, STEP - 1, STEP, STEP + 1, plain.len()] {
            let plain = &plain[..size];
            for stream in streams(plain) {
                let mut out = b"old".to_vec();
                assert_eq!(inflate(&stream, &mut out, size), Ok(()));
                assert_eq!(out, plain);
                if size > 0 {
                    let error = inflate(&stream, &mut out, size - 1).unwrap_err();
                    assert_eq!((error.what, out.len()), (What::TooLarge, 0));
                }
            }
        }
    }

    #[test]
    fn a_bomb_stays_within_the_limit() {
        for stream in streams(&vec![0; 64 << 20]) {
            let mut out = Vec::new();
            assert_eq!(inflate(&stream, &mut out, 65536).unwrap_err().what, What::TooLarge);
            assert!(out.capacity() <= 4 * 65536);
        }
    }

    #[test]
    fn truncated_and_damaged_streams_are_refused() {
        let plain = b"INVITE sip:bob@example.com SIP/2.0\r\n\r\n";
        for stream in streams(plain) {
            let mut out = Vec::new();
            for n in 0..stream.len() {
                assert_eq!(inflate(&stream[..n], &mut out, 1000).unwrap_err().what, What::BadCompression);
                assert!(out.is_empty());
            }
            for at in 0..stream.len() {
                let mut damaged = stream.clone();
                damaged[at] ^= 0xff;
                let _ = inflate(&damaged, &mut out, 1000);
                assert!(out.len() <= 1000);
            }
        }
    }
}
