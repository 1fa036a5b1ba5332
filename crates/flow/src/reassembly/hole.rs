//! What a lane holds that cannot be delivered yet: pieces, sorted, none over another, small neighbours joined.

use super::Owner;
use crate::list::{Link, Linked};
use model::Nanos;
use std::collections::BTreeMap;

/// Neighbours are joined up to this size, so that one-byte segments cost bytes and not pieces. Larger ones stay
/// apart: nothing is won. The time of each segment is kept, at 16 bytes.
const JOINED_BYTES: usize = 2048;

/// What a piece costs beside its bytes: its entry in the tree and the allocation.
pub(crate) const PIECE_COST: usize = 96;

/// What a hole costs beside its pieces.
pub(crate) const HOLE_COST: usize = 192;

/// Consecutive bytes that came out of order, or before what the other lane must say first.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The bytes; none when the snapshot length cut them off.
    pub bytes: Vec<u8>,
    /// How many bytes of the lane it stands for.
    pub len: u64,
    /// When its first byte was captured.
    pub seen: Nanos,
    /// The same by the table's clock.
    pub elapsed: u64,
    /// What the other lane must have reached before it is delivered: its sender had received that.
    pub needs: Option<u32>,
    /// What the sender of its first segment acknowledged.
    pub ack: Option<u32>,
    /// Whether it starts where a segment started.
    pub starts: bool,
    /// Where the segments start that were joined to it, in order; none in most pieces.
    marks: Vec<Mark>,
}

/// A segment within a piece.
#[derive(Debug, Clone, Copy)]
struct Mark {
    seen: Nanos,
    /// Its offset in the bytes of the piece, below [`JOINED_BYTES`].
    at: u32,
    starts: bool,
}

impl Piece {
    pub fn is_cut(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn cost(&self) -> usize {
        let marks = self.marks.capacity().saturating_mul(size_of::<Mark>());
        self.bytes.capacity().saturating_add(marks).saturating_add(PIECE_COST)
    }

    /// Its segments, each with the time it was captured and whether it starts where a segment started.
    pub fn segments(&self) -> impl Iterator<Item = (&[u8], Nanos, bool)> {
        let first = Mark { seen: self.seen, at: 0, starts: self.starts };
        let ends = self.marks.iter().map(|mark| to_usize(mark.at.into())).chain([self.bytes.len()]);
        std::iter::once(first).chain(self.marks.iter().copied()).zip(ends).map(|(mark, end)| {
            let bytes = self.bytes.get(to_usize(mark.at.into())..end).unwrap_or_default();
            (bytes, mark.seen, mark.starts)
        })
    }

    /// Whether `next` may be joined to it: small enough, and neither is to be delivered without the other.
    fn takes(&self, cut: bool, more: usize, needs: Option<u32>) -> bool {
        let fits = self.bytes.len().saturating_add(more) <= JOINED_BYTES;
        self.is_cut() == cut && self.needs == needs && fits
    }

    /// Notes that a segment which was captured at `seen` starts at the end of the bytes.
    fn mark(&mut self, seen: Nanos, starts: bool) {
        let last = self.marks.last().map_or(self.seen, |mark| mark.seen);
        if !self.is_cut() && last != seen {
            let at = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
            self.marks.push(Mark { seen, at, starts });
        }
    }
}

/// The end of a lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fin {
    pub pos: u64,
    /// When it was captured.
    pub seen: Nanos,
    pub elapsed: u64,
    /// As for a [`Piece`].
    pub needs: Option<u32>,
}

/// A place where bytes of a lane are missing, and what is known beyond it. Positions count from where the lane
/// was when the hole opened, in 64 bits, so that they do not wrap.
#[derive(Debug, Default)]
pub(crate) struct Hole {
    /// The position of the lane's next byte.
    pub pos: u64,
    /// By position; when the lane is at rest, all beyond `pos`, or the first one waits for the other lane.
    pub pieces: BTreeMap<u64, Piece>,
    /// The FIN.
    pub fin: Option<Fin>,
    /// What it counts against the budgets.
    pub cost: usize,
    /// Lane bytes that its pieces stand for.
    pub held: u64,
    /// Since when the lane stands still, by the table's clock.
    pub since: u64,
    /// When the receiver first acknowledged more than was captured, by the table's clock.
    pub acked: Option<u64>,
    /// When the last acknowledgement of something missing was captured.
    pub told: Nanos,
    /// Packets of the flow since `acked`.
    pub packets: u32,
    /// `pos` when the wait began.
    pub stood: u64,
    /// Whether the wait was for the other lane when it began.
    pub stood_ready: bool,
    pub owner: Owner,
    pub link: Link,
}

impl Linked for Hole {
    fn link(&mut self) -> &mut Link {
        &mut self.link
    }
}

/// Bytes on their way into a hole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fresh<'a> {
    /// The bytes; `None` when the snapshot length cut them off.
    pub bytes: Option<&'a [u8]>,
    pub seen: Nanos,
    pub elapsed: u64,
    pub needs: Option<u32>,
    pub ack: Option<u32>,
}

/// What comes next in a lane, once the other one has reached what it needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    pub needs: Option<u32>,
    /// When it was captured, by the table's clock.
    pub elapsed: u64,
}

impl Hole {
    /// What comes next, when that was captured.
    pub fn head(&self) -> Option<Head> {
        if let Some(fin) = self.fin.filter(|fin| fin.pos == self.pos) {
            return Some(Head { needs: fin.needs, elapsed: fin.elapsed });
        }
        let (start, piece) = self.pieces.first_key_value()?;
        (*start == self.pos).then_some(Head { needs: piece.needs, elapsed: piece.elapsed })
    }

    /// The first thing that was captured: where, and when.
    pub fn known(&self) -> Option<(u64, Nanos)> {
        let piece = self.pieces.first_key_value().map(|(start, piece)| (*start, piece.seen));
        let fin = self.fin.map(|fin| (fin.pos, fin.seen));
        piece.or(fin)
    }

    /// Whether every byte before `at` is held, and none behind it.
    pub fn reaches(&self, at: u64) -> bool {
        let end =
            self.pieces.last_key_value().map_or(self.pos, |(start, piece)| start.saturating_add(piece.len));
        end == at && self.held == at.saturating_sub(self.pos)
    }

    /// Takes out the first piece.
    pub fn pop(&mut self) -> Option<Piece> {
        let (_, piece) = self.pieces.pop_first()?;
        self.cost = self.cost.saturating_sub(piece.cost());
        self.held = self.held.saturating_sub(piece.len);
        Some(piece)
    }

    /// Lets go of everything from `end` on. Returns how many bytes that were.
    pub fn truncate(&mut self, end: u64) -> u64 {
        let before = self.held;
        while let Some(mut last) = self.pieces.last_entry() {
            let start = *last.key();
            let piece = last.get_mut();
            let len = end.saturating_sub(start);
            if len >= piece.len {
                break;
            }
            self.held = self.held.saturating_sub(piece.len.saturating_sub(len));
            if len > 0 {
                piece.len = len;
                piece.bytes.truncate(to_usize(len));
                piece.marks.retain(|mark| u64::from(mark.at) < len);
            } else {
                self.cost = self.cost.saturating_sub(last.remove().cost());
            }
        }
        before.saturating_sub(self.held)
    }

    /// Adds `[start, end)` where nothing is held yet. Returns how many bytes were held already.
    pub fn insert(&mut self, start: u64, end: u64, mut fresh: Fresh<'_>, starts: bool) -> u64 {
        let (mut at, mut overlap) = (start, 0u64);
        while at < end {
            let before = self.pieces.range(..=at).next_back();
            let held_to = before.map_or(0, |(start, piece)| start.saturating_add(piece.len));
            if held_to > at {
                let to = held_to.min(end);
                overlap = overlap.saturating_add(to.saturating_sub(at));
                fresh.advance(to.saturating_sub(at));
                at = to;
                continue;
            }
            let to = self.pieces.range(at..).next().map_or(end, |(next, _)| (*next).min(end));
            self.put(at, to.saturating_sub(at), fresh, starts && at == start);
            fresh.advance(to.saturating_sub(at));
            at = to;
        }
        overlap
    }

    /// Adds `len` bytes at `at`, where there is room for them, and joins them with their neighbours.
    fn put(&mut self, at: u64, len: u64, fresh: Fresh<'_>, starts: bool) {
        self.held = self.held.saturating_add(len);
        let bytes = fresh.bytes.map(|bytes| bytes.get(..to_usize(len)).unwrap_or(bytes));
        let joined = self.pieces.range_mut(..at).next_back().and_then(|(start, piece)| {
            let touches = start.saturating_add(piece.len) == at;
            let fits = piece.takes(bytes.is_none(), bytes.map_or(0, <[u8]>::len), fresh.needs);
            (touches && fits).then(|| {
                let cost = piece.cost();
                piece.mark(fresh.seen, starts);
                piece.bytes.extend_from_slice(bytes.unwrap_or_default());
                piece.len = piece.len.saturating_add(len);
                (*start, piece.cost().saturating_sub(cost))
            })
        });
        let start = match joined {
            Some((start, more)) => {
                self.cost = self.cost.saturating_add(more);
                start
            }
            None => {
                let Fresh { seen, elapsed, needs, ack, .. } = fresh;
                let bytes = bytes.unwrap_or_default().to_vec();
                let piece = Piece { bytes, len, seen, elapsed, needs, ack, starts, marks: Vec::new() };
                self.cost = self.cost.saturating_add(piece.cost());
                self.pieces.insert(at, piece);
                at
            }
        };
        self.join_next(start, at.saturating_add(len));
    }

    /// Joins the piece at `start`, which ends at `end`, with the one after it.
    fn join_next(&mut self, start: u64, end: u64) {
        let Some(next) = self.pieces.get(&end) else { return };
        let (cut, more, needs) = (next.is_cut(), next.bytes.len(), next.needs);
        if self.pieces.get(&start).is_none_or(|piece| !piece.takes(cut, more, needs)) {
            return;
        }
        let Some(next) = self.pieces.remove(&end) else { return };
        let Some(piece) = self.pieces.get_mut(&start) else { return };
        let before = piece.cost().saturating_add(next.cost());
        piece.mark(next.seen, next.starts);
        let offset = u32::try_from(piece.bytes.len()).unwrap_or(u32::MAX);
        let shifted = |mark: &Mark| Mark { at: mark.at.saturating_add(offset), ..*mark };
        piece.marks.extend(next.marks.iter().map(shifted));
        piece.bytes.extend_from_slice(&next.bytes);
        piece.len = piece.len.saturating_add(next.len);
        self.cost = self.cost.saturating_sub(before).saturating_add(piece.cost());
    }
}

impl Fresh<'_> {
    fn advance(&mut self, by: u64) {
        self.bytes = self.bytes.map(|bytes| bytes.get(to_usize(by)..).unwrap_or_default());
    }
}

pub(crate) fn to_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
