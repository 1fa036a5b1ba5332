//! What a destination counts. All of it changes under the lock of its queue, so that a copy always balances:
//!
//! ```text
//! queued + replayed = sent + skipped + dropped + held in memory + held on disk
//! ```

use std::fmt;

macro_rules! closed_list {
    ($(#[$doc:meta])* $name:ident { $($variant:ident, $label:literal, $help:literal;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $(#[doc = $help] $variant,)* }

        impl $name {
            /// All of them, in the order of their metrics.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The label in metrics.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $label,)* }
            }

            /// One sentence for people.
            pub const fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

closed_list! {
    /// Why an envelope was lost on its way to a destination.
    Reason {
        QueueFull, "queue_full", "The queue, and the disk behind it if there is one, had no room.";
        TooLarge, "too_large", "A batch was larger than the whole queue.";
        Refused, "refused", "The destination refused it for good, so that sending it again would be no use.";
        Rejected, "rejected", "The destination took the message and said that it rejected some of what was in it.";
        Stopping, "stopping", "It was still waiting when the time to stop was over.";
        Unconfirmed, "unconfirmed", "It was written when the time to stop was over, but the destination had not confirmed it; it may have arrived.";
        Damaged, "spool_damaged", "Its record on disk could not be read back.";
    }
}

closed_list! {
    /// Why a connection could not be made, or ended.
    Cause {
        Resolve, "resolve", "The name of the destination has no address.";
        Connect, "connect", "No TCP connection: refused, unreachable.";
        ConnectTimeout, "connect_timeout", "TCP, TLS or HTTP/2 did not come up in time.";
        OwnCertificate, "own_certificate", "A certificate or key file of ours cannot be read or does not fit together.";
        OwnExpired, "own_certificate_expired", "Our certificate is not valid now; the connection was tried all the same.";
        PeerExpired, "peer_certificate_expired", "The destination's certificate is not valid now.";
        PeerCertificate, "peer_certificate", "The destination's certificate is not of our authority, or not for the name we expect.";
        TlsRefused, "tls_refused", "The destination ended the TLS handshake: as a rule it does not accept our certificate.";
        Tls, "tls", "Another failure of TLS.";
        Protocol, "protocol", "The destination broke the rules of its protocol.";
        GoAway, "goaway", "The destination asked us to leave (GOAWAY).";
        Unavailable, "unavailable", "The destination answered UNAVAILABLE.";
        Unimplemented, "unimplemented", "The destination does not know the method.";
        Forbidden, "forbidden", "The destination answered UNAUTHENTICATED or PERMISSION_DENIED.";
        Ended, "ended", "The destination ended the stream, with another status.";
        Reset, "reset", "The destination reset the stream or the connection, or closed it.";
        Silent, "silent", "The destination did not confirm within the time for it.";
    }
}

/// A number of batches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Envelopes in them.
    pub envelopes: u64,
    /// How many.
    pub batches: u64,
    /// Bytes of their messages.
    pub bytes: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, envelopes: u32, bytes: usize) {
        self.envelopes += u64::from(envelopes);
        self.batches += 1;
        self.bytes += bytes as u64;
    }

    pub(crate) fn remove(&mut self, envelopes: u32, bytes: usize) {
        self.envelopes = self.envelopes.saturating_sub(u64::from(envelopes));
        self.batches = self.batches.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes as u64);
    }
}

/// Upper bounds of the buckets of [`Latency`], in microseconds; a last bucket has no bound.
pub const LATENCY_BOUNDS_US: [u64; 16] = [
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    150_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    10_000_000,
    30_000_000,
    60_000_000,
    300_000_000,
];

/// From receipt of the first envelope of a batch to its confirmation, counted per batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Latency {
    /// Batches per bucket, not accumulated.
    pub buckets: [u64; LATENCY_BOUNDS_US.len() + 1],
    /// Sum, in microseconds.
    pub sum_us: u64,
}

impl Latency {
    pub(crate) fn add(&mut self, us: u64) {
        let at = LATENCY_BOUNDS_US.partition_point(|bound| *bound < us);
        if let Some(bucket) = self.buckets.get_mut(at) {
            *bucket += 1;
        }
        self.sum_us = self.sum_us.saturating_add(us);
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }
}

/// The figures of one destination at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// Offered, whatever became of it.
    pub queued: Tally,
    /// Found on disk at the start.
    pub replayed: Tally,
    /// Confirmed by the destination.
    pub sent: Tally,
    /// Written again after a connection ended before confirmation. Part of none of the others.
    pub resent: Tally,
    /// Envelopes of a kind that this destination does not take.
    pub skipped: u64,
    dropped: [u64; Reason::ALL.len()],
    ended: [u64; Cause::ALL.len()],
    /// Connections that came up.
    pub connections: u64,
    /// Waiting or unconfirmed, in memory.
    pub held: Tally,
    /// Waiting on disk.
    pub on_disk: Tally,
    /// Of those in memory, written and not confirmed.
    pub in_flight: Tally,
    /// What the spool could not do: a write or a read that failed.
    pub spool_errors: u64,
    /// From receipt to confirmation.
    pub latency: Latency,
}

impl Counters {
    /// Envelopes lost for this reason.
    pub fn dropped(&self, reason: Reason) -> u64 {
        self.dropped.get(reason as usize).copied().unwrap_or_default()
    }

    /// Envelopes lost for any reason.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// Connections that failed or ended by this cause.
    pub fn ended(&self, cause: Cause) -> u64 {
        self.ended.get(cause as usize).copied().unwrap_or_default()
    }

    /// Whether every envelope has its place.
    pub fn balanced(&self) -> bool {
        self.queued.envelopes + self.replayed.envelopes
            == self.sent.envelopes
                + self.skipped
                + self.dropped_total()
                + self.held.envelopes
                + self.on_disk.envelopes
    }

    pub(crate) fn drop(&mut self, reason: Reason, envelopes: u64) {
        if let Some(slot) = self.dropped.get_mut(reason as usize) {
            *slot += envelopes;
        }
    }

    pub(crate) fn end(&mut self, cause: Cause) {
        if let Some(slot) = self.ended.get_mut(cause as usize) {
            *slot += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_fall_into_their_bucket() {
        let mut latency = Latency::default();
        for us in [0, 1_000, 1_001, u64::MAX] {
            latency.add(us);
        }
        assert_eq!((latency.buckets[0], latency.buckets[1], latency.buckets[16]), (2, 1, 1));
        assert_eq!(latency.count(), 4);
    }

    #[test]
    fn an_envelope_without_a_place_shows() {
        let mut counters = Counters::default();
        counters.queued.add(3, 10);
        assert!(!counters.balanced());
        counters.drop(Reason::QueueFull, 1);
        counters.held.add(2, 7);
        assert!(counters.balanced());
    }
}
