//! Prepared statements of one flow, found by name (PostgreSQL) or number (MySQL).
//!
//! * In: statements as they are prepared and closed.
//! * Out: the statement of a name or a number, or of a [`Ref`] taken earlier.
//! * Owned: the statements and their names; the room of a closed one serves the next.
//! * Bounded by: [`MAX_STATEMENTS`] entries and [`MAX_CACHED_BYTES`] bytes.
//! * Lost: the entry used least recently, when either bound is met.

use super::{Dialect, MAX_CACHED_BYTES, MAX_STATEMENTS, Statement};
use crate::{Limits, Message, Name, Notice};

/// The name or number of a statement whose text is unknown.
const STATEMENT: Name = Name::Attribute("db.prepared_statement");

/// Points to a statement; none any more when its place was given to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ref {
    slot: usize,
    version: u64,
}

#[derive(Debug, Default)]
struct Slot {
    /// Hash of the name, or the number; compared first.
    key: u64,
    /// Whether it can be found by its key.
    named: bool,
    version: u64,
    used: u64,
    /// Whether its text was said before it could be seen.
    unknown: bool,
    name: Vec<u8>,
    statement: Statement,
}

impl Slot {
    const fn bytes(&self) -> usize {
        self.name.capacity().saturating_add(self.statement.held_bytes())
    }
}

/// The prepared statements of a flow.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    slots: Vec<Slot>,
    /// Counts uses and changes: the order for eviction, and the versions.
    clock: u64,
    bytes: usize,
}

/// FNV-1a: only a first comparison, the names themselves decide.
fn hash(name: &[u8]) -> u64 {
    name.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

impl Statements {
    /// The statement of a name.
    pub fn by_name(&mut self, name: &[u8]) -> Option<Ref> {
        self.find(hash(name), name)
    }

    /// The statement of a number.
    pub fn by_number(&mut self, number: u32) -> Option<Ref> {
        self.find(u64::from(number), b"")
    }

    fn find(&mut self, key: u64, name: &[u8]) -> Option<Ref> {
        let at = self.slots.iter().position(|slot| slot.key == key && slot.named && slot.name == name)?;
        self.clock = self.clock.saturating_add(1);
        let slot = self.slots.get_mut(at)?;
        slot.used = self.clock;
        Some(Ref { slot: at, version: slot.version })
    }

    /// The statement that a reference points to.
    pub fn get(&self, at: Ref) -> Option<&Statement> {
        self.slots.get(at.slot).filter(|slot| slot.version == at.version).map(|slot| &slot.statement)
    }

    /// Keeps a statement under a name, instead of the one that had it.
    pub fn insert(
        &mut self,
        name: &[u8],
        text: &[u8],
        whole: bool,
        dialect: Dialect,
        limits: &Limits,
    ) -> Ref {
        let key = hash(name);
        let at = self.find(key, name).map(|found| found.slot);
        self.put(at, key, true, name, text, whole, dialect, limits)
    }

    /// Keeps the place of a statement whose text was not seen.
    pub fn insert_unknown(&mut self, name: &[u8], dialect: Dialect) -> Ref {
        let at = self.insert(name, b"", true, dialect, &Limits::default());
        self.forget_text(at)
    }

    /// The same, for one with a number.
    pub fn insert_unknown_number(&mut self, number: u32, dialect: Dialect) -> Ref {
        let at = self.insert_unnumbered(b"", true, dialect, &Limits::default());
        self.number(at, number);
        self.forget_text(at)
    }

    fn forget_text(&mut self, at: Ref) -> Ref {
        if let Some(slot) = self.slots.get_mut(at.slot) {
            slot.unknown = true;
        }
        at
    }

    /// Adds what is known of a statement to a message.
    pub fn describe<'o>(&self, at: Option<Ref>, message: Message<'o>) -> Message<'o> {
        let Some(slot) = at.and_then(|at| self.slots.get(at.slot).filter(|slot| slot.version == at.version))
        else {
            return message.notice(Notice::Unknown);
        };
        if !slot.unknown {
            return slot.statement.describe(message);
        }
        let message = message.notice(Notice::Unknown);
        match (slot.name.as_slice(), i64::try_from(slot.key)) {
            ([], Ok(number)) => message.int(STATEMENT, number),
            ([], _) => message,
            (name, _) => message.text(STATEMENT, name),
        }
    }

    /// Keeps a statement that has no number yet.
    pub fn insert_unnumbered(&mut self, text: &[u8], whole: bool, dialect: Dialect, limits: &Limits) -> Ref {
        self.put(None, 0, false, b"", text, whole, dialect, limits)
    }

    /// Gives a statement its number, which it takes from any other.
    pub fn number(&mut self, at: Ref, number: u32) {
        self.remove_number(number);
        if let Some(slot) = self.slots.get_mut(at.slot).filter(|slot| slot.version == at.version) {
            slot.key = u64::from(number);
            slot.named = true;
        }
    }

    /// The statement of a name was closed. What points to it stays as long as its place is not needed.
    pub fn remove_name(&mut self, name: &[u8]) {
        self.remove(hash(name), name);
    }

    /// The statement of a number was closed.
    pub fn remove_number(&mut self, number: u32) {
        self.remove(u64::from(number), b"");
    }

    fn remove(&mut self, key: u64, name: &[u8]) {
        if let Some(slot) = self.find(key, name).and_then(|at| self.slots.get_mut(at.slot)) {
            slot.named = false;
            slot.used = 0;
        }
    }

    /// Bytes of names and texts, room included.
    #[cfg(test)]
    pub fn held_bytes(&self) -> usize {
        self.slots.iter().map(Slot::bytes).sum()
    }

    /// Nothing is known any more.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.bytes = 0;
    }

    #[allow(clippy::too_many_arguments)]
    fn put(
        &mut self,
        at: Option<usize>,
        key: u64,
        named: bool,
        name: &[u8],
        text: &[u8],
        whole: bool,
        dialect: Dialect,
        limits: &Limits,
    ) -> Ref {
        let at = at.unwrap_or_else(|| self.place());
        self.clock = self.clock.saturating_add(1);
        let version = self.clock;
        if let Some(slot) = self.slots.get_mut(at) {
            let before = slot.bytes();
            slot.key = key;
            slot.named = named;
            slot.unknown = false;
            slot.version = version;
            slot.used = version;
            slot.name.clear();
            slot.name.extend_from_slice(name);
            slot.statement.set(text, whole, dialect, limits);
            self.bytes = self.bytes.saturating_sub(before).saturating_add(slot.bytes());
        }
        self.shrink(at);
        Ref { slot: at, version }
    }

    /// A place for a statement: one that was closed, a new one, or that of the one used least recently.
    fn place(&mut self) -> usize {
        match self.oldest(|_, _| true) {
            Some((at, used)) if used == 0 || self.slots.len() >= MAX_STATEMENTS => at,
            _ => {
                self.slots.push(Slot::default());
                self.slots.len().saturating_sub(1)
            }
        }
    }

    /// Lets go of texts until the bytes fit. Places stay, so that references stay true.
    fn shrink(&mut self, keep: usize) {
        while self.bytes > MAX_CACHED_BYTES
            && let Some((at, _)) = self.oldest(|at, slot| at != keep && slot.bytes() > 0)
            && let Some(slot) = self.slots.get_mut(at)
        {
            self.bytes = self.bytes.saturating_sub(slot.bytes());
            *slot = Slot::default();
        }
    }

    /// The place used least recently among some; of those that are free, the one with the most room.
    fn oldest(&self, among: impl Fn(usize, &Slot) -> bool) -> Option<(usize, u64)> {
        let places = self.slots.iter().enumerate().filter(|(at, slot)| among(*at, slot));
        let order = |slot: &Slot| (slot.used, core::cmp::Reverse(slot.bytes()));
        places.min_by_key(|(_, slot)| order(slot)).map(|(at, slot)| (at, slot.used))
    }
}
