//! The bottleneck report names the stage that was made slow.
//!
//! Each test slows one stage so strongly that a busy machine does not change the answer, and waits for the report.
//! Nothing in the program helps: the disk is slowed from outside, the decoder by hostile messages, the socket by its
//! buffer.

mod common;

use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::packets::{envelope, options};
use common::{Server, dropped, folder, run, text, wait};
use envelope::hep::{self, Hep, Payload};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use listen::send::{Mode, Until, udp};
use serde_json::Value;

/// Does something again and again until the report has the answer; then checks the rest of it.
fn named(server: &Server, limit: &str, load: impl Fn() + Sync) -> Value {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                load();
            }
        });
        // Also when the answer never comes, or the test would hang instead of failing.
        let done = Done(&done);
        let report = wait(&format!("a report that names {limit}"), || {
            let report = server.json("/api/bottleneck");
            // Long enough that the answers below, a moment later, are about the same time.
            let settled = report["seconds"].as_f64() > Some(5.0);
            (settled && report["limited"] == true && report["stage"] == limit).then_some(report)
        });
        let metrics = server.get("/metrics").1;
        assert!(metrics.contains(&format!("wirelake_bottleneck{{stage=\"{limit}\"}} 1")), "{metrics}");
        let doctor = run(&["doctor", "--live", "--server", &server.url()]);
        assert!(text(&doctor).starts_with(&format!("limit: {limit}, over the last")), "{}", text(&doctor));
        drop(done);
        report
    })
}

struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn line<'a>(report: &'a Value, stage: &str) -> &'a Value {
    let lines = report["stages"].as_array().unwrap();
    lines.iter().find(|line| line["stage"] == stage).unwrap_or_else(|| panic!("{report:#}"))
}

fn share(report: &Value, stage: &str) -> f64 {
    line(report, stage)["share"].as_f64().unwrap()
}

/// A library that makes every sync of a file take half a second, as an overloaded disk does.
fn slow_disk(folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("slow.c"), folder.join("slow.so"));
    let code = "#include <sys/syscall.h>\n#include <time.h>\n#include <unistd.h>\n\
        static void wait_for_disk(void) { struct timespec t = {0, 500000000}; nanosleep(&t, 0); }\n\
        int fsync(int fd) { wait_for_disk(); return syscall(SYS_fsync, fd); }\n\
        int fdatasync(int fd) { wait_for_disk(); return syscall(SYS_fdatasync, fd); }\n";
    std::fs::write(&source, code).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let built = Command::new(compiler).args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(built.unwrap().success());
    library
}

#[test]
fn a_slow_disk() {
    let (data, tools) = (folder(), folder());
    let library = slow_disk(tools.path());
    let more = [
        "--shards",
        "1",
        "--set",
        "lake.seal_rows=1000",
        "--set",
        "lake.flush_rows=1000",
        "--set",
        "lake.flush_s=1",
    ];
    let server = Server::start_with(data.path(), &more, &[("LD_PRELOAD", library.to_str().unwrap())]);
    let packets: Vec<Vec<u8>> = (0..64).map(|number| options(&format!("disk-{number}"))).collect();
    let report = named(&server, "store.sync", || {
        udp(server.udp(), &packets, Mode::Plain, &Until::Count(640)).unwrap();
        std::thread::sleep(Duration::from_millis(50));
    });
    assert!(report["why"].as_str().unwrap().starts_with("store: "), "{report:#}");
    assert!(share(&report, "store.sync") > 0.5, "{report:#}");
    let command = report["remedies"][0]["command"].as_str().unwrap();
    assert_eq!(command, "wirelake serve --set lake.flush_rows=1048576 --set lake.flush_s=10");
    // The queue of rows that wait, and its limit.
    assert!(line(&report, "store.encode")["queue"]["limit"].as_u64() > Some(0), "{report:#}");
}

#[test]
fn a_slow_decoder() {
    let data = folder();
    let limit = 1 << 20;
    let server = Server::start(
        data.path(),
        &["--shards", "1", "--set", &format!("hep.inflate_max_bytes={limit}"), "--hep-udp", "127.0.0.1:0"],
    );
    // A kilobyte that inflates to more than is allowed: as much work as a message can make.
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![0; limit + 1]).unwrap();
    let bytes = encoder.finish().unwrap();
    let payload = Some(Payload { bytes: &bytes, compressed: true });
    let bombs = hep::encode(&Hep { payload, ..envelope() }).unwrap().repeat(64);
    let connection = std::sync::Mutex::new(TcpStream::connect(server.tcp()).unwrap());
    connection.lock().unwrap().set_write_timeout(Some(Duration::from_secs(5))).unwrap();
    let report = named(&server, "hep.decode", || {
        // The server reads as fast as it decodes, and the connection makes the sender wait.
        let _ = connection.lock().unwrap().write_all(&bombs);
    });
    assert!(share(&report, "hep.decode") > 10.0 * share(&report, "hep.append"), "{report:#}");
    assert_eq!(dropped(&server.ledger(), "kernel_buffer"), 0);
}

#[test]
fn a_small_receive_buffer() {
    let data = folder();
    let server = Server::start(data.path(), &["--shards", "1", "--set", "hep.rcvbuf_bytes=65536"]);
    let packets: Vec<Vec<u8>> = (100..164).map(|number| options(&format!("burst-{number}"))).collect();
    let report = named(&server, "hep.socket", || {
        udp(server.udp(), &packets, Mode::Gso, &Until::Count(6_400)).unwrap();
        std::thread::sleep(Duration::from_millis(300));
    });
    assert!(report["datagrams_lost"].as_u64() > Some(0), "{report:#}");
    assert!(report["why"].as_str().unwrap().contains("receive buffer"), "{report:#}");
    assert!(share(&report, "hep.wait") > 0.3, "{report:#}");
    assert_eq!(report["remedies"][0]["command"], "wirelake serve --set hep.rcvbuf_bytes=33554432");
}

#[test]
fn at_rest_nothing_is_the_limit() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let report = wait("three seconds", || {
        let report = server.json("/api/bottleneck");
        (report["seconds"].as_f64() > Some(3.0)).then_some(report)
    });
    assert_eq!((&report["limited"], &report["remedies"]), (&Value::Bool(false), &Value::Array(Vec::new())));
    let threads = report["threads"].as_array().unwrap();
    let names: Vec<_> = threads.iter().map(|crew| crew["threads"].as_str().unwrap()).collect();
    assert_eq!(names, ["shards", "writers"], "nothing captures: {report:#}");
    // Each thread's time is in its stages, all of it.
    for name in names {
        let lines = report["stages"].as_array().unwrap().iter().filter(|line| line["threads"] == name);
        let sum: f64 = lines.map(|line| line["share"].as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{name}: {sum}");
    }
    let json = run(&["doctor", "--live", "--json", "--server", &server.url()]);
    let answer: Value = serde_json::from_str(&text(&json)).unwrap();
    assert_eq!(answer["queries"], serde_json::json!({ "running": 0, "limit": 4 }));
    server.stop().well();
}

#[test]
fn nobody_at_home() {
    let output = run(&["doctor", "--live", "--server", "http://127.0.0.1:9"]);
    assert!(!output.status.success());
    let complaint = common::complaint(&output);
    assert!(complaint.contains("no wirelake answers"), "{complaint}");
}

#[test]
fn settings_are_shown_and_a_file_is_written_when_asked() {
    let place = folder();
    let file = place.path().join("60-wirelake.conf");
    let shown = text(&run(&["tune"]));
    assert!(shown.contains("net.core.rmem_max") && shown.contains("net.core.netdev_max_backlog"), "{shown}");
    assert!(!file.exists());
    let written = text(&run(&["tune", "--write", file.to_str().unwrap()]));
    assert!(written.contains("Written to"), "{written}");
    let settings = std::fs::read_to_string(&file).unwrap();
    assert!(settings.contains("net.core.rmem_max = "), "{settings}");
}
