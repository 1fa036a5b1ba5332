//! Envelopes in the form of destinations that speak something else.

use std::sync::Arc;

use ::loggregator::{otlp, syslog};
use envelope::loggregator::otlp::{Put, put_log, put_metrics, put_span, request};
use envelope::loggregator::{Envelope, entries, syslog as rfc5424};

/// One message of RFC 5424 or more for each envelope.
pub fn syslog() -> syslog::Render {
    let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let options = rfc5424::Options { hostname: hostname.trim().to_owned(), without_tags: false };
    Arc::new(move |bytes, messages| {
        let mut scratch = Vec::new();
        Envelope::parse(bytes).is_ok_and(|envelope| {
            rfc5424::render(&envelope, &options, &mut scratch, |message| messages.push(message)) > 0
        })
    })
}

/// A request for each signal that a batch has something for.
pub fn otlp() -> otlp::Render {
    Arc::new(|message, exports| {
        let observed = u64::try_from(crate::pipeline::now().0).unwrap_or(0);
        let (mut metrics, mut traces, mut logs) = (Vec::new(), Vec::new(), Vec::new());
        for bytes in entries(message).flatten() {
            let Ok(envelope) = Envelope::parse(bytes) else { continue };
            let written = |put: Put| u32::from(put != Put::Nothing);
            exports.metrics.envelopes += u32::from(put_metrics(&envelope, &mut metrics) > 0);
            exports.traces.envelopes += written(put_span(&envelope, &mut traces));
            exports.logs.envelopes += written(put_log(&envelope, observed, &mut logs));
        }
        for (entries, export) in
            [(metrics, &mut exports.metrics), (traces, &mut exports.traces), (logs, &mut exports.logs)]
        {
            if !entries.is_empty() {
                request(&entries, &mut export.request);
            }
        }
    })
}
