//! Syslog over TCP and TLS.

use std::sync::Arc;

use loggregator::{Cause, Protocol, Settings};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::certs::{Authority, Valid};
use super::peer::server_config;
use super::*;

/// Numbers that are a multiple of five are of a kind that syslog does not take; those of seven make two messages.
fn protocol() -> Protocol {
    Protocol::Syslog(Arc::new(|envelope, messages| {
        let number = number(envelope);
        if number.is_multiple_of(5) {
            return false;
        }
        let message = format!("<14>1 - host app - - - {number}\n");
        for _ in 0..if number.is_multiple_of(7) { 2 } else { 1 } {
            messages.push(message.as_bytes());
        }
        true
    }))
}

fn expected(numbers: std::ops::Range<u32>) -> Vec<u32> {
    let taken = numbers.filter(|number| !number.is_multiple_of(5));
    taken.flat_map(|number| vec![number; if number.is_multiple_of(7) { 2 } else { 1 }]).collect()
}

/// Reads octet-counted messages until there are `count`, or to the end.
async fn read(mut stream: impl AsyncRead + Unpin, count: usize) -> Vec<u32> {
    let (mut bytes, mut numbers) = (Vec::new(), Vec::new());
    while numbers.len() < count {
        while let Some(space) = bytes.iter().position(|byte| *byte == b' ') {
            let length: usize = std::str::from_utf8(&bytes[..space]).unwrap().parse().unwrap();
            if bytes.len() < space + 1 + length {
                break;
            }
            let message = std::str::from_utf8(&bytes[space + 1..space + 1 + length]).unwrap();
            assert!(message.starts_with("<14>1 ") && message.ends_with('\n'), "{message:?}");
            numbers.push(message.trim().rsplit(' ').next().unwrap().parse().unwrap());
            bytes.drain(..space + 1 + length);
        }
        if numbers.len() < count && stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            break;
        }
    }
    numbers
}

#[tokio::test]
async fn messages_are_counted_in_octets_and_kinds_that_are_not_taken_are_skipped() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let settings = Settings { protocol: protocol(), ..settings(listener.local_addr().unwrap(), None) };
    let destination = start(settings);
    offer(&destination, 0..1_000);
    let (stream, _) = listener.accept().await.unwrap();
    let reading = tokio::spawn(read(stream, usize::MAX));
    let counters = destination.stop(LONG).await;
    assert_numbers(&reading.await.unwrap(), expected(0..1_000));
    assert_eq!((counters.sent.envelopes, counters.skipped), (800, 200));
    assert!(counters.balanced());
}

#[tokio::test]
async fn over_tls_and_over_a_connection_that_ends() {
    let authority = Authority::new();
    authority.issue("server", "metron", Valid::Now);
    let acceptor = TlsAcceptor::from(server_config(&authority, "server"));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let tls = Some(authority.client());
    let settings = Settings { protocol: protocol(), ..settings(listener.local_addr().unwrap(), tls) };
    let destination = start(settings);
    offer(&destination, 0..100);
    let (stream, _) = listener.accept().await.unwrap();
    let first = read(acceptor.accept(stream).await.unwrap(), expected(0..100).len()).await;
    assert_numbers(&first, expected(0..100));
    // The end is seen before the next batch is written, so nothing of it is lost.
    until("the end is seen", || destination.counters().ended(Cause::Reset) > 0).await;
    offer(&destination, 100..200);
    let (stream, _) = listener.accept().await.unwrap();
    let second = read(acceptor.accept(stream).await.unwrap(), expected(100..200).len()).await;
    assert_numbers(&second, expected(100..200));
    assert_eq!(destination.counters().dropped_total(), 0);
}
