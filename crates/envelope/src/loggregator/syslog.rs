//! Envelopes as syslog messages of RFC 5424, as the syslog-agent writes them.
//!
//! Where that agent refuses to write a message, because a name or a tag key has a character that does
//! not belong there, the character becomes `-` here. <https://www.rfc-editor.org/rfc/rfc5424>

use super::{
    decimal::Decimal,
    distinct::{Distinct, sorted},
    time::put_time,
    view::{Envelope, Message},
};

/// How messages are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Host name of messages whose envelope has no tag `organization_name`, `space_name` or `app_name`.
    pub hostname: String,
    /// Leaves the tags away, as the drain parameter `disable-metadata` has it.
    pub without_tags: bool,
}

/// Gives `each` the messages that an envelope becomes: one for each value of a gauge, none for an
/// envelope without a message, else one. Returns how many.
///
/// `scratch` is overwritten; memory is allocated for the tags.
pub fn render(
    envelope: &Envelope<'_>,
    options: &Options,
    scratch: &mut Vec<u8>,
    mut each: impl FnMut(&[u8]),
) -> usize {
    let tags = sorted(envelope.tags());
    let mut count = 0usize;
    let mut message =
        |priority: &[u8], procid: &dyn Fn(&mut Vec<u8>), data: &dyn Fn(&mut Vec<u8>), text: &[u8]| {
            scratch.clear();
            header(envelope, options, &tags, priority, procid, scratch);
            let begin = scratch.len();
            data(scratch);
            if !options.without_tags && !tags.is_empty() {
                put_element(scratch, b"tags", &tags);
            }
            if scratch.len() == begin {
                scratch.push(b'-');
            }
            scratch.push(b' ');
            scratch.extend(text.iter().filter(|byte| **byte != 0));
            if scratch.last() != Some(&b'\n') {
                scratch.push(b'\n');
            }
            each(scratch);
            count = count.saturating_add(1);
        };
    let instance = |out: &mut Vec<u8>| put_procid(out, &[], envelope.instance_id, true);
    let mut metric = |id: &[u8], parameters: &[(&[u8], &[u8])]| {
        message(b"14", &instance, &|out| put_element(out, id, parameters), &[]);
    };
    match &envelope.message {
        Message::None => {}
        Message::Log(log) => {
            let source_type = value(&tags, b"source_type").unwrap_or_default();
            let priority: &[u8] = if log.kind == 1 { b"11" } else { b"14" };
            let procid = |out: &mut Vec<u8>| put_procid(out, source_type, envelope.instance_id, false);
            message(priority, &procid, &|_| {}, log.payload);
        }
        Message::Counter(counter) => {
            let (total, delta) = (Decimal::unsigned(counter.total), Decimal::unsigned(counter.delta));
            let parameters =
                [(&b"name"[..], counter.name), (b"total", total.as_bytes()), (b"delta", delta.as_bytes())];
            metric(b"counter", &parameters);
        }
        Message::Gauge(gauge) => {
            for (name, (unit, value)) in Distinct::new(gauge.by_name()) {
                let value = shortest(value);
                metric(b"gauge", &[(b"name", name), (b"value", value.as_bytes()), (b"unit", unit)]);
            }
        }
        Message::Timer(timer) => {
            let (start, stop) = (Decimal::new(timer.start), Decimal::new(timer.stop));
            let parameters =
                [(&b"name"[..], timer.name), (b"start", start.as_bytes()), (b"stop", stop.as_bytes())];
            metric(b"timer", &parameters);
        }
        Message::Event(event) => metric(b"event", &[(b"title", event.title), (b"body", event.body)]),
    }
    count
}

/// Writes a message with its length before it, as TCP and TLS carry it (RFC 6587 §3.4.1).
pub fn put_octet_counted(out: &mut Vec<u8>, message: &[u8]) {
    out.extend_from_slice(Decimal::unsigned(message.len() as u64).as_bytes());
    out.push(b' ');
    out.extend_from_slice(message);
}

type Tags<'a> = [(&'a [u8], &'a [u8])];

fn value<'a>(tags: &Tags<'a>, key: &[u8]) -> Option<&'a [u8]> {
    tags.iter().find(|(one, _)| *one == key).map(|(_, value)| *value)
}

/// All before the structured data.
fn header(
    envelope: &Envelope<'_>,
    options: &Options,
    tags: &Tags<'_>,
    priority: &[u8],
    procid: &dyn Fn(&mut Vec<u8>),
    out: &mut Vec<u8>,
) {
    out.push(b'<');
    out.extend_from_slice(priority);
    out.extend_from_slice(b">1 ");
    put_time(out, envelope.timestamp);
    out.push(b' ');
    let names = [&b"organization_name"[..], b"space_name", b"app_name"].map(|key| value(tags, key));
    if names.iter().any(Option::is_some) {
        for (at, name) in names.into_iter().enumerate() {
            if at > 0 {
                out.push(b'.');
            }
            put_label(out, name.unwrap_or_default());
        }
    } else {
        put_name(out, options.hostname.as_bytes(), 255);
    }
    out.push(b' ');
    put_name(out, envelope.source_id, 48);
    out.push(b' ');
    procid(out);
    out.extend_from_slice(b" - ");
}

/// Up to `max` characters, those that may not stand there as `-`, and `-` for none at all.
fn put_name(out: &mut Vec<u8>, name: &[u8], max: usize) {
    if name.is_empty() {
        out.push(b'-');
    }
    out.extend(name.iter().take(max).map(|byte| if byte.is_ascii_graphic() { *byte } else { b'-' }));
}

/// A name as a label of a host name: white space becomes `-`, what else is no letter, digit or `-` goes,
/// as do dashes at the end; cut at 63 characters.
fn put_label(out: &mut Vec<u8>, name: &[u8]) {
    let is_space = |byte: u8| matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' ');
    let before = core::iter::once(0).chain(name.iter().copied());
    let kept = name.iter().copied().zip(before).filter_map(|(byte, before)| match byte {
        _ if is_space(byte) => (!is_space(before)).then_some(b'-'),
        _ => (byte == b'-' || byte.is_ascii_alphanumeric()).then_some(byte),
    });
    let label: Vec<u8> = kept.collect();
    let end = label.iter().rposition(|byte| *byte != b'-').map_or(0, |at| at.saturating_add(1));
    out.extend(label.iter().take(end.min(63)));
}

/// `[SOURCE-TYPE/INSTANCE]`, within 128 characters; a metric has the instance alone, brackets always.
fn put_procid(out: &mut Vec<u8>, source_type: &[u8], instance: &[u8], is_metric: bool) {
    const MAX: usize = 128;
    const MAX_INSTANCE: usize = 36;
    let upper = |bytes: &[u8], out: &mut Vec<u8>| put_name(out, &bytes.to_ascii_uppercase(), MAX);
    let cut = |bytes, len: usize| -> &[u8] { <[u8]>::get(bytes, ..len).unwrap_or(bytes) };
    out.push(b'[');
    if is_metric {
        if !instance.is_empty() {
            put_name(out, cut(instance, MAX - 2), MAX);
        }
    } else if instance.is_empty() {
        if !source_type.is_empty() {
            upper(cut(source_type, MAX - 2), out);
        }
    } else {
        let room = MAX - 3;
        let fits = source_type.len().saturating_add(instance.len()) <= room;
        let instance = if fits { instance } else { cut(instance, MAX_INSTANCE) };
        let source_type = cut(source_type, room.saturating_sub(instance.len()));
        if !source_type.is_empty() {
            upper(source_type, out);
        }
        out.push(b'/');
        put_name(out, instance, MAX);
    }
    out.push(b']');
}

/// An element of structured data, under the number of the Cloud Foundry Foundation.
fn put_element(out: &mut Vec<u8>, id: &[u8], parameters: &Tags<'_>) {
    out.push(b'[');
    out.extend_from_slice(id);
    out.extend_from_slice(b"@47450");
    for (name, value) in parameters {
        out.push(b' ');
        let allowed = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'=' | b']' | b'"');
        out.extend(name.iter().map(|byte| if allowed(*byte) { *byte } else { b'-' }));
        if name.is_empty() {
            out.push(b'-');
        }
        out.extend_from_slice(b"=\"");
        for byte in *value {
            if matches!(byte, b'\\' | b'"' | b']') {
                out.push(b'\\');
            }
            out.push(*byte);
        }
        out.push(b'"');
    }
    out.push(b']');
}

/// A number in as few digits as tell it from its neighbours, with an exponent below 1e-4 and from
/// 1e6 on, where it is the shorter form in the reference.
fn shortest(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(-4..6) | Err(_) => value.to_string(),
        Ok(exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loggregator::Encoder;

    fn rendered(fields: impl FnOnce(&mut Encoder<'_>)) -> Vec<String> {
        let mut bytes = Vec::new();
        Encoder::envelope(&mut bytes, fields);
        let options = Options { hostname: "test-hostname".into(), without_tags: false };
        let mut all = Vec::new();
        let envelope = Envelope::parse(&bytes).unwrap();
        let count = render(&envelope, &options, &mut Vec::new(), |message| {
            all.push(String::from_utf8(message.to_vec()).unwrap());
        });
        assert_eq!(count, all.len());
        all
    }

    fn base(out: &mut Encoder<'_>, instance: &str) {
        out.timestamp(12_345_000);
        out.source_id(b"test-app-id");
        out.instance_id(instance.as_bytes());
    }

    const TIME: &str = "1970-01-01T00:00:00.012345+00:00";

    #[test]
    fn logs() {
        for (kind, priority) in [(0, 14), (1, 11)] {
            let got = rendered(|out| {
                base(out, "2");
                out.log(b"just a\0 test", kind);
                out.tag(b"source_type", b"my task");
                out.tag(b"a key", b"quote \" bracket ] slash \\");
            });
            let want = format!(
                "<{priority}>1 {TIME} test-hostname test-app-id [MY-TASK/2] - \
                 [tags@47450 a-key=\"quote \\\" bracket \\] slash \\\\\" source_type=\"my task\"] just a test\n"
            );
            assert_eq!(got, [want]);
        }
        let got = rendered(|out| out.log(b"line\n", 0));
        assert_eq!(got, ["<14>1 1970-01-01T00:00:00+00:00 test-hostname - [] - - line\n"]);
    }

    #[test]
    fn metrics() {
        let got = rendered(|out| {
            base(out, "1");
            out.counter(b"some-counter", 1, 99);
        });
        assert_eq!(
            got,
            [format!(
                "<14>1 {TIME} test-hostname test-app-id [1] - \
                 [counter@47450 name=\"some-counter\" total=\"99\" delta=\"1\"] \n"
            )]
        );
        let got = rendered(|out| {
            base(out, "");
            out.gauge(
                [(&b"cpu"[..], &b"percentage"[..], 0.23), (b"disk", b"bytes", 268_435_456.0)].into_iter(),
            );
            out.tag(b"t", b"v");
        });
        let gauge =
            |rest: &str| format!("<14>1 {TIME} test-hostname test-app-id [] - {rest}[tags@47450 t=\"v\"] \n");
        let want = [
            "[gauge@47450 name=\"cpu\" value=\"0.23\" unit=\"percentage\"]",
            "[gauge@47450 name=\"disk\" value=\"2.68435456e+08\" unit=\"bytes\"]",
        ];
        assert_eq!(got, want.map(gauge));
        let got = rendered(|out| out.timer(b"http", 10, 20));
        assert!(got[0].ends_with("[] - [timer@47450 name=\"http\" start=\"10\" stop=\"20\"] \n"), "{got:?}");
        let got = rendered(|out| out.event(b"a title", b"a body"));
        assert!(got[0].ends_with("[] - [event@47450 title=\"a title\" body=\"a body\"] \n"), "{got:?}");
        assert!(rendered(|_| {}).is_empty());
    }

    #[test]
    fn names_of_hosts_and_their_lengths() {
        let got = rendered(|out| {
            out.source_id(&[b'a'; 60]);
            out.log(b"", 0);
            out.tag(b"organization_name", b"my  org_(1) --");
            out.tag(b"app_name", &[b'x'; 70]);
        });
        let host = format!("my-org1..{}", "x".repeat(63));
        assert!(got[0].contains(&format!("+00:00 {host} {} [] - [tags", "a".repeat(48))), "{got:?}");
        let procid = |source_type: usize, instance: usize| {
            let mut out = Vec::new();
            put_procid(&mut out, &vec![b't'; source_type], &vec![b'i'; instance], false);
            let inner = std::str::from_utf8(&out).unwrap().trim_matches(['[', ']']).to_owned();
            let (source_type, instance) = inner.split_once('/').unwrap_or((&inner, ""));
            (source_type.len(), instance.len(), out.len())
        };
        assert_eq!(procid(200, 0), (126, 0, 128));
        assert_eq!(procid(20, 105), (20, 105, 128));
        assert_eq!(procid(20, 106), (20, 36, 59));
        assert_eq!(procid(200, 200), (89, 36, 128));
    }

    #[test]
    fn numbers_are_written_as_the_reference_writes_them() {
        let cases: [(f64, &str); 12] = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1234.0, "1234"),
            (999_999.0, "999999"),
            (1e6, "1e+06"),
            (1_234_567.5, "1.2345675e+06"),
            (0.0001, "0.0001"),
            (0.00001234, "1.234e-05"),
            (1e100, "1e+100"),
            (f64::INFINITY, "+Inf"),
            (f64::NAN, "NaN"),
            (-2.5, "-2.5"),
        ];
        for (value, want) in cases {
            assert_eq!(shortest(value), want);
        }
    }

    #[test]
    fn octets_are_counted() {
        let mut out = Vec::new();
        put_octet_counted(&mut out, b"<14>1 x\n");
        put_octet_counted(&mut out, b"");
        assert_eq!(out, b"8 <14>1 x\n0 ");
    }
}
