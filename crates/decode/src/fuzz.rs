//! What must hold for any input: called by the fuzz targets and by stable tests over the same
//! corpus. A function here panics when an invariant is broken.

use crate::{
    sdp,
    sip::{self, Known, Message, Problems},
};

/// Any bytes as a SIP message.
pub fn sip(bytes: &[u8]) {
    let Ok(message) = sip::parse(bytes) else { return };
    let parts = message.head().len().checked_add(message.body().len());
    assert!(parts.is_some_and(|parts| parts <= bytes.len()), "head and body overlap");
    assert!(bytes.ends_with(message.bytes()), "the message is not the end of its input");
    assert!(message.bytes().ends_with(message.body()), "the body is not the end of the message");
    assert_eq!(message.head_is_utf8(), core::str::from_utf8(message.head()).is_ok());
    assert_eq!(message.problems().contains(Problems::NOT_UTF8), !message.head_is_utf8());
    assert!(message.is_request() != message.ruri().is_none(), "a request has a Request-URI");
    fields(&message, &mut |part| {
        assert!(within(message.head(), part), "a field is not within the head");
        if let Some(text) = message.text(part) {
            assert_eq!(text.as_bytes(), part);
        }
    });
    first_values_agree(&message);
    // Parsing what was parsed changes nothing.
    let again = sip::parse(message.bytes());
    assert!(again.is_ok_and(|again| again.problems() == message.problems()));
    let as_text = core::str::from_utf8(bytes).ok().map(sip::parse_str);
    assert!(as_text.is_none_or(|text| text.is_ok_and(|text| same(&text, &message))));
    sdp(message.body());
}

/// Any bytes as an SDP body.
pub fn sdp(bytes: &[u8]) {
    let mut shown = 0usize;
    let seen = sdp::media(bytes, |media| {
        shown = shown.saturating_add(1);
        assert!(within(bytes, media.kind) && within(bytes, media.transport));
        assert!(media.address.is_none_or(|part| within(bytes, part) && !part.is_empty()));
        assert!(media.ip().is_none() || media.address.is_some());
        let _ = media.rtcp();
    });
    assert_eq!(shown, seen.min(sdp::MAX_MEDIA));
}

fn same(a: &Message<'_>, b: &Message<'_>) -> bool {
    a.problems() == b.problems() && a.head() == b.head() && a.head_is_utf8() == b.head_is_utf8()
}

/// Shows every field of a message.
fn fields(message: &Message<'_>, show: &mut impl FnMut(&[u8])) {
    let mut opt = |part: Option<&[u8]>| part.into_iter().for_each(&mut *show);
    for part in [message.method(), message.reason(), message.ruri_raw(), message.auth_username()] {
        opt(part);
    }
    let addresses = [message.from(), message.to(), message.contact(), message.asserted_identity()];
    let uris = addresses.map(|addr| addr.map(|addr| addr.uri));
    for addr in addresses.into_iter().flatten() {
        opt(addr.display);
        opt(addr.tag);
        addr.params().for_each(|(name, _)| opt(Some(name)));
    }
    for uri in uris.into_iter().flatten().chain(message.ruri()) {
        for part in [Some(uri.raw), Some(uri.scheme), uri.user, uri.password, uri.host] {
            opt(part);
        }
        uri.params().for_each(|(name, _)| opt(Some(name)));
    }
    if let Some(via) = message.via() {
        for part in [Some(via.raw), via.transport, via.host, via.branch, via.received] {
            opt(part);
        }
    }
    for header in message.headers() {
        opt(Some(header.name));
        opt(Some(header.value));
    }
}

/// The pass that remembers places and the lazy walk find the same first values.
fn first_values_agree(message: &Message<'_>) {
    let names: [(Known, &[u8]); 8] = [
        (Known::Via, b"Via"),
        (Known::From, b"From"),
        (Known::To, b"To"),
        (Known::CallId, b"Call-ID"),
        (Known::CSeq, b"CSeq"),
        (Known::Contact, b"Contact"),
        (Known::PAssertedIdentity, b"P-Asserted-Identity"),
        (Known::ContentLength, b"Content-Length"),
    ];
    for (known, name) in names {
        assert_eq!(message.value(known), message.header(name), "{known:?}");
    }
    let folded = message.headers().any(|header| header.value.contains(&b'\n'));
    assert!(message.has_folds() || !folded, "a fold was not seen");
    let mut flat = Vec::new();
    for header in message.headers() {
        flat.clear();
        sip::unfold(header.value, &mut flat);
        assert!(flat.len() <= header.value.len() && !flat.contains(&b'\n'));
    }
}

fn within(whole: &[u8], part: &[u8]) -> bool {
    let (whole, part) = (whole.as_ptr_range(), part.as_ptr_range());
    part.is_empty() || (whole.start <= part.start && part.end <= whole.end)
}
