//! The flows that are open now, for other threads to look at.
//!
//! * In: the flows of one tap, when they open, when they carried data, when they end. Out: copies of their
//!   figures, to whoever asks, without a lock and without holding the tap up.
//! * Owned: one slab per tap. Bounded by: its slots; a flow that finds none is not shown, and counted.
//! * Lost: up to [`SHOWN_NS`] of the newest figures of a flow that has just carried data.

use std::net::{IpAddr, Ipv6Addr};

use decode::Protocol;
use flow::Flow;
use mem::slab::{Handle, Record, Slab, Writer, slab};
use model::{Dir, Endpoint, FiveTuple, Nanos, Transport};

/// How old the figures of a flow may get while it carries data, nanoseconds of packet time.
pub const SHOWN_NS: i64 = 100_000_000;

/// Words of a record.
const WORDS: usize = 11;

/// The figures of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Who talks to whom.
    pub tuple: FiveTuple,
    /// What they speak, once that is known.
    pub protocol: Option<Protocol>,
    /// When the first packet was seen.
    pub first: Nanos,
    /// When the last packet was seen.
    pub last: Nanos,
    /// Packets of the client, then of the server.
    pub packets: [u64; 2],
    /// Bytes of their frames.
    pub bytes: [u64; 2],
}

impl Now {
    fn of(flow: &Flow, protocol: Option<Protocol>) -> Self {
        let [client, server] = [Dir::ToServer, Dir::ToClient].map(|dir| flow.side(dir));
        Self {
            tuple: flow.tuple,
            protocol,
            first: flow.first,
            last: flow.last,
            packets: [client.packets, server.packets],
            bytes: [client.bytes, server.bytes],
        }
    }

    /// Bytes of both sides.
    pub const fn total_bytes(&self) -> u64 {
        self.bytes[0].saturating_add(self.bytes[1])
    }
}

impl Record<WORDS> for Now {
    fn to_words(&self) -> [u64; WORDS] {
        let [client, server] = [self.tuple.client, self.tuple.server];
        // An IPv4 address is written as the IPv6 one that it maps to; no flow has that one itself.
        let halves = |endpoint: Endpoint| {
            let bits = match endpoint.ip {
                IpAddr::V4(v4) => v4.to_ipv6_mapped(),
                IpAddr::V6(v6) => v6,
            }
            .to_bits();
            [(bits >> 64) as u64, bits as u64]
        };
        let transport = match self.tuple.transport {
            Transport::Tcp => 0,
            Transport::Udp => 1,
        };
        let protocol = self.protocol.map_or(0, |protocol| protocol as u64 + 1);
        let small = u64::from(client.port) << 48 | u64::from(server.port) << 32 | transport << 16 | protocol;
        let [a, b] = halves(client);
        let [c, d] = halves(server);
        let [first, last] = [self.first, self.last].map(|time| time.0.cast_unsigned());
        [a, b, c, d, small, first, last, self.packets[0], self.packets[1], self.bytes[0], self.bytes[1]]
    }

    fn from_words(words: [u64; WORDS]) -> Self {
        let [a, b, c, d, small, first, last, packets0, packets1, bytes0, bytes1] = words;
        let ip = |high: u64, low: u64| {
            Ipv6Addr::from_bits(u128::from(high) << 64 | u128::from(low)).to_canonical()
        };
        let port = |at: u32| (small >> at) as u16;
        Self {
            tuple: FiveTuple {
                client: Endpoint::new(ip(a, b), port(48)),
                server: Endpoint::new(ip(c, d), port(32)),
                transport: if port(16) == 0 { Transport::Tcp } else { Transport::Udp },
            },
            protocol: usize::from(port(0)).checked_sub(1).and_then(|at| Protocol::ALL.get(at)).copied(),
            first: Nanos(first.cast_signed()),
            last: Nanos(last.cast_signed()),
            packets: [packets0, packets1],
            bytes: [bytes0, bytes1],
        }
    }
}

/// The flows of one tap, as other threads see them. A handle: clones are the same.
#[derive(Debug, Clone)]
pub struct Flows(Slab<WORDS>);

impl Flows {
    /// The `limit` flows that carried most bytes, most first. Looks at every open flow.
    pub fn top(&self, limit: usize) -> Vec<Now> {
        top([self], limit)
    }

    /// Open flows that are shown.
    pub fn shown(&self) -> usize {
        self.0.len()
    }

    /// Flows that found no slot.
    pub fn refused(&self) -> u64 {
        self.0.refused()
    }
}

/// The same of several taps.
pub fn top<'a>(taps: impl IntoIterator<Item = &'a Flows>, limit: usize) -> Vec<Now> {
    let mut all = Vec::new();
    for tap in taps {
        tap.0.each(|_, now: Now| {
            all.push(now);
            // Bounded by what is asked for, not by what there is.
            if all.len() >= limit.saturating_mul(2).max(1_024) {
                keep_top(&mut all, limit);
            }
        });
    }
    keep_top(&mut all, limit);
    all
}

fn keep_top(all: &mut Vec<Now>, limit: usize) {
    let order =
        |now: &Now| (std::cmp::Reverse(now.total_bytes()), now.first, now.tuple.client, now.tuple.server);
    all.sort_unstable_by_key(order);
    all.truncate(limit);
}

/// The tap's side.
#[derive(Debug)]
pub(crate) struct Show(Writer<WORDS>);

/// Where a flow is shown, and since when as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown {
    handle: Handle,
    at: Nanos,
}

impl Show {
    pub(crate) fn new(flows: usize) -> Self {
        Self(slab(flows))
    }

    pub(crate) fn flows(&self) -> Flows {
        Flows(self.0.slab())
    }

    pub(crate) fn open(&mut self, flow: &Flow) -> Option<Shown> {
        Some(Shown { handle: self.0.insert(&Now::of(flow, None))?, at: flow.last })
    }

    #[inline]
    pub(crate) fn carried(
        &mut self,
        shown: &mut Shown,
        flow: &Flow,
        protocol: impl FnOnce() -> Option<Protocol>,
    ) {
        if flow.last.0.saturating_sub(shown.at.0) >= SHOWN_NS {
            shown.at = flow.last;
            self.0.update(shown.handle, &Now::of(flow, protocol()));
        }
    }

    pub(crate) fn close(&mut self, shown: Shown) {
        self.0.remove(shown.handle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was() {
        for (client, server, transport, protocol) in [
            ("192.0.2.1", "2001:db8::5", Transport::Tcp, None),
            ("2001:db8::1", "255.255.255.255", Transport::Udp, Some(Protocol::Rtp)),
            ("0.0.0.0", "::", Transport::Udp, Protocol::ALL.last().copied()),
        ] {
            let now = Now {
                tuple: FiveTuple {
                    client: Endpoint::new(client.parse().unwrap(), 65_535),
                    server: Endpoint::new(server.parse().unwrap(), 1),
                    transport,
                },
                protocol,
                first: Nanos(-5),
                last: Nanos(i64::MAX),
                packets: [1, u64::MAX],
                bytes: [3, 4],
            };
            assert_eq!(Now::from_words(now.to_words()), now);
        }
    }
}
