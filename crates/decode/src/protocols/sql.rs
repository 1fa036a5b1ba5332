//! What the decoders of SQL databases share.
//!
//! * In: the text of a statement, or as much of it as the limit for texts lets through.
//! * Out: its verb, its first table, its text without secrets; prepared statements by name or number.
//! * Owned: nothing here; a [`Statement`] keeps one text, [`Statements`] those of one flow.
//! * Bounded by: [`MAX_TEXT`] bytes a statement, [`MAX_STATEMENTS`] and [`MAX_CACHED_BYTES`] a flow.
//! * Lost: what of a statement lies beyond the limit; the prepared statement that was used least recently.

mod cache;
mod lexer;
mod secrets;
mod statement;
mod verb;

#[cfg(test)]
pub(crate) mod golden;
#[cfg(test)]
mod tests;

pub(crate) use cache::{Ref, Statements};
pub(crate) use lexer::Dialect;
pub(crate) use statement::Statement;

use crate::Limits;

/// The most bytes of a statement that are looked at, whatever the limit for texts says.
pub(crate) const MAX_TEXT: usize = 32_768;

/// Prepared statements that one flow remembers.
pub(crate) const MAX_STATEMENTS: usize = 256;

/// Bytes of text that the prepared statements of one flow may hold, names included.
pub(crate) const MAX_CACHED_BYTES: usize = 131_072;

/// How many bytes of a statement are to be waited for, where `length` bytes are announced. One more than
/// is kept, so that a cut can be seen.
pub(crate) fn window(limits: &Limits, length: usize) -> usize {
    length.min(limits.text.saturating_add(1)).min(MAX_TEXT)
}
