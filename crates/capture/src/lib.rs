//! Sources of frames: live interfaces, pcap and pcapng files, standard input.
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod file;
pub mod filter;
pub mod ifaces;
pub mod live;
pub mod privileges;

#[allow(unsafe_code)]
mod sys;
