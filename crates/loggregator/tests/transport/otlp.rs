//! OTLP against a collector that does as it is told.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Response};
use loggregator::batch::envelopes;
use loggregator::otlp::Exports;
use loggregator::{Cause, Protocol, Reason, Settings};
use tokio::net::TcpListener;

use super::*;

/// Numbers by their remainder: metrics, traces, logs, and what is none of them. A request is the numbers.
fn protocol() -> Protocol {
    Protocol::Otlp(Arc::new(|message, exports: &mut Exports| {
        for envelope in envelopes(message) {
            let number = number(envelope.unwrap());
            let export = match number % 4 {
                0 => &mut exports.metrics,
                1 => &mut exports.traces,
                2 => &mut exports.logs,
                _ => continue,
            };
            export.request.extend_from_slice(&number.to_be_bytes());
            export.envelopes += 1;
        }
    }))
}

type Answer = (u32, &'static [u8]);
type Calls = Arc<Mutex<Vec<(String, Vec<u32>)>>>;

/// Answers the n-th call by what `answer` says; calls and their numbers are kept.
async fn collector(
    answer: impl Fn(usize, &str) -> Answer + Send + Sync + 'static,
) -> (std::net::SocketAddr, Calls) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let calls = Calls::default();
    let kept = calls.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut connection = h2::server::handshake(stream).await.unwrap();
            while let Some(Ok((request, mut respond))) = connection.accept().await {
                let (head, mut body) = request.into_parts();
                let path = head.uri.path().to_owned();
                let mut bytes = Vec::new();
                // The connection must be driven for its data to come.
                while let Some(part) = tokio::select! {
                    part = body.data() => part,
                    _ = std::future::poll_fn(|context| connection.poll_closed(context)) => None,
                } {
                    bytes.extend_from_slice(&part.unwrap());
                }
                let numbers = bytes[5..].chunks(4).map(number).collect();
                let (status, message) = {
                    let mut calls = kept.lock().unwrap();
                    calls.push((path.clone(), numbers));
                    answer(calls.len() - 1, &path)
                };
                let head = Response::builder().header("content-type", "application/grpc").body(()).unwrap();
                let mut stream = respond.send_response(head, false).unwrap();
                if status == 0 {
                    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
                    let answer = [&[0][..], &length, message].concat();
                    stream.send_data(Bytes::from(answer), false).unwrap();
                }
                let mut trailers = HeaderMap::new();
                trailers.insert("grpc-status", status.into());
                stream.send_trailers(trailers).unwrap();
            }
        }
    });
    (address, calls)
}

#[tokio::test]
async fn each_signal_goes_to_its_service() {
    let (address, calls) = collector(|_, _| (0, &[])).await;
    let destination = start(Settings { protocol: protocol(), ..settings(address, None) });
    offer(&destination, 0..40);
    let counters = destination.stop(LONG).await;
    assert_eq!((counters.sent.envelopes, counters.skipped, counters.balanced()), (30, 10, true));
    let calls = calls.lock().unwrap();
    for (at, signal) in ["metrics", "trace", "logs"].into_iter().enumerate() {
        let of_signal = calls.iter().filter(|(path, _)| path.contains(signal));
        let numbers: Vec<u32> = of_signal.flat_map(|(_, numbers)| numbers.clone()).collect();
        assert_numbers(&numbers, (0..40).filter(|number| *number as usize % 4 == at));
    }
}

#[tokio::test]
async fn what_cannot_be_taken_now_comes_again_alone() {
    // The second call, the traces of the first batch, is refused twice.
    let (address, calls) = collector(|at, _| if (1..3).contains(&at) { (14, &[]) } else { (0, &[]) }).await;
    let destination = start(Settings { protocol: protocol(), ..settings(address, None) });
    offer(&destination, 0..10);
    let counters = destination.stop(LONG).await;
    assert_eq!((counters.sent.envelopes, counters.ended(Cause::Unavailable)), (8, 2));
    let calls = calls.lock().unwrap();
    let numbers: Vec<_> = calls.iter().map(|(_, numbers)| numbers[0]).collect();
    assert_eq!(numbers, [0, 1, 1, 1, 2]);
}

#[tokio::test]
async fn refusals_and_rejections_are_counted() {
    // Logs are refused for good; of the metrics two points are rejected.
    let (address, _) = collector(|_, path| match path {
        path if path.contains("logs") => (3, &[]),
        path if path.contains("metrics") => (0, &[0x0a, 2, 0x08, 2]),
        _ => (0, &[]),
    })
    .await;
    let destination = start(Settings { protocol: protocol(), ..settings(address, None) });
    offer(&destination, 0..10);
    let counters = destination.stop(LONG).await;
    // Of ten: three metrics, three traces, two logs. Two of the metrics and both logs are lost.
    assert_eq!((counters.dropped(Reason::Refused), counters.sent.envelopes, counters.skipped), (4, 4, 2));
    assert!(counters.balanced());
}
