//! DNS (RFC 1035) over UDP and TCP, with EDNS (RFC 6891), mDNS (RFC 6762) and LLMNR (RFC 4795).
//!
//! * In: datagrams, or messages of a stream with their length in front (RFC 7766).
//! * Out: a roundtrip for each query and its response, whatever order they come in: the key is the id mixed
//!   with the question. What goes to or comes from a multicast group is one-way. A zone transfer is one
//!   response of several messages.
//! * Owned: the last [`RECENT`] questions, for responses that do not repeat them; a transfer under way.
//! * Bounded by: 64 KiB a message; [`message::ANSWER_BYTES`] bytes of answers as text.
//! * Lost: nothing of a message that can be read.
//!
//! The operation is the type that is asked for (`A`), or `NOTIFY`, `UPDATE`, ...; the resource is the name as
//! zone files write it. Answers are written as `A 192.0.2.1; CNAME x.`, in full for the types in
//! [`rdata`], else in the form of RFC 3597.
//!
//! Not decoded: the records of authority and additional sections, EDNS options but extended errors, TSIG,
//! messages of DSO (RFC 8490); DNS over TLS, HTTPS or QUIC.

mod message;
mod name;
mod names;
mod rdata;
#[cfg(test)]
mod tests;

use crate::{
    AfterGap, DecodeError, Decoder, Input, Key, Meta, Name, Notice, Out, Progress, Role, Shape, Start,
    Status, Verdict, What, scratch::Scratch,
};
use message::{ANSWER_BYTES, AXFR, HEADER, Header, IXFR, Message, Serials};
use model::{Dir, Transport};

/// Questions that are remembered.
const RECENT: usize = 8;

const MDNS: u16 = 5353;
const LLMNR: u16 = 5355;

/// DNS.
#[derive(Debug)]
pub struct Dns {
    /// Id and hash of the last questions, and where the next goes.
    recent: [(u16, u64); RECENT],
    next: usize,
    /// Whether a query to one host was seen.
    asked: bool,
    transfer: Option<Transfer>,
    /// Per lane: the place is lost.
    lost: [bool; 2],
}

/// A zone transfer under way.
#[derive(Debug, Clone, Copy)]
struct Transfer {
    dir: Dir,
    id: u16,
    key: Key,
    kind: u16,
    bytes: u64,
    serials: Serials,
}

impl Decoder for Dns {
    const META: Meta = Meta {
        name: "dns",
        title: "DNS",
        transports: &[Transport::Udp, Transport::Tcp],
        ports: &[53, MDNS, LLMNR],
        probe_bytes: 1_500,
        max_message: 65_537,
        specs: &[
            "https://www.rfc-editor.org/rfc/rfc1035",
            "https://www.rfc-editor.org/rfc/rfc6891",
            "https://www.rfc-editor.org/rfc/rfc6762",
            "https://www.rfc-editor.org/rfc/rfc7766",
        ],
        decoded: "Questions, response codes, answers as text; EDNS and extended errors; zone transfers; mDNS and \
                  LLMNR.",
        not_decoded: "Authority and additional records, TSIG, stateful operations.",
    };

    fn open(start: Start) -> Self {
        Self {
            recent: [(0, 0); RECENT],
            next: 0,
            asked: false,
            transfer: None,
            lost: [start == Start::Middle; 2],
        }
    }

    fn probe(input: &Input<'_>) -> Verdict {
        let (bytes, short) = match input.shape {
            Shape::Datagram => (input.bytes, false),
            Shape::Stream { .. } => match framed(input.bytes) {
                Framed::Whole(message) => (message, false),
                Framed::Part(message) => (message, true),
                Framed::Nothing => return Verdict::NeedMore,
                Framed::Wrong => return Verdict::No,
            },
        };
        match Header::read(bytes) {
            Ok(header) if header.is_plausible() && header.questions <= 1 => {}
            Err(_) if short => return Verdict::NeedMore,
            _ => return Verdict::No,
        }
        match Message::read(bytes) {
            Ok(_) if short => Verdict::Likely,
            Ok(mut message) => {
                message.records(bytes, &mut Scratch::new(), None);
                let whole = !message.malformed && message.end == bytes.len();
                match (whole, message.asked && names::kind(message.kind).is_some()) {
                    (true, true) => Verdict::Yes,
                    (true, false) => Verdict::Likely,
                    (false, _) => Verdict::No,
                }
            }
            Err(error) if short && error.what == What::Truncated => Verdict::NeedMore,
            Err(_) => Verdict::No,
        }
    }

    fn decode(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        if input.shape == Shape::Datagram {
            let whole = input.bytes.len().saturating_add(input.cut);
            self.message(input, input.bytes, whole, out)?;
            return Ok(Progress::consumed(input.bytes.len()));
        }
        if self.lost.get(input.dir.index()).copied().unwrap_or(false) {
            let found = input.segment_start && is_start(input.bytes);
            if !found {
                return Ok(Progress::consumed(input.bytes.len()));
            }
            if let Some(lost) = self.lost.get_mut(input.dir.index()) {
                *lost = false;
            }
        }
        let message = match framed(input.bytes) {
            Framed::Whole(message) => message,
            Framed::Wrong => return Err(DecodeError::new(What::BadLength, 0)),
            Framed::Nothing => return Ok(Progress::at_least(2)),
            Framed::Part(_) => {
                let len = input.bytes.first_chunk().map_or(0, |len| u16::from_be_bytes(*len));
                return Ok(Progress::at_least(usize::from(len).saturating_add(2)));
            }
        };
        let whole = message.len().saturating_add(2);
        self.message(input, message, whole, out)?;
        Ok(Progress::consumed(whole))
    }

    fn gap(&mut self, dir: Dir, _: u64, _: &mut Out) -> AfterGap {
        if let Some(lost) = self.lost.get_mut(dir.index()) {
            *lost = true;
        }
        if self.transfer.is_some_and(|transfer| transfer.dir == dir) {
            self.transfer = None;
        }
        AfterGap::Resync
    }
}

/// The front of a stream.
enum Framed<'a> {
    Whole(&'a [u8]),
    Part(&'a [u8]),
    Nothing,
    Wrong,
}

fn framed(bytes: &[u8]) -> Framed<'_> {
    let Some((len, rest)) = bytes.split_first_chunk() else { return Framed::Nothing };
    let len = usize::from(u16::from_be_bytes(*len));
    match rest.get(..len) {
        _ if len < HEADER => Framed::Wrong,
        Some(message) => Framed::Whole(message),
        None => Framed::Part(rest),
    }
}

/// Whether a message of a stream starts here: header and question can be read, and all of it when it is there.
fn is_start(bytes: &[u8]) -> bool {
    let (bytes, whole) = match framed(bytes) {
        Framed::Whole(message) => (message, true),
        Framed::Part(message) => (message, false),
        Framed::Nothing | Framed::Wrong => return false,
    };
    let Ok(mut message) = Message::read(bytes) else { return false };
    if !message.asked || message.header.questions != 1 || names::class(message.class).is_none() {
        return false;
    }
    message.records(bytes, &mut Scratch::new(), None);
    !whole || (!message.malformed && message.end == bytes.len())
}

impl Dns {
    /// One message; `whole` are its bytes on the wire, with their framing.
    fn message(
        &mut self,
        input: &Input<'_>,
        bytes: &[u8],
        whole: usize,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        let mut message = Message::read(bytes)?;
        let header = message.header;
        if let Some(transfer) = self.transfer
            && transfer.dir == input.dir
            && transfer.id == header.id
            && header.is_response()
        {
            self.further(transfer, input, bytes, whole, &mut message, out);
            return Ok(());
        }
        let key = Key::Id(self.key(&message));
        let role = self.role(input, &header);
        match (role, header.is_response()) {
            (Role::Response, _) => self.response(input, bytes, whole, &mut message, key, out),
            (_, true) => announcement(input, bytes, whole, &mut message, key, out),
            (role, false) => {
                self.asked |= role == Role::Request;
                self.remember(&message);
                query(input, bytes, whole, &mut message, role, key, out);
            }
        }
        Ok(())
    }

    /// What goes to a group is one-way, and so is what a host answers to a question that went to a group:
    /// that was another flow.
    fn role(&self, input: &Input<'_>, header: &Header) -> Role {
        let sender = input.tuple.sender(input.dir);
        let receiver = input.tuple.sender(input.dir.reverse());
        let group = receiver.ip.is_multicast() || sender.ip.is_multicast();
        let service = |port| matches!(port, MDNS | LLMNR);
        let local = input.shape == Shape::Datagram
            && (service(sender.port) || service(receiver.port))
            && (sender.port == receiver.port || (header.is_response() && !self.asked));
        match (group || local, header.is_response()) {
            (true, _) => Role::OneWay,
            (false, true) => Role::Response,
            (false, false) => Role::Request,
        }
    }

    /// The id, and above it the hash of the question: that of the query when the response has none.
    fn key(&self, message: &Message) -> u64 {
        let id = message.header.id;
        let hash = if message.asked {
            message.hash
        } else {
            self.recent.iter().find(|(recent, _)| *recent == id).map_or(0, |(_, hash)| *hash)
        };
        hash << 16 | u64::from(id)
    }

    fn remember(&mut self, message: &Message) {
        if let Some(place) = self.recent.get_mut(self.next) {
            *place = (message.header.id, message.hash);
        }
        self.next = self.next.saturating_add(1) % RECENT;
    }

    fn response(
        &mut self,
        input: &Input<'_>,
        bytes: &[u8],
        whole: usize,
        message: &mut Message,
        key: Key,
        out: &mut Out,
    ) {
        let mut answers = Scratch::new();
        let mut serials = Serials::default();
        let transfer = matches!(message.kind, AXFR | IXFR) && matches!(input.shape, Shape::Stream { .. });
        message.records(bytes, &mut answers, transfer.then_some(&mut serials));
        out.begin(input, Role::Response, key);
        if transfer && message.code() == 0 && !serials.is_over(message.kind) {
            self.transfer = Some(Transfer {
                dir: input.dir,
                id: message.header.id,
                key,
                kind: message.kind,
                bytes: whole as u64,
                serials,
            });
            return;
        }
        end(input, Role::Response, key, whole as u64, message, &answers, message.header.answers.into(), out);
    }

    /// Takes in a further message of a zone transfer.
    fn further(
        &mut self,
        mut transfer: Transfer,
        input: &Input<'_>,
        bytes: &[u8],
        whole: usize,
        message: &mut Message,
        out: &mut Out,
    ) {
        message.records(bytes, &mut Scratch::new(), Some(&mut transfer.serials));
        transfer.bytes = transfer.bytes.saturating_add(whole as u64);
        if message.code() == 0 && !message.malformed && !transfer.serials.is_over(transfer.kind) {
            self.transfer = Some(transfer);
            return;
        }
        self.transfer = None;
        let records = transfer.serials.records;
        end(input, Role::Response, transfer.key, transfer.bytes, message, &Scratch::new(), records, out);
    }
}

/// Tells a query.
fn query(
    input: &Input<'_>,
    bytes: &[u8],
    whole: usize,
    message: &mut Message,
    role: Role,
    key: Key,
    out: &mut Out,
) {
    let mut ignored = Scratch::new();
    message.records(bytes, &mut ignored, None);
    let local = role == Role::OneWay;
    // The top bit of the class asks mDNS for an answer to the sender alone (RFC 6762 §5.4).
    let alone = local && message.class & 0x8000 != 0;
    let class = if local { message.class & 0x7fff } else { message.class };
    let mut told = question(out.begin(input, role, key), message);
    if class != 1 {
        let name = Name::Attribute("dns.question.class");
        told = match names::class(class) {
            Some(class) => told.label(name, class),
            None => told.int(name, class.into()),
        };
    }
    if message.header.questions > 1 {
        told = told.int(Name::Attribute("dns.questions.count"), message.header.questions.into());
    }
    if local {
        told = told.label(Name::Attribute("dns.message"), "query");
    }
    if alone {
        told = told.flag(Name::Attribute("dns.unicast_response"), true);
    }
    if let Some(edns) = message.edns {
        told = told.int(Name::Attribute("dns.edns.udp_size"), edns.payload.into());
        if edns.dnssec {
            told = told.flag(Name::Attribute("dns.edns.do"), true);
        }
    }
    if message.malformed {
        told.notice(Notice::Malformed);
    }
    out.end(input, role, key, whole as u64, Status::Unset);
}

/// Tells a response that nobody in this flow asked for.
fn announcement(
    input: &Input<'_>,
    bytes: &[u8],
    whole: usize,
    message: &mut Message,
    key: Key,
    out: &mut Out,
) {
    let mut answers = Scratch::new();
    message.records(bytes, &mut answers, None);
    message.first_answer(bytes);
    question(out.begin(input, Role::OneWay, key), message).label(Name::Attribute("dns.message"), "response");
    end(input, Role::OneWay, key, whole as u64, message, &answers, message.header.answers.into(), out);
}

/// Writes what is asked for.
fn question<'o>(told: crate::Message<'o>, message: &Message) -> crate::Message<'o> {
    let mut kind = Scratch::<16>::new();
    rdata::kind_name(message.kind, &mut kind);
    let opcode = message.header.opcode();
    let mut told = match (opcode, names::opcode(opcode), names::kind(message.kind)) {
        (0, _, Some(kind)) => told.label(Name::Operation, kind),
        (0, _, None) => told.text(Name::Operation, kind.get()),
        (_, Some(opcode), _) => told.label(Name::Operation, opcode),
        (_, None, _) => told,
    };
    told = told
        .text(Name::Resource, message.name.get())
        .text(Name::Attribute("dns.question.name"), message.name.get());
    let name = Name::Attribute("dns.question.type");
    match names::kind(message.kind) {
        Some(kind) => told.label(name, kind),
        None => told.text(name, kind.get()),
    }
}

/// Tells the end of a response.
#[allow(clippy::too_many_arguments, reason = "one call has all of it at hand")]
fn end(
    input: &Input<'_>,
    role: Role,
    key: Key,
    whole: u64,
    message: &Message,
    answers: &Scratch<ANSWER_BYTES>,
    count: u32,
    out: &mut Out,
) {
    let code = message.code();
    let status = if code == 0 { Status::Ok } else { Status::Error };
    let told = out.end(input, role, key, whole, status);
    let mut told = match names::code(code) {
        Some(name) => told.label(Name::StatusCode, name).label(Name::Attribute("dns.response.code"), name),
        None => {
            let mut text = Scratch::<16>::new();
            text.push(b"RCODE");
            text.decimal(code.into());
            told.text(Name::StatusCode, text.get()).text(Name::Attribute("dns.response.code"), text.get())
        }
    };
    told = told.int(Name::Attribute("dns.answers.count"), count.into());
    if !answers.is_empty() {
        told = told.text(Name::Attribute("dns.answers"), answers.get());
    }
    if answers.is_cut() {
        told = told.notice(Notice::TextCut);
    }
    if message.header.is_truncated() {
        told = told.flag(Name::Attribute("dns.truncated"), true);
    }
    if message.header.is_authoritative() {
        told = told.flag(Name::Attribute("dns.authoritative"), true);
    }
    if !message.error.is_empty() {
        told = told.text(Name::Error, message.error.get());
    }
    if message.malformed {
        told.notice(Notice::Malformed);
    }
}
