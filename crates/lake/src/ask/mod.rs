//! The two questions people ask most, as SQL: which messages or calls match, and all of one call.

mod call;
mod search;
mod time;

pub use call::{CallRows, call};
pub use search::{By, Search};
pub use time::parse_time;

/// A text as an SQL literal.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
