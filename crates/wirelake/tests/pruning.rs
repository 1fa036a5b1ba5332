//! Files that cannot hold an answer are not read, and the plan says so.

mod common;

use std::io::Write;
use std::net::TcpStream;

use common::packets::{EPOCH, envelope, request, wrap};
use common::{Server, folder, wait};
use envelope::hep::{Hep, RawTime};
use serde_json::Value;

const FILES: u64 = 10;
const EACH: u64 = 200;

/// What was read of the table `sip` for a query.
fn scan(server: &Server, query: &str) -> Value {
    let (status, answer) = server.ask(query);
    assert_eq!(status, 200, "{query}: {answer}");
    let scans = answer["scan"].as_array().unwrap();
    scans.iter().find(|scan| scan["table"] == "sip").unwrap().clone()
}

#[test]
fn files_without_an_answer_are_left_out() {
    let data = folder();
    // A file of its own for each part: an hour of calls, flushed when it is there.
    let rows = format!("lake.flush_rows={EACH}");
    let seal = format!("lake.seal_rows={EACH}");
    let server = Server::start(data.path(), &["--shards", "1", "--set", &rows, "--set", &seal]);
    let mut stream = TcpStream::connect(server.tcp()).unwrap();
    for file in 0..FILES {
        let mut packets = Vec::new();
        for number in 0..EACH {
            let sec = EPOCH + u32::try_from(file * 3_600 + number).unwrap();
            let id = format!("call-{file}-{number}");
            let cid = format!("leg-{file}-{number}");
            let hep = Hep {
                time: Some(RawTime { sec, usec: 0 }),
                correlation_id: Some(cid.as_bytes()),
                ..envelope()
            };
            packets.extend(wrap(&hep, request("INVITE", &id).as_bytes()));
        }
        stream.write_all(&packets).unwrap();
        wait("a file", || (server.ledger()["store"]["durable"] == (file + 1) * EACH).then_some(()));
    }
    let whole = scan(&server, "SELECT count(*) FROM sip");
    let files = whole["files"].as_u64().unwrap();
    assert!(files >= FILES && whole["files_scanned"] == files, "{whole}");

    // By time: one hour of ten.
    let hour = "ts >= TIMESTAMPTZ '2023-11-15 02:13:20Z' AND ts < '2023-11-15 02:30:00Z'";
    assert_eq!(server.number(&format!("SELECT count(*) AS n FROM sip WHERE {hour}")), EACH);
    let one = scan(&server, &format!("SELECT count(*) FROM sip WHERE {hour}"));
    let read = one["files_scanned"].as_u64().unwrap();
    assert!(read < files / 2 && one["pruned_by_time"] == files - read, "{one}");
    let none = scan(&server, "SELECT count(*) FROM sip WHERE ts < '2020-01-01'");
    assert_eq!((&none["files_scanned"], &none["pruned_by_time"]), (&0.into(), &files.into()), "{none}");

    // By Call-ID and correlation id: one file, or now and then one that only looks as if.
    for condition in ["call_id = 'call-7-42'", "cid = 'leg-7-42'", "call_id IN ('call-7-42', 'nobody')"] {
        assert_eq!(
            server.number(&format!("SELECT count(*) AS n FROM sip WHERE {condition}")),
            1,
            "{condition}"
        );
        let found = scan(&server, &format!("SELECT * FROM sip WHERE {condition}"));
        let read = found["files_scanned"].as_u64().unwrap();
        assert!((1..=3).contains(&read), "{condition}: {found}");
        assert_eq!(found["pruned_by_bloom"], files - read, "{condition}: {found}");
    }
    // What is not certain prunes nothing.
    for condition in
        ["call_id LIKE 'call-7-42'", "call_id = 'call-7-42' OR method = 'BYE'", "NOT call_id = 'call-7-42'"]
    {
        let found = scan(&server, &format!("SELECT * FROM sip WHERE {condition}"));
        assert_eq!(found["files_scanned"], files, "{condition}: {found}");
    }

    // The plan ends with what was read; so do search and call, which ask in the same way.
    let plan = server.sql("EXPLAIN SELECT * FROM sip WHERE call_id = 'call-3-1'");
    let last = plan.last().unwrap();
    let sentence = last["explain_value"].as_str().unwrap();
    println!("{sentence}");
    assert!(last["explain_key"] == "lake" && sentence.contains(&format!("of {files} files read")), "{last}");
    assert!(!sentence.contains("0 by bloom filter"), "{sentence}");
    let found = server.json("/api/search?call_id=call-3-1");
    assert_eq!(found["row_count"], 1);
    assert!(found["scan"][0]["files_scanned"].as_u64() <= Some(3), "{found}");
    assert_eq!(server.json("/api/calls/call-3-1")["messages"].as_array().unwrap().len(), 1);

    // After a restart it is the same: what is known of the files is in the log and in them.
    server.stop().well();
    let server = Server::start(data.path(), &[]);
    let found = scan(&server, "SELECT * FROM sip WHERE call_id = 'call-7-42'");
    assert!(found["files_scanned"].as_u64() <= Some(3) && found["files"] == files, "{found}");
    assert_eq!(server.rows("sip"), FILES * EACH);
}
