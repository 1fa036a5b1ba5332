//! Trace contexts that requests carry: W3C `traceparent`, and B3 in one header or in several.
//!
//! * In: header values, as they are on the wire.
//! * Out: `trace_id` and `span_id` of a message, in lower case and in full length.
//! * Owned: nothing. Bounded by: the two ids, 48 bytes.
//! * Lost: a context that breaks its format; nothing is made up in its place.
//!
//! Specifications: <https://www.w3.org/TR/trace-context/> §3.2, <https://github.com/openzipkin/b3-propagation>.

use crate::{Message, Name};

/// The headers of one message that can carry a trace context.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Carrier<'a> {
    /// `traceparent`.
    pub traceparent: Option<&'a [u8]>,
    /// `b3`.
    pub b3: Option<&'a [u8]>,
    /// `X-B3-TraceId`.
    pub b3_trace: Option<&'a [u8]>,
    /// `X-B3-SpanId`.
    pub b3_span: Option<&'a [u8]>,
}

/// A trace id and the id of the sender's span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context {
    /// 32 lower-case hex digits, not all zero.
    pub trace: [u8; 32],
    /// 16 lower-case hex digits, not all zero.
    pub span: [u8; 16],
}

impl Carrier<'_> {
    /// The context; W3C's before B3's, where a message has both.
    pub(crate) fn context(&self) -> Option<Context> {
        let w3c = self.traceparent.and_then(traceparent);
        let single = || self.b3.and_then(b3);
        let several = || context(self.b3_trace?, self.b3_span?);
        w3c.or_else(single).or_else(several)
    }

    /// Adds the context to a message.
    pub(crate) fn write<'o>(&self, message: Message<'o>) -> Message<'o> {
        match self.context() {
            Some(context) => message.text(Name::TraceId, &context.trace).text(Name::SpanId, &context.span),
            None => message,
        }
    }
}

/// `version-traceid-parentid-flags`. Version `ff` is invalid; a later version may have more behind the flags.
fn traceparent(value: &[u8]) -> Option<Context> {
    let mut parts = value.trim_ascii().split(|byte| *byte == b'-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let hex = |part: &[u8]| part.len() == 2 && part.iter().all(u8::is_ascii_hexdigit);
    let more = parts.next().is_some();
    if !hex(version) || version.eq_ignore_ascii_case(b"ff") || (version == b"00" && more) || !hex(flags) {
        return None;
    }
    if trace.len() == 32 { context(trace, span) } else { None }
}

/// `traceid-spanid[-sampled[-parentspanid]]`; a lone sampling state has no ids.
fn b3(value: &[u8]) -> Option<Context> {
    let mut parts = value.trim_ascii().split(|byte| *byte == b'-');
    context(parts.next()?, parts.next()?)
}

/// A trace id of 16 or 32 digits and a span id of 16. A short trace id is the low half of a long one.
fn context(trace: &[u8], span: &[u8]) -> Option<Context> {
    let span = hex(span.trim_ascii())?;
    let trace = trace.trim_ascii();
    let trace = match trace.len() {
        16 => {
            let mut long = [b'0'; 32];
            long.get_mut(16..)?.copy_from_slice(&hex::<16>(trace)?);
            long
        }
        _ => hex(trace)?,
    };
    Some(Context { trace, span })
}

/// Exactly `N` hex digits that are not all zero, in lower case.
fn hex<const N: usize>(digits: &[u8]) -> Option<[u8; N]> {
    let mut id: [u8; N] = digits.try_into().ok()?;
    id.make_ascii_lowercase();
    let valid = id.iter().all(u8::is_ascii_hexdigit) && id.iter().any(|digit| *digit != b'0');
    valid.then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &[u8] = b"4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &[u8] = b"00f067aa0ba902b7";

    fn ids(context: Option<Context>) -> Option<(Vec<u8>, Vec<u8>)> {
        context.map(|context| (context.trace.to_vec(), context.span.to_vec()))
    }

    #[test]
    fn the_example_of_the_specification() {
        let value = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(ids(traceparent(value)), Some((TRACE.to_vec(), SPAN.to_vec())));
        let later = b"cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-holds";
        assert!(traceparent(later).is_some());
    }

    #[test]
    fn broken_contexts_are_none() {
        for value in [
            &b""[..],
            b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            b"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            b"00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            b"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            b"00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            b"00-4bf92f3577b34da6-00f067aa0ba902b7-01",
            b"00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
        ] {
            assert_eq!(traceparent(value), None, "{}", value.escape_ascii());
        }
        assert_eq!(b3(b"0"), None);
    }

    #[test]
    fn b3_in_one_header_and_in_several() {
        let one = b3(b"80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1-05e3ac9a4f6e3b90");
        let several = Carrier {
            b3_trace: Some(b"80F198EE56343BA864FE8B2A57D3EFF7"),
            b3_span: Some(b"E457B5A2E4D86BD1"),
            ..Carrier::default()
        };
        assert!(one.is_some());
        assert_eq!(one, several.context());
        let short = b3(b"a3ce929d0e0e4736-00f067aa0ba902b7").unwrap();
        assert_eq!(short.trace, *b"0000000000000000a3ce929d0e0e4736");
    }
}
