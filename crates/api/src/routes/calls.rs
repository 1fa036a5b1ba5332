//! One call: as JSON for the ladder, as a capture file, as text.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use export::call::{Host, label, retransmits, summarize};
use lake::ask::{CallRows, call as find};
use model::CallMessage;
use serde_json::{Value, json};

use super::query::query;
use crate::app::App;
use crate::error::Refusal;

/// A call with its messages, hosts and times.
#[utoipa::path(get, path = "/api/calls/{call_id}", params(("call_id" = String, Path, description = "Call-ID, percent-encoded")),
    responses((status = 200, description = "summary, hosts, messages"), (status = 404, description = "no such call")))]
pub async fn call(State(app): State<Arc<App>>, Path(call_id): Path<String>) -> Result<Json<Value>, Refusal> {
    let rows = rows(app, &call_id).await?;
    Ok(Json(render(&call_id, &rows)))
}

/// The call's messages as a capture file.
#[utoipa::path(get, path = "/api/calls/{call_id}/pcap", params(("call_id" = String, Path, description = "Call-ID, percent-encoded")),
    responses((status = 200, description = "application/vnd.tcpdump.pcap"), (status = 404, description = "no such call")))]
pub async fn pcap(State(app): State<Arc<App>>, Path(call_id): Path<String>) -> Result<Response, Refusal> {
    let rows = rows(app, &call_id).await?;
    let mut file = Vec::new();
    export::pcap::write(&rows.messages, &mut file)
        .map_err(|error| Refusal(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    let name: String = call_id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '_' })
        .collect();
    let headers = [
        (header::CONTENT_TYPE, "application/vnd.tcpdump.pcap".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.pcap\"")),
    ];
    Ok((headers, file).into_response())
}

/// The call's ladder as text.
#[utoipa::path(get, path = "/api/calls/{call_id}/text", params(("call_id" = String, Path, description = "Call-ID, percent-encoded")),
    responses((status = 200, description = "text/plain"), (status = 404, description = "no such call")))]
pub async fn text(State(app): State<Arc<App>>, Path(call_id): Path<String>) -> Result<Response, Refusal> {
    let rows = rows(app, &call_id).await?;
    let options = export::ladder::Options { raw: true, ..Default::default() };
    let text = export::ladder::text(&rows.messages, options);
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
}

async fn rows(app: Arc<App>, call_id: &str) -> Result<CallRows, Refusal> {
    let id = call_id.to_owned();
    let rows = query(app, move |app| find(&app.engine, &id)).await??;
    if rows.messages.is_empty() {
        return Err(Refusal::not_found(format!("there is no call with the Call-ID {call_id}")));
    }
    Ok(rows)
}

/// The JSON of a call.
pub fn render(call_id: &str, rows: &CallRows) -> Value {
    let CallRows { messages, truncated, .. } = rows;
    let summary = summarize(messages);
    let repeated = retransmits(messages);
    let milliseconds = |nanos: i64| (nanos as f64 / 1e3).round() / 1e3;
    let first = summary.first;
    let mut cids: Vec<&str> = messages.iter().filter_map(|message| message.cid.as_deref()).collect();
    cids.sort_unstable();
    cids.dedup();
    let lines: Vec<Value> = messages
        .iter()
        .zip(repeated)
        .enumerate()
        .map(|(index, (message, repeated))| {
            let delta = milliseconds(message.time.0.saturating_sub(first.0));
            line(index, message, &summary.hosts, delta, repeated)
        })
        .collect();
    json!({
        "call_id": call_id,
        "call_ids": summary.call_ids,
        "cids": cids,
        "first_ts": first.to_string(),
        "last_ts": summary.last.to_string(),
        "duration_ms": milliseconds(summary.last.0.saturating_sub(first.0)),
        "state": summary.state.as_str(),
        "code": last_code(messages, &summary.call_ids),
        "from": summary.from,
        "to": summary.to,
        "setup_ms": summary.setup_ns.map(milliseconds),
        "talk_ms": summary.talk_ns.map(milliseconds),
        "truncated": truncated,
        "hosts": summary.hosts.iter().enumerate().map(|(id, host)| json!({
            "id": id, "ip": host.ip.map(|ip| ip.to_string()).unwrap_or_else(|| "unknown".to_owned()), "ports": host.ports, "name": null,
        })).collect::<Vec<_>>(),
        "messages": lines,
    })
}

/// The last final status code on the caller's leg.
fn last_code(messages: &[CallMessage], call_ids: &[String]) -> Option<u16> {
    let own = |message: &&CallMessage| call_ids.first().is_none_or(|id| *id == message.call_id);
    messages.iter().rev().filter(own).find_map(|message| message.code.filter(|code| *code >= 200))
}

fn line(index: usize, message: &CallMessage, hosts: &[Host], delta_ms: f64, retransmit: bool) -> Value {
    let host = |ip| hosts.iter().position(|host: &Host| host.ip == ip).unwrap_or(0);
    let transport = match message.ip_proto {
        6 => "tcp".to_owned(),
        17 => "udp".to_owned(),
        132 => "sctp".to_owned(),
        other => other.to_string(),
    };
    let mut value = json!({
        "index": index,
        "ts": message.time.to_string(),
        "delta_ms": delta_ms,
        "from": host(message.src_ip),
        "to": host(message.dst_ip),
        "src_ip": message.src_ip,
        "src_port": message.src_port,
        "dst_ip": message.dst_ip,
        "dst_port": message.dst_port,
        "transport": transport,
        "is_request": message.is_request(),
        "method": message.method,
        "code": message.code,
        "reason": message.reason,
        "label": label(message),
        "cseq": message.cseq,
        "call_id": message.call_id,
        "cid": message.cid,
        "from_user": message.from_user,
        "to_user": message.to_user,
        "from_tag": message.from_tag,
        "to_tag": message.to_tag,
        "from_host": message.from_host,
        "to_host": message.to_host,
        "user_agent": message.user_agent,
        "media": message.media.iter().map(|media| json!({ "kind": media.kind, "ip": media.address, "port": media.port })).collect::<Vec<_>>(),
        "node_id": message.node_id,
        "node_name": message.node_name,
        "vlan": message.vlan,
        "parse_error": message.parse_error,
        "size": message.payload.len(),
        "retransmit": retransmit,
        "payload": String::from_utf8_lossy(&message.payload),
    });
    if std::str::from_utf8(&message.payload).is_err() {
        value["payload_base64"] = base64::engine::general_purpose::STANDARD.encode(&message.payload).into();
    }
    value
}
