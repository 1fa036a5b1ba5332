//! Meters that are found by the thread.
//!
//! What a writer of files does lies behind the interfaces of libraries: a `Write` behind a buffer behind an encoder.
//! Its stages are therefore entered through the thread that they run on. A shard, which enters stages far more often,
//! has its meters at hand instead.

use std::cell::RefCell;

use super::{Meter, Meters};

thread_local! {
    static OWN: RefCell<Option<Meters>> = const { RefCell::new(None) };
}

/// Gives the calling thread these meters; they end with it.
pub fn adopt(meters: Meters) {
    OWN.with(|own| *own.borrow_mut() = Some(meters));
}

/// Does something of so many units in a stage, and goes back to the stage before. On a thread without meters of its own
/// nothing is measured.
pub fn during<T>(stage: Meter, units: u64, work: impl FnOnce() -> T) -> T {
    let before = enter(stage, None);
    let result = work();
    if let Some(before) = before {
        enter(before, Some((stage, units)));
    }
    result
}

/// The meters are not borrowed while the work runs, which may enter other stages.
fn enter(stage: Meter, done: Option<(Meter, u64)>) -> Option<Meter> {
    // A thread that is ending may have ended its meters already.
    OWN.try_with(|own| {
        let mut own = own.borrow_mut();
        let meters = own.as_mut()?;
        let before = meters.enter(stage);
        if let Some((stage, units)) = done {
            meters.batch(stage, units);
        }
        meters.publish();
        Some(before)
    })
    .ok()
    .flatten()
}
