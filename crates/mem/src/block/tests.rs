use std::time::Duration;

use crate::pool::{Pool, Pressure};

#[test]
fn bytes_freeze_in_the_order_they_are_committed() {
    let mut pool = Pool::new(64, 1);
    let mut block = pool.take().unwrap();
    let shared = block.share();
    block.spare()[..6].copy_from_slice(b"abcdef");
    assert_eq!(block.commit(4), b"abcd");
    assert_eq!(shared.frozen(), b"abcd");
    assert_eq!(&block.spare()[..2], b"ef");
    assert_eq!(block.commit(2), b"ef");
    assert_eq!(block.commit(0), b"");
    assert_eq!(shared.frozen(), b"abcdef");
    assert_eq!((block.filled(), block.spare_len(), block.capacity()), (6, 58, 64));
}

#[test]
#[should_panic(expected = "more bytes than the block has room for")]
fn a_commit_beyond_the_end_panics() {
    let mut pool = Pool::new(16, 1);
    let mut block = pool.take().unwrap();
    block.commit(17);
}

#[test]
fn ranges_are_those_of_the_frozen_part_of_this_block() {
    let mut pool = Pool::new(32, 2);
    let (mut block, mut other) = (pool.take().unwrap(), pool.take().unwrap());
    block.commit(20);
    other.commit(32);
    let shared = block.share();
    let frozen = shared.frozen();
    assert_eq!(shared.range_of(frozen), Some(0));
    assert_eq!(shared.range_of(&frozen[5..9]), Some(5));
    assert_eq!(shared.range_of(&frozen[20..]), Some(20));
    assert_eq!(shared.range_of(other.frozen()), None);
    assert_eq!(shared.range_of(b"elsewhere"), None);
    assert_eq!(shared.range_of(&block.spare()[..1]), None);
    assert!(!shared.same(&other.share()));
    assert!(shared.same(&block.share()));
}

#[test]
fn bytes_cover_what_was_frozen_then() {
    let mut pool = Pool::new(32, 1);
    let mut block = pool.take().unwrap();
    block.spare()[..3].copy_from_slice(b"abc");
    block.commit(3);
    let bytes = block.share().into_bytes();
    block.commit(3);
    assert_eq!(&bytes[..], b"abc");
    let part = bytes.slice(1..);
    drop(bytes);
    drop(block);
    assert_eq!(pool.in_use(), 1);
    assert_eq!(&part[..], b"bc");
    drop(part);
    assert_eq!(pool.in_use(), 0);
}

#[test]
fn a_block_comes_back_when_the_writer_and_the_last_reader_are_gone() {
    let mut pool = Pool::new(16, 1);
    let block = pool.take().unwrap();
    let address = block.frozen().as_ptr();
    let reader = block.share();
    assert!(pool.take().is_none());
    drop(block);
    assert!(pool.take().is_none());
    drop(reader);
    assert!(pool.wait(Duration::ZERO));
    assert_eq!(pool.take().unwrap().frozen().as_ptr(), address);
    assert_eq!(pool.allocated(), 1);
}

#[test]
fn the_block_returned_last_is_reused_first_and_starts_empty() {
    let mut pool = Pool::new(16, 3);
    let (first, mut second) = (pool.take().unwrap(), pool.take().unwrap());
    second.commit(9);
    let address = second.frozen().as_ptr();
    drop(first);
    drop(second);
    let again = pool.take().unwrap();
    assert_eq!((again.frozen().as_ptr(), again.filled()), (address, 0));
    assert_eq!((pool.in_use(), pool.allocated(), pool.capacity()), (1, 2, 3));
}

#[test]
fn blocks_outlive_their_pool() {
    let mut pool = Pool::new(16, 2);
    let gauge = pool.gauge();
    let mut block = pool.take().unwrap();
    drop(pool.take());
    drop(pool);
    assert_eq!((gauge.in_use(), gauge.allocated()), (1, 1));
    block.spare()[0] = 7;
    let reader = block.share();
    block.commit(1);
    drop(block);
    assert_eq!(reader.frozen(), [7]);
    drop(reader);
    assert_eq!((gauge.in_use(), gauge.allocated()), (0, 0));
}

#[test]
fn pressure_follows_the_blocks_in_use() {
    let mut pool = Pool::new(16, 4);
    let mut held = Vec::new();
    let mut seen = Vec::new();
    loop {
        seen.push(pool.pressure());
        match pool.take() {
            Some(block) => held.push(block),
            None => break,
        }
    }
    use Pressure::{Full, High, Low};
    assert_eq!(seen, [Low, Low, Low, High, Full]);
    held.pop();
    assert_eq!(pool.gauge().pressure(), High);
}

#[test]
fn waiting_ends_when_a_block_comes_back_from_another_thread() {
    let mut pool = Pool::new(16, 1);
    let block = pool.take().unwrap();
    assert!(!pool.wait(Duration::from_millis(1)));
    let holder = std::thread::spawn(move || drop(block));
    while !pool.wait(Duration::from_secs(5)) {}
    holder.join().unwrap();
    assert!(pool.take().is_some());
}

#[test]
fn readers_on_other_threads_see_whole_bytes_while_the_writer_goes_on() {
    let rounds: u8 = if cfg!(miri) { 8 } else { 200 };
    let mut pool = Pool::new(4096, 2);
    for round in 0..rounds {
        let mut block = loop {
            if let Some(block) = pool.take() {
                break block;
            }
            pool.wait(Duration::from_secs(1));
        };
        let reader = block.share();
        let watcher = std::thread::spawn(move || {
            loop {
                let frozen = reader.frozen();
                assert!(frozen.iter().all(|byte| *byte == round), "a frozen byte changed");
                if frozen.len() == 4096 {
                    break;
                }
                std::thread::yield_now();
            }
        });
        while block.spare_len() > 0 {
            let n = block.spare_len().min(512);
            block.spare()[..n].fill(round);
            block.commit(n);
        }
        drop(block);
        if round % 2 == 0 {
            watcher.join().unwrap();
        }
    }
}
