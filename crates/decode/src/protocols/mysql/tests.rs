use super::*;
use crate::protocols::sql::golden;
use crate::testkit::{Player, Said, assert_cuts_do_not_matter, client, play, server, tuple};
use crate::{Limits, Protocol, Shape};
use model::{Heard, Nanos};

const MY: Protocol = Protocol::Mysql;

const CLASSIC: u32 = 0x0000_8200;
const DEPRECATE: u32 = 0x0100_8200;

/// A packet.
fn packet(sequence: u8, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    let [a, b, c, _] = u32::try_from(payload.len()).unwrap().to_le_bytes();
    [&[a, b, c, sequence], payload].concat()
}

/// Packets numbered from 1.
fn answer(payloads: &[&[u8]]) -> Vec<u8> {
    payloads.iter().enumerate().flat_map(|(i, payload)| packet(i as u8 + 1, payload)).collect()
}

fn command(code: u8, body: impl AsRef<[u8]>) -> Vec<u8> {
    packet(0, [&[code], body.as_ref()].concat())
}

fn query(text: &str) -> Vec<u8> {
    command(command::QUERY, text)
}

/// The greeting of a server; `version` says which, `extended` are MariaDB's capabilities.
fn greeting(version: &str, capabilities: u32, extended: u32) -> Vec<u8> {
    let [a, b, c, d] = capabilities.to_le_bytes();
    let mut payload =
        [&[10], version.as_bytes(), &[0, 1, 0, 0, 0], b"saltsalt\0", &[a, b, 45, 2, 0, c, d, 21]].concat();
    payload.extend_from_slice(&[0; 6]);
    payload.extend_from_slice(&extended.to_le_bytes());
    payload.extend_from_slice(b"saltsaltsalt\0mysql_native_password\0");
    packet(0, payload)
}

fn login(capabilities: u32, extended: u32) -> Vec<u8> {
    let mut payload = (capabilities | 8).to_le_bytes().to_vec();
    payload.extend_from_slice(&[0, 0, 0, 1, 45]);
    payload.extend_from_slice(&[0; 19]);
    payload.extend_from_slice(&extended.to_le_bytes());
    payload.extend_from_slice(b"me\0\x04hash");
    payload.extend_from_slice(b"db\0mysql_native_password\0");
    packet(1, payload)
}

const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
const EOF: &[u8] = &[0xfe, 0, 0, 2, 0];
const EOF_MORE: &[u8] = &[0xfe, 0, 0, 10, 0];
const END: &[u8] = &[0xfe, 0, 0, 2, 0, 0, 0];
const COLUMN: &[u8] = b"\x03def\0\0\0\x01a\0\x0c\x3f\0\x01\0\0\0\x08\x81\0\0\0\0";
const ROW: &[u8] = b"\x01x";
const ERROR: &[u8] = b"\xff\x28\x04#42000no good";

/// A session that has begun.
fn session(capabilities: u32, talk: &[Said]) -> Vec<Said> {
    let mut all = vec![
        server(greeting("8.0.36", capabilities | 9, 0)),
        client(login(capabilities | 1, 0)),
        server(packet(2, OK)),
    ];
    all.extend_from_slice(talk);
    all
}

fn after_login(capabilities: u32, talk: &[Said]) -> Vec<String> {
    brief(&assert_cuts_do_not_matter(MY, Start::Beginning, &session(capabilities, talk))[4..])
}

/// Without times and what every request says.
fn brief(lines: &[String]) -> Vec<String> {
    let same = ["db.system.name=mysql", "db.namespace=db", "begin", "Order"];
    let plain = |line: &String| {
        let words = line.split(' ').filter(|word| !same.contains(word));
        let words = words.filter(|word| !(word.starts_with('t') && word[1..].parse::<u32>().is_ok()));
        words.collect::<Vec<_>>().join(" ")
    };
    lines.iter().map(plain).collect()
}

fn ends(lines: &[String]) -> Vec<&str> {
    let ends = lines.iter().filter_map(|line| line.strip_prefix("< end Response "));
    ends.collect()
}

fn probe(dir: Dir, bytes: &[u8]) -> Verdict {
    let shape = Shape::Stream { eof: false };
    let tuple = tuple(Transport::Tcp);
    let time = Nanos(0);
    Mysql::probe(&Input {
        bytes,
        dir,
        first: time,
        time,
        shape,
        heard: Heard::All,
        segment_start: true,
        cut: 0,
        tuple: &tuple,
    })
}

#[test]
fn a_login_with_another_method() {
    let talk = [
        server(greeting("5.5.5-10.11.6-MariaDB", CLASSIC, 0)),
        client(login(CLASSIC, 0)),
        server(packet(2, b"\xfecaching_sha2_password\0salt")),
        client(packet(3, b"proof")),
        server(packet(4, b"\x01\x04")),
        client(packet(5, b"password\0")),
        server(packet(6, OK)),
        client(command(command::QUIT, "")),
    ];
    assert_eq!(
        assert_cuts_do_not_matter(MY, Start::Beginning, &talk),
        [
            "> begin Request Order t1 notices=4 db.system.name=mariadb operation=CONNECT resource=db \
             db.namespace=db user.name=me",
            "> end Request Order t1 bytes=69",
            "< begin Response Order t2",
            "< end Response Order t6 bytes=48 Ok",
            "> begin OneWay Id(1) t7 operation=QUIT db.system.name=mariadb db.namespace=db",
            "> end OneWay Id(1) t7 bytes=5",
        ]
    );
}

#[test]
fn what_ends_a_session_early() {
    let blocked = [server(packet(0, b"\xff\x10\x04Too many connections"))];
    assert_eq!(
        assert_cuts_do_not_matter(MY, Start::Beginning, &blocked),
        [
            "< begin OneWay Id(1) t0 db.system.name=mysql operation=ERROR db.response.status_code=1040 \
             error=Too many connections",
            "< end OneWay Id(1) t0 bytes=27 Error",
        ]
    );
    let refused =
        [server(greeting("8.0.36", CLASSIC, 0)), client(login(CLASSIC, 0)), server(packet(2, ERROR))];
    let lines = assert_cuts_do_not_matter(MY, Start::Beginning, &refused);
    assert_eq!(
        lines[3],
        "< end Response Order t2 bytes=20 Error db.response.status_code=1064 status_code=42000 error=no good"
    );
    let idle = [server(packet(0, b"\xff\xbf\x0f#HY000idle for too long"))];
    assert!(
        after_login(CLASSIC, &idle)[0]
            .ends_with("db.response.status_code=4031 status_code=HY000 error=idle for too long")
    );
}

#[test]
fn secrets_are_redacted_also_where_an_error_quotes_them() {
    let quoted = b"\xff\x28\x04#42000You have an error near 'usr u identified by 'hunter2'' at line 1";
    let talk = [client(query("create usr u identified by 'hunter2'")), server(packet(1, quoted))];
    let lines = after_login(CLASSIC, &talk);
    assert!(lines[0].starts_with("> Request notices=4") && lines[3].contains(" notices=4 "), "{lines:?}");
    assert!(lines[3].ends_with("near \\'usr u identified by \\'[redacted]"), "{lines:?}");
    assert!(!lines.concat().contains("hunter2"));
}

#[test]
fn tls_and_compression() {
    let request = [&0x0000_8a00_u32.to_le_bytes()[..], &[0; 28]].concat();
    let talk = [server(greeting("8.0.36", 0x8a00, 0)), client(packet(1, request))];
    let mut player = Player::new(MY, Start::Beginning, Limits::default());
    for said in &talk {
        player.bytes(said.dir, &said.bytes, true);
    }
    assert_eq!(player.lines(), [""; 0]);
    for compression in [1 << 5, 1 << 26] {
        let lines = play(MY, Start::Beginning, &session(CLASSIC | compression, &[client([1; 20])]));
        assert_eq!(lines[4..], ["opaque compressed"]);
    }
}

#[test]
fn result_sets_with_and_without_eof() {
    let classic = answer(&[&[2], COLUMN, COLUMN, EOF, ROW, b"\xfb", b"\0", EOF]);
    let modern = answer(&[&[2], COLUMN, COLUMN, ROW, b"\xfb", b"\0", END]);
    let asked = client(query("SELECT * FROM t"));
    let want = [
        "> Request operation=SELECT resource=t db.collection.name=t db.query.text=SELECT * FROM t",
        "> end Request bytes=20",
        "< Response",
    ];
    let got = after_login(CLASSIC, &[asked.clone(), server(&classic)]);
    assert_eq!(got[..3], want);
    assert_eq!(got[3], format!("< end Response bytes={} Ok db.response.returned_rows=3", classic.len()));
    let got = after_login(DEPRECATE, &[asked.clone(), server(&modern)]);
    assert_eq!(got[..3], want);
    assert_eq!(got[3], format!("< end Response bytes={} Ok db.response.returned_rows=3", modern.len()));
    // Nothing was agreed on before the capture began: what comes says what it is.
    for whole in [classic, modern] {
        let got = play(MY, Start::Middle, &[asked.clone(), server(&whole)]);
        assert!(got[3].ends_with("Ok db.response.returned_rows=3"), "{got:?}");
    }
}

#[test]
fn several_results() {
    let ok_more: &[u8] = &[0, 3, 0xfc, 0, 1, 10, 0, 1, 0];
    let talk = [
        client(query("UPDATE t SET a = 1; SELECT 1; SELECT 2")),
        server(answer(&[ok_more, &[1], COLUMN, EOF, ROW, EOF_MORE, &[1], COLUMN, EOF, ROW, ROW, EOF])),
        client(query("CALL p()")),
        server(answer(&[&[1], COLUMN, EOF, ROW, EOF_MORE, OK])),
        client(query("SELECT 1; SELECT nope")),
        server(answer(&[&[1], COLUMN, EOF, ROW, EOF_MORE, ERROR])),
        client(query("SELECT dies")),
        server(answer(&[&[1], COLUMN, EOF, ROW, ERROR])),
    ];
    assert_eq!(
        ends(&after_login(CLASSIC, &talk)),
        [
            "bytes=131 Ok db.response.returned_rows=3 db.response.affected_rows=3 \
             mysql.last_insert_id=256 db.response.warnings=1 mysql.results=3",
            "bytes=67 Ok db.response.returned_rows=1 mysql.results=2",
            "bytes=76 Error db.response.returned_rows=1 db.response.status_code=1064 status_code=42000 error=no good",
            "bytes=67 Error db.response.returned_rows=1 db.response.status_code=1064 status_code=42000 error=no good",
        ]
    );
}

#[test]
fn prepared_statements() {
    let prepared = |number: u8, columns: u8, parameters: u8| -> Vec<u8> {
        vec![0, number, 0, 0, 0, columns, 0, parameters, 0, 0, 0, 0]
    };
    let numbered = |code, number: u8, more: &[u8]| command(code, [&[number, 0, 0, 0], more].concat());
    let run = [0, 1, 0, 0, 0];
    let talk = |eof: &'static [u8], definitions: [&[u8]; 2]| {
        let with = |payloads: &[&[u8]]| {
            answer(&payloads.iter().copied().filter(|p| !p.is_empty()).collect::<Vec<_>>())
        };
        vec![
            client(command(command::STMT_PREPARE, "SELECT a FROM t WHERE b = ? AND c = ?")),
            server(with(&[&prepared(7, 1, 2), COLUMN, COLUMN, definitions[0], COLUMN, definitions[1]])),
            client(numbered(command::STMT_EXECUTE, 7, &run)),
            server(with(&[&[1], COLUMN, definitions[0], b"\0\0\x01x", b"\0\0\x01x", eof])),
            client(command(command::STMT_SEND_LONG_DATA, [&[7, 0, 0, 0, 0, 0][..], &[b'x'; 100]].concat())),
            client(numbered(command::STMT_RESET, 7, &[])),
            server(answer(&[OK])),
            client(numbered(command::STMT_CLOSE, 7, &[])),
            client(numbered(command::STMT_EXECUTE, 7, &run)),
            server(answer(&[ERROR])),
            client(command(command::STMT_PREPARE, "DELETE FROM u")),
            server(with(&[&prepared(8, 0, 0)])),
            client(command(command::STMT_PREPARE, "DELETE FROM v WHERE a = ?")),
            server(with(&[&prepared(9, 0, 1), COLUMN, definitions[0]])),
            client(numbered(command::STMT_EXECUTE, 8, &run)),
            server(answer(&[&[0, 4, 0, 2, 0, 0, 0]])),
        ]
    };
    for (capabilities, eof, between) in [(CLASSIC, EOF, EOF), (DEPRECATE, END, b"")] {
        let talk = talk(eof, [between, between]);
        let lines = after_login(capabilities, &talk);
        let text = "resource=t db.collection.name=t db.query.text=SELECT a FROM t WHERE b = ? AND c = ?";
        let asked: Vec<_> = lines.iter().filter(|line| line.contains("operation=")).collect();
        assert_eq!(
            asked,
            [
                &format!("> Request operation=PREPARE {text}"),
                &format!("> Request operation=SELECT {text}"),
                &format!("> OneWay Id(1) operation=STMT_SEND_LONG_DATA {text}"),
                &format!("> Request operation=STMT_RESET {text}"),
                &format!("> OneWay Id(2) operation=STMT_CLOSE {text}"),
                "> Request notices=2 operation=EXECUTE db.prepared_statement=7",
                "> Request operation=PREPARE resource=u db.collection.name=u db.query.text=DELETE FROM u",
                "> Request operation=PREPARE resource=v db.collection.name=v db.query.text=DELETE FROM v WHERE \
                 a = ?",
                "> Request operation=DELETE resource=u db.collection.name=u db.query.text=DELETE FROM u",
            ]
        );
        let answers = ends(&lines);
        assert_eq!(answers.len(), 7);
        assert!(answers[1].ends_with("Ok db.response.returned_rows=2"), "{answers:?}");
        assert!(answers[6].ends_with("Ok db.response.affected_rows=4"), "{answers:?}");
        // Joined in the middle, the same comes out, but for an `EOF` that nobody can be sure of.
        let middle = brief(&play(MY, Start::Middle, &talk));
        let told = |ends: Vec<&str>| {
            let told = ends.iter().filter_map(|end| end.split_once(' '));
            told.map(|(_, told)| told.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(told(ends(&middle)), told(answers));
    }
}

#[test]
fn mariadb_pipelines_and_bulk() {
    let last = [0xff, 0xff, 0xff, 0xff];
    let talk = [
        client(
            [
                command(command::STMT_PREPARE, "INSERT INTO t VALUES (?)"),
                command(command::STMT_EXECUTE, [&last[..], &[0, 1, 0, 0, 0]].concat()),
                command(command::STMT_BULK_EXECUTE, [&last[..], &[0x80, 0, 3, 0]].concat()),
            ]
            .concat(),
        ),
        server(
            [
                answer(&[&[0, 5, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0], COLUMN, EOF]),
                answer(&[&[0, 1, 0, 2, 0, 0, 0]]),
                answer(&[&[0, 9, 0, 2, 0, 0, 0]]),
            ]
            .concat(),
        ),
    ];
    let lines = after_login(CLASSIC, &talk);
    let text = "resource=t db.collection.name=t db.query.text=INSERT INTO t VALUES (?)";
    let asked: Vec<_> = lines.iter().filter(|line| line.contains("operation=")).collect();
    assert_eq!(
        asked,
        [
            &format!("> Request operation=PREPARE {text}"),
            &format!("> Request operation=INSERT {text}"),
            &format!("> Request operation=INSERT {text}"),
        ]
    );
    assert_eq!(
        ends(&lines),
        ["bytes=52 Ok", "bytes=11 Ok db.response.affected_rows=1", "bytes=11 Ok db.response.affected_rows=9"]
    );
}

#[test]
fn metadata_that_is_left_out() {
    // MariaDB: a flag behind the count. MySQL: before it.
    let mariadb = [
        server(greeting("5.5.5-11.4.2-MariaDB", DEPRECATE, 1 << 4)),
        client(login(DEPRECATE, 1 << 4)),
        server(packet(2, OK)),
        client(query("SELECT 1")),
        server(answer(&[&[2, 1], COLUMN, COLUMN, ROW, END])),
        client(query("SELECT 1")),
        server(answer(&[&[2, 0], ROW, END])),
    ];
    let lines = brief(&assert_cuts_do_not_matter(MY, Start::Beginning, &mariadb)[4..]);
    assert!(ends(&lines).iter().all(|end| end.ends_with("Ok db.response.returned_rows=1")), "{lines:?}");
    let mysql = [
        client(query("SELECT 1")),
        server(answer(&[&[1, 2], COLUMN, COLUMN, ROW, END])),
        client(query("SELECT 1")),
        server(answer(&[&[0, 2], ROW, END])),
    ];
    let lines = after_login(DEPRECATE | 1 << 25, &mysql);
    assert!(ends(&lines).iter().all(|end| end.ends_with("Ok db.response.returned_rows=1")), "{lines:?}");
}

#[test]
fn cursors_fetches_and_lists() {
    let talk = [
        client(command(command::STMT_EXECUTE, [1, 0, 0, 0, 1, 1, 0, 0, 0])),
        server(answer(&[&[1], COLUMN, &[0xfe, 0, 0, 0x42, 0]])),
        client(command(command::STMT_FETCH, [1, 0, 0, 0, 5, 0, 0, 0])),
        server(answer(&[b"\0\0\x01x", b"\0\0\x01x", &[0xfe, 0, 0, 0x82, 0]])),
        client(command(command::FIELD_LIST, b"t\0")),
        server(answer(&[COLUMN, COLUMN, EOF])),
    ];
    let lines = after_login(CLASSIC, &talk);
    assert_eq!(
        ends(&lines),
        [
            "bytes=41 Ok db.response.returned_rows=0",
            "bytes=25 Ok db.response.returned_rows=2",
            "bytes=63 Ok db.response.returned_rows=2",
        ]
    );
}

#[test]
fn a_local_file() {
    let talk = [
        client(query("LOAD DATA LOCAL INFILE 'f' INTO TABLE t")),
        server(packet(1, b"\xfb/tmp/f")),
        client([packet(2, [b'x'; 300]), packet(3, b"yy"), packet(4, b"")].concat()),
        server(packet(5, [0, 2, 0, 2, 0, 0, 0])),
        client(query("LOAD DATA LOCAL INFILE 'f' INTO TABLE t")),
        server(packet(1, b"\xfb/tmp/f")),
        client(packet(2, b"")),
        server(packet(3, ERROR)),
    ];
    let lines = after_login(CLASSIC, &talk);
    assert_eq!(
        ends(&lines),
        [
            "bytes=22 Ok db.response.affected_rows=2 mysql.local_infile.bytes=302",
            "bytes=31 Error mysql.local_infile.bytes=0 db.response.status_code=1064 status_code=42000 error=no good",
        ]
    );
}

#[test]
fn other_commands() {
    let talk = [
        client(command(0x0e, "")),
        server(answer(&[OK])),
        client(command(command::INIT_DB, "other")),
        server(answer(&[OK])),
        client(command(0x09, "")),
        server(answer(&[b"Uptime: 7"])),
        client(command(0x1b, [0, 0])),
        server(answer(&[EOF])),
        client(command(command::RESET_CONNECTION, "")),
        server(answer(&[OK])),
        client(command(command::CHANGE_USER, b"you\0\x04hashthird\0\x2d\0mysql_native_password\0")),
        server(packet(1, b"\xfemysql_native_password\0salt")),
        client(packet(2, b"proof")),
        server(packet(3, OK)),
        client(query("use fourth")),
        server(answer(&[OK])),
        client(query("OPTIMIZE TABLE t")),
        server(answer(&[b"\xff\xff\xff\x01\x01\x02\0\0\0\x05stage", OK])),
        client(command(0x1e, [0; 20])),
        server(packet(1, b"\0event")),
    ];
    let lines = after_login(CLASSIC, &talk);
    let asked: Vec<_> = lines.iter().filter(|line| line.contains("operation=")).collect();
    assert_eq!(
        asked,
        [
            "> Request operation=PING",
            "> Request operation=INIT_DB resource=other",
            "> Request operation=STATISTICS db.namespace=other",
            "> Request operation=SET_OPTION db.namespace=other",
            "> Request operation=RESET_CONNECTION db.namespace=other",
            "> Request notices=4 operation=CHANGE_USER resource=third db.namespace=third user.name=you",
            "> Request operation=USE resource=fourth db.query.text=use fourth db.namespace=third",
            "> Request operation=OPTIMIZE resource=t db.collection.name=t db.query.text=OPTIMIZE TABLE t \
             db.namespace=fourth",
            "> Request operation=BINLOG_DUMP_GTID db.namespace=fourth",
        ]
    );
    assert_eq!(ends(&lines).len(), 9);
    assert_eq!(lines.last().unwrap(), "opaque replication");
}

#[test]
fn query_attributes_are_passed_over() {
    let with: &[u8] = b"\x02\x01\x00\x01\xfd\x00\x03foo\x08\x00\x00\x03bar\x01\0\0\0\0\0\0\0SELECT 1";
    let none: &[u8] = b"\x00\x01SELECT 2";
    let broken: &[u8] = b"\x7f\x01\x00";
    let mut talk = Vec::new();
    for body in [with, none, broken] {
        talk.push(client(command(command::QUERY, body)));
        talk.push(server(answer(&[OK])));
    }
    let lines = after_login(CLASSIC | 1 << 27, &talk);
    assert_eq!(lines[0], "> Request operation=SELECT db.query.text=SELECT 1");
    assert_eq!(lines[4], "> Request operation=SELECT db.query.text=SELECT 2");
    assert_eq!(lines[8], "> Request notices=2 operation=QUERY");
    let lines = brief(&play(MY, Start::Middle, &talk[..4]));
    assert_eq!(lines[0], "> Request operation=SELECT db.query.text=SELECT 1");
}

#[test]
fn packets_of_sixteen_megabytes_go_on_in_the_next() {
    let long = [&[command::QUERY][..], b"INSERT INTO t VALUES ('", &vec![b'x'; 0xff_ffff - 24]].concat();
    assert_eq!(long.len(), 0xff_ffff);
    let row = vec![b'y'; 0xff_ffff];
    let talk = session(
        CLASSIC,
        &[
            client([packet(0, &long), packet(1, b"')")].concat()),
            server(packet(2, OK)),
            client(query("SELECT a")),
            server(
                [
                    packet(1, [1]),
                    packet(2, COLUMN),
                    packet(3, EOF),
                    packet(4, &row),
                    packet(5, b"\xfe\0"),
                    packet(6, EOF),
                ]
                .concat(),
            ),
        ],
    );
    let lines = brief(&play(MY, Start::Beginning, &talk)[4..]);
    assert_eq!(lines[1], format!("> end Request bytes={}", 0xff_ffff + 4 + 6));
    assert!(lines[3].ends_with("Ok db.response.affected_rows=0"));
    assert!(lines.last().unwrap().ends_with("Ok db.response.returned_rows=1"), "{lines:?}");
}

#[test]
fn joined_in_the_middle() {
    let talk = [
        server([b'x'; 50]),
        client(b"some rest of a command"),
        server([b'x'; 50]),
        client(command(command::STMT_EXECUTE, [9, 0, 0, 0, 0, 1, 0, 0, 0])),
        server(answer(&[OK])),
    ];
    assert_eq!(
        brief(&play(MY, Start::Middle, &talk)),
        [
            "> Request notices=2 operation=EXECUTE db.prepared_statement=9",
            "> end Request bytes=14",
            "< Response",
            "< end Response bytes=11 Ok db.response.affected_rows=0",
        ]
    );
}

#[test]
fn nothing_is_paired_across_a_gap() {
    for dir in Dir::BOTH {
        let mut player = Player::new(MY, Start::Beginning, Limits::default());
        for said in session(CLASSIC, &[client(query("SELECT 1"))]) {
            player.bytes(said.dir, &said.bytes, true);
            player.clock += 1_000;
        }
        player.gap(dir, 100);
        let before = player.lines().len();
        player.bytes(Dir::ToClient, &answer(&[&[1], COLUMN, EOF, ROW, EOF]), true);
        // Held back behind the gap: older than what the server has said.
        player.clock -= 500;
        player.bytes(Dir::ToServer, &query("SELECT 2"), true);
        player.clock += 500;
        player.bytes(Dir::ToClient, &answer(&[OK]), true);
        player.clock += 1_000;
        player.bytes(Dir::ToServer, &query("SELECT 3"), true);
        player.bytes(Dir::ToClient, &answer(&[&[0, 3, 0, 2, 0, 0, 0]]), true);
        let lines = brief(&player.finish()[before..]);
        assert_eq!(
            lines,
            [
                "> Request operation=SELECT db.query.text=SELECT 3",
                "> end Request bytes=13",
                "< Response",
                "< end Response bytes=11 Ok db.response.affected_rows=3",
            ],
            "{dir:?}"
        );
    }
}

#[test]
fn an_answer_to_nothing_is_not_given_to_the_next() {
    let talk =
        [server(answer(&[&[1], COLUMN, EOF, ROW, EOF])), client(query("SELECT 1")), server(answer(&[OK]))];
    let lines = brief(&play(MY, Start::Beginning, &session(CLASSIC, &talk))[4..]);
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert_eq!(lines[3], "< end Response bytes=11 Ok db.response.affected_rows=0");
}

#[test]
fn errors_have_their_cause() {
    let errors = |talk: &[Said]| play(MY, Start::Beginning, talk).last().unwrap().clone();
    assert_eq!(errors(&[server(packet(0, b"\x09old protocol"))]), "errors 1 bad_magic");
    assert_eq!(errors(&[server(packet(0, b"\x0a8.0\0short"))]), "errors 1 truncated");
    let asked = |answer: Vec<u8>| session(CLASSIC, &[client(query("SELECT 1")), server(answer)]);
    assert_eq!(errors(&asked(packet(3, OK))), "errors 1 bad_sequence");
    assert_eq!(errors(&asked(packet(1, ""))), "errors 1 bad_length");
    assert_eq!(errors(&session(CLASSIC, &[client(command(0x70, ""))])), "errors 1 bad_magic");
    assert_eq!(errors(&session(CLASSIC, &[client(packet(0, ""))])), "errors 1 bad_length");
    let ping = session(CLASSIC, &[client(command(0x0e, "")), server(packet(1, [7; 9]))]);
    assert_eq!(errors(&ping), "errors 1 out_of_step");
    let many = session(CLASSIC, &[client(command(0x0e, "").repeat(MAX_PENDING + 1))]);
    assert_eq!(errors(&many), "errors 1 too_large");
}

#[test]
fn probes() {
    assert_eq!(probe(Dir::ToClient, &greeting("8.0.36", CLASSIC, 0)), Verdict::Yes);
    assert_eq!(probe(Dir::ToClient, &greeting("8.0.36", CLASSIC, 0)[..7]), Verdict::NeedMore);
    assert_eq!(probe(Dir::ToClient, b"HTTP/1.1 200 OK"), Verdict::No);
    assert_eq!(probe(Dir::ToServer, &login(CLASSIC, 0)), Verdict::Yes);
    assert_eq!(probe(Dir::ToServer, &query("SELECT 1")), Verdict::Likely);
    assert_eq!(probe(Dir::ToServer, &query("SELECT 1")[..7]), Verdict::No);
    assert_eq!(probe(Dir::ToServer, b"GET / HTTP/1.1\r\n"), Verdict::No);
}

#[test]
fn the_state_of_a_flow_is_small() {
    assert!(size_of::<Mysql>() <= 1_024, "{}", size_of::<Mysql>());
}

#[test]
fn recorded_conversations() {
    golden::check("mysql", 13_306, MY);
}
