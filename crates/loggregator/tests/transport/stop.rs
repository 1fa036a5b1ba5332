//! Stopping, with and without a disk.

use loggregator::{DiskSettings, Reason};

use super::peer::{Mode, Peer};
use super::*;

#[tokio::test]
async fn what_is_left_at_the_deadline_is_counted() {
    let peer = Peer::start(None, Mode::Silent).await;
    let mut settings = settings(peer.address, None);
    settings.window.batches = 3;
    let destination = start(settings);
    offer(&destination, 0..100);
    until("some were written", || destination.counters().in_flight.batches == 3).await;
    let counters = destination.stop(Duration::from_millis(50)).await;
    assert_eq!((counters.dropped(Reason::Unconfirmed), counters.dropped(Reason::Stopping)), (30, 70));
    assert!(counters.balanced());
    offer(&destination, 100..110);
    assert_eq!(destination.stop(LONG).await.dropped(Reason::Stopping), 80);
}

#[tokio::test]
async fn with_a_disk_the_next_start_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    // It reads but confirms nothing, so what it has comes again.
    let peer = Peer::start(None, Mode::Silent).await;
    let mut settings = settings(peer.address, None);
    settings.queue.memory_bytes = 64 << 10;
    settings.queue.disk = Some(DiskSettings { folder: folder.path().join("queue"), bytes: 8 << 20 });
    let first = start(settings.clone());
    for batch in batches(0..4_000, 10) {
        // The disk's thread has no deadline; what it did not take in time would be dropped.
        until("there is room", || first.counters().held.bytes < 40_000).await;
        first.offer(batch);
    }
    let counters = first.stop(Duration::from_millis(50)).await;
    let (sent, kept) = (counters.sent.envelopes, counters.on_disk.envelopes);
    assert_eq!(
        (sent, kept, counters.dropped_total(), counters.held.batches),
        (0, 4_000, 0, 0),
        "{counters:?}"
    );
    drop(first);

    peer.mode.send_replace(Mode::Take);
    let second = start(settings);
    offer(&second, 4_000..4_100);
    until_sent(&second, kept + 100).await;
    let counters = second.stop(LONG).await;
    assert_eq!(counters.replayed.envelopes, kept);
    assert_eq!((counters.on_disk.batches, counters.balanced()), (0, true));
    assert_numbers(&peer.in_order(), 0..4_100);
}
