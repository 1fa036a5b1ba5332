//! A map that many threads read per packet and somebody writes per call.
//!
//! * In: entries from any thread. Out: borrows of them, through a [`Reader`] of each thread, for the life of a
//!   [`Guard`]. A guard is taken per batch; it cannot be sent, and so is never held over an `await` of a task
//!   that moves between threads.
//! * Owned: all slots, allocated when the map is made. Writing allocates nothing.
//! * Bounded by: the number of entries given. What is replaced or removed stays in its slot, unseen by those who
//!   come later, until all readers that may look at it have left ([`Gauges::waiting`]); only then is the slot used
//!   again. So a reader that never leaves cannot make garbage grow: writers run out of slots instead.
//! * Lost: entries for which there is no slot, as an answer and a count: [`Refused`].
//!
//! A look-up reads two cache lines, as in a private `HashMap`: the control word of seven slots
//! (`groups.rs`) and the slot, in which the entry itself lies. It writes nothing; entering and
//! leaving write a word of the reader's own. Writers hold the mutex of one of [`PARTITIONS`] parts.

mod batched;
mod write;

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use crate::epoch::{Epoch, Place};
use crate::groups::{Group, SLOTS};
use crate::sync::{Arc, AtomicU64, AtomicUsize, Mutex, Ordering, UnsafeCell};
use write::Writer;

pub use batched::Batched;

/// Parts with a mutex each, at most.
pub const PARTITIONS: usize = 16;

/// Groups that an entry may be away from where its hash puts it.
const REACH: usize = 16;

/// Why an entry was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refused {
    /// The map has all the entries that it may have, or no slot near enough.
    Full,
    /// Slots are there, but readers may still look at what was in them.
    Waiting,
}

/// What an insertion did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Put {
    /// The key is new.
    Added,
    /// The key was there.
    Replaced,
    /// The key was there, and stays as it was.
    Kept,
}

/// The figures of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gauges {
    /// Entries.
    pub entries: usize,
    /// Entries that it may have.
    pub capacity: usize,
    /// Slots that wait for readers to leave: the garbage.
    pub waiting: usize,
    /// All slots; the bound of `waiting` and `entries` together.
    pub slots: usize,
    /// Entries refused because the map was full.
    pub refused_full: u64,
    /// Entries refused because readers did not leave.
    pub refused_waiting: u64,
    /// Entries replaced or removed so far.
    pub retired: u64,
    /// Readers that joined.
    pub readers: usize,
    /// How many times writers have looked for free slots since the reader that is in for longest came.
    pub lag: u64,
}

type Slot<K, V> = UnsafeCell<MaybeUninit<(K, V)>>;

/// What all handles share.
pub(crate) struct Shared<K, V, S> {
    hasher: S,
    epoch: Epoch,
    /// A control word per group; a power of two of them.
    groups: Box<[AtomicU64]>,
    // Invariant: a slot with a tag is initialised and is not written until its tag was 0 for a grace period.
    // Invariant: a slot without a tag is read by nobody who came after it lost its tag, and is written by
    // whoever holds the mutex of its partition.
    slots: Box<[Slot<K, V>]>,
    partitions: Box<[Mutex<Writer>]>,
    /// Groups of a partition, less one; both numbers are powers of two.
    mask: usize,
    capacity: usize,
    entries: AtomicUsize,
    waiting: AtomicUsize,
    refused_full: AtomicU64,
    refused_waiting: AtomicU64,
    retired: AtomicU64,
}

// SAFETY: entries are moved in on one thread and dropped on another, so both must be `Send`; they are read on
// many, so both must be `Sync`. Slots are written under the rule of `slots`.
unsafe impl<K: Send + Sync, V: Send + Sync, S: Sync> Sync for Shared<K, V, S> {}
// SAFETY: as above; nothing in it belongs to a thread.
unsafe impl<K: Send + Sync, V: Send + Sync, S: Send> Send for Shared<K, V, S> {}

/// A map of a fixed number of entries, read without locks. A handle: clones are the same map.
pub struct EpochMap<K, V, S = foldhash::fast::RandomState> {
    shared: Arc<Shared<K, V, S>>,
}

impl<K: Hash + Eq, V> EpochMap<K, V> {
    /// A map of at most `capacity` entries, hashed with a seed of its own. Allocates all its slots: about twice
    /// as many, of which the system gives those that are used.
    pub fn new(capacity: usize) -> Self {
        Self::with_hasher(capacity, foldhash::fast::RandomState::default())
    }
}

impl<K: Hash + Eq, V, S: BuildHasher> EpochMap<K, V, S> {
    /// The same with a hasher.
    pub fn with_hasher(capacity: usize, hasher: S) -> Self {
        let capacity = capacity.max(1);
        let groups = capacity.saturating_mul(4).div_ceil(SLOTS * 3).next_power_of_two();
        let partitions = (groups / REACH).clamp(1, PARTITIONS);
        let shared = Shared {
            hasher,
            epoch: Epoch::new(),
            groups: (0..groups).map(|_| AtomicU64::new(0)).collect(),
            slots: (0..groups * SLOTS).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect(),
            mask: groups / partitions - 1,
            partitions: (0..partitions).map(|_| Mutex::new(Writer::new(groups / partitions))).collect(),
            capacity,
            entries: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            refused_full: AtomicU64::new(0),
            refused_waiting: AtomicU64::new(0),
            retired: AtomicU64::new(0),
        };
        Self { shared: Arc::new(shared) }
    }

    /// A reader of this map. One per thread and batch loop: making one takes a lock.
    pub fn reader(&self) -> Reader<K, V, S> {
        Reader { place: self.shared.epoch.join(), shared: Arc::clone(&self.shared), _own: PhantomData }
    }

    /// Sets an entry. Returns what it did, and gives nothing back: the old value is dropped after its grace
    /// period, under a mutex of the map, and so must not use the map when dropped.
    ///
    /// A key that is replaced is there at every moment. For that, its entry only ever moves away from where its hash
    /// puts it; at the end of its reach and without a free slot there, the new value is refused as [`Refused::Full`].
    ///
    /// # Errors
    /// When there is no slot for it; the old entry, if any, stays.
    pub fn insert(&self, key: K, value: V) -> Result<Put, Refused> {
        self.shared.put(key, |_| Some(value))
    }

    /// Sets an entry to what `decide` makes of the one that is there; with `None` everything stays as it is.
    ///
    /// # Errors
    /// When there is no slot for it; the old entry, if any, stays.
    pub fn update(&self, key: K, decide: impl FnOnce(Option<&V>) -> Option<V>) -> Result<Put, Refused> {
        self.shared.put(key, decide)
    }

    /// Removes an entry. Returns whether it was there. Never refused.
    pub fn remove<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.shared.remove(key)
    }

    /// Removes what `keep` says no to among the next `groups` groups of `sweep`, a cursor that starts anywhere
    /// and goes round. Returns how many were removed.
    pub fn sweep(&self, cursor: &mut usize, groups: usize, keep: impl FnMut(&K, &V) -> bool) -> usize {
        self.shared.sweep(cursor, groups, keep)
    }

    /// Groups in all: what a [`sweep`](Self::sweep) of the whole map takes.
    pub fn groups(&self) -> usize {
        self.shared.groups.len()
    }

    /// The figures of the map.
    pub fn gauges(&self) -> Gauges {
        let shared = &*self.shared;
        Gauges {
            entries: shared.entries.load(Ordering::Relaxed),
            capacity: shared.capacity,
            waiting: shared.waiting.load(Ordering::Relaxed),
            slots: shared.slots.len(),
            refused_full: shared.refused_full.load(Ordering::Relaxed),
            refused_waiting: shared.refused_waiting.load(Ordering::Relaxed),
            retired: shared.retired.load(Ordering::Relaxed),
            readers: shared.epoch.readers(),
            lag: shared.epoch.lag(),
        }
    }

    /// Frees what waits and may be freed. Writers do this by themselves; who sweeps may do it at the end.
    pub fn reclaim(&self) {
        self.shared.reclaim_all();
    }
}

impl<K, V, S> Clone for EpochMap<K, V, S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<K, V, S> std::fmt::Debug for EpochMap<K, V, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EpochMap").field("capacity", &self.shared.capacity).finish_non_exhaustive()
    }
}

/// One thread's way into the map. May be made on another thread than the one that uses it.
pub struct Reader<K, V, S = foldhash::fast::RandomState> {
    shared: Arc<Shared<K, V, S>>,
    place: Arc<Place>,
    /// One user at a time.
    _own: PhantomData<std::cell::Cell<()>>,
}

impl<K, V, S> Reader<K, V, S> {
    /// Enters the map. What is found stays as it is until the guard is dropped.
    #[inline]
    pub fn pin(&mut self) -> Guard<'_, K, V, S> {
        self.shared.epoch.enter(&self.place);
        Guard { shared: &self.shared, place: &self.place, _stay: PhantomData }
    }
}

impl<K, V, S> Reader<K, V, S> {
    /// The same for a loop that is called back.
    pub const fn batched(self) -> Batched<K, V, S> {
        Batched::new(self)
    }
}

impl<K, V, S> Drop for Reader<K, V, S> {
    fn drop(&mut self) {
        self.shared.epoch.part(&self.place);
    }
}

impl<K, V, S> std::fmt::Debug for Reader<K, V, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

/// A stay in the map. Keep it short: a batch, never a wait.
///
/// It cannot go to another thread, and so a task that holds one over an `await` cannot be spawned:
///
/// ```compile_fail
/// let map = mem::map::EpochMap::<u32, u32>::new(8);
/// let mut reader = map.reader();
/// let guard = reader.pin();
/// std::thread::scope(|scope| scope.spawn(|| guard.get(&1).copied()).join()).unwrap();
/// ```
///
/// And what it showed does not outlive it:
///
/// ```compile_fail
/// let map = mem::map::EpochMap::<u32, u32>::new(8);
/// let mut reader = map.reader();
/// let found = reader.pin().get(&1);
/// println!("{found:?}");
/// ```
pub struct Guard<'r, K, V, S = foldhash::fast::RandomState> {
    shared: &'r Shared<K, V, S>,
    place: &'r Place,
    /// Neither `Send` nor `Sync`.
    _stay: PhantomData<*const ()>,
}

impl<K: Hash + Eq, V, S: BuildHasher> Guard<'_, K, V, S> {
    /// The value of a key.
    #[inline]
    pub fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        // SAFETY: the guard is in, and the answer borrows from it.
        unsafe { self.shared.get(key) }
    }
}

impl<K, V, S> Drop for Guard<'_, K, V, S> {
    #[inline]
    fn drop(&mut self) {
        self.place.leave();
    }
}

impl<K, V, S> std::fmt::Debug for Guard<'_, K, V, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").finish_non_exhaustive()
    }
}

/// The groups in which an entry may lie, nearest first, round within its partition.
#[derive(Debug, Clone, Copy)]
struct Walk {
    group: usize,
    mask: usize,
    left: usize,
}

impl Walk {
    #[inline]
    fn next(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.group = self.group & !self.mask | (self.group + 1) & self.mask;
        true
    }
}

impl<K: Hash + Eq, V, S: BuildHasher> Shared<K, V, S> {
    /// The value of a key.
    ///
    /// # Safety
    /// The caller has entered the epoch and does not leave while it looks at the answer.
    #[inline]
    unsafe fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let hash = self.hasher.hash_one(key);
        let tag = Group::tag(hash);
        let home = hash as usize & (self.groups.len() - 1);
        // Acquire: the slot of a tag that is seen is seen whole.
        let group = Group(self.groups[home].load(Ordering::Acquire));
        // SAFETY: the caller is in, and has loaded the word since.
        let found = unsafe { self.search(home, group, tag, key) };
        if found.is_some() || !group.goes_on() {
            return found;
        }
        // SAFETY: the caller is in.
        unsafe { self.get_beyond(hash, key) }
    }

    /// The value of a key that is not where its hash puts it.
    ///
    /// # Safety
    /// As for [`get`](Self::get).
    #[cold]
    unsafe fn get_beyond<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let mut walk = self.walk(hash);
        while walk.next() {
            let group = Group(self.groups[walk.group].load(Ordering::Acquire));
            // SAFETY: the caller is in, and the word was loaded since.
            let found = unsafe { self.search(walk.group, group, Group::tag(hash), key) };
            if found.is_some() || !group.goes_on() {
                return found;
            }
        }
        None
    }

    /// Searches a group whose control word was `group`.
    ///
    /// # Safety
    /// The caller entered the epoch before it loaded the word, and does not leave while it looks at the answer.
    #[inline]
    unsafe fn search<Q: Eq + ?Sized>(&self, at: usize, group: Group, tag: u64, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let slots = self.slots.get(at * SLOTS..)?;
        for slot in group.matches(tag) {
            // SAFETY: the tag was seen within this stay, so the slot is initialised and is not written before the
            // stay ends (invariant of `slots`).
            let entry = unsafe { entry(&slots[slot]) };
            if entry.0.borrow() == key {
                return Some(&entry.1);
            }
        }
        None
    }
}

impl<K, V, S> Shared<K, V, S> {
    #[inline]
    fn walk(&self, hash: u64) -> Walk {
        let group = hash as usize & (self.groups.len() - 1);
        Walk { group, mask: self.mask, left: self.mask.min(REACH - 1) }
    }
}

/// The entry of a slot.
///
/// # Safety
/// The slot is initialised, and is not written while the answer is looked at.
#[inline]
unsafe fn entry<K, V>(slot: &Slot<K, V>) -> &(K, V) {
    slot.with(|place| {
        // SAFETY: the place is that of a cell that is borrowed, and nobody writes it meanwhile (caller).
        let place = unsafe { &*place };
        // SAFETY: initialised (caller).
        unsafe { place.assume_init_ref() }
    })
}

/// Drops the entry of a slot.
///
/// # Safety
/// The slot is initialised, nobody looks at it, and nobody takes it for initialised afterwards.
unsafe fn drop_entry<K, V>(slot: &Slot<K, V>) {
    slot.with_mut(|place| {
        // SAFETY: the place is that of a cell that is borrowed, and nobody looks at it (caller).
        let place = unsafe { &mut *place };
        // SAFETY: initialised (caller), and not dropped again (caller).
        unsafe { place.assume_init_drop() }
    });
}

impl<K, V, S> Drop for Shared<K, V, S> {
    fn drop(&mut self) {
        self.drop_entries();
    }
}
