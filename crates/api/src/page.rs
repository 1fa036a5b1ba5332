//! The web page, embedded in the program.

use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use crate::error::Refusal;

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../../ui/dist"]
struct Files;

/// Serves a file of the page; any path without a file and outside `/api` is the page itself.
pub async fn serve(uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    if path.starts_with("api/") {
        return Refusal::not_found(format!("there is no {}; see /api/openapi.json", uri.path()))
            .into_response();
    }
    let name = if path.is_empty() || Files::get(path).is_none() { "index.html" } else { path };
    let Some(file) = Files::get(name) else {
        return Refusal::not_found("the page is not part of this build").into_response();
    };
    let hash = file
        .metadata
        .sha256_hash()
        .iter()
        .take(8)
        .fold(String::from("\""), |tag, byte| format!("{tag}{byte:02x}"))
        + "\"";
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == hash.as_bytes()) {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    // Names of assets carry a hash of their content, so they never change.
    let cache = if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = [
        (header::CONTENT_TYPE, content_type(name).to_owned()),
        (header::ETAG, hash),
        (header::CACHE_CONTROL, cache.to_owned()),
    ];
    (headers, file.data.into_owned()).into_response()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("json") => "application/json",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
