//! OpenTelemetry's OTLP over gRPC: up to three `Export` calls for a batch, each with its answer.
//!
//! * What a collector cannot take now (UNAVAILABLE and the other codes that the protocol calls retryable) is sent again
//!   after a pause, the rest of the batch with it; what it took is not.
//! * What it refuses for good is dropped as `refused`, what it reports as a partial success as `rejected`. It counts
//!   points, spans or records there; no more envelopes are counted as lost than the call carried.
//!
//! <https://opentelemetry.io/docs/specs/otlp/#otlpgrpc-response>

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use h2::client::SendRequest;
use tokio::time::timeout;

use super::connect::Stream;
use super::grpc::{self, code};
use super::{Context, End, Remote, Session, Stopped, now_ns};
use crate::batch::{PREFIX, field, varint};
use crate::counters::{Cause, Reason};
use crate::queue::Outcome;

/// The three signals, in the order in which they are sent.
const PATHS: [&str; 3] = [
    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
    "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
];

/// Bytes of an answer that are looked at.
const ANSWER: usize = 64 << 10;

/// Turns an `EnvelopeBatch` message of loggregator v2 into requests.
pub type Render = Arc<dyn Fn(&[u8], &mut Exports) + Send + Sync>;

/// One signal of a batch: an `Export…ServiceRequest` and how many envelopes are in it.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Export {
    /// The message.
    pub request: Vec<u8>,
    /// Envelopes in it. Each envelope belongs to one signal at most.
    pub envelopes: u32,
}

/// What a batch becomes. Envelopes that are in none count as skipped.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Exports {
    /// Counters and gauges.
    pub metrics: Export,
    /// Timers.
    pub traces: Export,
    /// Logs and events.
    pub logs: Export,
}

/// What is kept between sessions.
pub(crate) struct State {
    pub render: Render,
    pub under_way: Option<UnderWay>,
}

/// A batch of which part was answered.
pub(crate) struct UnderWay {
    /// By signal: the request with gRPC's prefix, and its envelopes; empty once answered.
    requests: [(Bytes, u32); 3],
    outcome: Outcome,
    rejected: u32,
}

impl UnderWay {
    fn new(render: &Render, message: &[u8], envelopes: u32) -> Self {
        let mut exports = Exports::default();
        render(message, &mut exports);
        let requests = [exports.metrics, exports.traces, exports.logs].map(|export| {
            if export.envelopes == 0 {
                Default::default()
            } else {
                (framed(&export.request), export.envelopes)
            }
        });
        let taken = requests.iter().map(|(_, envelopes)| *envelopes).fold(0, u32::saturating_add);
        let outcome = Outcome { skipped: envelopes.saturating_sub(taken), dropped: None };
        Self { requests, outcome, rejected: 0 }
    }

    /// The outcome of the whole batch. Where some were refused and others rejected they are all counted as refused.
    fn outcome(&self) -> Outcome {
        let dropped = match self.outcome.dropped {
            Some((reason, lost)) => Some((reason, lost.saturating_add(self.rejected))),
            None => (self.rejected > 0).then_some((Reason::Rejected, self.rejected)),
        };
        Outcome { dropped, ..self.outcome }
    }
}

fn framed(request: &[u8]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(PREFIX.saturating_add(request.len()));
    bytes.put_u8(0);
    // A batch is far below 4 GiB; a renderer that blew it up so would have its request refused.
    bytes.put_u32(u32::try_from(request.len()).unwrap_or(u32::MAX));
    bytes.put_slice(request);
    bytes.freeze()
}

pub(crate) async fn session(state: &mut State, io: Stream, context: &Context, remote: &Remote) -> Session {
    let (calls, mut driver) = grpc::handshake(io, remote.connect_timeout).await?;
    let authority = remote.tls.as_ref().map_or(&remote.address, |tls| &tls.server_name);
    loop {
        let Some(batch) = context.queue.take(context.window) else {
            if context.stopping() && context.queue.is_empty() {
                return Ok(Stopped);
            }
            tokio::select! {
                end = driver.ended() => return Err(end),
                () = context.queue.ready() => {}
                () = context.stopped() => {}
            }
            continue;
        };
        let render = &state.render;
        let under_way =
            state.under_way.get_or_insert_with(|| UnderWay::new(render, batch.message(), batch.envelopes()));
        for (at, path) in PATHS.into_iter().enumerate() {
            let Some((request, envelopes)) =
                under_way.requests.get_mut(at).filter(|(request, _)| !request.is_empty())
            else {
                continue;
            };
            let head = grpc::request(authority, path, remote.tls.is_some())?;
            let call = timeout(context.answer_timeout, export(calls.clone(), head, request.clone()));
            let (status, answer) = tokio::select! {
                biased;
                done = call => match done {
                    Ok(done) => done?,
                    Err(_) => return Err(End::new(Cause::Silent, format!("no answer within {:?}", context.answer_timeout))),
                },
                end = driver.ended() => return Err(end),
            };
            if status.code == code::OK {
                let rejected = u32::try_from(rejected(&answer)).unwrap_or(u32::MAX).min(*envelopes);
                under_way.rejected = under_way.rejected.saturating_add(rejected);
            } else if retryable(status.code) {
                return Err(status.end());
            } else {
                let lost = under_way.outcome.dropped.map_or(0, |(_, lost)| lost).saturating_add(*envelopes);
                under_way.outcome.dropped = Some((Reason::Refused, lost));
            }
            (*request, *envelopes) = Default::default();
        }
        context.queue.confirm(under_way.outcome(), now_ns());
        state.under_way = None;
    }
}

/// One call: the request goes out as flow control allows.
async fn export(
    calls: SendRequest<Bytes>,
    head: http::Request<()>,
    request: Bytes,
) -> Result<(grpc::Status, Bytes), End> {
    let mut calls = calls.ready().await.map_err(|error| grpc::end(&error))?;
    let (response, mut stream) = calls.send_request(head, false).map_err(|error| grpc::end(&error))?;
    // The library keeps it until there is room; it is one request of one batch.
    stream.send_data(request, true).map_err(|error| grpc::end(&error))?;
    grpc::answer(response, ANSWER).await.map_err(|error| grpc::end(&error))
}

/// The codes that OTLP calls retryable. RESOURCE_EXHAUSTED is one only with a `RetryInfo`, which is not read here.
fn retryable(status: u32) -> bool {
    matches!(
        status,
        code::CANCELLED
            | code::DEADLINE_EXCEEDED
            | code::ABORTED
            | code::OUT_OF_RANGE
            | code::UNAVAILABLE
            | code::DATA_LOSS
    )
}

/// How much of a request was rejected: `partial_success = 1 { rejected_… = 1 }`, the same in all three answers.
fn rejected(answer: &[u8]) -> u64 {
    let mut rest = answer.get(PREFIX..).unwrap_or_default();
    while !rest.is_empty() {
        match field(&mut rest) {
            Some((1, Some(mut partial))) => {
                if partial.first() == Some(&0x08) {
                    partial = partial.get(1..).unwrap_or_default();
                    return varint(&mut partial).unwrap_or(0);
                }
                return 0;
            }
            Some(_) => {}
            None => return 0,
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_success_is_read() {
        let framed = |message: &[u8]| [&[0, 0, 0, 0, 9], message].concat();
        assert_eq!(rejected(&framed(&[])), 0);
        assert_eq!(rejected(&framed(&[0x0a, 3, 0x08, 0xac, 0x02])), 300);
        assert_eq!(rejected(&framed(&[0x0a, 4, 0x12, 2, b'n', b'o'])), 0);
        assert_eq!(rejected(&framed(&[0x0a, 9, 0x08])), 0);
    }

    #[test]
    fn the_outcome_of_a_batch_is_that_of_its_signals() {
        let render: Render = Arc::new(|_, exports| {
            exports.metrics = Export { request: vec![1], envelopes: 3 };
            exports.logs = Export { request: vec![], envelopes: 2 };
        });
        let mut under_way = UnderWay::new(&render, &[], 7);
        assert_eq!(under_way.outcome(), Outcome { skipped: 2, dropped: None });
        assert_eq!(under_way.requests[1].0.len(), 0);
        assert_eq!(under_way.requests[2].0, &[0u8; 5][..]);
        under_way.rejected = 2;
        assert_eq!(under_way.outcome().dropped, Some((Reason::Rejected, 2)));
        under_way.outcome.dropped = Some((Reason::Refused, 1));
        assert_eq!(under_way.outcome().dropped, Some((Reason::Refused, 3)));
    }
}
