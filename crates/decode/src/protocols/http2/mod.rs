//! HTTP/2 (RFC 9113) with HPACK (RFC 7541), and gRPC over it.
//!
//! * In: both lanes of a connection with prior knowledge, after an h2c upgrade, or joined in its middle.
//! * Out: a request and a response a stream, paired by its number; fields as [HTTP/1](super::http) has them.
//!   Calls of gRPC say so (`protocol` is `grpc`): `operation` is the method, `resource` is
//!   `pkg.Service/Method`, `status_code` the gRPC status. A stream that is reset before its response has
//!   ended, or that a GOAWAY refuses, is cut. A PUSH_PROMISE is a request of its stream.
//! * Owned: the open streams, a dynamic table a direction, a header block under assembly a direction.
//! * Bounded by: [`streams::MAX_STREAMS`] streams, 64 KiB of table and of header block a direction,
//!   [`Meta::max_message`] bytes of one frame that is not DATA.
//! * Lost: the oldest stream when there are too many, which is cut and says so; what lies between a gap
//!   and the next segment that starts with frames.
//!
//! DATA is skipped, so a gap within it harms nothing. Elsewhere the place in the lane is lost, and what is in the
//! dynamic table of that direction is uncertain: it is forgotten, and references to it are
//! unknown. The same holds for a connection joined in its middle. Indices count from the newest entry, so
//! what is inserted from then on is resolved right. A message with such a reference says `Unknown`; it is
//! still paired and timed.
//!
//! Not decoded: bodies, the messages of gRPC beyond their number, WebSocket over HTTP/2 (RFC 8441), and
//! priorities.

mod control;
mod data;
mod frame;
mod grpc;
mod hpack;
mod message;
mod streams;
#[cfg(test)]
mod tests;

use crate::{AfterGap, DecodeError, Decoder, Input, Meta, Out, Progress, Start, Verdict, What};
use frame::{Frame, HEADER};
use hpack::{Block, Table};
use model::{Dir, Nanos, Transport};
use streams::Streams;

/// The most bytes of a header block that comes in several frames.
const MAX_FRAGMENTS: usize = 65_536;

/// What comes next in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The connection preface of the client.
    Preface,
    /// The header of a frame.
    Frame,
    /// DATA: `left` bytes of gRPC messages that are looked at, then `pad` bytes of padding. Both are 0
    /// while all that is left of the frame is skipped.
    Data { stream: u32, left: u32, pad: u32, end: bool },
    /// Anything: the place was lost.
    Lost,
}

/// A header block under way.
#[derive(Debug, Clone, Copy)]
struct Head {
    stream: u32,
    /// The stream that a PUSH_PROMISE opens.
    promised: Option<u32>,
    /// It is the last of its side of the stream, but for CONTINUATION.
    end: bool,
    /// When its first byte was seen.
    first: Nanos,
    /// Bytes of its frames.
    size: u64,
}

#[derive(Debug)]
struct Lane {
    phase: Phase,
    /// The dynamic table of the sender.
    table: Table,
    /// SETTINGS_MAX_FRAME_SIZE of the receiver.
    max_frame: u32,
    /// The header block that CONTINUATION goes on with, and what there is of it.
    head: Option<Head>,
    fragments: Vec<u8>,
}

/// HTTP/2 and gRPC.
#[derive(Debug)]
pub struct Http2 {
    lanes: [Lane; 2],
    streams: Streams,
    /// The header block decoded last.
    block: Block,
    /// Room for an error text while its percent-encoding is undone.
    text: Vec<u8>,
}

impl Decoder for Http2 {
    const META: Meta = Meta {
        name: "http2",
        title: "HTTP/2 and gRPC",
        transports: &[Transport::Tcp],
        ports: &[50051],
        probe_bytes: 512,
        max_message: 65_536 + HEADER,
        specs: &[
            "https://www.rfc-editor.org/rfc/rfc9113",
            "https://www.rfc-editor.org/rfc/rfc7541",
            "https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md",
        ],
        decoded: "as HTTP/1.1; of gRPC: service and method, status and its message, messages each way, \
                  compression, deadline, cancellation",
        not_decoded: "bodies, the content of gRPC messages, WebSocket over HTTP/2",
    };

    fn open(start: Start) -> Self {
        let late = start == Start::Middle;
        let lane = |phase| Lane {
            phase: if late { Phase::Lost } else { phase },
            table: Table::new(late),
            max_frame: if late { frame::UNSEEN_MAX_FRAME } else { frame::DEFAULT_MAX_FRAME },
            head: None,
            fragments: Vec::new(),
        };
        Self {
            lanes: [lane(Phase::Preface), lane(Phase::Frame)],
            streams: Streams::default(),
            block: Block::default(),
            text: Vec::new(),
        }
    }

    fn probe(input: &Input<'_>) -> Verdict {
        frame::verdict(input.dir, input.bytes.get(..Self::META.probe_bytes).unwrap_or(input.bytes))
    }

    fn decode(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        loop {
            let before = self.lane(input.dir).phase;
            let progress = match before {
                Phase::Preface => self.preface(input)?,
                Phase::Frame => self.frame(input, out)?,
                Phase::Data { stream, left, pad, end } => self.data(input, out, stream, (left, pad), end),
                Phase::Lost => self.hunt(input),
            };
            // What ended without a byte of this input leaves all of it to the next phase.
            let passed = progress == Progress::consumed(0) && self.lane(input.dir).phase != before;
            if !passed || input.bytes.is_empty() {
                return Ok(progress);
            }
        }
    }

    fn gap(&mut self, dir: Dir, _: u64, _: &mut Out) -> AfterGap {
        let lane = self.lane(dir);
        lane.phase = Phase::Lost;
        lane.table.lose();
        lane.max_frame = lane.max_frame.max(frame::UNSEEN_MAX_FRAME);
        lane.head = None;
        lane.fragments = Vec::new();
        self.streams.gap(dir);
        AfterGap::Resync
    }
}

impl Http2 {
    const fn lane(&mut self, dir: Dir) -> &mut Lane {
        let [to_server, to_client] = &mut self.lanes;
        match dir {
            Dir::ToServer => to_server,
            Dir::ToClient => to_client,
        }
    }

    fn preface(&mut self, input: &Input<'_>) -> Result<Progress, DecodeError> {
        if input.bytes.iter().zip(frame::PREFACE).any(|(byte, wanted)| byte != wanted) {
            return Err(DecodeError::new(What::BadMagic, 0));
        }
        if input.bytes.len() < frame::PREFACE.len() {
            return Ok(wait(input, frame::PREFACE.len()));
        }
        self.lane(input.dir).phase = Phase::Frame;
        Ok(Progress::consumed(frame::PREFACE.len()))
    }

    /// Looks for frames where a segment starts.
    fn hunt(&mut self, input: &Input<'_>) -> Progress {
        if !input.segment_start {
            return Progress::consumed(input.bytes.len());
        }
        let preface = input.dir == Dir::ToServer && input.bytes.starts_with(b"PRI * HT");
        match frame::chain(input.bytes) {
            _ if preface => self.lane(input.dir).phase = Phase::Preface,
            Ok(_) => self.lane(input.dir).phase = Phase::Frame,
            Err(Some(needed)) => return wait(input, needed),
            Err(None) => return Progress::consumed(input.bytes.len()),
        }
        Progress::consumed(0)
    }

    fn frame(&mut self, input: &Input<'_>, out: &mut Out) -> Result<Progress, DecodeError> {
        let Some(frame) = Frame::parse(input.bytes) else { return Ok(wait(input, HEADER)) };
        let lane = self.lane(input.dir);
        if frame.len > lane.max_frame {
            return Err(DecodeError::new(What::BadLength, 0));
        }
        // §6.10: nothing comes between the frames of a header block.
        if lane.head.is_some_and(|head| frame.kind != frame::CONTINUATION || head.stream != frame.stream) {
            return Err(DecodeError::new(What::OutOfPlace, 0));
        }
        match frame.kind {
            frame::DATA => return self.data_frame(input, out, frame),
            frame::HEADERS | frame::PUSH_PROMISE | frame::CONTINUATION => {}
            frame::RST_STREAM | frame::SETTINGS => {}
            frame::GOAWAY => {
                let Some(payload) = input.bytes.get(HEADER..HEADER.saturating_add(8)) else {
                    return Ok(wait(input, HEADER.saturating_add(8)));
                };
                let last = number(payload) & 0x7fff_ffff;
                if input.dir == Dir::ToClient && frame.len >= 8 {
                    self.refuse(input, out, last);
                }
                return Ok(pass(frame));
            }
            _ => return Ok(pass(frame)),
        }
        let Some(payload) = input.bytes.get(HEADER..frame.size()) else {
            return Ok(wait(input, frame.size()));
        };
        match frame.kind {
            frame::SETTINGS => self.settings(input.dir, frame, payload)?,
            frame::RST_STREAM => self.reset(input, out, frame, number(payload)),
            _ => self.fragment(input, out, frame, payload)?,
        }
        Ok(Progress::consumed(frame.size()))
    }

    /// HEADERS, PUSH_PROMISE or CONTINUATION: a header block, or a part of one.
    fn fragment(
        &mut self,
        input: &Input<'_>,
        out: &mut Out,
        frame: Frame,
        payload: &[u8],
    ) -> Result<(), DecodeError> {
        let damaged = DecodeError { what: What::BadLength, at: 0 };
        let lane = self.lane(input.dir);
        let size = frame.size() as u64;
        if frame.kind == frame::CONTINUATION {
            let Some(mut head) = lane.head else {
                // The block began before the place was found again: what it inserts is not known.
                lane.table.lose();
                return Ok(());
            };
            if lane.fragments.len().saturating_add(payload.len()) > MAX_FRAGMENTS {
                return Err(DecodeError::new(What::TooLarge, 0));
            }
            lane.fragments.extend_from_slice(payload);
            head.size = head.size.saturating_add(size);
            lane.head = Some(head);
            if frame.has(frame::END_HEADERS) {
                let fragments = core::mem::take(&mut lane.fragments);
                lane.head = None;
                return self.header_block(input, out, head, &fragments);
            }
            return Ok(());
        }
        if frame.stream == 0 {
            return Err(DecodeError::new(What::OutOfPlace, 0));
        }
        let mut fragment = payload;
        if frame.has(frame::PADDED) {
            let (pad, rest) = fragment.split_first().ok_or(damaged)?;
            let end = rest.len().checked_sub(usize::from(*pad)).ok_or(damaged)?;
            fragment = rest.get(..end).ok_or(damaged)?;
        }
        let mut promised = None;
        if frame.kind == frame::PUSH_PROMISE {
            promised = Some(number(fragment) & 0x7fff_ffff);
            fragment = fragment.get(4..).ok_or(damaged)?;
        } else if frame.has(frame::PRIORITISED) {
            fragment = fragment.get(5..).ok_or(damaged)?;
        }
        let end = promised.is_none() && frame.has(frame::END_STREAM);
        let head = Head { stream: frame.stream, promised, end, first: input.first, size };
        if frame.has(frame::END_HEADERS) {
            return self.header_block(input, out, head, fragment);
        }
        lane.head = Some(head);
        lane.fragments.extend_from_slice(fragment);
        Ok(())
    }

    fn header_block(
        &mut self,
        input: &Input<'_>,
        out: &mut Out,
        head: Head,
        fragment: &[u8],
    ) -> Result<(), DecodeError> {
        let [to_server, to_client] = &mut self.lanes;
        let lane = if input.dir == Dir::ToServer { to_server } else { to_client };
        self.block.decode(fragment, &mut lane.table)?;
        self.headers(input, out, head);
        Ok(())
    }
}

/// Waits until `n` bytes are there; gives up what is there when no more will come.
fn wait(input: &Input<'_>, n: usize) -> Progress {
    if input.is_last() { Progress::consumed(input.bytes.len()) } else { Progress::at_least(n) }
}

/// A frame of which only the header matters.
fn pass(frame: Frame) -> Progress {
    if frame.len == 0 { Progress::consumed(HEADER) } else { Progress::skip(HEADER, u64::from(frame.len)) }
}

/// The first four bytes, 0 when there are fewer.
fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}
