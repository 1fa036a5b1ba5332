//! Redis (RESP2 and RESP3, <https://redis.io/docs/latest/develop/reference/protocol-spec/>).
//!
//! * In: the client's commands, as arrays of bulk strings or inline, and the server's replies of every type.
//! * Out: a roundtrip for each command and its reply, however they are pipelined; a one-way message for each
//!   push (pub/sub, client tracking, `MONITOR`) and for each command that the client does not want answered.
//! * Owned: what both sides agreed ([`session`]); for each lane the place inside of one message.
//! * Bounded by: the head of a command ([`head::HEAD_BYTES`]), the depth of a reply, the requests
//!   outstanding with special replies. Values are skipped, never held.
//! * Lost: after missing bytes, what is left of the message that they were part of. Whether requests and replies
//!   are in step then is for the pairing to say.
//!
//! The operation is the command in upper case, with the sub-command of a container (`CONFIG GET`); unknown
//! commands are kept as they are. The resource is the first key, or the channel. `db.query.text` has values
//! as `?`, as the conventions ask for.
//!
//! Not decoded: the replication stream and RDB files (opaque from `+FULLRESYNC`/`+CONTINUE` on); the
//! confirmations of a `SUBSCRIBE` to several channels inside of `MULTI`, which RESP2 writes as more elements
//! than it announces; values.

mod commands;
mod head;
mod reply;
mod request;
mod resp;
mod secrets;
mod session;
#[cfg(test)]
mod tests;
mod walk;

use crate::{AfterGap, DecodeError, Decoder, Input, Meta, Out, Progress, Start, Verdict};
use model::{Dir, Transport};
use reply::Replies;
use request::Requests;
use session::Session;

/// Redis.
#[derive(Debug)]
pub struct Redis {
    session: Session,
    requests: Requests,
    replies: Replies,
}

impl Decoder for Redis {
    const META: Meta = Meta {
        name: "redis",
        title: "Redis",
        transports: &[Transport::Tcp],
        ports: &[6379],
        probe_bytes: 64,
        max_message: 65_536,
        specs: &[
            "https://redis.io/docs/latest/develop/reference/protocol-spec/",
            "https://opentelemetry.io/docs/specs/semconv/database/redis/",
        ],
        decoded: "Commands with sub-command, first key and text without values; replies of RESP2 and RESP3 \
                  with type, count and error; pub/sub, tracking and MONITOR pushes.",
        not_decoded: "Values, replication, several channels subscribed to inside of MULTI.",
    };

    fn open(start: Start) -> Self {
        let middle = start == Start::Middle;
        let requests = Requests::new(middle);
        let mut replies = Replies::new();
        replies.lost = middle;
        Self { session: Session::new(middle), requests, replies }
    }

    fn probe(input: &Input<'_>) -> Verdict {
        let bytes = input.bytes.get(..Self::META.probe_bytes).unwrap_or(input.bytes);
        match input.dir {
            Dir::ToServer => probe_command(bytes),
            Dir::ToClient => probe_reply(bytes),
        }
    }

    fn decode(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let lost = match input.dir {
            Dir::ToServer => &mut self.requests.lost,
            Dir::ToClient => &mut self.replies.lost,
        };
        if *lost {
            let found = match input.dir {
                _ if !input.segment_start => Some(false),
                Dir::ToServer => Requests::resync(input.bytes),
                Dir::ToClient => Replies::resync(input.bytes),
            };
            match found {
                Some(true) => *lost = false,
                None if input.bytes.len() < head::HEAD_BYTES => {
                    return Ok(Progress::at_least(input.bytes.len().saturating_add(1)));
                }
                _ => return Ok(Progress::consumed(input.bytes.len())),
            }
        }
        match input.dir {
            Dir::ToServer => self.requests.step(&mut self.session, input, out),
            Dir::ToClient => self.replies.step(&mut self.session, input, out),
        }
    }

    fn gap(&mut self, dir: Dir, _: u64, _: &mut Out) -> AfterGap {
        self.session.lose();
        match dir {
            Dir::ToServer => self.requests = Requests::new(true),
            Dir::ToClient => {
                self.replies.clear();
                self.replies.lost = true;
            }
        }
        AfterGap::Resync
    }
}

/// `*2\r\n$3\r\nGET`, or a line that starts with a command.
fn probe_command(bytes: &[u8]) -> Verdict {
    let Some(sign) = bytes.first() else { return Verdict::NeedMore };
    if *sign != b'*' {
        let (stop, ended) = match bytes.iter().position(|byte| matches!(byte, b' ' | b'\r' | b'\n')) {
            Some(stop) => (stop, true),
            None => (bytes.len(), false),
        };
        let word = bytes.get(..stop).and_then(head::Upper::new);
        return match (word, ended) {
            (None, _) => Verdict::No,
            (Some(_), false) if stop < commands::MAX_NAME => Verdict::NeedMore,
            (Some(word), true) if commands::find(word.get()).is_some_and(|found| is_inline(found.name)) => {
                Verdict::Likely
            }
            _ => Verdict::No,
        };
    }
    match resp::number(bytes, 1) {
        Ok(None) => Verdict::NeedMore,
        Ok(Some((count, at))) if count > 0 => match bytes.get(at) {
            None => Verdict::NeedMore,
            Some(b'$') => match resp::number(bytes, at.saturating_add(1)) {
                Ok(None) => Verdict::NeedMore,
                Ok(Some((1..=64, at))) => match bytes.get(at) {
                    None => Verdict::NeedMore,
                    Some(letter) if letter.is_ascii_alphabetic() || *letter == b'_' => Verdict::Yes,
                    Some(_) => Verdict::No,
                },
                _ => Verdict::No,
            },
            Some(_) => Verdict::No,
        },
        _ => Verdict::No,
    }
}

/// Commands that people type, and that no other protocol of lines knows.
fn is_inline(name: &str) -> bool {
    matches!(name, "PING" | "INFO" | "MONITOR" | "AUTH" | "CONFIG" | "DBSIZE" | "KEYS" | "SELECT")
}

/// A whole first reply.
fn probe_reply(bytes: &[u8]) -> Verdict {
    let known: [&[u8]; 7] =
        [b"+OK\r\n", b"+PONG\r\n", b"-NOAUTH ", b"-ERR ", b"-WRONGPASS ", b"-DENIED ", b"$-1\r\n"];
    if known.iter().any(|start| bytes.starts_with(start)) {
        return Verdict::Likely;
    }
    if known.iter().any(|start| start.starts_with(bytes)) {
        return Verdict::NeedMore;
    }
    match (bytes.first(), resp::number(bytes, 1)) {
        (Some(b'$' | b'*' | b'%' | b':'), Ok(Some(_))) => Verdict::Likely,
        (Some(b'$' | b'*' | b'%' | b':'), Ok(None)) => Verdict::NeedMore,
        _ => Verdict::No,
    }
}
