//! MySQL and MariaDB, protocol 10 of servers since 4.1.
//!
//! * In: both lanes of a flow, from its first byte or from the middle.
//! * Out: a roundtrip for the login (`CONNECT`) and for each command that is answered; one-way messages for
//!   those that are not (`QUIT`, `STMT_CLOSE`, `STMT_SEND_LONG_DATA`) and for errors of an idle session.
//! * Owned: prepared statements by number, commands that wait, how far the answer under way is.
//! * Bounded by: [`MAX_PENDING`] commands, [`MAX_STATEMENTS`](super::sql::MAX_STATEMENTS) and
//!   [`MAX_CACHED_BYTES`](super::sql::MAX_CACHED_BYTES).
//! * Lost: after a gap, or in a flow joined in its middle, everything up to the client's next command, which
//!   comes only when the server is done with the last. What was held back behind a gap does not count: its
//!   answer may have passed. Statements prepared before are marked unknown.
//!
//! What an answer consists of depends on capabilities that a late join has not seen. They are told by what
//! comes: an `EOF` packet has 5 bytes and an `OK` packet at least 7; a count of columns with a flag of
//! MariaDB or MySQL has a byte more than one without.
//!
//! Not decoded: values of parameters and rows (rows are counted and skipped), passwords (never looked at),
//! what is inside TLS or compression, the stream of a replication, protocol 9 and logins of before 4.1.
//!
//! Specifications: <https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html>,
//! <https://mariadb.com/kb/en/clientserver-protocol/>.

mod answer;
mod attributes;
mod client;
mod command;
mod framing;
mod login;
mod server;

#[cfg(test)]
mod tests;

use super::sql::{Ref, Statement, Statements};
use crate::{AfterGap, DecodeError, Decoder, Input, Key, Meta, Out, Progress, Role, Start, Status, Verdict};
use answer::Answer;
use command::Waiting;
use framing::Head;
use login::Capabilities;
use model::{Dir, Nanos, Transport};
use std::collections::VecDeque;

/// Commands that wait for an answer. Only MariaDB's clients send more than one at a time.
const MAX_PENDING: usize = 1_024;

/// Bytes of a database's name: 64 characters of up to 4 bytes.
const MAX_NAMESPACE: usize = 256;

/// How far a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The server speaks first.
    Greeting,
    /// The client answers the greeting.
    Login,
    /// Commands, or a login that was sent.
    Commands,
}

/// A message of the client whose last byte has not passed.
#[derive(Debug, Clone, Copy)]
struct Ending {
    role: Role,
    key: Key,
    bytes: u64,
}

/// MySQL and MariaDB.
#[derive(Debug)]
pub struct Mysql {
    phase: Phase,
    capabilities: Capabilities,
    /// Whether the place in the client's lane is known, and in the server's.
    placed: [bool; 2],
    /// Whether the next packet of a lane goes on with the one before.
    continued: [bool; 2],
    /// Whether answers belong to what is pending.
    in_step: bool,
    /// When the server last said something.
    heard: Nanos,
    /// The client sends a file that the server has asked for.
    sending_file: bool,
    ending: Option<Ending>,
    pending: VecDeque<Waiting>,
    answer: Answer,
    statements: Statements,
    /// The statement prepared last: number -1 of MariaDB.
    last_prepared: Option<Ref>,
    query: Statement,
    namespace: Vec<u8>,
    /// The database once the command under way succeeds.
    wanted_namespace: Option<Vec<u8>>,
    one_way: u64,
}

impl Decoder for Mysql {
    const META: Meta = Meta {
        name: "mysql",
        title: "MySQL, MariaDB",
        transports: &[Transport::Tcp],
        ports: &[3306],
        probe_bytes: 256,
        max_message: 65_536,
        specs: &[
            "https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html",
            "https://mariadb.com/kb/en/clientserver-protocol/",
        ],
        decoded: "One row per login and command, prepared statements resolved to their text, with SQL verb, \
                  first table, statement, SQLSTATE, error code and counts of rows.",
        not_decoded: "Parameter and row values, compressed sessions, replication streams, protocol 9.",
    };

    fn open(start: Start) -> Self {
        let known = start != Start::Middle;
        Self {
            phase: if known { Phase::Greeting } else { Phase::Commands },
            capabilities: Capabilities::default(),
            placed: [known; 2],
            continued: [false; 2],
            in_step: known,
            heard: Nanos(i64::MIN),
            sending_file: false,
            ending: None,
            pending: VecDeque::new(),
            answer: Answer::default(),
            statements: Statements::default(),
            last_prepared: None,
            query: Statement::default(),
            namespace: Vec::new(),
            wanted_namespace: None,
            one_way: 0,
        }
    }

    fn probe(input: &Input<'_>) -> Verdict {
        match input.dir {
            Dir::ToServer => client::probe(input.bytes),
            Dir::ToClient => login::probe(input.bytes),
        }
    }

    fn decode(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        match input.dir {
            Dir::ToServer => self.client(input, out),
            Dir::ToClient => {
                self.heard = self.heard.max(input.time);
                self.server(input, out)
            }
        }
    }

    fn gap(&mut self, dir: Dir, _: u64, _: &mut Out) -> AfterGap {
        if dir == Dir::ToServer {
            // A statement may have been closed in what is missing and its number given to another.
            self.statements.clear();
            self.last_prepared = None;
        }
        *lane(&mut self.placed, dir) = false;
        *lane(&mut self.continued, dir) = false;
        self.phase = Phase::Commands;
        self.lose_step();
        AfterGap::Resync
    }
}

/// The part of a pair that belongs to a lane.
const fn lane(pair: &mut [bool; 2], dir: Dir) -> &mut bool {
    let [to_server, to_client] = pair;
    match dir {
        Dir::ToServer => to_server,
        Dir::ToClient => to_client,
    }
}

impl Mysql {
    /// Keys of messages that are no part of a roundtrip.
    const fn one_way_key(&mut self) -> Key {
        self.one_way = self.one_way.wrapping_add(1);
        Key::Id(self.one_way)
    }

    /// Answers can no longer be told from each other.
    fn lose_step(&mut self) {
        self.in_step = false;
        self.sending_file = false;
        self.ending = None;
        self.pending.clear();
        self.answer = Answer::default();
        self.wanted_namespace = None;
    }

    /// The name that OpenTelemetry has for the system.
    const fn system(&self) -> &'static str {
        if self.capabilities.mariadb { "mariadb" } else { "mysql" }
    }

    /// A packet goes on with the one before: more of something that is skipped.
    fn continuation(&mut self, dir: Dir, head: Head) -> Option<Progress> {
        let continued = lane(&mut self.continued, dir);
        if !*continued {
            return None;
        }
        *continued = head.continues();
        Some(Progress::skip(framing::HEAD, head.length as u64))
    }

    /// Emits the end of a message of the client.
    fn end_request(&mut self, input: &Input<'_>, out: &mut Out) {
        if let Some(Ending { role, key, bytes }) = self.ending.take() {
            out.end(input, role, key, bytes, Status::Unset);
        }
    }
}
