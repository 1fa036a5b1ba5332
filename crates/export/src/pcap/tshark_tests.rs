//! What an independent reader makes of the files. Skipped where tshark is not installed.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Checks that are off by default.
const OPTIONS: [&str; 10] = [
    "-o",
    "ip.check_checksum:TRUE",
    "-o",
    "udp.check_checksum:TRUE",
    "-o",
    "tcp.check_checksum:TRUE",
    "-o",
    "sctp.checksum:CRC-32C",
    "-o",
    "tcp.relative_sequence_numbers:FALSE",
];

/// A file that removes itself.
struct Capture(std::path::PathBuf);

impl Drop for Capture {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Capture {
    fn of(messages: &[CallMessage]) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name =
            format!("wirelake-export-{}-{}.pcap", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, file_of(messages).0).unwrap();
        Self(path)
    }

    fn tshark(&self, arguments: &[&str]) -> Option<String> {
        let output = Command::new("tshark").arg("-r").arg(&self.0).args(OPTIONS).args(arguments).output();
        let output = match output {
            Ok(output) => output,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => panic!("{error}"),
        };
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
        assert!(!stderr.contains("cut short") && !stderr.contains("damaged"), "{stderr}");
        Some(String::from_utf8(output.stdout).unwrap())
    }

    /// The given fields of every packet that the filter takes.
    fn fields(&self, filter: &str, names: &[&str]) -> Option<Vec<Vec<String>>> {
        let mut arguments = vec!["-Y", filter, "-T", "fields", "-E", "separator=|"];
        for name in names {
            arguments.extend(["-e", name]);
        }
        let text = self.tshark(&arguments)?;
        Some(text.lines().map(|line| line.split('|').map(str::to_owned).collect()).collect())
    }

    /// Fails when anything is malformed, a checksum is wrong, or a transport complains.
    #[track_caller]
    fn is_sound(&self) {
        let filter = "_ws.malformed || ip.checksum.status == \"Bad\" || \
                      udp.checksum.status == \"Bad\" || tcp.checksum.status == \"Bad\" || \
                      sctp.checksum.status == \"Bad\" || tcp.analysis.flags || \
                      sctp.retransmission";
        let bad = self.tshark(&["-Y", filter, "-V"]);
        assert_eq!(bad.unwrap_or_default(), "");
    }
}

fn over(ip_proto: u8, mut call: Vec<CallMessage>) -> Vec<CallMessage> {
    for message in &mut call {
        message.ip_proto = ip_proto;
    }
    call
}

/// Fails unless tshark reads every message as SIP with the right time, ids and ends, finds each
/// checksum right, and complains of nothing.
#[track_caller]
fn agrees(call: &[CallMessage], transport: &str) {
    let [src_port, dst_port, checksum] =
        ["srcport", "dstport", "checksum.status"].map(|name| format!("{transport}.{name}"));
    let Some(rows) = Capture::of(call).fields(
        "sip",
        &[
            "frame.time_epoch",
            "sip.Call-ID",
            "sip.CSeq",
            &src_port,
            &dst_port,
            "ip.src",
            "ipv6.src",
            "ip.checksum.status",
            &checksum,
            "_ws.malformed",
            "_ws.expert.severity",
            "tcp.analysis.flags",
            "sctp.retransmission",
        ],
    ) else {
        return;
    };
    const GOOD: &str = "1";
    assert_eq!(rows.len(), call.len(), "{rows:?}");
    for (message, row) in call.iter().zip(rows) {
        let (seconds, nanos) = (message.time.0 / 1_000_000_000, message.time.0 % 1_000_000_000);
        let address = message.src_ip.unwrap().to_string();
        let (v4, v6, ip_checksum) = match message.src_ip.unwrap().is_ipv4() {
            true => (address.as_str(), "", GOOD),
            false => ("", address.as_str(), ""),
        };
        let method = message.method.as_deref().unwrap_or_default();
        let expected = [
            &format!("{seconds}.{nanos:09}"),
            message.call_id.as_str(),
            &format!("{} {method}", message.cseq.unwrap_or_default()),
            &message.src_port.to_string(),
            &message.dst_port.to_string(),
            v4,
            v6,
            ip_checksum,
            GOOD,
        ];
        assert_eq!(row[..9], expected);
        assert_eq!(row[9], "", "malformed");
        let chat = row[10].split(',').all(|severity| ["", "2097152"].contains(&severity));
        assert!(chat, "tshark complains: {row:?}");
        assert_eq!(row[11..], ["", ""], "the transport complains");
    }
}

#[test]
fn udp() {
    agrees(&basic_call(), "udp");
}

#[test]
fn udp_v6() {
    let call = call_between("[2001:db8::1]:5060", "[2001:db8::2]:5080");
    agrees(&call, "udp");
}

#[test]
fn udp_with_nanoseconds_and_vlan() {
    let mut call = basic_call();
    for message in &mut call {
        message.time.0 += 789;
        message.vlan = Some(42);
    }
    agrees(&call, "udp");
    let capture = Capture::of(&call);
    if let Some(rows) = capture.fields("sip", &["vlan.id"]) {
        assert_eq!(rows, vec![vec!["42".to_owned()]; 7]);
    }
}

#[test]
fn tcp() {
    let call = call_between("10.0.0.1:40000", "10.0.0.2:5060");
    agrees(&over(6, call), "tcp");
}

#[test]
fn tcp_v6() {
    let call = call_between("[2001:db8::1]:40000", "[2001:db8::2]:5060");
    agrees(&over(6, call), "tcp");
}

#[test]
fn tcp_messages_larger_than_a_frame_and_than_a_packet() {
    let mut call = over(6, call_between("10.0.0.1:40000", "10.0.0.2:5060"));
    large(&mut call[1], 3_000);
    large(&mut call[4], 100_000);
    large(&mut call[5], 1_461);
    let capture = Capture::of(&call);
    let Some(rows) = capture.fields("sip", &["sip.CSeq.method", "sip.Content-Length"]) else {
        return;
    };
    let methods: Vec<_> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(methods, ["INVITE", "INVITE", "INVITE", "INVITE", "ACK", "BYE", "BYE"]);
    assert_eq!((rows[1][1].as_str(), rows[4][1].as_str()), ("3000", "100000"));
    capture.is_sound();
}

#[test]
fn tcp_after_a_message_that_was_cut() {
    let mut call = over(6, call_between("10.0.0.1:40000", "10.0.0.2:5060"));
    large(&mut call[2], 2_000);
    let cut = call[2].payload.len() - 700;
    call[2].payload.truncate(cut);
    let capture = Capture::of(&call);
    if let Some(rows) = capture.fields("sip", &["frame.number", "sip.CSeq"]) {
        let after: Vec<_> = rows.iter().filter(|row| row[0] != "3").map(|row| row[1].as_str()).collect();
        assert_eq!(after, ["1 INVITE", "1 INVITE", "1 INVITE", "1 ACK", "2 BYE", "2 BYE"]);
    }
}

#[test]
fn tcp_after_a_message_longer_than_it_says() {
    let mut call = over(6, call_between("10.0.0.1:40000", "10.0.0.2:5060"));
    call[1].payload.extend(b"sixteen more ...");
    if let Some(rows) = Capture::of(&call).fields("sip.CSeq", &["frame.number"]) {
        assert_eq!(rows.len(), call.len(), "{rows:?}");
    }
}

#[test]
fn decrypted_tls_on_its_own_port() {
    let call = over(6, call_between("10.0.0.1:40000", "10.0.0.2:5061"));
    let arguments = ["-d", "tcp.port==5061,sip", "-Y", "sip", "-T", "fields", "-e", "sip.CSeq"];
    if let Some(text) = Capture::of(&call).tshark(&arguments) {
        assert_eq!(text.lines().count(), call.len(), "{text}");
    }
}

#[test]
fn sctp() {
    let call = call_between("10.0.0.1:5060", "10.0.0.2:5060");
    agrees(&over(132, call), "sctp");
}

#[test]
fn sctp_messages_larger_than_a_packet() {
    let mut call = over(132, call_between("[2001:db8::1]:5060", "[2001:db8::2]:5060"));
    large(&mut call[1], 100_000);
    let capture = Capture::of(&call);
    if let Some(rows) = capture.fields("sip", &["sip.CSeq.method"]) {
        assert_eq!(rows.len(), call.len(), "{rows:?}");
    }
    capture.is_sound();
}

#[test]
fn udp_messages_larger_than_a_datagram() {
    let mut call = basic_call();
    large(&mut call[1], 100_000);
    let capture = Capture::of(&call);
    if let Some(rows) = capture.fields("sip", &["frame.len", "frame.cap_len"]) {
        assert_eq!(rows.len(), 7);
        assert_eq!(rows[1][1], "65549");
        assert!(rows[1][0].parse::<u32>().unwrap() > 100_000);
    }
    capture.is_sound();
}
