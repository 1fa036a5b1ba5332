use std::net::IpAddr;

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use model::Nanos;

use super::*;
use crate::testkit::{START, basic_call, call_between, message};

#[path = "tshark_tests.rs"]
mod tshark;

/// One packet of a file: seconds, fraction, original length, frame.
type Packet = (u32, u32, u32, Vec<u8>);

pub(super) fn file_of(messages: &[CallMessage]) -> (Vec<u8>, PcapSummary) {
    let mut out = Vec::new();
    let summary = write(messages, &mut out).unwrap();
    assert_eq!(summary.bytes, out.len() as u64);
    (out, summary)
}

/// Reads a file back by the format's own rules.
fn packets(file: &[u8]) -> Vec<Packet> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    assert_eq!((word(4), word(16), word(20)), (0x0004_0002, 262_144, 1));
    let mut found = Vec::new();
    let mut at = 24;
    while at < file.len() {
        let captured = word(at + 8) as usize;
        let frame = file[at + 16..at + 16 + captured].to_vec();
        found.push((word(at), word(at + 4), word(at + 12), frame));
        at += 16 + captured;
    }
    found
}

fn large(message: &mut CallMessage, bytes: usize) {
    let head = String::from_utf8(message.payload.clone()).unwrap();
    let head = head.replace("Content-Length: 0\r\n", &format!("Content-Length: {bytes}\r\n"));
    message.payload = head.into_bytes();
    message.payload.resize(message.payload.len() + bytes, b'x');
}

#[test]
fn writes_udp_as_it_was() {
    let call = basic_call();
    let (file, summary) = file_of(&call);
    assert_eq!(file[..4], 0xa1b2_c3d4u32.to_le_bytes());
    assert_eq!(summary, PcapSummary { packets: 7, bytes: summary.bytes, ..Default::default() });
    for (message, (seconds, micros, original, frame)) in call.iter().zip(packets(&file)) {
        assert_eq!(i64::from(seconds) * 1_000_000 + i64::from(micros), message.time.micros());
        assert_eq!(original as usize, frame.len());
        let packet = SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(NetSlice::Ipv4(ip)) = &packet.net else { panic!("{packet:?}") };
        let header = ip.header();
        assert_eq!(Some(IpAddr::from(header.source())), message.src_ip);
        assert_eq!(Some(IpAddr::from(header.destination())), message.dst_ip);
        assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
        let Some(TransportSlice::Udp(udp)) = &packet.transport else { panic!("{packet:?}") };
        assert_eq!((udp.source_port(), udp.destination_port()), (message.src_port, message.dst_port));
        assert_eq!(udp.payload(), message.payload);
        let right = udp.to_header().calc_checksum_ipv4(&header.to_header(), udp.payload());
        assert_eq!(udp.checksum(), right.unwrap());
    }
}

#[test]
fn keeps_nanoseconds_when_there_are_some() {
    let mut one = message("10.0.0.1:5060", "10.0.0.2:5060").request("OPTIONS");
    one.time = Nanos(START + 789);
    let (file, _) = file_of(&[one]);
    assert_eq!(file[..4], 0xa1b2_3c4du32.to_le_bytes());
    let [(seconds, nanos, ..)] = packets(&file)[..] else { panic!() };
    assert_eq!(i64::from(seconds) * 1_000_000_000 + i64::from(nanos), START + 789);
}

#[test]
fn runs_tcp_sequence_numbers_in_both_directions() {
    let mut call = call_between("10.0.0.1:40000", "[::ffff:10.0.0.2]:5060");
    for message in &mut call {
        message.ip_proto = 6;
    }
    let (file, summary) = file_of(&call);
    assert_eq!(summary.mixed_families, 7);
    let mut next = [1u32, 1];
    for (message, (.., frame)) in call.iter().zip(packets(&file)) {
        let packet = SlicedPacket::from_ethernet(&frame).unwrap();
        let Some(TransportSlice::Tcp(tcp)) = &packet.transport else { panic!("{packet:?}") };
        let mine = usize::from(message.src_port == 5060);
        assert_eq!(tcp.sequence_number(), next[mine]);
        assert_eq!(tcp.acknowledgment_number(), next[1 - mine]);
        assert!(tcp.psh() && tcp.ack() && !tcp.syn());
        next[mine] += u32::try_from(message.payload.len()).unwrap();
    }
}

#[test]
fn leaves_a_gap_where_the_agent_cut_a_message() {
    let mut call: Vec<_> =
        ["INVITE", "BYE"].map(|method| message("10.0.0.1:40000", "10.0.0.2:5060").request(method)).into();
    large(&mut call[0], 500);
    let cut = call[0].payload.len() - 200;
    call[0].payload.truncate(cut);
    for message in &mut call {
        message.ip_proto = 6;
    }
    let (file, _) = file_of(&call);
    let sequences: Vec<u32> = packets(&file)
        .iter()
        .map(|(.., frame)| match SlicedPacket::from_ethernet(frame).unwrap().transport {
            Some(TransportSlice::Tcp(tcp)) => tcp.sequence_number(),
            other => panic!("{other:?}"),
        })
        .collect();
    let there = u32::try_from(call[0].payload.len()).unwrap();
    assert_eq!(sequences, [1, 1 + there + 200]);
}

#[test]
fn cuts_what_no_packet_can_hold() {
    let draft = |proto: u8, bytes: usize| {
        let mut one = message("10.0.0.1:5060", "10.0.0.2:5060").request("MESSAGE");
        one.ip_proto = proto;
        large(&mut one, bytes);
        one
    };
    let most = |proto: u8| file_of(&[draft(proto, 200_000)]);

    let (file, summary) = most(17);
    assert_eq!((summary.packets, summary.cut), (1, 1));
    let (_, _, original, frame) = &packets(&file)[0];
    assert_eq!(frame.len(), 14 + 65_535);
    assert_eq!(*original as usize, 14 + 28 + draft(17, 200_000).payload.len());

    let (file, summary) = most(6);
    assert_eq!((summary.packets, summary.cut), (4, 0));
    let bytes: usize = packets(&file).iter().map(|(.., frame)| frame.len() - 54).sum();
    assert_eq!(bytes, draft(6, 200_000).payload.len());

    let (file, summary) = most(132);
    assert_eq!((summary.packets, summary.cut), (4, 0));
    let flags: Vec<u8> = packets(&file).iter().map(|(.., frame)| frame[14 + 20 + 12 + 1]).collect();
    assert_eq!(flags, [0b10, 0, 0, 0b01]);
}

#[test]
fn counts_what_it_makes_up() {
    let any = || message("10.0.0.1:5060", "10.0.0.2:5060").request("INFO");
    let mut messages = [any(), any(), any(), any(), any()];
    messages[0].ip_proto = 0;
    messages[1].src_ip = None;
    messages[2].src_ip = Some("2001:db8::1".parse().unwrap());
    messages[3].time = Nanos(-5);
    messages[4].src_ip = None;
    messages[4].dst_ip = Some("2001:db8::2".parse().unwrap());
    let (file, summary) = file_of(&messages);
    assert_eq!(
        summary,
        PcapSummary {
            packets: 5,
            bytes: summary.bytes,
            as_udp: 1,
            without_address: 2,
            mixed_families: 1,
            cut: 0,
            time_out_of_range: 1,
        }
    );
    let frames = packets(&file);
    assert_eq!(frames[1].3[26..30], [0, 0, 0, 0]);
    assert_eq!(frames[3].0, 0);
    let packet = SlicedPacket::from_ethernet(&frames[2].3).unwrap();
    let Some(NetSlice::Ipv6(ip)) = &packet.net else { panic!("{packet:?}") };
    assert_eq!(ip.header().destination_addr().to_string(), "::ffff:10.0.0.2");
    let packet = SlicedPacket::from_ethernet(&frames[4].3).unwrap();
    let Some(NetSlice::Ipv6(ip)) = &packet.net else { panic!("{packet:?}") };
    assert!(ip.header().source_addr().is_unspecified());
}

#[test]
fn writes_the_vlan_tag() {
    let mut one = message("10.0.0.1:5060", "10.0.0.2:5060").request("OPTIONS");
    one.vlan = Some(0xf123);
    let (file, _) = file_of(&[one]);
    let packet = &packets(&file)[0].3;
    assert_eq!(packet[12..18], [0x81, 0x00, 0x01, 0x23, 0x08, 0x00]);
}

#[test]
fn a_udp_checksum_that_comes_to_zero_is_written_as_ones() {
    let mut one = message("[::1]:5060", "[::1]:5060").request("OPTIONS");
    for value in 0..=u16::MAX {
        one.payload = value.to_be_bytes().to_vec();
        let (file, _) = file_of(std::slice::from_ref(&one));
        assert_ne!(file[24 + 16 + 14 + 40 + 6..][..2], [0, 0]);
    }
}

#[test]
fn an_empty_call_is_an_empty_file() {
    let (file, summary) = file_of(&[]);
    assert_eq!((file.len(), summary.packets), (24, 0));
}

#[test]
fn a_full_disk_is_an_error() {
    let mut room = [0u8; 100];
    let error = write(&basic_call(), &mut room.as_mut_slice()).expect_err("100 bytes are too few");
    assert!(error.to_string().starts_with("the capture file cannot be written: "), "{error}");
}
