//! Filters against tcpdump over real frames, against each other, and each error once.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::time::Duration;

use model::{Frame, LinkType, Nanos, Transport};

use super::*;
use crate::live::{Live, LiveOptions};
use crate::privileges::has_net_raw;
use crate::sys::testing;

fn ethernet(bytes: &[u8]) -> Frame<'_> {
    Frame { time: Nanos(0), link: LinkType::Ethernet, wire_len: bytes.len() as u32, vlan: None, bytes }
}

fn program(expression: &str) -> Program {
    Program::compile(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
}

/// Expressions that must mean what they mean to tcpdump, for frames without tags.
const SAME: &[&str] = &[
    "",
    "tcp",
    "udp",
    "icmp",
    "icmp6",
    "igmp",
    "ip",
    "ip6",
    "arp",
    "rarp",
    "not ip",
    "! tcp and not udp",
    "host 127.0.0.1",
    "host 10.9.0.1",
    "host 10.9.0.2",
    "src host 10.9.0.1",
    "dst 10.9.0.2",
    "src or dst 10.9.0.2",
    "src and dst host 127.0.0.1",
    "ip host 10.9.0.2",
    "arp host 10.9.0.2",
    "arp src host 10.9.0.1",
    "host ::1",
    "ip6 host ::1",
    "src host ::1",
    "dst net ff00::/8",
    "net fe80::/10",
    "ip6 net ::/0",
    "net 127.0.0.0/8",
    "net 127",
    "net 10.9",
    "net 10.9.0.0 mask 255.255.255.0",
    "src net 10.9.0.0/24",
    "dst net 0.0.0.0/0",
    "port 8080",
    "tcp port 8080",
    "udp port 5353",
    "src port 8080",
    "dst port 8080",
    "src and dst port 5353",
    "src or dst port 5353",
    "port 8080 or 5353",
    "tcp port 8080 or 5353",
    "not port 8080",
    "not (port 8080 or port 5353)",
    "not port 8080 and not port 5353",
    "portrange 8000-8100",
    "udp portrange 5000-6000",
    "tcp src portrange 1-8080",
    "udp or tcp and port 8080",
    "port 5353 and (host ::1 or icmp or host 127.0.0.1)",
    "ip proto 17",
    "ip proto \\tcp",
    "ip6 proto 58",
    "proto 6",
    "ether proto 0x0800",
    "ether proto \\arp",
    "ether host ff:ff:ff:ff:ff:ff",
    "ether dst ff:ff:ff:ff:ff:ff",
    "ether src 02:00:00:00:00:09",
    "ether broadcast",
    "broadcast",
    "multicast",
    "ether multicast",
    "ip multicast",
    "ip6 multicast",
    "less 70",
    "greater 1000",
    "len > 60 and len <= 100",
    "len - 14 = 52",
    "ether[0] & 1 != 0",
    "ether[12:2] = 0x86dd",
    "ip[0] & 0xf = 5",
    "ip[2:2] > 100",
    "ip[6:2] & 0x1fff != 0",
    "ip[6:2] & 0x3fff = 0",
    "ip[12:4] = 0x7f000001",
    "ip[8] == 64",
    "ip6[6] = 58",
    "ip6[40] = 135 or ip6[40] = 136",
    "icmp[icmptype] = icmp-unreach",
    "icmp[icmpcode] = 3",
    "icmp[0] = 3 and icmp[1] = 3",
    "arp[6:2] = 1",
    "(ip[2:2] - ((ip[0] & 0xf) << 2)) - 8 > 20",
    "((ip[2:2] * 2) / 4) % 5 = 1",
    "(ip[9] | 2) ^ 3 = 0x10",
    "1 + 1 = 2",
    "ip[ip[9]] != 0",
    "host 127.0.0.1 and tcp and not (tcp port 22 or greater 2000)",
];

/// The same for IPv4 only, because ours look into IPv6 as well.
const SAME_ON_IPV4: &[&str] = &[
    "tcp[tcpflags] & tcp-syn != 0",
    "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0 and not dst net 10.0.0.0/8",
    "tcp[13] == 18",
    "tcp[((tcp[12] & 0xf0) >> 2):4] = 0x47455420",
    "tcp port 8080 and (((ip[2:2] - ((ip[0]&0xf)<<2)) - ((tcp[12]&0xf0)>>2)) != 0)",
    "not tcp[tcpflags] & tcp-push != 0",
    "udp[4:2] < 100",
    "udp[2:2] = 5353 or udp[0:2] = 5353",
    "udp[8:4] = 0x57495245",
];

/// Expressions that mean to tcpdump what they mean to us, for frames with one tag in their bytes.
const SAME_ON_TAGGED: &[&str] = &[
    "vlan",
    "vlan 5",
    "vlan 6",
    "not vlan",
    "vlan and udp",
    "vlan 5 and udp port 5353",
    "vlan 5 and host 10.9.0.2",
];

/// Real frames: TCP and UDP over both families on loopback, with fragments and errors; ARP and neighbour
/// discovery on a wire. `None` without the right to capture.
fn real_frames() -> Option<Vec<Vec<u8>>> {
    let run = |arguments: &str| {
        Command::new("ip").args(arguments.split(' ')).status().is_ok_and(|status| status.success())
    };
    let commands = [
        "link set lo up mtu 1500",
        "link add v0 type veth peer name v1",
        "addr add 10.9.0.1/24 dev v0",
        "link set v0 up",
        "link set v1 up",
    ];
    if !has_net_raw() || testing::own_network().is_err() || !commands.into_iter().all(run) {
        return None;
    }
    let names = ["lo", "v0"].map(str::to_owned).to_vec();
    let mut live = Live::open(&LiveOptions { interfaces: names, ..LiveOptions::default() }).unwrap();
    for address in ["127.0.0.1", "::1"] {
        let listener = TcpListener::bind((address, 8_080)).unwrap();
        for size in [10, 3_000, 20_000, 1, 500, 9_000] {
            let mut client = TcpStream::connect((address, 8_080)).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            client.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            server.write_all(&vec![b'x'; size]).unwrap();
        }
        let receiver = UdpSocket::bind((address, 5_353)).unwrap();
        let sender = UdpSocket::bind((address, 0)).unwrap();
        for size in [4usize, 40, 700, 4_000, 1, 100, 1_400, 2_000, 10_000, 30_000] {
            let mut payload = b"WIRELAKE".to_vec();
            payload.resize(size.max(8), 0);
            for port in [5_353, 9] {
                // To the closed port an earlier error may come back instead.
                let _ = sender.send_to(&payload, (address, port));
            }
        }
        receiver.send_to(b"self", (address, 5_353)).unwrap();
    }
    let sender = UdpSocket::bind(("10.9.0.1", 5_353)).unwrap();
    sender.set_broadcast(true).unwrap();
    sender.send_to(b"resolve", ("10.9.0.2", 5_353)).unwrap();
    sender.send_to(b"all", ("10.9.0.255", 5_353)).unwrap();
    let wire = Ipv4Addr::new(10, 9, 0, 1);
    sender.join_multicast_v4(&Ipv4Addr::new(224, 0, 0, 251), &wire).unwrap();
    sender.send_to(b"group", ("224.0.0.251", 5_353)).unwrap();
    let mut frames = Vec::new();
    for _ in 0..20 {
        live.poll(Duration::from_millis(60), &mut |frame| frames.push(frame.bytes.to_vec())).unwrap();
    }
    Some(frames)
}

/// Puts a tag behind the addresses.
fn tagged(frame: &[u8], tag: u16) -> Vec<u8> {
    let (addresses, rest) = frame.split_at(12);
    [addresses, &[0x81, 0], &tag.to_be_bytes(), rest].concat()
}

/// A pcap file with the number of each frame as its time.
fn write_pcap(frames: &[Vec<u8>]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut bytes = Vec::new();
    for word in [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 262_144, 1] {
        bytes.extend(word.to_le_bytes());
    }
    for (number, frame) in (0u32..).zip(frames) {
        for word in [number, 0, frame.len() as u32, frame.len() as u32] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(frame);
    }
    file.write_all(&bytes).unwrap();
    file
}

/// The numbers of the frames that tcpdump lets through.
fn tcpdump(file: &std::path::Path, expression: &str) -> Vec<u32> {
    let out = tempfile::NamedTempFile::new().unwrap();
    let run = Command::new("tcpdump")
        .arg("-r")
        .arg(file)
        .arg("-w")
        .arg(out.path())
        .arg(expression)
        .output()
        .unwrap();
    assert!(run.status.success(), "{expression}: {}", String::from_utf8_lossy(&run.stderr));
    let bytes = std::fs::read(out.path()).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut at, mut numbers) = (24, Vec::new());
    while at < bytes.len() {
        numbers.push(word(at));
        at += 16 + word(at + 8) as usize;
    }
    numbers
}

fn ours(frames: &[Vec<u8>], expression: &str) -> Vec<u32> {
    let program = program(expression);
    (0..)
        .zip(frames)
        .filter(|(_, frame)| program.matches(&ethernet(frame)))
        .map(|(number, _)| number)
        .collect()
}

#[test]
fn filters_mean_what_they_mean_to_tcpdump() {
    if Command::new("tcpdump").arg("--version").output().is_err() {
        println!("skipped: needs tcpdump");
        return;
    }
    let Some(frames) = std::thread::spawn(real_frames).join().unwrap() else {
        println!("skipped: needs CAP_NET_RAW, CAP_SYS_ADMIN and ip(8)");
        return;
    };
    assert!(frames.len() > 200, "{}", frames.len());
    let file = write_pcap(&frames);
    let mut telling = 0;
    let on_ipv4 = SAME_ON_IPV4.iter().map(|expression| format!("ip and ({expression})"));
    for expression in SAME.iter().map(|&e| e.to_owned()).chain(on_ipv4) {
        let expected = tcpdump(file.path(), &expression);
        assert_eq!(ours(&frames, &expression), expected, "{expression}");
        telling += usize::from(!expected.is_empty() && expected.len() < frames.len());
    }
    println!(
        "{} expressions over {} frames, {telling} tell them apart",
        SAME.len() + SAME_ON_IPV4.len(),
        frames.len()
    );
    assert!(telling > 70);

    let mixed: Vec<_> = (0u16..)
        .zip(&frames)
        .map(|(number, frame)| match number % 3 {
            0 => frame.clone(),
            1 => tagged(frame, 0x6005),
            _ => tagged(frame, 6),
        })
        .collect();
    let file = write_pcap(&mixed);
    for expression in SAME_ON_TAGGED {
        assert_eq!(ours(&mixed, expression), tcpdump(file.path(), expression), "{expression}");
    }

    // Tags hide nothing: in the bytes, two of them, or beside the frame.
    for expression in SAME
        .iter()
        .chain(SAME_ON_IPV4)
        .filter(|e| !["len", "ess", "greater", "ether["].iter().any(|w| e.contains(w)))
    {
        let program = program(expression);
        for frame in &frames {
            let wanted = program.matches(&ethernet(frame));
            let two = tagged(&tagged(frame, 7), 8);
            assert_eq!(program.matches(&ethernet(&tagged(frame, 7))), wanted, "{expression}");
            assert_eq!(program.matches(&ethernet(&two)), wanted, "{expression}");
            assert_eq!(program.matches(&Frame { vlan: Some(7), ..ethernet(frame) }), wanted, "{expression}");
        }
    }

    // Links without Ethernet: what does not ask for Ethernet is the same.
    for expression in
        SAME.iter().filter(|e| !["len", "ess", "greater", "ether", "cast"].iter().any(|w| e.contains(w)))
    {
        let program = program(expression);
        for frame in &frames {
            let wanted = program.matches(&ethernet(frame));
            let cooked = [&[0; 14], &frame[12..]].concat();
            assert_eq!(
                program.matches(&Frame { link: LinkType::LinuxSll, ..ethernet(&cooked) }),
                wanted,
                "{expression}"
            );
            let cooked2 = [&frame[12..14], &[0; 18], &frame[14..]].concat();
            assert_eq!(program.matches(&Frame { link: LinkType::LinuxSll2, ..ethernet(&cooked2) }), wanted);
            if frame[12..14] != [8, 6] {
                let raw = Frame { link: LinkType::Raw, ..ethernet(&frame[14..]) };
                assert_eq!(program.matches(&raw), wanted, "{expression}");
            }
        }
    }

    // Programs end on every cut of every frame.
    let all = SAME.iter().chain(SAME_ON_IPV4).map(|e| program(e)).collect::<Vec<_>>();
    for frame in frames.iter().take(40) {
        for cut in 0..frame.len().min(80) {
            all.iter().for_each(|program| drop(program.matches(&ethernet(&frame[..cut])).to_string()));
        }
    }
}

#[test]
fn tags_count_wherever_they_are() {
    let frame = [&[0; 12][..], &[0x88, 0xa8, 0, 100, 0x81, 0, 0, 200, 0x08, 0x06], &[0; 28]].concat();
    let beside = Frame { vlan: Some(300), ..ethernet(&frame) };
    for (expression, outside, inside) in [
        ("vlan", true, true),
        ("vlan 100 and vlan 200", true, true),
        ("vlan 200 or vlan 1", true, true),
        ("vlan 300", false, true),
        ("vlan 7", false, false),
        ("arp", true, true),
    ] {
        let program = program(expression);
        assert_eq!(program.matches(&ethernet(&frame)), outside, "{expression}");
        assert_eq!(program.matches(&beside), inside, "{expression}");
    }
}

#[test]
fn tcp_flags_are_found_over_ipv6() {
    let mut frame = [&[0; 12][..], &[0x86, 0xdd, 0x60, 0, 0, 0, 0, 20, 6, 64], &[0; 32], &[0; 20]].concat();
    frame[14 + 40 + 13] = 2;
    assert!(program("tcp[tcpflags] & tcp-syn != 0").matches(&ethernet(&frame)));
    assert!(!program("tcp[tcpflags] & tcp-ack != 0").matches(&ethernet(&frame)));
}

#[test]
fn far_jumps_reach() {
    let frame = |port: u16| {
        let [high, low] = port.to_be_bytes();
        let ip = [0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2];
        [&[0; 12][..], &[8, 0], &ip, &[high, low, 0, 0, 0, 8, 0, 0]].concat()
    };
    let ports: Vec<u16> = (1..=400).map(|number| number * 7).collect();
    let list = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(" or ");
    for (expression, in_list) in
        [(format!("udp port {list}"), true), (format!("not (port {list}) and udp"), false)]
    {
        let program = program(&expression);
        assert!(program.instructions() > 2_000);
        for port in 1..6_000 {
            assert_eq!(program.matches(&ethernet(&frame(port))), ports.contains(&port) == in_list, "{port}");
        }
        // The kernel takes it: jumps lead inside, and scratch memory is written before it is read.
        if has_net_raw() {
            let filter = Some(&program);
            let options =
                LiveOptions { filter, ring_bytes: 1 << 20, block_bytes: 1 << 16, ..LiveOptions::default() };
            Live::open(&options).unwrap();
        }
    }
}

#[test]
fn the_kernel_takes_every_program() {
    if !has_net_raw() {
        println!("skipped: needs CAP_NET_RAW");
        return;
    }
    let socket = crate::sys::socket::packet_socket().unwrap();
    for expression in SAME.iter().chain(SAME_ON_IPV4).chain(SAME_ON_TAGGED) {
        let code = for_ring(Some(&program(expression)), 100);
        crate::sys::socket::attach_filter(std::os::fd::AsFd::as_fd(&socket), &code)
            .unwrap_or_else(|error| panic!("{expression}: {error}"));
    }
}

#[test]
fn rules_pass_what_they_name_and_fragments() {
    let rule = |transports: &[Transport], port: u16, host: Option<&str>| Rule {
        transports: transports.to_vec(),
        ports: vec![port..=port],
        host: host.map(|host| host.parse().unwrap()),
    };
    let rules = [
        rule(&[Transport::Tcp], 80, None),
        rule(&[], 53, Some("10.0.0.1")),
        rule(&[Transport::Udp], 5_060, Some("2001:db8::1")),
    ];
    let v4 = |protocol: u8, fragment: u16, source: [u8; 4], port: u16| {
        let [f1, f2] = fragment.to_be_bytes();
        let head = [0x45, 0, 0, 40, 0, 0, f1, f2, 64, protocol, 0, 0];
        [&[0; 12][..], &[8, 0], &head, &source, &[9, 9, 9, 9], &[0, 1], &port.to_be_bytes(), &[0; 16]]
            .concat()
    };
    let v6 = |protocol: u8, last: u8, port: u16| {
        let mut source = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        source[15] = last;
        let head = [0x60, 0, 0, 0, 0, 20, protocol, 64];
        [&[0; 12][..], &[0x86, 0xdd], &head, &source, &[9; 16], &port.to_be_bytes(), &[17, 0], &[0; 16]]
            .concat()
    };
    let strict = for_rules(&rules, Tunnels::Refuse).unwrap();
    let open = for_rules(&rules, Tunnels::Pass).unwrap();
    for (frame, strict_passes, open_passes) in [
        (v4(6, 0, [1, 1, 1, 1], 80), true, true),
        (v4(17, 0, [1, 1, 1, 1], 80), false, false),
        (v4(17, 0, [10, 0, 0, 1], 53), true, true),
        (v4(6, 0, [10, 0, 0, 2], 53), false, false),
        (v4(6, 0x2000, [1, 1, 1, 1], 81), false, false),
        (v4(17, 0x2001, [1, 1, 1, 1], 81), true, true),
        (v6(17, 1, 5_060), true, true),
        (v6(17, 2, 5_060), false, false),
        (v6(44, 2, 1), true, true),
        (v4(17, 0, [1, 1, 1, 1], 4_789), false, true),
        (v4(17, 0, [1, 1, 1, 1], 6_081), false, true),
        (v4(47, 0, [1, 1, 1, 1], 0), false, true),
        (v4(4, 0, [1, 1, 1, 1], 0), false, true),
        ([&[0; 12][..], &[0x88, 0x47], &[0; 40]].concat(), false, true),
    ] {
        assert_eq!(strict.matches(&ethernet(&frame)), strict_passes, "{frame:x?}");
        assert_eq!(open.matches(&ethernet(&frame)), open_passes, "{frame:x?}");
    }
    let both = open.and(&program("not port 80")).unwrap();
    assert!(!both.matches(&ethernet(&v4(6, 0, [1, 1, 1, 1], 80))));
    assert!(both.matches(&ethernet(&v4(47, 0, [1, 1, 1, 1], 0))));
    assert!(for_rules(&[], Tunnels::Refuse).unwrap().matches(&ethernet(&[])));
    let many =
        Rule { transports: vec![], ports: (1..2_000).map(|port| port * 2..=port * 2).collect(), host: None };
    let error = for_rules(&[many], Tunnels::Refuse).unwrap_err();
    assert!(matches!(error.cause, Cause::TooLong { .. }) && error.to_string().contains("4096 at most"));
}

#[test]
fn errors_name_the_column_and_what_could_stand_there() {
    for (expression, column, says) in [
        ("tpc port 80", 1, "\"tpc\" cannot stand here; expected host, net, port"),
        ("tcp port", 9, "the end cannot stand here; expected a port's number or name"),
        ("tcp port 99999", 10, "99999 is too large; the most is 65535"),
        ("tcp port htpp", 10, "expected a port's number or name"),
        ("host example.com", 6, "expected an address"),
        ("host 10.0.0", 6, "expected an address"),
        ("host 10.0.0.300", 6, "expected an address"),
        ("net 10.0.0.1/8", 5, "the network is 10.0.0.0"),
        ("net 2001:db8::1/32", 5, "the network is 2001:db8::/32"),
        ("net 10.0.0.0/33", 14, "33 is too large; the most is 32"),
        ("vlan 4096", 6, "the most is 4095"),
        ("tcp port 80 udp", 13, "expected and, or, or the end"),
        ("(tcp", 5, "expected )"),
        ("tcp and", 8, "the end cannot stand here"),
        ("tcp[13:3] = 1", 8, "expected 1, 2 or 4"),
        ("tcp[13", 7, "expected ]"),
        ("tcp[13] & 2", 12, "expected an operator"),
        ("tcp[tcpflag] = 1", 5, "expected a number"),
        ("ip[0] / 0 = 1", 7, "no result"),
        ("ip[0] << 32 = 1", 7, "no result"),
        ("ether host 1:2:3", 12, "a hardware address"),
        ("tcp host 10.0.0.1", 5, "expected port, portrange"),
        ("portrange 80-x", 11, "two ports"),
        ("ip6 host 10.0.0.1", 10, "an IPv6 address"),
        ("ip host ::1", 9, "an IPv4 address"),
        ("tcp ; udp", 5, "';' cannot stand here"),
        ("gateway 10.0.0.1", 1, "expected host, net"),
    ] {
        let error = Program::compile(expression).unwrap_err();
        assert_eq!(error.column, column, "{expression}: {error}");
        assert!(error.to_string().contains(says), "{expression}: {error}");
    }
    for deep in
        ["(".repeat(100_000) + "tcp", "not ".repeat(100_000) + "tcp", "tcp or udp and ".repeat(50_000) + "ip"]
    {
        assert_eq!(Program::compile(&deep).unwrap_err().cause, Cause::TooDeep);
    }
    let long = vec!["tcp"; 100_000].join(" or ");
    assert!(matches!(Program::compile(&long).unwrap_err().cause, Cause::TooLong { .. }));
}
