//! `bench loggregator`: dropsonde from a UDP socket to encoded batches of version 2, on one thread as in `serve`, against a
//! loop that only receives.

use std::hint::black_box;

use ::loggregator::{BatchBuilder, Limits};
use anyhow::Result;
use envelope::dropsonde;
use envelope::loggregator::{Identity, Options, write_v1};
use envelope::protobuf::{put_bytes, put_double, put_int};
use listen::{Origin, Sink};
use mem::block::Shared;
use stats::{DropReason, ShardCounters};

use super::Settings;
use super::network::{Traffic, compare, dropsonde_turn};
use super::report::Row;

const BARE: &str = "recvmmsg of 64 into a fixed buffer, same socket and senders";

/// One row per event type, and one of the gorouter's mix.
pub fn run(settings: &Settings) -> Result<Vec<Row>> {
    let settings = Settings { shards: 1, ..*settings };
    let kinds = [
        ("ValueMetric", vec![value()]),
        ("CounterEvent", vec![counter()]),
        ("LogMessage of 1 KiB", vec![log(1_024)]),
        ("HttpStartStop", vec![request()]),
        ("gorouter's mix", vec![request(), value(), value(), value(), request(), log(600), counter()]),
    ];
    kinds
        .into_iter()
        .map(|(name, messages)| {
            let traffic = Traffic { name, messages };
            let turn = |ours: bool| dropsonde_turn(&settings, &traffic, Batches::new, ours);
            compare(&settings, "loggregator", name.to_owned(), &traffic, BARE, turn)
        })
        .collect()
}

/// Encodes, and lets go of the batches.
struct Batches {
    builder: BatchBuilder,
    identity: Identity,
}

impl Batches {
    fn new() -> Self {
        let identity = Identity {
            deployment: "cf".to_owned(),
            job: "router".to_owned(),
            index: "0".to_owned(),
            ip: "10.0.0.1".to_owned(),
        };
        Self { builder: BatchBuilder::new(Limits::default()), identity }
    }
}

impl Sink for Batches {
    fn block(&mut self, _: &Shared) {}

    #[inline]
    fn message(&mut self, bytes: &[u8], origin: &Origin, counters: &mut ShardCounters) {
        match dropsonde::open(bytes) {
            Ok(envelope) => {
                write_v1(&envelope, &self.identity, &Options::default(), self.builder.buffer());
                drop(black_box(self.builder.commit(origin.received)));
            }
            Err(_) => counters.drop(DropReason::NotHep, 1),
        }
    }

    fn batch_end(&mut self, now: i64, _: &mut ShardCounters) {
        drop(black_box(self.builder.due(now)));
    }

    fn release(&mut self, _: &mut ShardCounters) {}
}

/// An envelope as the gorouter sends it: the event type, and its body in the field of that number.
fn envelope(event_type: u64, field: u32, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_bytes(&mut out, 1, b"gorouter");
    put_int(&mut out, 2, event_type);
    put_int(&mut out, 6, 1_700_000_000_000_000_000);
    put_bytes(&mut out, field, body);
    for (field, text) in [(13, "cf"), (14, "router"), (15, "0"), (16, "10.0.0.1")] {
        put_bytes(&mut out, field, text.as_bytes());
    }
    out
}

fn value() -> Vec<u8> {
    let mut body = Vec::new();
    put_bytes(&mut body, 1, b"latency");
    put_double(&mut body, 2, 12.25);
    put_bytes(&mut body, 3, b"ms");
    envelope(6, 9, &body)
}

fn counter() -> Vec<u8> {
    let mut body = Vec::new();
    put_bytes(&mut body, 1, b"requests");
    put_int(&mut body, 2, 1);
    envelope(7, 10, &body)
}

fn log(bytes: usize) -> Vec<u8> {
    let mut body = Vec::new();
    put_bytes(&mut body, 1, &vec![b'x'; bytes]);
    put_int(&mut body, 2, 1);
    put_int(&mut body, 3, 1_700_000_000_000_000_000);
    put_bytes(&mut body, 4, b"8f2b6c1e-6a5e-4f0c-9d55-0a8d3b1f6c11");
    put_bytes(&mut body, 5, b"APP/PROC/WEB");
    put_bytes(&mut body, 6, b"0");
    envelope(5, 8, &body)
}

fn request() -> Vec<u8> {
    let mut id = Vec::new();
    put_int(&mut id, 1, 0x1234_5678_9abc);
    put_int(&mut id, 2, 0xfedc_ba98_7654);
    let mut body = Vec::new();
    put_int(&mut body, 1, 1_700_000_000_000_000_000);
    put_int(&mut body, 2, 1_700_000_000_012_000_000);
    put_bytes(&mut body, 3, &id);
    put_int(&mut body, 4, 2);
    put_int(&mut body, 5, 1);
    for (field, text) in
        [(6, "http://shop.example.com/cart?item=1"), (7, "192.0.2.7:41234"), (8, "Mozilla/5.0 (X11; Linux)")]
    {
        put_bytes(&mut body, field, text.as_bytes());
    }
    put_int(&mut body, 9, 200);
    put_int(&mut body, 10, 512);
    put_bytes(&mut body, 12, &id);
    put_bytes(&mut body, 14, b"instance");
    envelope(4, 7, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_datagram_of_the_benchmark_is_an_envelope() {
        for bytes in [value(), counter(), log(60_000), request()] {
            assert!(dropsonde::open(&bytes).is_ok(), "{bytes:?}");
        }
    }
}
