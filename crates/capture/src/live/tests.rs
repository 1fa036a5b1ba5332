//! Against the kernel of this machine, in a network namespace of each test's own.

use std::collections::HashMap;
use std::net::UdpSocket;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Command;
use std::time::Duration;

use model::LinkType;

use super::*;
use crate::privileges::has_net_raw;
use crate::sys::{self, testing};

/// Runs a test in a network of its own, which goes with the thread; skips it without the right to.
fn in_own_network(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::spawn(|| {
        if !has_net_raw() || testing::own_network().is_err() || !ip("link set lo up") {
            println!("skipped: needs CAP_NET_RAW, CAP_SYS_ADMIN and ip(8)");
            return;
        }
        test();
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn ip(arguments: &str) -> bool {
    Command::new("ip").args(arguments.split(' ')).status().is_ok_and(|status| status.success())
}

fn small(interfaces: &[&str]) -> LiveOptions<'static> {
    LiveOptions {
        interfaces: interfaces.iter().map(|&name| name.to_owned()).collect(),
        ring_bytes: 4 << 20,
        block_bytes: 1 << 16,
        retire: Duration::from_millis(5),
        ..LiveOptions::default()
    }
}

/// What a test looks at of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    link: LinkType,
    vlan: Option<u16>,
    wire_len: u32,
    bytes: Vec<u8>,
}

/// The frames that end in one of the test's payloads, after those that were sent have had time to come.
fn seen(live: &mut Live) -> Vec<Seen> {
    let mut all = Vec::new();
    let mut quiet = 0;
    // The kernel hands a block over within a few of its 5 ms; this many empty turns are longer than that.
    while quiet < 5 {
        let before = all.len();
        live.poll(Duration::from_millis(20), &mut |frame| {
            if frame.bytes.windows(4).any(|window| window == MARK) {
                assert!(frame.time.0 > 1_700_000_000_000_000_000);
                all.push(Seen {
                    link: frame.link,
                    vlan: frame.vlan,
                    wire_len: frame.wire_len,
                    bytes: frame.bytes.to_vec(),
                });
            }
        })
        .unwrap();
        quiet = if all.len() == before { quiet + 1 } else { 0 };
    }
    all
}

const MARK: &[u8] = b"WLTS";

/// A payload with a number, and the number of a frame.
fn payload(number: u32) -> [u8; 8] {
    let [a, b, c, d] = number.to_be_bytes();
    [b'W', b'L', b'T', b'S', a, b, c, d]
}

fn numbers(seen: &[Seen]) -> Vec<u32> {
    let number = |s: &Seen| {
        let at = s.bytes.windows(4).position(|window| window == MARK).unwrap();
        u32::from_be_bytes(s.bytes[at + 4..at + 8].try_into().unwrap())
    };
    seen.iter().map(number).collect()
}

/// An Ethernet frame of IPv4 and UDP, with a tag in its bytes when asked for.
fn frame(tag: Option<u16>, port: u16, number: u32) -> Vec<u8> {
    let mut frame = vec![0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 9];
    if let Some(tag) = tag {
        frame.extend([0x81, 0]);
        frame.extend(tag.to_be_bytes());
    }
    frame.extend([8, 0, 0x45, 0, 0, 36, 0, 1, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    frame.extend(port.to_be_bytes());
    frame.extend([0, 99, 0, 16, 0, 0]);
    frame.extend(payload(number));
    frame
}

struct Wire {
    fd: OwnedFd,
}

impl Wire {
    /// Two interfaces, `v0` and `v1`, with a wire between them.
    fn new() -> Self {
        assert!(ip("link add v0 type veth peer name v1") && ip("link set v0 up") && ip("link set v1 up"));
        Self { fd: sys::socket::packet_socket().unwrap() }
    }
    fn send(&self, from: &str, frame: &[u8]) {
        let index = sys::ifaces::index(self.fd.as_fd(), from).unwrap();
        testing::send_frame(self.fd.as_fd(), index, frame).unwrap();
    }
}

fn udp_pair() -> (UdpSocket, UdpSocket) {
    let (a, b) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    a.connect(b.local_addr().unwrap()).unwrap();
    b.connect(a.local_addr().unwrap()).unwrap();
    (a, b)
}

#[test]
fn loopback_gives_each_packet_once() {
    in_own_network(|| {
        for names in [&["lo"][..], &[]] {
            let mut live = Live::open(&small(names)).unwrap();
            let (a, _b) = udp_pair();
            for number in 0..500 {
                a.send(&payload(number)).unwrap();
            }
            let all = seen(&mut live);
            assert_eq!(numbers(&all), (0..500).collect::<Vec<_>>(), "{names:?}");
            assert!(all.iter().all(|s| s.link == LinkType::Ethernet && s.wire_len as usize == s.bytes.len()));
            assert_eq!(live.drops(), Drops::default());
        }
    });
}

#[test]
fn a_wire_gives_what_is_sent_and_what_is_received() {
    in_own_network(|| {
        let wire = Wire::new();
        let mut one = Live::open(&small(&["v0"])).unwrap();
        let mut two = Live::open(&small(&["v0", "v1"])).unwrap();
        let mut any = Live::open(&small(&[])).unwrap();
        for number in 0..200 {
            wire.send(if number % 2 == 0 { "v0" } else { "v1" }, &frame(None, 7, number));
        }
        assert_eq!(numbers(&seen(&mut one)), (0..200).collect::<Vec<_>>());
        // Once for each interface.
        for live in [&mut two, &mut any] {
            let mut all = numbers(&seen(live));
            all.sort_unstable();
            assert_eq!(all, (0..400).map(|number| number / 2).collect::<Vec<_>>());
        }
    });
}

#[test]
fn tags_come_beside_the_frame_and_do_not_hide_it_from_a_filter() {
    in_own_network(|| {
        let wire = Wire::new();
        for (filter, passes) in
            [("udp port 7", true), ("vlan 5", true), ("vlan 6", false), ("udp port 8", false)]
        {
            let program = Program::compile(filter).unwrap();
            // The sender has the tag in its bytes, the receiver beside them.
            for (side, vlan, len) in [("v0", None, 54), ("v1", Some(5), 50)] {
                let options = LiveOptions { filter: Some(&program), ..small(&[side]) };
                let mut live = Live::open(&options).unwrap();
                wire.send("v0", &frame(Some(0x6005), 7, 1));
                let all = seen(&mut live);
                assert_eq!(all.len(), usize::from(passes), "{filter} on {side}");
                for seen in all {
                    assert_eq!((seen.vlan, seen.wire_len), (vlan, len));
                }
            }
        }
    });
}

#[test]
fn the_kernel_filters_and_cuts() {
    in_own_network(|| {
        let wire = Wire::new();
        let program = Program::compile("udp src port 7 and not host 192.0.2.9").unwrap();
        let mut live =
            Live::open(&LiveOptions { filter: Some(&program), snaplen: 50, ..small(&["v1"]) }).unwrap();
        for number in 0..100 {
            let mut frame = frame(None, 7 + (number % 4) as u16, number);
            frame.extend([0; 10]);
            wire.send("v0", &frame);
        }
        let all = seen(&mut live);
        assert_eq!(numbers(&all), (0..100).step_by(4).collect::<Vec<_>>());
        assert!(all.iter().all(|s| s.bytes.len() == 50 && s.wire_len == 60));
    });
}

#[test]
fn a_group_gives_each_frame_once_and_a_flow_to_one_shard() {
    in_own_network(|| {
        for names in [&["lo"][..], &[]] {
            let mut lives = Live::open_group(&small(names), 2).unwrap();
            let pairs: Vec<_> = (0..64).map(|_| udp_pair()).collect();
            for (number, (a, b)) in (0u32..).zip(&pairs) {
                a.send(&payload(number)).unwrap();
                b.send(&payload(number)).unwrap();
            }
            let shards: Vec<Vec<u32>> = lives.iter_mut().map(|live| numbers(&seen(live))).collect();
            let mut of: HashMap<u32, Vec<usize>> = HashMap::new();
            for (shard, numbers) in shards.iter().enumerate() {
                assert!(!numbers.is_empty());
                numbers.iter().for_each(|&number| of.entry(number).or_default().push(shard));
            }
            assert_eq!(of.len(), 64);
            assert!(of.values().all(|shards| shards.len() == 2 && shards[0] == shards[1]), "{of:?}");
        }
    });
}

#[test]
fn a_group_puts_fragments_together() {
    in_own_network(|| {
        assert!(ip("link set lo mtu 1500"));
        let mut lives = Live::open_group(&small(&["lo"]), 2).unwrap();
        let pairs: Vec<_> = (0..32).map(|_| udp_pair()).collect();
        for (number, (a, b)) in (0u32..).zip(&pairs) {
            let mut large = payload(number).to_vec();
            large.resize(8_000, 0);
            a.send(&large).unwrap();
            b.send(&payload(number)).unwrap();
        }
        let shards: Vec<_> = lives.iter_mut().map(seen).collect();
        let mut of: HashMap<u32, Vec<usize>> = HashMap::new();
        for (shard, all) in shards.iter().enumerate() {
            numbers(all).into_iter().for_each(|number| of.entry(number).or_default().push(shard));
        }
        let large = shards.iter().flatten().filter(|s| s.bytes.len() == 8_000 + 42).count();
        assert_eq!((of.len(), large), (32, 32));
        assert!(of.values().all(|shards| shards.len() == 2 && shards[0] == shards[1]), "{of:?}");
    });
}

#[test]
fn what_does_not_fit_is_counted_to_the_packet() {
    in_own_network(|| {
        let options = LiveOptions { ring_bytes: 4 << 16, ..small(&["v1"]) };
        let wire = Wire::new();
        let program = Program::compile("udp port 7").unwrap();
        let mut live = Live::open(&LiveOptions { filter: Some(&program), ..options }).unwrap();
        let sent = 5_000;
        (0..sent).for_each(|number| wire.send("v0", &frame(None, 7, number)));
        let seen = seen(&mut live).len() as u64;
        let drops = live.drops();
        assert!(seen > 0 && drops.kernel > 0 && drops.freezes > 0);
        assert_eq!(seen + drops.kernel, u64::from(sent));
    });
}

#[test]
fn an_interface_may_go_and_come_back() {
    in_own_network(|| {
        let until = |live: &mut Live, wanted: State| {
            loop {
                live.poll(Duration::from_millis(20), &mut |_| {}).unwrap();
                let mut found = None;
                live.changes(&mut |name, state| found = (name == "v1").then_some(state));
                if found == Some(wanted) {
                    return;
                }
                assert_eq!(found, None);
            }
        };
        let wire = Wire::new();
        let mut alone = Live::open(&small(&["v1"])).unwrap();
        let mut group = Live::open_group(&small(&["v1"]), 2).unwrap();
        assert!(ip("link set v1 down"));
        until(&mut alone, State::Down);
        group.iter_mut().for_each(|live| until(live, State::Down));
        assert!(ip("link set v1 up"));
        until(&mut alone, State::Up);
        group.iter_mut().for_each(|live| until(live, State::Up));
        wire.send("v0", &frame(None, 7, 1));
        assert_eq!(numbers(&seen(&mut alone)), [1]);
        assert_eq!(group.iter_mut().map(|live| seen(live).len()).sum::<usize>(), 1);
        assert!(ip("link del v0"));
        until(&mut alone, State::Gone);
        group.iter_mut().for_each(|live| until(live, State::Gone));
        let wire = Wire::new();
        until(&mut alone, State::Up);
        group.iter_mut().for_each(|live| until(live, State::Up));
        wire.send("v0", &frame(None, 7, 2));
        assert_eq!(numbers(&seen(&mut alone)), [2]);
        assert_eq!(group.iter_mut().map(|live| seen(live).len()).sum::<usize>(), 1);
    });
}

#[test]
fn errors_say_what_to_do() {
    in_own_network(|| {
        let error = Live::open(&small(&["nope0"])).unwrap_err();
        assert_eq!(error.to_string(), "there is no interface \"nope0\"; there are: lo");
        let tiny = LiveOptions { ring_bytes: 1, ..LiveOptions::default() };
        let error = Live::open(&tiny).unwrap_err();
        assert!(matches!(error, LiveError::RingSize { bytes: 1, least: 0x40_0000 }), "{error}");
        let mut live = Live::open(&small(&["lo"])).unwrap();
        // Without traffic a wait ends with nothing.
        assert_eq!(live.poll(Duration::from_millis(1), &mut |_| {}).unwrap(), 0);
    });
}
