use super::*;
use crate::protocols::sql::golden;
use crate::testkit::{Player, Said, assert_cuts_do_not_matter, client, play, play_coalesced, server, tuple};
use crate::{Limits, Protocol, Shape};

const PG: Protocol = Protocol::Postgresql;

/// A message with a type.
fn message(kind: u8, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[kind][..], &length.to_be_bytes(), body].concat()
}

fn startup(parameters: &str) -> Vec<u8> {
    let body = [&196_608_u32.to_be_bytes()[..], parameters.as_bytes(), b"\0"].concat();
    let length = u32::try_from(body.len() + 4).unwrap();
    [&length.to_be_bytes()[..], &body].concat()
}

fn query(text: &str) -> Vec<u8> {
    message(b'Q', format!("{text}\0"))
}

fn parse(name: &str, text: &str) -> Vec<u8> {
    message(b'P', format!("{name}\0{text}\0\0\0"))
}

fn bind(portal: &str, name: &str) -> Vec<u8> {
    message(b'B', format!("{portal}\0{name}\0\0\0\0\0\0\0"))
}

fn execute(portal: &str) -> Vec<u8> {
    message(b'E', format!("{portal}\0\0\0\0\0"))
}

fn sync() -> Vec<u8> {
    message(b'S', "")
}

fn ready() -> Vec<u8> {
    message(b'Z', "I")
}

fn done(tag: &str) -> Vec<u8> {
    message(b'C', format!("{tag}\0"))
}

fn row() -> Vec<u8> {
    message(b'D', b"\0\x01\0\0\0\x01x")
}

fn error(code: &str) -> Vec<u8> {
    message(b'E', format!("SFEHLER\0VERROR\0C{code}\0Mno good\0Dbecause\0\0"))
}

fn join(parts: &[Vec<u8>]) -> Vec<u8> {
    parts.concat()
}

/// A session that has begun.
fn session(talk: &[Said]) -> Vec<Said> {
    let mut all = vec![
        client(startup("user\0u\0database\0d\0")),
        server(join(&[message(b'R', [0, 0, 0, 0]), message(b'S', "a\0b\0"), message(b'K', [0; 8]), ready()])),
    ];
    all.extend_from_slice(talk);
    all
}

/// What comes out behind the start of the session, without times and what every request says.
fn after_start(talk: &[Said]) -> Vec<String> {
    brief(&assert_cuts_do_not_matter(PG, Start::Beginning, &session(talk))[4..])
}

fn brief(lines: &[String]) -> Vec<String> {
    let same = ["db.system.name=postgresql", "db.namespace=d", "begin", "Order"];
    let plain = |line: &String| {
        let words = line.split(' ').filter(|word| !same.contains(word));
        let words = words.filter(|word| !(word.starts_with('t') && word[1..].parse::<u32>().is_ok()));
        words.collect::<Vec<_>>().join(" ")
    };
    lines.iter().map(plain).collect()
}

fn probe(dir: Dir, bytes: &[u8]) -> Verdict {
    let shape = Shape::Stream { eof: false };
    let tuple = tuple(Transport::Tcp);
    let time = Nanos(0);
    Postgresql::probe(&Input {
        bytes,
        dir,
        first: time,
        time,
        shape,
        heard: model::Heard::All,
        segment_start: true,
        cut: 0,
        tuple: &tuple,
    })
}

#[test]
fn a_session_begins_also_where_encryption_is_refused() {
    let talk = [
        client([0, 0, 0, 8, 4, 210, 22, 48]),
        server("N"),
        client([0, 0, 0, 8, 4, 210, 22, 47]),
        server("N"),
        client(startup("user\0u\0application_name\0app\0")),
        server(message(b'R', b"\0\0\0\x05salt")),
        client(message(b'p', "md5secret\0")),
        server(join(&[message(b'R', [0, 0, 0, 0]), message(b'N', "SLOG\0Mhi\0\0"), ready()])),
        client(message(b'X', "")),
    ];
    let lines = assert_cuts_do_not_matter(PG, Start::Beginning, &talk);
    assert_eq!(
        lines,
        [
            "> begin Request Order t4 db.system.name=postgresql operation=CONNECT resource=u db.namespace=u \
             user.name=u db.client.application_name=app",
            "> end Request Order t4 bytes=37",
            "< begin Response Order t5",
            "< end Response Order t7 bytes=43 Ok notices=4 \
             postgresql.authentication=md5",
            "> begin OneWay Id(1) t8 db.system.name=postgresql db.namespace=u operation=TERMINATE",
            "> end OneWay Id(1) t8 bytes=5",
        ]
    );
}

#[test]
fn encryption_hands_the_flow_over() {
    let talk = [client([0, 0, 0, 8, 4, 210, 22, 47]), server("S")];
    let mut player = Player::new(PG, Start::Beginning, Limits::default());
    for said in &talk {
        player.bytes(said.dir, &said.bytes, true);
    }
    assert_eq!(player.lines(), [""; 0]);
    let talk = [client([0, 0, 0, 8, 4, 210, 22, 48]), server("G")];
    assert_eq!(play(PG, Start::Beginning, &talk), ["opaque gssapi"]);
}

#[test]
fn a_cancel_request_is_one_way() {
    let talk = [client([0, 0, 0, 16, 4, 210, 22, 46, 0, 0, 0, 1, 9, 9, 9, 9])];
    assert_eq!(
        assert_cuts_do_not_matter(PG, Start::Beginning, &talk),
        [
            "> begin OneWay Id(1) t0 db.system.name=postgresql operation=CANCEL",
            "> end OneWay Id(1) t0 bytes=16"
        ]
    );
}

#[test]
fn a_refused_session_has_the_error() {
    let talk = [client(startup("user\0u\0")), server(error("28P01"))];
    let lines = assert_cuts_do_not_matter(PG, Start::Beginning, &talk);
    assert_eq!(
        lines[3],
        "< end Response Order t1 bytes=46 Error status_code=28P01 error=no good \
         postgresql.severity=ERROR postgresql.detail=because"
    );
}

#[test]
fn simple_queries() {
    let talk = [
        client(query("SELECT * FROM t")),
        server(join(&[message(b'T', [0; 9]), row(), row(), done("SELECT 2"), ready()])),
        client(query("INSERT INTO t VALUES (1); UPDATE t SET a = 1; SELECT 1")),
        server(join(&[done("INSERT 0 1"), done("UPDATE 3"), row(), done("SELECT 1"), ready()])),
        client(query("")),
        server(join(&[message(b'I', ""), ready()])),
        client(query("SELECT nope")),
        server(join(&[error("42703"), ready()])),
        client(query("CREATE TABLE n AS SELECT 1")),
        server(join(&[done("SELECT 1"), ready()])),
    ];
    assert_eq!(
        after_start(&talk),
        [
            "> Request operation=SELECT resource=t db.collection.name=t db.query.text=SELECT * FROM t",
            "> end Request bytes=21",
            "< Response",
            "< end Response bytes=58 Ok db.response.returned_rows=2",
            "> Request operation=INSERT resource=t db.collection.name=t db.query.text=INSERT INTO t VALUES \
             (1); UPDATE t SET a = 1; SELECT 1",
            "> end Request bytes=60",
            "< Response",
            "< end Response bytes=62 Ok db.response.returned_rows=1 db.response.affected_rows=4 \
             db.operation.batch.size=3",
            "> Request operation=QUERY",
            "> end Request bytes=6",
            "< Response",
            "< end Response bytes=11 Ok",
            "> Request operation=SELECT db.query.text=SELECT nope",
            "> end Request bytes=17",
            "< Response",
            "< end Response bytes=46 Error status_code=42703 error=no good postgresql.severity=ERROR \
             postgresql.detail=because",
            "> Request operation=CREATE resource=n db.collection.name=n db.query.text=CREATE TABLE n AS \
             SELECT 1",
            "> end Request bytes=32",
            "< Response",
            "< end Response bytes=20 Ok db.response.affected_rows=1",
        ]
    );
}

#[test]
fn prepared_once_and_run_often() {
    let talk = [
        client(join(&[parse("s", "DELETE FROM t WHERE a = $1"), message(b'D', "Ss\0"), sync()])),
        server(join(&[message(b'1', ""), message(b't', [0; 6]), message(b'n', ""), ready()])),
        client(join(&[bind("", "s"), execute(""), sync()])),
        server(join(&[message(b'2', ""), done("DELETE 7"), ready()])),
        client(join(&[bind("p", "s"), execute("p"), message(b'H', "")])),
        server(join(&[message(b'2', ""), row(), message(b's', "")])),
        client(join(&[execute("p"), sync()])),
        server(join(&[row(), done("SELECT 1"), ready()])),
        client(join(&[message(b'C', "Ss\0"), sync()])),
        server(join(&[message(b'3', ""), ready()])),
        client(join(&[bind("", "s"), message(b'D', "P\0"), execute(""), sync()])),
        server(join(&[error("26000"), ready()])),
    ];
    let lines = after_start(&talk);
    let text = "resource=t db.collection.name=t db.query.text=DELETE FROM t WHERE a = $1";
    assert_eq!(
        lines,
        [
            &format!("> Request operation=PREPARE {text}"),
            "> end Request bytes=49",
            "< Response",
            "< end Response bytes=27 Ok",
            &format!("> Request operation=DELETE {text}"),
            "> end Request bytes=24",
            "< Response",
            "< end Response bytes=25 Ok db.response.affected_rows=7",
            &format!("> Request operation=DELETE {text}"),
            "> end Request bytes=26",
            "< Response",
            "< end Response bytes=22 Ok db.response.returned_rows=1",
            &format!("> Request operation=DELETE {text}"),
            "> end Request bytes=11",
            "< Response",
            "< end Response bytes=32 Ok db.response.returned_rows=1",
            "> Request operation=CLOSE",
            "> end Request bytes=13",
            "< Response",
            "< end Response bytes=11 Ok",
            "> Request notices=2 operation=EXECUTE db.prepared_statement=s",
            "> end Request bytes=31",
            "< Response",
            "< end Response bytes=46 Error status_code=26000 error=no good postgresql.severity=ERROR \
             postgresql.detail=because",
        ]
    );
}

#[test]
fn a_pipeline_has_an_answer_for_each_statement_and_an_error_skips_the_rest() {
    let run = |text| join(&[parse("", text), bind("", ""), execute("")]);
    let answer = |tag| join(&[message(b'1', ""), message(b'2', ""), done(tag)]);
    let talk = [
        client(join(&[
            run("INSERT INTO a SELECT 1"),
            run("TABLE b"),
            run("TABLE c"),
            run("TABLE d"),
            sync(),
        ])),
        client(join(&[run("TABLE e"), sync()])),
        server(join(&[answer("INSERT 0 1"), message(b'1', ""), error("42P01"), ready()])),
        server(join(&[answer("SELECT 0"), ready()])),
    ];
    let ends = |lines: Vec<String>| {
        let end = |line: &String| line.contains("operation") || line.contains("end Response");
        lines.into_iter().filter(end).collect::<Vec<_>>()
    };
    let lines = ends(after_start(&talk));
    assert_eq!(
        lines,
        [
            "> Request operation=INSERT resource=a db.collection.name=a db.query.text=INSERT INTO a SELECT 1",
            "> Request operation=TABLE resource=b db.collection.name=b db.query.text=TABLE b",
            "> Request operation=TABLE resource=c db.collection.name=c db.query.text=TABLE c",
            "> Request operation=TABLE resource=d db.collection.name=d db.query.text=TABLE d",
            "> Request operation=TABLE resource=e db.collection.name=e db.query.text=TABLE e",
            "< end Response bytes=26 Ok db.response.affected_rows=1",
            "< end Response bytes=51 Error status_code=42P01 error=no good postgresql.severity=ERROR \
             postgresql.detail=because",
            "< end Response bytes=0 Error error=skipped after an error earlier in the pipeline",
            "< end Response bytes=0 Error error=skipped after an error earlier in the pipeline",
            "< end Response bytes=30 Ok db.response.returned_rows=0",
        ]
    );
    let coalesced = ends(brief(&play_coalesced(PG, Start::Beginning, &session(&talk))[4..]));
    assert_eq!(lines, coalesced);
}

#[test]
fn a_commit_that_fails_belongs_to_the_statement_before() {
    let talk = [
        client(join(&[parse("", "DELETE FROM t"), bind("", ""), execute(""), sync()])),
        server(join(&[message(b'1', ""), message(b'2', ""), done("DELETE 1"), error("23505"), ready()])),
        client(sync()),
        server(ready()),
    ];
    let lines = after_start(&talk);
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert_eq!(
        lines[3],
        "< end Response bytes=70 Error db.response.affected_rows=1 status_code=23505 error=no good \
         postgresql.severity=ERROR postgresql.detail=because"
    );
}

#[test]
fn an_answer_may_begin_before_its_request_is_whole() {
    let talk = [
        client(join(&[parse("", "DELETE FROM t"), bind("", "")])),
        server(join(&[message(b'1', ""), message(b'2', "")])),
        client(join(&[execute(""), sync()])),
        server(join(&[done("DELETE 1"), ready()])),
    ];
    let lines = after_start(&talk);
    assert!(lines[0].starts_with("> Request operation=DELETE resource=t"), "{lines:?}");
    assert_eq!(
        lines[1..],
        ["< Response", "> end Request bytes=45", "< end Response bytes=30 Ok db.response.affected_rows=1"]
    );
}

#[test]
fn copy_both_ways() {
    let talk = [
        client(query("COPY t FROM STDIN")),
        server(message(b'G', [0; 3])),
        client(join(&[message(b'd', "1\n"), message(b'd', [b'x'; 3_000]), message(b'c', "")])),
        server(join(&[done("COPY 2"), ready()])),
        client(query("COPY t TO STDOUT")),
        server(join(&[
            message(b'H', [0; 3]),
            message(b'd', "1\n"),
            message(b'c', ""),
            done("COPY 1"),
            ready(),
        ])),
        // libpq sends a Sync with the Execute, which the server discards, and another behind the data.
        client(join(&[parse("", "COPY t FROM STDIN"), bind("", ""), execute(""), sync()])),
        server(join(&[message(b'1', ""), message(b'2', ""), message(b'G', [0; 3])])),
        client(join(&[message(b'd', "1\n"), message(b'f', "no more\0"), sync()])),
        server(join(&[error("57014"), ready()])),
        client(query("SHOW x")),
        server(join(&[row(), done("SHOW"), ready()])),
    ];
    let lines = after_start(&talk);
    let ends: Vec<_> = lines.iter().filter(|line| line.contains("end Response")).collect();
    assert_eq!(
        ends,
        [
            "< end Response bytes=26 Ok db.response.affected_rows=2 postgresql.copy.bytes=3002",
            "< end Response bytes=38 Ok db.response.affected_rows=1 postgresql.copy.bytes=2",
            "< end Response bytes=64 Error postgresql.copy.bytes=2 status_code=57014 error=no good \
             postgresql.severity=ERROR postgresql.detail=because",
            "< end Response bytes=28 Ok db.response.returned_rows=1",
        ]
    );
}

#[test]
fn what_the_server_says_unasked() {
    let talk = [
        server(message(b'A', b"\0\0\0\x01ch\0payload\0")),
        server(message(b'N', "SWARNING\0C01000\0Mhello\0\0")),
        client(query("LISTEN ch")),
        server(join(&[message(b'A', b"\0\0\0\x01ch\0\0"), done("LISTEN"), ready()])),
        server(error("57P01")),
    ];
    assert_eq!(
        after_start(&talk),
        [
            "< OneWay Id(1) operation=NOTIFICATION resource=ch",
            "< end OneWay Id(1) bytes=20",
            "< OneWay Id(2) operation=NOTICE status_code=01000 db.response.notice=hello \
             postgresql.severity=WARNING",
            "< end OneWay Id(2) bytes=29",
            "> Request operation=LISTEN db.query.text=LISTEN ch",
            "> end Request bytes=15",
            "< OneWay Id(3) operation=NOTIFICATION resource=ch",
            "< end OneWay Id(3) bytes=13",
            "< Response",
            "< end Response bytes=18 Ok",
            "< OneWay Id(4) operation=ERROR status_code=57P01 error=no good postgresql.severity=ERROR \
             postgresql.detail=because",
            "< end OneWay Id(4) bytes=46 Error",
        ]
    );
}

#[test]
fn function_calls_and_replication() {
    let talk = [
        client(message(b'F', [0; 12])),
        server(join(&[message(b'V', [0; 8]), ready()])),
        client(query("START_REPLICATION SLOT s LOGICAL 0/0")),
        server(message(b'W', [0; 3])),
        server(message(b'd', [b'k'; 20])),
    ];
    assert_eq!(
        after_start(&talk),
        [
            "> Request operation=FUNCTION CALL",
            "> end Request bytes=17",
            "< Response",
            "< end Response bytes=19 Ok",
            "> Request operation=START_REPLICATION db.query.text=START_REPLICATION SLOT s LOGICAL 0/0",
            "> end Request bytes=42",
            "< Response",
            "< end Response bytes=8 Ok",
            "opaque replication",
        ]
    );
}

#[test]
fn secrets_and_long_statements() {
    let long = format!("SELECT '{}' FROM t", "x".repeat(100_000));
    let talk = [
        client(query("ALTER ROLE r PASSWORD 'hunter2'")),
        server(join(&[done("ALTER ROLE"), ready()])),
        client(query(&long)),
        server(join(&[done("SELECT 0"), ready()])),
        client(join(&[parse("l", &long), bind("", "l"), execute(""), sync()])),
        server(join(&[message(b'1', ""), message(b'2', ""), done("SELECT 0"), ready()])),
    ];
    let lines = brief(&play(PG, Start::Beginning, &session(&talk))[4..]);
    assert_eq!(
        lines[0],
        "> Request notices=4 operation=ALTER db.query.text=ALTER ROLE r PASSWORD \\\'[redacted]\\\'"
    );
    for at in [4, 8] {
        assert!(lines[at].starts_with("> Request notices=1 operation=SELECT db.query.text=SELECT"));
        assert_eq!(lines[at].len(), "> Request notices=1 operation=SELECT db.query.text=\\".len() + 1_024);
    }
    assert_eq!(lines[5], "> end Request bytes=100022");
}

#[test]
fn joined_in_the_middle() {
    let talk = [
        server(b"garbage of a row"),
        client(b"ge of a query\0"),
        server(join(&[row(), done("SELECT 9"), ready()])),
        client(join(&[bind("", "before"), execute(""), sync()])),
        server(join(&[message(b'2', ""), done("UPDATE 1"), ready()])),
        client(query("SELECT 1")),
        server(join(&[done("SELECT 1"), ready()])),
    ];
    let lines = play(PG, Start::Middle, &talk);
    assert_eq!(
        brief(&lines),
        [
            "< Response",
            "< end Response bytes=32",
            "> Request notices=2 operation=EXECUTE db.prepared_statement=before",
            "> end Request bytes=29",
            "< Response",
            "< end Response bytes=25 Ok db.response.affected_rows=1",
            "> Request operation=SELECT db.query.text=SELECT 1",
            "> end Request bytes=14",
            "< Response",
            "< end Response bytes=20 Ok db.response.affected_rows=1",
        ]
    );
    // Before the server was heard to be idle, nothing is paired.
    let early = [client(query("SELECT 1")), server(join(&[done("SELECT 1"), ready()]))];
    assert_eq!(brief(&play(PG, Start::Middle, &early)), ["< Response", "< end Response bytes=20"]);
}

#[test]
fn nothing_is_paired_across_a_gap() {
    for dir in Dir::BOTH {
        let mut player = Player::new(PG, Start::Beginning, Limits::default());
        for said in session(&[client(query("SELECT 1"))]) {
            player.bytes(said.dir, &said.bytes, true);
            player.clock += 1_000;
        }
        player.gap(dir, 100);
        let before = player.lines().len();
        player.bytes(Dir::ToClient, &join(&[row(), done("SELECT 1"), ready()]), true);
        player.clock += 1_000;
        // Held back behind the gap: it is older than what the server has said.
        player.clock -= 1_500;
        player.bytes(Dir::ToServer, &query("SELECT 2"), true);
        player.clock += 1_500;
        player.bytes(Dir::ToClient, &join(&[done("SELECT 2"), ready()]), true);
        player.clock += 1_000;
        player.bytes(Dir::ToServer, &query("SELECT 3"), true);
        player.bytes(Dir::ToClient, &join(&[done("SELECT 3"), ready()]), true);
        let lines = brief(&player.finish()[before..]);
        let requests: Vec<_> = lines.iter().filter(|line| line.contains("Request operation")).collect();
        assert_eq!(requests, ["> Request operation=SELECT db.query.text=SELECT 3"], "{dir:?}");
        assert_eq!(lines.last().unwrap(), "< end Response bytes=20 Ok db.response.affected_rows=3");
    }
}

#[test]
fn a_gap_inside_a_row_harms_nothing() {
    let mut player = Player::new(PG, Start::Beginning, Limits::default());
    for said in session(&[client(query("SELECT 1"))]) {
        player.bytes(said.dir, &said.bytes, true);
    }
    let large = message(b'D', vec![b'x'; 10_000]);
    player.bytes(Dir::ToClient, &large[..100], true);
    player.gap(Dir::ToClient, 9_000);
    player.bytes(Dir::ToClient, &[&large[9_100..], &done("SELECT 1"), &ready()].concat(), true);
    let lines = player.finish();
    assert!(lines.last().unwrap().contains("bytes=10025 Ok db.response.returned_rows=1"), "{lines:?}");
}

#[test]
fn errors_have_their_cause() {
    let errors = |talk: &[Said]| play(PG, Start::Beginning, talk).last().unwrap().clone();
    assert_eq!(errors(&[client([0, 0, 0, 9, 0, 2, 0, 0, 0])]), "errors 1 bad_magic");
    assert_eq!(errors(&[client([0, 1, 0, 0, 0, 3, 0, 0, 0])]), "errors 1 bad_length");
    assert_eq!(errors(&session(&[client(b"?\0\0\0\x04")])), "errors 1 bad_magic");
    assert_eq!(errors(&session(&[client(b"S\0\0\0\x05")])), "errors 1 bad_length");
    let mismatch = session(&[client(query("SELECT 1")), server(message(b'1', ""))]);
    assert_eq!(errors(&mismatch), "errors 1 out_of_step");
    let mut endless = session(&[]);
    endless.push(client(sync().repeat(MAX_PENDING + 1)));
    assert_eq!(errors(&endless), "errors 1 too_large");
}

#[test]
fn probes() {
    assert_eq!(probe(Dir::ToServer, &[0, 0, 0, 8, 4, 210, 22, 47]), Verdict::Yes);
    assert_eq!(probe(Dir::ToServer, &startup("user\0u\0")), Verdict::Yes);
    assert_eq!(probe(Dir::ToServer, &[0, 0, 0]), Verdict::NeedMore);
    assert_eq!(probe(Dir::ToServer, &query("SELECT 1")), Verdict::Likely);
    assert_eq!(probe(Dir::ToServer, &query("SELECT 1")[..9]), Verdict::Likely);
    assert_eq!(probe(Dir::ToServer, b"QUIT\r\n"), Verdict::No);
    assert_eq!(probe(Dir::ToServer, b"GET / HTTP/1.1\r\n"), Verdict::No);
    assert_eq!(probe(Dir::ToServer, &[0, 0, 0, 30, 0, 18, 0, 4, 0, 0, 0, 1]), Verdict::No);
    assert_eq!(probe(Dir::ToClient, &join(&[message(b'R', [0, 0, 0, 0]), ready()])), Verdict::Likely);
    assert_eq!(probe(Dir::ToClient, b"HTTP/1.1 200 OK\r\n"), Verdict::No);
}

#[test]
fn the_state_of_a_flow_is_small() {
    assert!(size_of::<Postgresql>() <= 1_024, "{}", size_of::<Postgresql>());
}

#[test]
fn recorded_conversations() {
    golden::check("postgresql", 15_432, PG);
}
