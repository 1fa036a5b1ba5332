//! How the program is doing.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use jiff::Timestamp;
use model::table::TABLES;
use serde_json::{Value, json};

use crate::app::{App, QUERIES_AT_ONCE};

/// Whether the program is at its best: `ok`, or `degraded` with reasons.
#[utoipa::path(get, path = "/api/health", responses((status = 200, description = "status, version, uptime_s, reasons")))]
pub async fn health(State(app): State<Arc<App>>) -> Json<Value> {
    let reasons = app.probe.complaints();
    Json(json!({
        "status": if reasons.is_empty() { "ok" } else { "degraded" },
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_s": app.uptime().as_secs(),
        "reasons": reasons,
    }))
}

/// The books: every unit that came in and the door it left by.
#[utoipa::path(get, path = "/api/ledger", responses((status = 200, description = "in, out, drops by stage and reason, store, checks, balanced")))]
pub async fn ledger(State(app): State<Arc<App>>) -> Json<Value> {
    let since = Timestamp::try_from(app.started).unwrap_or_default();
    let since = since.round(jiff::Unit::Second).unwrap_or(since);
    let mut value = json!({ "since": since.to_string(), "window_s": app.uptime().as_secs_f64() });
    if let (Some(target), Value::Object(books)) = (value.as_object_mut(), app.books()) {
        target.extend(books);
    }
    Json(value)
}

/// Messages, bytes and drops of each of the last 300 seconds.
#[utoipa::path(get, path = "/api/rate", responses((status = 200, description = "interval_ms and points {t, messages, bytes, drops}, oldest first")))]
pub async fn rate(State(app): State<Arc<App>>) -> Json<Value> {
    Json(json!({ "interval_ms": 1_000, "points": app.points() }))
}

/// Where time goes, stage by stage, which stage is the limit, and what lifts it.
#[utoipa::path(get, path = "/api/bottleneck", responses((status = 200, description = "over the last 10 s: seconds, stage, limited, why, remedies {what, command}, threads, stages, datagrams_lost, frames_lost; since_start: the same over the program's life; queries {running, limit}")))]
pub async fn bottleneck(State(app): State<Arc<App>>) -> Json<Value> {
    let mut value = serde_json::to_value(app.probe.bottleneck()).unwrap_or_default();
    if let Some(target) = value.as_object_mut() {
        let running = QUERIES_AT_ONCE.saturating_sub(app.queries.available_permits());
        target.insert("queries".to_owned(), json!({ "running": running, "limit": QUERIES_AT_ONCE }));
    }
    Json(value)
}

/// The tables and their columns.
#[utoipa::path(get, path = "/api/tables", responses((status = 200, description = "name, doc, columns {name, type, doc}, rows, files, hot_rows")))]
pub async fn tables(State(app): State<Arc<App>>) -> Json<Value> {
    let lake = app.engine.lake();
    let tables: Vec<Value> = TABLES
        .iter()
        .map(|table| {
            let view = lake.view(table);
            let hot: usize = view.hot.iter().map(|batch| batch.rows.num_rows()).sum();
            let stored: u64 = view.files.iter().map(|file| file.rows).sum();
            let schema = lake::schema::arrow(table);
            let columns: Vec<Value> = table
                .columns
                .iter()
                .zip(schema.fields())
                .map(|(column, field)| {
                    let kind = export::rows::type_name(field.data_type());
                    json!({ "name": column.name, "type": kind, "doc": column.doc })
                })
                .collect();
            json!({
                "name": table.name, "doc": table.doc, "columns": columns,
                "rows": stored + hot as u64, "files": view.files.len(), "hot_rows": hot,
            })
        })
        .collect();
    Json(Value::Array(tables))
}

/// Counters, drops and gauges in Prometheus' text format.
#[utoipa::path(get, path = "/metrics", responses((status = 200, description = "text/plain; version=0.0.4")))]
pub async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let (store, shards) = app.figures();
    let mut text = stats::prometheus::render(store, &shards, &app.probe.gauges());
    if let Some(capture) = app.probe.capture() {
        capture.prometheus(&mut text);
    }
    if let Some(loggregator) = app.probe.loggregator() {
        loggregator.prometheus(&mut text);
    }
    let bottleneck = app.probe.bottleneck();
    bottleneck.since_start.prometheus(&bottleneck.recent, &mut text);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}
