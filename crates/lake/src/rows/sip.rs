//! The columns that come from the SIP message.

use decode::sdp;
use decode::sip::{Message, NameAddr, Problems, Uri};
use model::table::sip as at;

use super::PLAIN_HEADERS;
use super::text::Escaped;
use crate::columns::Columns;

/// Sets the columns of one parsed message; `found` is shown each media description of its body.
#[inline]
pub fn set(
    columns: &mut Columns,
    message: &Message<'_>,
    escaped: &mut Escaped,
    media: &mut String,
    found: &mut impl FnMut(&sdp::Media<'_>),
) {
    let mut put = |columns: &mut Columns, column: usize, value: Option<&[u8]>| {
        if let Some(value) = value {
            escaped.header(columns, column, value, message);
        }
    };
    put(columns, at::METHOD, message.method());
    put(columns, at::REASON, message.reason());
    for (header, column) in PLAIN_HEADERS {
        put(columns, *column, message.value(*header));
    }
    put(columns, at::USER_AGENT, message.user_agent().or_else(|| message.server()));
    put(columns, at::AUTH_USER, message.auth_username());
    let parties = [
        (message.from(), at::FROM_USER, at::FROM_HOST, at::FROM_TAG),
        (message.to(), at::TO_USER, at::TO_HOST, at::TO_TAG),
    ];
    for (party, user, host, tag) in parties {
        if let Some(NameAddr { uri, tag: value, .. }) = party {
            put(columns, user, uri.user);
            put(columns, host, uri.host);
            put(columns, tag, value);
        }
    }
    if let Some(NameAddr { uri: Uri { user, host, .. }, .. }) = message.contact() {
        put(columns, at::CONTACT_USER, user);
        put(columns, at::CONTACT_HOST, host);
    }
    put(columns, at::RURI, message.ruri_raw());
    if let Some(uri) = message.ruri() {
        put(columns, at::RURI_USER, uri.user);
        put(columns, at::RURI_HOST, uri.host);
    }
    if let Some(via) = message.hop() {
        put(columns, at::VIA_BRANCH, via.branch);
        put(columns, at::VIA_HOST, via.host);
    }
    if let Some(code) = message.code() {
        columns.int(at::CODE, i32::from(code));
    }
    if let Some(cseq) = message.cseq() {
        columns.long(at::CSEQ, i64::from(cseq.number));
    }
    if let Some(length) = message.content_length() {
        columns.long(at::CONTENT_LENGTH, i64::from(length));
    }
    if let Some(hops) = message.max_forwards() {
        columns.int(at::MAX_FORWARDS, i32::try_from(hops).unwrap_or(i32::MAX));
    }
    if let Some(seconds) = message.expires() {
        columns.long(at::EXPIRES, i64::from(seconds));
    }
    if !message.body().is_empty() {
        set_media(columns, message.body(), media, found);
    }
}

/// The media endpoints of an SDP body.
fn set_media(
    columns: &mut Columns,
    body: &[u8],
    media: &mut String,
    found: &mut impl FnMut(&sdp::Media<'_>),
) {
    media.clear();
    sdp::media(body, |line| {
        found(line);
        if !media.is_empty() {
            media.push(' ');
        }
        push_text(media, line.kind);
        media.push(':');
        let address = line.address.unwrap_or_default();
        // An IPv6 address gets the brackets that a port beside it asks for.
        let v6 = address.contains(&b':');
        if v6 {
            media.push('[');
        }
        push_text(media, address);
        media.push_str(if v6 { "]:" } else { ":" });
        push_number(media, line.port);
    });
    if !media.is_empty() {
        columns.text(at::MEDIA, media);
    }
}

fn push_text(text: &mut String, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(valid) => text.push_str(valid),
        Err(_) => text.push_str(&String::from_utf8_lossy(bytes)),
    }
}

fn push_number(text: &mut String, number: u16) {
    let mut divisor = 10_000;
    while divisor > number && divisor > 1 {
        divisor /= 10;
    }
    while divisor > 0 {
        text.push(char::from(b'0' + u8::try_from(number / divisor % 10).unwrap_or(0)));
        divisor /= 10;
    }
}

/// Whether a row must say what its message lacks. A header given twice, a body of another length than
/// announced or a missing Via do not keep anyone from finding the call.
pub fn worth_telling(problems: Problems) -> bool {
    const HARMLESS: u32 = Problems::DUPLICATE_HEADER.bits()
        | Problems::CONTENT_LENGTH_MISMATCH.bits()
        | Problems::METHOD_MISMATCH.bits()
        | Problems::NO_VIA.bits();
    problems.bits() & !HARMLESS != 0
}

/// The problems by name, joined by commas.
pub fn told(problems: Problems) -> String {
    problems.labels().collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_without_leading_zeros() {
        for number in [0, 7, 10, 99, 100, 5060, 10_000, u16::MAX] {
            let mut text = String::new();
            push_number(&mut text, number);
            assert_eq!(text, number.to_string());
        }
    }
}
