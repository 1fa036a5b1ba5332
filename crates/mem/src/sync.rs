//! The primitives that [`returns`](crate::returns) is built on; its loom test puts loom's in their place.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
