//! SIP on the wire (RFC 3261 §17, §18): messages in datagrams and streams, paired by transaction.
//!
//! * In: datagrams, or a stream in which Content-Length says where a message ends.
//! * Out: a roundtrip for each transaction: the request and its final response. ACK is one-way. The media
//!   that bodies announce, as expected RTP endpoints.
//! * Owned: the last transactions of the flow ([`transactions`]).
//! * Bounded by: 64 KiB a message; of a longer one only the head is read, when that fits.
//! * Lost: repetitions, which are counted on their transaction; the ACK of a refused INVITE, which is part of
//!   its transaction; the further final responses of a forked INVITE.
//!
//! The key is a hash of the top Via's branch, the method of CSeq, and the direction of the request, as both
//! sides of a flow may ask. Provisional responses are no answer: the final response says how many there were
//! and how long it took until somebody rang (`sip.post_dial_delay_ms`).

#[cfg(test)]
mod tests;
mod transactions;

use super::{Known, Message, Uri, looks_like_start, parse};
use crate::{
    AfterGap, DecodeError, Decoder, Input, Key, Meta, Name, Notice, Out, Progress, Protocol, Role, Shape,
    Start, Status, Verdict, What, hash::Hash, scratch::Scratch, sdp,
};
use model::{Dir, Transport};
use transactions::{Transaction, Transactions};

/// Bytes of a first line that a probe looks at.
const PROBE_BYTES: usize = 256;

/// SIP.
#[derive(Debug)]
pub struct Sip {
    transactions: Transactions,
    /// Per lane: bytes of a head in which its end was not found.
    scanned: [usize; 2],
    /// Per lane: the place is lost.
    lost: [bool; 2],
}

impl Decoder for Sip {
    const META: Meta = Meta {
        name: "sip",
        title: "SIP",
        transports: &[Transport::Udp, Transport::Tcp],
        ports: &[5060],
        probe_bytes: PROBE_BYTES,
        max_message: 65_536,
        specs: &[
            "https://www.rfc-editor.org/rfc/rfc3261",
            "https://www.rfc-editor.org/rfc/rfc7989",
            "https://www.rfc-editor.org/rfc/rfc8866",
        ],
        decoded: "Transactions with method, Request-URI, Call-ID, parties and final code; post-dial delay; the \
                  media endpoints of SDP.",
        not_decoded: "WebSocket, SigComp, bodies other than SDP.",
    };

    fn open(start: Start) -> Self {
        Self { transactions: Transactions::default(), scanned: [0; 2], lost: [start == Start::Middle; 2] }
    }

    fn probe(input: &Input<'_>) -> Verdict {
        let bytes = input.bytes.get(..PROBE_BYTES).unwrap_or(input.bytes);
        let mut bytes = bytes;
        while let [b'\r' | b'\n', rest @ ..] = bytes {
            bytes = rest;
        }
        if bytes.is_empty() {
            return if input.is_last() { Verdict::No } else { Verdict::NeedMore };
        }
        // A method of SIP alone, such as OPTIONS, is one of HTTP and RTSP too.
        match memchr::memchr(b'\n', bytes).and_then(|end| bytes.get(..end)) {
            Some(line) => {
                let line = line.trim_ascii_end();
                let version = line.starts_with(b"SIP/2.0 ") || line.ends_with(b" SIP/2.0");
                if version && looks_like_start(line) { Verdict::Yes } else { Verdict::No }
            }
            None if input.is_last() || bytes.len() >= PROBE_BYTES.saturating_sub(4) => Verdict::No,
            None if bytes.len() >= 12 && !looks_like_start(bytes) => Verdict::No,
            None if bytes.iter().all(|byte| (b' '..0x7f).contains(byte) || *byte == b'\r') => {
                Verdict::NeedMore
            }
            None => Verdict::No,
        }
    }

    fn decode(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        if input.shape == Shape::Datagram {
            return match parse(input.bytes) {
                Ok(message) => {
                    self.message(input, &message, input.bytes.len() as u64, out);
                    Ok(Progress::consumed(input.bytes.len()))
                }
                Err(error) if matches!(error.what, What::Empty | What::KeepAlive) => {
                    Ok(Progress::consumed(input.bytes.len()))
                }
                Err(error) => Err(error),
            };
        }
        self.stream(input, out)
    }

    fn gap(&mut self, dir: Dir, _: u64, _: &mut Out) -> AfterGap {
        self.set_scanned(dir, 0);
        self.set_lost(dir, true);
        AfterGap::Resync
    }
}

impl Sip {
    fn set_scanned(&mut self, dir: Dir, bytes: usize) {
        if let Some(scanned) = self.scanned.get_mut(dir.index()) {
            *scanned = bytes;
        }
    }

    fn set_lost(&mut self, dir: Dir, is_lost: bool) {
        if let Some(lost) = self.lost.get_mut(dir.index()) {
            *lost = is_lost;
        }
    }

    fn stream(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let bytes = input.bytes;
        let gone = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        if gone > 0 {
            // Keep-alives (RFC 5626 §3.5.1).
            return Ok(Progress::consumed(gone));
        }
        if bytes.is_empty() {
            return Ok(Progress::at_least(1));
        }
        if self.lost.get(input.dir.index()).copied().unwrap_or(false) {
            match Self::probe(input) {
                _ if !input.segment_start => return Ok(Progress::consumed(bytes.len())),
                Verdict::Yes => self.set_lost(input.dir, false),
                Verdict::NeedMore => return Ok(Progress::at_least(bytes.len().saturating_add(1))),
                Verdict::Likely | Verdict::No => return Ok(Progress::consumed(bytes.len())),
            }
        }
        let scanned = self.scanned.get(input.dir.index()).copied().unwrap_or_default();
        let Some(head) = head_end(bytes, scanned) else {
            if scanned == 0 && bytes.len() >= 12 && !looks_like_start(bytes) && is_no_token(bytes) {
                return Err(DecodeError::new(What::NotSip, 0));
            }
            self.set_scanned(input.dir, bytes.len());
            return Ok(Progress::at_least(bytes.len().saturating_add(1)));
        };
        // Head and body are asked for as one, so that a body is seen whole.
        let message = parse(bytes.get(..head).unwrap_or(bytes))?;
        let body = message.content_length().unwrap_or(0) as usize;
        let whole = head.saturating_add(body);
        if whole > Self::META.max_message {
            self.set_scanned(input.dir, 0);
            self.message(input, &message, whole as u64, out);
            return Ok(Progress::skip(head, body as u64));
        }
        let Some(bytes) = bytes.get(..whole) else {
            self.set_scanned(input.dir, head.saturating_sub(4));
            return Ok(Progress::at_least(whole));
        };
        self.set_scanned(input.dir, 0);
        self.message(input, &parse(bytes)?, whole as u64, out);
        Ok(Progress::consumed(whole))
    }

    fn message(&mut self, input: &Input<'_>, message: &Message<'_>, bytes: u64, out: &mut Out) {
        let seen = usize::try_from(bytes).unwrap_or(usize::MAX).min(input.bytes.len());
        out.raw(input, input.bytes.get(..seen).unwrap_or(input.bytes));
        if message.is_request() {
            self.request(input, message, bytes, out);
        } else if let Some(code) = message.code() {
            self.response(input, message, code, bytes, out);
        }
    }

    fn request(&mut self, input: &Input<'_>, message: &Message<'_>, bytes: u64, out: &mut Out) {
        let method = message.request_method().unwrap_or_default();
        let key = key(message, method, input.dir);
        if let Some(known) = self.transactions.find(key, input.time) {
            known.last = input.time;
            known.repeats = known.repeats.saturating_add(1);
            return;
        }
        let is_ack = method == b"ACK";
        if is_ack {
            // Of a refused INVITE it has the branch of that (RFC 3261 §17.1.1.3).
            let invite = self::key(message, b"INVITE", input.dir);
            if self.transactions.find(invite, input.time).is_some_and(|known| known.code >= 300) {
                return;
            }
        }
        self.transactions.add(Transaction {
            key,
            asked: Some(input.first),
            last: input.time,
            // An ACK has no answer: it is over at once.
            code: u16::from(is_ack),
            ..Transaction::default()
        });
        let role = if is_ack { Role::OneWay } else { Role::Request };
        let told = out.begin(input, role, Key::Id(key)).text(Name::Operation, method);
        let told = about(uri(told, Name::Resource, message.ruri()), message);
        let told = match message.user_agent() {
            Some(agent) => told.text(Name::Attribute("user_agent.original"), agent),
            None => told,
        };
        let told = match message.value(Known::SessionId).and_then(trace_id) {
            Some(id) => told.text(Name::TraceId, &id),
            None => told,
        };
        if message.problems().contains(super::Problems::NO_VIA) {
            told.notice(Notice::Malformed);
        }
        out.end(input, role, Key::Id(key), bytes, Status::Unset);
        announce(message, out);
    }

    fn response(&mut self, input: &Input<'_>, message: &Message<'_>, code: u16, bytes: u64, out: &mut Out) {
        let Some(method) = message.method() else { return };
        let key = key(message, method, input.dir.reverse());
        let known = self.transactions.find(key, input.time);
        let mut one =
            known.map_or(Transaction { key, last: input.time, ..Transaction::default() }, |known| *known);
        one.last = input.time;
        if code < 200 {
            one.provisional = one.provisional.saturating_add(1);
            if code > 100 && one.ringing.is_none() {
                one.ringing = Some(input.first);
            }
            self.transactions.add(one);
            announce(message, out);
            return;
        }
        if one.code != 0 {
            self.transactions.add(one);
            return;
        }
        one.code = code;
        self.transactions.add(one);
        let told = out.begin(input, Role::Response, Key::Id(key));
        if one.asked.is_none() {
            // Nobody else says what it was about.
            about(told.text(Name::Operation, method), message);
        }
        let status = if code < 400 { Status::Ok } else { Status::Error };
        let mut text = Scratch::<4>::new();
        text.decimal(code.into());
        let mut told =
            out.end(input, Role::Response, Key::Id(key), bytes, status).text(Name::StatusCode, text.get());
        if let (Some(reason), true) = (message.reason(), code >= 400) {
            told = told.text(Name::Error, reason);
        }
        if one.repeats > 0 {
            told = told.int(Name::Attribute("sip.retransmissions"), one.repeats.into());
        }
        if one.provisional > 0 {
            told = told.int(Name::Attribute("sip.provisional"), one.provisional.into());
        }
        if let (Some(asked), Some(ringing), b"INVITE") = (one.asked, one.ringing, method) {
            let delay = ringing.0.saturating_sub(asked.0) / 1_000_000;
            told = told.int(Name::Attribute("sip.post_dial_delay_ms"), delay);
        }
        if let Some(server) = message.server() {
            told.text(Name::Attribute("sip.server"), server);
        }
        announce(message, out);
    }
}

/// Where the body begins: behind the first empty line. The first `scanned` bytes hold none.
fn head_end(bytes: &[u8], scanned: usize) -> Option<usize> {
    let from = scanned.saturating_sub(3);
    for at in memchr::memchr_iter(b'\n', bytes.get(from..)?) {
        let after = from.saturating_add(at).saturating_add(1);
        match bytes.get(after..)? {
            [b'\n', ..] => return Some(after.saturating_add(1)),
            [b'\r', b'\n', ..] => return Some(after.saturating_add(2)),
            _ => {}
        }
    }
    None
}

/// Whether bytes do not even begin like a method of an extension.
fn is_no_token(bytes: &[u8]) -> bool {
    let word = bytes.iter().position(|byte| *byte == b' ').and_then(|end| bytes.get(..end));
    !word.is_some_and(|word| !word.is_empty() && word.iter().all(u8::is_ascii_uppercase))
}

/// The key of a transaction whose request goes `dir` (RFC 3261 §17.1.3, §17.2.3). Without a branch that is
/// unique by itself, Call-ID and sequence number make it so.
fn key(message: &Message<'_>, method: &[u8], dir: Dir) -> u64 {
    let mut hash = Hash::new();
    let branch = message.hop().and_then(|hop| hop.branch).unwrap_or_default();
    hash.add(branch);
    hash.add(if dir == Dir::ToServer { b"\0>" } else { b"\0<" });
    hash.add(method);
    if !branch.starts_with(b"z9hG4bK") {
        hash.add(b"\0");
        hash.add(message.call_id().unwrap_or_default());
        hash.add(&message.cseq().map_or(0, |cseq| cseq.number).to_be_bytes());
    }
    hash.finish()
}

/// Writes what a message belongs to.
fn about<'o>(told: crate::Message<'o>, message: &Message<'_>) -> crate::Message<'o> {
    let mut told = told;
    if let Some(id) = message.call_id() {
        told = told.text(Name::Attribute("sip.call_id"), id);
    }
    told = uri(told, Name::Attribute("sip.from"), message.from().map(|address| address.uri));
    told = uri(told, Name::Attribute("sip.to"), message.to().map(|address| address.uri));
    match message.cseq() {
        Some(cseq) => told.int(Name::Attribute("sip.cseq"), cseq.number.into()),
        None => told,
    }
}

/// Writes `user@host` of a URI: no password, no parameters.
fn uri<'o>(told: crate::Message<'o>, name: Name, uri: Option<Uri<'_>>) -> crate::Message<'o> {
    match uri.map(|uri| (uri.user, uri.host, uri.raw)) {
        Some((Some(user), Some(host), _)) => told.parts(name, &[user, b"@", host]),
        Some((Some(only), None, _) | (None, Some(only), _)) => told.text(name, only),
        Some((None, None, raw)) if !raw.is_empty() => told.text(name, raw),
        _ => told,
    }
}

/// The identifier of RFC 7989 in front of its parameters, when it is 32 digits and not the null one.
fn trace_id(value: &[u8]) -> Option<[u8; 32]> {
    let (id, rest) = value.split_first_chunk::<32>()?;
    let whole = !rest.first().is_some_and(u8::is_ascii_alphanumeric);
    let known = id.iter().any(|byte| *byte != b'0');
    (whole && known && id.iter().all(u8::is_ascii_hexdigit)).then(|| id.map(|byte| byte.to_ascii_lowercase()))
}

/// Announces the media of a body: where RTP and RTCP will be received.
fn announce(message: &Message<'_>, out: &mut Out) {
    let Some(kind) = message.content_type() else { return };
    let starts = |with: &[u8]| kind.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    if message.body().is_empty() || !(starts(b"application/sdp") || starts(b"multipart/")) {
        return;
    }
    let call = message.call_id().unwrap_or_default();
    sdp::media(message.body(), |media| {
        for endpoint in media.endpoints().into_iter().flatten() {
            out.expect(endpoint, Protocol::Rtp, "sip.call_id", call);
        }
    });
}
