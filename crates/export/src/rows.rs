//! Query results as JSON, CSV and text tables.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_json::writer::{JsonArray, WriterBuilder};
use arrow_schema::{ArrowError, DataType, Schema, TimeUnit};

/// Widest cell of a text table; longer ones end in an ellipsis.
const CELL_WIDTH: usize = 60;

/// Rows as a JSON array of objects; nulls are written, times are RFC 3339 in UTC, bytes are hexadecimal.
///
/// # Errors
/// When the output cannot be written, or a type has no JSON form.
pub fn json(batches: &[RecordBatch], out: &mut impl Write) -> Result<(), ArrowError> {
    let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(&mut *out);
    let batches: Vec<&RecordBatch> = batches.iter().collect();
    writer.write_batches(&batches)?;
    writer.finish()
}

/// Rows as CSV (RFC 4180) with a header line.
///
/// # Errors
/// When the output cannot be written.
pub fn csv(schema: &Schema, batches: &[RecordBatch], out: &mut impl Write) -> Result<(), ArrowError> {
    if batches.is_empty() {
        return arrow_csv::Writer::new(out).write(&RecordBatch::new_empty(schema.clone().into()));
    }
    let mut writer = arrow_csv::Writer::new(out);
    batches.iter().try_for_each(|batch| writer.write(batch))
}

/// Rows as a table for people: control characters shown as `.`, long cells cut.
///
/// # Errors
/// When a type has no text form.
pub fn table(schema: &Schema, batches: &[RecordBatch]) -> Result<String, ArrowError> {
    let options = FormatOptions::new().with_null("");
    let mut table = comfy_table::Table::new();
    table.load_preset("     ──            ");
    table.set_header(schema.fields().iter().map(|field| field.name().clone()));
    for batch in batches {
        let columns = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column.as_ref(), &options))
            .collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            table.add_row(columns.iter().map(|column| cell(&column.value(row).to_string())));
        }
    }
    Ok(table.lines().map(|line| line.trim_end().to_owned() + "\n").collect())
}

/// Text that is safe on a terminal.
fn cell(text: &str) -> String {
    let mut cell: String =
        text.chars().take(CELL_WIDTH).map(|c| if c.is_control() { '.' } else { c }).collect();
    if text.chars().nth(CELL_WIDTH).is_some() {
        cell.pop();
        cell.push('…');
    }
    cell
}

/// The SQL name of a column's type.
pub fn type_name(kind: &DataType) -> String {
    match kind {
        DataType::Boolean => "BOOLEAN".to_owned(),
        DataType::Int8 => "TINYINT".to_owned(),
        DataType::Int16 => "SMALLINT".to_owned(),
        DataType::Int32 => "INTEGER".to_owned(),
        DataType::Int64 => "BIGINT".to_owned(),
        DataType::UInt8 => "UTINYINT".to_owned(),
        DataType::UInt16 => "USMALLINT".to_owned(),
        DataType::UInt32 => "UINTEGER".to_owned(),
        DataType::UInt64 => "UBIGINT".to_owned(),
        DataType::Float32 => "FLOAT".to_owned(),
        DataType::Float64 => "DOUBLE".to_owned(),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "VARCHAR".to_owned(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "BLOB".to_owned(),
        DataType::Date32 => "DATE".to_owned(),
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => "TIMESTAMPTZ".to_owned(),
        DataType::Timestamp(..) => "TIMESTAMP".to_owned(),
        DataType::Decimal128(precision, scale) => format!("DECIMAL({precision},{scale})"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, StringArray, TimestampMicrosecondArray};

    use super::*;

    fn batch() -> RecordBatch {
        let columns: [(&str, ArrayRef); 3] = [
            ("ts", Arc::new(TimestampMicrosecondArray::from(vec![1_700_000_000_123_456, 0]).with_timezone("UTC"))),
            ("n", Arc::new(Int64Array::from(vec![Some(1), None]))),
            ("text", Arc::new(StringArray::from(vec!["a\r\nb\u{1b}[31m", "say \"x\", y"]))),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    #[test]
    fn json_is_an_array_of_objects() {
        let mut out = Vec::new();
        json(&[batch()], &mut out).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(value[0]["ts"], "2023-11-14T22:13:20.123456Z");
        assert!(value[1]["n"].is_null());
        out.clear();
        json(&[], &mut out).unwrap();
        assert_eq!(out, b"[]");
    }

    #[test]
    fn csv_quotes_and_has_a_header() {
        let mut out = Vec::new();
        csv(&batch().schema(), &[batch()], &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("ts,n,text\n") && text.contains("\"say \"\"x\"\", y\""), "{text}");
        let mut out = Vec::new();
        csv(&batch().schema(), &[], &mut out).unwrap();
        assert_eq!(out, b"ts,n,text\n");
    }

    #[test]
    fn tables_show_no_control_characters() {
        let text = table(&batch().schema(), &[batch()]).unwrap();
        assert!(text.contains("a..b.[31m") && !text.contains('\u{1b}'), "{text}");
    }
}
