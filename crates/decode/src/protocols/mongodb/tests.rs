use super::*;
use crate::testkit::{Player, Said, assert_cuts_do_not_matter, client, play, play_coalesced, server};
use crate::{Limits, Protocol, pcap};
use model::{Endpoint, FiveTuple, Heard, Nanos};

/// An element: type, key, value.
fn element(kind: u8, key: &str, value: &[u8]) -> Vec<u8> {
    [&[kind], key.as_bytes(), &[0], value].concat()
}

fn string(key: &str, text: &str) -> Vec<u8> {
    let len = (text.len() as u32 + 1).to_le_bytes();
    element(2, key, &[&len, text.as_bytes(), &[0]].concat())
}

fn int(key: &str, number: i32) -> Vec<u8> {
    element(0x10, key, &number.to_le_bytes())
}

fn double(key: &str, number: f64) -> Vec<u8> {
    element(1, key, &number.to_le_bytes())
}

fn doc(elements: &[Vec<u8>]) -> Vec<u8> {
    let inside = elements.concat();
    [&(inside.len() as u32 + 5).to_le_bytes()[..], &inside, &[0]].concat()
}

fn message(id: u32, to: u32, opcode: u32, body: &[u8]) -> Vec<u8> {
    let len = body.len() as u32 + 16;
    [&len.to_le_bytes()[..], &id.to_le_bytes(), &to.to_le_bytes(), &opcode.to_le_bytes(), body].concat()
}

/// An OP_MSG with one body.
fn msg(id: u32, to: u32, flags: u32, body: &[Vec<u8>]) -> Vec<u8> {
    message(id, to, 2013, &[&flags.to_le_bytes()[..], &[0], &doc(body)].concat())
}

fn find(id: u32) -> Said {
    let filter = element(3, "filter", &doc(&[string("secret", "geheim")]));
    client(msg(id, 0, 0, &[string("find", "orders"), filter, string("$db", "shop")]))
}

fn ok(id: u32, to: u32) -> Said {
    server(msg(id, to, 0, &[double("ok", 1.0)]))
}

fn all(talk: &[Said]) -> Vec<String> {
    assert_cuts_do_not_matter(Protocol::Mongodb, Start::Beginning, talk)
}

const FIND: &str = "operation=find resource=orders db.collection.name=orders db.namespace=shop";

#[test]
fn a_command_and_its_answer() {
    let lines = all(&[find(7), ok(99, 7)]);
    assert_eq!(lines[0], format!("> begin Request Id(7) t0 {FIND}"));
    assert_eq!(
        lines[1..],
        [
            "> end Request Id(7) t0 bytes=89".to_string(),
            "< begin Response Id(7) t1".into(),
            "< end Response Id(7) t1 bytes=38 Ok".into(),
        ]
    );
    assert!(!lines.concat().contains("geheim"));
}

#[test]
fn failures_carry_code_name_and_text() {
    let body =
        [double("ok", 0.0), string("errmsg", "no such"), int("code", 59), string("codeName", "NotFound")];
    let lines = all(&[find(1), server(msg(2, 1, 0, &body))]);
    let expected = "Error status_code=59 error=no such error.type=NotFound";
    assert!(lines[3].ends_with(expected), "{}", lines[3]);

    let one = doc(&[int("index", 0), int("code", 11000), string("errmsg", "dup")]);
    let errors = doc(&[element(3, "0", &one), element(3, "1", &one)]);
    let body = [int("n", 1), element(4, "writeErrors", &errors), double("ok", 1.0)];
    let lines = all(&[find(1), server(msg(2, 1, 0, &body))]);
    let expected = "Error status_code=11000 error=dup db.mongodb.write_errors=2";
    assert!(lines[3].ends_with(expected), "{}", lines[3]);

    let concern = doc(&[int("code", 64), string("codeName", "Late"), string("errmsg", "timed out")]);
    let body = [int("n", 1), element(3, "writeConcernError", &concern), double("ok", 1.0)];
    let lines = all(&[find(1), server(msg(2, 1, 0, &body))]);
    assert!(lines[3].ends_with("Error status_code=64 error=timed out error.type=Late"), "{}", lines[3]);
}

/// A section of documents.
fn section(id: &str, documents: usize, size: usize) -> Vec<u8> {
    let one = doc(&[string("v", &"x".repeat(size))]);
    let len = 4 + id.len() + 1 + one.len() * documents;
    [&[1][..], &(len as u32).to_le_bytes(), id.as_bytes(), &[0], &one.repeat(documents)].concat()
}

#[test]
fn sections_in_any_order_and_a_checksum() {
    let body = [&[0][..], &doc(&[string("insert", "orders"), string("$db", "shop")])].concat();
    let flags = CHECKSUM_PRESENT.to_le_bytes();
    let last = [&flags[..], &body, &section("documents", 3, 10), b"sum!"].concat();
    let lines = all(&[client(message(1, 0, 2013, &last)), ok(2, 1)]);
    assert!(lines[0].ends_with("db.namespace=shop db.operation.batch.size=3"), "{}", lines[0]);
    let first = [&flags[..], &section("documents", 3, 10), &body, b"sum!"].concat();
    assert_eq!(all(&[client(message(1, 0, 2013, &first)), ok(2, 1)]), lines);
    // A security token behind the body has no length and ends what is read.
    let token = [&[0; 4][..], &body, &[2], b"token\0"].concat();
    assert!(all(&[client(message(1, 0, 2013, &token))])[0].ends_with("db.namespace=shop"));
}

#[test]
fn what_stands_behind_large_values_is_found() {
    let batch = element(4, "documents", &doc(&[string("0", &"x".repeat(20_000))]));
    let talk = [client(msg(1, 0, 0, &[string("insert", "orders"), batch, string("$db", "shop")])), ok(2, 1)];
    let lines = all(&talk);
    assert_eq!(
        lines[0],
        "> begin Request Id(1) t0 operation=insert resource=orders db.collection.name=orders"
    );
    assert_eq!(lines[1], "> end Request Id(1) t0 bytes=20083 db.namespace=shop");
    let cursor = element(3, "cursor", &doc(&[string("0", &"x".repeat(20_000))]));
    let body = [cursor, double("ok", 0.0), int("code", 13), string("errmsg", "not allowed")];
    let lines = all(&[find(1), server(msg(2, 1, 0, &body))]);
    assert!(lines[3].ends_with("Error status_code=13 error=not allowed"), "{}", lines[3]);

    // A gap inside the batch harms nothing.
    let mut player = Player::new(Protocol::Mongodb, Start::Beginning, Limits::default());
    let bytes = &talk[0].bytes;
    player.bytes(Dir::ToServer, &bytes[..5_000], true);
    player.gap(Dir::ToServer, 10_000);
    player.bytes(Dir::ToServer, &bytes[15_000..], true);
    player.bytes(Dir::ToClient, &talk[1].bytes, true);
    assert_eq!(player.finish().len(), 4);
}

#[test]
fn unacknowledged_writes_and_pushed_replies_are_one_way() {
    let write = client(msg(1, 0, MORE_TO_COME, &[string("insert", "orders"), string("$db", "shop")]));
    assert!(all(&[write])[0].starts_with("> begin OneWay Id(1)"));

    let hello = client(msg(5, 0, EXHAUST_ALLOWED, &[int("hello", 1), string("$db", "admin")]));
    let reply = |id, to, flags| server(msg(id, to, flags, &[double("ok", 1.0)]));
    let lines =
        all(&[hello, reply(50, 5, MORE_TO_COME), reply(51, 50, MORE_TO_COME), reply(52, 51, 0), find(6)]);
    assert_eq!(lines[0], "> begin Request Id(5) t0 operation=hello db.namespace=admin");
    assert_eq!(lines[2], "< begin Response Id(5) t1");
    assert_eq!(lines[4], "< begin OneWay Id(50) t2 operation=hello");
    assert_eq!(lines[6], "< begin OneWay Id(51) t3 operation=hello");
    assert_eq!(lines.len(), 10);
}

#[test]
fn get_more_names_its_cursor_and_collection() {
    let body = [
        element(0x12, "getMore", &77i64.to_le_bytes()),
        string("collection", "orders"),
        string("$db", "shop"),
    ];
    let lines = all(&[client(msg(1, 0, 0, &body))]);
    let expected = "operation=getMore resource=orders db.collection.name=orders db.namespace=shop \
                    db.mongodb.cursor_id=77";
    assert!(lines[0].ends_with(expected), "{}", lines[0]);
}

#[test]
fn what_is_no_collection_is_not_called_one_and_passwords_are_not_kept() {
    let body = [string("createUser", "bob"), string("pwd", "geheim"), string("$db", "admin")];
    let lines = all(&[client(msg(1, 0, 0, &body))]);
    assert_eq!(lines[0], "> begin Request Id(1) t0 operation=createUser resource=bob db.namespace=admin");
    let body = [int("saslStart", 1), element(5, "payload", b"\x06\0\0\0\0geheim"), string("$db", "admin")];
    let lines = all(&[client(msg(1, 0, 0, &body))]);
    assert_eq!(lines[0], "> begin Request Id(1) t0 operation=saslStart db.namespace=admin");
}

#[test]
fn legacy_opcodes() {
    let begins = |opcode, body: &[u8]| {
        let lines = all(&[client(message(1, 0, opcode, body))]);
        lines[0].split_once("t0 ").map(|(head, fields)| format!("{}{fields}", &head[8..])).unwrap()
    };
    let on = "resource=orders db.collection.name=orders db.namespace=shop";
    let query = [&[0; 4], &b"shop.orders\0\0\0\0\0\0\0\0\0"[..], &doc(&[int("a", 1)])].concat();
    assert_eq!(begins(2004, &query), format!("Request Id(1) operation=find {on}"));
    assert_eq!(begins(2002, b"\0\0\0\0shop.orders\0"), format!("OneWay Id(1) operation=insert {on}"));
    assert_eq!(begins(2001, b"\0\0\0\0shop.orders\0\0\0\0\0"), format!("OneWay Id(1) operation=update {on}"));
    assert_eq!(begins(2006, b"\0\0\0\0shop.orders\0\0\0\0\0"), format!("OneWay Id(1) operation=delete {on}"));
    let more = [&b"\0\0\0\0shop.orders\0"[..], &[0; 12]].concat();
    assert_eq!(begins(2005, &more), format!("Request Id(1) operation=getMore {on}"));
    assert_eq!(begins(2007, &[0; 8]), "OneWay Id(1) operation=killCursors");

    // A command, alone and in an envelope of read preferences; its answer.
    let command = doc(&[string("count", "orders")]);
    let wrapped = doc(&[element(3, "$query", &command), element(3, "$readPreference", &doc(&[]))]);
    for command in [command, wrapped] {
        let head = b"\0\0\0\0shop.$cmd\0\0\0\0\0\xff\xff\xff\xff";
        let ask = client(message(1, 0, 2004, &[&head[..], &command].concat()));
        let answer = [&[0; 16][..], &1i32.to_le_bytes(), &doc(&[double("ok", 1.0)])].concat();
        let lines = all(&[ask, server(message(2, 1, 1, &answer))]);
        let on = "operation=count resource=orders db.collection.name=orders db.namespace=shop";
        assert_eq!(lines[0], format!("> begin Request Id(1) t0 {on}"));
        assert!(lines[3].ends_with("Ok"), "{}", lines[3]);
    }
}

/// As pymongo 4.8 writes them: `find` of collection `orders` in database `shop`.
const COMPRESSED: [(&str, &str, bool); 3] = [
    (
        "zlib",
        "5800000041a5252c00000000dc070000dd070000a200000002789c63600082b940cc94969997c2c00e64e517a5a41615\
         3330a765e694a416311482241319528154051d00d0329594240656a075c519f9050c0c001b2a3a24",
        true,
    ),
    (
        "snappy",
        "6000000077249b0d00000000dc070000dd070000a200000001a20100000101749d0000000266696e6400070000006f72\
         64657273000366696c7465720071011d1861006500000078fe01008a010040000002246462000500000073686f700000",
        true,
    ),
    (
        "zstd",
        "6900000001bbd79800000000dc070000dd070000a20000000328b52ffd20a23d0200f40300000000009d000000026669\
         6e6400070000006f7264657273000366696c74657200710000000261006500000078000002246462000500000073686f\
         700000010006292803",
        false,
    ),
];

#[test]
fn the_front_of_compressed_messages_is_read() {
    for (name, hex, read) in COMPRESSED {
        let bytes: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        let lines = all(&[client(&bytes)]);
        let compressed = format!("db.mongodb.compressor={name} db.mongodb.opcode=OP_MSG");
        let end = if read { format!("{FIND} {compressed}") } else { format!("notices=2 {compressed}") };
        assert!(lines[0].ends_with(&end), "{}", lines[0]);
        assert_eq!(lines.len(), 2);
    }
}

#[test]
fn joined_in_the_middle() {
    let [mut torn, next] = [find(1), find(2)];
    torn.bytes.drain(..10);
    let lines = play(Protocol::Mongodb, Start::Middle, &[torn, ok(9, 1), next, ok(10, 2)]);
    assert_eq!(lines[0], "< begin Response Id(1) t1", "the answer is certain, its request was not seen");
    assert_eq!(lines.len(), 6, "{lines:?}");
    let mut player = Player::new(Protocol::Mongodb, Start::Beginning, Limits::default());
    player.bytes(Dir::ToServer, &find(1).bytes, true);
    player.gap(Dir::ToServer, 100);
    player.bytes(Dir::ToServer, &find(2).bytes[3..], false);
    player.bytes(Dir::ToServer, &find(3).bytes, true);
    let lines = player.finish();
    assert!(lines[3].starts_with("> begin Request Id(3)") && lines.len() == 5, "{lines:?}");
}

#[test]
fn many_in_one_segment() {
    assert_eq!(
        play_coalesced(Protocol::Mongodb, Start::Beginning, &[find(1), find(2), ok(8, 2), ok(9, 1)]).len(),
        8
    );
}

#[test]
fn every_cause_of_an_error() {
    let cause = |bytes: Vec<u8>| {
        let lines = play(Protocol::Mongodb, Start::Beginning, &[client(bytes)]);
        lines.last().unwrap().clone()
    };
    assert_eq!(cause(message(1, 0, 1234, &[0; 30])), "errors 1 bad_magic");
    assert_eq!(cause(message(1, 0, 2013, &[0; 3])), "errors 1 bad_length");
    assert_eq!(cause(message(1, 0, 2013, b"\0\0\0\0\x09\x05\0\0\0\0")), "errors 1 bad_magic");
    assert_eq!(cause(message(1, 0, 2013, b"\0\x80\0\0\0\x05\0\0\0\0")), "errors 1 bad_magic");
    assert_eq!(cause(message(1, 0, 2013, b"\0\0\0\0\0\xff\0\0\0\0")), "errors 1 bad_length");
    let inside = [vec![element(2, "find", b"\xff\xff\0\0x\0")], vec![]].concat();
    assert_eq!(cause(msg(1, 0, 0, &inside)), "errors 1 bad_length");
    assert_eq!(cause(msg(1, 0, 0, &[element(0x77, "x", b"")])), "errors 1 bad_magic");
    let long = [&[0; 4][..], &[b'a'; 600], &[0; 20]].concat();
    assert_eq!(cause(message(1, 0, 2002, &long)), "errors 1 too_large");
}

#[test]
fn a_document_of_endless_elements_is_cut() {
    let many: Vec<Vec<u8>> = (0..500).map(|i| int(&format!("k{i}"), i)).collect();
    let lines = all(&[client(msg(1, 0, 0, &many))]);
    assert!(lines[0].contains("notices=16 operation=k0"), "{}", lines[0]);
    assert_eq!(lines.len(), 2);
}

#[test]
fn probes_are_strict() {
    let probe = |dir, bytes: &[u8]| {
        let end = |port| Endpoint::new([192, 0, 2, 1].into(), port);
        let tuple = FiveTuple { client: end(1), server: end(2), transport: Transport::Tcp };
        let shape = crate::Shape::Stream { eof: false };
        let (first, time) = (Nanos(0), Nanos(0));
        Mongodb::probe(&Input {
            bytes,
            dir,
            first,
            time,
            shape,
            heard: Heard::All,
            segment_start: true,
            cut: 0,
            tuple: &tuple,
        })
    };
    assert_eq!(probe(Dir::ToServer, &find(1).bytes), Verdict::Yes);
    assert_eq!(probe(Dir::ToClient, &ok(1, 1).bytes), Verdict::Yes);
    assert_eq!(probe(Dir::ToServer, &find(1).bytes[..20]), Verdict::NeedMore);
    let zeros = [0; 64];
    for other in
        [&b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"[..], b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03abcdef", &zeros]
    {
        assert_eq!(probe(Dir::ToServer, other), Verdict::No);
    }
}

#[test]
fn golden() {
    pcap::golden(Protocol::Mongodb, 27117, "pymongo");
}

#[test]
fn damaged_conversations_end_in_errors_only() {
    let mut seed = 1u32;
    let mut random = |most: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % most.max(1)
    };
    let talk: Vec<Said> = vec![
        find(1),
        ok(9, 1),
        client(msg(2, 0, EXHAUST_ALLOWED, &[string("getMore", "x"), string("$db", "shop")])),
        client(message(3, 0, 2013, &[&[0; 4][..], &section("documents", 3, 10)].concat())),
        ok(10, 3),
    ];
    for _ in 0..3_000 {
        let mut player = Player::new(Protocol::Mongodb, Start::Beginning, Limits::default());
        for said in &talk {
            let mut bytes = said.bytes.clone();
            for _ in 0..random(4) {
                let at = random(bytes.len());
                bytes[at] = [0, 1, 0x7f, 0x80, 0xff, bytes[at] ^ 1][random(6)];
            }
            let cut = random(bytes.len());
            player.bytes(said.dir, &bytes[..cut], true);
            if random(8) == 0 {
                player.gap(said.dir, random(50) as u64);
            }
            player.bytes(said.dir, &bytes[cut..], random(2) == 0);
        }
        player.finish();
    }
}
