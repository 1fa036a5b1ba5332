//! For tests: plays a conversation through a [`Driver`] and writes down what came out, one line an event.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::{Driver, End, Entry, Event, Fields, Limits, Name, Out, Protocol, Start, Status, Value};
use core::fmt::Write;
use model::{Arrival, Dir, Endpoint, FiveTuple, Heard, Nanos, Transport};

/// A piece of a conversation.
#[derive(Debug, Clone)]
pub struct Said {
    /// Which way.
    pub dir: Dir,
    /// What.
    pub bytes: Vec<u8>,
}

/// The client says something.
pub fn client(bytes: impl AsRef<[u8]>) -> Said {
    Said { dir: Dir::ToServer, bytes: bytes.as_ref().to_vec() }
}

/// The server says something.
pub fn server(bytes: impl AsRef<[u8]>) -> Said {
    Said { dir: Dir::ToClient, bytes: bytes.as_ref().to_vec() }
}

/// The tuple that played conversations have.
pub fn tuple(transport: Transport) -> FiveTuple {
    let end = |last, port| Endpoint::new([192, 0, 2, last].into(), port);
    FiveTuple { client: end(1, 40_000), server: end(2, 80), transport }
}

/// Plays each piece as one segment, a microsecond apart, then ends the flow.
pub fn play(protocol: Protocol, start: Start, talk: &[Said]) -> Vec<String> {
    play_with(protocol, start, Limits::default(), talk, usize::MAX)
}

/// Plays the pieces in segments of at most `size` bytes.
pub fn play_with(
    protocol: Protocol,
    start: Start,
    limits: Limits,
    talk: &[Said],
    size: usize,
) -> Vec<String> {
    let mut player = Player::new(protocol, start, limits);
    for said in talk {
        for (i, part) in said.bytes.chunks(size.max(1)).enumerate() {
            player.bytes(said.dir, part, i == 0 || size < usize::MAX);
        }
        player.clock += 1_000;
    }
    player.finish()
}

/// Asserts that cutting the conversation anywhere changes nothing: byte by byte, in segments of a few
/// sizes, and with each piece cut in two at every place.
pub fn assert_cuts_do_not_matter(protocol: Protocol, start: Start, talk: &[Said]) -> Vec<String> {
    let whole = play(protocol, start, talk);
    for size in [1, 2, 3, 5, 7, 16, 61, 1_448] {
        let cut = play_with(protocol, start, Limits::default(), talk, size);
        assert_eq!(whole, cut, "in segments of {size} bytes");
    }
    for (at, said) in talk.iter().enumerate() {
        for split in 1..said.bytes.len().min(600) {
            let mut player = Player::new(protocol, start, Limits::default());
            for (i, said) in talk.iter().enumerate() {
                if i == at {
                    player.bytes(said.dir, &said.bytes[..split], true);
                    player.bytes(said.dir, &said.bytes[split..], true);
                } else {
                    player.bytes(said.dir, &said.bytes, true);
                }
                player.clock += 1_000;
            }
            assert_eq!(whole, player.finish(), "piece {at} cut at {split}");
        }
    }
    whole
}

/// Plays pieces that follow each other in one direction as one segment: pipelining.
pub fn play_coalesced(protocol: Protocol, start: Start, talk: &[Said]) -> Vec<String> {
    let mut joined: Vec<Said> = Vec::new();
    for said in talk {
        match joined.last_mut() {
            Some(last) if last.dir == said.dir => last.bytes.extend_from_slice(&said.bytes),
            _ => joined.push(said.clone()),
        }
    }
    play(protocol, start, &joined)
}

/// A conversation under way.
#[derive(Debug)]
pub struct Player {
    driver: Driver,
    out: Out,
    tuple: FiveTuple,
    lines: Vec<String>,
    /// The time of the next piece, nanoseconds.
    pub clock: i64,
}

impl Player {
    /// A conversation that has not begun.
    pub fn new(protocol: Protocol, start: Start, limits: Limits) -> Self {
        let transport = match protocol.meta().transports {
            [only] => *only,
            _ => Transport::Tcp,
        };
        Self {
            driver: Driver::new(protocol, start),
            out: Out::new(limits),
            tuple: tuple(transport),
            lines: Vec::new(),
            clock: 0,
        }
    }

    /// A segment.
    pub fn bytes(&mut self, dir: Dir, bytes: &[u8], segment_start: bool) {
        let arrival = Arrival { time: Nanos(self.clock), segment_start, heard: Heard::All, cut: 0 };
        self.driver.bytes(&self.tuple, dir, bytes, arrival, &mut self.out);
        self.note();
    }

    /// A datagram.
    pub fn datagram(&mut self, dir: Dir, bytes: &[u8]) {
        let arrival = Arrival::datagram(Nanos(self.clock), 0);
        self.driver.datagram(&self.tuple, dir, bytes, arrival, &mut self.out);
        self.note();
    }

    /// Missing bytes.
    pub fn gap(&mut self, dir: Dir, missing: u64) {
        self.driver.gap(&self.tuple, dir, Nanos(self.clock), missing, &mut self.out);
        self.note();
    }

    /// The sender closes a lane.
    pub fn eof(&mut self, dir: Dir) {
        self.driver.eof(&self.tuple, dir, Nanos(self.clock), &mut self.out);
        self.note();
    }

    /// Ends the flow (both lanes closed first) and returns what came out.
    pub fn finish(mut self) -> Vec<String> {
        for dir in Dir::BOTH {
            self.eof(dir);
        }
        self.driver.finish(End::Fin, &mut self.out);
        self.note();
        if self.driver.errors() > 0 {
            let last = self.driver.last_error().map(|error| error.what.as_str());
            self.lines.push(format!("errors {} {}", self.driver.errors(), last.unwrap_or_default()));
        }
        self.lines
    }

    /// What came out so far.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    fn note(&mut self) {
        // Whole messages are said by their fields already.
        for event in self.out.events().iter().filter(|event| !matches!(event, Event::Raw { .. })) {
            self.lines.push(line(event, self.out.fields()));
        }
        self.out.clear();
    }
}

/// An event as a line, such as `> begin request order operation=GET`.
pub fn line(event: &Event, fields: &Fields) -> String {
    let arrow = |dir: &Dir| if *dir == Dir::ToServer { '>' } else { '<' };
    let mut text = String::new();
    let range = match event {
        Event::Begin { role, dir, key, time, fields, notices, heard: _ } => {
            let _ = write!(text, "{} begin {role:?} {key:?} t{}", arrow(dir), time.micros());
            let _ = if *notices == 0 { Ok(()) } else { write!(text, " notices={notices}") };
            fields.clone()
        }
        Event::End { role, dir, key, time, bytes, status, fields, notices } => {
            let _ = write!(text, "{} end {role:?} {key:?} t{} bytes={bytes}", arrow(dir), time.micros());
            let _ = if *status == Status::Unset { Ok(()) } else { write!(text, " {status:?}") };
            let _ = if *notices == 0 { Ok(()) } else { write!(text, " notices={notices}") };
            fields.clone()
        }
        Event::Gap { dir, missing, .. } => {
            let _ = write!(text, "{} gap {missing}", arrow(dir));
            0..0
        }
        Event::Cut { key, why, .. } => {
            let _ = write!(text, "cut {key:?} {why}");
            0..0
        }
        Event::Rekey { id } => {
            let _ = write!(text, "rekey {id}");
            0..0
        }
        Event::Flow { fields } => {
            text.push_str("flow");
            fields.clone()
        }
        Event::Expect(expected) => {
            let _ = write!(text, "expect {} {}", expected.protocol.as_str(), expected.endpoint);
            expected.fields.clone()
        }
        Event::Raw { dir, bytes, .. } => {
            let _ = write!(text, "{} raw {}", arrow(dir), fields.text(bytes).len());
            0..0
        }
        Event::Opaque(why) => {
            let _ = write!(text, "opaque {why}");
            0..0
        }
    };
    for Entry { name, value } in fields.entries().get(range).unwrap_or_default() {
        let name = match name {
            Name::Operation => "operation",
            Name::Resource => "resource",
            Name::StatusCode => "status_code",
            Name::Error => "error",
            Name::TraceId => "trace_id",
            Name::SpanId => "span_id",
            Name::Attribute(name) => name,
            Name::Protocol => "protocol",
        };
        let _ = match value {
            Value::Text(range) => write!(text, " {name}={}", fields_text(fields, range)),
            Value::Static(label) => write!(text, " {name}={label}"),
            Value::Int(number) => write!(text, " {name}={number}"),
            Value::Bool(flag) => write!(text, " {name}={flag}"),
        };
    }
    text
}

fn fields_text(fields: &Fields, range: &core::ops::Range<u32>) -> String {
    fields.text(range).escape_ascii().to_string()
}
