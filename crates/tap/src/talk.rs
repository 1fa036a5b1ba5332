//! What is known of one flow above TCP and UDP: first its protocol, then its decoder and its pairing.

use crate::detect::{Candidates, Found, Hint, PROBE_BYTES, PROBE_PIECES};
use crate::live::Shown;
use crate::{Side, Sink};
use correlate::{Asking, Pairs};
use decode::{Driver, Event, Fields, Input, Name, Protocol, Shape, Start, Value};
use flow::{End, Flow, Seen};
use model::{Arrival, Dir, Nanos, Transport};

/// Silence before the first packet of a joined flow after which nothing is owed in it.
const SILENCE_NS: i64 = 1_000_000_000;

/// Datagrams that must look likely before a protocol without a hint is believed.
const LIKELY_DATAGRAMS: u8 = 3;

/// What a flow is, for its row and for its roundtrips' rows.
#[derive(Debug, Default)]
pub struct About {
    /// Its protocol, once that is known.
    pub protocol: Option<Protocol>,
    /// Why it shows no (more) roundtrips: `tls`, `websocket`, `compressed`, `unreadable`...
    pub opaque: Option<&'static str>,
    /// What it told about itself: server name, ALPN...
    pub facts: Fields,
    /// Its roundtrips so far, of every outcome.
    pub roundtrips: u64,
    /// Errors of its decoder.
    pub errors: u8,
    /// The cause of the last one.
    pub last_error: Option<&'static str>,
}

/// The fact that names a call.
const CALL_ID: Name = Name::Attribute("sip.call_id");

impl About {
    /// The call that a flow of media belongs to.
    pub fn call_id(&self) -> Option<&[u8]> {
        match self.facts.find(CALL_ID) {
            Some(Value::Text(range)) => Some(self.facts.text(range)),
            _ => None,
        }
    }
}

/// Facts that a flow keeps at most.
const MAX_FACTS: usize = 32;

/// One flow. Small until it speaks.
#[derive(Debug, Default)]
pub struct Talk {
    state: State,
    shown: Option<Shown>,
}

#[derive(Debug, Default)]
enum State {
    /// No payload yet.
    #[default]
    Silent,
    /// No payload yet, and some is missing.
    Missed,
    /// The protocol is not known yet.
    Listening(Box<Listening>),
    /// It is known.
    Speaking(Box<Speaking>),
    /// It is none of ours, or not wanted.
    Ignored,
}

#[derive(Debug)]
struct Listening {
    hint: Hint,
    candidates: Candidates,
    pieces: u8,
    likely: u8,
    /// Bytes before those that are held are missing.
    gap: bool,
    held: Vec<u8>,
    said: Vec<Piece>,
}

/// One segment or datagram held until the protocol is known.
#[derive(Debug, Clone, Copy)]
struct Piece {
    dir: Dir,
    arrival: Arrival,
    end: usize,
}

#[derive(Debug)]
struct Speaking {
    driver: Driver,
    pairs: Pairs,
    about: About,
}

impl Talk {
    pub(crate) fn new(shown: Option<Shown>) -> Self {
        Self { state: State::Silent, shown }
    }

    /// Brings what others see of the flow up to date.
    #[inline]
    fn show<S>(&mut self, side: &mut Side<S>, flow: &Flow) {
        let Self { state, shown } = self;
        if let (Some(show), Some(shown)) = (&mut side.show, shown) {
            show.carried(shown, flow, || match state {
                State::Speaking(speaking) => speaking.about.protocol,
                _ => None,
            });
        }
    }

    pub(crate) fn bytes<S: Sink>(
        &mut self,
        side: &mut Side<S>,
        flow: &Flow,
        dir: Dir,
        bytes: &[u8],
        arrival: Arrival,
    ) {
        self.show(side, flow);
        match &mut self.state {
            State::Speaking(speaking) => {
                speaking.driver.bytes(&flow.tuple, dir, bytes, arrival, &mut side.out);
                speaking.settle(side, flow, arrival.time);
            }
            State::Ignored => side.unknown(bytes),
            State::Silent | State::Missed | State::Listening(_) => {
                self.listen(side, flow, dir, bytes, arrival);
            }
        }
    }

    pub(crate) fn datagram<S: Sink>(
        &mut self,
        side: &mut Side<S>,
        flow: &Flow,
        dir: Dir,
        bytes: &[u8],
        arrival: Arrival,
    ) {
        self.show(side, flow);
        match &mut self.state {
            State::Speaking(speaking) => {
                speaking.driver.datagram(&flow.tuple, dir, bytes, arrival, &mut side.out);
                speaking.settle(side, flow, arrival.time);
            }
            State::Ignored => side.unknown(bytes),
            State::Silent | State::Missed | State::Listening(_) => {
                self.listen(side, flow, dir, bytes, arrival);
            }
        }
    }

    pub(crate) fn gap<S: Sink>(
        &mut self,
        side: &mut Side<S>,
        flow: &Flow,
        dir: Dir,
        missing: u64,
        time: Nanos,
    ) {
        match &mut self.state {
            State::Speaking(speaking) => {
                speaking.driver.gap(&flow.tuple, dir, time, missing, &mut side.out);
                speaking.settle(side, flow, time);
            }
            State::Listening(listening) => {
                // What was held is no longer the beginning of anything.
                listening.held.clear();
                listening.said.clear();
                listening.candidates = Candidates::all(&flow.tuple);
                listening.gap = true;
            }
            State::Silent => self.state = State::Missed,
            State::Missed | State::Ignored => {}
        }
    }

    pub(crate) fn eof<S: Sink>(&mut self, side: &mut Side<S>, flow: &Flow, dir: Dir, time: Nanos) {
        if let State::Speaking(speaking) = &mut self.state {
            speaking.driver.eof(&flow.tuple, dir, time, &mut side.out);
            speaking.settle(side, flow, time);
        }
    }

    pub(crate) fn close<S: Sink>(self, side: &mut Side<S>, flow: &Flow, end: End) {
        let mut about = About::default();
        if let (Some(show), Some(shown)) = (&mut side.show, self.shown) {
            show.close(shown);
        }
        match self.state {
            State::Speaking(mut speaking) => {
                speaking.driver.finish(ended(end), &mut side.out);
                speaking.settle(side, flow, flow.last);
                side.name(flow, &mut speaking.about, flow.last);
                let Speaking { pairs, about, .. } = &mut *speaking;
                let Side { pool, sink, counters, .. } = side;
                pairs.close(reason(end), pool, &mut |row| {
                    about.roundtrips = about.roundtrips.saturating_add(1);
                    counters.roundtrip(row.outcome);
                    sink.roundtrip(flow, about, row);
                });
                side.sink.flow(flow, &speaking.about, end);
                return;
            }
            State::Listening(listening) => {
                about.opaque = Some("unknown");
                side.unknown(&listening.held);
            }
            State::Ignored => about.opaque = Some("unknown"),
            State::Silent | State::Missed => about.opaque = Some("silent"),
        }
        side.sink.flow(flow, &about, end);
    }

    /// What the flow is, once it speaks.
    pub fn about(&self) -> Option<&About> {
        match &self.state {
            State::Speaking(speaking) => Some(&speaking.about),
            _ => None,
        }
    }

    /// Looks for the protocol of a flow.
    fn listen<S: Sink>(&mut self, side: &mut Side<S>, flow: &Flow, dir: Dir, bytes: &[u8], arrival: Arrival) {
        if bytes.is_empty() {
            return;
        }
        if matches!(self.state, State::Silent | State::Missed) {
            let gap = matches!(self.state, State::Missed);
            match side.hint(flow, arrival.time) {
                Hint::Excluded => {
                    self.state = State::Ignored;
                    return side.unknown(bytes);
                }
                Hint::Forced(protocol) => {
                    let mut speaking = Speaking::open(side, flow, protocol, gap);
                    speaking.piece(side, flow, dir, bytes, arrival);
                    self.state = State::Speaking(speaking);
                    return;
                }
                hint => {
                    self.state = State::Listening(Box::new(Listening {
                        hint,
                        candidates: Candidates::all(&flow.tuple),
                        pieces: 0,
                        likely: 0,
                        gap,
                        held: Vec::new(),
                        said: Vec::new(),
                    }));
                }
            }
        }
        let State::Listening(listening) = &mut self.state else { return };
        match listening.hear(flow, dir, bytes, arrival) {
            Found::More => {}
            Found::Nothing => {
                side.unknown(&listening.held);
                self.state = State::Ignored;
            }
            Found::This(protocol) => {
                let mut speaking = Speaking::open(side, flow, protocol, listening.gap);
                let mut start = 0;
                for piece in &listening.said {
                    let held = listening.held.get(start..piece.end).unwrap_or_default();
                    speaking.piece(side, flow, piece.dir, held, piece.arrival);
                    start = piece.end;
                }
                self.state = State::Speaking(speaking);
            }
        }
    }
}

impl Listening {
    /// Holds a piece and asks the probes.
    fn hear(&mut self, flow: &Flow, dir: Dir, bytes: &[u8], arrival: Arrival) -> Found {
        let datagram = flow.tuple.transport == Transport::Udp;
        let joined = !datagram && (flow.start == Seen::Middle || self.gap);
        self.pieces = self.pieces.saturating_add(1);
        if joined {
            // Each segment may be the first one that starts with a message.
            self.held.clear();
            self.said.clear();
            self.candidates = Candidates::all(&flow.tuple);
        }
        self.held.extend_from_slice(bytes);
        self.said.push(Piece { dir, arrival, end: self.held.len() });
        let first = self.said.iter().position(|piece| piece.dir == dir).unwrap_or(0);
        let lane;
        let shown = if datagram || joined {
            bytes
        } else {
            lane = self.lane(dir);
            &lane
        };
        let input = Input {
            bytes: shown,
            dir,
            first: self.said.get(first).map_or(arrival.time, |piece| piece.arrival.time),
            heard: arrival.heard,
            cut: usize::try_from(arrival.cut).unwrap_or(usize::MAX),
            time: arrival.time,
            shape: if datagram { Shape::Datagram } else { Shape::Stream { eof: false } },
            segment_start: true,
            tuple: &flow.tuple,
        };
        let found = self.candidates.probe(&input, self.hint);
        match found {
            Found::This(protocol) if datagram && Some(protocol) != self.hint.protocol() => {
                // A single datagram may look like anything; several in a row do not.
                self.likely = self.likely.saturating_add(1);
                let sure = protocol.probe(&input) == decode::Verdict::Yes;
                if sure || self.likely >= LIKELY_DATAGRAMS { found } else { self.patience() }
            }
            Found::This(_) => found,
            Found::Nothing if joined => match self.hint {
                // The decoder of a known server looks for a message by itself.
                Hint::Believed(protocol) | Hint::Usual(protocol) => Found::This(protocol),
                _ => self.patience(),
            },
            Found::Nothing => match self.hint {
                // The other lane may still tell.
                _ if self.said.iter().all(|piece| piece.dir == dir) && self.pieces < PROBE_PIECES => {
                    self.candidates = Candidates::all(&flow.tuple);
                    Found::More
                }
                _ => Found::Nothing,
            },
            Found::More => self.patience(),
        }
    }

    fn patience(&self) -> Found {
        let full = self.held.len() > PROBE_BYTES * 2 || self.pieces >= PROBE_PIECES;
        if full { Found::Nothing } else { Found::More }
    }

    /// The held bytes of one direction.
    fn lane(&self, dir: Dir) -> Vec<u8> {
        let mut start = 0;
        let mut lane = Vec::new();
        for piece in &self.said {
            if piece.dir == dir {
                lane.extend_from_slice(self.held.get(start..piece.end).unwrap_or_default());
            }
            start = piece.end;
        }
        lane.truncate(PROBE_BYTES);
        lane
    }
}

impl Speaking {
    /// A flow that speaks a protocol. `gap`: its first bytes are missing.
    fn open<S: Sink>(side: &mut Side<S>, flow: &Flow, protocol: Protocol, gap: bool) -> Box<Self> {
        let whole = (flow.start == Seen::Handshake && !gap) || flow.tuple.transport == Transport::Udp;
        let start = if whole { Start::Beginning } else { Start::Middle };
        side.detector.remember(flow.tuple.server, protocol, flow.last);
        let asking = match protocol {
            // A second command before the answer to the first is forbidden (its command phase).
            Protocol::Mysql => Asking::Alone,
            _ => Asking::Ahead,
        };
        let mut pairs = Pairs::new(whole, asking);
        if !gap && side.started.is_some_and(|started| flow.first.0.saturating_sub(started.0) >= SILENCE_NS) {
            pairs.joined_in_silence();
        }
        let about = About { protocol: Some(protocol), ..About::default() };
        Box::new(Self { driver: Driver::new(protocol, start), pairs, about })
    }

    fn piece<S: Sink>(&mut self, side: &mut Side<S>, flow: &Flow, dir: Dir, bytes: &[u8], arrival: Arrival) {
        match flow.tuple.transport {
            Transport::Tcp => self.driver.bytes(&flow.tuple, dir, bytes, arrival, &mut side.out),
            Transport::Udp => self.driver.datagram(&flow.tuple, dir, bytes, arrival, &mut side.out),
        }
        self.settle(side, flow, arrival.time);
    }

    /// Gives the decoder's events to the pairing and the rows to the sink.
    fn settle<S: Sink>(&mut self, side: &mut Side<S>, flow: &Flow, time: Nanos) {
        let Self { driver, pairs, about } = self;
        about.protocol = Some(driver.protocol());
        if !side.out.events().is_empty() {
            side.name(flow, about, time);
        }
        if driver.errors() > about.errors {
            if let Some(error) = driver.last_error() {
                side.counters.decode_error(error.what);
                about.last_error = Some(error.what.as_str());
            }
            about.errors = driver.errors();
            if about.errors >= decode::MAX_ERRORS {
                about.opaque = Some("unreadable");
                side.counters.given_up = side.counters.given_up.saturating_add(1);
            }
        }
        let Side { out, pool, sink, counters, answer_timeout_ns, calls, .. } = side;
        for event in out.events() {
            match event {
                Event::Flow { fields } if about.facts.entries().len() < MAX_FACTS => {
                    about.facts.extend(out.fields(), fields.clone());
                }
                Event::Flow { .. } => {}
                Event::Raw { dir, time, bytes } => sink.sip(flow, *dir, *time, out.fields().text(bytes)),
                Event::Opaque(why) => about.opaque = Some(why),
                Event::Expect(expected) => {
                    let entry = out.fields().entries().get(expected.fields.clone()).and_then(<[_]>::first);
                    if let Some(decode::Value::Text(range)) = entry.map(|entry| &entry.value) {
                        let call_id = out.fields().text(range);
                        sink.expect(expected.endpoint, call_id);
                        if let Some(calls) = calls {
                            calls.announce(expected.endpoint, call_id, time);
                        }
                    }
                }
                event => pairs.event(event, out.fields(), pool, &mut |row| {
                    about.roundtrips = about.roundtrips.saturating_add(1);
                    counters.roundtrip(row.outcome);
                    sink.roundtrip(flow, about, row);
                }),
            }
        }
        out.clear();
        let overdue = Nanos(time.0.saturating_sub(*answer_timeout_ns));
        if pairs.oldest().is_some_and(|oldest| oldest < overdue) {
            pairs.expire(overdue, pool, &mut |row| {
                about.roundtrips = about.roundtrips.saturating_add(1);
                counters.roundtrip(row.outcome);
                sink.roundtrip(flow, about, row);
            });
        }
    }
}

impl<S> Side<S> {
    /// What is known of a flow before its first byte.
    fn hint(&mut self, flow: &Flow, time: Nanos) -> Hint {
        let hint = self.detector.hint(&flow.tuple, time);
        if matches!(hint, Hint::Usual(_) | Hint::None) && self.call_id(flow, time).is_some() {
            return Hint::Believed(Protocol::Rtp);
        }
        hint
    }

    /// The call that announced one of the flow's endpoints as media.
    fn call_id(&mut self, flow: &Flow, time: Nanos) -> Option<&[u8]> {
        if flow.tuple.transport != Transport::Udp {
            return None;
        }
        self.calls.as_mut()?.call_id_of([flow.tuple.server, flow.tuple.client], time)
    }

    /// Gives media the name of their call, before their first row after it is known.
    fn name(&mut self, flow: &Flow, about: &mut About, time: Nanos) {
        if about.protocol == Some(Protocol::Rtp)
            && about.call_id().is_none()
            && let Some(call_id) = self.call_id(flow, time)
        {
            about.facts.push_text(CALL_ID, call_id);
        }
    }

    /// The batch has ended: nothing of the shared tables is looked at until the next one.
    pub(crate) fn end_batch(&mut self, now: Nanos) {
        if let Some(calls) = &mut self.calls {
            calls.end_batch(now);
        }
    }

    fn unknown(&mut self, bytes: &[u8]) {
        let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.counters.unknown_bytes = self.counters.unknown_bytes.saturating_add(count);
    }
}

const fn ended(end: End) -> decode::End {
    match end {
        End::Fin => decode::End::Fin,
        End::Reset => decode::End::Reset,
        End::Timeout => decode::End::Timeout,
        End::Evicted => decode::End::Evicted,
        End::Stopped => decode::End::Stopped,
    }
}

/// Why requests of a flow that ended so were not answered.
const fn reason(end: End) -> &'static str {
    match end {
        End::Fin => "closed",
        End::Reset => "reset",
        End::Timeout => "timeout",
        End::Evicted => "evicted",
        End::Stopped => "capture_ended",
    }
}
