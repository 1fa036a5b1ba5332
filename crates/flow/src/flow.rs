//! A flow as its consumer sees it: who, since when, how much.

use model::{Dir, FiveTuple, Nanos};
use wire::Tunnel;

/// Names a flow for as long as it lives. The slot is used again, under another generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowId {
    /// Its place in the table, below [`crate::Limits::flows`].
    pub slot: u32,
    /// How many flows had the place before it, modulo 2^32.
    pub generation: u32,
}

/// What was seen of a flow's beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Seen {
    /// A SYN or SYN-ACK, or the first datagram: the first byte will be seen, or a gap says that it was not.
    Handshake,
    /// The flow was under way.
    Middle,
}

/// How a flow ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// Both sides closed it.
    Fin,
    /// It was reset, or a new flow took its five-tuple.
    Reset,
    /// Nothing was seen for too long.
    Timeout,
    /// Room was needed for others.
    Evicted,
    /// The capture ended first.
    Stopped,
}

impl End {
    /// Every end, in the order of [`crate::Counters::closed`].
    pub const ALL: [End; 5] = [End::Fin, End::Reset, End::Timeout, End::Evicted, End::Stopped];

    /// The label in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fin => "fin",
            Self::Reset => "reset",
            Self::Timeout => "timeout",
            Self::Evicted => "evicted",
            Self::Stopped => "stopped",
        }
    }
}

/// What one side of a flow sent. Counts of 8 and 16 bits stop at their maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Side {
    /// Packets.
    pub packets: u64,
    /// Bytes of their frames on the wire.
    pub bytes: u64,
    /// Payload bytes on the wire, retransmitted ones included.
    pub payload_bytes: u64,
    /// Payload bytes that were there before: already delivered, held, or declared a gap.
    pub retransmitted_bytes: u64,
    /// Bytes in gaps.
    pub gap_bytes: u64,
    /// Segments with such bytes.
    pub retransmitted: u32,
    /// Segments that came before what precedes them.
    pub out_of_order: u32,
    /// Gaps.
    pub gaps: u32,
    /// Segments that announced a window of zero.
    pub zero_windows: u16,
    /// RST segments.
    pub resets: u8,
    /// FIN segments.
    pub fins: u8,
}

/// The two halves of a handshake, seen from where the capture is. A half is unknown when one of its segments
/// was not seen, or was sent twice: nobody knows which copy was answered (RFC 6298 section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handshake {
    /// From SYN to SYN-ACK, in microseconds: the way to the server and back.
    pub server_us: Option<u32>,
    /// From SYN-ACK to ACK, in microseconds: the way to the client and back.
    pub client_us: Option<u32>,
}

/// Half of a handshake that is not measured yet.
pub(crate) const UNSET: u32 = u32::MAX;
/// Half of a handshake that will not be measured.
pub(crate) const UNSURE: u32 = u32::MAX - 1;

/// In which list a flow waits: how long it may be silent, and when it makes room for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    /// Closed or reset, remembered for a short time.
    Closed,
    /// TCP, only SYN and SYN-ACK so far.
    Opening,
    /// TCP, not yet data from both sides.
    Quiet,
    /// UDP from one side only.
    OneWay,
    /// TCP with data from both sides.
    Established,
    /// UDP from both sides.
    TwoWay,
}

impl Class {
    pub const COUNT: usize = 6;
    /// Those that make room first.
    pub const UNESTABLISHED: [Class; 3] = [Class::Opening, Class::Quiet, Class::OneWay];
}

/// One flow.
#[derive(Debug, Clone)]
pub struct Flow {
    /// Who talks to whom.
    pub tuple: FiveTuple,
    /// Its name in the table.
    pub id: FlowId,
    /// Whether its beginning was seen.
    pub start: Seen,
    /// The VLAN id of its first packet.
    pub vlan: Option<u16>,
    /// The tunnel of its first packet.
    pub tunnel: Option<Tunnel>,
    /// When its first packet was seen.
    pub first: Nanos,
    /// When its last packet was seen.
    pub last: Nanos,
    /// What the client sent, then what the server sent: see [`Dir::index`].
    pub sides: [Side; 2],
    pub(crate) server_us: u32,
    pub(crate) client_us: u32,
    pub(crate) class: Class,
}

impl Flow {
    /// What was sent in a direction.
    pub const fn side(&self, dir: Dir) -> &Side {
        &self.sides[dir.index()]
    }

    /// The times of the handshake; `None` when neither half is known.
    pub const fn handshake(&self) -> Option<Handshake> {
        let handshake = Handshake { server_us: known(self.server_us), client_us: known(self.client_us) };
        match handshake {
            Handshake { server_us: None, client_us: None } => None,
            _ => Some(handshake),
        }
    }

    /// Whether both sides closed it or it was reset: it is only kept to recognize what comes late.
    pub fn is_closed(&self) -> bool {
        self.class == Class::Closed
    }
}

const fn known(micros: u32) -> Option<u32> {
    if micros < UNSURE { Some(micros) } else { None }
}

/// Microseconds between two times, 0 when the second is before the first.
pub(crate) fn micros_between(from: Nanos, to: Nanos) -> u32 {
    let micros = to.0.saturating_sub(from.0).max(0) / 1_000;
    u32::try_from(micros).unwrap_or(UNSURE).min(UNSURE)
}
