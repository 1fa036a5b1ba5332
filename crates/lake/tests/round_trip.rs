//! Rows go in, are seen at once, become files, and are found again by the next process.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use envelope::hep;
use lake::rows::{Arrival, Payload, RowOptions, Rows};
use lake::{Answer, Codec, Engine, EngineOptions, FileOptions, FlushLimits, Lake, LakeOptions};

const INVITE: &[u8] = include_bytes!("../../../tests/vectors/hep3_invite.bin");
const HEP2: &[u8] = include_bytes!("../../../tests/vectors/hep2_le_options.bin");
const SPEC: &[u8] = include_bytes!("../../../tests/vectors/hep3_spec_example.bin");
const NOW: i64 = 1_800_000_000_000_000_000;

fn options() -> LakeOptions {
    LakeOptions {
        flush: FlushLimits { rows: 1 << 20, bytes: 1 << 30, age: Duration::from_secs(3_600) },
        file: FileOptions { compression: Codec::Zstd(1), row_group_rows: 1_000 },
        writers: 1,
        hot_limit_bytes: 1 << 30,
        close_timeout: Duration::from_secs(5),
    }
}

fn engine(lake: &Arc<Lake>) -> Engine {
    let options =
        EngineOptions { memory_mib: 128, bloom_mib: 8, threads: 2, timeout: Duration::from_secs(30) };
    Engine::new(Arc::clone(lake), &options).unwrap()
}

fn append(lake: &Lake, packets: &[Vec<u8>]) {
    let mut rows = Rows::new(packets.len(), RowOptions::default());
    let arrival = Arrival { received_ns: NOW, peer: IpAddr::V4(Ipv4Addr::LOCALHOST), key_checked: false };
    for packet in packets {
        let hep = hep::open(packet).unwrap();
        rows.append(
            &hep,
            hep.payload.map_or(Payload::Missing, |payload| Payload::Plain(payload.bytes)),
            &arrival,
        );
    }
    rows.seal(|sealed| lake.append(sealed.table, sealed.rows, sealed.held_bytes));
}

fn number(answer: &Answer) -> i64 {
    answer.batches[0].column(0).as_primitive::<Int64Type>().value(0)
}

fn with_call_id(number: usize) -> Vec<u8> {
    let text = format!("{number:05}");
    let mut packet = INVITE.to_vec();
    for at in 0..packet.len() - 5 {
        if &packet[at..at + 5] == b"12345" {
            packet[at..at + 5].copy_from_slice(text.as_bytes());
        }
    }
    packet
}

fn count(engine: &Engine, sql: &str) -> i64 {
    number(&engine.query(sql, 10).unwrap())
}

#[test]
fn rows_are_seen_at_once_and_again_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let lake = Lake::open(folder.path(), options()).unwrap();
    append(&lake, &[INVITE.to_vec(), HEP2.to_vec(), SPEC.to_vec()]);
    let sql = engine(&lake);
    assert_eq!(count(&sql, "SELECT count(*) FROM sip"), 3);
    let question = "SELECT CAST(epoch_us(ts) AS BIGINT) FROM sip WHERE call_id = 'hep2-le@x' AND src_ip = '10.0.0.1' AND node_id = 2001";
    assert_eq!(count(&sql, question), 1_700_000_000_123_456);
    append(&lake, &[INVITE.to_vec()]);
    assert_eq!(count(&sql, "SELECT count(*) FROM sip"), 4);
    assert_eq!(lake.close(), 0);
    assert_eq!(count(&sql, "SELECT count(*) FROM sip"), 4);
    drop(sql);
    drop(lake);

    let lake = Lake::open(folder.path(), options()).unwrap();
    let sql = engine(&lake);
    assert_eq!(count(&sql, "SELECT count(*) FROM sip"), 4);
    assert_eq!(count(&sql, question), 1_700_000_000_123_456);
    assert_eq!(count(&sql, "SELECT count(*) FROM sip WHERE parse_error LIKE '%no_call_id%'"), 1);
    assert_eq!(count(&sql, "SELECT count(*) FROM sip WHERE date = DATE '2011-08-15'"), 1);
    assert_eq!(count(&sql, "SELECT count(*) FROM hep_proto_1_call WHERE caller = 'alice'"), 2);
    lake.close();
}

#[test]
fn files_are_pruned_by_bloom_filter_and_by_time() {
    let folder = tempfile::tempdir().unwrap();
    let lake = Lake::open(folder.path(), options()).unwrap();
    for file in 0..8 {
        let packets: Vec<_> = (0..100).map(|at| with_call_id(file * 100 + at)).collect();
        append(&lake, &packets);
        lake.flush();
        while lake.books()[0].1.hot > 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let sql = engine(&lake);
    let found = sql
        .query("SELECT count(*) FROM sip WHERE call_id = 'bench-callid-00321@atlanta.example.com'", 10)
        .unwrap();
    assert_eq!(number(&found), 1);
    assert_eq!(found.scan[0].files, 8);
    assert!(found.scan[0].pruned_by_bloom >= 6, "{:?}", found.scan);
    let found = sql.query("SELECT count(*) FROM sip WHERE cid IN ('x', 'y') OR call_id = 'z'", 10).unwrap();
    assert_eq!(number(&found), 0);
    let found = sql
        .query(
            "SELECT count(*) FROM sip WHERE ts < now() - INTERVAL 30 DAY AND ts > TIMESTAMP '2020-01-01'",
            10,
        )
        .unwrap();
    assert_eq!(number(&found) > 0, found.scan[0].files_scanned > 0);
    let plan = sql.query("EXPLAIN SELECT count(*) FROM sip WHERE call_id = 'nobody'", 100).unwrap();
    let last = plan.batches.last().unwrap();
    assert!(last.column(1).as_string::<i32>().value(0).contains("8 by bloom filter"), "{last:?}");
    lake.close();
}

#[test]
fn a_lake_has_one_writer_and_any_number_of_readers() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Lake::read_only(Path::new("/nonexistent/lake"), options()).unwrap_err();
    assert!(missing.to_string().contains("there is no lake"));
    let lake = Lake::open(folder.path(), options()).unwrap();
    append(&lake, &[INVITE.to_vec()]);
    let second = Lake::open(folder.path(), options()).unwrap_err().to_string();
    assert!(second.contains("in use") && second.contains(&std::process::id().to_string()), "{second}");
    lake.close();
    let reader = Lake::read_only(folder.path(), options()).unwrap();
    assert_eq!(count(&engine(&reader), "SELECT count(*) FROM sip"), 1);
}

#[test]
fn queries_cannot_reach_beyond_the_lake() {
    let folder = tempfile::tempdir().unwrap();
    let lake = Lake::open(folder.path(), options()).unwrap();
    let sql = engine(&lake);
    for query in [
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM '/etc/hostname'",
        "COPY (SELECT 1) TO '/tmp/x'",
        "SET threads = 1",
        "SELECT 1; SELECT 2",
        "ATTACH '/tmp/x.db'",
    ] {
        assert!(sql.query(query, 10).is_err(), "{query}");
    }
    lake.close();
}
#[test]
fn many_dates_do_not_make_many_files() {
    let folder = tempfile::tempdir().unwrap();
    let lake = Lake::open(folder.path(), options()).unwrap();
    let packets: Vec<_> = (0..200u32)
        .map(|day| {
            let mut packet = INVITE.to_vec();
            let at = packet.windows(6).position(|w| w == [0, 0, 0, 9, 0, 10]).unwrap() + 6;
            packet[at..at + 4].copy_from_slice(&(1_500_000_000 + day * 86_400).to_be_bytes());
            packet
        })
        .collect();
    append(&lake, &packets);
    assert_eq!(lake.close(), 0);
    drop(lake);
    let lake = Lake::open(folder.path(), options()).unwrap();
    assert_eq!(lake.view(&model::table::SIP).files.len(), 32);
    let sql = engine(&lake);
    assert_eq!(count(&sql, "SELECT count(DISTINCT date) FROM sip"), 200);
    assert_eq!(count(&sql, "SELECT count(*) FROM sip WHERE date = DATE '2017-12-25'"), 1);
    lake.close();
}
