//! Streams over loopback: frames whatever the cuts, and what becomes of peers that misbehave.

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use common::{Collect, Running, config, frame, loopback, noise, pool};
use listen::{ShardConfig, TcpOptions, Transport, bind_tcp};
use stats::{Counter, DropReason};

fn start(v6: bool, config: ShardConfig) -> (Running, SocketAddr) {
    let listeners = bind_tcp(loopback(v6), 1, &TcpOptions::default()).unwrap();
    let addr = listeners[0].local_addr();
    (Running::start(config, pool(), vec![], listeners, Collect::default()), addr)
}

fn connect(addr: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(addr).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Whether the other side ended the connection, with or without a reset.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    match stream.read(&mut [0]) {
        Ok(0) => true,
        Ok(_) => false,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

#[test]
fn frames_of_all_sizes_cut_anywhere_arrive_in_order() {
    let mut next = noise(3);
    let frames: Vec<Vec<u8>> = (0..100_000u32)
        .map(|number| {
            let size = match next() % 1_000 {
                0 => next() % 90_000,
                1..100 => next() % 4_000,
                _ => next() % 900,
            };
            let mut body = number.to_be_bytes().to_vec();
            body.resize_with(size as usize + 4, || next() as u8);
            frame(&body)
        })
        .collect();
    let stream_bytes: Vec<u8> = frames.concat();
    for v6 in [false, true] {
        let (running, addr) = start(v6, config());
        let mut stream = connect(addr);
        let mut rest = stream_bytes.as_slice();
        while !rest.is_empty() {
            let cut = match next() % 8 {
                0 => next() % 7 + 1,
                1..5 => next() % 3_000 + 1,
                _ => next() % 300_000 + 1,
            };
            let (now, later) = rest.split_at(rest.len().min(cut as usize));
            stream.write_all(now).unwrap();
            rest = later;
        }
        drop(stream);
        running.wait_for(frames.len() as u64);
        let ended = running.finish();
        assert!(ended.sink.bodies().eq(frames.iter()), "frames differ");
        assert_eq!(ended.value(Counter::TcpBytes), stream_bytes.len() as u64);
        assert_eq!(ended.value(Counter::TcpFrames), 100_000);
        assert_eq!(ended.value(Counter::TcpDiscardedBytes), 0);
        let (peer, transport, _) = &ended.sink.messages[0];
        assert_eq!((peer.ip(), *transport), (addr.ip(), Transport::Tcp));
    }
}

#[test]
fn connections_that_take_turns_keep_their_frames_apart() {
    let (running, addr) = start(false, config());
    let mut streams: Vec<TcpStream> = (0..40).map(|_| connect(addr)).collect();
    let mut next = noise(11);
    let contents: Vec<Vec<u8>> = (0..40u8)
        .map(|who| (0..50).flat_map(|_| frame(&vec![who; next() as usize % 20_000])).collect())
        .collect();
    let mut at = [0; 40];
    while at.iter().zip(&contents).any(|(at, content)| *at < content.len()) {
        let who = next() as usize % 40;
        let end = contents[who].len().min(at[who] + next() as usize % 30_000);
        streams[who].write_all(&contents[who][at[who]..end]).unwrap();
        at[who] = end;
    }
    running.wait_for(40 * 50);
    let ended = running.finish();
    for (who, content) in contents.iter().enumerate() {
        let of_one: Vec<u8> = (ended.sink.messages.iter())
            .filter(|(peer, ..)| *peer == streams[who].local_addr().unwrap())
            .flat_map(|(.., bytes)| bytes.clone())
            .collect();
        assert_eq!(&of_one, content);
    }
}

#[test]
fn single_bytes_cost_no_memory_and_one_copy() {
    let (running, addr) = start(false, config());
    let mut stream = connect(addr);
    let bytes: Vec<u8> = (0..20).flat_map(|n| frame(&[n; 200])).collect();
    for byte in &bytes {
        stream.write_all(&[*byte]).unwrap();
        if byte % 4 == 0 {
            // Let it arrive alone.
            std::thread::sleep(Duration::from_micros(200));
        }
    }
    running.wait_for(20);
    let ended = running.finish();
    assert_eq!(ended.sink.bodies().flatten().copied().collect::<Vec<_>>(), bytes);
    assert_eq!(ended.shard.pool().allocated(), 1);
    assert!(ended.value(Counter::TcpCopiedBytes) < 3 * bytes.len() as u64);
}

#[test]
fn bad_framing_closes_that_connection_only() {
    let (running, addr) = start(false, config());
    let (mut good, mut bad) = (connect(addr), connect(addr));
    good.write_all(&frame(b"first")[..5]).unwrap();
    bad.write_all(&[frame(b"fine"), b"GET / HTTP/1.1\r\n\r\n".to_vec()].concat()).unwrap();
    assert!(is_closed(&mut bad));
    good.write_all(&frame(b"first")[5..]).unwrap();
    good.write_all(&frame(b"second")).unwrap();
    running.wait_for(3);
    let ended = running.finish();
    assert!(ended.sink.bodies().eq([frame(b"fine"), frame(b"first"), frame(b"second")]));
    assert_eq!(ended.dropped(DropReason::BadFraming), 1);
    assert_eq!(ended.dropped(DropReason::FrameIncomplete), 0);
    assert_eq!(ended.value(Counter::TcpDiscardedBytes), 18);
    assert_eq!(ended.value(Counter::TcpFrames), 4);
}

#[test]
fn frames_that_are_too_long_or_of_no_length_are_bad() {
    let limit = ShardConfig { max_frame: 1_000, ..config() };
    for announced in [0u32, 3, 1_001, 100_000, u32::MAX] {
        let (running, addr) = start(false, limit.clone());
        let mut stream = connect(addr);
        stream.write_all(&announced.to_be_bytes()).unwrap();
        assert!(is_closed(&mut stream), "{announced}");
        assert_eq!(running.finish().dropped(DropReason::BadFraming), 1);
    }
}

#[test]
fn a_connection_that_ends_inside_a_frame_is_counted() {
    for cut in [1, 4, 5, 60_000] {
        let (running, addr) = start(false, config());
        let mut stream = connect(addr);
        let whole = frame(&[9; 80_000]);
        stream.write_all(&[&whole[..], &whole[..cut]].concat()).unwrap();
        drop(stream);
        running.wait_until(|running| running.board.totals().get(Counter::TcpClosed) == 1);
        let ended = running.finish();
        assert_eq!(ended.sink.messages.len(), 1);
        assert_eq!(ended.dropped(DropReason::FrameIncomplete), 1, "cut at {cut}");
        assert_eq!(ended.value(Counter::TcpDiscardedBytes), cut as u64);
    }
}

#[test]
fn connections_beyond_the_limit_are_closed_and_counted() {
    let (running, addr) = start(false, ShardConfig { max_connections: 2, ..config() });
    let mut first = connect(addr);
    let _second = connect(addr);
    running.wait_until(|running| running.board.totals().get(Counter::TcpAccepted) == 2);
    let mut third = connect(addr);
    assert!(is_closed(&mut third));
    first.write_all(&frame(b"still served")).unwrap();
    running.wait_for(1);
    let ended = running.finish();
    assert_eq!(ended.dropped(DropReason::ConnectionLimit), 1);
    assert_eq!(ended.value(Counter::TcpAccepted), 3);
}

#[test]
fn silence_ends_a_connection_only_where_a_limit_says_so() {
    let limits = ShardConfig { partial_timeout: Duration::from_secs(1), ..config() };
    let (running, addr) = start(false, limits);
    let (mut idle, mut partial) = (connect(addr), connect(addr));
    partial.write_all(&frame(b"half of it")[..7]).unwrap();
    assert!(is_closed(&mut partial));
    idle.write_all(&frame(b"between frames one may be silent")).unwrap();
    running.wait_for(1);
    let ended = running.finish();
    assert_eq!(ended.dropped(DropReason::FrameIncomplete), 1);
    assert_eq!(ended.value(Counter::TcpDiscardedBytes), 7);
}
