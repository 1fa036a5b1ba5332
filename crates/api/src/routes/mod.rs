//! The routes, one file a subject, and the document that describes them.

pub mod calls;
pub mod flows;
pub mod query;
pub mod status;

use axum::Json;
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "wirelake",
        description = "What passes on the wire: search, calls, SQL and the ledger.",
        license(name = "Apache-2.0")
    ),
    paths(
        status::health,
        status::ledger,
        status::rate,
        status::bottleneck,
        status::tables,
        flows::live,
        status::metrics,
        query::sql,
        query::search,
        calls::call,
        calls::pcap,
        calls::text
    )
)]
struct Document;

/// The OpenAPI document.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// `GET /api/openapi.json`
pub async fn openapi_json() -> Json<utoipa::openapi::OpenApi> {
    Json(openapi())
}
