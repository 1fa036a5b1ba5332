//! What many silent connections cost. A program of its own, so that nothing else moves its memory.

mod common;

use std::io::Write;
use std::net::TcpStream;

use common::{Collect, Running, config, frame, loopback, pool};
use listen::{ShardConfig, TcpOptions, bind_tcp};
use stats::Counter;

#[test]
fn ten_thousand_silent_connections_cost_little_memory() {
    let resident = || {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    };
    // Each has two descriptors here, one at either end; the limit may allow fewer.
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let most: u64 = line.split_whitespace().nth(3).unwrap().parse().unwrap_or(1 << 20);
    let count = (most / 2).saturating_sub(200).min(10_000);
    let listeners = bind_tcp(loopback(false), 1, &TcpOptions::default()).unwrap();
    let addr = listeners[0].local_addr();
    let limits = ShardConfig { max_connections: 10_000, ..config() };
    let running = Running::start(limits, pool(), vec![], listeners, Collect::default());
    let before = resident();
    let mut streams: Vec<TcpStream> = (0..count).map(|_| TcpStream::connect(addr).unwrap()).collect();
    // Half of them announce a large frame and send no more of it.
    for stream in streams.iter_mut().step_by(2) {
        stream.write_all(&frame(&[0; 90_000])[..10]).unwrap();
    }
    running.wait_until(|running| running.board.totals().get(Counter::TcpBytes) == count.div_ceil(2) * 10);
    let each = resident().saturating_sub(before) / count;
    assert!(each < 1_024, "{each} bytes for each connection");
    streams[1].write_all(&frame(b"and all are served")).unwrap();
    running.wait_for(1);
    running.finish();
}
