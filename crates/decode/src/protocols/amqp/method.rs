//! Classes and methods: their names, what they are to the pairing, and how their arguments lie.
//!
//! <https://www.rabbitmq.com/amqp-0-9-1-reference.html>, and RabbitMQ's own methods.

use Arg::{Bits, Short, Skip, Table, U16, U32, U64};
use Field::{
    Code, Consumer, Consumers, Count, Exchange, Failing, Host, Mechanism, Nothing, Queue, RoutingKey, Source,
    Tag, Text,
};
use Kind::{Answer, Ask, Content, Note};

/// What an argument is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Nothing,
    Exchange,
    /// The exchange that another one is bound to.
    Source,
    RoutingKey,
    Queue,
    Consumer,
    /// A virtual host.
    Host,
    Mechanism,
    Code,
    Text,
    /// The method that failed.
    Failing,
    Tag,
    Count,
    Consumers,
}

/// One argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arg {
    Skip(usize),
    /// A text of at most 255 bytes.
    Short(Field),
    /// A field table; passed over.
    Table,
    Bits,
    U16(Field),
    U32(Field),
    U64(Field),
}

/// What a method is to the pairing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Its class answers it, unless this bit of its flags is set.
    Ask(u8),
    Answer,
    /// Nobody answers it.
    Note,
    /// Nobody answers it, and a content follows.
    Content,
}

/// No flag says that no answer is wanted.
const ALWAYS: u8 = 0;

/// One method.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) class: u16,
    pub(super) id: u16,
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) args: &'static [Arg],
}

const fn m(class: u16, id: u16, name: &'static str, kind: Kind, args: &'static [Arg]) -> Method {
    Method { class, id, name, kind, args }
}

pub(super) const BASIC: u16 = 60;
pub(super) const CONNECTION_TUNE_OK: (u16, u16) = (10, 31);
pub(super) const CONNECTION_CLOSE: (u16, u16) = (10, 50);
pub(super) const CHANNEL_CLOSE: (u16, u16) = (20, 40);
pub(super) const CHANNEL_CLOSE_OK: (u16, u16) = (20, 41);
pub(super) const CHANNEL_OPEN: (u16, u16) = (20, 10);
pub(super) const BASIC_PUBLISH: (u16, u16) = (60, 40);
pub(super) const BASIC_RETURN: (u16, u16) = (60, 50);
pub(super) const BASIC_GET: (u16, u16) = (60, 70);
pub(super) const BASIC_GET_OK: (u16, u16) = (60, 71);
pub(super) const BASIC_GET_EMPTY: (u16, u16) = (60, 72);
pub(super) const BASIC_ACK: (u16, u16) = (60, 80);
pub(super) const BASIC_NACK: (u16, u16) = (60, 120);
pub(super) const CONFIRM_SELECT: (u16, u16) = (85, 10);

/// Every method.
#[rustfmt::skip]
static METHODS: &[Method] = &[
    m(10, 10, "connection.start", Ask(ALWAYS), &[]),
    m(10, 11, "connection.start-ok", Answer, &[Table, Short(Mechanism)]),
    m(10, 20, "connection.secure", Ask(ALWAYS), &[]),
    m(10, 21, "connection.secure-ok", Answer, &[]),
    m(10, 30, "connection.tune", Ask(ALWAYS), &[]),
    m(10, 31, "connection.tune-ok", Answer, &[Skip(2), U32(Count)]),
    m(10, 40, "connection.open", Ask(ALWAYS), &[Short(Host)]),
    m(10, 41, "connection.open-ok", Answer, &[]),
    m(10, 50, "connection.close", Ask(ALWAYS), &[U16(Code), Short(Text), U32(Failing)]),
    m(10, 51, "connection.close-ok", Answer, &[]),
    m(10, 60, "connection.blocked", Note, &[Short(Text)]),
    m(10, 61, "connection.unblocked", Note, &[]),
    m(10, 70, "connection.update-secret", Ask(ALWAYS), &[]),
    m(10, 71, "connection.update-secret-ok", Answer, &[]),
    m(20, 10, "channel.open", Ask(ALWAYS), &[]),
    m(20, 11, "channel.open-ok", Answer, &[]),
    m(20, 20, "channel.flow", Ask(ALWAYS), &[]),
    m(20, 21, "channel.flow-ok", Answer, &[]),
    m(20, 40, "channel.close", Ask(ALWAYS), &[U16(Code), Short(Text), U32(Failing)]),
    m(20, 41, "channel.close-ok", Answer, &[]),
    m(30, 10, "access.request", Ask(ALWAYS), &[]),
    m(30, 11, "access.request-ok", Answer, &[]),
    m(40, 10, "exchange.declare", Ask(1 << 4), &[Skip(2), Short(Exchange), Short(Nothing), Bits]),
    m(40, 11, "exchange.declare-ok", Answer, &[]),
    m(40, 20, "exchange.delete", Ask(1 << 1), &[Skip(2), Short(Exchange), Bits]),
    m(40, 21, "exchange.delete-ok", Answer, &[]),
    m(40, 30, "exchange.bind", Ask(1), &[Skip(2), Short(Exchange), Short(Source), Short(RoutingKey), Bits]),
    m(40, 31, "exchange.bind-ok", Answer, &[]),
    m(40, 40, "exchange.unbind", Ask(1), &[Skip(2), Short(Exchange), Short(Source), Short(RoutingKey), Bits]),
    m(40, 51, "exchange.unbind-ok", Answer, &[]),
    m(50, 10, "queue.declare", Ask(1 << 4), &[Skip(2), Short(Queue), Bits]),
    m(50, 11, "queue.declare-ok", Answer, &[Short(Queue), U32(Count), U32(Consumers)]),
    m(50, 20, "queue.bind", Ask(1), &[Skip(2), Short(Queue), Short(Source), Short(RoutingKey), Bits]),
    m(50, 21, "queue.bind-ok", Answer, &[]),
    m(50, 50, "queue.unbind", Ask(ALWAYS), &[Skip(2), Short(Queue), Short(Source), Short(RoutingKey)]),
    m(50, 51, "queue.unbind-ok", Answer, &[]),
    m(50, 30, "queue.purge", Ask(1), &[Skip(2), Short(Queue), Bits]),
    m(50, 31, "queue.purge-ok", Answer, &[U32(Count)]),
    m(50, 40, "queue.delete", Ask(1 << 2), &[Skip(2), Short(Queue), Bits]),
    m(50, 41, "queue.delete-ok", Answer, &[U32(Count)]),
    m(60, 10, "basic.qos", Ask(ALWAYS), &[Skip(4), U16(Count)]),
    m(60, 11, "basic.qos-ok", Answer, &[]),
    m(60, 20, "basic.consume", Ask(1 << 3), &[Skip(2), Short(Queue), Short(Consumer), Bits]),
    m(60, 21, "basic.consume-ok", Answer, &[Short(Consumer)]),
    m(60, 30, "basic.cancel", Ask(1), &[Short(Consumer), Bits]),
    m(60, 31, "basic.cancel-ok", Answer, &[Short(Consumer)]),
    m(60, 40, "basic.publish", Content, &[Skip(2), Short(Exchange), Short(RoutingKey), Bits]),
    m(60, 50, "basic.return", Content, &[U16(Code), Short(Text), Short(Exchange), Short(RoutingKey)]),
    m(60, 60, "basic.deliver", Content,
        &[Short(Consumer), U64(Tag), Bits, Short(Exchange), Short(RoutingKey)]),
    m(60, 70, "basic.get", Ask(ALWAYS), &[Skip(2), Short(Queue), Bits]),
    m(60, 71, "basic.get-ok", Content, &[U64(Tag), Bits, Short(Exchange), Short(RoutingKey), U32(Count)]),
    m(60, 72, "basic.get-empty", Answer, &[]),
    m(60, 80, "basic.ack", Note, &[U64(Tag), Bits]),
    m(60, 90, "basic.reject", Note, &[U64(Tag), Bits]),
    m(60, 100, "basic.recover-async", Note, &[]),
    m(60, 110, "basic.recover", Ask(ALWAYS), &[]),
    m(60, 111, "basic.recover-ok", Answer, &[]),
    m(60, 120, "basic.nack", Note, &[U64(Tag), Bits]),
    m(85, 10, "confirm.select", Ask(1), &[Bits]),
    m(85, 11, "confirm.select-ok", Answer, &[]),
    m(90, 10, "tx.select", Ask(ALWAYS), &[]),
    m(90, 11, "tx.select-ok", Answer, &[]),
    m(90, 20, "tx.commit", Ask(ALWAYS), &[]),
    m(90, 21, "tx.commit-ok", Answer, &[]),
    m(90, 30, "tx.rollback", Ask(ALWAYS), &[]),
    m(90, 31, "tx.rollback-ok", Answer, &[]),
];

/// The method of a class and id.
pub(super) fn find(class: u16, id: u16) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.class == class && method.id == id)
}

impl Method {
    pub(super) const fn number(&self) -> (u16, u16) {
        (self.class, self.id)
    }

    /// Whether it answers `asked`.
    pub(super) fn answers(&self, asked: (u16, u16)) -> bool {
        match self.number() {
            BASIC_GET_OK | BASIC_GET_EMPTY => asked == BASIC_GET,
            // The one answer whose number does not follow that of its question.
            (40, 51) => asked == (40, 40),
            (class, id) => asked == (class, id.wrapping_sub(1)),
        }
    }
}

/// The arguments that matter.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Args<'a> {
    pub(super) exchange: &'a [u8],
    pub(super) source: &'a [u8],
    pub(super) routing_key: &'a [u8],
    pub(super) queue: &'a [u8],
    pub(super) consumer: &'a [u8],
    pub(super) host: &'a [u8],
    pub(super) mechanism: &'a [u8],
    pub(super) code: Option<u16>,
    pub(super) text: &'a [u8],
    pub(super) failing: (u16, u16),
    pub(super) tag: Option<u64>,
    pub(super) count: Option<u32>,
    pub(super) consumers: Option<u32>,
    pub(super) bits: u8,
}

impl Method {
    /// Reads the arguments behind class and method id; `None` when they end too early.
    pub(super) fn read<'a>(&self, bytes: &'a [u8]) -> Option<Args<'a>> {
        let mut cursor = crate::Cursor::new(bytes);
        let mut args = Args::default();
        for arg in self.args {
            match *arg {
                Skip(n) => {
                    cursor.take(n).ok()?;
                }
                Table => {
                    let len = cursor.be_u32().ok()?;
                    cursor.take(len as usize).ok()?;
                }
                Bits => args.bits = cursor.u8().ok()?,
                Short(field) => {
                    let len = cursor.u8().ok()?;
                    let text = cursor.take(usize::from(len)).ok()?;
                    match field {
                        Exchange => args.exchange = text,
                        Source => args.source = text,
                        RoutingKey => args.routing_key = text,
                        Queue => args.queue = text,
                        Consumer => args.consumer = text,
                        Host => args.host = text,
                        Mechanism => args.mechanism = text,
                        Text => args.text = text,
                        _ => {}
                    }
                }
                U16(field) => {
                    let number = cursor.be_u16().ok()?;
                    match field {
                        Code => args.code = Some(number),
                        _ => args.count = Some(u32::from(number)),
                    }
                }
                U32(field) => {
                    let number = cursor.be_u32().ok()?;
                    match field {
                        Failing => {
                            let low = u16::try_from(number & 0xffff).unwrap_or_default();
                            args.failing = (u16::try_from(number >> 16).unwrap_or_default(), low);
                        }
                        Consumers => args.consumers = Some(number),
                        _ => args.count = Some(number),
                    }
                }
                U64(_) => args.tag = Some(cursor.be_u64().ok()?),
            }
        }
        Some(args)
    }
}

/// The reply codes of the specification and of RabbitMQ as text.
pub(super) const fn code_text(code: u16) -> Option<&'static str> {
    Some(match code {
        200 => "200",
        311 => "311",
        312 => "312",
        313 => "313",
        320 => "320",
        402 => "402",
        403 => "403",
        404 => "404",
        405 => "405",
        406 => "406",
        501 => "501",
        502 => "502",
        503 => "503",
        504 => "504",
        505 => "505",
        506 => "506",
        530 => "530",
        540 => "540",
        541 => "541",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_answers_one_question() {
        for method in METHODS {
            let asked =
                METHODS.iter().filter(|ask| matches!(ask.kind, Ask(_)) && method.answers(ask.number()));
            let expected = match method.number() {
                BASIC_GET_OK | BASIC_GET_EMPTY => 1,
                _ if method.kind == Answer => 1,
                _ => continue,
            };
            assert_eq!(asked.count(), expected, "{}", method.name);
        }
    }
}
