//! Query results as JSON.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_json::writer::{JsonArray, WriterBuilder};
use arrow_schema::{ArrowError, DataType, TimeUnit};

/// Rows as a JSON array of objects; nulls are written, times are RFC 3339 in UTC, bytes are hexadecimal.
///
/// # Errors
/// When the output cannot be written, or a type has no JSON form.
pub fn json(batches: &[RecordBatch], out: &mut impl Write) -> Result<(), ArrowError> {
    let mut writer = WriterBuilder::new()
        .with_explicit_nulls(true)
        .with_timestamp_tz_format("%Y-%m-%dT%H:%M:%S%.6fZ".to_owned())
        .build::<_, JsonArray>(&mut *out);
    let batches: Vec<&RecordBatch> = batches.iter().collect();
    writer.write_batches(&batches)?;
    writer.finish()
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
            (
                "ts",
                Arc::new(
                    TimestampMicrosecondArray::from(vec![1_700_000_000_123_456, 0]).with_timezone("UTC"),
                ),
            ),
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
        assert_eq!(value[1]["ts"], "1970-01-01T00:00:00.000000Z");
        out.clear();
        json(&[], &mut out).unwrap();
        assert_eq!(out, b"[]");
    }
}
