//! The flow table: fragments, TCP reassembly, timers.
#![forbid(unsafe_code)]
