//! What a shard's loop costs over the bare kernel path: the same sockets, the same sender, a sink that
//! only counts, runs in turns (bare, shard, bare, shard...), medians.
//!
//! Two tables. The first runs sender and receiver at once, which is what counts and what a busy machine
//! disturbs. The second fills a socket's queue and then empties it: the receiver's processor time alone.
//!
//! `cargo run --release -p listen --example loop_ratio -- [ROUNDS] [MILLISECONDS] [LINGER_US] [CASE]`

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use listen::send::{self, Mode, Until};
use listen::{
    Frame, Gro, Origin, Shard, ShardConfig, Sink, Stop, TcpOptions, UdpOptions, bare, bind_tcp, bind_udp,
};
use mem::block::Shared;
use mem::pool::Pool;
use stats::{Board, Counter, DropReason, ShardCounters};

/// The size of the INVITE that all benchmarks use.
const MESSAGE: usize = 738;

#[derive(Default)]
struct Count {
    block: Option<Shared>,
    messages: u64,
    bytes: u64,
}

impl Sink for Count {
    fn block(&mut self, block: &Shared) {
        self.block = Some(block.clone());
    }
    fn message(&mut self, bytes: &[u8], _: &Origin, _: &mut ShardCounters) {
        self.messages += 1;
        self.bytes += bytes.len() as u64;
    }
    fn batch_end(&mut self, _: i64, _: &mut ShardCounters) {}
    fn release(&mut self, _: &mut ShardCounters) {
        self.block = None;
    }
}

/// HEP3's framing: a magic and a length in two bytes.
fn hep3(bytes: &[u8]) -> Frame {
    match bytes {
        [b'H', b'E', b'P', b'3', high, low, ..] => Frame::Len(u16::from_be_bytes([*high, *low]).into()),
        [_, _, _, _, _, _, ..] => Frame::Bad,
        _ => Frame::NeedMore,
    }
}

fn message() -> Vec<u8> {
    let mut message = b"HEP3".to_vec();
    message.extend_from_slice(&(MESSAGE as u16).to_be_bytes());
    message.resize(MESSAGE, b'x');
    message
}

#[derive(Clone, Copy)]
enum Case {
    Udp(Mode, bool),
    Tcp,
}

/// One run's result.
#[derive(Clone, Copy, Default)]
struct Run {
    rate: f64,
    cpu_ns: f64,
    drops: f64,
    reads: f64,
}

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let only = std::env::args().nth(4).unwrap_or_default();
    let mut args = args.by_ref().take(3).map(|arg| arg.parse::<u64>().expect("a number"));
    let rounds = args.next().unwrap_or(7) as usize;
    let length = Duration::from_millis(args.next().unwrap_or(1_000));
    let linger = Duration::from_micros(args.next().unwrap_or(0));
    let cases = [
        ("udp plain", Case::Udp(Mode::Plain, true)),
        ("udp sendmmsg", Case::Udp(Mode::Sendmmsg, true)),
        ("udp gso, gro", Case::Udp(Mode::Gso, true)),
        ("udp gso, no gro", Case::Udp(Mode::Gso, false)),
        ("tcp", Case::Tcp),
    ];
    println!(
        "{:16} {:>10} {:>10} {:>6}  {:>8} {:>8} {:>6}  {:>6} {:>6}  {:>6} {:>6}",
        "",
        "bare/s",
        "shard/s",
        "ratio",
        "bare ns",
        "shard ns",
        "ratio",
        "drop%",
        "drop%",
        "m/read",
        "m/read",
    );
    for (name, case) in cases.into_iter().filter(|(name, _)| name.starts_with(&only)) {
        let mut runs = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            runs[0].push(run(case, length, None)?);
            runs[1].push(run(case, length, Some(linger))?);
        }
        let [bare, shard] = runs.map(|of_kind| Run {
            rate: median(&of_kind, |run| run.rate),
            cpu_ns: median(&of_kind, |run| run.cpu_ns),
            drops: median(&of_kind, |run| run.drops),
            reads: median(&of_kind, |run| run.reads),
        });
        println!(
            "{name:16} {:>10.0} {:>10.0} {:>6.3}  {:>8.1} {:>8.1} {:>6.3}  {:>6.2} {:>6.2}  {:>6.1} {:>6.1}",
            bare.rate,
            shard.rate,
            shard.rate / bare.rate,
            bare.cpu_ns,
            shard.cpu_ns,
            shard.cpu_ns / bare.cpu_ns,
            bare.drops,
            shard.drops,
            bare.reads,
            shard.reads,
        );
    }
    println!("\n{:16} {:>8} {:>8} {:>6}   queue read to its end", "", "bare ns", "shard ns", "ratio");
    for (name, case) in cases.into_iter().filter(|(name, _)| name.starts_with(&only)) {
        let Case::Udp(mode, gro) = case else { continue };
        let mut runs = [Vec::new(), Vec::new()];
        for _ in 0..rounds * 3 {
            runs[0].push(empty(mode, gro, None)?);
            runs[1].push(empty(mode, gro, Some(linger))?);
        }
        let [bare, shard] = runs.map(|of_kind| median(&of_kind, |run| run.cpu_ns));
        println!("{name:16} {bare:>8.1} {shard:>8.1} {:>6.3}", shard / bare);
    }
    Ok(())
}

/// Fills a queue, then reads it to its end.
fn empty(mode: Mode, gro: bool, linger: Option<Duration>) -> std::io::Result<Run> {
    let gro = if gro { Gro::Exact } else { Gro::Off };
    let options = UdpOptions { gro, receive_buffer: 512 << 20, ..UdpOptions::default() };
    let socket = bind_udp("127.0.0.1:0".parse().expect("an address"), 1, &options)?.remove(0);
    let sent = send::udp(socket.local_addr(), &vec![message(); 64], mode, &Until::Count(50_000))?;
    let stop = Stop::new()?;
    let asked = stop.clone();
    let receiver = std::thread::spawn(move || match linger {
        None => {
            let before = cpu_ns();
            let count = bare::udp(&socket, &asked)?;
            Ok::<_, std::io::Error>((count.datagrams, cpu_ns() - before))
        }
        Some(linger) => {
            asked.set();
            let before = cpu_ns();
            let (messages, ..) = shard(linger, &asked, |shard| shard.add_udp(socket))?;
            Ok((messages, cpu_ns() - before))
        }
    });
    if linger.is_none() {
        std::thread::sleep(Duration::from_millis(400));
        stop.set();
    }
    let (messages, cpu) = receiver.join().expect("the receiver does not panic")?;
    assert_eq!(messages, sent, "the queue holds all of it");
    Ok(Run { cpu_ns: cpu as f64 / messages as f64, ..Run::default() })
}

fn median(runs: &[Run], figure: fn(&Run) -> f64) -> f64 {
    let mut figures: Vec<f64> = runs.iter().map(figure).collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Receives for `length`; through a shard when there is a `linger`.
fn run(case: Case, length: Duration, linger: Option<Duration>) -> std::io::Result<Run> {
    let (enough, stop) = (Stop::new()?, Stop::new()?);
    let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    let receiver: std::thread::JoinHandle<std::io::Result<(u64, u64, u64, u64)>>;
    let addr;
    let asked = stop.clone();
    match case {
        Case::Udp(_, gro) => {
            let gro = if gro { Gro::Exact } else { Gro::Off };
            let mut sockets = bind_udp(any, 1, &UdpOptions { gro, ..UdpOptions::default() })?;
            let socket = sockets.remove(0);
            addr = socket.local_addr();
            receiver = std::thread::spawn(move || match linger {
                None => {
                    let count = bare::udp(&socket, &asked)?;
                    Ok((count.datagrams, count.kernel_drops, count.reads, cpu_ns()))
                }
                Some(linger) => shard(linger, &asked, |shard| shard.add_udp(socket)),
            });
        }
        Case::Tcp => {
            let listener = bind_tcp(any, 1, &TcpOptions::default())?.remove(0);
            addr = listener.local_addr();
            receiver = std::thread::spawn(move || match linger {
                None => {
                    let count = bare::tcp(&listener, &asked)?;
                    Ok((count.bytes / MESSAGE as u64, 0, count.reads, cpu_ns()))
                }
                Some(linger) => shard(linger, &asked, |shard| shard.add_tcp(listener)),
            });
        }
    }
    let until = Until::Stop(enough.clone());
    let sender = std::thread::spawn(move || match case {
        Case::Udp(mode, _) => send::udp(addr, &vec![message(); 64], mode, &until),
        Case::Tcp => send::tcp(addr, &message().repeat(89), &until),
    });
    let start = Instant::now();
    std::thread::sleep(length);
    stop.set();
    let took = start.elapsed().as_secs_f64();
    let (messages, drops, reads, cpu) = receiver.join().expect("the receiver does not panic")?;
    enough.set();
    // The receiver is gone, so the sender may see a refusal.
    let _ = sender.join().expect("the sender does not panic");
    Ok(Run {
        rate: messages as f64 / took,
        cpu_ns: cpu as f64 / messages as f64,
        drops: 100.0 * drops as f64 / (messages + drops) as f64,
        reads: messages as f64 / reads as f64,
    })
}

fn shard(
    linger: Duration,
    stop: &Stop,
    add: impl FnOnce(&mut Shard) -> std::io::Result<()>,
) -> std::io::Result<(u64, u64, u64, u64)> {
    let config = ShardConfig { linger, ..ShardConfig::new(hep3) };
    let mut shard = Shard::new(config, Pool::new(1 << 20, 64), Board::default().shard())?;
    add(&mut shard)?;
    let mut sink = Count::default();
    shard.run(&mut sink, stop)?;
    let counters = shard.counters();
    let drops = counters.dropped(DropReason::KernelBuffer);
    let reads = counters.value(Counter::UdpReads) + counters.value(Counter::TcpReads);
    assert_eq!(sink.bytes, sink.messages * MESSAGE as u64);
    Ok((sink.messages, drops, reads, cpu_ns()))
}

/// The processor time of this thread.
fn cpu_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}
