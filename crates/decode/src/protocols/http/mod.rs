//! HTTP/1.0 and HTTP/1.1 (RFC 9110, RFC 9112).
//!
//! * In: both lanes of a connection, from its beginning or from its middle.
//! * Out: a request and a response a message, paired in order. Columns: `operation` is the method,
//!   `resource` the path without the query, `status_code` the code, `error` the reason phrase of a code of
//!   400 and above. Attributes by OpenTelemetry's names: see [`fields`]. `End` carries the size on the
//!   wire and `http.*.body.size`, the body without its framing.
//! * Owned: per lane the phase and the counts of the message under way; the methods of the unanswered
//!   requests, for HEAD and CONNECT; a captured body, where that is switched on.
//! * Bounded by: [`Meta::max_message`] bytes of head, [`MAX_REMEMBERED`](asked::MAX_REMEMBERED) methods
//!   other than plain ones, 4 KiB of chunk-size line, 64 KiB of trailers, [`Limits::body`](crate::Limits::body) bytes of body.
//! * Lost: what follows a message whose length cannot be told, and what lies between a gap and the next
//!   segment that starts with a start line.
//!
//! The length of a body follows RFC 9112 §6.3. Where `Transfer-Encoding` and `Content-Length` contradict
//! each other the first one wins and the row says `Malformed`; a head that leaves the length open ends its
//! message, and the next one is searched for, as a server answers such a request and closes.
//! 1xx responses are not answers, but for 101: WebSocket and other upgrades make the flow opaque, and h2c
//! goes on as HTTP/2 with the request on stream 1.
//!
//! Not decoded: HTTP/0.9, compressed bodies, the frames of WebSocket, what a CONNECT carries.

mod asked;
pub(crate) mod fields;
pub(crate) mod head;
mod lane;
mod probe;
pub(crate) mod query;
pub(crate) mod target;
#[cfg(test)]
mod tests;

use crate::{
    AfterGap, DecodeError, Decoder, Input, Key, Meta, Name, Next, Notice, Out, Progress, Protocol, Role,
    Start, Status, Verdict, What,
};
use asked::{Asked, Method};
use head::{Head, Length, Line};
use lane::{Lane, Phase};
use model::{Dir, Transport};

/// HTTP/1.0 and 1.1.
#[derive(Debug)]
pub struct Http {
    lanes: [Lane; 2],
    asked: Asked,
}

impl Decoder for Http {
    const META: Meta = Meta {
        name: "http",
        title: "HTTP/1.1",
        transports: &[Transport::Tcp],
        ports: &[80, 8080, 8000, 3000, 8008, 8888],
        probe_bytes: probe::PROBE_BYTES,
        max_message: 65_536,
        specs: &["https://www.rfc-editor.org/rfc/rfc9110", "https://www.rfc-editor.org/rfc/rfc9112"],
        decoded: "method, path, status code, reason, sizes of message and body, host, user agent, content \
                  types, trace context; bodies of text when switched on",
        not_decoded: "HTTP/0.9, compressed bodies, WebSocket frames, what a CONNECT tunnel carries",
    };

    fn open(start: Start) -> Self {
        let mut http = Self { lanes: Default::default(), asked: Asked::default() };
        if start == Start::Middle {
            http.lanes.iter_mut().for_each(Lane::lose);
        }
        http
    }

    fn probe(input: &Input<'_>) -> Verdict {
        probe::verdict(input.dir, input.bytes.get(..probe::PROBE_BYTES).unwrap_or(input.bytes))
    }

    fn decode(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        loop {
            let before = self.lane(input.dir).phase;
            let progress = match before {
                Phase::Head => self.head(input, out),
                Phase::Lost => self.hunt(input, out),
                _ => self.lane(input.dir).follow(input, out),
            }?;
            // What ended without a byte of this input leaves all of it to the next phase.
            let passed = progress == Progress::consumed(0) && self.lane(input.dir).phase != before;
            if !passed || input.bytes.is_empty() {
                return Ok(progress);
            }
        }
    }

    fn gap(&mut self, dir: Dir, _: u64, _: &mut Out) -> AfterGap {
        self.lane(dir).lose();
        // Nothing is paired across a gap: which request the next response answers is not known.
        self.asked = Asked::default();
        AfterGap::Resync
    }
}

impl Http {
    const fn lane(&mut self, dir: Dir) -> &mut Lane {
        let [requests, responses] = &mut self.lanes;
        match dir {
            Dir::ToServer => requests,
            Dir::ToClient => responses,
        }
    }

    /// Looks for a start line where a segment starts.
    fn hunt(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let verdict = match input.segment_start {
            true => probe::verdict(input.dir, input.bytes),
            false => Verdict::No,
        };
        match verdict {
            Verdict::Yes => {
                let lane = self.lane(input.dir);
                lane.phase = Phase::Head;
                lane.scanned = 0;
                self.head(input, out)
            }
            Verdict::NeedMore if !input.is_last() => {
                Ok(Progress::at_least(input.bytes.len().saturating_add(1)))
            }
            _ => Ok(Progress::consumed(input.bytes.len())),
        }
    }

    fn head(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let bytes = input.bytes;
        // RFC 9112 §2.2: empty lines before a request are ignored; some servers send them too.
        let empty = bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        if empty > 0 {
            return Ok(Progress::consumed(empty));
        }
        if !may_be_head(input.dir, bytes) {
            return Err(DecodeError::new(What::BadMagic, 0));
        }
        let lane = self.lane(input.dir);
        let Some(size) = head::end(bytes, lane.scanned) else { return Ok(lane.more(input)) };
        lane.scanned = 0;
        let bytes = bytes.get(..size).unwrap_or_default();
        if input.dir == Dir::ToServer && bytes.starts_with(b"PRI * HTTP/2.0\r\n") {
            return Ok(Progress { consumed: 0, next: Next::Switch(Protocol::Http2) });
        }
        let head = Head::parse(bytes)?;
        match (input.dir, head.line) {
            (Dir::ToServer, Line::Request { method, target }) => {
                Ok(self.request(input, out, size, &head, method, target))
            }
            (Dir::ToClient, Line::Status { code, reason }) => {
                Ok(self.response(input, out, size, &head, code, reason))
            }
            _ => Err(DecodeError::new(What::BadMagic, 0)),
        }
    }

    fn request(
        &mut self,
        input: &Input<'_>,
        out: &mut Out,
        size: usize,
        head: &Head<'_>,
        method: &[u8],
        target: &[u8],
    ) -> Progress {
        // A request cannot last until the close: its response could not follow (RFC 9112 §6.3).
        let length = match head.length {
            Length::UntilClose => Length::Bad,
            length => length,
        };
        let show = out.limits().show_secrets;
        let fields = fields::Request {
            method: Some(method),
            target: Some(target::Target::parse(method, target)),
            host: head.host,
            user_agent: head.user_agent,
            content_type: head.content_type,
            trace: head.trace,
        };
        let message = fields::request(out.begin(input, Role::Request, Key::Order), &fields, show)
            .label(Name::Attribute("network.protocol.version"), head.version);
        if head.malformed || length == Length::Bad {
            message.notice(Notice::Malformed);
        }
        self.asked.push(Method::of(method));
        self.lane(input.dir).start(input, out, size, Status::Unset, length, captures(head))
    }

    fn response(
        &mut self,
        input: &Input<'_>,
        out: &mut Out,
        size: usize,
        head: &Head<'_>,
        code: u16,
        reason: &[u8],
    ) -> Progress {
        if code < 200 && code != 101 {
            return Progress::consumed(size);
        }
        let asked = self.asked.oldest();
        self.asked.pop();
        let upgraded = head.upgrade.filter(|_| code == 101);
        if asked.is_some() && upgraded.is_some_and(|to| to.eq_ignore_ascii_case(b"h2c")) {
            out.rekey(1);
            return Progress { consumed: size, next: Next::Switch(Protocol::Http2) };
        }
        let mut message = out.begin(input, Role::Response, Key::Order);
        message = fields::response(message, Some(code), head.content_type);
        if code >= 400 && !reason.is_empty() {
            message = message.text(Name::Error, reason);
        }
        let tunnel = asked == Some(Method::Connect) && code < 300;
        let bodyless = tunnel || asked == Some(Method::Head) || matches!(code, 101 | 204 | 304);
        let length = match head.length {
            _ if bodyless => Length::Absent,
            Length::Absent => Length::UntilClose,
            length => length,
        };
        if head.malformed || length == Length::Bad {
            message.notice(Notice::Malformed);
        }
        let lane = self.lane(input.dir);
        let progress = match length {
            Length::Known(body) if asked.is_none() && body > 0 => {
                lane.start(input, out, size, fields::status(code), Length::UntilClose, captures(head));
                lane.phase = Phase::Unsure(body);
                Progress::consumed(size)
            }
            length => lane.start(input, out, size, fields::status(code), length, captures(head)),
        };
        match upgraded {
            _ if tunnel => out.opaque("tunnel"),
            Some(to) if to.eq_ignore_ascii_case(b"websocket") => out.opaque("websocket"),
            _ if code == 101 => out.opaque("upgraded"),
            _ => return progress,
        }
        Progress::stop(size)
    }
}

/// Whether the first bytes of a head can be one, so that what is not HTTP is not held for its end.
fn may_be_head(dir: Dir, bytes: &[u8]) -> bool {
    match dir {
        Dir::ToClient => bytes.iter().zip(b"HTTP/").all(|(byte, wanted)| byte == wanted),
        Dir::ToServer => {
            let word = bytes.get(..25).unwrap_or(bytes);
            let word = memchr::memchr(b' ', word).and_then(|space| word.get(..space)).unwrap_or(word);
            bytes.is_empty() || head::is_method(word)
        }
    }
}

/// Whether the body is readable text: not compressed, and of a type that holds no form with passwords.
fn captures(head: &Head<'_>) -> bool {
    let media = head.content_type.unwrap_or_default();
    let media = media.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    let starts = |with: &[u8]| media.get(..with.len()).is_some_and(|part| part.eq_ignore_ascii_case(with));
    let ends = |with: &[u8]| {
        media
            .len()
            .checked_sub(with.len())
            .and_then(|at| media.get(at..))
            .is_some_and(|part| part.eq_ignore_ascii_case(with))
    };
    head.identity && (starts(b"text/") || ends(b"/json") || ends(b"+json") || ends(b"/xml") || ends(b"+xml"))
}
