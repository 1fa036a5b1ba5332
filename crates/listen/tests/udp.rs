//! Datagrams over loopback: content, count, coalescing, spreading and losses to the packet.

mod common;

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::time::Duration;

use common::{Collect, Running, config, loopback, noise, pool};
use listen::send::{self, Mode, Until};
use listen::{Gro, ShardConfig, TcpOptions, Transport, UdpOptions, bind_tcp, bind_udp};
use stats::{Counter, DropReason};

/// Packets of one size, each with its number in front.
fn numbered(count: u32, size: usize) -> Vec<Vec<u8>> {
    let mut next = noise(7);
    (0..count)
        .map(|number| {
            let mut packet = number.to_be_bytes().to_vec();
            packet.resize_with(size, || next() as u8);
            packet
        })
        .collect()
}

fn sorted(mut packets: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    packets.sort_unstable();
    packets
}

#[test]
fn every_datagram_arrives_once_with_its_bytes_and_its_sender() {
    for v6 in [false, true] {
        for mode in [Mode::Plain, Mode::Sendmmsg] {
            let sockets = bind_udp(loopback(v6), 1, &UdpOptions::default()).unwrap();
            let addr = sockets[0].local_addr();
            let running = Running::start(config(), pool(), sockets, vec![], Collect::default());
            let packets = numbered(2_000, 738);
            let sent = send::udp(addr, &packets, mode, &Until::Count(2_000)).unwrap();
            running.wait_for(sent);
            let ended = running.finish();
            assert_eq!(ended.sink.bodies().map(<[u8]>::to_vec).collect::<Vec<_>>(), packets);
            for (peer, transport, _) in &ended.sink.messages {
                assert_eq!((peer.ip(), *transport), (addr.ip(), Transport::Udp));
                assert_ne!(peer.port(), addr.port());
            }
            assert_eq!(ended.value(Counter::UdpBytes), 2_000 * 738);
            assert_eq!(ended.value(Counter::UdpCoalesced), 0);
        }
    }
}

#[test]
fn coalesced_datagrams_are_split_where_their_sender_cut_them() {
    // 10,007 packets: the last buffer holds fewer than the others.
    for (size, gro) in [(738, Gro::Exact), (100, Gro::Exact), (1_400, Gro::Always), (738, Gro::Off)] {
        let options = UdpOptions { gro, ..UdpOptions::default() };
        let sockets = bind_udp(loopback(false), 1, &options).unwrap();
        // Not without a privilege, where drops could not be counted.
        let coalesces = sockets[0].gro();
        let addr = sockets[0].local_addr();
        let running = Running::start(config(), pool(), sockets, vec![], Collect::default());
        let packets = numbered(10_007, size);
        let mut sent = 0;
        // In portions that the smallest usual receive buffer holds.
        for portion in packets.chunks(1_000) {
            let count = Until::Count(portion.len() as u64);
            sent += send::udp(addr, portion, Mode::Gso, &count).unwrap();
            running.wait_for(sent);
        }
        let ended = running.finish();
        assert_eq!(ended.value(Counter::UdpCoalesced) > 0, coalesces);
        let got = ended.sink.bodies().map(<[u8]>::to_vec).collect();
        assert_eq!(sorted(got), sorted(packets), "size {size}, {gro:?}");
    }
}

#[test]
fn sizes_from_nothing_to_the_largest_arrive_whole() {
    let sockets = bind_udp(loopback(false), 1, &UdpOptions::default()).unwrap();
    let addr = sockets[0].local_addr();
    let running = Running::start(config(), pool(), sockets, vec![], Collect::default());
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let sizes = [0, 1, 12, 13, 1_472, 9_000, 40_000, 65_507, 65_507, 65_507, 0, 65_507, 5];
    let packets: Vec<Vec<u8>> = sizes.iter().map(|size| vec![*size as u8; *size]).collect();
    for packet in packets.iter().cycle().take(packets.len() * 20) {
        sender.send_to(packet, addr).unwrap();
    }
    running.wait_for(packets.len() as u64 * 20);
    let ended = running.finish();
    assert!(ended.sink.bodies().eq(packets.iter().cycle().take(packets.len() * 20)));
}

#[test]
fn a_dual_stack_socket_shows_ipv4_peers_as_ipv4() {
    let sockets = bind_udp("[::]:0".parse().unwrap(), 1, &UdpOptions::default()).unwrap();
    let port = sockets[0].local_addr().port();
    let running = Running::start(config(), pool(), sockets, vec![], Collect::default());
    for (from, to) in [("127.0.0.1:0", "127.0.0.1"), ("[::1]:0", "::1")] {
        let sender = UdpSocket::bind(from).unwrap();
        sender.send_to(b"x", (to, port)).unwrap();
    }
    running.wait_for(2);
    let peers: Vec<String> =
        running.finish().sink.messages.iter().map(|(peer, ..)| peer.ip().to_string()).collect();
    assert_eq!(peers, ["127.0.0.1", "::1"]);
}

#[test]
fn overflow_is_counted_to_the_packet() {
    let options = UdpOptions { receive_buffer: 16 * 1024, ..UdpOptions::default() };
    for (mode, gro) in [
        (Mode::Plain, Gro::Exact),
        (Mode::Sendmmsg, Gro::Off),
        (Mode::Gso, Gro::Off),
        (Mode::Gso, Gro::Exact),
    ] {
        let sockets = bind_udp(loopback(false), 1, &UdpOptions { gro, ..options.clone() }).unwrap();
        assert!(sockets[0].grant().given < 64 * 1024);
        let addr = sockets[0].local_addr();
        let sink = Collect { slowness: Duration::from_micros(200), ..Collect::default() };
        let running = Running::start(config(), pool(), sockets, vec![], sink);
        let sent = send::udp(addr, &numbered(97, 738), mode, &Until::Count(20_000)).unwrap();
        // Exact soon after the storm, without an end.
        running.wait_until(|running| {
            let dropped = running.board.totals().dropped(DropReason::KernelBuffer);
            assert!(running.seen() + dropped <= sent, "{mode:?}: more than was sent");
            running.seen() + dropped == sent
        });
        let ended = running.finish();
        let dropped = ended.dropped(DropReason::KernelBuffer);
        assert!(dropped > 0);
        assert_eq!(ended.sink.messages.len() as u64 + dropped, sent, "{mode:?}");
        assert_eq!(ended.dropped(DropReason::Stopping), 0);
    }
}

#[test]
fn one_sender_reaches_every_socket_of_the_group() {
    let sockets = bind_udp(loopback(true), 4, &UdpOptions::default()).unwrap();
    let addr = sockets[0].local_addr();
    assert!(sockets.iter().all(|socket| socket.local_addr() == addr));
    let shards: Vec<Running> = sockets
        .into_iter()
        .map(|socket| Running::start(config(), pool(), vec![socket], vec![], Collect::default()))
        .collect();
    let sent = send::udp(addr, &numbered(400, 100), Mode::Plain, &Until::Count(4_000)).unwrap();
    shards[0].wait_until(|_| shards.iter().map(Running::seen).sum::<u64>() == sent);
    for shard in shards {
        let share = shard.finish().sink.messages.len();
        assert!((700..1_300).contains(&share), "one of four shards got {share} of 4,000");
    }
}

#[test]
fn a_second_program_on_the_same_port_is_told_so() {
    let options = UdpOptions::default();
    for v6 in [false, true] {
        let first = bind_udp(loopback(v6), 2, &options).unwrap();
        let addr = first[0].local_addr();
        assert_eq!(bind_udp(addr, 2, &options).unwrap_err().kind(), ErrorKind::AddrInUse);
        assert!(bind_udp(addr, 1, &UdpOptions { shared: true, ..options.clone() }).is_ok());
        let first = bind_tcp(loopback(v6), 2, &TcpOptions::default()).unwrap();
        let error = bind_tcp(first[0].local_addr(), 1, &TcpOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
    }
}

#[test]
fn lingering_changes_nothing_but_the_size_of_batches() {
    let sockets = bind_udp(loopback(false), 1, &UdpOptions::default()).unwrap();
    let addr = sockets[0].local_addr();
    let config = ShardConfig { linger: Duration::from_micros(200), ..config() };
    let running = Running::start(config, pool(), sockets, vec![], Collect::default());
    let packets = numbered(20_000, 200);
    send::udp(addr, &packets, Mode::Plain, &Until::Count(20_000)).unwrap();
    running.wait_for(20_000);
    let ended = running.finish();
    assert!(ended.sink.bodies().eq(packets.iter()));
    assert!(ended.value(Counter::UdpReads) < 10_000);
}
