//! The key of a flow: a five-tuple without order, with its VLAN and tunnel.

use crate::Flow;
use core::hash::{BuildHasher, Hash, Hasher};
use model::{Dir, Endpoint, Transport};
use std::net::IpAddr;
use wire::{Packet, Tunnel};

/// What a packet is looked up by. The sender's side comes first; the hash does not depend on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub src: Endpoint,
    pub dst: Endpoint,
    pub transport: Transport,
    pub vlan: Option<u16>,
    pub tunnel: Option<Tunnel>,
}

/// What belongs to a key beside the five-tuple.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parts {
    pub vlan: bool,
    pub tunnel: bool,
}

impl Key {
    /// The key of a packet between two ports.
    #[inline(always)]
    pub fn new(packet: &Packet<'_>, transport: Transport, src_port: u16, dst_port: u16) -> Self {
        Self {
            src: Endpoint::new(packet.src, src_port),
            dst: Endpoint::new(packet.dst, dst_port),
            transport,
            vlan: packet.vlan,
            tunnel: packet.tunnel,
        }
    }

    /// The key of the packets from the client of a flow.
    pub fn of(flow: &Flow) -> Self {
        Self {
            src: flow.tuple.client,
            dst: flow.tuple.server,
            transport: flow.tuple.transport,
            vlan: flow.vlan,
            tunnel: flow.tunnel,
        }
    }

    /// The direction of the packet in a flow, if it belongs to it.
    #[inline(always)]
    pub fn dir(&self, flow: &Flow, parts: Parts) -> Option<Dir> {
        let tuple = &flow.tuple;
        let same = |a: &Endpoint, b: &Endpoint| a.port == b.port && a.ip == b.ip;
        if tuple.transport != self.transport
            || (parts.vlan && flow.vlan != self.vlan)
            || (parts.tunnel && flow.tunnel != self.tunnel)
        {
            None
        } else if same(&tuple.client, &self.src) && same(&tuple.server, &self.dst) {
            Some(Dir::ToServer)
        } else if same(&tuple.client, &self.dst) && same(&tuple.server, &self.src) {
            Some(Dir::ToClient)
        } else {
            None
        }
    }

    /// The hash under a seed. Both directions have the same.
    #[inline(always)]
    pub fn hash<B: BuildHasher>(&self, seed: &B, parts: Parts) -> u64 {
        let mut hasher = seed.build_hasher();
        let vlan = if parts.vlan { self.vlan.map_or(0, |vlan| u64::from(vlan) + 1) } else { 0 };
        let rest = (vlan << 1 | self.transport as u64) << 48;
        if let (IpAddr::V4(src), IpAddr::V4(dst)) = (&self.src.ip, &self.dst.ip) {
            let src = u64::from(src.to_bits()) << 16 | u64::from(self.src.port);
            let dst = u64::from(dst.to_bits()) << 16 | u64::from(self.dst.port);
            hasher.write_u64(src.min(dst));
            hasher.write_u64(src.max(dst) | rest);
        } else {
            let src = (bits(self.src.ip), self.src.port);
            let dst = (bits(self.dst.ip), self.dst.port);
            let (low, high) = (src.min(dst), src.max(dst));
            hasher.write_u128(low.0);
            hasher.write_u128(high.0);
            hasher.write_u64(u64::from(low.1) << 16 | u64::from(high.1) | rest);
        }
        if parts.tunnel
            && let Some(tunnel) = self.tunnel
        {
            tunnel.hash(&mut hasher);
        }
        hasher.finish()
    }
}

fn bits(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u128::from(ip.to_bits()),
        IpAddr::V6(ip) => ip.to_bits(),
    }
}
