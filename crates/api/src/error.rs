//! Errors as the client sees them: a status and one sentence.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use lake::LakeError;

/// An answer that is not the one asked for.
#[derive(Debug)]
pub struct Refusal(pub StatusCode, pub String);

impl Refusal {
    pub fn bad_request(sentence: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, sentence.into())
    }

    pub fn not_found(sentence: impl Into<String>) -> Self {
        Self(StatusCode::NOT_FOUND, sentence.into())
    }
}

impl From<LakeError> for Refusal {
    fn from(error: LakeError) -> Self {
        let status = match error {
            LakeError::Query(_) => StatusCode::BAD_REQUEST,
            LakeError::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self(status, error.to_string())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, Json(serde_json::json!({ "error": self.1 }))).into_response()
    }
}
