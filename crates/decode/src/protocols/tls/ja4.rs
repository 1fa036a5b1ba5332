//! JA4, the fingerprint of a TLS client: `t13d1516h2_8daaf6152771_e5627efa2ab1`.
//!
//! Specification: <https://github.com/FoxIO-LLC/ja4/blob/main/technical_details/JA4.md>. JA4 itself is under
//! BSD-3-Clause there; the other methods of the family are not, and are not computed.

use super::hello::{ALPN, ClientHello, Extensions, SERVER_NAME, is_grease, numbers};
use crate::Cursor;
use sha2::{Digest, Sha256};

/// Suites, and extensions, of one hello; one with more has no fingerprint. Browsers send about 20 of each.
const MAX_NUMBERS: usize = 256;

/// Bytes of a fingerprint.
pub(super) const JA4_BYTES: usize = 36;

/// The fingerprint of a ClientHello over TCP.
pub(super) fn ja4(hello: &ClientHello<'_>) -> Option<[u8; JA4_BYTES]> {
    let mut ciphers = Numbers::default();
    numbers(hello.ciphers).try_for_each(|number| ciphers.push(number))?;
    let (mut extensions, mut count) = (Numbers::default(), 0usize);
    for (kind, _) in Extensions(Cursor::new(hello.extensions)).filter(|(kind, _)| !is_grease(*kind)) {
        count = count.saturating_add(1);
        if !matches!(kind, SERVER_NAME | ALPN) {
            extensions.push(kind)?;
        }
    }
    let has_name = Extensions(Cursor::new(hello.extensions)).any(|(kind, _)| kind == SERVER_NAME);
    let version = hello.versions.and_then(|list| numbers(list).max()).unwrap_or(hello.version);
    let [first, last] = alpn(hello);
    let mut text = [b'_'; JA4_BYTES];
    let mut put = |at: usize, part: &[u8]| {
        if let Some(place) = at.checked_add(part.len()).and_then(|end| text.get_mut(at..end)) {
            place.copy_from_slice(part);
        }
    };
    put(0, b"t");
    put(1, digits_of(version));
    put(3, if has_name { b"d" } else { b"i" });
    put(4, &two(ciphers.len));
    put(6, &two(count));
    put(8, &[first, last]);
    put(11, &digest(ciphers.sorted(), None));
    put(24, &digest(extensions.sorted(), hello.signature_algorithms));
    Some(text)
}

/// A list of numbers of a hello.
struct Numbers {
    all: [u16; MAX_NUMBERS],
    len: usize,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { all: [0; MAX_NUMBERS], len: 0 }
    }
}

impl Numbers {
    fn push(&mut self, number: u16) -> Option<()> {
        *self.all.get_mut(self.len)? = number;
        self.len = self.len.saturating_add(1);
        Some(())
    }

    fn sorted(&mut self) -> &[u16] {
        let all = self.all.get_mut(..self.len).unwrap_or_default();
        all.sort_unstable();
        all
    }
}

/// The first and the last character of the first protocol of ALPN, `00` without one. Where they are no
/// letters or digits: the first and the last hex digit.
fn alpn(hello: &ClientHello<'_>) -> [u8; 2] {
    let name = hello.protocols().next().unwrap_or_default();
    let (Some(first), Some(last)) = (name.first(), name.last()) else { return *b"00" };
    if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric() {
        return [*first, *last];
    }
    [hex(first >> 4), hex(last & 0xf)]
}

const fn digits_of(version: u16) -> &'static [u8] {
    match version {
        0x0304 => b"13",
        0x0303 => b"12",
        0x0302 => b"11",
        0x0301 => b"10",
        0x0300 => b"s3",
        0x0002 => b"s2",
        _ => b"00",
    }
}

/// A count in two digits, 99 at most.
fn two(count: usize) -> [u8; 2] {
    let count = u8::try_from(count.min(99)).unwrap_or(99);
    [count / 10, count % 10].map(|digit| digit.wrapping_add(b'0'))
}

/// The first 12 hex digits of SHA-256 over the numbers in hex with commas between, and over the signature
/// algorithms behind an underscore; zeros when there are no numbers.
fn digest(all: &[u16], signatures: Option<&[u8]>) -> [u8; 12] {
    if all.is_empty() {
        return [b'0'; 12];
    }
    let mut hash = Sha256::new();
    list(&mut hash, all.iter().copied());
    if let Some(signatures) = signatures.filter(|list| numbers(list).next().is_some()) {
        hash.update(b"_");
        list(&mut hash, numbers(signatures));
    }
    let mut text = [0; 12];
    for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(hash.finalize()) {
        *pair = [hex(byte >> 4), hex(byte & 0xf)];
    }
    text
}

fn list(hash: &mut Sha256, numbers: impl Iterator<Item = u16>) {
    for (i, number) in numbers.enumerate() {
        let [high, low] = number.to_be_bytes();
        let digits = [hex(high >> 4), hex(high & 0xf), hex(low >> 4), hex(low & 0xf)];
        if i > 0 {
            hash.update(b",");
        }
        hash.update(digits);
    }
}

const fn hex(nibble: u8) -> u8 {
    match nibble {
        0..10 => nibble.wrapping_add(b'0'),
        _ => nibble.wrapping_sub(10).wrapping_add(b'a'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification: suites and extensions sorted, signature algorithms in order.
    #[test]
    fn the_published_example() {
        let ciphers = [
            0x002f, 0x0035, 0x009c, 0x009d, 0x1301, 0x1302, 0x1303, 0xc013, 0xc014, 0xc02b, 0xc02c, 0xc02f,
            0xc030, 0xcca8, 0xcca9,
        ];
        let extensions = [
            0x0005, 0x000a, 0x000b, 0x000d, 0x0012, 0x0015, 0x0017, 0x001b, 0x0023, 0x002b, 0x002d, 0x0033,
            0x4469, 0xff01,
        ];
        let signatures: Vec<u8> = [0x0403u16, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601]
            .iter()
            .flat_map(|number| number.to_be_bytes())
            .collect();
        assert_eq!(&digest(&ciphers, None), b"8daaf6152771");
        assert_eq!(&digest(&extensions, Some(&signatures)), b"e5627efa2ab1");

        // The same as a hello, in another order, with GREASE.
        let pairs = |numbers: &[u16]| numbers.iter().rev().flat_map(|n| n.to_be_bytes()).collect::<Vec<u8>>();
        let ciphers = [&[0x3a, 0x3a][..], &pairs(&ciphers)].concat();
        let mut wire = vec![0x5a, 0x5a, 0, 0, 0, 0, 0, 0];
        for kind in extensions.iter().rev().chain(&[ALPN]) {
            wire.extend(kind.to_be_bytes());
            wire.extend([0, 0]);
        }
        let hello = ClientHello {
            version: 0x0303,
            ciphers: &ciphers,
            extensions: &wire,
            alpn: Some(b"\x02h2\x08http/1.1"),
            versions: Some(&[0x6a, 0x6a, 3, 4, 3, 3]),
            signature_algorithms: Some(&signatures),
            ..ClientHello::default()
        };
        assert_eq!(ja4(&hello).unwrap().escape_ascii().to_string(), "t13d1516h2_8daaf6152771_e5627efa2ab1");
    }

    #[test]
    fn what_is_missing_has_its_mark() {
        let hello = ClientHello { version: 0x0301, ..ClientHello::default() };
        assert_eq!(&ja4(&hello).unwrap(), b"t10i000000_000000000000_000000000000");
        let odd = ClientHello { alpn: Some(b"\x02\xab\xcd"), ..hello };
        assert_eq!(&ja4(&odd).unwrap()[8..10], b"ad");
        let many = [0u8; 2 * MAX_NUMBERS + 2];
        assert_eq!(ja4(&ClientHello { ciphers: &many, ..hello }), None);
    }
}
