//! One direction of a connection: what comes next in it, and the message under way.

use super::head::Length;
use crate::{DecodeError, Input, Key, Name, Notice, Out, Progress, Role, Status, What};
use core::mem;
use model::Dir;

/// The longest line with the size of a chunk and its extensions.
const MAX_CHUNK_LINE: usize = 4_096;

/// All trailer lines of one message.
const MAX_TRAILERS: u64 = 65_536;

/// What comes next in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Phase {
    /// The head of a message.
    #[default]
    Head,
    /// A response to a request that was not seen, whose body has this length, unless that was a HEAD.
    Unsure(u64),
    /// A body or a chunk, of which `left` bytes are looked at; 0 while it is skipped.
    Data { left: u64, chunked: bool },
    /// The line with the size of a chunk; not the first one follows the line end of a chunk.
    ChunkSize { first: bool },
    /// The trailer section.
    Trailers,
    /// A body that the close ends.
    UntilClose,
    /// Anything: the place was lost.
    Lost,
}

/// One direction.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) phase: Phase,
    /// How much of what is not consumed was searched for the end of a head or line.
    pub(super) scanned: usize,
    /// Bytes of the message under way, framing included.
    size: u64,
    /// Bytes of its body.
    body: u64,
    /// Bytes of its trailer section.
    trailers: u64,
    status: Status,
    /// Whether the body is to be captured, and what was; at most `Limits::body` bytes.
    capture: bool,
    captured: Vec<u8>,
}

impl Lane {
    /// A message begins, whose head has `size` bytes. Returns what to do behind its head.
    pub(super) fn start(
        &mut self,
        input: &Input<'_>,
        out: &mut Out,
        size: usize,
        status: Status,
        length: Length,
        capture: bool,
    ) -> Progress {
        self.size = size as u64;
        self.body = 0;
        self.trailers = 0;
        self.status = status;
        self.capture = capture && out.limits().body > 0;
        self.captured.clear();
        match length {
            Length::Absent | Length::Known(0) => self.end(input, out, size),
            Length::Known(length) => self.run(out, size, length, false),
            Length::Chunked => {
                self.phase = Phase::ChunkSize { first: true };
                Progress::consumed(size)
            }
            Length::UntilClose => {
                self.phase = Phase::UntilClose;
                Progress::consumed(size)
            }
            Length::Bad => {
                // Where the next message begins is not known.
                let progress = self.end(input, out, size);
                self.phase = Phase::Lost;
                progress
            }
        }
    }

    /// What follows the head of a message.
    pub(super) fn follow(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        match self.phase {
            Phase::Unsure(length) => Ok(self.unsure(input, out, length)),
            Phase::Data { left, chunked } => Ok(self.data(input, out, left, chunked)),
            Phase::ChunkSize { first } => self.chunk_size(input, out, first),
            Phase::Trailers => self.trailer(input, out),
            Phase::UntilClose => {
                let n = input.bytes.len();
                self.size = self.size.saturating_add(n as u64);
                self.body = self.body.saturating_add(n as u64);
                self.keep(input.bytes, out);
                Ok(if input.is_last() { self.end(input, out, n) } else { Progress::consumed(n) })
            }
            Phase::Head | Phase::Lost => Ok(self.abandon(input)),
        }
    }

    /// A response whose request was not seen: another status line right behind its head says that the
    /// request was a HEAD.
    fn unsure(&mut self, input: &Input<'_>, out: &mut Out, length: u64) -> Progress {
        let another = input.segment_start && input.bytes.starts_with(b"HTTP/1.");
        match input.bytes {
            [] if !input.is_last() => Progress::at_least(1),
            [] => self.end(input, out, 0),
            _ if another => self.end(input, out, 0),
            _ => self.run(out, 0, length, false),
        }
    }

    /// `length` bytes of body follow the next `consumed` bytes.
    fn run(&mut self, out: &Out, consumed: usize, length: u64, chunked: bool) -> Progress {
        self.size = self.size.saturating_add(length);
        self.body = self.body.saturating_add(length);
        if self.room(out) > 0 {
            self.phase = Phase::Data { left: length, chunked };
            return Progress::consumed(consumed);
        }
        self.phase = Phase::Data { left: 0, chunked };
        Progress::skip(consumed, length)
    }

    fn data(&mut self, input: &Input<'_>, out: &mut Out, left: u64, chunked: bool) -> Progress {
        let here = usize::try_from(left).unwrap_or(usize::MAX).min(input.bytes.len());
        if input.is_last() && (left == 0 || input.bytes.is_empty()) {
            // The lane was closed within the body: the message has no end.
            return self.abandon(input);
        }
        let take = here.min(self.room(out));
        self.keep(input.bytes.get(..take).unwrap_or_default(), out);
        let left = left.saturating_sub(take as u64);
        if left == 0 && chunked {
            self.phase = Phase::ChunkSize { first: false };
            return Progress::consumed(take);
        }
        if left == 0 {
            return self.end(input, out, take);
        }
        if self.room(out) == 0 {
            self.phase = Phase::Data { left: 0, chunked };
            return Progress::skip(take, left);
        }
        self.phase = Phase::Data { left, chunked };
        Progress::consumed(take)
    }

    fn chunk_size(&mut self, input: &Input<'_>, out: &mut Out, first: bool) -> Result<Progress, DecodeError> {
        let start = match input.bytes {
            _ if first => 0,
            [b'\r', b'\n', ..] => 2,
            [b'\n', ..] => 1,
            [] | [b'\r'] => return Ok(self.more(input)),
            _ => return Err(DecodeError::new(What::BadLength, 0)),
        };
        let Some(end) = self.newline(input.bytes, start) else {
            if input.bytes.len() > MAX_CHUNK_LINE {
                return Err(DecodeError::new(What::TooLarge, 0));
            }
            return Ok(self.more(input));
        };
        let size = chunk_size(input.bytes.get(start..end).unwrap_or_default())
            .ok_or(DecodeError::new(What::BadLength, start))?;
        let line = end.saturating_add(1);
        self.size = self.size.saturating_add(line as u64);
        if size == 0 {
            self.phase = Phase::Trailers;
            return Ok(Progress::consumed(line));
        }
        Ok(self.run(out, line, size, true))
    }

    fn trailer(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let Some(end) = self.newline(input.bytes, 0) else { return Ok(self.more(input)) };
        let line = end.saturating_add(1);
        self.size = self.size.saturating_add(line as u64);
        self.trailers = self.trailers.saturating_add(line as u64);
        if matches!(input.bytes.get(..end), Some([] | [b'\r'])) {
            return Ok(self.end(input, out, line));
        }
        if self.trailers > MAX_TRAILERS {
            return Err(DecodeError::new(What::TooLarge, 0));
        }
        Ok(Progress::consumed(line))
    }

    /// The next line end at or behind `start`; what was searched before is not searched again.
    fn newline(&mut self, bytes: &[u8], start: usize) -> Option<usize> {
        let from = mem::take(&mut self.scanned).max(start);
        let at = memchr::memchr(b'\n', bytes.get(from..)?)?;
        Some(from.saturating_add(at))
    }

    /// Waits for more, having searched everything there is.
    pub(super) fn more(&mut self, input: &Input<'_>) -> Progress {
        if input.is_last() {
            return self.abandon(input);
        }
        self.scanned = input.bytes.len();
        Progress::at_least(input.bytes.len().saturating_add(1))
    }

    /// The lane was closed within a message: it has no end.
    fn abandon(&mut self, input: &Input<'_>) -> Progress {
        self.phase = Phase::Head;
        self.scanned = 0;
        Progress::consumed(input.bytes.len())
    }

    /// The message ends with the next `consumed` bytes.
    fn end(&mut self, input: &Input<'_>, out: &mut Out, consumed: usize) -> Progress {
        let (role, size, content) = match input.dir {
            Dir::ToServer => (Role::Request, "http.request.body.size", "http.request.body.content"),
            Dir::ToClient => (Role::Response, "http.response.body.size", "http.response.body.content"),
        };
        let cut = (self.captured.len() as u64) < self.body;
        let mut message = out.end(input, role, Key::Order, self.size, self.status);
        if self.body > 0 {
            let body = i64::try_from(self.body).unwrap_or(i64::MAX);
            message = message.int(Name::Attribute(size), body);
            if self.capture {
                message = message.body(content, &self.captured);
                if cut {
                    message.notice(Notice::TextCut);
                }
            }
        }
        self.captured.clear();
        self.phase = Phase::Head;
        Progress::consumed(consumed)
    }

    /// The place was lost: the message under way is forgotten.
    pub(super) fn lose(&mut self) {
        *self = Self { phase: Phase::Lost, captured: mem::take(&mut self.captured), ..Self::default() };
        self.captured.clear();
    }

    fn keep(&mut self, bytes: &[u8], out: &Out) {
        let kept = bytes.get(..self.room(out)).unwrap_or(bytes);
        self.captured.extend_from_slice(kept);
    }

    /// Bytes of body that may still be captured.
    fn room(&self, out: &Out) -> usize {
        if self.capture { out.limits().body.saturating_sub(self.captured.len()) } else { 0 }
    }
}

/// `size [; extensions]`, the size in hex digits (RFC 9112 §7.1).
fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.split(|byte| *byte == b';').next()?.trim_ascii();
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |size, byte| {
        let digit = char::from(*byte).to_digit(16)?;
        size.checked_mul(16)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::chunk_size;

    #[test]
    fn chunk_sizes() {
        assert_eq!(chunk_size(b"4\r"), Some(4));
        assert_eq!(chunk_size(b"00fF;name=\"value\"\r"), Some(255));
        assert_eq!(chunk_size(b"a ; x\r"), Some(10));
        assert_eq!(chunk_size(b"0x4"), None);
        assert_eq!(chunk_size(b"-1"), None);
        assert_eq!(chunk_size(b"\r"), None);
        assert_eq!(chunk_size(b"ffffffffffffffff"), Some(u64::MAX));
        assert_eq!(chunk_size(b"10000000000000000"), None);
    }
}
