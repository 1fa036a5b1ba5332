//! The cells of a row of `roundtrips` and of `flows`, in the order of the table's columns. What is stored and
//! what is printed come from here.

use crate::About;
use correlate::Roundtrip;
use decode::{Fields, Name, Notice, Status, Value};
use flow::{End, Flow, Seen};
use model::table::{flows, roundtrips};
use model::{Dir, Nanos};
use std::net::IpAddr;

/// One value.
#[derive(Debug, Clone, Copy)]
pub enum Cell<'a> {
    /// An instant.
    Time(Nanos),
    /// A number.
    Int(i64),
    /// Text that is known to be UTF-8.
    Str(&'a str),
    /// Bytes from the wire, to be shown as text.
    Text(&'a [u8]),
    /// An address.
    Ip(IpAddr),
    /// A set of names, joined by commas.
    Notices(u8),
    /// The fields that have no column of their own, as a JSON object.
    Attributes(&'a Fields),
}

/// A row to be: a roundtrip with the flow it belongs to, or the flow itself.
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// A row of `roundtrips`.
    Roundtrip(&'a Flow, &'a About, &'a Roundtrip),
    /// A row of `flows`.
    Flow(&'a Flow, &'a About, End),
}

/// The protocol of a roundtrip: what the message says (`grpc`), else the flow's.
pub fn service<'a>(about: &About, roundtrip: &'a Roundtrip) -> &'a str {
    match roundtrip.fields.find(Name::Protocol) {
        Some(Value::Static(label)) => label,
        _ => about.protocol.map_or("unknown", decode::Protocol::as_str),
    }
}

impl<'a> Row<'a> {
    /// Calls `put` with the column and the value of every cell that is not null, columns in order.
    pub fn cells(&self, put: &mut impl FnMut(usize, Cell<'a>)) {
        match self {
            Self::Roundtrip(flow, about, row) => roundtrip_cells(flow, about, row, put),
            Self::Flow(flow, about, end) => flow_cells(flow, about, *end, put),
        }
    }
}

fn roundtrip_cells<'a>(
    flow: &'a Flow,
    about: &'a About,
    row: &'a Roundtrip,
    put: &mut impl FnMut(usize, Cell<'a>),
) {
    use roundtrips as c;
    let text = |name| {
        row.fields.find(name).map(|value| match value {
            Value::Text(range) => Cell::Text(row.fields.text(range)),
            Value::Static(label) => Cell::Str(label),
            Value::Int(number) => Cell::Int(*number),
            Value::Bool(flag) => Cell::Str(if *flag { "true" } else { "false" }),
        })
    };
    let mut some = |column, cell: Option<Cell<'a>>| {
        if let Some(cell) = cell {
            put(column, cell);
        }
    };
    let start = row.start();
    let first_byte = row.first_byte();
    some(c::TS, Some(Cell::Time(start)));
    some(c::FIRST_BYTE, first_byte.map(Cell::Time));
    some(c::LAST_BYTE, Some(Cell::Time(row.end())));
    some(c::DURATION_NS, row.duration_ns().map(Cell::Int));
    let wait = first_byte.filter(|_| row.request.is_some());
    some(c::FIRST_BYTE_NS, wait.map(|first| Cell::Int(first.0.saturating_sub(start.0).max(0))));
    some(c::PROTOCOL, Some(Cell::Str(service(about, row))));
    some(c::OPERATION, text(Name::Operation));
    some(c::RESOURCE, text(Name::Resource));
    some(c::OUTCOME, Some(Cell::Str(row.outcome.as_str())));
    some(c::STATUS, status(row.status).map(Cell::Str));
    some(c::STATUS_CODE, text(Name::StatusCode));
    some(c::ERROR, text(Name::Error));
    some(c::REASON, row.reason.map(Cell::Str));
    some(c::CONFIDENCE, Some(Cell::Str(row.confidence.as_str())));
    some(c::CLIENT_IP, Some(Cell::Ip(flow.tuple.client.ip)));
    some(c::CLIENT_PORT, Some(Cell::Int(i64::from(flow.tuple.client.port))));
    some(c::SERVER_IP, Some(Cell::Ip(flow.tuple.server.ip)));
    some(c::SERVER_PORT, Some(Cell::Int(i64::from(flow.tuple.server.port))));
    some(c::TRANSPORT, Some(Cell::Str(flow.tuple.transport.as_str())));
    let direction = if row.dir == Dir::ToServer { "to_server" } else { "to_client" };
    some(c::DIRECTION, Some(Cell::Str(direction)));
    let bytes = |part: correlate::Part| Cell::Int(i64::try_from(part.bytes).unwrap_or(i64::MAX));
    some(c::REQUEST_BYTES, row.request.filter(|part| part.last.is_some()).map(bytes));
    some(c::RESPONSE_BYTES, row.response.filter(|part| part.last.is_some()).map(bytes));
    some(c::TRACE_ID, text(Name::TraceId));
    some(c::SPAN_ID, text(Name::SpanId));
    let of_media = || about.call_id().map(Cell::Text);
    some(c::CALL_ID, text(Name::Attribute("sip.call_id")).or_else(of_media));
    some(c::VLAN, flow.vlan.map(|id| Cell::Int(i64::from(id))));
    some(c::NOTICES, (row.notices != 0).then_some(Cell::Notices(row.notices)));
    some(c::ATTRIBUTES, has_attributes(&row.fields).then_some(Cell::Attributes(&row.fields)));
}

fn flow_cells<'a>(flow: &'a Flow, about: &'a About, end: End, put: &mut impl FnMut(usize, Cell<'a>)) {
    use flows as c;
    let mut some = |column, cell: Option<Cell<'a>>| {
        if let Some(cell) = cell {
            put(column, cell);
        }
    };
    let long = |number: u64| Some(Cell::Int(i64::try_from(number).unwrap_or(i64::MAX)));
    let [client, server] = &flow.sides;
    some(c::TS, Some(Cell::Time(flow.first)));
    some(c::LAST, Some(Cell::Time(flow.last)));
    some(c::DURATION_NS, Some(Cell::Int(flow.last.0.saturating_sub(flow.first.0).max(0))));
    some(c::TRANSPORT, Some(Cell::Str(flow.tuple.transport.as_str())));
    some(c::CLIENT_IP, Some(Cell::Ip(flow.tuple.client.ip)));
    some(c::CLIENT_PORT, Some(Cell::Int(i64::from(flow.tuple.client.port))));
    some(c::SERVER_IP, Some(Cell::Ip(flow.tuple.server.ip)));
    some(c::SERVER_PORT, Some(Cell::Int(i64::from(flow.tuple.server.port))));
    some(c::PROTOCOL, about.protocol.map(|protocol| Cell::Str(protocol.as_str())));
    some(c::VISIBILITY, Some(Cell::Str(about.opaque.unwrap_or("plain"))));
    let start = if flow.start == Seen::Handshake { "handshake" } else { "middle" };
    some(c::START, (flow.tuple.transport == model::Transport::Tcp).then_some(Cell::Str(start)));
    some(c::ENDED, Some(Cell::Str(end.as_str())));
    some(c::ROUNDTRIPS, long(about.roundtrips));
    let handshake = flow.handshake();
    let micros = |half: Option<u32>| half.map(|micros| Cell::Int(i64::from(micros)));
    some(c::CLIENT_RTT_US, micros(handshake.and_then(|times| times.client_us)));
    some(c::SERVER_RTT_US, micros(handshake.and_then(|times| times.server_us)));
    some(c::CLIENT_PACKETS, long(client.packets));
    some(c::SERVER_PACKETS, long(server.packets));
    some(c::CLIENT_BYTES, long(client.bytes));
    some(c::SERVER_BYTES, long(server.bytes));
    some(c::CLIENT_PAYLOAD, long(client.payload_bytes));
    some(c::SERVER_PAYLOAD, long(server.payload_bytes));
    some(c::CLIENT_RETRANSMITS, long(client.retransmitted.into()));
    some(c::SERVER_RETRANSMITS, long(server.retransmitted.into()));
    some(c::CLIENT_OUT_OF_ORDER, long(client.out_of_order.into()));
    some(c::SERVER_OUT_OF_ORDER, long(server.out_of_order.into()));
    some(c::CLIENT_GAP_BYTES, long(client.gap_bytes));
    some(c::SERVER_GAP_BYTES, long(server.gap_bytes));
    let both = |a: u32, b: u32| Some(Cell::Int(i64::from(a.saturating_add(b))));
    some(c::GAPS, both(client.gaps, server.gaps));
    some(c::ZERO_WINDOWS, both(client.zero_windows.into(), server.zero_windows.into()));
    some(c::RESETS, both(client.resets.into(), server.resets.into()));
    some(c::DECODE_ERRORS, Some(Cell::Int(i64::from(about.errors))));
    some(c::LAST_ERROR, about.last_error.map(Cell::Str));
    some(c::VLAN, flow.vlan.map(|id| Cell::Int(i64::from(id))));
    some(c::ATTRIBUTES, has_attributes(&about.facts).then_some(Cell::Attributes(&about.facts)));
}

/// The label of a status; `None` where nothing is said.
pub const fn status(status: Status) -> Option<&'static str> {
    match status {
        Status::Unset => None,
        Status::Ok => Some("ok"),
        Status::Error => Some("error"),
    }
}

/// The labels of notices, in the order of their bits.
pub fn notice_labels(notices: u8) -> impl Iterator<Item = &'static str> {
    [
        (Notice::TextCut, "text_cut"),
        (Notice::Unknown, "unknown"),
        (Notice::Redacted, "redacted"),
        (Notice::Malformed, "malformed"),
        (Notice::FieldsCut, "fields_cut"),
    ]
    .into_iter()
    .filter(move |(notice, _)| notices & *notice as u8 != 0)
    .map(|(_, label)| label)
}

fn has_attributes(fields: &Fields) -> bool {
    fields.entries().iter().any(|entry| matches!(entry.name, Name::Attribute(_)))
}
