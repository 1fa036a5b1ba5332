//! The ends and the edges of a run: SIGTERM under load, SIGHUP, a second server, a disk that refuses, files that are damaged.

mod common;

use std::fs;
use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use common::packets::{envelope, options, request, wrap};
use common::{Server, balanced, complaint, dropped, folder, run, wait};
use envelope::hep::Hep;
use listen::Stop;
use listen::send::{Mode, Until, tcp, udp};
use tempfile::TempDir;

#[test]
fn nothing_received_is_lost_by_sigterm_under_load() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let (over_udp, over_tcp) = (server.udp(), server.tcp());
    let stop = Stop::new().unwrap();
    let packets: Vec<Vec<u8>> = (0..64).map(|number| options(&format!("load-{number}"))).collect();
    let stream = packets.concat();
    let ledger = thread::scope(|scope| {
        for _ in 0..2 {
            // Both end with an error when the server has gone.
            scope.spawn(|| udp(over_udp, &packets, Mode::Sendmmsg, &Until::Stop(stop.clone())));
            scope.spawn(|| tcp(over_tcp, &stream, &Until::Stop(stop.clone())));
        }
        wait("some load", || (server.ledger()["store"]["accepted"].as_u64() > Some(100_000)).then_some(()));
        let stopped = server.stop();
        stop.set();
        stopped.well()
    });
    println!("in {} out {} drops {}", ledger["in"], ledger["out"], ledger["drops"]);
    assert_eq!(ledger["store"]["durable"], ledger["out"]["total"]);
    // What the kernel had taken by then has been read to the end; only what came too late was refused.
    for reason in ledger["drops"].as_array().unwrap() {
        let expected = ["kernel_buffer", "stopping", "frame_incomplete"];
        assert!(expected.contains(&reason["reason"].as_str().unwrap()), "{ledger:#}");
    }
    let server = Server::start(data.path(), &[]);
    assert_eq!(ledger["out"]["total"], server.rows("sip"));
}

#[test]
fn what_is_reloadable_is_reloaded() {
    let data = folder();
    let file = data.path().join("wirelake.toml");
    let write = |text: &str| fs::write(&file, text).unwrap();
    write("[hep]\nkey = \"one\"\n");
    let server = Server::start(&data.path().join("lake"), &["--config", file.to_str().unwrap()]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let send = |key: &str, call_id: &str| {
        let hep = Hep { auth_key: Some(key.as_bytes()), ..envelope() };
        socket.send_to(&wrap(&hep, request("OPTIONS", call_id).as_bytes()), server.udp()).unwrap();
    };
    send("one", "first");
    server.settled(1);

    write("[hep]\nkey = \"two\"\nrcvbuf_bytes = 1048576\n");
    server.signal("HUP");
    server.says("the configuration was reloaded");
    server.says("take effect after a restart");
    let told = server.log();
    let restart = told.lines().find(|line| line.contains("after a restart")).unwrap();
    assert!(restart.contains("hep.rcvbuf_bytes") && !restart.contains("hep.key"), "{restart}");
    let taken = told.lines().find(|line| line.contains("was reloaded")).unwrap();
    assert!(taken.contains("hep.key") && !taken.contains("two"), "{taken}");
    // A shard takes the key up with its next batch, and one is due every tick.
    thread::sleep(Duration::from_millis(200));
    send("one", "second");
    send("two", "third");
    let ledger = server.settled(3);
    assert_eq!(dropped(&ledger, "auth_wrong"), 1, "{ledger:#}");

    write("[hep]\nkey = \"three\"\nprot = 1\n");
    server.signal("HUP");
    server.says("the configuration was not reloaded");
    let told = server.log();
    let refused = told.split_once("was not reloaded").unwrap().1;
    assert!(refused.contains("wirelake.toml:3") && refused.contains("prot"), "{refused}");
    send("two", "fourth");
    send("three", "fifth");
    balanced(&server.settled(5));
    let found = server.sql("SELECT call_id FROM sip ORDER BY received, call_id");
    let found: Vec<&str> = found.iter().map(|row| row["call_id"].as_str().unwrap()).collect();
    assert_eq!(found, ["first", "third", "fourth"]);
    server.stop().well();
}

/// The one sentence of a program that gave up.
fn refusal(output: &Output) -> String {
    let text = complaint(output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    assert!(output.stdout.is_empty());
    text
}

fn serve(data: &Path, more: &[&str]) -> Output {
    let mut arguments = vec!["serve", "--data", data.to_str().unwrap()];
    for flag in ["--hep-udp", "--hep-tcp", "--api"] {
        if !more.contains(&flag) {
            arguments.extend([flag, "127.0.0.1:0"]);
        }
    }
    arguments.extend(more);
    run(&arguments)
}

#[test]
fn a_second_server_is_told_why_not() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let text = refusal(&serve(data.path(), &[]));
    assert!(text.contains("is in use by another wirelake") && text.contains("--data"), "{text}");
    let other = folder();
    let api = server.url().replace("http://", "");
    for (flag, address) in
        [("--hep-udp", server.udp().to_string()), ("--hep-tcp", server.tcp().to_string()), ("--api", api)]
    {
        let text = refusal(&serve(other.path(), &[flag, &address]));
        assert!(text.contains(&address) && text.contains("taken") && text.contains(flag), "{text}");
        assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    }
    server.stop().well();
}

#[test]
fn a_wrong_configuration_names_its_line_and_the_way_out() {
    let data = folder();
    let file = data.path().join("wirelake.toml");
    for (content, words) in [
        ("[hep]\n\nrcvbuf_byte = 1\n", &["wirelake.toml:3", "rcvbuf_byte", "rcvbuf_bytes"][..]),
        ("[hepp]\nkey = \"x\"\n", &["wirelake.toml:1", "hepp", "hep"]),
        ("[lake]\nseal_rows = \"many\"\n", &["wirelake.toml:2", "seal_rows"]),
        ("[lake]\nseal_rows = 0\n", &["wirelake.toml:2", "seal_rows"]),
        ("[lake\n", &["wirelake.toml:1"]),
    ] {
        fs::write(&file, content).unwrap();
        for command in ["serve", "check"] {
            let text = refusal(&run(&[command, "--config", file.to_str().unwrap()]));
            for word in words {
                assert!(text.contains(word), "{word}: {text}");
            }
        }
    }
    let text = refusal(&run(&["check", "--config", "/nowhere/wirelake.toml"]));
    assert!(text.contains("/nowhere/wirelake.toml") && text.contains("cannot be read"), "{text}");
    let text = refusal(&serve(&file, &[]));
    assert!(text.contains("wirelake.toml"), "{text}");
    let text = refusal(&run(&["check", "--set", "hep.nothing=1"]));
    assert!(text.contains("nothing"), "{text}");
}

/// A small disk of its own.
struct Disk {
    folder: TempDir,
}

impl Disk {
    /// `None`, with a line that says so, where it cannot be made.
    fn new(size: &str) -> Option<Self> {
        let folder = folder();
        let made = mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"], folder.path());
        if !made {
            println!("skipped: a disk of its own can only be made by root");
        }
        made.then_some(Self { folder })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).output();
    }
}

fn mount(arguments: &[&str], folder: &Path) -> bool {
    Command::new("mount").args(arguments).arg(folder).output().is_ok_and(|output| output.status.success())
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let Some(disk) = Disk::new("1m") else { return };
    assert!(mount(&["-o", "remount,ro"], disk.path()));
    let text = refusal(&serve(&disk.path().join("lake"), &[]));
    assert!(text.contains(disk.path().to_str().unwrap()), "{text}");
    assert_eq!(text.matches("Read-only").count(), 1, "{text}");
}

#[test]
fn a_full_disk_holds_tcp_back_and_loses_nothing() {
    const MESSAGES: u64 = 100_000;
    let Some(disk) = Disk::new("96m") else { return };
    let small = [
        "--shards",
        "1",
        "--set",
        "memory.budget_mib=16",
        "--set",
        "lake.flush_mib=4",
        "--set",
        "lake.flush_s=1",
        "--set",
        "lake.seal_ms=50",
    ];
    let server = Server::start(&disk.path().join("lake"), &small);
    let ballast = disk.path().join("ballast");
    fill(&ballast);
    let address = server.tcp();
    let sender = thread::spawn(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        for number in 0..MESSAGES {
            stream.write_all(&options(&format!("full-{number}"))).unwrap();
        }
    });
    let health = wait("a complaint about the disk", || {
        let health = server.json("/api/health");
        health["reasons"].to_string().contains("files cannot be written").then_some(health)
    });
    println!("{health}");
    assert_eq!(health["status"], "degraded");
    assert!(health["reasons"].to_string().contains("No space left"), "{health}");

    // Reading stops when the memory that is allowed is used, and goes no further.
    let mut last = (server.ledger()["in"]["hep_tcp"].clone(), Instant::now());
    let held = wait("reading to stop", || {
        let now = server.ledger();
        if now["in"]["hep_tcp"] != last.0 {
            last = (now["in"]["hep_tcp"].clone(), Instant::now());
        }
        (last.1.elapsed() > Duration::from_millis(1_500)).then_some(now)
    });
    assert!(!sender.is_finished() && held["in"]["hep_tcp"].as_u64() < Some(MESSAGES), "{held:#}");
    balanced(&held);
    assert_eq!(held["drops_total"], 0, "{held:#}");
    println!(
        "held back after {} of {MESSAGES} messages with {} MiB",
        held["in"]["hep_tcp"],
        server.memory("VmRSS") >> 20
    );
    // Nor does the log repeat itself meanwhile.
    assert_eq!(server.log().matches("files cannot be written").count(), 1, "{}", server.log());
    // What is in memory can still be asked for.
    assert_eq!(server.number("SELECT count(*) AS n FROM sip WHERE call_id = 'full-0'"), 1);

    fs::remove_file(&ballast).unwrap();
    sender.join().unwrap();
    let ledger = server.settled(MESSAGES);
    balanced(&ledger);
    assert_eq!(server.rows("sip"), MESSAGES);
    wait("health", || (server.json("/api/health")["status"] == "ok").then_some(()));
    let ledger = server.stop().well();
    assert_eq!(ledger["store"]["durable"], MESSAGES);
    // Of tries that failed nothing is left over: every file is in the log.
    let files = parquet(&disk.path().join("lake/sip"));
    let server = Server::start(&disk.path().join("lake"), &[]);
    let tables = server.json("/api/tables");
    assert_eq!(tables[0]["files"], files.len(), "{files:?}");
    assert_eq!(server.rows("sip"), MESSAGES);
}

/// Writes to a file until its disk is full but for a little.
fn fill(path: &Path) {
    let mut file = fs::File::create(path).unwrap();
    while file.write_all(&[0; 64 << 10]).is_ok() {}
    let length = file.metadata().unwrap().len();
    file.set_len(length - (64 << 10)).unwrap();
}

/// The Parquet files of a table.
fn parquet(table: &Path) -> Vec<PathBuf> {
    let folders =
        fs::read_dir(table).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    files.filter(|path| path.extension().is_some_and(|extension| extension == "parquet")).collect()
}

/// A lake with some rows in one file.
fn lake_with_rows() -> TempDir {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for number in 0..10 {
        socket.send_to(&options(&format!("row-{number}")), server.udp()).unwrap();
    }
    server.settled(10);
    server.stop().well();
    data
}

#[test]
fn a_damaged_file_is_named_by_the_query_that_meets_it() {
    for damage in ["garbage", "half", "none"] {
        let data = lake_with_rows();
        let [file] = &parquet(&data.path().join("sip"))[..] else { panic!("one file was expected") };
        let length = usize::try_from(fs::metadata(file).unwrap().len()).unwrap();
        match damage {
            "garbage" => fs::write(file, vec![0x5a; length]).unwrap(),
            "half" => {
                fs::OpenOptions::new().write(true).open(file).unwrap().set_len(length as u64 / 2).unwrap()
            }
            _ => fs::remove_file(file).unwrap(),
        }
        let mut server = Server::start(data.path(), &[]);
        let name = file.file_name().unwrap().to_str().unwrap();
        for query in ["SELECT max(payload) FROM sip", "SELECT * FROM sip WHERE call_id = 'row-1'"] {
            let (status, answer) = server.ask(query);
            let text = answer["error"].as_str().unwrap_or_else(|| panic!("{damage}: {query}: {answer}"));
            println!("{damage}: {status} {text}");
            assert!(status == 500 && text.contains(name), "{damage}: {query}: {status} {text}");
            assert_eq!(text.lines().count(), 1, "{text}");
        }
        // Rows that come in are as good as ever.
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(&options("after"), server.udp()).unwrap();
        balanced(&server.settled(1));
        assert!(server.is_alive());
        server.stop().well();
    }
}

#[test]
fn a_damaged_log_is_named_at_the_start() {
    let data = lake_with_rows();
    let log = data.path().join("sip/_delta_log");
    let mut entries: Vec<_> = fs::read_dir(&log).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let entry =
        entries.iter().rfind(|path| path.extension().is_some_and(|extension| extension == "json")).unwrap();
    let content = fs::read(entry).unwrap();
    for damage in [&b"{\"add\":{\"path\":\n"[..], b"not json at all\n", b"\xff\xfe\x00\n"] {
        fs::write(entry, [&content, damage].concat()).unwrap();
        let text = refusal(&serve(data.path(), &[]));
        println!("{text}");
        assert!(text.contains(entry.to_str().unwrap()) && text.contains("line "), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("wirelake: ")).count(), 1, "{text}");
    }
    fs::write(entry, content).unwrap();
    assert_eq!(Server::start(data.path(), &[]).rows("sip"), 10);
}
