//! Conversations as bytes: each is played whole and cut at every place.

use super::Redis;
use crate::{Decoder, Input, Limits, Protocol, Shape, Start, Verdict, pcap, testkit::*};
use model::{Dir, Heard, Nanos, Transport};

/// Words as a command.
fn command(words: &str) -> String {
    let words: Vec<&str> = words.split(' ').collect();
    let mut text = format!("*{}\r\n", words.len());
    for word in words {
        text.push_str(&format!("${}\r\n{word}\r\n", word.len()));
    }
    text
}

/// What comes out, without the begins of responses and the ends of requests.
fn talk(talk: &[Said]) -> Vec<String> {
    brief(assert_cuts_do_not_matter(Protocol::Redis, Start::Beginning, talk))
}

fn brief(lines: Vec<String>) -> Vec<String> {
    lines
        .into_iter()
        .filter(|line| !line.contains("begin Response") && !line.contains("end Request"))
        .map(|line| {
            line.replace(" db.system.name=redis", "")
                .replace(" Order", "")
                .replace("redis.reply.type", "type")
                .replace("db.query.text", "text")
                .replace("db.response.returned_rows", "rows")
                .replace("redis.args", "args")
        })
        .collect()
}

#[test]
fn a_pipeline_has_a_reply_for_each() {
    let asked = [command("set k secret-value"), command("GET k"), "PING \"a b\"\r\n\r\n*0\r\n".to_owned()];
    assert_eq!(
        talk(&[client(asked.concat()), server("+OK\r\n$5\r\nvalue\r\n+PONG\r\n")]),
        [
            "> begin Request t0 operation=SET resource=k args=2 text=set k ?",
            "> begin Request t0 operation=GET resource=k args=1 text=GET k",
            "> begin Request t0 operation=PING args=1 text=PING a b",
            "< end Response t1 bytes=5 Ok type=simple_string",
            "< end Response t1 bytes=11 Ok type=bulk_string",
            "< end Response t1 bytes=7 Ok type=simple_string",
        ]
    );
}

#[test]
fn every_type_of_resp3() {
    // The examples of the specification, nested, with attributes and streamed strings and aggregates.
    let replies: &[(&str, &str)] = &[
        (":-1\r\n", "type=integer"),
        ("$-1\r\n", "type=null"),
        ("*-1\r\n", "type=null"),
        ("_\r\n", "type=null"),
        ("#t\r\n", "type=boolean"),
        (",inf\r\n", "type=double"),
        ("(3492890328409238509324850943850943825024385\r\n", "type=big_number"),
        ("=15\r\ntxt:Some string\r\n", "type=verbatim_string"),
        ("*0\r\n", "type=array rows=0"),
        ("*3\r\n:1\r\n*2\r\n+a\r\n$-1\r\n*1\r\n*1\r\n*0\r\n", "type=array rows=3"),
        ("%2\r\n+first\r\n:1\r\n+second\r\n%1\r\n+x\r\n~1\r\n_\r\n", "type=map rows=2"),
        ("~2\r\n+a\r\n+b\r\n", "type=set rows=2"),
        ("|1\r\n+ttl\r\n:3600\r\n*2\r\n:1\r\n|1\r\n+k\r\n%1\r\n+a\r\n+b\r\n:2\r\n", "type=array rows=2"),
        ("$?\r\n;4\r\nHell\r\n;1\r\no\r\n;0\r\n", "type=bulk_string"),
        ("*?\r\n:1\r\n*?\r\n.\r\n:3\r\n.\r\n", "type=array"),
        ("%?\r\n+a\r\n:1\r\n.\r\n", "type=map"),
    ];
    let mut said = Vec::new();
    for (reply, _) in replies {
        said.push(client("PING\r\n"));
        said.push(server(reply));
    }
    let lines = talk(&said);
    for (i, (reply, expected)) in replies.iter().enumerate() {
        let at = 2 * i + 1;
        assert_eq!(lines[at], format!("< end Response t{at} bytes={} Ok {expected}", reply.len()));
    }
    assert_eq!(lines.len(), 2 * replies.len());
}

#[test]
fn errors_have_a_code_wherever_they_are() {
    let lines = talk(&[
        client([command("LPUSH k a"), command("EXEC"), command("X"), command("Y")].concat()),
        server("-WRONGTYPE Operation against a key\r\n*2\r\n:1\r\n-ERR value is no integer\r\n"),
        server("!21\r\nSYNTAX invalid syntax\r\n-no code\r\n"),
    ]);
    assert_eq!(
        lines[4..],
        [
            "< end Response t1 bytes=36 Error type=error status_code=WRONGTYPE \
             error=WRONGTYPE Operation against a key",
            "< end Response t1 bytes=34 Error type=array rows=2 status_code=ERR error=ERR value is no integer",
            "< end Response t2 bytes=28 Error type=error status_code=SYNTAX error=SYNTAX invalid syntax",
            "< end Response t2 bytes=10 Error type=error error=no code",
        ]
    );
}

#[test]
fn keys_and_sub_commands() {
    let asked = [
        ("config get maxmemory", "operation=CONFIG GET args=2 text=config get maxmemory"),
        ("XGROUP CREATE s g $ MKSTREAM", "operation=XGROUP CREATE resource=s args=5"),
        ("EVAL return 2 k1 k2 arg", "operation=EVAL resource=k1 args=5 text=EVAL return 2 ? ? ?"),
        ("EVAL return 0", "operation=EVAL args=2 text=EVAL return 0"),
        ("XREAD COUNT 2 STREAMS s1 s2 0 0", "operation=XREAD resource=s1 args=7"),
        ("BITOP AND to a b", "operation=BITOP resource=to"),
        ("ZUNION 2 z1 z2", "operation=ZUNION resource=z1"),
        ("MIGRATE h 6379 k 0 10", "operation=MIGRATE resource=k"),
        ("module.do key value", "operation=MODULE.DO args=2 text=module.do key ?"),
        ("HSET h f v f2 v2", "operation=HSET resource=h args=5 text=HSET h ? ? ? ?"),
        ("COMMAND", "operation=COMMAND args=0 text=COMMAND"),
    ];
    for (words, expected) in asked {
        let lines = talk(&[client(command(words))]);
        assert!(lines[0].starts_with(&format!("> begin Request t0 {expected}")), "{lines:?}");
    }
}

#[test]
fn no_secret_gets_out() {
    for words in [
        "AUTH hunter2",
        "auth user hunter2",
        "HELLO 3 AUTH user hunter2 SETNAME x",
        "CONFIG SET maxmemory 1 requirepass hunter2",
        "config set MasterAuth hunter2",
        "ACL SETUSER u on >hunter2 ~* +@all",
        "MIGRATE h 1 k 0 5 AUTH hunter2",
        "MIGRATE h 1 k 0 5 AUTH2 user hunter2 KEYS a",
        "SET k hunter2",
        "UNKNOWN k hunter2",
    ] {
        let lines = talk(&[client(command(words)), client(format!("{words}\r\n"))]);
        let text = lines.join("\n");
        assert!(!text.contains("hunter2"), "{text}");
        assert!(text.contains("[redacted]") == text.contains("notices=4"), "{text}");
        let limits = Limits { show_secrets: true, ..Limits::default() };
        let shown =
            play_with(Protocol::Redis, Start::Beginning, limits, &[client(command(words))], usize::MAX);
        assert!(shown.join("\n").contains("hunter2"), "{shown:?}");
    }
}

#[test]
fn values_are_skipped_and_heads_do_not_depend_on_cuts() {
    let value = "v".repeat(3_000);
    let script = "s".repeat(900);
    let lines = talk(&[
        client(format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3000\r\n{value}\r\n")),
        server("+OK\r\n"),
        client(format!("*4\r\n$4\r\nEVAL\r\n$900\r\n{script}\r\n$1\r\n1\r\n$1\r\nk\r\n")),
        server(format!("*2\r\n$3000\r\n{value}\r\n:1\r\n")),
    ]);
    assert_eq!(lines[0], "> begin Request t0 operation=SET resource=k args=2 text=SET k ...");
    assert!(lines[2].contains("resource=k args=3 text=EVAL sss"), "{}", lines[2]);
    assert_eq!(lines[3], "< end Response t3 bytes=3017 Ok type=array rows=2");
}

#[test]
fn a_million_elements_are_walked() {
    let mut reply = b"*1000000\r\n".to_vec();
    for i in 0..1_000_000 {
        reply.extend_from_slice(if i % 2 == 0 { b"$1\r\na\r\n" } else { b":1\r\n" });
    }
    let said = [client("KEYS *\r\n"), server(&reply)];
    let lines = brief(play_with(Protocol::Redis, Start::Beginning, Limits::default(), &said, 1_448));
    assert_eq!(lines[1], format!("< end Response t1 bytes={} Ok type=array rows=1000000", reply.len()));
}

#[test]
fn subscriptions_of_resp2() {
    let lines = talk(&[
        client([command("SUBSCRIBE a b"), command("PSUBSCRIBE p*"), command("PING")].concat()),
        server("*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n"),
        server("*3\r\n$10\r\npsubscribe\r\n$2\r\np*\r\n:3\r\n"),
        server("*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$2\r\nhi\r\n*2\r\n$4\r\npong\r\n$0\r\n\r\n"),
        server("*4\r\n$8\r\npmessage\r\n$2\r\np*\r\n$2\r\npx\r\n$2\r\nhi\r\n"),
        client(command("UNSUBSCRIBE")),
        server("*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:2\r\n*3\r\n$11\r\nunsubscribe\r\n$1\r\nb\r\n:1\r\n"),
        client(command("PUNSUBSCRIBE")),
        server("*3\r\n$12\r\npunsubscribe\r\n$2\r\np*\r\n:0\r\n"),
        client(command("LRANGE l 0 -1")),
        server("*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$2\r\nhi\r\n"),
    ]);
    let ends: Vec<&str> = lines.iter().filter(|l| l.starts_with('<')).map(String::as_str).collect();
    assert_eq!(
        ends,
        [
            "< end Response t1 bytes=60 Ok type=array rows=3",
            "< end Response t2 bytes=33 Ok type=array rows=3",
            "< begin OneWay t3 operation=MESSAGE resource=a",
            "< end OneWay t3 bytes=32",
            "< end Response t3 bytes=20 Ok type=array rows=2",
            "< begin OneWay t4 operation=PMESSAGE resource=px",
            "< end OneWay t4 bytes=42",
            "< end Response t6 bytes=66 Ok type=array rows=3",
            "< end Response t8 bytes=35 Ok type=array rows=3",
            "< end Response t10 bytes=32 Ok type=array rows=3",
        ]
    );
}

#[test]
fn pushes_of_resp3_are_between_replies() {
    let lines = talk(&[
        client([command("HELLO 3"), command("SUBSCRIBE a"), command("GET k")].concat()),
        server("%1\r\n+proto\r\n:3\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nx\r\n"),
        server(">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$2\r\nhi\r\n"),
        server("*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$2\r\nhi\r\n>2\r\n$10\r\ninvalidate\r\n_\r\n"),
    ]);
    let ends: Vec<&str> = lines.iter().filter(|l| l.starts_with('<')).map(String::as_str).collect();
    assert_eq!(
        ends,
        [
            "< end Response t1 bytes=16 Ok type=map rows=1",
            "< begin OneWay t1 operation=INVALIDATE resource=x",
            "< end OneWay t1 bytes=32",
            "< end Response t2 bytes=30 Ok type=push rows=3",
            "< begin OneWay t2 operation=MESSAGE resource=a",
            "< end OneWay t2 bytes=32",
            "< end Response t3 bytes=32 Ok type=array rows=3",
            "< begin OneWay t3 operation=INVALIDATE",
            "< end OneWay t3 bytes=24",
        ]
    );
}

#[test]
fn unanswered_commands_are_one_way() {
    let lines = talk(&[
        client([command("CLIENT REPLY SKIP"), command("SET a 1"), command("GET a")].concat()),
        server("$1\r\n1\r\n"),
        client([command("CLIENT REPLY OFF"), command("GET a"), command("CLIENT REPLY ON")].concat()),
        server("+OK\r\n"),
    ]);
    let roles: Vec<&str> =
        lines.iter().filter(|line| line.contains("begin")).map(|l| l.split(' ').nth(2).unwrap()).collect();
    assert_eq!(roles, ["OneWay", "OneWay", "Request", "OneWay", "OneWay", "Request"]);
    assert_eq!(lines.iter().filter(|line| line.contains("end Response")).count(), 2);
}

#[test]
fn transactions_databases_and_the_feed() {
    let lines = talk(&[
        client([command("SELECT 2"), command("MULTI"), command("INCR a"), command("INCR b")].concat()),
        client([command("EXEC"), command("SELECT 99"), command("MONITOR"), command("PING")].concat()),
        server(
            "+OK\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:1\r\n:1\r\n-ERR DB index is out of range\r\n+OK\r\n",
        ),
        server("+1339518083.107412 [0 127.0.0.1:60866] \"keys\" \"*\"\r\n+PONG\r\n"),
        client(command("GET a")),
    ]);
    let exec = lines.iter().find(|line| line.contains("EXEC")).unwrap();
    assert!(exec.ends_with("db.namespace=2 db.operation.batch.size=2 text=EXEC"), "{exec}");
    assert!(lines.iter().any(|line| line == "< begin OneWay t3 operation=MONITOR resource=keys"));
    assert!(lines.last().unwrap().contains("db.namespace=2"), "the failed SELECT changes nothing");
    assert_eq!(lines.iter().filter(|line| line.contains("end Response")).count(), 8);
}

#[test]
fn replication_is_opaque() {
    let lines = talk(&[
        client([command("REPLCONF capa eof"), command("PSYNC ? -1")].concat()),
        server("+OK\r\n\n\n+FULLRESYNC 0123456789012345678901234567890123456789 0\r\n$4\r\nRDB!*1\r\n"),
        client(command("REPLCONF ACK 0")),
    ]);
    assert_eq!(lines.last().unwrap(), "opaque replication");
    assert_eq!(lines.iter().filter(|line| line.contains("end Response")).count(), 2);
}

#[test]
fn the_old_way_of_replication_has_no_reply() {
    let lines = talk(&[client(command("SYNC")), server("\n\n$EOF:0123\r\nREDIS0010")]);
    assert_eq!(lines[1..], ["< end Response t1 bytes=11 Ok", "opaque replication"]);
}

#[test]
fn what_is_no_resp_is_an_error() {
    for (said, cause) in [
        (client("*1\r\n:1\r\n"), "bad_magic"),
        (client("*x\r\n"), "bad_length"),
        (client("*1\r\n$3\r\nGETxx"), "bad_length"),
        (client("\x01\x02\r\n"), "bad_magic"),
        (server("?\r\n"), "bad_magic"),
        (server(".\r\n"), "bad_magic"),
        (server("$3\r\nabcde"), "bad_length"),
        (server("$-2\r\n"), "bad_length"),
        (server("$?\r\n+a\r\n"), "bad_magic"),
        (server("*99999999999\r\n"), "bad_length"),
        (server("*1\r\n".repeat(33)), "too_large"),
        (server(format!("+{}", "x".repeat(65_100))), "too_large"),
    ] {
        let lines = play(Protocol::Redis, Start::Beginning, &[client("PING\r\n"), said.clone()]);
        assert_eq!(lines.last().unwrap(), &format!("errors 1 {cause}"), "{said:?}");
    }
}

#[test]
fn after_a_loss_messages_are_found_again() {
    let mut player = Player::new(Protocol::Redis, Start::Middle, Limits::default());
    // The middle of a value, a reply to a request from before, a request.
    player.bytes(Dir::ToClient, b"ddle of a value\r\n", true);
    player.bytes(Dir::ToServer, b"lue\r\n", true);
    player.bytes(Dir::ToClient, b"+OK\r\n", true);
    player.bytes(Dir::ToServer, command("SUBSCRIBE a").as_bytes(), true);
    player.bytes(Dir::ToClient, b"*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n", true);
    player.bytes(Dir::ToClient, b"*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$2\r\nhi\r\n", true);
    let roles: Vec<_> = player.lines().iter().map(|line| line.split(' ').nth(2).unwrap()).collect();
    assert_eq!(
        roles,
        ["Response", "Response", "Request", "Request", "Response", "Response", "OneWay", "OneWay"]
    );
    // A gap that a skip covers harms nothing; one that it does not ends the value.
    player.bytes(Dir::ToClient, b"$1000\r\nxxx", true);
    player.gap(Dir::ToClient, 900);
    player.bytes(Dir::ToClient, &[b'x'; 97], true);
    player.bytes(Dir::ToClient, b"\r\n", true);
    assert!(player.lines().last().unwrap().contains("end Response Order t0 bytes=1009"));
    player.bytes(Dir::ToClient, b"*2\r\n:1\r\n$1000\r\n", true);
    player.gap(Dir::ToClient, 2_000);
    player.bytes(Dir::ToClient, b"xxx\r\n:1\r\n", true);
    player.bytes(Dir::ToClient, b":1\r\n", true);
    let lines = player.finish();
    assert_eq!(lines[10], "< begin Response Order t0");
    assert_eq!(lines[11], "< gap 998");
    assert_eq!(lines.len(), 14);
}

#[test]
fn golden() {
    pcap::golden(Protocol::Redis, 7379, "redis");
}

#[test]
fn probes() {
    let probe = |dir, bytes: &[u8]| {
        let tuple = tuple(Transport::Tcp);
        let shape = Shape::Stream { eof: false };
        let input = Input {
            bytes,
            dir,
            first: Nanos(0),
            time: Nanos(0),
            shape,
            heard: Heard::All,
            segment_start: true,
            cut: 0,
            tuple: &tuple,
        };
        Redis::probe(&input)
    };
    let whole = command("COMMAND DOCS");
    for end in 0..whole.len() {
        let verdict = probe(Dir::ToServer, &whole.as_bytes()[..end]);
        let expected = if end < 9 { Verdict::NeedMore } else { Verdict::Yes };
        assert_eq!(verdict, expected, "{end}");
    }
    assert_eq!(probe(Dir::ToServer, b"PING\r\n"), Verdict::Likely);
    assert_eq!(probe(Dir::ToServer, b"GET / HTTP/1.1\r\n"), Verdict::No);
    assert_eq!(probe(Dir::ToServer, b"\x16\x03\x01"), Verdict::No);
    assert_eq!(probe(Dir::ToClient, b"+OK\r\n"), Verdict::Likely);
    assert_eq!(probe(Dir::ToClient, b"+OK POP3 ready\r\n"), Verdict::No);
    assert_eq!(probe(Dir::ToClient, b"220 smtp\r\n"), Verdict::No);
}
