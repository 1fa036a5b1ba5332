//! SQL and search.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Json, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use lake::ask::Search;
use lake::{Answer, LakeError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::app::App;
use crate::error::Refusal;

/// The body of `POST /api/sql`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlRequest {
    query: String,
    limit: Option<usize>,
}

/// The answer of both.
#[derive(Serialize)]
struct Rows<'a> {
    columns: Vec<Column>,
    rows: &'a RawValue,
    row_count: usize,
    truncated: bool,
    elapsed_ms: f64,
    scan: &'a [lake::ScanReport],
}

#[derive(Serialize)]
struct Column {
    name: String,
    r#type: String,
}

/// Runs one reading SQL statement. Body: `{"query": "SELECT ...", "limit": 10000}`.
#[utoipa::path(post, path = "/api/sql", responses(
    (status = 200, description = "columns, rows (objects), row_count, truncated, elapsed_ms, scan"),
    (status = 400, description = "what is wrong with the statement"),
    (status = 504, description = "the statement ran too long")))]
pub async fn sql(
    State(app): State<Arc<App>>,
    request: Result<Json<SqlRequest>, JsonRejection>,
) -> Result<Response, Refusal> {
    let Json(request) = request.map_err(|rejection| Refusal::bad_request(rejection.body_text()))?;
    let most = app.sql_rows.load(Ordering::Relaxed);
    let limit = request.limit.unwrap_or(most).min(most);
    let answer = query(app, move |app| app.engine.query(&request.query, limit)).await??;
    respond(&answer)
}

/// Finds messages or calls.
#[utoipa::path(get, path = "/api/search",
    params(
        ("method" = Option<String>, Query, description = "SIP methods, separated by commas"),
        ("from" = Option<String>, Query, description = "user or user@host of From; * stands for any text"),
        ("to" = Option<String>, Query, description = "user or user@host of To; * stands for any text"),
        ("call_id" = Option<String>, Query, description = "Call-ID; * stands for any text"),
        ("ip" = Option<String>, Query, description = "address or IPv4 network of either end"),
        ("port" = Option<u16>, Query, description = "port of either end"),
        ("code" = Option<String>, Query, description = "status codes or classes: 486, 4xx"),
        ("node" = Option<String>, Query, description = "capture agent's number or name"),
        ("text" = Option<String>, Query, description = "text in the message"),
        ("since" = Option<String>, Query, description = "RFC 3339, or a span back from now: 15m, 2h, 1d"),
        ("until" = Option<String>, Query, description = "as since"),
        ("limit" = Option<usize>, Query, description = "rows, 100 if not said, at most 10000"),
        ("offset" = Option<usize>, Query, description = "rows to skip"),
        ("by" = Option<String>, Query, description = "message (default) or call")
    ),
    responses((status = 200, description = "as /api/sql"), (status = 400, description = "which filter is wrong, and how to write it")))]
pub async fn search(
    State(app): State<Arc<App>>,
    search: Result<Query<Search>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(search) = search.map_err(|rejection| Refusal::bad_request(rejection.body_text()))?;
    let answer = query(app, move |app| search.run(&app.engine, Timestamp::now())).await??;
    respond(&answer)
}

fn respond(answer: &Answer) -> Result<Response, Refusal> {
    let body = render(answer).map_err(|error| Refusal(StatusCode::INTERNAL_SERVER_ERROR, error))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// Runs blocking work for a request, a few at a time.
pub async fn query<T: Send + 'static>(
    app: Arc<App>,
    work: impl FnOnce(&App) -> T + Send + 'static,
) -> Result<T, Refusal> {
    let stopped = || Refusal(StatusCode::SERVICE_UNAVAILABLE, LakeError::Closed.to_string());
    let worker = Arc::clone(&app);
    let _place = app.queries.acquire().await.map_err(|_| stopped())?;
    tokio::task::spawn_blocking(move || work(&worker)).await.map_err(|_| stopped())
}

fn render(answer: &Answer) -> Result<Vec<u8>, String> {
    let mut rows = Vec::new();
    export::rows::json(&answer.batches, &mut rows).map_err(|error| error.to_string())?;
    let rows = String::from_utf8(rows).map_err(|error| error.to_string())?;
    let rows = RawValue::from_string(rows).map_err(|error| error.to_string())?;
    let body = Rows {
        columns: answer
            .schema
            .fields()
            .iter()
            .map(|field| Column {
                name: field.name().clone(),
                r#type: export::rows::type_name(field.data_type()),
            })
            .collect(),
        rows: &rows,
        row_count: answer.batches.iter().map(|batch| batch.num_rows()).sum(),
        truncated: answer.truncated,
        elapsed_ms: (answer.elapsed.as_secs_f64() * 1e6).round() / 1e3,
        scan: &answer.scan,
    };
    serde_json::to_vec(&body).map_err(|error| error.to_string())
}
