//! Fragments of IP packets in, whole packets out (RFC 791 section 3.2, RFC 8200 section 4.5, RFC 5722).
//!
//! * In: fragments. Out: the bytes behind the IP header, once all are there.
//! * Owned: the fragments of datagrams that are not complete.
//! * Bounded by: [`DefragLimits`], and [`MAX_PIECES`] fragments per datagram.
//! * Lost: by [`DropReason`], counted in fragments. Where IPv4 fragments overlap, the bytes seen first win;
//!   IPv6 fragments that overlap end their datagram, and what comes of it later is dropped too. A fragment
//!   that was cut by the snapshot length ends its datagram: nothing behind the cut could be told.
#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::string_slice
)]

mod datagram;
#[cfg(test)]
mod tests;

use crate::DropReason;
use crate::list::{Link, List, NONE};
use core::hash::BuildHasher;
use datagram::{Datagram, Verdict};
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::net::IpAddr;
use wire::{Fragment, Tunnel};

/// The most that the length field of an IP header can say.
const MAX_BYTES: u32 = 65_535;

/// Fragments kept of one datagram: enough for the largest one over links of 576 bytes.
pub(crate) const MAX_PIECES: usize = 128;

/// What a waiting datagram costs beside its bytes.
pub(crate) const DATAGRAM_COST: usize = 256;

/// What a fragment costs beside its bytes.
pub(crate) const PIECE_COST: usize = 64;

/// What fragments of one packet have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FragmentKey {
    pub src: IpAddr,
    pub dst: IpAddr,
    pub id: u32,
    pub protocol: u8,
    pub vlan: Option<u16>,
    pub tunnel: Option<Tunnel>,
}

/// What may be held of fragments, and how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DefragLimits {
    pub bytes: usize,
    pub datagrams: usize,
    pub wait: u64,
}

/// Fragments that were dropped.
pub(crate) type Drops<'a> = &'a mut dyn FnMut(DropReason, u64);

/// A packet that is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Whole {
    /// How many fragments it came in.
    pub fragments: u64,
    /// The bytes of their frames on the wire.
    pub wire_len: u32,
}

/// The datagrams of a table that are not complete.
#[derive(Debug)]
pub(crate) struct Defrag {
    limits: DefragLimits,
    seed: FixedState,
    index: HashTable<u32>,
    slab: Vec<Datagram>,
    free: Vec<u32>,
    /// By the time of their first fragment.
    waiting: List,
    cost: usize,
    held: u64,
}

impl Defrag {
    pub fn new(limits: DefragLimits, seed: FixedState) -> Self {
        Self {
            limits,
            seed,
            index: HashTable::new(),
            slab: Vec::new(),
            free: Vec::new(),
            waiting: List::EMPTY,
            cost: 0,
            held: 0,
        }
    }

    /// Fragments that wait.
    pub const fn held(&self) -> u64 {
        self.held
    }

    /// What they cost.
    #[cfg(test)]
    pub const fn cost(&self) -> usize {
        self.cost
    }

    /// Takes a fragment. When it was the last one missing, its packet is written to `whole`, which is cleared
    /// before.
    pub fn push(
        &mut self,
        key: FragmentKey,
        fragment: &Fragment<'_>,
        wire_len: u32,
        elapsed: u64,
        whole: &mut Vec<u8>,
        drops: Drops<'_>,
    ) -> Option<Whole> {
        let end = fragment.offset.saturating_add(fragment.payload_len);
        if end > MAX_BYTES {
            drops(DropReason::FragmentTooLarge, 1);
            return None;
        }
        if fragment.payload_len == 0 || (fragment.more && !fragment.payload_len.is_multiple_of(8)) {
            drops(DropReason::FragmentLength, 1);
            return None;
        }
        let at = match self.find(&key) {
            Some(at) => at,
            None => self.open(key, elapsed, drops)?,
        };
        let datagram = self.slab.get_mut(at as usize)?;
        let cost = datagram.cost;
        let verdict = datagram.push(fragment, wire_len);
        self.cost = self.cost.saturating_sub(cost).saturating_add(datagram.cost);
        match verdict {
            Verdict::Kept => self.held = self.held.saturating_add(1),
            Verdict::Dropped(reason) => drops(reason, 1),
            Verdict::Ended(reason) => {
                let (fragments, cost) = (datagram.fragments, datagram.cost);
                datagram.spoil();
                self.cost = self.cost.saturating_sub(cost).saturating_add(datagram.cost);
                self.held = self.held.saturating_sub(fragments);
                drops(reason, fragments.saturating_add(1));
            }
            Verdict::Complete => {
                self.held = self.held.saturating_add(1);
                whole.clear();
                let done = datagram.write(whole);
                self.close(at);
                return Some(done);
            }
        }
        while self.cost > self.limits.bytes && self.waiting.oldest() != NONE {
            self.drop_oldest(DropReason::FragmentBudget, drops);
        }
        None
    }

    /// Drops what has waited too long, at most `limit` datagrams.
    pub fn expire(&mut self, elapsed: u64, limit: usize, drops: Drops<'_>) {
        for _ in 0..limit {
            let Some(oldest) = self.slab.get(self.waiting.oldest() as usize) else { return };
            if elapsed.saturating_sub(oldest.since) < self.limits.wait {
                return;
            }
            self.drop_oldest(DropReason::FragmentTimeout, drops);
        }
    }

    /// Drops everything.
    pub fn finish(&mut self, drops: Drops<'_>) {
        while self.waiting.oldest() != NONE {
            self.drop_oldest(DropReason::FragmentStopped, drops);
        }
    }

    fn find(&self, key: &FragmentKey) -> Option<u32> {
        let same = |at: &u32| self.slab.get(*at as usize).is_some_and(|datagram| datagram.key == *key);
        self.index.find(self.seed.hash_one(key), same).copied()
    }

    fn open(&mut self, key: FragmentKey, elapsed: u64, drops: Drops<'_>) -> Option<u32> {
        while self.waiting.len() as usize >= self.limits.datagrams.max(1) {
            self.drop_oldest(DropReason::FragmentBudget, drops);
        }
        let datagram = Datagram::new(key, elapsed);
        let at = match self.free.pop() {
            Some(at) => {
                *self.slab.get_mut(at as usize)? = datagram;
                at
            }
            None => {
                self.slab.push(datagram);
                u32::try_from(self.slab.len().saturating_sub(1)).ok()?
            }
        };
        self.cost = self.cost.saturating_add(DATAGRAM_COST);
        self.waiting.push(&mut self.slab, at);
        let Self { index, slab, seed, .. } = self;
        let rehash = |at: &u32| slab.get(*at as usize).map_or(0, |datagram| hash(seed, &datagram.key));
        index.insert_unique(hash(seed, &key), at, rehash);
        Some(at)
    }

    fn drop_oldest(&mut self, reason: DropReason, drops: Drops<'_>) {
        let at = self.waiting.oldest();
        let fragments = self.slab.get(at as usize).map_or(0, |datagram| datagram.fragments);
        if fragments > 0 {
            drops(reason, fragments);
        }
        self.close(at);
    }

    fn close(&mut self, at: u32) {
        let Some(datagram) = self.slab.get_mut(at as usize) else { return };
        self.cost = self.cost.saturating_sub(datagram.cost);
        self.held = self.held.saturating_sub(datagram.fragments);
        datagram.spoil();
        let hash = hash(&self.seed, &datagram.key);
        if let Ok(entry) = self.index.find_entry(hash, |entry| *entry == at) {
            entry.remove();
        }
        self.waiting.remove(&mut self.slab, at);
        self.free.push(at);
    }
}

fn hash(seed: &FixedState, key: &FragmentKey) -> u64 {
    seed.hash_one(key)
}

impl crate::list::Linked for Datagram {
    fn link(&mut self) -> &mut Link {
        &mut self.link
    }
}

/// Whether an address pair is of IPv6, where fragments may not overlap.
const fn forbids_overlap(key: &FragmentKey) -> bool {
    key.src.is_ipv6()
}
