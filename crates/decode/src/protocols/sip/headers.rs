//! All headers of a message, found again on demand.

use super::{lines::LineEnds, names};
use crate::text::Text;

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
        let mut ends = LineEnds::new(head);
        let at = ends.next().map_or(head.len(), |end| end.saturating_add(1));
        Self { head, ends, at }
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = Header<'a>;

    fn next(&mut self) -> Option<Header<'a>> {
        while self.at < self.head.len() {
            let (line, next) = logical_line(self.head, self.at, &mut self.ends);
            self.at = next;
            if let Some((name, value)) = split(line) {
                return Some(Header { name: name.get(), value: value.get() });
            }
        }
        None
    }
}

/// The header line that starts at `at` with its continuation lines (RFC 3261 §7.3.1), and where
/// the next one starts.
fn logical_line<'a>(head: &'a [u8], at: usize, ends: &mut LineEnds<'a>) -> (Text<'a>, usize) {
    let end = ends.next().unwrap_or(head.len());
    let end = unfolded_end(head, end, ends);
    (Text::within(head, at, end), end.saturating_add(1))
}

/// Where the header whose first line ends at `end` ends.
fn unfolded_end(head: &[u8], mut end: usize, ends: &mut LineEnds<'_>) -> usize {
    while let Some(b' ' | b'\t') = head.get(end.wrapping_add(1)) {
        match ends.next() {
            Some(next) => end = next,
            None => return head.len(),
        }
    }
    end
}

/// Splits a header line at its colon; `None` when it has none or no name.
#[inline(always)]
pub(super) fn split(line: Text<'_>) -> Option<(Text<'_>, Text<'_>)> {
    let (name, value) = line.split_once(b':')?;
    let name = name.trim_end();
    if name.is_empty() { None } else { Some((name, value.trim())) }
}
