//! One direction of a TCP flow.

use super::hole::{Fin, Fresh, Head};
use super::seq::{Place, after, place};
use super::{Holes, Note, Now, Owner, Sink};
use crate::list::NONE;
use crate::{DropReason, GapCause};
use model::{Arrival, Dir, Heard, Nanos};

/// How far beyond the announced window a segment may start and still be held: acknowledgements that widen the
/// window may not have been captured.
const BEYOND_WINDOW: u32 = 64 << 20;

/// What is known of a lane. 20 bytes, in every flow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lane {
    /// The sequence number of the next byte; the lowest acknowledgement until it is known.
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
const ACKED: u8 = 1 << 1;
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
    /// What the other lane must reach before they are delivered.
    pub needs: Option<u32>,
    /// What their sender acknowledged, if it says something of the other lane.
    pub ack: Option<u32>,
    /// What their sender had received of it, as long as they need not wait.
    pub heard: Heard,
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

    /// Says which byte is the first one that was captured. What the receiver had when it last spoke was before
    /// that, or, in a flow that was seen from its `beginning`, what it had when it first spoke: if it is missing
    /// from there up to here, it is a hole, as far as the window allowed it to be sent.
    #[cold]
    pub fn base_at(&mut self, seq: u32, beginning: bool, holes: &mut Holes, owner: Owner, now: Now) {
        let from = if beginning { self.next } else { self.acked };
        self.base(seq);
        if self.has(ACKED) {
            let (missing, window) = (seq.wrapping_sub(from), self.edge.wrapping_sub(from));
            if missing <= window && window < 1 << 31 {
                self.next = from;
                if after(self.acked, from) {
                    self.wait(holes, owner, true, now);
                }
            } else if self.acked.wrapping_sub(seq) > BEYOND_WINDOW {
                self.flags &= !ACKED;
            }
        }
    }

    /// The receiver has acknowledged everything before `ack` and allows bytes up to `edge`.
    pub fn acknowledged(&mut self, holes: &mut Holes, owner: Owner, ack: u32, edge: u32, now: Now) {
        let before = self.acked;
        if !self.has(ACKED) {
            self.flags |= ACKED;
            (self.acked, self.edge) = (ack, edge);
            if !self.is_based() {
                self.next = ack;
            }
        } else if !self.is_based() && after(self.next, ack) {
            self.next = ack;
        }
        self.follow(ack, edge);
        if after(self.acked, self.next) && self.flags & (BASED | FIN) == BASED {
            self.wait(holes, owner, self.acked != before, now);
        }
    }

    /// Whether what was sent by someone who had received everything before `ack` has to wait for this lane.
    pub const fn is_short_of(&self, ack: u32) -> bool {
        self.hole != NONE && after(ack, self.next)
    }

    /// What someone who acknowledges everything before `ack` has received of what was delivered of this lane.
    pub const fn heard_by(&self, ack: u32) -> Heard {
        if self.is_based() && after(self.next, ack) { Heard::Less } else { Heard::All }
    }

    /// Whether an acknowledgement is of bytes that may have been sent: others hold up nothing.
    pub const fn may_have_sent(&self, ack: u32) -> bool {
        !after(ack, self.next) || !self.is_beyond_window(ack.wrapping_sub(self.next))
    }

    /// What comes next, when it was captured and waits for the other lane.
    pub fn head(&self, holes: &Holes) -> Option<Head> {
        holes.get(self.hole)?.head()
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

    /// Bytes were acknowledged that were not delivered. Those that were not captured may still come, but not for
    /// long.
    #[cold]
    fn wait(&mut self, holes: &mut Holes, owner: Owner, news: bool, now: Now) {
        if self.hole == NONE {
            self.hole = holes.open(owner, now);
        }
        let starts = holes.change(self.hole, |hole| {
            hole.told = if news { now.time } else { hole.told };
            hole.acked.is_none() && hole.head().is_none()
        });
        if starts == Some(true) {
            holes.restart(self.hole, now, true);
        }
    }

    /// Takes a segment: delivers it if it is the next one and need not wait, holds it otherwise. The lane must
    /// be based. What it holds then is for [`super::Pair::settle`].
    pub fn accept(
        &mut self,
        holes: &mut Holes,
        owner: Owner,
        mut run: Run<'_>,
        now: Now,
        sink: &mut impl Sink,
    ) {
        let dir = owner.dir;
        let (mut ahead, mut starts) = (0, true);
        match place(run.seq, self.next) {
            Place::Ahead(by) => ahead = by,
            Place::Behind(by) => {
                let old = by.min(run.len);
                if old > 0 {
                    sink.note(dir, Note::Retransmitted(u64::from(old)));
                    run.advance(old);
                    // What is new in a repeated segment may have been sent before it was repeated.
                    (starts, run.heard) = (false, Heard::Unknown);
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
                sink.note(dir, Note::Dropped(DropReason::AfterFin, u64::from(run.len)));
            }
            return;
        }
        if ahead > 0 && self.is_beyond_window(ahead) {
            sink.note(dir, Note::Dropped(DropReason::OutOfWindow, u64::from(run.len)));
            return;
        }
        if ahead == 0 && self.hole == NONE && run.needs.is_none() {
            self.deliver(dir, &mut run, u64::MAX, starts, now.time, sink);
            if run.fin {
                self.finish(dir, now.time, sink);
            }
            return;
        }
        if self.hole == NONE {
            self.hole = holes.open(owner, now);
        }
        let Some(pos) = holes.get(self.hole).map(|hole| hole.pos) else { return };
        let at = pos.saturating_add(u64::from(ahead));
        self.end(holes, dir, at, &mut run, now, sink);
        if ahead == 0 && run.needs.is_none() {
            self.fill(holes, dir, run, starts, now, sink);
        } else {
            let is_next = holes.get(self.hole).is_some_and(|hole| hole.reaches(at));
            sink.note(dir, if ahead == 0 || is_next { Note::Early } else { Note::OutOfOrder });
            self.hold(holes, dir, at, run, starts, now, sink);
        }
    }

    /// Whether a segment starts so far beyond the window that it is forged, or of another flow.
    const fn is_beyond_window(&self, ahead: u32) -> bool {
        let window = if after(self.edge, self.next) { self.edge.wrapping_sub(self.next) } else { 0 };
        self.has(ACKED) && ahead > window.saturating_add(BEYOND_WINDOW)
    }

    /// Notes the FIN of a run at `at`, and cuts off what lies beyond the one that is known, held or not.
    fn end(&self, holes: &mut Holes, dir: Dir, at: u64, run: &mut Run<'_>, now: Now, sink: &mut impl Sink) {
        let end = at.saturating_add(u64::from(run.len));
        let Now { time: seen, elapsed } = now;
        let fin = run.fin.then_some(Fin { pos: end, seen, elapsed, needs: run.needs });
        let known = holes.change(self.hole, |hole| {
            let first = hole.fin.is_none().then_some(fin).flatten();
            hole.fin = hole.fin.or(fin);
            (hole.fin, first.map_or(0, |fin| hole.truncate(fin.pos)))
        });
        let Some((Some(fin), held)) = known else { return };
        if held > 0 {
            sink.note(dir, Note::Dropped(DropReason::AfterFin, held));
        }
        let beyond = u32::try_from(end.saturating_sub(fin.pos)).unwrap_or(u32::MAX).min(run.len);
        if beyond > 0 {
            sink.note(dir, Note::Dropped(DropReason::AfterFin, u64::from(beyond)));
            run.len = run.len.saturating_sub(beyond);
            run.bytes = run.bytes.get(..run.len as usize).unwrap_or(run.bytes);
        }
    }

    /// Delivers the first bytes of a run, `limit` at most, and the gap where it was cut.
    fn deliver(
        &mut self,
        dir: Dir,
        run: &mut Run<'_>,
        limit: u64,
        starts: bool,
        time: Nanos,
        sink: &mut impl Sink,
    ) {
        let n = u32::try_from(limit).unwrap_or(u32::MAX).min(run.len);
        let bytes = run.advance(n);
        self.next = self.next.wrapping_add(n);
        if !bytes.is_empty() {
            sink.bytes(dir, bytes, Arrival { time, segment_start: starts, heard: run.heard, cut: 0 });
        }
        let cut = u64::from(n).saturating_sub(bytes.len() as u64);
        if cut > 0 {
            sink.gap(dir, cut, GapCause::Cut, time);
        }
    }

    /// Delivers a run that starts at the next byte and need not wait, where pieces are held behind it. They were
    /// there first, so their bytes win. The run says that their sender had not received more than was delivered:
    /// what it has of a piece needs to wait no longer, but a piece goes as a whole, so then the rest waits.
    fn fill(
        &mut self,
        holes: &mut Holes,
        dir: Dir,
        mut run: Run<'_>,
        mut starts: bool,
        now: Now,
        sink: &mut impl Sink,
    ) {
        while run.len > 0 {
            let Some(hole) = holes.get(self.hole) else { return };
            let pos = hole.pos;
            let room = hole.pieces.first_key_value().map_or(u64::MAX, |(first, _)| first.saturating_sub(pos));
            if room > 0 {
                let before = run.len;
                self.deliver(dir, &mut run, room, starts, now.time, sink);
                let n = before.saturating_sub(run.len);
                holes.change(self.hole, |hole| hole.pos = hole.pos.saturating_add(u64::from(n)));
            } else if hole.head().is_some_and(|head| head.needs.is_some()) {
                self.hold(holes, dir, pos, run, starts, now, sink);
                return;
            } else {
                let len = self.pop(holes, dir, None, sink);
                let overlap = u32::try_from(len).unwrap_or(u32::MAX).min(run.len);
                sink.note(dir, Note::Overlap(u64::from(overlap)));
                run.advance(overlap);
            }
            starts = false;
        }
    }

    /// Delivers the piece that starts at the next byte, each of its bytes with the time when it was captured, or
    /// ends the lane there. `other`: the other lane, where it is at hand. Returns the length of the piece.
    pub fn pop(&mut self, holes: &mut Holes, dir: Dir, other: Option<Self>, sink: &mut impl Sink) -> u64 {
        if let Some(fin) = holes.get(self.hole).and_then(|hole| hole.fin.filter(|fin| fin.pos == hole.pos)) {
            holes.close(self.hole);
            self.hole = NONE;
            self.finish(dir, fin.seen, sink);
            return 0;
        }
        let piece = holes.change(self.hole, |hole| {
            let piece = hole.pop()?;
            hole.pos = hole.pos.saturating_add(piece.len);
            Some(piece)
        });
        let Some(Some(piece)) = piece else { return 0 };
        self.next = self.next.wrapping_add(low_bits(piece.len));
        if piece.is_cut() {
            sink.gap(dir, piece.len, GapCause::Cut, piece.seen);
        } else {
            let first = piece.ack.zip(other).map_or(Heard::Unknown, |(ack, other)| other.heard_by(ack));
            for (at, (bytes, time, segment_start)) in piece.segments().enumerate() {
                let heard = if at == 0 { first } else { Heard::Unknown };
                sink.bytes(dir, bytes, Arrival { time, segment_start, heard, cut: 0 });
            }
        }
        piece.len
    }

    /// Keeps a run that cannot be delivered yet.
    #[expect(clippy::too_many_arguments, reason = "a run, and where it goes")]
    fn hold(
        &self,
        holes: &mut Holes,
        dir: Dir,
        at: u64,
        run: Run<'_>,
        starts: bool,
        now: Now,
        sink: &mut impl Sink,
    ) {
        let captured = at.saturating_add(run.bytes.len() as u64);
        let end = at.saturating_add(u64::from(run.len));
        let Now { time: seen, elapsed } = now;
        let fresh = Fresh { bytes: Some(run.bytes), seen, elapsed, needs: run.needs, ack: run.ack };
        let overlap = holes.change(self.hole, |hole| {
            let overlap = hole.insert(at, captured, fresh, starts);
            overlap.saturating_add(hole.insert(captured, end, Fresh { bytes: None, ..fresh }, false))
        });
        if let Some(overlap) = overlap.filter(|overlap| *overlap > 0) {
            sink.note(dir, Note::Overlap(overlap));
        }
    }

    /// Closes the hole when nothing is left in it, and returns whether that was so. Starts its wait anew when
    /// the lane moved, or waits for something else than before.
    pub fn rest(&mut self, holes: &mut Holes, now: Now) -> bool {
        let Some(hole) = holes.get(self.hole) else { return false };
        let ready = hole.head().is_some();
        let acked = self.has(ACKED) && after(self.acked, self.next);
        if hole.pieces.is_empty() && hole.fin.is_none() && !acked {
            holes.close(self.hole);
            self.hole = NONE;
            return true;
        }
        if (hole.pos, ready) != (hole.stood, hole.stood_ready) {
            holes.restart(self.hole, now, acked && !ready);
        }
        false
    }

    /// How many bytes are missing at the hole, and the time of the gap that they would be: when the first byte
    /// behind it was captured, or else what acknowledged it. `acked`: only what the receiver has acknowledged.
    pub fn missing(&self, holes: &Holes, only_acked: bool) -> Option<(u64, Nanos)> {
        let hole = holes.get(self.hole)?;
        let ahead = match self.has(ACKED) && after(self.acked, self.next) {
            true => u64::from(self.acked.wrapping_sub(self.next)),
            false => 0,
        };
        let (missing, time) = match hole.known() {
            Some((known, seen)) => {
                let missing = known.saturating_sub(hole.pos);
                (if only_acked { missing.min(ahead) } else { missing }, seen)
            }
            None => (ahead, hole.told),
        };
        (missing > 0).then_some((missing, time))
    }

    /// Goes on behind missing bytes.
    pub fn skip(&mut self, holes: &mut Holes, missing: u64) {
        self.next = self.next.wrapping_add(low_bits(missing));
        holes.change(self.hole, |hole| hole.pos = hole.pos.saturating_add(missing));
    }

    fn finish(&mut self, dir: Dir, time: Nanos, sink: &mut impl Sink) {
        self.next = self.next.wrapping_add(1);
        self.flags |= FIN;
        sink.eof(dir, time);
    }
}

/// A distance within sequence space.
fn low_bits(n: u64) -> u32 {
    u32::try_from(n & u64::from(u32::MAX)).unwrap_or_default()
}

const _: () = assert!(size_of::<Lane>() == 20);
