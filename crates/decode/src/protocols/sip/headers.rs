//! All headers of a message, found again on demand.

use super::{
    lines::{LineEnds, unfolded_end},
    names,
};
use crate::text::Text;
use simd::Portable;

/// One header as it stands on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// What precedes the colon, without white space.
    pub name: &'a [u8],
    /// What follows it, without white space around; folds are still inside.
    pub value: &'a [u8],
}

impl Header<'_> {
    /// Whether this is the header called `name`, in any case, long or compact form.
    pub fn is(&self, name: &[u8]) -> bool {
        names::same(self.name, name)
    }
}

/// Walks the header lines of a head in wire order. Lines without a colon are passed over.
#[derive(Clone, Debug)]
pub struct Headers<'a> {
    head: &'a [u8],
    ends: LineEnds<'a>,
    at: usize,
}

impl<'a> Headers<'a> {
    /// `head` starts at the start line, which is passed over.
    pub(super) fn new(head: &'a [u8]) -> Self {
        let mut ends = LineEnds::new(Portable, head);
        let at = ends.next(Portable).map_or(head.len(), |end| end.saturating_add(1));
        Self { head, ends, at }
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = Header<'a>;

    fn next(&mut self) -> Option<Header<'a>> {
        while self.at < self.head.len() {
            // The line with its continuation lines (RFC 3261 §7.3.1).
            let mut end = self.ends.next(Portable).unwrap_or(self.head.len());
            if matches!(self.head.get(end.wrapping_add(1)), Some(b' ' | b'\t')) {
                (end, self.ends) = unfolded_end(self.head, end);
            }
            let line = Text::within(self.head, self.at, end);
            self.at = end.saturating_add(1);
            if let Some((name, value)) = split(line) {
                return Some(Header { name: name.get(), value: value.get() });
            }
        }
        None
    }
}

/// Splits a header line at its colon; `None` when it has none or no name.
#[inline(always)]
pub(super) fn split(line: Text<'_>) -> Option<(Text<'_>, Text<'_>)> {
    let (name, value) = line.split_once(b':')?;
    let name = name.trim_end();
    if name.is_empty() { None } else { Some((name, value.trim())) }
}
