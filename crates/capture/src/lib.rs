//! Sources of frames: live interfaces, pcap and pcapng files, standard input.

pub mod file;
