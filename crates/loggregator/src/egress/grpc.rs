//! What gRPC puts on HTTP/2: requests, answers and their status.
//! <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use h2::client::{Connection, ResponseFuture, SendRequest};
use http::header::{CONTENT_TYPE, TE, USER_AGENT};
use http::{HeaderMap, Method, Request, StatusCode};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::End;
use crate::counters::Cause;
use crate::tls;

/// Status codes by number. <https://github.com/grpc/grpc/blob/master/doc/statuscodes.md>
pub(crate) mod code {
    pub const OK: u32 = 0;
    pub const CANCELLED: u32 = 1;
    pub const UNKNOWN: u32 = 2;
    pub const INVALID_ARGUMENT: u32 = 3;
    pub const DEADLINE_EXCEEDED: u32 = 4;
    pub const PERMISSION_DENIED: u32 = 7;
    pub const RESOURCE_EXHAUSTED: u32 = 8;
    pub const ABORTED: u32 = 10;
    pub const OUT_OF_RANGE: u32 = 11;
    pub const UNIMPLEMENTED: u32 = 12;
    pub const INTERNAL: u32 = 13;
    pub const UNAVAILABLE: u32 = 14;
    pub const DATA_LOSS: u32 = 15;
    pub const UNAUTHENTICATED: u32 = 16;
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Status {
    pub code: u32,
    pub message: String,
}

impl Status {
    fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let code = headers.get("grpc-status")?.to_str().ok()?.parse().unwrap_or(code::UNKNOWN);
        let message =
            headers.get("grpc-message").map(|text| String::from_utf8_lossy(text.as_bytes()).into_owned());
        Some(Self { code, message: message.unwrap_or_default() })
    }

    /// For an answer that is none of gRPC's, by the table in `http-grpc-status-mapping.md`.
    fn from_http(status: StatusCode) -> Self {
        let code = match status.as_u16() {
            400 => code::INTERNAL,
            401 => code::UNAUTHENTICATED,
            403 => code::PERMISSION_DENIED,
            404 => code::UNIMPLEMENTED,
            429 | 502 | 503 | 504 => code::UNAVAILABLE,
            _ => code::UNKNOWN,
        };
        Self { code, message: format!("HTTP {status}") }
    }

    /// As the end of a session.
    pub fn end(&self) -> End {
        let cause = match self.code {
            code::UNAVAILABLE => Cause::Unavailable,
            code::UNIMPLEMENTED => Cause::Unimplemented,
            code::UNAUTHENTICATED | code::PERMISSION_DENIED => Cause::Forbidden,
            _ => Cause::Ended,
        };
        let poison = matches!(self.code, code::INVALID_ARGUMENT | code::RESOURCE_EXHAUSTED | code::INTERNAL);
        End { poison, ..End::new(cause, format!("grpc status {} {}", self.code, self.message)) }
    }
}

/// The end of a session behind an error of HTTP/2.
pub(crate) fn end(error: &h2::Error) -> End {
    let cause = if error.is_go_away() {
        Cause::GoAway
    } else if let Some(io) = error.get_io() {
        tls::cause(io)
    } else if error.is_reset() {
        Cause::Reset
    } else {
        Cause::Protocol
    };
    End::new(cause, error)
}

/// The task that moves a connection's frames; ends with it.
#[derive(Debug)]
pub(crate) struct Driver(pub JoinHandle<Result<(), h2::Error>>);

impl Driver {
    /// Why the connection ended. Waits for that.
    pub async fn ended(&mut self) -> End {
        match (&mut self.0).await {
            Ok(Err(error)) => end(&error),
            Ok(Ok(())) | Err(_) => End::new(Cause::Reset, "the destination closed the connection"),
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Brings HTTP/2 up over a connection.
pub(crate) async fn handshake<T>(io: T, within: Duration) -> Result<(SendRequest<Bytes>, Driver), End>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut builder = h2::client::Builder::new();
    // Nothing large comes back.
    builder.enable_push(false).initial_window_size(64 << 10).max_header_list_size(16 << 10);
    let handshake = builder.handshake::<_, Bytes>(io);
    let (send, connection): (_, Connection<T, Bytes>) = timeout(within, handshake)
        .await
        .map_err(|_| End::new(Cause::ConnectTimeout, "HTTP/2 did not come up"))?
        .map_err(|error| end(&error))?;
    Ok((send, Driver(tokio::spawn(connection))))
}

/// The head of a call; the authority is what TLS verified or the address.
pub(crate) fn request(authority: &str, path: &str, tls: bool) -> Result<Request<()>, End> {
    let scheme = if tls { "https" } else { "http" };
    Request::builder()
        .method(Method::POST)
        .uri(format!("{scheme}://{authority}{path}"))
        .header(CONTENT_TYPE, "application/grpc")
        .header(TE, "trailers")
        .header(USER_AGENT, concat!("wirelake/", env!("CARGO_PKG_VERSION")))
        .body(())
        .map_err(|error| End::new(Cause::Protocol, error))
}

/// The answer to a call: its status, and the bytes that came before it, up to `limit`.
pub(crate) async fn answer(response: ResponseFuture, limit: usize) -> Result<(Status, Bytes), h2::Error> {
    let (head, mut body) = response.await?.into_parts();
    if head.status != StatusCode::OK {
        return Ok((Status::from_http(head.status), Bytes::new()));
    }
    if let Some(status) = Status::from_headers(&head.headers) {
        return Ok((status, Bytes::new()));
    }
    let mut bytes = BytesMut::new();
    while let Some(part) = body.data().await {
        let part = part?;
        body.flow_control().release_capacity(part.len())?;
        let room = limit.saturating_sub(bytes.len());
        bytes.extend_from_slice(part.get(..room).unwrap_or(&part));
    }
    let status = body.trailers().await?.and_then(|trailers| Status::from_headers(&trailers));
    let none = || Status { code: code::UNKNOWN, message: "the answer has no status".to_owned() };
    Ok((status.unwrap_or_else(none), bytes.freeze()))
}
