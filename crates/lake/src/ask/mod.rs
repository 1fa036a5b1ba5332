//! The two questions people ask most, as SQL: which messages or calls match, and all of one call.

use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array, cast::AsArray};
use arrow_schema::DataType;

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

/// The values of a text column that are not null.
fn texts(array: &dyn Array) -> Vec<String> {
    (0..array.len()).filter_map(|row| text_at(array, row)).collect()
}

fn text_at(array: &dyn Array, row: usize) -> Option<String> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row).to_owned()),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row).to_owned()),
        DataType::Utf8View => Some(array.as_string_view().value(row).to_owned()),
        _ => None,
    }
}

/// A time in microseconds.
fn time_at(array: &dyn Array, row: usize) -> Option<i64> {
    let times = array.as_primitive_opt::<TimestampMicrosecondType>()?;
    (row < times.len() && times.is_valid(row)).then(|| times.value(row))
}
