//! One call.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bytes::{Bytes, BytesMut};
use h2::RecvStream;
use h2::server::SendResponse;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};

use super::frames::{Bad, Frames};
use super::{Received, Shared};
use crate::batch::{self, PREFIX};
use crate::egress::grpc::code;

/// Envelopes of `Sender` are put together up to this size.
const GATHER: usize = 256 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Sender,
    BatchSender,
    Send,
}

/// Why a call ended otherwise than well.
enum Failure {
    Status(u32, &'static str),
    /// The client is gone: nobody is left to tell.
    Gone,
}

pub(super) async fn serve(request: Request<RecvStream>, respond: SendResponse<Bytes>, shared: Arc<Shared>) {
    let call = match request.uri().path() {
        "/loggregator.v2.Ingress/Sender" => Call::Sender,
        "/loggregator.v2.Ingress/BatchSender" => Call::BatchSender,
        "/loggregator.v2.Ingress/Send" => Call::Send,
        _ => {
            shared.figures.unknown_method.fetch_add(1, Relaxed);
            return refuse(respond, code::UNIMPLEMENTED, "unknown method");
        }
    };
    let grpc = request
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
    if request.method() != Method::POST || !grpc {
        let mut respond = respond;
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        let _ = respond.send_response(response, true);
        return;
    }
    shared.figures.streams.fetch_add(1, Relaxed);
    match receive(request.into_body(), call, &shared).await {
        Ok(()) => answer(respond),
        Err(Failure::Status(status, message)) => refuse(respond, status, message),
        Err(Failure::Gone) => {}
    }
}

/// Takes all messages of a call.
async fn receive(mut body: RecvStream, call: Call, shared: &Shared) -> Result<(), Failure> {
    let mut frames = Frames::new(shared.limits.message_bytes);
    let mut messages = 0u64;
    // Bytes that the client may send again only when they were taken.
    let mut owed = 0usize;
    while let Some(part) = body.data().await {
        let part = part.map_err(|_| Failure::Gone)?;
        frames.push(&part);
        owed = owed.saturating_add(part.len());
        let mut gathered = BytesMut::new();
        while let Some(message) = frames.next().map_err(|bad| bad_frame(bad, shared))? {
            messages = messages.saturating_add(1);
            if call == Call::Send && messages > 1 {
                return Err(Failure::Status(code::INTERNAL, "more than one message"));
            }
            if call == Call::Sender {
                put(&message, &mut gathered);
                if gathered.len() >= GATHER {
                    take(gathered.split(), shared).await?;
                }
            } else {
                take(message, shared).await?;
            }
        }
        if !gathered.is_empty() {
            take(gathered, shared).await?;
        }
        // A message larger than the window must be let in before it is whole.
        body.flow_control().release_capacity(std::mem::take(&mut owed)).map_err(|_| Failure::Gone)?;
    }
    if !frames.is_empty() || call == Call::Send && messages == 0 {
        shared.figures.broken.fetch_add(1, Relaxed);
        return Err(Failure::Status(code::INTERNAL, "the stream ended within a message"));
    }
    Ok(())
}

fn bad_frame(bad: Bad, shared: &Shared) -> Failure {
    match bad {
        Bad::TooLarge => {
            shared.figures.too_large.fetch_add(1, Relaxed);
            Failure::Status(code::RESOURCE_EXHAUSTED, "the message is too large")
        }
        Bad::Compressed => {
            shared.figures.compressed.fetch_add(1, Relaxed);
            Failure::Status(code::UNIMPLEMENTED, "messages must not be compressed")
        }
    }
}

/// Appends an envelope as an entry.
fn put(envelope: &[u8], gathered: &mut BytesMut) {
    let mut entry = Vec::with_capacity(envelope.len().saturating_add(6));
    batch::put_entry(envelope, &mut entry);
    gathered.extend_from_slice(&entry);
}

async fn take(message: BytesMut, shared: &Shared) -> Result<(), Failure> {
    let mut envelopes = 0u32;
    for envelope in batch::envelopes(&message) {
        if envelope.is_err() {
            shared.figures.broken.fetch_add(1, Relaxed);
            return Err(Failure::Status(code::INTERNAL, "the message is no EnvelopeBatch"));
        }
        envelopes = envelopes.saturating_add(1);
    }
    let figures = &shared.figures;
    let bytes = message.len() as u64;
    if envelopes > 0 && (shared.accept)(Received { message: message.freeze(), envelopes }).await.is_err() {
        figures.unavailable.fetch_add(u64::from(envelopes), Relaxed);
        return Err(Failure::Status(code::UNAVAILABLE, "not taken now"));
    }
    figures.messages.fetch_add(1, Relaxed);
    figures.envelopes.fetch_add(u64::from(envelopes), Relaxed);
    figures.bytes.fetch_add(bytes, Relaxed);
    Ok(())
}

/// All three answers are empty messages.
fn answer(mut respond: SendResponse<Bytes>) {
    let Ok(mut stream) = respond.send_response(head(), false) else { return };
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    if stream.send_data(Bytes::from_static(&[0; PREFIX]), false).is_ok() {
        let _ = stream.send_trailers(trailers);
    }
}

/// An answer that is a status only.
fn refuse(mut respond: SendResponse<Bytes>, status: u32, message: &'static str) {
    let mut response = head();
    response.headers_mut().insert("grpc-status", HeaderValue::from(status));
    response.headers_mut().insert("grpc-message", HeaderValue::from_static(message));
    // The library tells a client that is still sending that it need not.
    let _ = respond.send_response(response, true);
}

fn head() -> Response<()> {
    let mut response = Response::new(());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}
