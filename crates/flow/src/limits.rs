//! Every number that bounds the table.

use std::time::Duration;

/// The longest time that a setting may name; longer ones are cut to it.
pub(crate) const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// What one table may hold and how long. A table belongs to one shard: a budget of the process is divided by
/// the number of shards before it comes here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Flows at a time, at least 1. A flow takes 256 bytes, what the consumer keeps for it, and about 10 bytes
    /// of index. Memory is reserved at the start and used as flows come.
    pub flows: u32,
    /// How long a flow may stay at SYN or SYN-ACK.
    pub opening: Duration,
    /// How long a TCP flow may be silent.
    pub idle: Duration,
    /// How long a closed or reset TCP flow is remembered, so that late segments open no new one. A SYN ends it
    /// at once. Its consumer hears of the close when it is over.
    pub linger: Duration,
    /// How long a UDP flow may be silent.
    pub udp: Duration,
    /// Bytes held in all lanes, out of order or for the other lane, their bookkeeping included. When it is met,
    /// the oldest hole is declared a gap. One segment may exceed it for the length of a call.
    pub held_bytes: usize,
    /// The same for one lane.
    pub lane_bytes: usize,
    /// Pieces held in one lane. Neighbours that are small, and wait for the same, are one piece.
    pub lane_pieces: usize,
    /// How long data waits behind a hole, of its own lane or of the other one.
    pub hold: Duration,
    /// How long after the acknowledgement of bytes that were not captured they are still waited for.
    pub reorder: Duration,
    /// Or how many packets of the flow after it.
    pub reorder_packets: u32,
    /// Bytes of fragments, their bookkeeping included. When it is met, the oldest datagram is dropped.
    pub fragment_bytes: usize,
    /// Datagrams that wait for fragments. When it is met, the oldest is dropped.
    pub fragment_datagrams: usize,
    /// How long a datagram waits for its fragments, from the first of them.
    pub fragment_wait: Duration,
    /// Whether equal five-tuples in two VLANs are two flows.
    pub vlan_in_key: bool,
    /// Whether equal five-tuples in two tunnels are two flows.
    pub tunnel_in_key: bool,
    /// Ports that servers are known to use, for flows whose beginning was not seen.
    pub server_ports: Vec<u16>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            flows: 262_144,
            opening: Duration::from_secs(30),
            idle: Duration::from_secs(300),
            linger: Duration::from_secs(2),
            udp: Duration::from_secs(60),
            held_bytes: 64 << 20,
            lane_bytes: 4 << 20,
            lane_pieces: 4096,
            hold: Duration::from_secs(5),
            reorder: Duration::from_millis(50),
            reorder_packets: 16,
            fragment_bytes: 4 << 20,
            fragment_datagrams: 4096,
            fragment_wait: Duration::from_secs(30),
            vlan_in_key: true,
            tunnel_in_key: true,
            server_ports: Vec::new(),
        }
    }
}

/// Nanoseconds of a setting.
pub(crate) fn nanos(setting: Duration) -> u64 {
    u64::try_from(setting.min(LONGEST).as_nanos()).unwrap_or(u64::MAX)
}
