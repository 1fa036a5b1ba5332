//! Which call a media endpoint belongs to, known to all threads.
//!
//! * In: endpoints announced in SDP, by whichever thread saw the message. Out: the Call-ID, to the thread that
//!   sees the media, which is another one as often as not: signalling and media are different flows, and the
//!   signalling may come from an agent over HEP.
//! * Owned: one table per process. Bounded by: its entries, and [`MAX_CALL_ID`] bytes of each Call-ID; entries
//!   that nobody announced or asked for within [`KEPT_NS`] go.
//! * Lost: endpoints that find no room, counted by the table's [gauges](Calls::gauges), and Call-IDs that are too
//!   long: [`Calls::too_long`].
//!
//! What a replay of a file shows must not depend on the order of threads, so the table serves live capture and
//! HEP only.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use decode::sdp;
use mem::map::{Batched, EpochMap, Gauges};
use model::{Endpoint, Nanos};

/// Bytes of a Call-ID; a longer one is not remembered.
pub const MAX_CALL_ID: usize = 512;

/// How long an endpoint is remembered after it was last announced or asked for, nanoseconds.
pub const KEPT_NS: i64 = 3_600_000_000_000;

/// How old the note of the last use may get: what is used with every packet is written once in this time.
const NOTED_NS: i64 = 10_000_000_000;

/// Groups of the table that are looked through for what is too old at the end of a batch.
const SWEPT: usize = 16;

/// What is known of an endpoint.
#[derive(Debug)]
struct Media {
    call_id: Arc<[u8]>,
    used: AtomicI64,
}

impl Media {
    fn is_of(&self, call_id: &[u8], now: Nanos) -> bool {
        *self.call_id == *call_id && !self.is_older(now, NOTED_NS)
    }

    fn is_older(&self, now: Nanos, age: i64) -> bool {
        now.0.saturating_sub(self.used.load(Ordering::Relaxed)) >= age
    }
}

/// The table. A handle: clones are the same table.
#[derive(Debug, Clone)]
pub struct Calls {
    map: EpochMap<Endpoint, Media>,
    too_long: Arc<AtomicU64>,
}

impl Calls {
    /// A table of at most `endpoints` endpoints. Reserves 85 to 170 bytes for each, beside the Call-IDs.
    pub fn new(endpoints: usize) -> Self {
        Self { map: EpochMap::new(endpoints), too_long: Arc::default() }
    }

    /// The way to the table for one thread.
    pub fn lane(&self) -> Lane {
        Lane { batched: self.map.reader().batched(), calls: self.clone(), cursor: 0 }
    }

    /// The figures of the table.
    pub fn gauges(&self) -> Gauges {
        self.map.gauges()
    }

    /// Announcements whose Call-ID was too long.
    pub fn too_long(&self) -> u64 {
        self.too_long.load(Ordering::Relaxed)
    }
}

/// One thread's way to the table: it is in from the first question of a batch to [`Lane::end_batch`].
#[derive(Debug)]
pub struct Lane {
    calls: Calls,
    batched: Batched<Endpoint, Media>,
    cursor: usize,
}

impl Lane {
    /// The Call-ID that an endpoint was announced with.
    pub fn call_id(&mut self, endpoint: Endpoint, now: Nanos) -> Option<&[u8]> {
        let media = self.batched.get(&endpoint)?;
        if media.is_older(now, NOTED_NS) {
            media.used.store(now.0, Ordering::Relaxed);
        }
        Some(&media.call_id)
    }

    /// The Call-ID of the first endpoint that was announced.
    pub fn call_id_of(&mut self, endpoints: [Endpoint; 2], now: Nanos) -> Option<&[u8]> {
        let known = endpoints.into_iter().find(|endpoint| self.batched.get(endpoint).is_some())?;
        self.call_id(known, now)
    }

    /// A call announced that media will be at an endpoint. A repetition costs a look-up and writes nothing.
    pub fn announce(&mut self, endpoint: Endpoint, call_id: &[u8], now: Nanos) {
        if call_id.is_empty() || self.batched.get(&endpoint).is_some_and(|media| media.is_of(call_id, now)) {
            return;
        }
        if call_id.len() > MAX_CALL_ID {
            self.calls.too_long.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // Refusals are in the table's own count.
        let _ = self.calls.map.update(endpoint, |old| match old {
            Some(media) if *media.call_id == *call_id => {
                media.used.store(now.0, Ordering::Relaxed);
                None
            }
            _ => Some(Media { call_id: call_id.into(), used: AtomicI64::new(now.0) }),
        });
    }

    /// What one media description of a call announces.
    pub fn announce_media(&mut self, media: &sdp::Media<'_>, call_id: &[u8], now: Nanos) {
        for endpoint in media.endpoints().into_iter().flatten() {
            self.announce(endpoint, call_id, now);
        }
    }

    /// Leaves the table.
    pub fn leave(&mut self) {
        self.batched.leave();
    }

    /// Leaves the table, and removes what is too old from a small part of it, a different one each time.
    pub fn end_batch(&mut self, now: Nanos) {
        self.leave();
        self.calls.map.sweep(&mut self.cursor, SWEPT, |_, media| !media.is_older(now, KEPT_NS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn at(port: u16) -> Endpoint {
        Endpoint::new(Ipv4Addr::new(192, 0, 2, 1).into(), port)
    }

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn what_one_thread_heard_another_one_knows() {
        let calls = Calls::new(16);
        let mut heard = calls.lane();
        heard.announce(at(4_000), b"a@example.org", Nanos(0));
        heard.end_batch(Nanos(0));
        let mut asked = calls.lane();
        let known = std::thread::spawn(move || asked.call_id(at(4_000), Nanos(SECOND)).map(<[u8]>::to_vec));
        assert_eq!(known.join().unwrap().as_deref(), Some(&b"a@example.org"[..]));
        heard.announce(at(4_000), b"b@example.org", Nanos(2 * SECOND));
        assert_eq!(heard.call_id_of([at(1), at(4_000)], Nanos(0)), Some(&b"b@example.org"[..]));
        assert_eq!(heard.call_id(at(4_001), Nanos(0)), None);
    }

    #[test]
    fn a_repetition_writes_nothing_and_a_long_name_is_counted() {
        let calls = Calls::new(16);
        let mut lane = calls.lane();
        for _ in 0..3 {
            lane.announce(at(1), b"same", Nanos(5));
        }
        lane.announce(at(2), b"", Nanos(5));
        lane.announce(at(2), &[b'x'; MAX_CALL_ID + 1], Nanos(5));
        let gauges = calls.gauges();
        assert_eq!((gauges.entries, gauges.retired, calls.too_long()), (1, 0, 1));
    }

    #[test]
    fn what_nobody_uses_goes_and_what_is_asked_for_stays() {
        let calls = Calls::new(16);
        let mut lane = calls.lane();
        lane.announce(at(1), b"quiet", Nanos(0));
        lane.announce(at(2), b"asked for", Nanos(0));
        lane.end_batch(Nanos(KEPT_NS - SECOND));
        assert!(lane.call_id(at(2), Nanos(KEPT_NS - SECOND)).is_some());
        lane.end_batch(Nanos(KEPT_NS));
        assert_eq!(lane.call_id(at(1), Nanos(KEPT_NS)), None);
        assert!(lane.call_id(at(2), Nanos(KEPT_NS)).is_some());
        assert_eq!(calls.gauges().entries, 1);
    }
}
