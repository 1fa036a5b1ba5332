//! The words every stage shares: time, tables, messages of a call.
//!
//! In: nothing. Out: types that own their data, and one definition per table, from which the Arrow
//! schema, the JSON names and the documentation come.

#![forbid(unsafe_code)]

pub mod call;
pub mod flow;
pub mod frame;
pub mod table;
pub mod time;

pub use call::{CallMessage, Media};
pub use flow::{Arrival, Dir, Endpoint, FiveTuple, Heard, Transport};
pub use frame::{Frame, LinkType};
pub use table::{Column, Kind, Table};
pub use time::Nanos;
