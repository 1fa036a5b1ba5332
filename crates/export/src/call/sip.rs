//! The few looks into a raw SIP message that the lake's columns do not answer.

use model::CallMessage;

/// Whether the message carries a session description.
pub(crate) fn has_sdp(message: &CallMessage) -> bool {
    if !message.media.is_empty() {
        return true;
    }
    let body = body(&message.payload).unwrap_or_default();
    body.starts_with(b"v=0") || body.windows(4).any(|at| at == b"\nv=0")
}

/// Without the empty lines that may stand before a message on a stream (RFC 3261 §7.5).
fn message_start(payload: &[u8]) -> &[u8] {
    let blank = payload.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    &payload[blank..]
}

/// What follows the empty line; `None` when there is no empty line.
pub(crate) fn body(payload: &[u8]) -> Option<&[u8]> {
    let mut rest = message_start(payload);
    loop {
        let end = rest.iter().position(|&byte| byte == b'\n')?;
        rest = &rest[end + 1..];
        match rest {
            [b'\r', b'\n', body @ ..] | [b'\n', body @ ..] => return Some(body),
            _ => {}
        }
    }
}

/// Values of a header, by long or compact name, in wire order. Folded lines are not joined: the
/// values asked for here are numbers and short lists.
pub(crate) fn header<'a>(
    payload: &'a [u8],
    names: &'static [&'static str],
) -> impl Iterator<Item = &'a [u8]> {
    message_start(payload)
        .split(|&b| b == b'\n')
        .map(<[u8]>::trim_ascii_end)
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(move |line| {
            let colon = line.iter().position(|&b| b == b':')?;
            let name = line[..colon].trim_ascii_end();
            names
                .iter()
                .any(|known| known.as_bytes().eq_ignore_ascii_case(name))
                .then(|| line[colon + 1..].trim_ascii())
        })
}

/// What Content-Length says; `None` when it is absent or no number.
pub(crate) fn content_length(payload: &[u8]) -> Option<usize> {
    let value = header(payload, &["Content-Length", "l"]).next()?;
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Whether a REGISTER takes its bindings away: `Expires: 0`, or every contact with `expires=0`
/// (RFC 3261 §10.2.2).
pub(crate) fn unregisters(payload: &[u8]) -> bool {
    let all_zero = header(payload, &["Expires"]).any(|value| value == b"0");
    let mut contacts = header(payload, &["Contact", "m"]).peekable();
    if contacts.peek().is_none() {
        return false; // a query: it asks for the bindings and changes none
    }
    contacts.all(|contact| match expires_parameter(contact) {
        Some(seconds) => seconds == b"0",
        None => all_zero,
    })
}

/// The digits after `;expires=`.
fn expires_parameter(contact: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b";expires=";
    let at = contact.windows(NAME.len()).position(|at| at.eq_ignore_ascii_case(NAME))?;
    let value = &contact[at + NAME.len()..];
    let end = value.iter().position(|b| !b.is_ascii_digit()).unwrap_or(value.len());
    Some(&value[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_body_with_either_line_end() {
        assert_eq!(body(b"A\r\nB: c\r\n\r\nv=0"), Some(&b"v=0"[..]));
        assert_eq!(body(b"A\nB: c\n\nv=0"), Some(&b"v=0"[..]));
        assert_eq!(body(b"\r\n\r\nA\r\nB: c\r\n\r\n"), Some(&b""[..]));
        assert_eq!(body(b"A\r\nB: c\r\n"), None);
        assert_eq!(body(b""), None);
    }

    #[test]
    fn reads_headers_by_both_names() {
        let text = b"REGISTER sip:a SIP/2.0\r\nm: <sip:x>;expires=0\r\nContact : *\r\n\r\nContact: no";
        let found: Vec<_> = header(text, &["Contact", "m"]).collect();
        assert_eq!(found, [&b"<sip:x>;expires=0"[..], b"*"]);
    }

    #[test]
    fn tells_a_removal_from_a_refresh_and_a_query() {
        let register =
            |headers: &str| unregisters(format!("REGISTER sip:a SIP/2.0\r\n{headers}\r\n").as_bytes());
        assert!(register("Contact: *\r\nExpires: 0\r\n"));
        assert!(register("Contact: <sip:x>;expires=0\r\nExpires: 3600\r\n"));
        assert!(!register("Contact: <sip:x>;Expires=60\r\nExpires: 0\r\n"));
        assert!(!register("Contact: <sip:x>\r\nExpires: 3600\r\n"));
        assert!(!register("Expires: 0\r\n"), "no contact: only a query");
    }
}
