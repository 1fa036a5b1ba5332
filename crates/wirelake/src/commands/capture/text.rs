//! Fields of a roundtrip as text for a terminal.

use correlate::Roundtrip;
use decode::{Name, Value};

/// The first value of a name; control characters and line ends are spaces, because what comes from the wire must
/// not steer the terminal.
pub fn field(row: &Roundtrip, name: Name) -> Option<String> {
    let text = match row.fields.find(name)? {
        Value::Text(range) => String::from_utf8_lossy(row.fields.text(range)).into_owned(),
        Value::Static(label) => (*label).to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
    };
    Some(text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect())
}

/// The text in at most `width` columns; what is cut ends with `…`.
pub fn fit(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}
