//! What is parsed here is what `tshark` parses: of real captures and of every sample.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use capture::file;
use model::Frame;

use super::*;

/// The fields of `witness.sh` behind the first three, in its order.
const FIELDS: [&str; 20] = [
    "ip.src",
    "ip.dst",
    "ipv6.src",
    "ipv6.dst",
    "ip.ttl",
    "ipv6.hlim",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.flags",
    "tcp.window_size_value",
    "tcp.len",
    "udp.srcport",
    "udp.dstport",
    "udp.length",
    "ip.frag_offset",
    "ipv6.fraghdr.offset",
    "vlan.id",
    "vxlan.vni",
];

/// One line of the witness.
struct Line<'a>(HashMap<&'static str, &'a str>);

impl<'a> Line<'a> {
    fn new(line: &'a str) -> Self {
        Self(FIELDS.into_iter().zip(line.split(',').skip(3)).filter(|(_, value)| !value.is_empty()).collect())
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).copied()
    }

    fn number(&self, name: &str) -> Option<u32> {
        let text = self.text(name)?;
        let parsed = text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| u32::from_str_radix(hex, 16));
        Some(parsed.unwrap_or_else(|_| panic!("{name} is {text}")))
    }

    /// Compares what both sides say of a frame; which kind of body it was.
    fn agrees(&self, parsed: &Result<Packet<'_>, WireError>) -> &'static str {
        let Ok(packet) = parsed else {
            // Within a tunnel the addresses are those of the tunnel.
            let sender = self.text("ip.src").or(self.text("ipv6.src"));
            assert!(sender.is_none() || self.text("vxlan.vni").is_some(), "{parsed:?}");
            assert_eq!(self.text("tcp.srcport"), None);
            return "none";
        };
        let (src, dst, ttl) = match packet.src {
            IpAddr::V4(_) => ("ip.src", "ip.dst", "ip.ttl"),
            IpAddr::V6(_) => ("ipv6.src", "ipv6.dst", "ipv6.hlim"),
        };
        assert_eq!(self.text(src), Some(packet.src.to_string().as_str()));
        assert_eq!(self.text(dst), Some(packet.dst.to_string().as_str()));
        assert_eq!(self.number(ttl), Some(packet.ttl.into()));
        if let Some(Tunnel { kind: TunnelKind::Vxlan, id }) = packet.tunnel {
            assert_eq!(self.number("vxlan.vni"), Some(id));
        }
        match packet.body {
            Body::Tcp(segment) => {
                assert_eq!(self.number("tcp.srcport"), Some(segment.src_port.into()));
                assert_eq!(self.number("tcp.dstport"), Some(segment.dst_port.into()));
                assert_eq!(self.number("tcp.seq_raw"), Some(segment.seq));
                assert_eq!(self.number("tcp.ack_raw"), Some(segment.ack));
                assert_eq!(self.number("tcp.flags"), Some(segment.flags.0.into()));
                assert_eq!(self.number("tcp.window_size_value"), Some(segment.window.into()));
                assert_eq!(self.number("tcp.len"), Some(segment.payload_len));
                "tcp"
            }
            Body::Udp(datagram) => {
                assert_eq!(self.number("udp.srcport"), Some(datagram.src_port.into()));
                assert_eq!(self.number("udp.dstport"), Some(datagram.dst_port.into()));
                assert_eq!(self.number("udp.length"), Some(datagram.payload_len + 8));
                "udp"
            }
            Body::Fragment(fragment) => {
                let place = if packet.src.is_ipv4() { "ip.frag_offset" } else { "ipv6.fraghdr.offset" };
                assert_eq!(self.number(place).map(|units| units * 8), Some(fragment.offset));
                "fragment"
            }
            Body::Other(..) => {
                assert_eq!(self.text("tcp.srcport"), None);
                "other"
            }
        }
    }
}

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../capture/tests/captures")
}

fn compare(name: &str) -> HashMap<&'static str, usize> {
    let text = fs::read_to_string(captures().join(format!("{name}.csv"))).unwrap();
    let mut lines = text.lines();
    let mut reader = file::open(&captures().join(name)).unwrap();
    let mut seen = HashMap::new();
    while let Some(frame) = reader.next().unwrap() {
        fuzz::parse(&frame);
        let kind = Line::new(lines.next().unwrap()).agrees(&parse(&frame));
        *seen.entry(kind).or_default() += 1;
    }
    assert!(lines.next().is_none());
    seen
}

#[test]
fn real_captures_hold_what_the_witness_says() {
    let ethernet = compare("ethernet.pcap");
    assert!(ethernet["tcp"] >= 20 && ethernet["udp"] >= 4, "{ethernet:?}");
    let fragments = compare("fragments.pcap");
    assert!(fragments["fragment"] >= 12, "{fragments:?}");
    let vxlan = compare("vxlan.pcap");
    assert!(vxlan["tcp"] >= 20 && vxlan["udp"] >= 2, "{vxlan:?}");
    for cooked in ["sll.pcap", "sll2.pcap"] {
        assert!(compare(cooked)["tcp"] >= 30, "{cooked}");
    }
    assert!(compare("offload.pcap")["tcp"] >= 10);
}

/// Fragments of real datagrams, put together, are the datagrams.
#[test]
fn real_fragments_make_datagrams() {
    let mut reader = file::open(&captures().join("fragments.pcap")).unwrap();
    let mut whole: HashMap<(IpAddr, u32), Vec<u8>> = HashMap::new();
    let mut made = 0;
    while let Some(frame) = reader.next().unwrap() {
        let Ok(packet) = parse(&frame) else { continue };
        let Body::Fragment(fragment) = packet.body else { continue };
        let bytes = whole.entry((packet.src, fragment.id)).or_default();
        assert_eq!(bytes.len() as u32, fragment.offset, "they were sent in their order");
        bytes.extend(fragment.payload);
        if fragment.more {
            continue;
        }
        let packet =
            parse_payload(packet.src, packet.dst, fragment.protocol, bytes, packet.around()).unwrap();
        let Body::Udp(datagram) = packet.body else { panic!("{packet:?}") };
        assert!([datagram.src_port, datagram.dst_port].contains(&9000));
        assert_eq!(datagram.payload, [b'x'; 4000]);
        made += 1;
    }
    assert_eq!(made, 4);
}

/// Every sample, in one file of many link types, as a live `tshark` reads it.
#[test]
fn samples_hold_what_tshark_says() {
    if Command::new("tshark").arg("--version").output().is_err() {
        println!("skipped: tshark is not installed");
        return;
    }
    let path = std::env::temp_dir().join(format!("wire-samples-{}.pcapng", std::process::id()));
    let mut writer = file::Writer::new(fs::File::create(&path).unwrap()).unwrap();
    let samples = samples();
    for (_, link, bytes, ..) in &samples {
        writer.write(&frame(*link, bytes)).unwrap();
    }
    let mut tshark = Command::new("tshark");
    tshark.arg("-n").arg("-r").arg(&path).args(["-d", "udp.port==8472,vxlan"]);
    tshark.args(["-T", "fields", "-E", "separator=,", "-E", "occurrence=l"]);
    tshark.args(["-e", "frame.number", "-e", "frame.len", "-e", "frame.cap_len"]);
    tshark.args(FIELDS.iter().flat_map(|field| ["-e", field]));
    let output = tshark.output().unwrap();
    fs::remove_file(&path).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), samples.len(), "{}", String::from_utf8_lossy(&output.stderr));
    for ((name, link, bytes, ..), line) in samples.iter().zip(text.lines()) {
        println!("{name}: {line}");
        let parsed = parse(&Frame { ..frame(*link, bytes) });
        assert_eq!(Line::new(line).agrees(&parsed), "tcp", "{name}");
    }
}
