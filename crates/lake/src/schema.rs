//! A table's definition as an Arrow schema and as a Delta schema.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use delta_kernel::schema::{DataType as DeltaType, StructField, StructType};
use model::table::{Kind, Table};

/// The partition column: the UTC date of a row's time.
pub const DATE: &str = "date";

/// The Arrow schema of batches in memory: text and bytes as views.
pub fn arrow(table: &Table) -> SchemaRef {
    let fields: Vec<Field> = table
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let kind = match column.kind {
                Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
                Kind::Text => DataType::Utf8View,
                Kind::Bytes => DataType::BinaryView,
                Kind::Int => DataType::Int32,
                Kind::Long => DataType::Int64,
                Kind::Double => DataType::Float64,
            };
            Field::new(column.name, kind, at != 0)
        })
        .collect();
    Arc::new(Schema::new(fields))
}

/// The Delta schema: the table's columns, then the partition column.
///
/// # Errors
/// When the kernel refuses the schema, which a test rules out for every table there is.
pub fn delta(table: &Table) -> delta_kernel::DeltaResult<Arc<StructType>> {
    let mut fields: Vec<StructField> = table
        .columns
        .iter()
        .map(|column| {
            let kind = match column.kind {
                Kind::Time => DeltaType::TIMESTAMP,
                Kind::Text => DeltaType::STRING,
                Kind::Bytes => DeltaType::BINARY,
                Kind::Int => DeltaType::INTEGER,
                Kind::Long => DeltaType::LONG,
                Kind::Double => DeltaType::DOUBLE,
            };
            StructField::nullable(column.name, kind)
        })
        .collect();
    fields.push(StructField::nullable(DATE, DeltaType::DATE));
    Ok(Arc::new(StructType::try_new(fields)?))
}
