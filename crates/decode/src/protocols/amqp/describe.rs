//! The fields of rows.

use super::method::{Args, Method, code_text};
use super::properties::{Properties, trace};
use crate::{Message, Name};

const DELIVERIES: [(u16, u16); 2] = [(60, 60), (60, 71)];

/// What a method is about.
pub(super) fn describe<'o>(
    mut message: Message<'o>,
    method: &Method,
    args: &Args<'_>,
    channel: u16,
) -> Message<'o> {
    const DESTINATION: Name = Name::Attribute("messaging.destination.name");
    message = message
        .label(Name::Operation, method.name)
        .label(Name::Attribute("messaging.system"), "rabbitmq")
        .int(Name::Attribute("messaging.rabbitmq.channel"), i64::from(channel));
    let about: [&[u8]; 3] = match (args.queue, args.exchange, args.routing_key) {
        ([], [], []) if !args.host.is_empty() => [args.host, b"", b""],
        ([], [], []) => [args.consumer, b"", b""],
        ([], [], key) => [key, b"", b""],
        ([], exchange, []) => [exchange, b"", b""],
        // What is bound is the exchange alone.
        ([], exchange, _) if !args.source.is_empty() => [exchange, b"", b""],
        ([], exchange, key) => [exchange, b":", key],
        (queue, _, _) => [queue, b"", b""],
    };
    if about.iter().any(|part| !part.is_empty()) {
        message = message.parts(Name::Resource, &about);
        if args.host.is_empty() && (args.consumer.is_empty() || method.number() != (60, 30)) {
            message = message.parts(DESTINATION, &about);
        }
    }
    let texts = [
        ("messaging.rabbitmq.destination.routing_key", args.routing_key),
        ("messaging.rabbitmq.source_exchange", args.source),
        ("messaging.rabbitmq.consumer_tag", args.consumer),
    ];
    for (name, text) in texts {
        if !text.is_empty() {
            message = message.text(Name::Attribute(name), text);
        }
    }
    if let Some(tag) = args.tag {
        let tag = i64::try_from(tag).unwrap_or(i64::MAX);
        message = message.int(Name::Attribute("messaging.rabbitmq.message.delivery_tag"), tag);
    }
    if DELIVERIES.contains(&method.number()) {
        message = message.flag(Name::Attribute("messaging.rabbitmq.redelivered"), args.bits & 1 != 0);
    }
    message
}

/// What an answer adds.
pub(super) fn answer<'o>(mut message: Message<'o>, args: &Args<'_>) -> Message<'o> {
    if !args.queue.is_empty() {
        message = message.text(Name::Attribute("messaging.rabbitmq.queue"), args.queue);
    }
    if !args.consumer.is_empty() {
        message = message.text(Name::Attribute("messaging.rabbitmq.consumer_tag"), args.consumer);
    }
    if !args.mechanism.is_empty() {
        message = message.text(Name::Attribute("messaging.rabbitmq.sasl_mechanism"), args.mechanism);
    }
    message
}

/// What the properties of a content add.
pub(super) fn properties<'o>(mut message: Message<'o>, properties: &Properties<'_>) -> Message<'o> {
    let body = i64::try_from(properties.body).unwrap_or(i64::MAX);
    message = message.int(Name::Attribute("messaging.message.body.size"), body);
    let texts = [
        ("messaging.message.id", properties.message_id),
        ("messaging.message.conversation_id", properties.correlation_id),
        ("messaging.rabbitmq.message.content_type", properties.content_type),
        ("messaging.rabbitmq.message.reply_to", properties.reply_to),
        ("messaging.rabbitmq.message.type", properties.kind),
        ("messaging.rabbitmq.message.app_id", properties.app_id),
    ];
    for (name, text) in texts {
        if !text.is_empty() {
            message = message.text(Name::Attribute(name), text);
        }
    }
    if let Some(mode) = properties.delivery_mode {
        message = message.int(Name::Attribute("messaging.rabbitmq.message.delivery_mode"), i64::from(mode));
    }
    if let Some((trace_id, span_id)) = trace(properties.traceparent) {
        message = message.text(Name::TraceId, trace_id).text(Name::SpanId, span_id);
    }
    message
}

/// Reply code and text.
pub(super) fn failure<'o>(mut message: Message<'o>, args: &Args<'_>) -> Message<'o> {
    if let Some(code) = args.code {
        message = match code_text(code) {
            Some(text) => message.label(Name::StatusCode, text),
            None => message.int(Name::Attribute("messaging.rabbitmq.reply_code"), i64::from(code)),
        };
    }
    message.text(Name::Error, args.text)
}
