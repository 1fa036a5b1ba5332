//! One direction of a TCP flow.

use super::hole::Fresh;
use super::seq::{Place, after, place};
use super::{Holes, Note, Now, Owner, Sink};
use crate::list::NONE;
use crate::{DropReason, GapCause};
use model::Nanos;

/// How far beyond the announced window a segment may start and still be held: acknowledgements that widen the
/// window may not have been captured.
const BEYOND_WINDOW: u32 = 64 << 20;

/// What is known of a lane. 20 bytes, in every flow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lane {
    /// The sequence number of the next byte.
    pub next: u32,
    /// The highest acknowledgement of the receiver.
    pub acked: u32,
    /// The end of the window that the receiver announced.
    pub edge: u32,
    /// Its hole in [`Holes`], [`NONE`] when there is none.
    pub hole: u32,
    pub flags: u8,
    /// By how many bits the windows that its sender announces are shifted.
    pub scale: u8,
}

/// `next` is known.
const BASED: u8 = 1;
/// `acked` and `edge` are known.
pub(super) const ACKED: u8 = 1 << 1;
/// The FIN was reached.
const FIN: u8 = 1 << 2;
/// Its sender's SYN was seen.
pub(crate) const SYN: u8 = 1 << 3;
/// Its flow was reset.
pub(crate) const RESET: u8 = 1 << 4;
/// Its initial sequence number is known, from its SYN or from the answer to it.
pub(crate) const ISN: u8 = 1 << 5;

/// Its sender offered a window scale.
pub(crate) const SCALES: u8 = 1 << 6;

/// The window scale that is assumed when the SYN was not seen: what Linux offers by default.
const ASSUMED_SCALE: u8 = 7;

/// The largest window scale (RFC 7323 section 2.3).
const MAX_SCALE: u8 = 14;

/// Consecutive bytes of one segment, and maybe its FIN behind them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run<'a> {
    pub seq: u32,
    /// What was captured.
    pub bytes: &'a [u8],
    /// How many bytes there were on the wire.
    pub len: u32,
    pub fin: bool,
}

impl<'a> Run<'a> {
    /// Takes the first `n` bytes off.
    fn advance(&mut self, n: u32) -> &'a [u8] {
        let (taken, rest) = self.bytes.split_at_checked(n as usize).unwrap_or((self.bytes, &[]));
        self.bytes = rest;
        self.len = self.len.saturating_sub(n);
        self.seq = self.seq.wrapping_add(n);
        taken
    }
}

impl Lane {
    pub const NEW: Self = Self { next: 0, acked: 0, edge: 0, hole: NONE, flags: 0, scale: ASSUMED_SCALE };

    pub const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether the place of the lane in sequence space is known.
    pub const fn is_based(&self) -> bool {
        self.has(BASED)
    }

    /// Whether the FIN was reached.
    pub const fn is_finished(&self) -> bool {
        self.has(FIN)
    }

    /// Notes the window scale in its sender's SYN. It counts if both sides offer one (RFC 7323 section 2.2).
    pub fn offer_scale(&mut self, scale: Option<u8>, other: &mut Self) {
        self.flags |= if scale.is_some() { SCALES } else { 0 };
        self.scale = scale.unwrap_or(0).min(MAX_SCALE);
        if other.has(SYN) && !(self.has(SCALES) && other.has(SCALES)) {
            (self.scale, other.scale) = (0, 0);
        }
    }

    /// Says which byte is the first.
    pub const fn base(&mut self, next: u32) {
        self.next = next;
        self.flags |= BASED;
    }

    /// Takes in-order bytes of a lane that has no hole: the short way of nearly every segment.
    pub const fn take(&mut self, seq: u32, len: u32) -> bool {
        let fits = self.next == seq && self.hole == NONE && self.flags & (BASED | FIN) == BASED;
        if fits {
            self.next = seq.wrapping_add(len);
        }
        fits
    }

    /// Whether a receiver would believe a segment at `seq` that ends everything: it is at the next byte, as far
    /// as that can be told from where the capture is, or in the window (RFC 9293 section 3.10.7.4).
    pub const fn believes(&self, seq: u32) -> bool {
        if !self.is_based() {
            return false;
        }
        let known_acked = self.has(ACKED);
        let low = if known_acked && after(self.next, self.acked) { self.acked } else { self.next };
        let high = if known_acked && after(self.edge, self.next) { self.edge } else { self.next };
        seq.wrapping_sub(low) <= high.wrapping_sub(low)
    }

    /// The receiver has acknowledged everything before `ack` and allows bytes up to `edge`.
    pub fn acknowledged(&mut self, holes: &mut Holes, owner: Owner, ack: u32, edge: u32, now: Now) {
        if !self.has(ACKED) {
            self.flags |= ACKED;
            (self.acked, self.edge) = (ack, edge);
        }
        self.follow(ack, edge);
        if after(self.acked, self.next) && self.flags & (BASED | FIN) == BASED {
            self.wait(holes, owner, now);
        }
    }

    /// Whether a segment at `seq` may be of this lane. One that is not says nothing of the other lane either
    /// (RFC 9293 section 3.10.7.4 looks at the sequence number first).
    pub const fn is_near(&self, seq: u32) -> bool {
        let (ahead, behind) = (seq.wrapping_sub(self.next), self.next.wrapping_sub(seq));
        !self.is_based() || ahead <= BEYOND_WINDOW || behind <= BEYOND_WINDOW
    }

    /// Whether an acknowledgement is of bytes that were captured, in a lane that has no hole: then
    /// [`Lane::follow`] is all that is to be done.
    pub const fn follows(&self, ack: u32) -> bool {
        let known = !after(ack, self.next) || !self.is_based();
        known && self.hole == NONE && self.has(ACKED)
    }

    /// Notes what the receiver has acknowledged and allows. Neither leaves the half of the sequence space that
    /// lies ahead of the next byte once it is there, or it would seem to lie behind.
    pub const fn follow(&mut self, ack: u32, edge: u32) {
        if self.is_forward(self.edge, edge) {
            self.edge = edge;
        }
        if self.is_forward(self.acked, ack) {
            self.acked = ack;
        }
    }

    const fn is_forward(&self, from: u32, to: u32) -> bool {
        after(to, from) && (after(to, self.next) || !after(from, self.next))
    }

    /// Bytes were acknowledged that were not captured: they may still come, but not for long.
    #[cold]
    fn wait(&mut self, holes: &mut Holes, owner: Owner, now: Now) {
        if self.hole == NONE {
            self.hole = holes.open(owner, now);
        }
        if holes.get(self.hole).is_some_and(|hole| hole.acked.is_none()) {
            holes.restart(self.hole, now, true);
        }
    }

    /// Takes a segment. The lane must be based.
    pub fn accept(
        &mut self,
        holes: &mut Holes,
        owner: Owner,
        mut run: Run<'_>,
        now: Now,
        sink: &mut impl Sink,
    ) {
        let (mut ahead, mut starts) = (0, true);
        match place(run.seq, self.next) {
            Place::Ahead(by) => ahead = by,
            Place::Behind(by) => {
                let old = by.min(run.len);
                if old > 0 {
                    sink.note(Note::Retransmitted(u64::from(old)));
                    run.advance(old);
                    starts = false;
                }
                // A FIN before the next byte is an old one as well.
                run.fin &= by == old;
                if run.len == 0 && !run.fin {
                    return;
                }
            }
        }
        if self.is_finished() {
            if run.len > 0 {
                sink.note(Note::Dropped(DropReason::AfterFin, u64::from(run.len)));
            }
            return;
        }
        if ahead > 0 && self.is_beyond_window(ahead) {
            sink.note(Note::Dropped(DropReason::OutOfWindow, u64::from(run.len)));
            return;
        }
        if ahead == 0 && self.hole == NONE {
            self.deliver(&mut run, u64::MAX, starts, now.time, sink);
            if run.fin {
                self.finish(now.time, sink);
            }
            return;
        }
        if self.hole == NONE {
            self.hole = holes.open(owner, now);
        }
        let Some(pos) = holes.get(self.hole).map(|hole| hole.pos) else { return };
        let at = pos.saturating_add(u64::from(ahead));
        self.end(holes, at, &mut run, sink);
        if ahead == 0 {
            self.fill(holes, run, starts, now, sink);
        } else {
            sink.note(Note::OutOfOrder);
            self.hold(holes, at, run, starts, now, sink);
        }
        self.settle(holes, now, false, pos, sink);
    }

    /// Whether a segment starts so far beyond the window that it is forged, or of another flow.
    const fn is_beyond_window(&self, ahead: u32) -> bool {
        let window = if after(self.edge, self.next) { self.edge.wrapping_sub(self.next) } else { 0 };
        self.has(ACKED) && ahead > window.saturating_add(BEYOND_WINDOW)
    }

    /// Notes the FIN of a run at `at`, and cuts off what lies beyond the one that is known, held or not.
    fn end(&self, holes: &mut Holes, at: u64, run: &mut Run<'_>, sink: &mut impl Sink) {
        let end = at.saturating_add(u64::from(run.len));
        let fin = run.fin.then_some(end);
        let known = holes.change(self.hole, |hole| {
            let first = hole.fin.is_none().then_some(fin).flatten();
            hole.fin = hole.fin.or(fin);
            (hole.fin, first.map_or(0, |fin| hole.truncate(fin)))
        });
        let Some((Some(fin), held)) = known else { return };
        if held > 0 {
            sink.note(Note::Dropped(DropReason::AfterFin, held));
        }
        let beyond = u32::try_from(end.saturating_sub(fin)).unwrap_or(u32::MAX).min(run.len);
        if beyond > 0 {
            sink.note(Note::Dropped(DropReason::AfterFin, u64::from(beyond)));
            run.len = run.len.saturating_sub(beyond);
            run.bytes = run.bytes.get(..run.len as usize).unwrap_or(run.bytes);
        }
    }

    /// Delivers the first bytes of a run, `limit` at most, and the gap where it was cut.
    fn deliver(&mut self, run: &mut Run<'_>, limit: u64, starts: bool, time: Nanos, sink: &mut impl Sink) {
        let n = u32::try_from(limit).unwrap_or(u32::MAX).min(run.len);
        let bytes = run.advance(n);
        self.next = self.next.wrapping_add(n);
        if !bytes.is_empty() {
            sink.bytes(bytes, time, starts);
        }
        let cut = u64::from(n).saturating_sub(bytes.len() as u64);
        if cut > 0 {
            sink.gap(cut, GapCause::Cut, time);
        }
    }

    /// Delivers a run that starts at the next byte, where pieces are held behind it. They were there first.
    fn fill(
        &mut self,
        holes: &mut Holes,
        mut run: Run<'_>,
        mut starts: bool,
        now: Now,
        sink: &mut impl Sink,
    ) {
        while run.len > 0 {
            let Some(hole) = holes.get(self.hole) else { return };
            let room = hole.first().map_or(u64::MAX, |first| first.saturating_sub(hole.pos));
            if room > 0 {
                let before = run.len;
                self.deliver(&mut run, room, starts, now.time, sink);
                let n = before.saturating_sub(run.len);
                holes.change(self.hole, |hole| hole.pos = hole.pos.saturating_add(u64::from(n)));
            } else {
                let len = self.pop(holes, now.time, sink);
                let overlap = u32::try_from(len).unwrap_or(u32::MAX).min(run.len);
                sink.note(Note::Overlap(u64::from(overlap)));
                run.advance(overlap);
            }
            starts = false;
        }
        holes.change(self.hole, |hole| hole.floor = hole.floor.max(now.time));
    }

    /// Delivers the piece that starts at the next byte and returns its length.
    fn pop(&mut self, holes: &mut Holes, time: Nanos, sink: &mut impl Sink) -> u64 {
        let piece = holes.change(self.hole, |hole| {
            let piece = hole.pop()?;
            hole.pos = hole.pos.saturating_add(piece.len);
            Some(piece)
        });
        let Some(Some(piece)) = piece else { return 0 };
        self.next = self.next.wrapping_add(low_bits(piece.len));
        if piece.is_cut() {
            sink.gap(piece.len, GapCause::Cut, time);
        } else {
            sink.bytes(&piece.bytes, time, piece.starts);
        }
        piece.len
    }

    /// Keeps a run that starts beyond the next byte.
    fn hold(&self, holes: &mut Holes, at: u64, run: Run<'_>, starts: bool, now: Now, sink: &mut impl Sink) {
        let captured = at.saturating_add(run.bytes.len() as u64);
        let end = at.saturating_add(u64::from(run.len));
        let fresh = Fresh { bytes: Some(run.bytes), seen: now.time, elapsed: now.elapsed };
        let overlap = holes.change(self.hole, |hole| {
            let overlap = hole.insert(at, captured, fresh, starts);
            overlap.saturating_add(hole.insert(captured, end, Fresh { bytes: None, ..fresh }, false))
        });
        if let Some(overlap) = overlap.filter(|overlap| *overlap > 0) {
            sink.note(Note::Overlap(overlap));
        }
    }

    /// Delivers what now follows without a hole, ends the lane where its FIN is, and closes or restarts the
    /// hole. The lane stood at `before`. Pieces behind a gap carry the time they were seen, others that of
    /// the segment that let them through.
    pub(super) fn settle(
        &mut self,
        holes: &mut Holes,
        now: Now,
        behind_gap: bool,
        before: u64,
        sink: &mut impl Sink,
    ) {
        loop {
            let Some(hole) = holes.get(self.hole) else { return };
            if hole.fin == Some(hole.pos) {
                let time = if behind_gap { hole.floor } else { now.time };
                holes.close(self.hole);
                self.hole = NONE;
                self.finish(time, sink);
                return;
            }
            if hole.first() != Some(hole.pos) {
                break;
            }
            let seen = hole.pieces.first_key_value().map_or(now.time, |(_, piece)| piece.seen);
            let time = if behind_gap { seen.max(hole.floor) } else { now.time };
            self.pop(holes, time, sink);
            holes.change(self.hole, |hole| hole.floor = hole.floor.max(time));
        }
        let Some(hole) = holes.get(self.hole) else { return };
        let acked = self.has(ACKED) && after(self.acked, self.next);
        if hole.pieces.is_empty() && hole.fin.is_none() && !acked {
            holes.close(self.hole);
            self.hole = NONE;
        } else if hole.pos != before {
            holes.restart(self.hole, now, acked);
        }
    }

    fn finish(&mut self, time: Nanos, sink: &mut impl Sink) {
        self.next = self.next.wrapping_add(1);
        self.flags |= FIN;
        sink.eof(time);
    }
}

/// A distance within sequence space.
pub(super) fn low_bits(n: u64) -> u32 {
    u32::try_from(n & u64::from(u32::MAX)).unwrap_or_default()
}

const _: () = assert!(size_of::<Lane>() == 20);
