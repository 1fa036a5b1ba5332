//! Names of enum values. A value without a name is a number, as in the reference.

/// Values of `Envelope.EventType`.
pub mod event_type {
    #![allow(missing_docs, reason = "names of the format")]
    pub const HTTP_START_STOP: i32 = 4;
    pub const LOG_MESSAGE: i32 = 5;
    pub const VALUE_METRIC: i32 = 6;
    pub const COUNTER_EVENT: i32 = 7;
    pub const ERROR: i32 = 8;
    pub const CONTAINER_METRIC: i32 = 9;
}

const EVENT_TYPES: [&str; 6] =
    ["HttpStartStop", "LogMessage", "ValueMetric", "CounterEvent", "Error", "ContainerMetric"];

const PEER_TYPES: [&str; 2] = ["Client", "Server"];

const METHODS: [&str; 44] = [
    "GET",
    "POST",
    "PUT",
    "DELETE",
    "HEAD",
    "ACL",
    "BASELINE_CONTROL",
    "BIND",
    "CHECKIN",
    "CHECKOUT",
    "CONNECT",
    "COPY",
    "DEBUG",
    "LABEL",
    "LINK",
    "LOCK",
    "MERGE",
    "MKACTIVITY",
    "MKCALENDAR",
    "MKCOL",
    "MKREDIRECTREF",
    "MKWORKSPACE",
    "MOVE",
    "OPTIONS",
    "ORDERPATCH",
    "PATCH",
    "PRI",
    "PROPFIND",
    "PROPPATCH",
    "REBIND",
    "REPORT",
    "SEARCH",
    "SHOWMETHOD",
    "SPACEJUMP",
    "TEXTSEARCH",
    "TRACE",
    "TRACK",
    "UNBIND",
    "UNCHECKOUT",
    "UNLINK",
    "UNLOCK",
    "UPDATE",
    "UPDATEREDIRECTREF",
    "VERSION_CONTROL",
];

fn name(names: &'static [&'static str], first: i32, value: i32) -> Option<&'static str> {
    names.get(usize::try_from(value.checked_sub(first)?).ok()?).copied()
}

fn value(names: &[&str], first: i32, name: &[u8]) -> Option<i32> {
    let at = names.iter().position(|one| one.as_bytes() == name)?;
    i32::try_from(at).ok()?.checked_add(first)
}

/// The name of an event type that has a body: `HttpStartStop` and so on.
#[must_use]
pub fn event_type_name(event_type: i32) -> Option<&'static str> {
    name(&EVENT_TYPES, event_type::HTTP_START_STOP, event_type)
}

/// The event type of a name.
#[must_use]
pub fn event_type(event_type: &[u8]) -> Option<i32> {
    value(&EVENT_TYPES, event_type::HTTP_START_STOP, event_type)
}

/// The name of a peer type: `Client` or `Server`.
#[must_use]
pub fn peer_type_name(peer_type: i32) -> Option<&'static str> {
    name(&PEER_TYPES, 1, peer_type)
}

/// The peer type of a name.
#[must_use]
pub fn peer_type(peer_type: &[u8]) -> Option<i32> {
    value(&PEER_TYPES, 1, peer_type)
}

/// The name of an HTTP method: `GET`, `VERSION_CONTROL` and so on.
#[must_use]
pub fn method_name(method: i32) -> Option<&'static str> {
    name(&METHODS, 1, method)
}

/// The method of a name.
#[must_use]
pub fn method(method: &[u8]) -> Option<i32> {
    value(&METHODS, 1, method)
}
