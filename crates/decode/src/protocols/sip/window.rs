//! The usual address in one look: `Name <sip:user@host:port;params>`.
//!
//! Nearly every address has its structure in its first 64 bytes and is of this form. Those bytes are
//! compared once, the characters that structure an address become bits of one word, and the parts
//! fall out of counting bits. Whatever is not of this form is left to the general way, which finds
//! the same parts; a test compares the two.

use super::{
    addr::{AddrParts, tag},
    uri::UriParts,
};
use crate::text::{Part, Text};
use simd::{BLOCK, Simd};

/// Where the parts of a usual address, or of a usual URI alone, are in its first 64 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usual {
    display: u8,
    display_end: u8,
    uri: u8,
    host: u8,
    host_end: u8,
    /// The `>`, or the end; 0 when it is no usual one.
    close: u8,
}

impl Usual {
    #[inline(always)]
    pub(super) const fn is_some(&self) -> bool {
        self.close != 0
    }

    /// The URI of an address or a URI that begins at `at` of the message.
    #[inline(always)]
    pub(super) fn uri(&self, at: usize) -> UriParts {
        let place = |near: u8| at.wrapping_add(near.into());
        let (uri, host, host_end, close) =
            (place(self.uri), place(self.host), place(self.host_end), place(self.close));
        UriParts {
            raw: Part::new(uri, close),
            scheme: Part::new(uri, uri.wrapping_add(3)),
            // Between the colon of the scheme and the `@`; without an `@` the host begins there.
            user: Part::new(uri.wrapping_add(4), host.wrapping_sub(1)),
            password: Part::new(0, 0),
            host: Part::new(host, host_end),
            tail: Part::new(host_end, close),
        }
    }

    /// The address that is `value`.
    #[inline(always)]
    pub(super) fn address(&self, value: Text<'_>) -> AddrParts {
        let place = |near: u8| value.at().wrapping_add(near.into());
        let params = value.from(place(self.close).wrapping_add(1));
        AddrParts {
            display: Part::new(place(self.display), place(self.display_end)),
            uri: self.uri(value.at()),
            params: Part::of(params),
            tag: tag(params),
        }
    }
}

/// The characters `:;<=>?@` in a window, walked from left to right.
#[derive(Clone, Copy)]
struct Marks<'a> {
    window: &'a [u8; BLOCK],
    bits: u64,
}

impl Marks<'_> {
    /// Position and character of the next mark; [`BLOCK`] and any character when there is none.
    #[inline(always)]
    fn next(&mut self) -> (usize, u8) {
        let at = self.bits.trailing_zeros() as usize;
        self.pass();
        (at, self.at(at))
    }

    /// Goes on behind the next mark.
    #[inline(always)]
    fn pass(&mut self) {
        self.bits &= self.bits.wrapping_sub(1);
    }

    /// The byte at a position below `BLOCK`; of a higher one, any.
    #[inline(always)]
    fn at(&self, at: usize) -> u8 {
        self.window.get(at & (BLOCK - 1)).copied().unwrap_or(0)
    }
}

impl Usual {
    /// Sets the places of a usual address; of any other, none.
    ///
    /// They are set in place and last: as a value that may be missing they would be put together and
    /// taken apart again.
    #[inline(always)]
    pub(super) fn find_address(&mut self, simd: impl Simd, value: Text<'_>) {
        let Some(window) = value.peek::<BLOCK>() else { return };
        let block = simd.load(window);
        // The seven characters are neighbours.
        let mut marks = Marks { window, bits: simd.between(block, b':', b'@') };
        let mut display = 0;
        if window[0] == b'"' {
            // Quotes and backslashes but for the first byte.
            let quotes = (simd.equal(block, b'"') | simd.equal(block, b'\\')) & !1;
            display = quotes.trailing_zeros() as usize;
            // A backslash, or no second quote in view.
            if display >= BLOCK || marks.at(display) != b'"' {
                return;
            }
            marks.bits &= !below(display);
        }
        // Without any mark this is the first byte, which then is no `<`.
        let (open, b'<') = marks.next() else { return };
        let mut display_end = display;
        if display == 0 && open > 0 {
            // One space between name and bracket, or none.
            display_end = open.wrapping_sub(usize::from(marks.at(open.wrapping_sub(1)) == b' '));
            if marks.at(display_end.wrapping_sub(1)) <= b' ' {
                return;
            }
        }
        // Marks behind the value are none; those before the last are within it, too.
        let limit = value.end().wrapping_sub(value.at()).min(BLOCK);
        let display = usize::from(display > 0);
        self.find_uri(marks, (display, display_end), open.wrapping_add(1), limit, Some(b'>'));
    }

    /// Sets the places of a usual URI that is the whole of `text`; of any other, none.
    #[inline(always)]
    pub(super) fn find_uri_alone(&mut self, simd: impl Simd, text: Text<'_>) {
        // Not shorter than its scheme, which is compared without a look at the end.
        if text.len() >= BLOCK || text.len() < 4 {
            return;
        }
        let Some(window) = text.peek::<BLOCK>() else { return };
        let bits = simd.between(simd.load(window), b':', b'@') & below(text.len());
        self.find_uri(Marks { window, bits }, (0, 0), 0, text.len(), None);
    }

    /// Sets the places when `sip:[user@]host[…]` stands between `start` of the window and `close`,
    /// which is before `limit`, or without one between `start` and `limit`.
    #[inline(always)]
    fn find_uri(
        &mut self,
        mut marks: Marks<'_>,
        display: (usize, usize),
        start: usize,
        limit: usize,
        close: Option<u8>,
    ) {
        let Some(scheme) = marks.window.get(start..start.wrapping_add(4)).and_then(|s| s.first_chunk())
        else {
            return;
        };
        // Three letters in any case and a colon, which is the next mark.
        if u32::from_le_bytes(*scheme) & !0x20_20_20 != u32::from_le_bytes(*b"SIP:") {
            return;
        }
        marks.pass();
        let mut host = start.wrapping_add(4);
        let mut before = marks.bits;
        let mut stop = marks.next();
        if before != 0 && stop.1 == b'@' {
            host = stop.0.wrapping_add(1);
            before = marks.bits;
            stop = marks.next();
        } else if before != 0 && stop.1 == b':' {
            // A password, or a port without a user.
            return;
        }
        let host_end = stop.0.min(limit);
        // An IPv6 address has colons of its own.
        if marks.at(host) == b'[' {
            return;
        }
        if before != 0 && Some(stop.1) != close {
            // `=` stands in parameters only.
            if stop.1 == b'=' {
                return;
            }
            // A second `@` in view, or a mark that no URI has here, is left to the general way.
            while before != 0 && Some(stop.1) != close {
                if matches!(stop.1, b'@' | b'<' | b'>') {
                    return;
                }
                before = marks.bits;
                stop = marks.next();
            }
        }
        // No mark is left: the end, where nothing else closes the URI.
        let end = if before == 0 { limit } else { stop.0 };
        if close.is_some() && end >= limit {
            return;
        }
        // White space has no place here; trimming it is the general way's.
        let tight = |at: usize| marks.at(at.wrapping_sub(1)) > b' ';
        if !tight(host_end) || !tight(end) {
            return;
        }
        self.display = narrow(display.0);
        self.display_end = narrow(display.1);
        self.uri = narrow(start);
        self.host = narrow(host);
        self.host_end = narrow(host_end);
        self.close = narrow(end);
    }
}

#[allow(clippy::cast_possible_truncation, reason = "at most 64")]
#[inline(always)]
const fn narrow(near: usize) -> u8 {
    near as u8
}

/// The lowest `n` bits, `n` below 64.
#[allow(clippy::cast_possible_truncation, reason = "below 64")]
#[inline(always)]
const fn below(n: usize) -> u64 {
    1u64.wrapping_shl((n & (BLOCK - 1)) as u32).wrapping_sub(1)
}
