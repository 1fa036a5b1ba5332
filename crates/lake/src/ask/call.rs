//! All messages of one call, its other legs included.

use std::collections::BTreeSet;

use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, RecordBatch, cast::AsArray};
use arrow_schema::DataType;
use model::{CallMessage, Media, Nanos};

use super::{literal, text_at, texts, time_at};
use crate::error::LakeError;
use crate::sql::{Answer, Engine, ScanReport};

/// The most messages that are read of one call.
pub const MAX_MESSAGES: usize = 20_000;
/// The most legs that are followed.
const MAX_LEGS: usize = 64;

/// A call as it was found.
#[derive(Debug)]
pub struct CallRows {
    /// Its messages by time.
    pub messages: Vec<CallMessage>,
    /// Whether there are more.
    pub truncated: bool,
    /// What was read for it.
    pub scan: Vec<ScanReport>,
}

/// The call of a Call-ID: its messages, those that name it as their correlation id, and those that share
/// a correlation id with it.
///
/// # Errors
/// What the engine says.
pub fn call(engine: &Engine, call_id: &str) -> Result<CallRows, LakeError> {
    let ids = legs(engine, call_id)?;
    let list: Vec<String> = ids.iter().map(|id| literal(id)).collect();
    let list = list.join(", ");
    let sql = format!(
        "SELECT ts, src_ip, src_port, dst_ip, dst_port, transport, vlan, call_id, cid, method, code, reason, cseq, \
         from_user, from_host, from_tag, to_user, to_host, to_tag, user_agent, node_id, node_name, parse_error, \
         payload, payload_raw, media FROM sip WHERE call_id IN ({list}) OR cid IN ({list}) ORDER BY ts, received"
    );
    let Answer { batches, truncated, scan, .. } = engine.query(&sql, MAX_MESSAGES)?;
    let messages = batches.iter().flat_map(read).collect();
    Ok(CallRows { messages, truncated, scan })
}

/// The Call-ID, and the Call-IDs and correlation ids bound to it, one step away.
fn legs(engine: &Engine, call_id: &str) -> Result<BTreeSet<String>, LakeError> {
    let id = literal(call_id);
    let sql = format!("SELECT DISTINCT call_id, cid FROM sip WHERE call_id = {id} OR cid = {id}");
    let answer = engine.query(&sql, MAX_LEGS)?;
    let mut ids = BTreeSet::from([call_id.to_owned()]);
    for batch in &answer.batches {
        for column in batch.columns() {
            ids.extend(texts(column.as_ref()).into_iter().filter(|id| !id.is_empty()));
        }
    }
    Ok(ids)
}

fn read(batch: &RecordBatch) -> Vec<CallMessage> {
    let column = |name: &str| batch.column_by_name(name).map(AsRef::as_ref);
    let text = |name: &str, row| column(name).and_then(|array| text_at(array, row));
    let int = |name: &str, row| column(name).and_then(|array| number(array, row));
    let port = |name: &str, row| int(name, row).and_then(|port| u16::try_from(port).ok()).unwrap_or(0);
    let ip = |name: &str, row| text(name, row).and_then(|text: String| text.parse().ok());
    (0..batch.num_rows())
        .map(|row| CallMessage {
            time: Nanos::from_micros(int("ts", row).unwrap_or(0)),
            src_ip: ip("src_ip", row),
            src_port: port("src_port", row),
            dst_ip: ip("dst_ip", row),
            dst_port: port("dst_port", row),
            ip_proto: match text("transport", row).as_deref() {
                Some("tcp") => 6,
                Some("sctp") => 132,
                Some("udp") | None => 17,
                Some(other) => other.parse().unwrap_or(17),
            },
            vlan: int("vlan", row).and_then(|vlan| u16::try_from(vlan).ok()),
            call_id: text("call_id", row).unwrap_or_default(),
            cid: text("cid", row),
            method: text("method", row),
            code: int("code", row).and_then(|code| u16::try_from(code).ok()),
            reason: text("reason", row),
            cseq: int("cseq", row).and_then(|cseq| u32::try_from(cseq).ok()),
            from_user: text("from_user", row),
            from_host: text("from_host", row),
            from_tag: text("from_tag", row),
            to_user: text("to_user", row),
            to_host: text("to_host", row),
            to_tag: text("to_tag", row),
            user_agent: text("user_agent", row),
            node_id: int("node_id", row).and_then(|id| u32::try_from(id).ok()),
            node_name: text("node_name", row),
            parse_error: text("parse_error", row),
            payload: column("payload_raw")
                .and_then(|array| bytes(array, row))
                .or_else(|| text("payload", row).map(String::into_bytes))
                .unwrap_or_default(),
            media: text("media", row).map(|text| media(&text)).unwrap_or_default(),
        })
        .collect()
}

/// Media endpoints out of the column's text, `kind:address:port` joined by spaces.
fn media(text: &str) -> Vec<Media> {
    text.split(' ')
        .filter_map(|part| {
            let (kind, rest) = part.split_once(':')?;
            let (address, port) = rest.rsplit_once(':')?;
            let address = address.trim_start_matches('[').trim_end_matches(']');
            Some(Media { kind: kind.to_owned(), address: address.to_owned(), port: port.parse().ok()? })
        })
        .collect()
}

fn bytes(array: &dyn Array, row: usize) -> Option<Vec<u8>> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Binary => Some(array.as_binary::<i32>().value(row).to_vec()),
        DataType::LargeBinary => Some(array.as_binary::<i64>().value(row).to_vec()),
        DataType::BinaryView => Some(array.as_binary_view().value(row).to_vec()),
        _ => None,
    }
}

fn number(array: &dyn Array, row: usize) -> Option<i64> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Int32 => Some(i64::from(array.as_primitive::<Int32Type>().value(row))),
        DataType::Int64 => Some(array.as_primitive::<Int64Type>().value(row)),
        DataType::Timestamp(..) => time_at(array, row),
        _ => None,
    }
}
