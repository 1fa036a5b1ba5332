//! The REST interface, Prometheus metrics and the web page.
//!
//! In: HTTP requests. Out: answers from the lake, the ledger, and the embedded page. Owned: the HTTP
//! listener. Bounded by: [`app::QUERIES_AT_ONCE`] queries at a time, the engine's time-out, memory and
//! row limits. Lost: nothing of the data; a request beyond the bounds is refused with a sentence.

#![forbid(unsafe_code)]

pub mod app;
mod error;
mod guard;
mod page;
mod routes;

use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

pub use app::{App, Bottleneck, Probe, Remedy};
pub use routes::calls::render as call_json;
pub use routes::openapi;

/// Bytes out of base64, as `payload_base64` carries them.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).ok()
}

/// Every route over one application state.
pub fn router(app: Arc<App>) -> Router {
    let guarded = Router::new()
        .route("/api/health", get(routes::status::health))
        .route("/api/ledger", get(routes::status::ledger))
        .route("/api/rate", get(routes::status::rate))
        .route("/api/bottleneck", get(routes::status::bottleneck))
        .route("/api/tables", get(routes::status::tables))
        .route("/api/flows/live", get(routes::flows::live))
        .route("/api/sql", post(routes::query::sql))
        .route("/api/search", get(routes::query::search))
        .route("/api/calls/{call_id}", get(routes::calls::call))
        .route("/api/calls/{call_id}/pcap", get(routes::calls::pcap))
        .route("/api/calls/{call_id}/text", get(routes::calls::text))
        .route("/api/openapi.json", get(routes::openapi_json))
        .route("/metrics", get(routes::status::metrics))
        .fallback(page::serve);
    guarded.layer(axum::middleware::from_fn_with_state(Arc::clone(&app), guard::check)).with_state(app)
}

/// Serves until `stop` is ready; requests under way are answered first.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    listener: tokio::net::TcpListener,
    app: Arc<App>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    axum::serve(listener, router(app)).with_graceful_shutdown(stop).await
}
