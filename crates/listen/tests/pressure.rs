//! Memory that runs out, and the end of a shard under load.

mod common;

use std::io::Write;
use std::net::TcpStream;
use std::sync::mpsc;
use std::time::Duration;

use common::{Collect, Running, config, frame, loopback};
use listen::send::{self, Mode, Until};
use listen::{ShardConfig, Stop, TcpOptions, UdpOptions, bind_tcp, bind_udp};
use mem::pool::Pool;
use stats::{Counter, DropReason};

/// A pool of two blocks, and a sink whose blocks stay away for a while.
fn short_of_memory(away: Duration) -> (Pool, Collect) {
    let (holder, held) = mpsc::channel();
    std::thread::spawn(move || {
        while let Ok(block) = held.recv() {
            std::thread::sleep(away);
            drop(block);
        }
    });
    (Pool::new(256 * 1024, 2), Collect { holder: Some(holder), ..Collect::default() })
}

#[test]
fn tcp_waits_for_memory_and_loses_nothing() {
    let (pool, sink) = short_of_memory(Duration::from_millis(5));
    let listeners = bind_tcp(loopback(false), 1, &TcpOptions::default()).unwrap();
    let addr = listeners[0].local_addr();
    let running = Running::start(config(), pool, vec![], listeners, sink);
    let frames: Vec<Vec<u8>> = (0..20_000u32).map(|n| frame(&n.to_be_bytes().repeat(100))).collect();
    send::tcp(addr, &frames.concat(), &Until::Count(1)).unwrap();
    running.wait_for(20_000);
    let ended = running.finish();
    assert!(ended.sink.bodies().eq(frames.iter()));
    assert!(ended.value(Counter::BlockWaits) > 0);
    assert!(ended.sink.releases > 0);
    assert_eq!(ended.shard.pool().allocated(), 2);
}

#[test]
fn udp_counts_what_the_kernel_drops_while_memory_is_short() {
    let (pool, sink) = short_of_memory(Duration::from_millis(20));
    let options = UdpOptions { receive_buffer: 128 * 1024, ..UdpOptions::default() };
    let sockets = bind_udp(loopback(false), 1, &options).unwrap();
    let addr = sockets[0].local_addr();
    let running = Running::start(config(), pool, sockets, vec![], sink);
    let sent = send::udp(addr, &[vec![1; 738]], Mode::Plain, &Until::Count(60_000)).unwrap();
    // The drops are told while the shard still waits or works, not only at its end.
    running.wait_until(|running| running.board.totals().dropped(DropReason::KernelBuffer) > 0);
    let ended = running.finish();
    let arrived = ended.sink.messages.len() as u64;
    let dropped = ended.dropped(DropReason::KernelBuffer) + ended.dropped(DropReason::Stopping);
    assert_eq!(arrived + dropped, sent);
    assert!(ended.value(Counter::BlockWaits) > 0);
}

#[test]
fn memory_that_never_comes_back_ends_the_drain_in_time_and_in_the_books() {
    let (holder, held) = mpsc::channel();
    let sink = Collect { holder: Some(holder), ..Collect::default() };
    let sockets = bind_udp(loopback(false), 1, &UdpOptions::default()).unwrap();
    let addr = sockets[0].local_addr();
    let config = ShardConfig { drain: Duration::from_millis(300), ..config() };
    let running = Running::start(config, Pool::new(256 * 1024, 2), sockets, vec![], sink);
    let sent = send::udp(addr, &[vec![1; 1_000]], Mode::Plain, &Until::Count(3_000)).unwrap();
    running.wait_until(|running| running.board.totals().get(Counter::BlockWaits) > 0);
    let ended = running.finish();
    drop(held);
    assert!(ended.took >= Duration::from_millis(300) && ended.took < Duration::from_secs(2));
    assert!(ended.dropped(DropReason::Abandoned) > 2_000);
    assert_eq!(ended.sink.messages.len() as u64 + ended.dropped(DropReason::Abandoned), sent);
}

#[test]
fn what_the_kernel_has_received_is_read_after_the_stop() {
    for mode in [Mode::Plain, Mode::Gso] {
        let udp = bind_udp(loopback(false), 1, &UdpOptions::default()).unwrap();
        let tcp = bind_tcp(loopback(false), 1, &TcpOptions::default()).unwrap();
        let (udp_addr, tcp_addr) = (udp[0].local_addr(), tcp[0].local_addr());
        // Everything is in the kernel before the shard looks for the first time: also connections that
        // nobody accepted yet.
        let sent = send::udp(udp_addr, &vec![vec![7; 700]; 64], mode, &Until::Count(2_000)).unwrap();
        let streams: Vec<TcpStream> = (0..10)
            .map(|n| {
                let mut stream = TcpStream::connect(tcp_addr).unwrap();
                stream.write_all(&frame(&[n; 10_000])).unwrap();
                stream.write_all(&frame(&[n; 500])[..100]).unwrap();
                stream
            })
            .collect();
        let stop = Stop::new().unwrap();
        stop.set();
        let running = Running::start(config(), common::pool(), udp, tcp, Collect::default());
        let ended = running.finish();
        drop(streams);
        assert_eq!(ended.value(Counter::UdpDatagrams), sent);
        assert_eq!(ended.sink.messages.len() as u64, sent + 10);
        assert_eq!(ended.dropped(DropReason::FrameIncomplete), 10);
        assert!(ended.took < Duration::from_secs(1));
    }
}

/// The drops of the socket with this port, as `/proc/net/udp` has them.
fn drops_outside(port: u16) -> u64 {
    let table = std::fs::read_to_string("/proc/net/udp").unwrap();
    let of_port = format!(":{port:04X}");
    let mut lines = table.lines().map(str::split_whitespace);
    let line = lines.find(|line| line.clone().nth(1).is_some_and(|at| at.ends_with(&of_port)));
    line.and_then(Iterator::last).unwrap().parse().unwrap()
}

#[test]
fn a_stop_under_load_loses_nothing_uncounted() {
    let sockets = bind_udp(loopback(false), 1, &UdpOptions::default()).unwrap();
    let addr = sockets[0].local_addr();
    let running = Running::start(config(), common::pool(), sockets, vec![], Collect::default());
    let enough = Stop::new().unwrap();
    let until = Until::Stop(enough.clone());
    let sender = std::thread::spawn(move || send::udp(addr, &[vec![1; 738]], Mode::Plain, &until));
    running.wait_for(10_000);
    // The sender goes on while the shard drains. The shard's sockets stay open as long as it lives.
    let ended = running.finish();
    enough.set();
    let sent = sender.join().unwrap().unwrap();
    assert!(ended.took < Duration::from_secs(1));
    assert_eq!(ended.dropped(DropReason::Abandoned), 0);
    assert_eq!(ended.sink.messages.len() as u64 + drops_outside(addr.port()), sent);
}
