//! The writers' side of the map: one mutex per partition.

use std::borrow::Borrow;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};
use std::mem::MaybeUninit;

use super::{Put, Refused, Shared, Walk, drop_entry, entry};
use crate::groups::{Group, SLOTS};
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

/// Slots that wait in a partition before a writer looks whether readers have left.
const LOOK: usize = 64;

/// What a partition's mutex guards beside its slots.
#[derive(Debug)]
pub(crate) struct Writer {
    /// Slots without a tag that readers may still look at, oldest first, with their stamps. Never more than
    /// the partition has slots.
    waiting: VecDeque<(u64, usize)>,
    /// The same as bits, per group of the partition.
    held: Box<[u8]>,
    /// How many must wait for the next look.
    look_at: usize,
}

impl Writer {
    pub(crate) fn new(groups: usize) -> Self {
        Self { waiting: VecDeque::with_capacity(groups * SLOTS), held: vec![0; groups].into(), look_at: LOOK }
    }
}

/// A slot by its group and its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct At {
    group: usize,
    slot: usize,
}

impl At {
    const fn index(self) -> usize {
        self.group * SLOTS + self.slot
    }
}

impl<K: Hash + Eq, V, S: BuildHasher> Shared<K, V, S> {
    pub(super) fn put(&self, key: K, decide: impl FnOnce(Option<&V>) -> Option<V>) -> Result<Put, Refused> {
        let hash = self.hasher.hash_one(&key);
        let home = self.walk(hash);
        let mut writer = self.lock(home.group);
        let old = self.find(home, Group::tag(hash), &key);
        let Some(value) = decide(old.map(|at| &self.entry(&writer, at).1)) else { return Ok(Put::Kept) };
        if old.is_none() && !self.count_in() {
            self.refused_full.fetch_add(1, Ordering::Relaxed);
            return Err(Refused::Full);
        }
        // A reader that has passed the old entry's group would find neither if the new one were before it.
        let from = old.map_or(home.group, |at| at.group);
        let Some(new) = self.vacancy(&mut writer, home, from) else {
            if old.is_none() {
                self.entries.fetch_sub(1, Ordering::Relaxed);
            }
            let (why, count) = if writer.waiting.is_empty() {
                (Refused::Full, &self.refused_full)
            } else {
                (Refused::Waiting, &self.refused_waiting)
            };
            count.fetch_add(1, Ordering::Relaxed);
            return Err(why);
        };
        self.slots[new.index()].with_mut(|place| {
            // SAFETY: the slot has no tag and does not wait, so no reader looks at it, and the mutex of its
            // partition is held. What it held before was dropped.
            unsafe { place.write(MaybeUninit::new((key, value))) }
        });
        let tag = Group::tag(hash);
        match old {
            None => {
                self.pass(home, new.group, Group::passed);
                self.change(new.group, |group| group.with(new.slot, tag));
                Ok(Put::Added)
            }
            Some(old) if old.group == new.group => {
                self.change(new.group, |group| group.with(new.slot, tag).with(old.slot, 0));
                self.retire(&mut writer, old);
                Ok(Put::Replaced)
            }
            Some(old) => {
                self.pass(home, new.group, Group::passed);
                self.change(new.group, |group| group.with(new.slot, tag));
                self.take_out(&mut writer, home, old);
                Ok(Put::Replaced)
            }
        }
    }

    pub(super) fn remove<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        let hash = self.hasher.hash_one(key);
        let home = self.walk(hash);
        let mut writer = self.lock(home.group);
        let Some(at) = self.find(home, Group::tag(hash), key) else { return false };
        self.take_out(&mut writer, home, at);
        self.entries.fetch_sub(1, Ordering::Relaxed);
        true
    }

    pub(super) fn sweep(
        &self,
        cursor: &mut usize,
        groups: usize,
        mut keep: impl FnMut(&K, &V) -> bool,
    ) -> usize {
        let mut removed = 0;
        for _ in 0..groups.min(self.groups.len()) {
            let number = *cursor & (self.groups.len() - 1);
            *cursor = number + 1;
            if Group(self.groups[number].load(Ordering::Relaxed)).taken().next().is_none() {
                continue;
            }
            let mut writer = self.lock(number);
            for slot in Group(self.groups[number].load(Ordering::Relaxed)).taken() {
                let at = At { group: number, slot };
                let (key, value) = self.entry(&writer, at);
                if keep(key, value) {
                    continue;
                }
                let mut home = self.walk(self.hasher.hash_one(key));
                if self.partition(home.group) != self.partition(number) {
                    // The key hashes to something else than when it came. Other partitions are not ours to write.
                    home.group = number;
                }
                self.take_out(&mut writer, home, at);
                self.entries.fetch_sub(1, Ordering::Relaxed);
                removed += 1;
            }
        }
        removed
    }

    /// The slot of a key. The mutex of its partition is held.
    fn find<Q: Eq + ?Sized>(&self, home: Walk, tag: u64, key: &Q) -> Option<At>
    where
        K: Borrow<Q>,
    {
        let mut walk = home;
        loop {
            let group = Group(self.groups[walk.group].load(Ordering::Relaxed));
            for slot in group.matches(tag) {
                let at = At { group: walk.group, slot };
                // SAFETY: the slot has a tag, so it is initialised, and who could take the tag away needs the
                // mutex that is held.
                let same = unsafe { entry(&self.slots[at.index()]) }.0.borrow() == key;
                if same {
                    return Some(at);
                }
            }
            if !group.goes_on() || !walk.next() {
                return None;
            }
        }
    }

    /// The entry of a slot that has a tag. It stays while the partition is not written, which needs `_held`.
    fn entry<'a>(&'a self, _held: &'a MutexGuard<'_, Writer>, at: At) -> &'a (K, V) {
        // SAFETY: the slot has a tag (callers have just seen it), so it is initialised; it is written only by
        // who has the mutex to itself, and that is borrowed.
        unsafe { entry(&self.slots[at.index()]) }
    }
}

impl<K, V, S> Shared<K, V, S> {
    fn partition(&self, group: usize) -> usize {
        group / (self.mask + 1)
    }

    /// The partition that a group belongs to, for writing.
    fn lock(&self, group: usize) -> MutexGuard<'_, Writer> {
        let mutex: &Mutex<Writer> = &self.partitions[self.partition(group)];
        // Whoever panicked did so before it changed anything: in `decide`, `keep`, `eq`, or in the drop of a
        // value whose slot was free already.
        mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Counts one more entry unless the map is full.
    fn count_in(&self) -> bool {
        let fits = |count: usize| (count < self.capacity).then_some(count + 1);
        self.entries.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    /// A slot to write to, within reach of `home` and not before the group `from`.
    fn vacancy(&self, writer: &mut Writer, home: Walk, from: usize) -> Option<At> {
        let base = home.group & !home.mask;
        let free = |writer: &Writer, number: usize| {
            let held = writer.held[number - base];
            let group = Group(self.groups[number].load(Ordering::Relaxed));
            let slot = group.vacant().find(|slot| held >> slot & 1 == 0)?;
            Some(At { group: number, slot })
        };
        if let Some(at) = free(writer, from) {
            return Some(at);
        }
        // Before it goes to another group, from where a replacement never comes back: readers may have left.
        self.reclaim(writer);
        let mut walk = home;
        let mut begun = false;
        loop {
            begun |= walk.group == from;
            let at = begun.then(|| free(writer, walk.group)).flatten();
            if at.is_some() || !walk.next() {
                return at;
            }
        }
    }

    /// Counts an entry in or out of every group between where its hash puts it and where it lies.
    fn pass(&self, home: Walk, to: usize, how: impl Fn(Group) -> Group) {
        let mut walk = home;
        while walk.group != to {
            self.change(walk.group, &how);
            if !walk.next() {
                break;
            }
        }
    }

    /// Changes a control word. The mutex of its partition is held, so nobody else does.
    fn change(&self, group: usize, how: impl FnOnce(Group) -> Group) {
        let word: &AtomicU64 = &self.groups[group];
        // Release: who sees a tag sees what was written to its slot.
        word.store(how(Group(word.load(Ordering::Relaxed))).0, Ordering::Release);
    }

    fn take_out(&self, writer: &mut Writer, home: Walk, at: At) {
        self.change(at.group, |group| group.with(at.slot, 0));
        // After the tag: who is told that nothing lies further on must not have an entry there.
        self.pass(home, at.group, Group::returned);
        self.retire(writer, at);
    }

    /// A slot that has just lost its tag waits for its readers.
    fn retire(&self, writer: &mut Writer, at: At) {
        let local = at.group & (writer.held.len() - 1);
        writer.held[local] |= 1 << at.slot;
        writer.waiting.push_back((self.epoch.stamp(), at.index()));
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.retired.fetch_add(1, Ordering::Relaxed);
        if writer.waiting.len() >= writer.look_at {
            self.reclaim(writer);
            // With a reader that stays, the next look comes when twice as many wait: looking stays cheap.
            writer.look_at = LOOK.max(writer.waiting.len() * 2);
        }
    }

    /// Frees the slots that no reader can look at any more.
    fn reclaim(&self, writer: &mut Writer) {
        if writer.waiting.is_empty() {
            return;
        }
        let horizon = self.epoch.horizon();
        while let Some((_, index)) = writer.waiting.pop_front_if(|(stamp, _)| *stamp < horizon) {
            let local = (index / SLOTS) & (writer.held.len() - 1);
            writer.held[local] &= !(1 << (index % SLOTS));
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            // SAFETY: the slot lost its tag, and every reader that could have seen it has left. It was
            // initialised, and is dropped only here, since it left the list.
            unsafe { drop_entry(&self.slots[index]) };
        }
    }

    pub(super) fn reclaim_all(&self) {
        for partition in 0..self.partitions.len() {
            let mut writer = self.lock(partition * (self.mask + 1));
            self.reclaim(&mut writer);
        }
    }

    /// Drops every entry, those that wait too: nobody has a handle any more.
    pub(super) fn drop_entries(&mut self) {
        if !std::mem::needs_drop::<(K, V)>() {
            return;
        }
        for number in 0..self.groups.len() {
            let held = {
                let writer = self.lock(number);
                writer.held[number & (writer.held.len() - 1)]
            };
            let taken = Group(self.groups[number].load(Ordering::Relaxed)).taken();
            let waiting = (0..SLOTS).filter(|slot| held >> slot & 1 == 1);
            for slot in taken.chain(waiting) {
                // SAFETY: the slot has a tag or waits, so it is initialised; the map is borrowed for good, so
                // nobody looks at it.
                unsafe { drop_entry(&self.slots[number * SLOTS + slot]) };
            }
        }
    }
}
