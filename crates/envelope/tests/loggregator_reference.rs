//! The conversion beside what the Go libraries make of the same datagrams.
//!
//! `tests/vectors/loggregator/reference.bin.gz` was written by `tests/loggregator/reference`. Another
//! file of that program, of more envelopes, is read where `LOGGREGATOR_REFERENCE` names it.

use std::collections::BTreeMap;

use envelope::{
    dropsonde::{self, Body},
    hep,
    loggregator::{self, Envelope, Identity, Message, Notices, Options, Value, otlp},
};

const REFERENCE: &[u8] = include_bytes!("../../../tests/vectors/loggregator/reference.bin.gz");

/// What an envelope says, as maps.
#[derive(Debug, PartialEq)]
struct Said<'a> {
    timestamp: i64,
    ids: [&'a [u8]; 2],
    message: String,
    metrics: BTreeMap<&'a [u8], (&'a [u8], u64)>,
    tags: BTreeMap<&'a [u8], &'a [u8]>,
    deprecated: usize,
}

fn said<'a>(envelope: &Envelope<'a>) -> Said<'a> {
    let (message, metrics) = match &envelope.message {
        Message::Gauge(gauge) => (
            "gauge".to_owned(),
            gauge.metrics().map(|(name, unit, value)| (name, (unit, value.to_bits()))).collect(),
        ),
        other => (format!("{other:?}"), BTreeMap::new()),
    };
    Said {
        timestamp: envelope.timestamp,
        ids: [envelope.source_id, envelope.instance_id],
        message,
        metrics,
        tags: envelope.tags().collect(),
        deprecated: envelope.deprecated_tags().filter(|(_, value)| *value != Value::None).count(),
    }
}

/// What an envelope of version 1 says. The processors differ in what they make of a number that is too
/// large for an integer, so a number at the end of the range counts as any such.
fn said_v1(v1: &[u8]) -> String {
    let mut envelope = dropsonde::open(v1).unwrap();
    if let Body::ContainerMetric(metric) = &mut envelope.body {
        for count in [
            &mut metric.memory_bytes,
            &mut metric.disk_bytes,
            &mut metric.memory_bytes_quota,
            &mut metric.disk_bytes_quota,
        ] {
            *count = (*count).min(1 << 63);
        }
    }
    let tags: BTreeMap<_, _> = envelope.tags().collect();
    assert_eq!(tags.len(), envelope.tags().count());
    let fields = [Some(envelope.origin), envelope.deployment, envelope.job, envelope.index, envelope.ip];
    let forwarded: Vec<_> = envelope.forwarded().collect();
    format!("{:?} {fields:?} {:?} {forwarded:?} {tags:?}", envelope.timestamp, envelope.body)
}

/// The entries of an envelope in OTLP.
fn entries(envelope: &Envelope<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let metrics = otlp::put_metrics(envelope, &mut out);
    let log = otlp::put_log(envelope, 1_700_000_000_000_000_001, &mut out);
    let span = otlp::put_span(envelope, &mut out);
    let signals = [metrics > 0, log != otlp::Put::Nothing, span != otlp::Put::Nothing];
    assert!(signals.iter().filter(|written| **written).count() <= 1);
    assert_eq!(out.is_empty(), signals == [false; 3]);
    out
}

struct File<'a>(&'a [u8]);

impl<'a> File<'a> {
    fn number(&mut self) -> u32 {
        let (number, rest) = self.0.split_first_chunk().unwrap();
        self.0 = rest;
        u32::from_le_bytes(*number)
    }

    fn bytes(&mut self) -> &'a [u8] {
        let len = self.number() as usize;
        let (bytes, rest) = self.0.split_at(len);
        self.0 = rest;
        bytes
    }
}

fn reference() -> Vec<u8> {
    match std::env::var_os("LOGGREGATOR_REFERENCE") {
        Some(path) => std::fs::read(path).unwrap(),
        None => {
            let mut out = Vec::new();
            hep::inflate(REFERENCE, &mut out, 64 << 20).unwrap();
            out
        }
    }
}

fn identity() -> Identity {
    Identity {
        deployment: "a deployment".into(),
        job: "a job".into(),
        index: "an index".into(),
        ip: "10.0.0.1".into(),
    }
}

#[test]
fn every_datagram_becomes_what_the_reference_makes_of_it() {
    let bytes = reference();
    let mut file = File(&bytes);
    let (mut seen, mut out) = ([0; 3], Vec::new());
    while !file.0.is_empty() {
        let verdict = file.number();
        seen[verdict as usize] += 1;
        let v1 = file.bytes();
        let opened = dropsonde::open(v1);
        assert_eq!(opened.is_ok(), verdict != 0, "{opened:?} {v1:x?}");
        let Ok(opened) = opened else { continue };

        let (v2, otlp, back) =
            (file.bytes(), file.bytes(), (0..file.number()).map(|_| file.bytes()).collect::<Vec<_>>());
        out.clear();
        let written = loggregator::write_v1(&opened, &identity(), &Options::default(), &mut out);
        assert_eq!(written.bytes, out.len());
        assert_eq!(written.notices.contains(Notices::REPAIRED), verdict == 2, "{v1:x?}");
        let ours: Vec<&[u8]> = loggregator::entries(&out).map(Result::unwrap).collect();
        assert_eq!(ours.len(), 1);
        let (ours, theirs) = (Envelope::parse(ours[0]).unwrap(), Envelope::parse(v2).unwrap());
        assert_eq!(said(&ours), said(&theirs), "{v1:x?}");
        assert_eq!(ours.tags().count(), theirs.tags().count(), "a tag comes twice");
        assert_eq!(ours.bytes().len(), theirs.bytes().len());

        assert_eq!(entries(&theirs), otlp, "{v2:x?}");

        let mut again = Vec::new();
        let count = loggregator::to_v1(&theirs, &mut Vec::new(), |v1| again.push(v1.to_vec()));
        assert_eq!(count, again.len());
        let name = |v1: &Vec<u8>| match dropsonde::open(v1).unwrap().body {
            Body::ValueMetric(metric) => metric.name.to_vec(),
            _ => Vec::new(),
        };
        again.sort_by_key(name);
        let sides = again.iter().map(|v1| v1.as_slice()).zip(back.iter().copied());
        assert!(sides.clone().all(|(ours, theirs)| said_v1(ours) == said_v1(theirs)), "{sides:#?}");
        assert_eq!(again.len(), back.len());
    }
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
}
