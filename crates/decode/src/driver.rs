//! Runs one decoder over the two lanes of a flow.
//!
//! * In: the in-order bytes of both lanes as they arrive, gaps, ends; datagrams.
//! * Out: the decoder's events, in [`Out`].
//! * Owned: per lane the tail of a message that straddles segments, and how much is to be skipped.
//! * Bounded by: [`Meta::max_message`](crate::Meta::max_message) bytes of tail a lane, plus
//!   [`STEP_BYTES`]; [`MAX_ERRORS`] errors a flow.
//! * Lost: what is left of a lane when the decoder errs, counted by the error's cause.

use crate::{
    AfterGap, AnyDecoder, DecodeError, End, Input, Next, Out, Progress, Protocol, Shape, Start, What,
};
use core::mem;
use model::{Arrival, Dir, FiveTuple, Heard, Nanos};

/// How much of a segment is copied behind a tail at once, where the decoder only said "more".
const STEP_BYTES: usize = 2_048;

/// The error after which the flow is no longer decoded.
pub const MAX_ERRORS: u8 = 8;

/// Room that an emptied tail may keep.
const KEPT_ROOM: usize = 4_096;

/// How the first of some bytes came.
#[derive(Debug, Clone, Copy)]
struct First {
    time: Nanos,
    heard: Heard,
    /// Whether a segment starts with it.
    at_start: bool,
}

/// One direction of the flow.
#[derive(Debug)]
struct Lane {
    /// Unconsumed bytes of earlier segments.
    tail: Vec<u8>,
    /// How the first byte of the tail came.
    first: First,
    /// How many bytes must be there before the decoder is called; 0 counts as 1.
    need: usize,
    /// How many of the next bytes nobody will read.
    skip: u64,
    /// The sender has closed the lane.
    eof: bool,
}

impl Default for Lane {
    fn default() -> Self {
        let first = First { time: Nanos(0), heard: Heard::Unknown, at_start: false };
        Self { tail: Vec::new(), first, need: 0, skip: 0, eof: false }
    }
}

impl Lane {
    /// Takes what is to be skipped from the tail; whether there was something to take.
    fn skip_in_tail(&mut self) -> bool {
        let here = usize::try_from(self.skip).unwrap_or(usize::MAX).min(self.tail.len());
        self.skip = self.skip.saturating_sub(here as u64);
        self.tail.drain(..here);
        self.first.at_start &= here == 0;
        here > 0
    }

    fn put_aside(&mut self, bytes: &[u8], first: First) {
        self.first = first;
        self.tail.extend_from_slice(bytes);
    }

    fn clear_tail(&mut self) {
        self.tail.clear();
        if self.tail.capacity() > KEPT_ROOM {
            self.tail = Vec::new();
        }
    }
}

/// Both lanes of a flow and the decoder that reads them.
#[derive(Debug)]
pub struct Driver {
    decoder: AnyDecoder,
    lanes: [Lane; 2],
    stopped: bool,
    errors: u8,
    last_error: Option<DecodeError>,
}

/// What one piece of input was.
#[derive(Clone, Copy)]
struct Piece<'a> {
    tuple: &'a FiveTuple,
    dir: Dir,
    time: Nanos,
    heard: Heard,
    datagram: bool,
    /// Bytes of the datagram that were not captured.
    cut: u32,
}

impl<'a> Piece<'a> {
    /// No bytes, but a call is due.
    const fn none(tuple: &'a FiveTuple, dir: Dir, time: Nanos) -> Self {
        Self { tuple, dir, time, heard: Heard::Unknown, datagram: false, cut: 0 }
    }

    const fn first(&self, at_start: bool) -> First {
        First { time: self.time, heard: self.heard, at_start }
    }
}

impl Driver {
    /// A driver for a flow of `protocol`.
    pub fn new(protocol: Protocol, start: Start) -> Self {
        Self {
            decoder: AnyDecoder::open(protocol, start),
            lanes: Default::default(),
            stopped: false,
            errors: 0,
            last_error: None,
        }
    }

    /// The protocol that the flow speaks now.
    pub const fn protocol(&self) -> Protocol {
        self.decoder.protocol()
    }

    /// Whether nothing more will be decoded.
    pub const fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// How often the decoder erred.
    pub const fn errors(&self) -> u8 {
        self.errors
    }

    /// The last error.
    pub const fn last_error(&self) -> Option<DecodeError> {
        self.last_error
    }

    /// Bytes held back because their message is not whole.
    pub fn held_bytes(&self) -> usize {
        self.lanes.iter().map(|lane| lane.tail.capacity()).fold(0, usize::saturating_add)
    }

    /// In-order bytes of a lane.
    pub fn bytes(&mut self, tuple: &FiveTuple, dir: Dir, bytes: &[u8], arrival: Arrival, out: &mut Out) {
        if !self.stopped {
            let Arrival { time, segment_start, heard, .. } = arrival;
            let piece = Piece { heard, ..Piece::none(tuple, dir, time) };
            self.feed(piece, bytes, segment_start, false, out);
        }
    }

    /// One datagram. What the decoder leaves of it is lost.
    pub fn datagram(&mut self, tuple: &FiveTuple, dir: Dir, bytes: &[u8], arrival: Arrival, out: &mut Out) {
        if self.stopped {
            return;
        }
        let Arrival { time, cut, .. } = arrival;
        let piece = Piece { datagram: true, cut, ..Piece::none(tuple, dir, time) };
        let mut rest = bytes;
        let mut at_start = true;
        loop {
            match self.call(piece, piece.first(at_start), rest, out) {
                Ok(Progress { consumed, next: Next::AtLeast(_) | Next::Skip(_) }) if consumed > 0 => {
                    rest = rest.get(consumed..).unwrap_or_default();
                    at_start = false;
                    if rest.is_empty() {
                        return;
                    }
                }
                Ok(Progress { next: Next::Switch(protocol), .. }) => {
                    self.decoder = AnyDecoder::open(protocol, Start::Switched);
                    return;
                }
                Ok(Progress { next: Next::Stop, .. }) => {
                    self.stopped = true;
                    return;
                }
                Ok(_) => return,
                Err(error) => {
                    // Each datagram stands for itself: no place in a stream was lost.
                    self.note(error);
                    return;
                }
            }
        }
    }

    /// `missing` bytes of a lane will not come.
    pub fn gap(&mut self, tuple: &FiveTuple, dir: Dir, time: Nanos, missing: u64, out: &mut Out) {
        if self.stopped {
            return;
        }
        let lane = self.lane(dir);
        if lane.skip >= missing {
            lane.skip = lane.skip.saturating_sub(missing);
            if lane.skip == 0 && missing > 0 {
                self.feed(Piece::none(tuple, dir, time), &[], false, true, out);
            }
            return;
        }
        let beyond = missing.saturating_sub(lane.skip);
        self.lose(dir, time, beyond, out);
    }

    /// The sender has closed a lane.
    pub fn eof(&mut self, tuple: &FiveTuple, dir: Dir, time: Nanos, out: &mut Out) {
        if self.stopped {
            return;
        }
        self.lane(dir).eof = true;
        self.lane(dir).skip = 0;
        self.feed(Piece::none(tuple, dir, time), &[], false, true, out);
    }

    /// The flow ended.
    pub fn finish(&mut self, end: End, out: &mut Out) {
        if !self.stopped {
            self.decoder.finish(end, out);
            self.stopped = true;
        }
    }

    const fn lane(&mut self, dir: Dir) -> &mut Lane {
        let [to_server, to_client] = &mut self.lanes;
        match dir {
            Dir::ToServer => to_server,
            Dir::ToClient => to_client,
        }
    }

    /// Feeds a lane. `due`: call the decoder even when nothing new is there, because a skip or the lane ended.
    fn feed(&mut self, piece: Piece<'_>, bytes: &[u8], at_start: bool, due: bool, out: &mut Out) {
        if let Err(error) = self.try_feed(piece, bytes, at_start, due, out) {
            self.note(error);
            self.lose(piece.dir, piece.time, 0, out);
        }
    }

    fn try_feed(
        &mut self,
        piece: Piece<'_>,
        mut bytes: &[u8],
        mut at_start: bool,
        mut due: bool,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        while !self.stopped {
            let lane = self.lane(piece.dir);
            if lane.skip > 0 {
                let from_tail = lane.skip_in_tail();
                let here = usize::try_from(lane.skip).unwrap_or(usize::MAX).min(bytes.len());
                lane.skip = lane.skip.saturating_sub(here as u64);
                bytes = bytes.get(here..).unwrap_or_default();
                at_start &= here == 0 && !from_tail;
                if lane.skip > 0 {
                    return Ok(());
                }
                due = true;
            }
            let forced = mem::take(&mut due) || lane.eof;
            let step = if lane.tail.is_empty() {
                if (bytes.is_empty() || bytes.len() < lane.need) && !forced {
                    lane.put_aside(bytes, piece.first(at_start));
                    out.copied(bytes.len());
                    return Ok(());
                }
                let progress = self.call(piece, piece.first(at_start), bytes, out)?;
                bytes = bytes.get(progress.consumed..).unwrap_or_default();
                at_start &= progress.consumed == 0;
                progress
            } else {
                let old = lane.tail.len();
                let wanted = match lane.need.saturating_sub(old) {
                    0 => 0,
                    more => more.max(STEP_BYTES).min(bytes.len()),
                };
                let (added, behind) = bytes.split_at_checked(wanted).unwrap_or((bytes, &[]));
                lane.tail.extend_from_slice(added);
                out.copied(added.len());
                if lane.tail.len() < lane.need && !forced {
                    return Ok(());
                }
                let first = lane.first;
                let tail = mem::take(&mut lane.tail);
                let called = self.call(piece, first, &tail, out);
                self.lane(piece.dir).tail = tail;
                let progress = called?;
                let lane = self.lane(piece.dir);
                if progress.consumed >= old {
                    // Everything old is dealt with: go on in the segment itself, without copies.
                    bytes = bytes.get(progress.consumed.saturating_sub(old)..).unwrap_or_default();
                    at_start &= progress.consumed == old;
                    lane.clear_tail();
                } else {
                    bytes = behind;
                    at_start &= added.is_empty();
                    lane.tail.drain(..progress.consumed);
                    lane.first.at_start &= progress.consumed == 0;
                }
                progress
            };
            let lane = self.lane(piece.dir);
            let next = match step.next {
                // Nothing consumed and nothing to skip is a wish for more.
                Next::Skip(0) if step.consumed == 0 => Next::AtLeast(1),
                next => next,
            };
            match next {
                Next::AtLeast(need) => {
                    lane.need = need;
                    if step.consumed == 0 {
                        lane.need = need.max(lane.tail.len().saturating_add(1));
                        if lane.tail.is_empty() {
                            lane.need = need.max(bytes.len().saturating_add(1));
                            lane.put_aside(bytes, piece.first(at_start));
                            out.copied(bytes.len());
                            return Ok(());
                        }
                        if bytes.is_empty() {
                            return Ok(());
                        }
                    } else if bytes.is_empty() && lane.tail.is_empty() {
                        return Ok(());
                    }
                }
                Next::Skip(skip) => {
                    lane.need = 0;
                    lane.skip = skip;
                    due = skip == 0;
                }
                Next::Stop => self.stop(),
                Next::Switch(protocol) => {
                    self.decoder = AnyDecoder::open(protocol, Start::Switched);
                    for lane in &mut self.lanes {
                        lane.need = 0;
                        lane.skip = 0;
                    }
                    let other = Piece::none(piece.tuple, piece.dir.reverse(), piece.time);
                    if !self.lane(other.dir).tail.is_empty() {
                        self.feed(other, &[], false, true, out);
                    }
                }
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        piece: Piece<'_>,
        first: First,
        bytes: &[u8],
        out: &mut Out,
    ) -> Result<Progress, DecodeError> {
        let eof = self.lane(piece.dir).eof;
        let shape = if piece.datagram { Shape::Datagram } else { Shape::Stream { eof } };
        let input = Input {
            bytes,
            dir: piece.dir,
            first: first.time,
            heard: first.heard,
            time: piece.time,
            shape,
            segment_start: first.at_start,
            cut: usize::try_from(piece.cut).unwrap_or(usize::MAX),
            tuple: piece.tuple,
        };
        let mut progress = self.decoder.decode(&input, out)?;
        debug_assert!(progress.consumed <= bytes.len(), "{:?} consumed what is not there", self.protocol());
        progress.consumed = progress.consumed.min(bytes.len());
        if let Next::AtLeast(need) = progress.next
            && need > self.protocol().meta().max_message
        {
            return Err(DecodeError::new(What::TooLarge, 0));
        }
        Ok(progress)
    }

    fn note(&mut self, error: DecodeError) {
        self.last_error = Some(error);
        self.errors = self.errors.saturating_add(1);
        if self.errors >= MAX_ERRORS {
            self.stop();
        }
    }

    /// Forgets what a lane holds and tells the pairing and the decoder.
    fn lose(&mut self, dir: Dir, time: Nanos, missing: u64, out: &mut Out) {
        let eof = self.lane(dir).eof;
        *self.lane(dir) = Lane { eof, ..Lane::default() };
        out.gap(dir, time, missing);
        if !self.stopped && self.decoder.gap(dir, missing, out) == AfterGap::Stop {
            self.stop();
        }
    }

    fn stop(&mut self) {
        self.stopped = true;
        self.lanes = Default::default();
    }
}
