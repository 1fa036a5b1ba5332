//! The fields of requests and responses by OpenTelemetry's conventions; HTTP/2 writes the same ones.
//!
//! Method, path and status code are columns (`operation`, `resource`, `status_code`), and are not repeated
//! as `http.request.method`, `url.path` and `http.response.status_code`.

use super::query;
use super::target::{Target, host_and_port};
use crate::trace::Carrier;
use crate::{Message, Name, Status};

/// What a request says.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Request<'a> {
    pub method: Option<&'a [u8]>,
    pub target: Option<Target<'a>>,
    /// Host, with or without a port; the target's own is better.
    pub host: Option<&'a [u8]>,
    pub user_agent: Option<&'a [u8]>,
    pub content_type: Option<&'a [u8]>,
    pub trace: Carrier<'a>,
}

/// Writes the fields of a request.
pub(crate) fn request<'o>(
    mut message: Message<'o>,
    request: &Request<'_>,
    show_secrets: bool,
) -> Message<'o> {
    let target = request.target.unwrap_or_default();
    message = text(message, Name::Operation, request.method);
    message = text(message, Name::Resource, request.target.map(|target| target.path));
    if let Some(query) = target.query {
        message = query::write(message, Name::Attribute("url.query"), query, show_secrets);
    }
    if let Some(authority) = target.authority.or(request.host) {
        message = server(message, authority);
    }
    message = text(message, Name::Attribute("user_agent.original"), request.user_agent);
    message = text(message, Name::Attribute("http.request.header.content-type"), request.content_type);
    request.trace.write(message)
}

/// The server as the client names it.
pub(crate) fn server<'o>(message: Message<'o>, authority: &[u8]) -> Message<'o> {
    let (host, port) = host_and_port(authority);
    if host.is_empty() {
        return message;
    }
    let message = message.text(Name::Attribute("server.address"), host);
    match port {
        Some(port) => message.int(Name::Attribute("server.port"), i64::from(port)),
        None => message,
    }
}

/// Writes the fields of a response.
pub(crate) fn response<'o>(
    message: Message<'o>,
    code: Option<u16>,
    content_type: Option<&[u8]>,
) -> Message<'o> {
    let message = match code {
        Some(code) => message.text(Name::StatusCode, &digits(code)),
        None => message,
    };
    text(message, Name::Attribute("http.response.header.content-type"), content_type)
}

/// How a response with this code went. A 4xx is an error here, although the conventions leave it unset on
/// the server's side: a capture stands between both sides, and to the client it is one.
pub(crate) const fn status(code: u16) -> Status {
    match code {
        400.. => Status::Error,
        0..100 => Status::Unset,
        _ => Status::Ok,
    }
}

/// A text that may be missing.
pub(crate) fn text<'o>(message: Message<'o>, name: Name, text: Option<&[u8]>) -> Message<'o> {
    match text {
        Some(text) => message.text(name, text),
        None => message,
    }
}

/// Three digits.
pub(crate) fn digits(code: u16) -> [u8; 3] {
    [code / 100 % 10, code / 10 % 10, code % 10].map(|digit| digit.to_le_bytes()[0].wrapping_add(b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes() {
        assert_eq!(digits(404), *b"404");
        assert_eq!(
            [status(204), status(304), status(404), status(503)].map(|s| s == Status::Error),
            [false, false, true, true]
        );
    }
}
