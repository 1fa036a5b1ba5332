//! What a lane holds beyond its next byte: pieces, sorted, none over another, small neighbours joined.

use crate::list::{Link, Linked};
use model::Nanos;
use std::collections::BTreeMap;

/// Neighbours are joined up to this size, so that one-byte segments cost bytes and not pieces. Larger ones stay
/// apart: the starts of segments are where a decoder that lost its place looks for a message.
const JOINED_BYTES: usize = 2048;

/// What a piece costs beside its bytes: its entry in the tree and the allocation.
pub(crate) const PIECE_COST: usize = 96;

/// What a hole costs beside its pieces.
pub(crate) const HOLE_COST: usize = 192;

/// Consecutive bytes that came out of order.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The bytes; none when the snapshot length cut them off.
    pub bytes: Vec<u8>,
    /// How many bytes of the lane it stands for.
    pub len: u64,
    /// When its first byte was seen.
    pub seen: Nanos,
    /// The same by the table's clock.
    pub elapsed: u64,
    /// Whether it starts where a segment started.
    pub starts: bool,
}

impl Piece {
    pub fn is_cut(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn cost(&self) -> usize {
        self.bytes.capacity().saturating_add(PIECE_COST)
    }
}

/// A place where bytes of a lane are missing, and what is known beyond it. Positions count from where the lane
/// was when the hole opened, in 64 bits, so that they do not wrap.
#[derive(Debug, Default)]
pub(crate) struct Hole {
    /// The position of the lane's next byte.
    pub pos: u64,
    /// By position; all beyond `pos` when the lane is at rest.
    pub pieces: BTreeMap<u64, Piece>,
    /// The position of the FIN.
    pub fin: Option<u64>,
    /// What it counts against the budgets.
    pub cost: usize,
    /// Lane bytes that its pieces stand for.
    pub held: u64,
    /// Since when the lane stands still, by the table's clock.
    pub since: u64,
    /// When the receiver first acknowledged more than was captured, by the table's clock.
    pub acked: Option<u64>,
    /// Packets of the flow since then.
    pub packets: u32,
    /// Nothing is delivered with a time before this.
    pub floor: Nanos,
    /// The flow's slot.
    pub slot: u32,
    /// [`model::Dir::index`].
    pub dir: u8,
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
}

impl Hole {
    /// Where the first piece starts.
    pub fn first(&self) -> Option<u64> {
        self.pieces.first_key_value().map(|(start, _)| *start)
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
            let touches = start.saturating_add(piece.len) == at && piece.is_cut() == bytes.is_none();
            let fits = piece.bytes.len().saturating_add(bytes.map_or(0, <[u8]>::len)) <= JOINED_BYTES;
            (touches && fits).then(|| {
                let cost = piece.cost();
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
                let Fresh { seen, elapsed, .. } = fresh;
                let piece = Piece { bytes: bytes.unwrap_or_default().to_vec(), len, seen, elapsed, starts };
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
        let (cut, more) = (next.is_cut(), next.bytes.len());
        let Some(piece) = self.pieces.get(&start) else { return };
        if piece.is_cut() != cut || piece.bytes.len().saturating_add(more) > JOINED_BYTES {
            return;
        }
        let Some(next) = self.pieces.remove(&end) else { return };
        let Some(piece) = self.pieces.get_mut(&start) else { return };
        let before = piece.cost().saturating_add(next.cost());
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
