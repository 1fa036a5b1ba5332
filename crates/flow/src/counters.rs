//! What the table counts: plain numbers that one thread writes.

macro_rules! closed_list {
    ($(#[$doc:meta])* $name:ident { $($variant:ident, $label:literal, $help:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $(#[doc = $help] $variant,)* }

        impl $name {
            /// Every value, in the order of the counters.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The label in metrics.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $label,)* }
            }

            /// One sentence for people.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }
        }
    };
}

closed_list! {
    /// Why a packet or a part of its payload did not reach the consumer.
    DropReason {
        FragmentCut, "fragment_cut", "A fragment was cut by the snapshot length.";
        FragmentLength, "fragment_length", "A fragment without bytes, or one that is not the last and no multiple of 8 bytes.";
        FragmentTooLarge, "fragment_too_large", "A fragment reaches beyond 65,535 bytes.";
        FragmentOverlap, "fragment_overlap", "IPv6 fragments overlap; their datagram was dropped (RFC 5722).";
        FragmentInconsistent, "fragment_inconsistent", "Two fragments disagree on where the datagram ends.";
        FragmentTooMany, "fragment_too_many", "A datagram came in more fragments than are kept.";
        FragmentBudget, "fragment_budget", "The budget of fragments was met; the oldest datagram made room.";
        FragmentTimeout, "fragment_timeout", "A datagram waited too long for the rest of its fragments.";
        FragmentStopped, "fragment_stopped", "The capture ended before the rest of the fragments came.";
        FragmentDuplicate, "fragment_duplicate", "Every byte of a fragment was there before.";
        Unreadable, "unreadable", "The packet that fragments made has no readable header.";
        Nested, "nested", "Fragments within fragments within fragments.";
        Stray, "stray", "A segment without payload or SYN that belongs to no flow, or a reset of none.";
        ImplausibleReset, "implausible_reset", "A reset that its receiver would not take.";
        ResetPayload, "reset_payload", "The payload of a reset: words for people, not of the lane.";
        ImplausibleSyn, "implausible_syn", "A SYN that does not belong to the live flow of its five-tuple.";
        OutOfWindow, "out_of_window", "A segment far beyond what its receiver allowed.";
        AfterFin, "after_fin", "Data beyond the end that its sender declared.";
    }
}

closed_list! {
    /// Why bytes of a lane were declared missing.
    GapCause {
        Cut, "cut", "The snapshot length cut them off.";
        Acked, "acked", "Their receiver acknowledged them, and they were not captured.";
        Hold, "hold", "What follows them had waited long enough.";
        Budget, "budget", "A budget of held bytes was met.";
        Close, "close", "The flow closed.";
    }
}

/// What a table counted since it was made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counters {
    /// Packets handed in.
    pub packets: u64,
    /// Bytes of their frames on the wire.
    pub bytes: u64,
    /// TCP segments, those in reassembled packets included.
    pub segments: u64,
    /// UDP datagrams, those in reassembled packets included.
    pub datagrams: u64,
    /// Packets of other protocols, reassembled ones included.
    pub other: u64,
    /// Fragments.
    pub fragments: u64,
    /// Fragments that became part of a packet.
    pub fragments_used: u64,
    /// Packets that fragments made.
    pub reassembled: u64,
    /// Flows opened.
    pub opened: u64,
    /// Of those, joined in their middle.
    pub opened_middle: u64,
    /// Flows closed, by [`crate::End`].
    pub closed: [u64; 5],
    /// Flows that another one with the same five-tuple replaced.
    pub replaced: u64,
    /// Flows that were evicted before data had come from both sides.
    pub evicted_unestablished: u64,
    /// Payload bytes of segments, on the wire.
    pub payload_bytes: u64,
    /// Payload bytes handed to the consumer.
    pub delivered_bytes: u64,
    /// Payload bytes of datagrams, on the wire.
    pub datagram_bytes: u64,
    /// Datagrams that were cut by the snapshot length.
    pub datagrams_cut: u64,
    /// Segments with bytes that were there before.
    pub retransmitted: u64,
    /// Payload bytes that lie before the next byte of their lane.
    pub retransmitted_bytes: u64,
    /// Payload bytes that are held already: the first ones win.
    pub overlap_bytes: u64,
    /// Segments that came before what precedes them.
    pub out_of_order: u64,
    /// Segments held because their sender had received bytes of the other lane that were not captured by then.
    pub early: u64,
    /// Keep-alive probes (RFC 9293 section 3.8.4).
    pub keep_alives: u64,
    /// Gaps by [`GapCause`].
    pub gaps: [u64; GapCause::ALL.len()],
    /// Bytes in gaps by [`GapCause`].
    pub gap_bytes: [u64; GapCause::ALL.len()],
    /// Packets dropped by [`DropReason`]; of a segment, a part may be.
    pub dropped: [u64; DropReason::ALL.len()],
    /// Payload bytes of segments dropped by [`DropReason`].
    pub dropped_bytes: [u64; DropReason::ALL.len()],
}

impl Counters {
    /// Packets dropped for a reason.
    pub const fn drops(&self, reason: DropReason) -> u64 {
        self.dropped[reason as usize]
    }

    pub(crate) fn drop(&mut self, reason: DropReason, packets: u64, bytes: u64) {
        self.dropped[reason as usize] += packets;
        self.dropped_bytes[reason as usize] += bytes;
    }

    /// Fragments dropped for any reason.
    pub fn fragment_drops(&self) -> u64 {
        let fragments = DropReason::FragmentCut as usize..=DropReason::FragmentDuplicate as usize;
        self.dropped[fragments].iter().sum()
    }
}
