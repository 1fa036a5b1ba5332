//! A running wirelake, and what the tests ask of it.

#![allow(dead_code, reason = "every test uses its own part")]

pub mod packets;

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(10);

/// A folder for a lake, on the disk that also holds the build.
pub fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// The program with these arguments, untouched by the environment of whoever runs the tests.
pub fn wirelake(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirelake"));
    command.args(arguments).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("WIRELAKE_") {
            command.env_remove(name);
        }
    }
    command
}

/// Runs the program to its end.
pub fn run(arguments: &[&str]) -> Output {
    wirelake(arguments).output().unwrap()
}

/// What a program that succeeded wrote to standard output.
pub fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", complaint(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What a program wrote to standard error.
pub fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Asks again and again until there is an answer.
pub fn wait<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(POLL);
    }
}

/// `wirelake serve` at work. Killed when dropped; ended properly by [`Server::stop`].
pub struct Server {
    child: Child,
    log: Log,
    ports: Value,
    client: reqwest::blocking::Client,
}

/// What a server said while it ran.
struct Log {
    text: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Log {
    fn of(child: &mut Child) -> Self {
        let mut pipe = BufReader::new(child.stderr.take().unwrap());
        let text = Arc::new(Mutex::new(String::new()));
        let target = Arc::clone(&text);
        let reader = std::thread::spawn(move || {
            let mut line = Vec::new();
            while pipe.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                target.lock().unwrap().push_str(&String::from_utf8_lossy(&line));
                line.clear();
            }
        });
        Self { text, reader: Some(reader) }
    }

    fn so_far(&self) -> String {
        self.text.lock().unwrap().clone()
    }

    fn whole(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        self.so_far()
    }
}

/// How a server ended.
pub struct Stopped {
    /// How the process ended.
    pub status: ExitStatus,
    /// The books that it closed with.
    pub ledger: Value,
    /// All it said.
    pub log: String,
}

impl Server {
    /// Starts a server over a lake, with two shards and ports of the kernel's choice.
    pub fn start(data: &Path, more: &[&str]) -> Self {
        Self::start_with(data, more, &[])
    }

    /// The same with variables in its environment.
    pub fn start_with(data: &Path, more: &[&str], environment: &[(&str, &str)]) -> Self {
        let data = data.to_str().unwrap();
        let mut arguments = vec!["serve", "--data", data, "--print-ports"];
        for (flag, default) in [
            ("--hep-udp", "127.0.0.1:0"),
            ("--hep-tcp", "127.0.0.1:0"),
            ("--dropsonde-udp", "127.0.0.1:0"),
            ("--api", "127.0.0.1:0"),
            ("--shards", "2"),
        ] {
            if !more.contains(&flag) {
                arguments.extend([flag, default]);
            }
        }
        arguments.extend(more);
        let mut command = wirelake(&arguments);
        command.envs(environment.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut log = Log::of(&mut child);
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let Ok(ports) = serde_json::from_str(&line) else {
            let _ = child.wait();
            panic!("the server did not start: {}", log.whole());
        };
        let client = reqwest::blocking::Client::builder().timeout(PATIENCE).build().unwrap();
        Self { child, log, ports, client }
    }

    fn port(&self, name: &str) -> u16 {
        u16::try_from(self.ports[name].as_u64().unwrap()).unwrap()
    }

    /// Where HEP is taken over UDP.
    pub fn udp(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port("hep_udp")).into()
    }

    /// Where HEP is taken over TCP.
    pub fn tcp(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port("hep_tcp")).into()
    }

    /// Where dropsonde is taken.
    pub fn dropsonde(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port("dropsonde_udp")).into()
    }

    /// Where Loggregator's envelopes are taken over gRPC.
    pub fn loggregator(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port("loggregator")).into()
    }

    /// The URL of the API, without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port("api"))
    }

    /// The answer to a GET: status and body.
    pub fn get(&self, path: &str) -> (u16, String) {
        let response = self.client.get(format!("{}{path}", self.url())).send().unwrap();
        (response.status().as_u16(), response.text().unwrap())
    }

    /// The JSON that a GET answers.
    pub fn json(&self, path: &str) -> Value {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    /// The answer of `/api/sql`: status and JSON.
    pub fn ask(&self, query: &str) -> (u16, Value) {
        let request = self.client.post(format!("{}/api/sql", self.url())).json(&json!({ "query": query }));
        let response = request.send().unwrap();
        (response.status().as_u16(), response.json().unwrap())
    }

    /// The rows that a query gives.
    pub fn sql(&self, query: &str) -> Vec<Value> {
        let (status, mut answer) = self.ask(query);
        assert_eq!(status, 200, "{query}: {answer}");
        match answer["rows"].take() {
            Value::Array(rows) => rows,
            other => panic!("{query}: {other}"),
        }
    }

    /// The one number that a query gives, named `n`.
    pub fn number(&self, query: &str) -> u64 {
        let rows = self.sql(query);
        rows[0]["n"].as_u64().unwrap_or_else(|| panic!("{query}: {rows:?}"))
    }

    /// Rows of a table.
    pub fn rows(&self, table: &str) -> u64 {
        self.number(&format!("SELECT count(*) AS n FROM {table}"))
    }

    /// The books now.
    pub fn ledger(&self) -> Value {
        self.json("/api/ledger")
    }

    /// Waits until so many units came in, lost ones included.
    pub fn received(&self, units: u64) {
        wait(&format!("{units} units"), || {
            (self.ledger()["in"]["total"].as_u64() >= Some(units)).then_some(())
        });
    }

    /// Waits until so many units came in, lost ones included, and every row of them can be queried.
    pub fn settled(&self, units: u64) -> Value {
        wait(&format!("{units} units in the books"), || {
            let ledger = self.ledger();
            let done = ledger["in"]["total"] == units
                && ledger["store"]["building"] == 0
                && ledger["in_flight"] == 0;
            (done || ledger["in"]["total"].as_u64() > Some(units)).then_some(ledger)
        })
    }

    /// What it said so far.
    pub fn log(&self) -> String {
        self.log.so_far()
    }

    /// Waits until it says something.
    pub fn says(&self, words: &str) {
        wait(words, || self.log().contains(words).then_some(()));
    }

    /// Whether it still runs.
    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// A figure of the process in bytes, as `VmRSS` or `VmHWM`.
    pub fn memory(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
    }

    /// Sends the process a signal.
    pub fn signal(&self, name: &str) {
        let status = Command::new("sh")
            .args(["-c", "kill -s \"$0\" \"$1\"", name, &self.child.id().to_string()])
            .status();
        assert!(status.unwrap().success());
    }

    /// Ends it as an administrator would and waits for that.
    pub fn stop(mut self) -> Stopped {
        self.signal("TERM");
        let status = self.child.wait().unwrap();
        let log = self.log.whole();
        let ledger =
            log.rsplit_once("ledger=").and_then(|(_, text)| serde_json::from_str(text.lines().next()?).ok());
        let ledger = ledger.unwrap_or_else(|| panic!("no books at the end: {log}"));
        Stopped { status, ledger, log }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("the server said: {}", self.log.so_far());
        }
    }
}

impl Stopped {
    /// The books balance, nothing panicked, and the program says that all is well.
    pub fn well(self) -> Value {
        assert!(!self.log.contains("panicked"), "{}", self.log);
        assert!(self.status.success(), "{}: {}", self.status, self.log);
        balanced(&self.ledger);
        self.ledger
    }
}

/// Fails unless every check of the books holds.
pub fn balanced(ledger: &Value) {
    assert_eq!(ledger["balanced"], true, "{ledger:#}");
    let part = |value: &Value| value.as_u64().unwrap();
    let before_store = part(&ledger["drops_total"]) - part(&ledger["store"]["dropped"]);
    assert_eq!(part(&ledger["in"]["total"]), part(&ledger["out"]["total"]) + before_store, "{ledger:#}");
}

/// How many units a reason took.
pub fn dropped(ledger: &Value, reason: &str) -> u64 {
    let drops = ledger["drops"].as_array().unwrap();
    drops.iter().find(|drop| drop["reason"] == reason).map_or(0, |drop| drop["count"].as_u64().unwrap())
}

/// How often something odd was noticed.
pub fn noticed(ledger: &Value, name: &str) -> u64 {
    let notices = ledger["notices"].as_array().unwrap();
    notices.iter().find(|notice| notice["name"] == name).map_or(0, |notice| notice["count"].as_u64().unwrap())
}

/// Datagrams that the kernel lost before they reached any socket, on the whole machine.
pub fn lost_before_sockets() -> u64 {
    let text = std::fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default();
    text.lines().filter_map(|line| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok()).sum()
}

/// A cheap stream of numbers that is the same on every run (splitmix64).
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` up to, not including, `high`.
    pub fn range(&mut self, low: usize, high: usize) -> usize {
        low + usize::try_from(self.next() % (high - low) as u64).unwrap()
    }

    /// So many bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..count.div_ceil(8)).flat_map(|_| self.next().to_le_bytes()).collect();
        bytes.truncate(count);
        bytes
    }
}

/// Reads a connection until the other side ends it, one way or the other.
pub fn until_closed(stream: &mut std::net::TcpStream) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut rest = [0; 256];
    while stream.read(&mut rest).is_ok_and(|read| read > 0) {}
}
