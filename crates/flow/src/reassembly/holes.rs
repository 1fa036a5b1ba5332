//! All holes of a table: a slab, two queues, one budget.

use super::Now;
use super::hole::{HOLE_COST, Hole};
use crate::list::{Link, List, NONE};
use model::Dir;

/// Whose lane it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pub slot: u32,
    pub dir: Dir,
}

impl Default for Owner {
    fn default() -> Self {
        Self { slot: NONE, dir: Dir::ToServer }
    }
}

/// The holes of a table.
#[derive(Debug)]
pub(crate) struct Holes {
    slab: Vec<Hole>,
    free: Vec<u32>,
    /// Those that wait for data or an acknowledgement, by the time since when.
    waiting: List,
    /// Those whose bytes were acknowledged, by the time of that.
    acked: List,
    /// What they cost together.
    cost: usize,
    /// Lane bytes held in all of them.
    held: u64,
}

impl Holes {
    pub const fn new() -> Self {
        Self {
            slab: Vec::new(),
            free: Vec::new(),
            waiting: List::EMPTY,
            acked: List::EMPTY,
            cost: 0,
            held: 0,
        }
    }

    pub const fn cost(&self) -> usize {
        self.cost
    }

    pub const fn held(&self) -> u64 {
        self.held
    }

    pub fn get(&self, at: u32) -> Option<&Hole> {
        self.slab.get(at as usize)
    }

    /// Opens a hole where a lane stands.
    pub fn open(&mut self, owner: Owner, now: Now) -> u32 {
        let hole = Hole {
            cost: HOLE_COST,
            since: now.elapsed,
            told: now.time,
            owner,
            link: Link::UNLINKED,
            ..Hole::default()
        };
        self.cost = self.cost.saturating_add(HOLE_COST);
        let at = match self.free.pop() {
            Some(at) => {
                if let Some(place) = self.slab.get_mut(at as usize) {
                    *place = hole;
                }
                at
            }
            None => {
                self.slab.push(hole);
                u32::try_from(self.slab.len().saturating_sub(1)).unwrap_or(NONE)
            }
        };
        self.waiting.push_after(&mut self.slab, at, |before| before.since <= now.elapsed);
        at
    }

    /// Changes a hole and keeps the sums right.
    pub fn change<R>(&mut self, at: u32, change: impl FnOnce(&mut Hole) -> R) -> Option<R> {
        let hole = self.slab.get_mut(at as usize)?;
        let (cost, held) = (hole.cost, hole.held);
        let result = change(hole);
        self.cost = self.cost.saturating_sub(cost).saturating_add(hole.cost);
        self.held = self.held.saturating_sub(held).saturating_add(hole.held);
        Some(result)
    }

    /// Starts the wait of a hole anew: its lane moved on, or was acknowledged beyond the hole.
    pub fn restart(&mut self, at: u32, now: Now, acked: bool) {
        let Some(hole) = self.slab.get_mut(at as usize) else { return };
        let was_acked = hole.acked.is_some();
        hole.since = now.elapsed;
        hole.packets = 0;
        hole.acked = acked.then_some(now.elapsed);
        (hole.stood, hole.stood_ready) = (hole.pos, hole.head().is_some());
        if was_acked { &mut self.acked } else { &mut self.waiting }.remove(&mut self.slab, at);
        let list = if acked { &mut self.acked } else { &mut self.waiting };
        list.push_after(&mut self.slab, at, |before| before.since <= now.elapsed);
    }

    /// Forgets a hole and what it holds.
    pub fn close(&mut self, at: u32) {
        let Some(hole) = self.slab.get_mut(at as usize) else { return };
        self.cost = self.cost.saturating_sub(hole.cost);
        self.held = self.held.saturating_sub(hole.held);
        hole.pieces.clear();
        let list = if hole.acked.is_some() { &mut self.acked } else { &mut self.waiting };
        list.remove(&mut self.slab, at);
        self.free.push(at);
    }

    /// The hole that has waited longest, of either queue.
    pub fn oldest(&self) -> Option<Owner> {
        let waiting = self.get(self.waiting.oldest());
        let acked = self.get(self.acked.oldest());
        let hole = match (waiting, acked) {
            (Some(waiting), Some(acked)) if acked.since < waiting.since => acked,
            (waiting, acked) => waiting.or(acked)?,
        };
        Some(hole.owner)
    }

    /// A hole whose bytes were acknowledged `reorder` nanoseconds ago, or more.
    pub fn overdue_acked(&self, elapsed: u64, reorder: u64) -> Option<Owner> {
        let hole = self.get(self.acked.oldest())?;
        let since = hole.acked.unwrap_or(hole.since);
        (elapsed.saturating_sub(since) >= reorder).then_some(hole.owner)
    }

    /// A hole that has waited for `hold` nanoseconds, or more.
    pub fn overdue_held(&self, elapsed: u64, hold: u64) -> Option<Owner> {
        let hole = self.get(self.waiting.oldest())?;
        (elapsed.saturating_sub(hole.since) >= hold).then_some(hole.owner)
    }
}
