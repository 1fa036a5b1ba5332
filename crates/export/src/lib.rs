//! Calls leave the lake: analysed, drawn, or as a capture file.
//!
//! In: the messages of a call, oldest first, as the lake returned them. Out: a summary ([`call`]),
//! a ladder for a terminal ([`ladder`]), a file for Wireshark ([`pcap`]). Nothing is owned between
//! calls and nothing is read but the arguments, so the same messages give the same bytes. Memory is
//! bounded by the messages handed in plus one packet; what a file format cannot hold is cut and
//! counted in the result, never dropped.

#![forbid(unsafe_code)]

pub mod call;
pub mod ladder;
pub mod pcap;
pub mod rows;

#[cfg(test)]
mod testkit;
