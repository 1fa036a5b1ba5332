//! Rows as JSON: one object, columns in the order of the table, nulls left out.

use crate::row::{Cell, Row, notice_labels};
use decode::{Fields, Name, Value};
use model::table::{FLOWS, ROUNDTRIPS};
use std::io::Write;

/// Appends the row as one object, without a line end.
pub fn write(row: &Row<'_>, to: &mut Vec<u8>) {
    let table = match row {
        Row::Roundtrip(..) => &ROUNDTRIPS,
        Row::Flow(..) => &FLOWS,
    };
    let mut separator = b'{';
    row.cells(&mut |column, cell| {
        to.push(separator);
        separator = b',';
        to.push(b'"');
        to.extend_from_slice(table.columns[column].name.as_bytes());
        to.extend_from_slice(b"\":");
        value(cell, to);
    });
    to.extend_from_slice(if separator == b'{' { b"{}" } else { b"}" });
}

fn value(cell: Cell<'_>, to: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _ = match cell {
        Cell::Time(time) => write!(to, "\"{time}\""),
        Cell::Int(number) => write!(to, "{number}"),
        Cell::Ip(ip) => write!(to, "\"{ip}\""),
        Cell::Str(text) => {
            string(text.as_bytes(), to);
            Ok(())
        }
        Cell::Text(text) => {
            string(text, to);
            Ok(())
        }
        Cell::Notices(_) => {
            to.push(b'"');
            cell_text(cell, to);
            to.push(b'"');
            Ok(())
        }
        Cell::Attributes(_) => {
            cell_text(cell, to);
            Ok(())
        }
    };
}

/// Appends the text that a cell of several parts has in a column: names joined by commas, or a JSON object.
/// Other cells have none.
pub fn cell_text(cell: Cell<'_>, to: &mut Vec<u8>) {
    match cell {
        Cell::Notices(notices) => {
            for (i, label) in notice_labels(notices).enumerate() {
                to.extend_from_slice(if i == 0 { b"" } else { b"," });
                to.extend_from_slice(label.as_bytes());
            }
        }
        Cell::Attributes(fields) => attributes(fields, to),
        _ => {}
    }
}

/// Appends the fields that have no column of their own as one object.
fn attributes(fields: &Fields, to: &mut Vec<u8>) {
    let mut separator = b'{';
    for entry in fields.entries() {
        let Name::Attribute(name) = entry.name else { continue };
        to.push(separator);
        separator = b',';
        string(name.as_bytes(), to);
        to.push(b':');
        let _ = match &entry.value {
            Value::Text(range) => {
                string(fields.text(range), to);
                Ok(())
            }
            Value::Static(label) => {
                string(label.as_bytes(), to);
                Ok(())
            }
            Value::Int(number) => write!(to, "{number}"),
            Value::Bool(flag) => write!(to, "{flag}"),
        };
    }
    to.extend_from_slice(if separator == b'{' { b"{}" } else { b"}" });
}

/// Appends an object of texts.
pub fn object<'a>(entries: impl Iterator<Item = (&'a [u8], &'a [u8])>, to: &mut Vec<u8>) {
    let mut separator = b'{';
    for (key, value) in entries {
        to.push(separator);
        separator = b',';
        string(key, to);
        to.push(b':');
        string(value, to);
    }
    to.extend_from_slice(if separator == b'{' { b"{}" } else { b"}" });
}

/// Appends a JSON string; bytes that are not UTF-8 are written as `\xHH` (so `\\xHH` in JSON).
fn string(bytes: &[u8], to: &mut Vec<u8>) {
    to.push(b'"');
    for part in bytes.utf8_chunks() {
        for character in part.valid().chars() {
            let _ = match character {
                '"' => to.write_all(b"\\\""),
                '\\' => to.write_all(b"\\\\"),
                '\n' => to.write_all(b"\\n"),
                '\r' => to.write_all(b"\\r"),
                '\t' => to.write_all(b"\\t"),
                control if u32::from(control) < 0x20 => write!(to, "\\u{:04x}", u32::from(control)),
                plain => {
                    let mut buffer = [0; 4];
                    to.write_all(plain.encode_utf8(&mut buffer).as_bytes())
                }
            };
        }
        for byte in part.invalid() {
            let _ = write!(to, "\\\\x{byte:02X}");
        }
    }
    to.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_survive_json() {
        let mut text = Vec::new();
        string(b"a\"b\\c\n\x01\xff\xc3\xa4", &mut text);
        assert_eq!(text, "\"a\\\"b\\\\c\\n\\u0001\\\\xFFä\"".as_bytes());
    }

    #[test]
    fn attributes_leave_out_what_has_a_column() {
        let mut fields = Fields::default();
        fields.push_text(Name::Operation, b"GET");
        fields.push_text(Name::Attribute("url.path"), b"/a");
        let mut text = Vec::new();
        attributes(&fields, &mut text);
        assert_eq!(text, br#"{"url.path":"/a"}"#);
    }
}
