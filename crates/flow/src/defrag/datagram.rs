//! One datagram whose fragments come in.

use super::{DATAGRAM_COST, FragmentKey, MAX_PIECES, PIECE_COST, Whole, forbids_overlap};
use crate::DropReason;
use crate::list::Link;
use wire::Fragment;

/// Bytes at an offset.
#[derive(Debug)]
struct Piece {
    start: u32,
    bytes: Vec<u8>,
}

impl Piece {
    fn end(&self) -> u32 {
        self.start.saturating_add(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX))
    }
}

#[derive(Debug)]
pub(super) struct Datagram {
    pub key: FragmentKey,
    /// When the first fragment came, by the table's clock.
    pub since: u64,
    /// What it counts against the budget.
    pub cost: usize,
    /// Fragments that are part of it.
    pub fragments: u64,
    pub link: Link,
    /// Sorted, none over another.
    pieces: Vec<Piece>,
    /// Where it ends, once the last fragment is there.
    end: Option<u32>,
    wire_len: u32,
    /// Why every further fragment is dropped.
    spoilt: Option<DropReason>,
}

/// What became of a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Kept,
    Complete,
    /// It is dropped; the others stay.
    Dropped(DropReason),
    /// It and the others are dropped, and those that will follow.
    Ended(DropReason),
}

impl Datagram {
    pub fn new(key: FragmentKey, since: u64) -> Self {
        Self {
            key,
            since,
            cost: DATAGRAM_COST,
            fragments: 0,
            link: Link::UNLINKED,
            pieces: Vec::new(),
            end: None,
            wire_len: 0,
            spoilt: None,
        }
    }

    /// Takes a fragment whose length and offset were checked.
    pub fn push(&mut self, fragment: &Fragment<'_>, wire_len: u32) -> Verdict {
        if let Some(reason) = self.spoilt {
            return Verdict::Dropped(reason);
        }
        let verdict = self.check(fragment);
        match verdict {
            Verdict::Ended(reason) => self.spoilt = Some(reason),
            Verdict::Dropped(_) => {}
            Verdict::Kept | Verdict::Complete => {
                if !self.add(fragment.offset, fragment.payload) {
                    return Verdict::Dropped(DropReason::FragmentDuplicate);
                }
                self.fragments = self.fragments.saturating_add(1);
                self.wire_len = self.wire_len.saturating_add(wire_len);
                if !fragment.more {
                    self.end = Some(fragment.offset.saturating_add(fragment.payload_len));
                }
                if self.is_complete() {
                    return Verdict::Complete;
                }
            }
        }
        verdict
    }

    fn check(&self, fragment: &Fragment<'_>) -> Verdict {
        if (fragment.payload.len() as u64) < u64::from(fragment.payload_len) {
            return Verdict::Ended(DropReason::FragmentCut);
        }
        let (start, end) = (fragment.offset, fragment.offset.saturating_add(fragment.payload_len));
        let beyond = self.end.is_some_and(|known| end > known || (!fragment.more && end != known));
        let before = !fragment.more && self.pieces.last().is_some_and(|piece| piece.end() > end);
        if beyond || before {
            return Verdict::Ended(DropReason::FragmentInconsistent);
        }
        let mut over = self.pieces.iter().filter(|piece| piece.start < end && start < piece.end());
        let first = over.next();
        if forbids_overlap(&self.key) {
            // The same fragment again is no overlap (RFC 8200 section 4.5).
            match first {
                Some(piece) if piece.start == start && piece.end() == end => {
                    return Verdict::Dropped(DropReason::FragmentDuplicate);
                }
                Some(_) => return Verdict::Ended(DropReason::FragmentOverlap),
                None => {}
            }
        }
        // What covers a hole may come in as many pieces as there are holes.
        let more = over.count().saturating_add(2);
        if self.pieces.len().saturating_add(more) > MAX_PIECES {
            return Verdict::Ended(DropReason::FragmentTooMany);
        }
        Verdict::Kept
    }

    /// Adds bytes where none are. Returns whether there was such a place.
    fn add(&mut self, start: u32, bytes: &[u8]) -> bool {
        let end = start.saturating_add(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        let mut at = start;
        let mut index = self.pieces.partition_point(|piece| piece.end() <= start);
        let mut added = false;
        while at < end {
            let next = self.pieces.get(index);
            let to = next.map_or(end, |piece| piece.start.min(end));
            if at < to {
                let from = at.saturating_sub(start) as usize..to.saturating_sub(start) as usize;
                let bytes = bytes.get(from).unwrap_or_default().to_vec();
                self.cost = self.cost.saturating_add(bytes.capacity()).saturating_add(PIECE_COST);
                self.pieces.insert(index, Piece { start: at, bytes });
                added = true;
                index = index.saturating_add(1);
            }
            at = self.pieces.get(index).map_or(end, Piece::end).max(to);
            index = index.saturating_add(1);
        }
        added
    }

    fn is_complete(&self) -> bool {
        let Some(end) = self.end else { return false };
        let mut at = 0;
        for piece in &self.pieces {
            if piece.start != at {
                return false;
            }
            at = piece.end();
        }
        at == end
    }

    /// Writes the whole packet behind `out`.
    pub fn write(&self, out: &mut Vec<u8>) -> Whole {
        for piece in &self.pieces {
            out.extend_from_slice(&piece.bytes);
        }
        Whole { fragments: self.fragments, wire_len: self.wire_len }
    }

    /// Lets go of what is held.
    pub fn spoil(&mut self) {
        self.pieces = Vec::new();
        self.fragments = 0;
        self.cost = DATAGRAM_COST;
    }
}
