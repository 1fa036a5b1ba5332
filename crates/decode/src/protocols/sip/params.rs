//! Parameters: `;name=value` lists of headers and URIs.

use crate::text::{Text, is_space};

/// Walks `;name=value;flag` lists: each item is the name and, where there is a `=`, the value
/// with its quotes taken off. White space and folds around the pieces are dropped. A comma
/// outside of quotes ends the list, because it begins the next value of the header.
#[derive(Clone, Debug)]
pub struct Params<'a> {
    rest: Text<'a>,
}

impl<'a> Params<'a> {
    /// Walks `list`, which starts at a `;` or at the first name.
    #[inline]
    pub const fn new(list: &'a [u8]) -> Self {
        Self { rest: Text::new(list) }
    }

    #[inline(always)]
    pub(super) const fn of(list: Text<'a>) -> Self {
        Self { rest: list }
    }

    /// The value of the first parameter called `name`, in any case. A parameter without a value
    /// and an empty value read as `None`.
    #[inline]
    pub fn value(self, name: &[u8]) -> Option<&'a [u8]> {
        self.find(name).and_then(Text::some)
    }

    /// The same within the message; may be empty.
    pub(super) fn find(mut self, name: &[u8]) -> Option<Text<'a>> {
        while let Some((key, value)) = self.pair() {
            if key.eq_ignore_case(name) {
                return value;
            }
        }
        None
    }

    /// Where the walk stands.
    #[inline(always)]
    pub(super) const fn at(&self) -> usize {
        self.rest.at()
    }

    /// The next name and value.
    #[inline(always)]
    pub(super) fn pair(&mut self) -> Option<(Text<'a>, Option<Text<'a>>)> {
        while self.rest.first().is_some_and(|byte| byte == b';' || is_space(byte)) {
            self.rest = self.rest.skip(1);
        }
        // A quote can only begin behind the name.
        let (name, rest) = self.rest.split_before([b'=', b';', b',']);
        if !rest.starts_with(b'=') {
            self.rest = if name.is_empty() { rest.upto(rest.at()) } else { rest };
            return if name.is_empty() { None } else { Some((name.trim_end(), None)) };
        }
        let value = rest.skip(1);
        let end = end_of(value, [b';', b',', b'"']);
        self.rest = value.from(end);
        Some((name.trim_end(), Some(unquote(value.upto(end).trim()))))
    }
}

impl<'a> Iterator for Params<'a> {
    type Item = (&'a [u8], Option<&'a [u8]>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.pair().map(|(name, value)| (name.get(), value.map(Text::get)))
    }
}

/// Where the item at the start of `text` ends: at the first of `stops` that is not in quotes, or
/// at the end. One of `stops` is the quote itself.
#[inline(always)]
pub(super) fn end_of<const N: usize>(mut text: Text<'_>, stops: [u8; N]) -> usize {
    loop {
        let stop = text.from(text.find_or_end(stops));
        if !stop.starts_with(b'"') {
            return stop.at();
        }
        // A quote that is never closed is a plain character.
        text = text.from(quoted_end(stop.whole(), stop.at(), stop.end()).unwrap_or(stop.skip(1).at()));
    }
}

/// Where the quoted string at `at` ends, behind its second quote (RFC 3261 §25.1);
/// `None` when it is not closed.
#[inline(never)]
pub(super) fn quoted_end(whole: &[u8], at: usize, end: usize) -> Option<usize> {
    let mut rest = Text::within(whole, at, end).skip(1);
    loop {
        let stop = rest.from(rest.find([b'"', b'\\'])?);
        if stop.starts_with(b'"') {
            return Some(stop.skip(1).at());
        }
        rest = stop.skip(2);
    }
}

/// Takes the quotes off a quoted string; escapes stay as they are.
#[inline(always)]
pub(super) fn unquote(text: Text<'_>) -> Text<'_> {
    if text.starts_with(b'"') && text.last() == Some(b'"') && text.len() >= 2 { text.inner() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_values_and_flags() {
        let mut params = Params::new(b" ;tag = 1 ;lr;x=\"a;b,\\\"c\" ;\r\n y=, z=1");
        assert_eq!(params.next(), Some((&b"tag"[..], Some(&b"1"[..]))));
        assert_eq!(params.next(), Some((&b"lr"[..], None)));
        assert_eq!(params.next(), Some((&b"x"[..], Some(&b"a;b,\\\"c"[..]))));
        assert_eq!(params.next(), Some((&b"y"[..], Some(&b""[..]))));
        assert_eq!(params.next(), None);
        assert_eq!(params.next(), None);
    }

    #[test]
    fn open_quote_is_a_plain_character() {
        assert_eq!(Params::new(b";a=\"b;tag=1").value(b"TAG"), Some(&b"1"[..]));
        assert_eq!(quoted_end(b"\"a\\", 0, 3), None);
        assert_eq!(quoted_end(b"\"a\\\"\"b", 0, 6), Some(5));
    }
}
