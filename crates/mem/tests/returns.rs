//! The return queue under loom: every order in which threads can meet in it.
//!
//! The file under test is compiled here a second time, with loom's primitives in place of std's.

#![cfg(not(miri))]

mod sync {
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
}

#[path = "../src/returns.rs"]
mod returns;

use std::time::Duration;

use loom::sync::Arc;
use loom::thread;
use returns::Returns;

#[test]
fn what_two_threads_give_back_is_taken_exactly_once() {
    loom::model(|| {
        let home = Arc::new(Returns::new(2));
        let givers: Vec<_> = (1..=2)
            .map(|item| {
                let home = Arc::clone(&home);
                thread::spawn(move || home.give_back(item).unwrap())
            })
            .collect();
        let mut taken: Vec<i32> = home.take().into_iter().collect();
        for giver in givers {
            giver.join().unwrap();
        }
        taken.extend(std::iter::from_fn(|| home.take()));
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
    });
}

#[test]
fn a_return_wakes_the_owner_that_waits() {
    loom::model(|| {
        let home = Arc::new(Returns::new(1));
        let giver = {
            let home = Arc::clone(&home);
            thread::spawn(move || home.give_back(7).unwrap())
        };
        // loom's wait has no time limit: a lost wake-up would be reported as a deadlock.
        while !home.wait(Duration::MAX) {}
        assert_eq!(home.take(), Some(7));
        giver.join().unwrap();
    });
}

#[test]
fn a_return_that_races_with_closing_is_handed_out_once() {
    loom::model(|| {
        let home = Arc::new(Returns::new(1));
        let giver = {
            let home = Arc::clone(&home);
            thread::spawn(move || home.give_back(7).err())
        };
        let waiting = home.close();
        let refused = giver.join().unwrap();
        let all: Vec<i32> = waiting.into_iter().chain(refused).collect();
        assert_eq!(all, [7]);
        assert_eq!(home.take(), None);
    });
}
