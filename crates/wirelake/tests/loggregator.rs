//! Loggregator from end to end: dropsonde over UDP to rows, and through the udp-forwarder to an agent.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Server, folder, wait, wirelake};
use envelope::loggregator::{Envelope, Message, entries};
use envelope::protobuf::{put_bytes, put_double, put_int};
use loggregator::ingress::{Accept, Ingress, IngressLimits, Received};
use loggregator::{Identity, ServerTls};
use serde_json::Value;
use tempfile::TempDir;

/// 2023-11-14T22:13:20Z.
const EPOCH_NS: u64 = 1_700_000_000_000_000_000;

/// An envelope of version 1: `origin`, the event type, a time, then a body in the field of that number.
fn v1(event_type: u64, field: u32, body: &[u8], tags: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    put_bytes(&mut out, 1, b"gorouter");
    put_int(&mut out, 2, event_type);
    put_int(&mut out, 6, EPOCH_NS);
    put_bytes(&mut out, field, body);
    put_bytes(&mut out, 13, b"cf");
    for (key, value) in tags {
        let mut entry = Vec::new();
        put_bytes(&mut entry, 1, key.as_bytes());
        put_bytes(&mut entry, 2, value.as_bytes());
        put_bytes(&mut out, 17, &entry);
    }
    out
}

fn log(text: &[u8], app: &str) -> Vec<u8> {
    let mut body = Vec::new();
    put_bytes(&mut body, 1, text);
    put_int(&mut body, 2, 2);
    put_int(&mut body, 3, EPOCH_NS);
    put_bytes(&mut body, 4, app.as_bytes());
    put_bytes(&mut body, 5, b"APP");
    put_bytes(&mut body, 6, b"3");
    v1(5, 8, &body, &[("team", "blue"), ("trace_id", "4bf92f3577b34da6a3ce929d0e0e4736")])
}

fn value(name: &str, number: f64) -> Vec<u8> {
    let mut body = Vec::new();
    put_bytes(&mut body, 1, name.as_bytes());
    put_double(&mut body, 2, number);
    put_bytes(&mut body, 3, b"ms");
    v1(6, 9, &body, &[])
}

fn counter(name: &str, delta: u64) -> Vec<u8> {
    let mut body = Vec::new();
    put_bytes(&mut body, 1, name.as_bytes());
    put_int(&mut body, 2, delta);
    v1(7, 10, &body, &[])
}

fn request(method: u64, status: u64) -> Vec<u8> {
    let mut id = Vec::new();
    put_int(&mut id, 1, 1);
    put_int(&mut id, 2, 2);
    let mut body = Vec::new();
    put_int(&mut body, 1, EPOCH_NS);
    put_int(&mut body, 2, EPOCH_NS + 12_000_000);
    put_bytes(&mut body, 3, &id);
    put_int(&mut body, 4, 2);
    put_int(&mut body, 5, method);
    put_bytes(&mut body, 6, b"http://shop.example.com/cart?item=1");
    put_bytes(&mut body, 7, b"192.0.2.7:41234");
    put_bytes(&mut body, 8, b"curl/8.5");
    put_int(&mut body, 9, status);
    put_int(&mut body, 10, 512);
    v1(4, 7, &body, &[])
}

fn container() -> Vec<u8> {
    let mut body = Vec::new();
    put_bytes(&mut body, 1, b"shop");
    put_int(&mut body, 2, 7);
    put_double(&mut body, 3, 12.5);
    put_int(&mut body, 4, 1 << 30);
    put_int(&mut body, 5, 4096);
    v1(9, 12, &body, &[])
}

/// Waits until so many units are in the books of Loggregator and every row is with the lake.
fn settled(server: &Server, units: u64) -> Value {
    wait(&format!("{units} units in the books"), || {
        let ledger = server.ledger();
        let all = ledger["loggregator"]["in"]["total"] == units && ledger["store"]["building"] == 0;
        (all && ledger["in_flight"] == 0).then_some(ledger)
    })
}

#[test]
fn envelopes_become_rows_and_bad_ones_are_counted() {
    let data = folder();
    let server = Server::start(data.path(), &["--set", "loggregator.aggregate=true"]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let send = |bytes: &[u8]| assert_eq!(socket.send_to(bytes, server.dropsonde()).unwrap(), bytes.len());
    send(&log(b"order 4711 failed", "shop"));
    send(&log(b"bytes \xff\xfe of any kind", "shop"));
    send(&value("latency", 12.25));
    send(&counter("requests", 5));
    send(&counter("requests", 7));
    send(&container());
    send(&request(2, 503));
    send(b"");
    send(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
    send(&log(b"", "shop")[..20]);
    send(&v1(99, 8, b"", &[]));
    let ledger = settled(&server, 11);
    assert_eq!(ledger["balanced"], true, "{ledger:#}");
    let books = &ledger["loggregator"];
    assert_eq!((&books["taken"], &books["in"]["datagrams"]), (&7.into(), &11.into()), "{books:#}");
    assert_eq!(books["rows"], serde_json::json!({ "logs": 2, "metrics": 8, "spans": 1 }));
    let lost: u64 =
        books["drops"].as_array().unwrap().iter().map(|drop| drop["count"].as_u64().unwrap()).sum();
    assert_eq!(lost, 4, "{books:#}");

    let rows = |query: &str| Value::Array(server.sql(query));
    assert_eq!(
        rows(
            "SELECT body, body_raw IS NULL AS whole, severity, source_id, instance_id, source_type, deployment, \
             event_type, trace_id, attributes FROM logs ORDER BY whole DESC"
        ),
        serde_json::json!([
            { "body": "order 4711 failed", "whole": true, "severity": "ERROR", "source_id": "shop", "instance_id": "3",
              "source_type": "APP", "deployment": "cf", "event_type": "LogMessage",
              "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "attributes": "{\"team\":\"blue\"}" },
            { "body": "bytes \\xFF\\xFE of any kind", "whole": false, "severity": "ERROR", "source_id": "shop",
              "instance_id": "3", "source_type": "APP", "deployment": "cf", "event_type": "LogMessage",
              "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "attributes": "{\"team\":\"blue\"}" },
        ])
    );
    assert_eq!(
        rows(
            "SELECT name, kind, value, delta, unit FROM metrics WHERE source_id = 'gorouter' ORDER BY name, value"
        ),
        serde_json::json!([
            { "name": "latency", "kind": "gauge", "value": 12.25, "delta": null, "unit": "ms" },
            { "name": "requests", "kind": "sum", "value": 5.0, "delta": 5, "unit": null },
            { "name": "requests", "kind": "sum", "value": 12.0, "delta": 7, "unit": null },
        ])
    );
    assert_eq!(
        rows("SELECT name, value FROM metrics WHERE source_id = 'shop' AND instance_id = '7' ORDER BY name"),
        serde_json::json!([
            { "name": "cpu", "value": 12.5 },
            { "name": "disk", "value": 4096.0 },
            { "name": "disk_quota", "value": 0.0 },
            { "name": "memory", "value": 1_073_741_824.0 },
            { "name": "memory_quota", "value": 0.0 },
        ])
    );
    assert_eq!(
        rows("SELECT name, kind, method, status_code, uri, duration_ns FROM spans"),
        serde_json::json!([{ "name": "http", "kind": "server", "method": "POST", "status_code": 503,
            "uri": "http://shop.example.com/cart?item=1", "duration_ns": 12_000_000 }])
    );
    let (_, text) = server.get("/metrics");
    assert!(text.contains("wirelake_loggregator_taken_total 7"), "{text}");
    let stopped = server.stop();
    assert!(stopped.status.success(), "{}", stopped.log);
    assert_eq!(stopped.ledger["balanced"], true);
}

/// Certificates of one authority: files, and whom they are for.
struct Certificates {
    folder: TempDir,
}

impl Certificates {
    fn new() -> Self {
        let folder = folder();
        let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority_key = rcgen::KeyPair::generate().unwrap();
        let authority_certificate = authority.self_signed(&authority_key).unwrap();
        std::fs::write(folder.path().join("ca.pem"), authority_certificate.pem()).unwrap();
        let issuer = rcgen::Issuer::new(authority, authority_key);
        for name in ["metron", "client"] {
            let key = rcgen::KeyPair::generate().unwrap();
            let parameters = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
            let certificate = parameters.signed_by(&key, &issuer).unwrap();
            std::fs::write(folder.path().join(format!("{name}.pem")), certificate.pem()).unwrap();
            std::fs::write(folder.path().join(format!("{name}.key")), key.serialize_pem()).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn server(&self) -> ServerTls {
        let identity = Identity { cert: self.path("metron.pem"), key: self.path("metron.key") };
        ServerTls { ca: self.path("ca.pem"), identity }
    }
}

/// An agent that notes what it is sent: source, kind and text of each envelope.
struct Agent {
    runtime: tokio::runtime::Runtime,
    ingress: Option<Ingress>,
    seen: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Agent {
    fn new() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        Self { runtime, ingress: None, seen: Arc::default() }
    }

    /// Serves on `address` until [`leave`](Self::leave).
    fn come(&mut self, address: SocketAddr, certificates: &Certificates) -> SocketAddr {
        let seen = Arc::clone(&self.seen);
        let accept: Accept = Arc::new(move |received: Received| {
            let seen = Arc::clone(&seen);
            Box::pin(async move {
                let mut seen = seen.lock().unwrap();
                seen.extend(entries(&received.message).map(|entry| entry.unwrap().to_vec()));
                Ok(())
            })
        });
        let socket = wait("the agent's port", || TcpListener::bind(address).ok());
        let limits = IngressLimits::default();
        let ingress =
            Ingress::start(self.runtime.handle(), socket, certificates.server(), limits, accept).unwrap();
        let address = ingress.address();
        self.ingress = Some(ingress);
        address
    }

    fn leave(&mut self) {
        self.runtime.block_on(self.ingress.take().unwrap().stop(Duration::from_millis(100)));
    }

    fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    /// The lines of the logs in the order in which they came.
    fn lines(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        seen.iter()
            .filter_map(|bytes| match Envelope::parse(bytes).unwrap().message {
                Message::Log(log) => Some(String::from_utf8_lossy(log.payload).into_owned()),
                _ => None,
            })
            .collect()
    }
}

/// A running udp-forwarder. Killed when dropped.
struct Forwarder {
    child: Child,
    log: BufReader<std::process::ChildStderr>,
    udp: SocketAddr,
}

impl Forwarder {
    fn start(agent: SocketAddr, certificates: &Certificates, spool: Option<&Path>) -> Self {
        let mut command = wirelake(&["udp-forwarder"]);
        command
            .env("UDP_PORT", "0")
            .env("LOGGREGATOR_AGENT_ADDR", agent.to_string())
            .env("JOB", "router")
            .env("INDEX", "a1b2")
            .env("IP", "10.0.0.9")
            .env("FLUSH_S", "20")
            .env("USE_RFC3339", "true");
        for prefix in ["LOGGREGATOR_AGENT", "METRICS"] {
            command.env(format!("{prefix}_CA_FILE_PATH"), certificates.text("ca.pem"));
            command.env(format!("{prefix}_CERT_FILE_PATH"), certificates.text("client.pem"));
            command.env(format!("{prefix}_KEY_FILE_PATH"), certificates.text("client.key"));
        }
        if let Some(spool) = spool {
            command.env("SPOOL_DIR", spool).env("QUEUE_MIB", "1");
        }
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let udp = loop {
            let mut line = String::new();
            assert!(log.read_line(&mut line).unwrap() > 0, "the forwarder did not start");
            if let Some((_, rest)) = line.split_once("udp=[") {
                break rest.split_once(']').unwrap().0.parse().unwrap();
            }
        };
        Self { child, log, udp }
    }

    /// Asks it to end; the books it closed with.
    fn stop(mut self) -> (bool, Value) {
        let kill = ["-c", "kill -s TERM \"$0\"", &self.child.id().to_string()];
        assert!(std::process::Command::new("sh").args(kill).status().unwrap().success());
        let mut said = String::new();
        self.log.read_to_string(&mut said).unwrap();
        let status = self.child.wait().unwrap();
        let (_, ledger) = said.split_once("ledger=").unwrap_or_else(|| panic!("no books: {said}"));
        (status.success(), serde_json::from_str(ledger.lines().next().unwrap()).unwrap())
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

#[test]
fn a_forwarder_forwards_whatever_becomes_of_its_agent() {
    let certificates = Certificates::new();
    let mut agent = Agent::new();
    let address = agent.come(([127, 0, 0, 1], 0).into(), &certificates);
    let spool = folder();
    let forwarder = Forwarder::start(address, &certificates, Some(spool.path()));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let send = |from: usize, to: usize| {
        for number in from..to {
            socket.send_to(&log(format!("line {number}").as_bytes(), "shop"), forwarder.udp).unwrap();
        }
    };
    send(0, 250);
    socket.send_to(b"no envelope", forwarder.udp).unwrap();
    wait("the first lines", || (agent.count() == 250).then_some(()));
    let first = agent.seen.lock().unwrap()[0].clone();
    let first = Envelope::parse(&first).unwrap();
    assert_eq!((first.source_id, first.instance_id), (&b"shop"[..], &b"3"[..]));
    for (tag, value) in [("origin", "gorouter"), ("deployment", "cf"), ("job", "router"), ("ip", "10.0.0.9")]
    {
        assert_eq!(first.tag(tag.as_bytes()), Some(value.as_bytes()));
    }
    // What comes while the agent is away waits for it.
    agent.leave();
    send(250, 700);
    agent.come(address, &certificates);
    wait("the lines that waited", || (agent.count() >= 700).then_some(()));
    send(700, 800);
    let (clean, books) = forwarder.stop();
    assert!(clean && books["balanced"] == true, "{books:#}");
    assert_eq!((&books["taken"], &books["in"]["datagrams"]), (&800.into(), &801.into()), "{books:#}");
    let destination = &books["destinations"][0];
    assert_eq!((&destination["sent"], &destination["waiting"]), (&800.into(), &0.into()), "{books:#}");
    // Each line in order; some may have come twice where a connection ended before they were confirmed.
    let lines = agent.lines();
    let mut expected = (0..800).map(|number| format!("line {number}"));
    let mut next = expected.next();
    for line in &lines {
        if Some(line) == next.as_ref() {
            next = expected.next();
        }
    }
    assert_eq!(next, None, "{lines:?}");
    assert_eq!(lines.len() as u64, 800 + destination["resent"].as_u64().unwrap());
}

#[test]
fn an_agent_is_served_with_mutual_tls_and_its_envelopes_are_sent_on() {
    let certificates = Certificates::new();
    let mut agent = Agent::new();
    let downstream = agent.come(([127, 0, 0, 1], 0).into(), &certificates);
    let data = folder();
    let mut config = std::fs::File::create(data.path().join("wirelake.toml")).unwrap();
    let file = |name: &str| certificates.text(name);
    writeln!(
        config,
        "[loggregator]\nlisten = \"127.0.0.1:0\"\nca_file = {:?}\ncert_file = {:?}\nkey_file = {:?}\n\
         tags = [\"deployment=cf\"]\n\
         [egress]\nto = [\"loggregator://{downstream}\"]\nca_file = {:?}\ncert_file = {:?}\nkey_file = {:?}",
        file("ca.pem"),
        file("metron.pem"),
        file("metron.key"),
        file("ca.pem"),
        file("client.pem"),
        file("client.key"),
    )
    .unwrap();
    let path = data.path().join("wirelake.toml");
    let server = Server::start(&data.path().join("lake"), &["--config", path.to_str().unwrap()]);
    // Dropsonde through a forwarder: its agent is this server, which sends on to the next one.
    let forwarder = Forwarder::start(server.loggregator(), &certificates, None);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for number in 0..120 {
        socket.send_to(&log(format!("line {number}").as_bytes(), "shop"), forwarder.udp).unwrap();
    }
    settled(&server, 120);
    wait("the lines downstream", || (agent.count() == 120).then_some(()));
    assert_eq!(agent.lines(), (0..120).map(|number| format!("line {number}")).collect::<Vec<_>>());
    let rows = server.sql("SELECT count(*) AS n, min(deployment) AS d FROM logs WHERE source_id = 'shop'");
    assert_eq!(Value::Array(rows), serde_json::json!([{ "n": 120, "d": "cf" }]));
    let (clean, books) = forwarder.stop();
    assert!(clean && books["destinations"][0]["sent"] == 120, "{books:#}");
    let stopped = server.stop();
    assert!(stopped.status.success(), "{}", stopped.log);
    assert_eq!(stopped.ledger["balanced"], true);
}

#[test]
fn mistakes_are_told_in_a_sentence() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let data = folder();
    let data = data.path().to_str().unwrap();
    for (arguments, words) in [
        (vec!["--dropsonde-udp", &address], "is taken by another program"),
        (vec!["--to", "http://127.0.0.1:1"], "no kind of destination"),
        (vec!["--to", "loggregator://127.0.0.1:1"], "egress.ca_file"),
        (vec!["--loggregator", "127.0.0.1:0"], "loggregator.ca_file"),
    ] {
        let fixed = ["serve", "--data", data, "--hep-udp", "127.0.0.1:0", "--hep-tcp", "127.0.0.1:0"];
        let fixed = [&fixed[..], &["--api", "127.0.0.1:0"], &arguments].concat();
        let output = common::run(&fixed);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(common::complaint(&output).contains(words), "{arguments:?}: {}", common::complaint(&output));
    }
}
