//! Datagrams.

use super::Table;
use crate::flow::Class;
use crate::key::Key;
use crate::reassembly::Now;
use crate::{Consumer, End, Seen};
use model::{Arrival, Dir, Transport};
use wire::{Datagram, Packet};

impl<S> Table<S> {
    pub(super) fn datagram<C: Consumer<State = S>>(
        &mut self,
        packet: &Packet<'_>,
        datagram: &Datagram<'_>,
        wire_len: u32,
        now: Now,
        consumer: &mut C,
    ) {
        self.counters.datagrams += 1;
        self.counters.datagram_bytes += u64::from(datagram.payload_len);
        let key = Key::new(packet, Transport::Udp, datagram.src_port, datagram.dst_port);
        let hash = key.hash(&self.seed, self.parts);
        let mut found = self.find(hash, &key);
        if let Some((at, _)) = found.filter(|(at, _)| self.is_stale(*at, now)) {
            self.close(at, End::Timeout, now, consumer);
            found = None;
        }
        let (at, dir) = found.unwrap_or_else(|| {
            let from_client = self.ports.client_sends(Transport::Udp, datagram.src_port, datagram.dst_port);
            let dir = if from_client { Dir::ToServer } else { Dir::ToClient };
            (self.open(&key, hash, dir, (Seen::Handshake, Class::OneWay), now, consumer), dir)
        });
        self.touch(at, now);
        let slot = &mut self.slots[at as usize];
        let flow = &mut slot.flow;
        flow.last = flow.last.max(now.time);
        let side = &mut flow.sides[dir.index()];
        side.packets += 1;
        side.bytes += u64::from(wire_len);
        side.payload_bytes += u64::from(datagram.payload_len);
        let captured = u32::try_from(datagram.payload.len()).unwrap_or(u32::MAX);
        let cut = datagram.payload_len.saturating_sub(captured);
        self.counters.datagrams_cut += u64::from(cut > 0);
        if let Some(state) = slot.state.as_mut() {
            consumer.datagram(&slot.flow, state, dir, datagram.payload, Arrival::datagram(now.time, cut));
        }
        let slot = &self.slots[at as usize];
        if slot.flow.class == Class::OneWay && slot.flow.sides.iter().all(|side| side.packets > 0) {
            self.place(at, Class::TwoWay, now);
        }
    }
}
