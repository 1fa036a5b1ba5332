//! gRPC over HTTP/2 (<https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>): messages counted by
//! their prefixes, the status of a call, its deadline.

use crate::{Message, Name};

/// Bytes before each message: a compressed flag and a length.
const PREFIX: usize = 5;

/// Whether a content type is gRPC's; gRPC-Web is another protocol.
pub(super) fn is_grpc(content_type: &[u8]) -> bool {
    let rest = content_type.strip_prefix(b"application/grpc");
    rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
}

/// Splits a path `/pkg.Service/Method` into what is called and the name of the method.
pub(super) fn method(path: &[u8]) -> (&[u8], &[u8]) {
    let call = path.strip_prefix(b"/").unwrap_or(path);
    let name = memchr::memrchr(b'/', call).and_then(|slash| call.get(slash.saturating_add(1)..));
    (call, name.unwrap_or(call))
}

/// A deadline such as `100m` in milliseconds: at most 8 digits and a unit.
pub(super) fn timeout_ms(value: &[u8]) -> Option<i64> {
    let (unit, digits) = value.split_last()?;
    if digits.len() > 8 {
        return None;
    }
    let count = i64::try_from(super::super::http::head::decimal(digits)?).ok()?;
    Some(match unit {
        b'H' => count.saturating_mul(3_600_000),
        b'M' => count.saturating_mul(60_000),
        b'S' => count.saturating_mul(1_000),
        b'm' => count,
        b'u' => count.checked_div(1_000)?,
        b'n' => count.checked_div(1_000_000)?,
        _ => return None,
    })
}

/// The messages of one direction of a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Messages {
    /// Prefixes seen.
    pub count: u32,
    /// Any of them was compressed.
    pub compressed: bool,
    prefix: [u8; PREFIX],
    have: usize,
    left: u32,
}

impl Messages {
    /// Looks at the next bytes. Returns how many of those that follow belong to the message under way.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> u32 {
        while !bytes.is_empty() {
            if self.left > 0 {
                let here = bytes.len().min(self.left as usize);
                self.left = self.left.saturating_sub(u32::try_from(here).unwrap_or(u32::MAX));
                bytes = bytes.get(here..).unwrap_or_default();
                continue;
            }
            let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
            bytes = rest;
            if let Some(place) = self.prefix.get_mut(self.have) {
                *place = *first;
            }
            self.have = self.have.saturating_add(1);
            if self.have == PREFIX {
                let [compressed, length @ ..] = self.prefix;
                self.count = self.count.saturating_add(1);
                self.compressed |= compressed & 1 == 1;
                self.left = u32::from_be_bytes(length);
                self.have = 0;
            }
        }
        self.left
    }

    /// `n` bytes of the message under way pass unseen.
    pub(super) fn pass(&mut self, n: u32) {
        self.left = self.left.saturating_sub(n);
    }

    /// Adds what is known at the end of a direction.
    pub(super) fn write<'o>(
        &self,
        message: Message<'o>,
        count: &'static str,
        compressed: &'static str,
    ) -> Message<'o> {
        let message = message.int(Name::Attribute(count), i64::from(self.count));
        if self.compressed { message.flag(Name::Attribute(compressed), true) } else { message }
    }
}

/// Undoes the percent-encoding of `grpc-message` into `text`; what is no encoding stays as it is.
pub(super) fn percent_decode(value: &[u8], text: &mut Vec<u8>) {
    text.clear();
    let mut rest = value;
    while let Some((first, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let decoded = match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => u8::try_from(high.wrapping_shl(4) | low).ok(),
            _ => None,
        };
        text.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_and_methods() {
        assert!(is_grpc(b"application/grpc") && is_grpc(b"application/grpc+proto"));
        assert!(!is_grpc(b"application/grpc-web+proto") && !is_grpc(b"application/json"));
        assert_eq!(
            method(b"/helloworld.Greeter/SayHello"),
            (&b"helloworld.Greeter/SayHello"[..], &b"SayHello"[..])
        );
        assert_eq!(method(b"odd"), (&b"odd"[..], &b"odd"[..]));
    }

    #[test]
    fn deadlines() {
        assert_eq!(timeout_ms(b"100m"), Some(100));
        assert_eq!(timeout_ms(b"2H"), Some(7_200_000));
        assert_eq!(timeout_ms(b"99999999u"), Some(99_999));
        assert_eq!(timeout_ms(b"1000000n"), Some(1));
        assert_eq!([timeout_ms(b"S"), timeout_ms(b"100"), timeout_ms(b"999999999S")], [None; 3]);
    }

    #[test]
    fn messages_are_counted_across_any_cut() {
        let bytes = b"\0\0\0\0\x03abc\x01\0\0\0\0\0\0\0\0\x02xy";
        let mut whole = Messages::default();
        assert_eq!(whole.feed(bytes), 0);
        assert_eq!((whole.count, whole.compressed), (3, true));
        for size in 1..bytes.len() {
            let mut cut = Messages::default();
            for part in bytes.chunks(size) {
                cut.feed(part);
            }
            assert_eq!((cut.count, cut.left), (3, 0));
        }
    }

    #[test]
    fn error_texts() {
        let mut text = Vec::new();
        percent_decode(b"no%20such%c3%a9%zz%2", &mut text);
        assert_eq!(text, "no suché%zz%2".as_bytes());
    }
}
