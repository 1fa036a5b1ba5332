//! Slots: where flows live. A slot is used again under another generation.

use super::Table;
use crate::clock::{silent, tick};
use crate::flow::{Class, UNSET};
use crate::key::Key;
use crate::list::{Link, Linked, NONE};
use crate::reassembly::{Lane, Now};
use crate::{Consumer, End, Flow, FlowId, Seen, Side};
use model::{Dir, FiveTuple};

/// A flow and what the table keeps for it: 256 bytes beside the consumer's state.
#[derive(Debug)]
pub(super) struct Slot<S> {
    pub flow: Flow,
    /// By [`Dir::index`] of the sender.
    pub lanes: [Lane; 2],
    pub link: Link,
    /// When it came to the end of its list, in ticks; in a free slot the next free one.
    pub stamp: u32,
    /// The client's initial sequence number, when its lane has the flag [`crate::reassembly::ISN`].
    pub isn: u32,
    /// `None` in a free slot.
    pub state: Option<S>,
}

impl<S> Linked for Slot<S> {
    fn link(&mut self) -> &mut Link {
        &mut self.link
    }
}

impl<S> Table<S> {
    /// Opens the flow of a packet that goes in `dir`; makes room for it when there is none.
    pub(super) fn open<C: Consumer<State = S>>(
        &mut self,
        key: &Key,
        hash: u64,
        dir: Dir,
        (start, class): (Seen, Class),
        now: Now,
        consumer: &mut C,
    ) -> u32 {
        if self.live >= self.limits.flows {
            self.evict(consumer);
        }
        let (client, server) = match dir {
            Dir::ToServer => (key.src, key.dst),
            Dir::ToClient => (key.dst, key.src),
        };
        let at = if self.free == NONE { self.slots.len() as u32 } else { self.free };
        let generation = self.slots.get(at as usize).map_or(0, |slot| slot.flow.id.generation);
        let flow = Flow {
            tuple: FiveTuple { client, server, transport: key.transport },
            id: FlowId { slot: at, generation },
            start,
            vlan: key.vlan,
            tunnel: key.tunnel,
            first: now.time,
            last: now.time,
            sides: [Side::default(); 2],
            server_us: UNSET,
            client_us: UNSET,
            class,
        };
        let state = Some(consumer.open(&flow, now.time));
        let stamp = tick(now.elapsed);
        let slot = Slot { flow, lanes: [Lane::NEW; 2], link: Link::UNLINKED, stamp, isn: 0, state };
        match self.slots.get_mut(at as usize) {
            Some(place) => {
                self.free = place.stamp;
                *place = slot;
            }
            None => self.slots.push(slot),
        }
        self.enlist(at);
        let Self { index, slots, seed, parts, .. } = self;
        index.insert_unique(hash, at, |at| Key::of(&slots[*at as usize].flow).hash(seed, *parts));
        self.live += 1;
        self.counters.opened += 1;
        self.counters.opened_middle += u64::from(start == Seen::Middle);
        at
    }

    /// Closes a flow: its holes become gaps, its consumer hears of it, its slot is free.
    pub(super) fn close<C: Consumer<State = S>>(&mut self, at: u32, end: End, now: Now, consumer: &mut C) {
        if self.has_hole(at) {
            self.give_up(at, now, consumer);
        }
        let slot = &mut self.slots[at as usize];
        let Some(state) = slot.state.take() else { return };
        consumer.close(&slot.flow, state, end, now.time);
        let class = slot.flow.class;
        slot.flow.id.generation = slot.flow.id.generation.wrapping_add(1);
        let hash = Key::of(&slot.flow).hash(&self.seed, self.parts);
        self.lists[class as usize].remove(&mut self.slots, at);
        if let Ok(entry) = self.index.find_entry(hash, |entry| *entry == at) {
            entry.remove();
        }
        // A free slot's stamp names the next free one.
        self.slots[at as usize].stamp = self.free;
        self.free = at;
        self.live -= 1;
        self.counters.closed[end as usize] += 1;
    }

    /// Notes that a flow was seen.
    pub(super) fn touch(&mut self, at: u32, now: Now) {
        let slot = &self.slots[at as usize];
        if silent(tick(now.elapsed), slot.stamp) >= super::GRAIN && slot.flow.class != Class::Closed {
            self.place(at, slot.flow.class, now);
        }
    }

    /// Puts a flow at the end of a list.
    pub(super) fn place(&mut self, at: u32, class: Class, now: Now) {
        let slot = &mut self.slots[at as usize];
        let was = std::mem::replace(&mut slot.flow.class, class);
        slot.stamp = tick(now.elapsed);
        self.lists[was as usize].remove(&mut self.slots, at);
        self.enlist(at);
    }

    /// Adds a flow that is in no list to that of its class, by its stamp.
    fn enlist(&mut self, at: u32) {
        let slot = &self.slots[at as usize];
        let (class, stamp) = (slot.flow.class, slot.stamp);
        let is_before = |before: &Slot<S>| silent(before.stamp, stamp) == 0;
        self.lists[class as usize].push_after(&mut self.slots, at, is_before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_takes_what_the_documentation_says() {
        assert_eq!(size_of::<Slot<Box<u8>>>(), 256 + size_of::<Box<u8>>());
        assert_eq!(size_of::<Flow>(), 200);
    }
}
