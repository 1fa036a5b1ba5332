//! What must hold for any input: called by the fuzz targets and by stable tests over the same
//! corpus. A function here panics when an invariant is broken.

use std::collections::BTreeSet;

use crate::{
    dropsonde,
    hep::{self, Frame, Hep},
    loggregator::{self, Envelope, Identity, Message, Notices, Options, Value, counters, otlp, syslog},
    protobuf::Reader,
};

/// Any bytes as a HEP packet, and its payload as SIP.
pub fn hep(bytes: &[u8]) {
    let Ok(packet) = hep::open(bytes) else { return };
    assert!(packet.consumed <= bytes.len(), "a packet is longer than its bytes");
    assert!(matches!(packet.version, 1..=3));
    assert_eq!(packet.others().next().is_some(), packet.has_others);
    if packet.version == 3 {
        assert_eq!(hep::frame_len(bytes), Frame::Len(packet.consumed));
        same_without_trailing_bytes(bytes, &packet);
        round_trip(&packet);
    }
    if let Some(time) = packet.time {
        let (ns, _) = time.normalise(1_700_000_000_000_000_000);
        assert!((946_684_800_000_000_000..=1_700_086_400_000_000_000).contains(&ns));
    }
    if let Some(payload) = packet.payload {
        if payload.compressed {
            let mut out = Vec::new();
            let result = hep::inflate(payload.bytes, &mut out, 4096);
            assert!(out.len() <= 4096 && (result.is_ok() || out.is_empty()));
        }
        decode::fuzz::sip(payload.bytes);
    }
}

fn same_without_trailing_bytes(bytes: &[u8], packet: &Hep<'_>) {
    let exact = bytes.get(..packet.consumed).map(hep::open);
    assert!(exact.is_some_and(|exact| exact.is_ok_and(|exact| same_fields(&exact, packet))));
}

/// Encoding what was opened and opening it again gives the same fields.
fn round_trip(packet: &Hep<'_>) {
    // Eight-byte MAC addresses may make a packet of six-byte ones too large.
    let Ok(again) = hep::encode(packet) else { return };
    let again = hep::open(&again);
    assert!(again.is_ok_and(|again| same_fields(&again, packet)));
}

/// Whether two packets say the same, but for what their encoding decides.
pub fn same_fields(a: &Hep<'_>, b: &Hep<'_>) -> bool {
    let fields = |hep: &Hep<'_>| {
        let hep = Hep {
            has_others: false,
            notices: hep::Notices::NONE,
            consumed: 0,
            chunks: &[],
            version: 3,
            ..hep.clone()
        };
        format!("{hep:?}")
    };
    fields(a) == fields(b)
}

/// Any bytes as a stream that arrives in pieces. The first byte picks the size of the pieces.
///
/// However the stream is cut, the same packets come out of it, and what is not HEP is refused no
/// later than with its sixth byte.
pub fn tcp_framing(bytes: &[u8]) {
    let Some((step, stream)) = bytes.split_first() else { return };
    let whole = packets(stream, stream.len().max(1));
    let pieces = packets(stream, usize::from(*step).max(1));
    assert_eq!(whole, pieces, "the cut of a stream changes its packets");
}

/// The packets of a stream that arrives in pieces of `step` bytes: where each one ends, and whether
/// the stream was refused.
fn packets(stream: &[u8], step: usize) -> (Vec<usize>, bool) {
    let (mut ends, mut start, mut arrived) = (Vec::new(), 0usize, 0usize);
    loop {
        let waiting = stream.get(start..arrived).unwrap_or(&[]);
        match hep::frame_len(waiting) {
            Frame::Bad => return (ends, true),
            Frame::Len(len) if len <= waiting.len() => {
                assert!(len >= 6, "a packet without a header");
                let _ = waiting.get(..len).map(hep::open);
                start = start.saturating_add(len);
                ends.push(start);
                continue;
            }
            Frame::Len(_) => {}
            Frame::NeedMore => assert!(waiting.len() < 6, "six bytes are enough"),
        }
        if arrived >= stream.len() {
            return (ends, false);
        }
        arrived = arrived.saturating_add(step).min(stream.len());
    }
}

/// Any bytes as a dropsonde envelope: what is taken becomes one envelope of version 2 that every
/// receiver takes, with each tag once, and that one becomes envelopes of version 1 again.
pub fn dropsonde(bytes: &[u8]) {
    let Ok(v1) = dropsonde::open(bytes) else { return };
    let identity = Identity { job: "a job".into(), ..Identity::default() };
    for fix_instance_id in [false, true] {
        let mut out = b"before".to_vec();
        let written = loggregator::write_v1(&v1, &identity, &Options { fix_instance_id }, &mut out);
        let batch = out.strip_prefix(b"before").unwrap_or_default();
        assert_eq!(written.bytes, batch.len());
        assert!(fix_instance_id || !written.notices.contains(Notices::INSTANCE_ID_FIXED));
        let mut entries = loggregator::entries(batch);
        let (first, second) = (entries.next(), entries.next());
        assert!(second.is_none(), "one envelope becomes several");
        let v2 = first.and_then(|entry| Envelope::parse(entry.ok()?).ok());
        assert!(v2.is_some(), "the envelope cannot be read");
        let Some(v2) = v2 else { return };
        converted(&v1, &v2);
        let reencoded = loggregator::to_v1(&v2, &mut Vec::new(), |again| {
            let again = dropsonde::open(again).map(|again| again.event_type());
            assert_eq!(again, Ok(v1.event_type()));
        });
        assert_eq!(reencoded, 1);
        any_envelope(&v2);
    }
}

fn converted(v1: &dropsonde::Envelope<'_>, v2: &Envelope<'_>) {
    let keys: BTreeSet<&[u8]> = v2.tags().map(|(key, _)| key).collect();
    assert_eq!(keys.len(), v2.tags().count(), "a tag comes twice");
    for key in ["origin", "deployment", "job", "index", "ip", "__v1_type"] {
        assert!(keys.contains(key.as_bytes()), "a tag is missing");
    }
    assert_eq!(v2.tag(b"__v1_type").and_then(dropsonde::event_type), Some(v1.event_type()));
    assert_eq!(v2.timestamp, v1.timestamp.unwrap_or(0));
    assert!(!matches!(v2.message, Message::None | Message::Event(_)));
    assert_eq!(v2.deprecated_tags().count(), 0);
}

/// Any bytes as an `EnvelopeBatch`: each envelope that can be read is handed on, and written in every
/// form that there is.
pub fn loggregator(bytes: &[u8]) {
    let mut entries = loggregator::entries(bytes);
    for envelope in entries.by_ref().filter_map(|entry| Envelope::parse(entry.ok()?).ok()) {
        any_envelope(&envelope);
    }
    assert!(entries.next().is_none());
}

fn any_envelope(envelope: &Envelope<'_>) {
    let agent = [("agent".to_owned(), "tag".to_owned())];
    let mut totals = counters::Totals::new(4, 0);
    let mut out = Vec::new();
    let received = loggregator::write_received(
        envelope,
        &agent,
        |envelope| match &envelope.message {
            Message::Counter(counter) => Some(totals.total(envelope, counter)),
            _ => None,
        },
        &mut out,
    );
    assert_eq!(received.bytes, out.len());
    let handed = loggregator::entries(&out).next().and_then(|entry| Envelope::parse(entry.ok()?).ok());
    assert!(handed.is_some(), "what is handed on cannot be read");
    let Some(handed) = handed else { return };
    assert!(handed.tag(b"agent").is_some() && handed.deprecated_tags().count() == 0);
    assert_eq!(handed.timestamp, envelope.timestamp);
    if let Message::Counter(counter) = &handed.message {
        assert!(counter.total != 0 || counter.delta == 0);
    }
    for (key, value) in envelope.deprecated_tags() {
        assert!(value == Value::None || handed.tag(key).is_some());
    }

    let options = syslog::Options::default();
    syslog::render(envelope, &options, &mut Vec::new(), |message| {
        assert!(message.starts_with(b"<1") && message.ends_with(b"\n"));
    });
    let mut out = Vec::new();
    otlp::put_metrics(envelope, &mut out);
    otlp::put_log(envelope, 1, &mut out);
    otlp::put_span(envelope, &mut out);
    let mut request = Vec::new();
    otlp::request(&out, &mut request);
    let mut fields = Reader::new(&request);
    while !fields.rest().is_empty() {
        let read = fields.tag().and_then(|tag| fields.skip(tag.unwrap_or(0)));
        assert!(read.is_ok(), "a field of OTLP cannot be read");
    }
    loggregator::to_v1(envelope, &mut Vec::new(), |v1| assert!(dropsonde::open(v1).is_ok()));
}
