//! What goes wrong between a destination and its receiver.

use loggregator::{Cause, Policy, Reason, Window};

use super::certs::Authority;
use super::peer::{Mode, Peer, server_config};
use super::*;

#[tokio::test]
async fn everything_arrives_once_and_in_order() {
    let authority = Authority::new();
    authority.server();
    let peer = Peer::start(Some(server_config(&authority, "server")), Mode::Take).await;
    let destination = start(settings(peer.address, Some(authority.client())));
    offer(&destination, 0..5_000);
    let counters = destination.stop(LONG).await;
    assert_numbers(&peer.numbers(), 0..5_000);
    assert_eq!((counters.sent, counters.resent.batches), (counters.queued, 0));
    assert_eq!((counters.sent.envelopes, counters.latency.count()), (5_000, 500));
    assert!(counters.balanced());
}

#[tokio::test]
async fn a_receiver_that_is_away_at_first_gets_everything() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let destination = start(settings(address, None));
    offer(&destination, 0..300);
    until("it was tried", || destination.counters().ended(Cause::Connect) > 2).await;
    assert_eq!(destination.counters().sent.envelopes, 0);
    let peer = Peer::on(address, None, Mode::Take).await;
    until_sent(&destination, 300).await;
    assert_numbers(&peer.numbers(), 0..300);
}

#[tokio::test]
async fn a_receiver_that_dies_again_and_again_loses_nothing() {
    let peer = Peer::start(None, Mode::Die(7)).await;
    let destination = start(settings(peer.address, None));
    offer(&destination, 0..2_000);
    until("it died a few times", || peer.connections() > 5).await;
    peer.mode.send_replace(Mode::Take);
    until_sent(&destination, 2_000).await;
    let counters = destination.stop(LONG).await;
    assert_numbers(&peer.in_order(), 0..2_000);
    // What came twice was counted as sent again; what was not read by the one that died came once.
    let repeated = peer.numbers().len() as u64 - 2_000;
    assert!(repeated <= counters.resent.envelopes && repeated > 0, "{repeated} {counters:?}");
    assert_eq!((counters.sent.envelopes, counters.dropped_total()), (2_000, 0));
    assert!(counters.ended(Cause::Reset) + counters.ended(Cause::Protocol) > 4, "{counters:?}");
}

#[tokio::test]
async fn refusals_are_counted_by_cause_and_outlived() {
    let peer = Peer::start(None, Mode::Refuse(14)).await;
    let destination = start(settings(peer.address, None));
    offer(&destination, 0..100);
    for (status, cause) in [
        (14, Cause::Unavailable),
        (12, Cause::Unimplemented),
        (16, Cause::Forbidden),
        (7, Cause::Forbidden),
        (2, Cause::Ended),
    ] {
        let before = destination.counters().ended(cause);
        peer.mode.send_replace(Mode::Refuse(status));
        until("it was refused", || destination.counters().ended(cause) > before + 1).await;
    }
    assert_eq!(destination.counters().sent.envelopes, 0);
    peer.mode.send_replace(Mode::Take);
    until_sent(&destination, 100).await;
    assert_numbers(&peer.numbers(), 0..100);
}

#[tokio::test]
async fn a_batch_that_is_always_refused_is_given_up_alone() {
    let peer = Peer::start(None, Mode::Poison(123)).await;
    let destination = start(settings(peer.address, None));
    offer(&destination, 0..300);
    until("the rest is sent", || destination.counters().sent.envelopes == 290).await;
    let counters = destination.counters();
    assert_eq!(counters.dropped(Reason::Refused), 10);
    assert_eq!(counters.dropped_total(), 10);
    let expected = (0..300).filter(|number| number / 10 != 12);
    assert_numbers(&peer.in_order(), expected);
}

#[tokio::test]
async fn a_receiver_that_asks_to_leave_is_left_without_a_repetition() {
    let peer = Peer::start(None, Mode::GoAway(5)).await;
    let destination = start(settings(peer.address, None));
    offer(&destination, 0..1_000);
    until_sent(&destination, 1_000).await;
    let counters = destination.stop(LONG).await;
    assert_numbers(&peer.numbers(), 0..1_000);
    assert_eq!(counters.resent.batches, 0);
    assert!(counters.ended(Cause::GoAway) > 0);
}

#[tokio::test]
async fn a_silent_receiver_is_left_and_nothing_counts_as_sent() {
    let peer = Peer::start(None, Mode::Silent).await;
    let mut settings = settings(peer.address, None);
    settings.remote.answer_timeout = Duration::from_millis(100);
    let destination = start(settings);
    offer(&destination, 0..50);
    until("it was left", || destination.counters().ended(Cause::Silent) > 0).await;
    assert_eq!(destination.counters().sent.envelopes, 0);
    peer.mode.send_replace(Mode::Take);
    until_sent(&destination, 50).await;
    assert_numbers(&peer.in_order(), 0..50);
}

#[tokio::test]
async fn a_slow_receiver_costs_its_own_queue_and_no_other() {
    let slow = Peer::start(None, Mode::Stall).await;
    let good = Peer::start(None, Mode::Take).await;
    let mut bounded = settings(slow.address, None);
    bounded.queue.memory_bytes = 100_000;
    let to_slow = start(bounded);
    let to_good = start(settings(good.address, None));
    for batch in batches(0..10_000, 10) {
        to_slow.offer(batch.clone());
        to_good.offer(batch);
    }
    until_sent(&to_good, 10_000).await;
    assert_numbers(&good.numbers(), 0..10_000);
    let counters = to_slow.counters();
    assert!(counters.held.bytes <= 100_000 && counters.balanced(), "{counters:?}");
    assert!(counters.dropped(Reason::QueueFull) > 5_000);
    slow.mode.send_replace(Mode::Take);
    until("the slow one has the rest", || to_slow.counters().held.batches == 0).await;
    let counters = to_slow.stop(LONG).await;
    let arrived = slow.in_order();
    assert_eq!(arrived.len() as u64, counters.sent.envelopes);
    assert_eq!(arrived.len() as u64 + counters.dropped(Reason::QueueFull), 10_000);
    assert_eq!(arrived.last(), Some(&9_999));
}

#[tokio::test]
async fn sources_that_can_wait_are_made_to() {
    let peer = Peer::start(None, Mode::Stall).await;
    let mut bounded = settings(peer.address, None);
    bounded.queue.memory_bytes = 64 << 10;
    bounded.queue.policy = Policy::Block;
    bounded.window = Window { batches: 4, bytes: 16 << 10 };
    let destination = std::sync::Arc::new(start(bounded));
    let given = destination.clone();
    let offering = tokio::spawn(async move {
        for batch in batches(0..3_000, 10) {
            given.offer_async(batch).await;
        }
    });
    until("the queue is full", || destination.counters().held.bytes > 40_000).await;
    assert!(!offering.is_finished());
    peer.mode.send_replace(Mode::Take);
    offering.await.unwrap();
    until_sent(&destination, 3_000).await;
    assert_numbers(&peer.numbers(), 0..3_000);
    assert_eq!(destination.counters().dropped_total(), 0);
}
