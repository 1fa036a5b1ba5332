//! Destinations and servers against the other side, on loopback.
//!
//! Nothing here depends on how long something takes: a test waits for what must come, and fails when it does not come
//! within a time that is far beyond any machine's.

mod certificates;
mod certs;
mod failures;
mod ingress;
mod metrics;
mod otlp;
mod peer;
mod stop;
mod syslog;

use std::time::Duration;

use loggregator::batch::put_entry;
use loggregator::{Backoff, Batch, BatchBuilder, ClientTls, Destination, Limits, Protocol, Remote, Settings};

/// Sources among which numbers are spread: a number belongs to the source of its remainder.
pub const SOURCES: u32 = 7;

/// What stands for an envelope here: a number, and bytes that give it a size.
pub fn envelope(number: u32) -> Vec<u8> {
    let mut bytes = number.to_be_bytes().to_vec();
    bytes.resize(4 + (number as usize % 300), b'x');
    bytes
}

pub fn number(envelope: &[u8]) -> u32 {
    u32::from_be_bytes(envelope[..4].try_into().unwrap())
}

/// The numbers as batches of `size`, as the reader makes them.
pub fn batches(numbers: std::ops::Range<u32>, size: u32) -> Vec<Batch> {
    let mut builder = BatchBuilder::new(Limits { envelopes: size, ..Limits::default() });
    let mut made = Vec::new();
    for number in numbers {
        put_entry(&envelope(number), builder.buffer());
        made.extend(builder.commit(1).unwrap());
    }
    made.extend(builder.seal());
    made
}

pub fn offer(destination: &Destination, numbers: std::ops::Range<u32>) {
    batches(numbers, 10).into_iter().for_each(|batch| destination.offer(batch));
}

pub fn remote(address: std::net::SocketAddr, tls: Option<ClientTls>) -> Remote {
    let backoff = Backoff { min: Duration::from_millis(5), max: Duration::from_millis(50) };
    Remote { backoff, ..Remote::new(address.to_string(), tls) }
}

pub fn settings(address: std::net::SocketAddr, tls: Option<ClientTls>) -> Settings {
    Settings::new("test", remote(address, tls), Protocol::V2)
}

pub fn start(settings: Settings) -> Destination {
    Destination::start(&tokio::runtime::Handle::current(), settings).unwrap()
}

/// Waits until it is so.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{what}: did not come");
}

/// Waits until so many envelopes were confirmed; the books balance on the way.
pub async fn until_sent(destination: &Destination, envelopes: u64) {
    until("all is sent", || {
        let counters = destination.counters();
        assert!(counters.balanced(), "{counters:?}");
        counters.sent.envelopes >= envelopes
    })
    .await;
}

/// The same numbers in the same order; says where they part rather than showing thousands.
#[track_caller]
pub fn assert_numbers(found: &[u32], expected: impl IntoIterator<Item = u32>) {
    let expected: Vec<u32> = expected.into_iter().collect();
    let parts = found.iter().zip(&expected).position(|(found, expected)| found != expected);
    let parts = parts.or_else(|| (found.len() != expected.len()).then(|| found.len().min(expected.len())));
    if let Some(at) = parts {
        let near = |numbers: &[u32]| numbers.iter().skip(at).take(5).copied().collect::<Vec<_>>();
        panic!(
            "{} numbers instead of {}; from the {at}th on {:?} instead of {:?}",
            found.len(),
            expected.len(),
            near(found),
            near(&expected)
        );
    }
}

/// Ample time to stop in.
pub const LONG: Duration = Duration::from_secs(30);
