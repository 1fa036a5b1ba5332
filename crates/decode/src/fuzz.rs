//! What must hold for any input: called by the fuzz targets and by stable tests over the same
//! corpus. A function here panics when an invariant is broken.

use crate::{
    Driver, End, Event, Limits, Out, Protocol, Start, Value, sdp,
    sip::{self, Known, Message, Problems},
};
use model::{Arrival, Dir, Endpoint, FiveTuple, Heard, Nanos, Transport};

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
        let hop = message.hop().map(|hop| (hop.transport, hop.host, hop.branch));
        assert_eq!(hop, Some((via.transport, via.host, via.branch)));
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

/// Bytes as operations on one flow of any protocol: pieces of both lanes, datagrams, gaps, ends. The first
/// byte is the protocol, the second how the flow begins and into what size its pieces are cut.
///
/// What is held and what comes out stays in its bounds. Where nothing is missing and nothing is wrong, the cut
/// of the pieces changes nothing of the client's lane alone. (What the server says is read by what was asked,
/// and what is begun before its last byte has come is begun before or after what the other side says.)
pub fn decoders(bytes: &[u8]) {
    Talk::run(bytes, &Dir::BOTH, false);
    Talk::run(bytes, &Dir::BOTH, true);
    let asked = &[Dir::ToServer];
    let (Some(whole), Some(cut)) = (Talk::run(bytes, asked, false), Talk::run(bytes, asked, true)) else {
        return;
    };
    if whole.is_plain && whole.driver.errors() == 0 && cut.driver.errors() == 0 {
        // A message that promises more than comes may be told in one case and waited for in the other.
        let differs = whole.lines.iter().zip(&cut.lines).find(|(whole, cut)| whole != cut);
        assert!(differs.is_none(), "{:?}: the cut matters: {differs:#?}", whole.driver.protocol());
    }
}

/// One flow under test.
struct Talk {
    driver: Driver,
    out: Out,
    tuple: FiveTuple,
    now: i64,
    /// What came out, without times.
    lines: Vec<String>,
    /// Seen from its beginning and without gaps.
    is_plain: bool,
}

impl Talk {
    fn run(bytes: &[u8], of: &[Dir], is_cut: bool) -> Option<Self> {
        let (&[protocol, how], mut rest) = bytes.split_first_chunk::<2>()?;
        let protocol = *Protocol::ALL.get(usize::from(protocol).checked_rem(Protocol::ALL.len())?)?;
        let udp = protocol.meta().transports == [Transport::Udp];
        let start = if how & 1 == 0 { Start::Beginning } else { Start::Middle };
        let end = |last, port| Endpoint::new([192, 0, 2, last].into(), port);
        let transport = if udp { Transport::Udp } else { Transport::Tcp };
        let mut talk = Self {
            driver: Driver::new(protocol, start),
            out: Out::new(Limits::default()),
            tuple: FiveTuple { client: end(1, 40_000), server: end(2, 80), transport },
            now: 0,
            lines: Vec::new(),
            is_plain: start == Start::Beginning && !udp,
        };
        let step = if is_cut { usize::from(how >> 1).saturating_add(1) } else { usize::MAX };
        while let Some((&[op, low, high], behind)) = rest.split_first_chunk::<3>() {
            let len = usize::from(u16::from_le_bytes([low, high]));
            let dir = if op & 1 == 0 { Dir::ToServer } else { Dir::ToClient };
            talk.now = talk.now.saturating_add(1_000);
            rest = match (op >> 1) & 7 {
                kind if !of.contains(&dir) => {
                    let len = if kind < 6 { len } else { 0 };
                    behind.get(len..).unwrap_or_default()
                }
                6 => {
                    talk.is_plain = false;
                    talk.gap(dir, len as u64);
                    behind
                }
                7 => {
                    talk.eof(dir);
                    behind
                }
                _ => {
                    let (piece, behind) = behind.split_at_checked(len).unwrap_or((behind, &[]));
                    if udp {
                        let arrival = Arrival::datagram(Nanos(talk.now), 0);
                        talk.driver.datagram(&talk.tuple, dir, piece, arrival, &mut talk.out);
                        talk.check(piece.len());
                    } else {
                        piece.chunks(step).for_each(|part| talk.bytes(dir, part));
                    }
                    behind
                }
            };
        }
        talk.driver.finish(End::Stopped, &mut talk.out);
        talk.check(0);
        Some(talk)
    }

    fn bytes(&mut self, dir: Dir, part: &[u8]) {
        let arrival = Arrival { time: Nanos(self.now), segment_start: true, heard: Heard::All, cut: 0 };
        self.driver.bytes(&self.tuple, dir, part, arrival, &mut self.out);
        self.check(part.len());
    }

    fn gap(&mut self, dir: Dir, missing: u64) {
        self.driver.gap(&self.tuple, dir, Nanos(self.now), missing, &mut self.out);
        self.check(0);
    }

    fn eof(&mut self, dir: Dir) {
        self.driver.eof(&self.tuple, dir, Nanos(self.now), &mut self.out);
        self.check(0);
    }

    /// What came out of a piece, and what is held after it.
    fn check(&mut self, piece: usize) {
        // A message in each lane, each in a vector that has doubled its room; and the piece behind it.
        let most = Protocol::ALL.iter().map(|protocol| protocol.meta().max_message).max().unwrap_or(0);
        let room = most.saturating_add(piece).saturating_add(65_536).saturating_mul(4);
        assert!(self.driver.held_bytes() <= room, "{} bytes held", self.driver.held_bytes());
        let limits = self.out.limits();
        for event in self.out.events() {
            if let Event::Begin { time, .. } | Event::End { time, .. } | Event::Cut { time, .. } = event {
                assert!(time.0 <= self.now, "a message of the future");
            }
            let range = match event {
                Event::Begin { fields, .. } | Event::End { fields, .. } | Event::Flow { fields } => fields,
                Event::Expect(expected) => &expected.fields,
                _ => &(0..0),
            };
            let entries = self.out.fields().entries().get(range.clone());
            assert!(
                entries.is_some_and(|entries| entries.len() <= limits.fields),
                "fields that are not there"
            );
            for entry in entries.unwrap_or_default() {
                if let Value::Text(text) = &entry.value {
                    let len = text.end.saturating_sub(text.start) as usize;
                    assert!(len <= limits.text.max(limits.body), "{:?} has {len} bytes", entry.name);
                    assert_eq!(self.out.fields().text(text).len(), len);
                }
            }
            self.lines.push(without_time(&crate::testkit::line(event, self.out.fields())));
        }
        self.out.clear();
    }
}

fn without_time(line: &str) -> String {
    let is_time = |word: &str| {
        word.strip_prefix('t')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    line.split(' ').filter(|word| !is_time(word)).collect::<Vec<_>>().join(" ")
}
