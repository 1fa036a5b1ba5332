//! What is open on the wire now.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use tap::live::Now;

use crate::app::App;

/// The most flows of one answer.
const MOST: usize = 1_000;

/// How many flows are asked for.
#[derive(Debug, Deserialize)]
pub struct Limit {
    /// At most this many, 20 if not said.
    limit: Option<usize>,
}

/// The open flows that carried most bytes.
#[utoipa::path(get, path = "/api/flows/live", params(("limit" = Option<usize>, Query, description = "at most this many, 20 if not said, 1000 at most")),
    responses((status = 200, description = "flows {first, last, transport, client_ip, client_port, server_ip, server_port, protocol, client_packets, server_packets, client_bytes, server_bytes}, most bytes first")))]
pub async fn live(State(app): State<Arc<App>>, Query(limit): Query<Limit>) -> Json<Value> {
    let flows = app.probe.live_flows(limit.limit.unwrap_or(20).min(MOST));
    Json(json!({ "flows": flows.iter().map(flow).collect::<Vec<_>>() }))
}

fn flow(flow: &Now) -> Value {
    let time = |nanos: i64| Timestamp::from_nanosecond(nanos.into()).unwrap_or_default().to_string();
    let [client_packets, server_packets] = flow.packets;
    let [client_bytes, server_bytes] = flow.bytes;
    json!({
        "first": time(flow.first.0),
        "last": time(flow.last.0),
        "transport": flow.tuple.transport.as_str(),
        "client_ip": flow.tuple.client.ip.to_string(),
        "client_port": flow.tuple.client.port,
        "server_ip": flow.tuple.server.ip.to_string(),
        "server_port": flow.tuple.server.port,
        "protocol": flow.protocol.map(|protocol| protocol.as_str()),
        "client_packets": client_packets,
        "server_packets": server_packets,
        "client_bytes": client_bytes,
        "server_bytes": server_bytes,
    })
}
