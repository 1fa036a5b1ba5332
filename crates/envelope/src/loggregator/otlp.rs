//! Envelopes as OpenTelemetry protocol (OTLP), as the forwarder-agent hands them to a collector.
//!
//! Metrics, log records and spans are gathered as entries, one signal in one `Vec`, and
//! [`request`] makes of the entries the request of their signal. All go without a resource. Fields come
//! in the order in which the Go library has them, so that bytes can be compared.
//!
//! <https://github.com/open-telemetry/opentelemetry-proto>

use super::{
    distinct::Distinct,
    view::{Counter, Envelope, Event, Log, Message},
};
use crate::protobuf::{FIXED64, LEN, Text, put_bytes, put_double, put_int, put_tag, put_varint, with_len};

/// Field of an entry in its scope: metrics, log records and spans have the same number.
const ENTRY: u32 = 2;

/// Writes the metrics of an envelope as entries: one for a counter, one for each value of a gauge,
/// none for another envelope. Returns how many.
///
/// A counter is a cumulative sum, and monotonic: it grows, or begins anew. Of its total the low 63 bits
/// count.
pub fn put_metrics(envelope: &Envelope<'_>, out: &mut Vec<u8>) -> usize {
    match &envelope.message {
        Message::Counter(counter) => {
            put_sum(envelope, counter, out);
            1
        }
        Message::Gauge(gauge) => {
            let mut count = 0usize;
            for (name, (unit, value)) in Distinct::new(gauge.by_name()) {
                with_len(out, ENTRY, about(envelope), |out| {
                    put_some(out, 1, name);
                    put_some(out, 3, unit);
                    with_len(out, 5, about(envelope), |out| {
                        with_len(out, 1, about(envelope), |out| {
                            put_fixed(out, 3, envelope.timestamp.cast_unsigned());
                            put_attributes(envelope, 7, out);
                            put_double(out, 4, value);
                        });
                    });
                });
                count = count.saturating_add(1);
            }
            count
        }
        Message::None | Message::Log(_) | Message::Timer(_) | Message::Event(_) => 0,
    }
}

fn put_sum(envelope: &Envelope<'_>, counter: &Counter<'_>, out: &mut Vec<u8>) {
    const CUMULATIVE: u64 = 2;
    with_len(out, ENTRY, about(envelope), |out| {
        put_some(out, 1, counter.name);
        with_len(out, 7, about(envelope), |out| {
            with_len(out, 1, about(envelope), |out| {
                put_fixed(out, 3, envelope.timestamp.cast_unsigned());
                put_attributes(envelope, 7, out);
                put_tag(out, 6, FIXED64);
                out.extend_from_slice(&(counter.total & i64::MAX.cast_unsigned()).to_le_bytes());
            });
            put_int(out, 2, CUMULATIVE);
            put_int(out, 3, 1);
        });
    });
}

/// What became of an envelope that was to be a log record or a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It was written.
    Written,
    /// It was written; its text was not UTF-8 and was repaired. The reference loses the batch then.
    Repaired,
    /// It is of another kind, a timer of the client's side, or one without the ids of its trace.
    Nothing,
}

/// Writes the log record of a log or an event as an entry. `observed_ns` is the time of this process.
pub fn put_log(envelope: &Envelope<'_>, observed_ns: u64, out: &mut Vec<u8>) -> Put {
    let put = |out: &mut Vec<u8>, severity: u64, text: &[u8], body: &dyn Fn(&mut Vec<u8>)| {
        with_len(out, ENTRY, about(envelope), |out| {
            put_fixed(out, 1, envelope.timestamp.cast_unsigned());
            put_int(out, 2, severity);
            put_some(out, 3, text);
            with_len(out, 5, envelope.bytes().len(), |out| body(out));
            put_attributes(envelope, 6, out);
            put_fixed(out, 11, observed_ns);
        });
    };
    match &envelope.message {
        Message::Log(Log { payload, kind }) => {
            let (severity, text): (u64, &[u8]) = match kind {
                0 => (9, b"SEVERITY_NUMBER_INFO"),
                1 => (17, b"SEVERITY_NUMBER_ERROR"),
                _ => (0, b"SEVERITY_NUMBER_UNSPECIFIED"),
            };
            let line = Text::new(payload);
            put(out, severity, text, &|out| {
                put_tag(out, 1, LEN);
                put_varint(out, line.len() as u64);
                line.put(out);
            });
            if line.is_valid() { Put::Written } else { Put::Repaired }
        }
        Message::Event(Event { title, body }) => {
            put(out, 0, &[], &|out| {
                with_len(out, 6, title.len().saturating_add(body.len()).saturating_add(40), |out| {
                    put_attribute(out, 1, b"title", title);
                    put_attribute(out, 1, b"body", body);
                });
            });
            Put::Written
        }
        Message::None | Message::Counter(_) | Message::Gauge(_) | Message::Timer(_) => Put::Nothing,
    }
}

/// Writes the span of a timer as an entry: where it has the tags `trace_id` and `span_id`, of 16 and 8
/// bytes in hexadecimal digits, and its tag `peer_type` is not `Client`.
///
/// Its name is the path of the tag `uri`, else that of the timer.
pub fn put_span(envelope: &Envelope<'_>, out: &mut Vec<u8>) -> Put {
    let Message::Timer(timer) = &envelope.message else { return Put::Nothing };
    let peer_type = envelope.tag(b"peer_type");
    let ids = (envelope.tag(b"trace_id").and_then(hex::<16>), envelope.tag(b"span_id").and_then(hex::<8>));
    let (Some(trace_id), Some(span_id)) = ids else { return Put::Nothing };
    if peer_type == Some(b"Client") {
        return Put::Nothing;
    }
    let path = envelope.tag(b"uri").and_then(path);
    let name = Text::new(path.as_deref().unwrap_or(timer.name));
    let kind = if peer_type == Some(b"Server") { 2 } else { 1 };
    with_len(out, ENTRY, about(envelope), |out| {
        put_bytes(out, 1, &trace_id);
        put_bytes(out, 2, &span_id);
        if !name.is_empty() {
            put_tag(out, 5, LEN);
            put_varint(out, name.len() as u64);
            name.put(out);
        }
        put_int(out, 6, kind);
        put_fixed(out, 7, timer.start.cast_unsigned());
        put_fixed(out, 8, timer.stop.cast_unsigned());
        put_attributes(envelope, 9, out);
        // A status that says nothing, as the reference has it.
        put_bytes(out, 15, &[]);
    });
    if name.is_valid() { Put::Written } else { Put::Repaired }
}

/// Makes of the entries of one signal the request of that signal: `ExportMetricsServiceRequest`,
/// `ExportLogsServiceRequest` or `ExportTraceServiceRequest`, which differ in their entries alone.
pub fn request(entries: &[u8], out: &mut Vec<u8>) {
    with_len(out, 1, entries.len().saturating_add(8), |out| {
        with_len(out, 2, entries.len(), |out| out.extend_from_slice(entries));
    });
}

/// About how long an entry is: so that its length mostly has the room that is kept for it.
fn about(envelope: &Envelope<'_>) -> usize {
    envelope.bytes().len().saturating_mul(5) / 4
}

fn put_some(out: &mut Vec<u8>, number: u32, text: &[u8]) {
    if !text.is_empty() {
        put_bytes(out, number, text);
    }
}

fn put_fixed(out: &mut Vec<u8>, number: u32, value: u64) {
    if value != 0 {
        put_tag(out, number, FIXED64);
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// The ids, then the tags that are neither ids nor said otherwise.
fn put_attributes(envelope: &Envelope<'_>, number: u32, out: &mut Vec<u8>) {
    put_attribute(out, number, b"instance_id", envelope.instance_id);
    put_attribute(out, number, b"source_id", envelope.source_id);
    for (key, value) in Distinct::new(envelope.tags()) {
        if !matches!(key, b"instance_id" | b"source_id" | b"__v1_type" | b"span_id" | b"trace_id") {
            put_attribute(out, number, key, value);
        }
    }
}

/// A `KeyValue` with a text.
fn put_attribute(out: &mut Vec<u8>, number: u32, key: &[u8], value: &[u8]) {
    with_len(out, number, key.len().saturating_add(value.len()).saturating_add(6), |out| {
        put_some(out, 1, key);
        with_len(out, 2, value.len().saturating_add(2), |out| put_bytes(out, 1, value));
    });
}

fn nibble(digit: u8) -> Option<u8> {
    u8::try_from(char::from(digit).to_digit(16)?).ok()
}

fn hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    if text.len() != N.wrapping_mul(2) {
        return None;
    }
    let mut bytes = [0; N];
    for (place, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = *pair else { return None };
        *place = nibble(high)? << 4 | nibble(low)?;
    }
    Some(bytes)
}

/// The path of a URI with its escapes resolved; `None` where an escape is none, or a byte that may not
/// stand in a URI.
fn path(uri: &[u8]) -> Option<Vec<u8>> {
    if uri.iter().any(u8::is_ascii_control) {
        return None;
    }
    const HOST: &[u8] = b"-_.~!$&'()*+,;=:[]<>\"@%";
    let until = |bytes: &mut &[u8], end: u8| {
        if let Some(at) = bytes.iter().position(|byte| *byte == end) {
            *bytes = bytes.get(..at).unwrap_or_default();
        }
    };
    let mut rest = uri;
    until(&mut rest, b'#');
    until(&mut rest, b'?');
    let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let scheme = rest.iter().take_while(|byte| is_scheme(byte)).count();
    if scheme > 0 && rest.get(scheme) == Some(&b':') && rest.first().is_some_and(u8::is_ascii_alphabetic) {
        rest = rest.get(scheme.saturating_add(1)..)?;
        if rest.first() != Some(&b'/') {
            // What follows the scheme is no path.
            return Some(Vec::new());
        }
    } else if rest.first() != Some(&b'/') && rest.split(|byte| *byte == b'/').next()?.contains(&b':') {
        return None;
    }
    if let Some(after) = rest.strip_prefix(b"//") {
        let (host, after) =
            after.split_at(after.iter().position(|byte| *byte == b'/').unwrap_or(after.len()));
        let allowed = |byte: &u8| !byte.is_ascii() || byte.is_ascii_alphanumeric() || HOST.contains(byte);
        if !host.iter().all(allowed) {
            return None;
        }
        rest = after;
    }
    let mut path = Vec::with_capacity(rest.len());
    while let [byte, after @ ..] = rest {
        rest = after;
        path.push(if *byte == b'%' {
            let [high, low, after @ ..] = rest else { return None };
            rest = after;
            nibble(*high)? << 4 | nibble(*low)?
        } else {
            *byte
        });
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_uris() {
        let cases: [(&str, Option<&str>); 14] = [
            ("http://shop.example.com/cart?a=b#c", Some("/cart")),
            ("http://shop.example.com", Some("")),
            ("http://shop.example.com?x=/y", Some("")),
            ("/just/a/path", Some("/just/a/path")),
            ("relative/path", Some("relative/path")),
            ("//host/p", Some("/p")),
            ("mailto:someone", Some("")),
            ("http://h/a%20b%2Fc", Some("/a b/c")),
            ("http://h/a%2", None),
            ("http://h/a%zz", None),
            ("http://a b/c", None),
            ("1:2/3", None),
            ("*", Some("*")),
            ("", Some("")),
        ];
        for (uri, want) in cases {
            assert_eq!(path(uri.as_bytes()).as_deref(), want.map(str::as_bytes), "{uri}");
        }
    }
}
