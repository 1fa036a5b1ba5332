//! Rows as tables, CSV and JSON.

use std::io::{IsTerminal, Write};

use anyhow::Result;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::cli::Format;

/// Widest cell of a table; longer ones end in an ellipsis.
const CELL_WIDTH: usize = 60;

/// Rows as the API gives them.
#[derive(Debug, Deserialize)]
pub struct Rows {
    /// Names, in order.
    pub columns: Vec<ColumnName>,
    /// An array of objects.
    pub rows: Box<RawValue>,
    /// Whether there are more.
    pub truncated: bool,
    /// Milliseconds that the query took.
    pub elapsed_ms: f64,
    /// What was read.
    pub scan: Vec<Value>,
}

/// A column's name.
#[derive(Debug, Deserialize)]
pub struct ColumnName {
    name: String,
}

impl ColumnName {
    /// A column of this name.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned() }
    }
}

impl Rows {
    /// Leaves out the columns that are not named, in the order of the names.
    pub fn narrow(&mut self, names: &[&str]) {
        if names.iter().all(|name| self.columns.iter().any(|column| column.name == *name)) {
            self.columns = names.iter().map(|name| ColumnName::new(name)).collect();
        }
    }
}

/// Prints rows in a format.
///
/// # Errors
/// When the output cannot be written.
pub fn print(rows: &Rows, format: Format, scan: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match format {
        Format::Json => writeln!(out, "{}", rows.rows.get())?,
        Format::Csv => csv(rows, &mut out)?,
        Format::Table => {
            let count = table(rows, &mut out)?;
            let more = if rows.truncated { ", and there are more (--limit)" } else { "" };
            if std::io::stdout().is_terminal() {
                let s = if count == 1 { "" } else { "s" };
                writeln!(out, "{count} row{s} in {} ms{more}", rows.elapsed_ms)?;
            }
        }
    }
    out.flush()?;
    if rows.truncated && (format != Format::Table || !std::io::stdout().is_terminal()) {
        eprintln!("wirelake: there are more rows; raise --limit to see them");
    }
    if scan {
        for table in &rows.scan {
            let part = |name: &str| table[name].as_u64().unwrap_or(0);
            eprintln!(
                "{}: {} of {} files read ({} pruned by time, {} by bloom filter), {} rows in memory",
                table["table"].as_str().unwrap_or("?"),
                part("files_scanned"),
                part("files"),
                part("pruned_by_time"),
                part("pruned_by_bloom"),
                part("hot_rows")
            );
        }
    }
    Ok(())
}

fn csv(rows: &Rows, out: &mut impl Write) -> Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(rows.columns.iter().map(|column| &column.name))?;
    for row in parsed(rows)? {
        writer.write_record(cells(rows, &row))?;
    }
    writer.flush()?;
    Ok(())
}

fn table(rows: &Rows, out: &mut impl Write) -> Result<usize> {
    let mut table = comfy_table::Table::new();
    table.load_preset("     ──            ");
    table.set_header(rows.columns.iter().map(|column| column.name.as_str()));
    let parsed = parsed(rows)?;
    // An explained plan is one tall cell; everything else is a line a row.
    let plan = rows.columns.iter().any(|column| column.name == "explain_value");
    for row in &parsed {
        table.add_row(cells(rows, row).map(|text| if plan { text } else { cell(&text) }));
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(parsed.len())
}

fn parsed(rows: &Rows) -> Result<Vec<Map<String, Value>>> {
    Ok(serde_json::from_str(rows.rows.get())?)
}

fn cells<'a>(rows: &'a Rows, row: &'a Map<String, Value>) -> impl Iterator<Item = String> + 'a {
    rows.columns.iter().map(|column| match row.get(&column.name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    })
}

/// Text that is safe on a terminal, and short.
fn cell(text: &str) -> String {
    let mut cell: String =
        text.chars().take(CELL_WIDTH).map(|c| if c.is_control() { '.' } else { c }).collect();
    if text.chars().nth(CELL_WIDTH).is_some() {
        cell.pop();
        cell.push('…');
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Rows {
        serde_json::from_str(
            r#"{"columns":[{"name":"b"},{"name":"a"}],"rows":[{"b":"x\r\n\u001b[31my","a":1},{"b":null,"a":"q\"q"}],
                "truncated":false,"elapsed_ms":1.0,"scan":[]}"#,
        )
        .unwrap()
    }

    #[test]
    fn tables_are_safe_and_in_order() {
        let mut out = Vec::new();
        assert_eq!(table(&rows(), &mut out).unwrap(), 2);
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("x...[31my") && !text.contains('\u{1b}'), "{text}");
        assert!(text.find(" b").unwrap() < text.find(" a").unwrap(), "{text}");
    }

    #[test]
    fn csv_has_a_header_and_quotes() {
        let mut out = Vec::new();
        csv(&rows(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("b,a\n") && text.contains("\"q\"\"q\""), "{text}");
    }
}
