//! PostgreSQL, frontend/backend protocol 3.0 and 3.2.
//!
//! * In: both lanes of a flow, from its first byte or from the middle.
//! * Out: a roundtrip for the start of the session (`CONNECT`), for each simple query (until
//!   `ReadyForQuery`, however many statements it has), for each `Execute` of the extended protocol with
//!   what prepares it, for each `Sync` or `Flush` behind messages without an `Execute` (`PREPARE`, `BIND`,
//!   `DESCRIBE`, `CLOSE`), for function calls; one-way messages for cancel requests, notices and
//!   notifications outside of an answer, and `Terminate`.
//! * Owned: prepared statements and portals, what was asked and not answered.
//! * Bounded by: [`MAX_PENDING`] unanswered messages, [`portals::MAX_PORTALS`],
//!   [`MAX_STATEMENTS`](super::sql::MAX_STATEMENTS) and [`MAX_CACHED_BYTES`](super::sql::MAX_CACHED_BYTES).
//! * Lost: nothing is paired after a gap, or in a flow joined in its middle, until a `ReadyForQuery` is
//!   followed by a message of the client that was not held back behind a gap; statements prepared before
//!   are marked unknown.
//!
//! Not decoded: values of parameters and rows (counted, skipped), passwords (never looked at), the stream
//! of a replication, protocol 2.0, what is inside TLS or GSSAPI.
//!
//! Specification: <https://www.postgresql.org/docs/current/protocol.html>.

mod client;
mod framing;
mod portals;
mod report;
mod roundtrip;
mod server;
mod startup;

#[cfg(test)]
mod tests;

use super::sql::{Statement, Statements};
use crate::{AfterGap, DecodeError, Decoder, End, Input, Meta, Out, Progress, Start, Verdict};
use framing::{Tell, Walk};
use model::{Dir, Nanos, Transport};
use portals::Portals;
use roundtrip::{Answer, Item, Unit};
use std::collections::VecDeque;

/// Messages of the client that the server has not answered. A pipeline that is longer is given up.
const MAX_PENDING: usize = 65_536;

/// Bytes of a database's name that are kept. A server cuts names at 63.
const MAX_NAMESPACE: usize = 64;

/// PostgreSQL.
#[derive(Debug)]
pub struct Postgresql {
    /// Whether the client's next message is one without a type.
    starting: bool,
    /// Whether the server's next byte answers an `SSLRequest` or a `GSSENCRequest`.
    asked_encryption: bool,
    /// Whether answers belong to what is pending. Until then nothing is emitted.
    in_step: bool,
    /// Not in step: whether `ReadyForQuery` was the last that was said.
    quiet: bool,
    /// When the server last said something.
    heard: Nanos,
    /// Whether the place in the client's lane is known, and in the server's.
    placed: [bool; 2],
    /// Bytes of the request that ends when what is skipped in the client's lane has passed.
    ending: Option<u64>,
    /// The server takes `CopyData` and discards `Sync` and `Flush`.
    copying_in: bool,
    /// The server discards everything up to a `Sync`.
    skipping: bool,
    pending: VecDeque<Item>,
    unit: Unit,
    answer: Answer,
    statements: Statements,
    portals: Portals,
    /// The statement of a simple query.
    query: Statement,
    namespace: Vec<u8>,
    authentication: &'static str,
    replication: bool,
    /// Numbers one-way messages, so that they can stand between the parts of an answer.
    one_way: u64,
}

impl Decoder for Postgresql {
    const META: Meta = Meta {
        name: "postgresql",
        title: "PostgreSQL",
        transports: &[Transport::Tcp],
        ports: &[5432, 6432],
        probe_bytes: 64,
        max_message: 65_536,
        specs: &["https://www.postgresql.org/docs/current/protocol.html"],
        decoded: "One row per session start, simple query, executed or prepared statement, with SQL verb, \
                  first table, statement, SQLSTATE and counts of rows.",
        not_decoded: "Parameter and row values, replication streams, protocol 2.0.",
    };

    fn open(start: Start) -> Self {
        let known = start != Start::Middle;
        Self {
            starting: known,
            asked_encryption: false,
            in_step: known,
            quiet: false,
            heard: Nanos(i64::MIN),
            placed: [known; 2],
            ending: None,
            copying_in: false,
            skipping: false,
            pending: VecDeque::new(),
            unit: Unit::default(),
            answer: Answer::default(),
            statements: Statements::default(),
            portals: Portals::default(),
            query: Statement::default(),
            namespace: Vec::new(),
            authentication: "",
            replication: false,
            one_way: 0,
        }
    }

    fn probe(input: &Input<'_>) -> Verdict {
        match input.dir {
            Dir::ToServer => match startup::probe(input.bytes) {
                Verdict::No if framing::walk(input.bytes, Dir::ToServer) == Walk::Fits => Verdict::Likely,
                verdict => verdict,
            },
            Dir::ToClient => match framing::walk(input.bytes, Dir::ToClient) {
                Walk::Fits => Verdict::Likely,
                Walk::Fails => Verdict::No,
            },
        }
    }

    fn decode(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        match input.dir {
            Dir::ToServer => {
                if let Some(bytes) = self.ending.take() {
                    self.end_request(input, bytes, out);
                }
                if self.starting {
                    return self.startup(input, out);
                }
                if !self.find_place(input, out) {
                    return Ok(Progress::consumed(input.bytes.len()));
                }
                self.client(input, out)
            }
            Dir::ToClient => {
                self.heard = self.heard.max(input.time);
                if self.asked_encryption {
                    return Ok(self.encryption(input, out));
                }
                if !self.find_place(input, out) {
                    return Ok(Progress::consumed(input.bytes.len()));
                }
                self.server(input, out)
            }
        }
    }

    fn gap(&mut self, dir: Dir, _: u64, _: &mut Out) -> AfterGap {
        if dir == Dir::ToServer {
            // A statement may have been replaced in what is missing.
            self.statements.clear();
            self.portals.clear();
        }
        *self.placed_mut(dir) = false;
        self.starting = false;
        self.asked_encryption = false;
        self.lose_step();
        AfterGap::Resync
    }

    fn finish(&mut self, _: End, out: &mut Out) {
        if self.answer.done.is_some() {
            self.end_answer(out);
        }
    }
}

impl Postgresql {
    const fn placed_mut(&mut self, dir: Dir) -> &mut bool {
        let [to_server, to_client] = &mut self.placed;
        match dir {
            Dir::ToServer => to_server,
            Dir::ToClient => to_client,
        }
    }

    /// Answers can no longer be told from each other.
    fn lose_step(&mut self) {
        self.in_step = false;
        self.quiet = false;
        self.ending = None;
        self.copying_in = false;
        self.skipping = false;
        self.pending.clear();
        self.unit = Unit::default();
        self.answer = Answer::default();
    }

    /// Whether the input starts with a message. Where the place was lost, the server's is found behind a
    /// `ReadyForQuery` at the end of a segment, and then the client's at the start of one.
    fn find_place(&mut self, input: &Input<'_>, out: &mut Out) -> bool {
        if *self.placed_mut(input.dir) {
            return true;
        }
        match input.dir {
            Dir::ToServer => {
                let fits = self.quiet
                    && input.first >= self.heard
                    && input.segment_start
                    && framing::walk(input.bytes, Dir::ToServer) == Walk::Fits;
                *self.placed_mut(input.dir) = fits;
                fits
            }
            Dir::ToClient => {
                let ready = framing::ends_ready(input.bytes);
                *self.placed_mut(input.dir) = ready;
                if ready {
                    self.out_of_step(input, b'Z', input.bytes.len() as u64, out);
                }
                // What ends the segment has been looked at.
                false
            }
        }
    }

    /// The next message of a lane: its type and length.
    fn head(input: &Input<'_>) -> Result<Tell, DecodeError> {
        framing::tell(input.bytes, input.dir)
    }
}
