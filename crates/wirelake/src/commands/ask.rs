//! `sql`, `search` and `call`: questions to a server or a lake folder.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Read, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use lake::ask;

use crate::cli::{By, Call, Format, Search, Sql};
use crate::client::Lakeside;
use crate::output;

/// Runs a statement.
pub fn sql(sql: &Sql) -> Result<ExitCode> {
    let mut query = sql.query.clone();
    if query == "-" {
        query.clear();
        std::io::stdin().read_to_string(&mut query).context("standard input is not text")?;
    }
    let rows = Lakeside::new(&sql.source)?.sql(&query, sql.limit)?;
    output::print(&rows, sql.format, sql.scan)?;
    Ok(ExitCode::SUCCESS)
}

/// Searches.
pub fn search(search: Search) -> Result<ExitCode> {
    let lakeside = Lakeside::new(&search.source)?;
    let question = ask::Search {
        method: search.method,
        from: search.from,
        to: search.to,
        call_id: search.call_id,
        ip: search.ip,
        port: search.port,
        code: search.code,
        node: search.node,
        text: search.text,
        since: search.since,
        until: search.until,
        limit: Some(search.limit),
        offset: Some(search.offset),
        by: match search.by {
            By::Message => ask::By::Message,
            By::Call => ask::By::Call,
        },
    };
    let mut rows = lakeside.search(&question)?;
    if search.format == Format::Table {
        // What fits a terminal; the other formats have every column.
        rows.narrow(match question.by {
            ask::By::Message => {
                &["ts", "method", "code", "from_user", "to_user", "src_ip", "dst_ip", "call_id"]
            }
            ask::By::Call => {
                &["first_ts", "method", "state", "code", "from_user", "to_user", "messages", "call_id"]
            }
        });
    }
    output::print(&rows, search.format, search.scan)?;
    Ok(ExitCode::SUCCESS)
}

/// Shows a call.
pub fn call(call: &Call) -> Result<ExitCode> {
    let (messages, json) = Lakeside::new(&call.source)?.call(&call.call_id)?;
    let mut out = std::io::stdout().lock();
    if call.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&json)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &call.pcap {
        let summary = if path.as_os_str() == "-" {
            export::pcap::write(&messages, &mut out)?
        } else {
            let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
            let mut file = BufWriter::new(file);
            let summary = export::pcap::write(&messages, &mut file)?;
            file.flush().with_context(|| format!("cannot write {}", path.display()))?;
            summary
        };
        eprintln!("{} packets, {} bytes", summary.packets, summary.bytes);
        if !call.raw {
            return Ok(ExitCode::SUCCESS);
        }
    }
    let terminal = std::io::stdout().is_terminal();
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let options = export::ladder::Options {
        width: call.width.or(columns).unwrap_or(100),
        color: terminal && std::env::var_os("NO_COLOR").is_none(),
        raw: call.raw,
        ascii: call.ascii,
    };
    write!(out, "{}", export::ladder::text(&messages, options))?;
    Ok(ExitCode::SUCCESS)
}
