use std::sync::Arc;

use super::*;
use crate::spool::Spool;

const ALL: Window = Window { batches: 1_000, bytes: 1 << 20 };

/// A batch of one kibibyte, memory overhead included, with two envelopes.
fn batch(number: u32) -> Batch {
    let mut message = number.to_le_bytes().to_vec();
    message.resize(1_024 - OVERHEAD, 0);
    Batch::new(&message, 2, 1_000).unwrap()
}

fn number(batch: &Batch) -> u32 {
    u32::from_le_bytes(batch.message()[..4].try_into().unwrap())
}

fn take_all(queue: &Queue) -> Vec<u32> {
    std::iter::from_fn(|| queue.take(ALL)).map(|batch| number(&batch)).collect()
}

fn queue(kib: usize, policy: Policy) -> Queue {
    Queue::new(kib << 10, policy, false)
}

#[test]
fn the_oldest_makes_room() {
    let queue = queue(4, Policy::DropOldest);
    (0..6).for_each(|at| queue.offer(batch(at)));
    assert_eq!(take_all(&queue), [2, 3, 4, 5]);
    let counters = queue.counters();
    assert_eq!((counters.dropped(Reason::QueueFull), counters.held.batches), (4, 4));
    assert!(counters.balanced());
}

#[test]
fn the_newest_is_dropped() {
    let queue = queue(4, Policy::DropNewest);
    (0..6).for_each(|at| queue.offer(batch(at)));
    assert_eq!(take_all(&queue), [0, 1, 2, 3]);
    assert!(queue.counters().balanced());
}

#[test]
fn what_was_written_is_not_given_up_for_newer_ones() {
    let queue = queue(4, Policy::DropOldest);
    (0..4).for_each(|at| queue.offer(batch(at)));
    assert_eq!(take_all(&queue), [0, 1, 2, 3]);
    queue.offer(batch(4));
    assert_eq!(queue.counters().dropped(Reason::QueueFull), 2);
    queue.rewind(Cause::Reset);
    assert_eq!(take_all(&queue), [0, 1, 2, 3]);
    assert_eq!(queue.counters().resent.envelopes, 8);
}

#[test]
fn order_holds_over_a_connection_that_ended() {
    let queue = queue(64, Policy::DropOldest);
    (0..5).for_each(|at| queue.offer(batch(at)));
    let window = Window { batches: 3, bytes: 1 << 20 };
    let first: Vec<_> = std::iter::from_fn(|| queue.take(window)).map(|batch| number(&batch)).collect();
    assert_eq!(first, [0, 1, 2]);
    queue.confirm(Outcome::default(), 5_001_000);
    queue.rewind(Cause::GoAway);
    queue.offer(batch(5));
    assert_eq!(take_all(&queue), [1, 2, 3, 4, 5]);
    let counters = queue.counters();
    assert_eq!((counters.sent.envelopes, counters.resent.batches, counters.ended(Cause::GoAway)), (2, 2, 1));
    assert_eq!((counters.latency.count(), counters.latency.sum_us), (1, 5_000));
    assert!(counters.balanced());
}

#[test]
fn the_window_is_bounded_by_bytes_but_lets_one_through() {
    let queue = queue(64, Policy::DropOldest);
    (0..3).for_each(|at| queue.offer(batch(at)));
    let window = Window { batches: 10, bytes: 100 };
    assert!(queue.take(window).is_some());
    assert!(queue.take(window).is_none());
    queue.confirm(Outcome::default(), 0);
    assert!(queue.take(window).is_some());
}

#[test]
fn what_a_destination_did_not_take_is_counted_apart() {
    let queue = queue(64, Policy::DropOldest);
    (0..2).for_each(|at| queue.offer(batch(at)));
    take_all(&queue);
    queue.confirm(Outcome { skipped: 1, dropped: Some((Reason::Rejected, 9)) }, 0);
    queue.confirm(Outcome { skipped: 2, dropped: None }, 0);
    let counters = queue.counters();
    assert_eq!((counters.skipped, counters.dropped(Reason::Rejected), counters.sent.envelopes), (3, 1, 0));
    assert!(counters.balanced() && queue.is_empty());
}

#[test]
fn giving_up_tells_what_was_written_from_what_was_not() {
    let queue = queue(64, Policy::DropOldest);
    (0..3).for_each(|at| queue.offer(batch(at)));
    queue.take(ALL);
    queue.close();
    queue.offer(batch(3));
    queue.offer(Batch::new(&vec![0; 100 << 10], 1, 0).unwrap());
    queue.give_up();
    let counters = queue.counters();
    assert_eq!((counters.dropped(Reason::Unconfirmed), counters.dropped(Reason::Stopping)), (2, 7));
    assert!(counters.balanced());
}

#[test]
fn who_may_wait_waits_for_room() {
    let queue = Arc::new(queue(4, Policy::Block));
    let (given, offered) = (queue.clone(), 200);
    let offering = std::thread::spawn(move || (0..offered).for_each(|at| given.offer(batch(at))));
    let mut taken = Vec::new();
    while taken.len() < 200 {
        assert!(queue.counters().held.batches <= 4);
        match queue.take(ALL) {
            Some(batch) => {
                taken.push(number(&batch));
                queue.confirm(Outcome::default(), 0);
            }
            None => std::thread::yield_now(),
        }
    }
    offering.join().unwrap();
    assert_eq!(taken, (0..200).collect::<Vec<_>>());
    assert_eq!(queue.counters().dropped_total(), 0);
}

#[tokio::test]
async fn tasks_wait_for_room_and_closing_lets_them_go() {
    let queue = Arc::new(queue(4, Policy::Block));
    let tasks: Vec<_> = (0..10)
        .map(|at| {
            let queue = queue.clone();
            tokio::spawn(async move { queue.offer_async(batch(at)).await })
        })
        .collect();
    while queue.counters().held.batches < 4 {
        tokio::task::yield_now().await;
    }
    queue.take(ALL).unwrap();
    queue.confirm(Outcome::default(), 0);
    while queue.counters().queued.batches < 5 {
        tokio::task::yield_now().await;
    }
    queue.close();
    for task in tasks {
        task.await.unwrap();
    }
    let counters = queue.counters();
    assert_eq!((counters.held.batches, counters.dropped(Reason::Stopping)), (4, 10));
    assert!(counters.balanced());
}

/// Takes and confirms until `count` batches came; waits for the thread of the disk in between.
fn drain(queue: &Queue, count: usize) -> Vec<u32> {
    let mut numbers = Vec::new();
    while numbers.len() < count {
        match queue.take(ALL) {
            Some(batch) => {
                numbers.push(number(&batch));
                queue.confirm(Outcome::default(), 0);
            }
            None => std::thread::yield_now(),
        }
        assert!(queue.counters().balanced());
    }
    numbers
}

fn with_disk(folder: &std::path::Path, policy: Policy, disk_kib: u64) -> (Arc<Queue>, Disk) {
    let queue = Arc::new(Queue::new(16 << 10, policy, true));
    let spool = Spool::open(folder, disk_kib << 10).unwrap();
    let disk = Disk::start(queue.clone(), spool, "test").unwrap();
    (queue, disk)
}

#[test]
fn what_does_not_fit_into_memory_waits_on_disk_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let (queue, disk) = with_disk(folder.path(), Policy::Block, 1_024);
    (0..10).for_each(|at| queue.offer(batch(at)));
    // Two are under way, and the connection ends: they come again, before what is on disk.
    let window = Window { batches: 2, bytes: 1 << 20 };
    let mut taken = 0;
    while taken < 2 {
        taken += usize::from(queue.take(window).is_some());
    }
    (10..200).for_each(|at| queue.offer(batch(at)));
    assert!(queue.counters().on_disk.batches > 150);
    queue.rewind(Cause::Reset);
    assert_eq!(drain(&queue, 200), (0..200).collect::<Vec<_>>());
    assert!(queue.is_empty());
    assert_eq!(queue.counters().resent.batches, 2);
    queue.close();
    queue.stop_disk();
    disk.join();
}

#[test]
fn a_stop_and_a_start_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (queue, disk) = with_disk(folder.path(), Policy::Block, 1_024);
    (0..100).for_each(|at| queue.offer(batch(at)));
    assert_eq!(drain(&queue, 30), (0..30).collect::<Vec<_>>());
    while queue.take(Window { batches: 1, bytes: 0 }).is_none() {
        std::thread::yield_now();
    }
    queue.close();
    queue.stop_disk();
    disk.join();
    let counters = queue.counters();
    assert_eq!((counters.held.batches, counters.on_disk.batches), (0, 70));
    assert!(counters.balanced());

    let (queue, disk) = with_disk(folder.path(), Policy::Block, 1_024);
    assert_eq!(queue.counters().replayed.envelopes, 140);
    queue.offer(batch(100));
    assert_eq!(drain(&queue, 71), (30..101).collect::<Vec<_>>());
    queue.close();
    queue.stop_disk();
    disk.join();
    assert!(Spool::open(folder.path(), 1 << 20).unwrap().waiting().batches == 0);
}

#[test]
fn a_full_disk_gives_up_its_oldest_segment() {
    let folder = tempfile::tempdir().unwrap();
    let (queue, disk) = with_disk(folder.path(), Policy::DropOldest, 64);
    for at in 0..400 {
        queue.offer(batch(at));
        while queue.counters().held.batches > 12 {
            std::thread::yield_now();
        }
    }
    let counters = queue.counters();
    assert!(counters.balanced() && counters.dropped(Reason::QueueFull) > 500, "{counters:?}");
    let mut numbers = Vec::new();
    while !queue.is_empty() {
        numbers.extend(take_all(&queue));
        (0..queue.counters().in_flight.batches).for_each(|_| queue.confirm(Outcome::default(), 0));
    }
    assert!(numbers.is_sorted() && numbers.last() == Some(&399), "{numbers:?}");
    assert!(queue.counters().balanced());
    queue.close();
    queue.stop_disk();
    disk.join();
}
