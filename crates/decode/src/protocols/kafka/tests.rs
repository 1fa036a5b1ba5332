use super::*;
use crate::testkit::{Player, Said, assert_cuts_do_not_matter, client, play, play_coalesced, server};
use crate::{Limits, Protocol};
use model::{Endpoint, FiveTuple, Heard, Nanos};

/// A request: fixed header, client id `cli`, tags where flexible, body.
fn request(key: i16, version: i16, id: i32, flexible: bool, body: &[u8]) -> Said {
    let mut bytes = [key.to_be_bytes(), version.to_be_bytes()].concat();
    bytes.extend(id.to_be_bytes());
    bytes.extend(b"\0\x03cli");
    if flexible {
        bytes.push(0);
    }
    bytes.extend(body);
    client([&(bytes.len() as u32).to_be_bytes()[..], &bytes].concat())
}

fn response(id: i32, body: &[u8]) -> Said {
    let len = (body.len() as u32 + 4).to_be_bytes();
    server([&len[..], &id.to_be_bytes(), body].concat())
}

/// Metadata version 1 for one topic, and its answer: no brokers, controller 1, an error for the topic.
fn metadata(id: i32) -> [Said; 2] {
    let body = b"\0\0\0\0\0\0\0\x01\0\0\0\x01\0\x03\0\x06orders\0\0\0\0\0";
    [request(3, 1, id, false, b"\0\0\0\x01\0\x06orders"), response(id, body)]
}

/// Produce version 3 with `acks` and one batch of `count` records in a set of `size` bytes.
fn produce(id: i32, acks: i16, count: u32, size: usize) -> Said {
    let mut batch = vec![0; size];
    batch[8..12].copy_from_slice(&(size as u32 - 12).to_be_bytes());
    batch[16] = 2;
    batch[57..61].copy_from_slice(&count.to_be_bytes());
    let mut body = b"\xff\xff".to_vec();
    body.extend(acks.to_be_bytes());
    body.extend(b"\0\0\x75\x30\0\0\0\x01\0\x06orders\0\0\0\x01\0\0\0\0");
    body.extend((size as u32).to_be_bytes());
    body.extend(batch);
    request(0, 3, id, false, &body)
}

#[test]
fn errors_are_named_and_cuts_do_not_matter() {
    let lines = assert_cuts_do_not_matter(Protocol::Kafka, Start::Beginning, &metadata(7));
    assert_eq!(
        lines,
        [
            "> begin Request Id(7) t0 operation=Metadata resource=orders messaging.system=kafka \
             messaging.destination.name=orders messaging.client.id=cli messaging.kafka.api_version=1",
            "> end Request Id(7) t0 bytes=29",
            "< begin Response Id(7) t1",
            "< end Response Id(7) t1 bytes=35 Error status_code=UNKNOWN_TOPIC_OR_PARTITION",
        ]
    );
}

#[test]
fn a_produce_without_acknowledgement_is_one_way_and_bodies_are_skipped() {
    let talk = [produce(1, 0, 3, 100), produce(2, -1, 700, 60_000), response(2, b"\0\0\0\0\0\0\0\0")];
    let lines = assert_cuts_do_not_matter(Protocol::Kafka, Start::Beginning, &talk);
    assert!(lines[0].starts_with("> begin OneWay Id(1)") && lines[0].contains("message_count=3 "));
    assert!(lines[2].starts_with("> begin Request Id(2)") && lines[2].contains("message_count=700 "));
    assert_eq!(lines[3], "> end Request Id(2) t1 bytes=60049");
    assert_eq!(lines.len(), 6);

    let mut player = Player::new(Protocol::Kafka, Start::Beginning, Limits::default());
    player.bytes(Dir::ToServer, &talk[1].bytes[..1_448], true);
    player.gap(Dir::ToServer, talk[1].bytes.len() as u64 - 1_448);
    let [ask, answer] = metadata(3);
    player.bytes(Dir::ToServer, &ask.bytes, true);
    player.bytes(Dir::ToClient, &answer.bytes, true);
    let lines = player.finish();
    assert_eq!(lines.len(), 6, "a gap inside a body harms nothing: {lines:?}");
}

#[test]
fn pipelined_requests_in_one_segment_are_all_seen() {
    let [a, b] = metadata(1);
    let [c, d] = metadata(2);
    let talk = [a, c, b, d];
    let lines = play_coalesced(Protocol::Kafka, Start::Beginning, &talk);
    assert_eq!(lines.len(), 8);
    assert!(lines[6].starts_with("< begin Response Id(2)"));
}

#[test]
fn a_topic_id_is_named_by_what_the_flow_said_before() {
    let id = [7; 16];
    // Metadata version 12: tags, throttle, no brokers, no cluster id, controller, one topic.
    let mut topic = b"\0\0\0\0\0\x01\0\0\0\0\x01\x02\0\0\x07orders".to_vec();
    topic.extend(id);
    topic.extend(b"\0\x01\0\0\0\0\0\0");
    // Fetch version 13 of one topic by id.
    let mut fetch = vec![0; 4 + 4 + 4 + 4 + 1 + 4 + 4];
    fetch.push(2);
    fetch.extend(id);
    fetch.extend(b"\x01\0\x01\x01\0");
    let ask = request(1, 13, 2, true, &fetch);
    let talk = [request(3, 12, 1, true, b"\x01\0\0\0"), response(1, &topic), ask.clone()];
    let lines = assert_cuts_do_not_matter(Protocol::Kafka, Start::Beginning, &talk);
    assert!(lines[3].ends_with("Ok"), "{lines:?}");
    assert!(lines[4].contains("operation=Fetch resource=orders "), "{}", lines[4]);
    let alone = play(Protocol::Kafka, Start::Beginning, &[ask]);
    assert!(alone[0].contains("notices=2 operation=Fetch resource=BwcHBwcHBwcHBwcHBwcHBw "), "{}", alone[0]);
}

#[test]
fn api_versions_answers_in_its_first_version_when_it_must() {
    let ask = request(18, 4, 1, true, b"\x03ab\x02c\0");
    let talk = [ask, response(1, b"\0\x23\0\0\0\x01\0\x12\0\0\0\x03")];
    let lines = assert_cuts_do_not_matter(Protocol::Kafka, Start::Beginning, &talk);
    assert_eq!(lines[3], "< end Response Id(1) t1 bytes=20 Error status_code=UNSUPPORTED_VERSION");
}

#[test]
fn tokens_without_headers_are_passed_over() {
    let [ask, answer] = metadata(2);
    let talk = [
        request(17, 0, 1, false, b"\0\x05PLAIN"),
        response(1, b"\0\0\0\0\0\x01\0\x05PLAIN"),
        client(b"\0\0\0\x0b\0bob\0geheim"),
        server(b"\0\0\0\0"),
        ask,
        answer,
    ];
    let lines = assert_cuts_do_not_matter(Protocol::Kafka, Start::Beginning, &talk);
    assert_eq!(lines.len(), 8, "{lines:?}");
    assert!(lines[0].contains("operation=SaslHandshake resource=PLAIN"));
    assert!(!lines.iter().any(|line| line.contains("geheim")));
}

#[test]
fn joined_in_the_middle_nothing_is_paired_wrongly() {
    let [ask, answer] = metadata(9);
    let [_, old] = metadata(8);
    let talk = [client(b"the middle of a request"), old, ask, answer];
    let lines = play(Protocol::Kafka, Start::Middle, &talk);
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[3].starts_with("< end Response Id(9)"));
    // An answer to what was not seen, in step: an orphan.
    let [ask, answer] = metadata(1);
    let lines = play(Protocol::Kafka, Start::Beginning, &[ask, answer, response(55, b"\0\0")]);
    assert_eq!(lines[4], "< begin Response Id(55) t2 notices=2");
}

#[test]
fn every_cause_of_an_error() {
    let errors = |bytes: &[u8]| play(Protocol::Kafka, Start::Beginning, &[client(bytes)]).join("\n");
    assert_eq!(errors(b"\0\0\0\x03\0\0\0\0\0\0\0\0"), "> gap 0\nerrors 1 bad_length");
    assert_eq!(errors(b"\x7f\0\0\0\0\0\0\0\0\0\0\0"), "> gap 0\nerrors 1 bad_length");
    assert_eq!(errors(b"\0\0\0\x20\x7f\0\0\0\0\0\0\0"), "> gap 0\nerrors 1 bad_magic");
    // A length inside the message that does not fit it.
    let broken = play(Protocol::Kafka, Start::Beginning, &[request(3, 1, 1, false, b"\0\0\0\x01\x7f\xff")]);
    assert!(broken[0].contains("notices=8 operation=Metadata"), "{broken:?}");
    let later = play(Protocol::Kafka, Start::Beginning, &[request(3, 19, 1, true, b"?")]);
    assert!(later[0].contains("notices=2 operation=Metadata messaging.system"), "{later:?}");
    let newer = play(Protocol::Kafka, Start::Beginning, &[request(120, 0, 1, true, b"?")]);
    assert!(newer[0].contains("notices=2 messaging.kafka.api_key=120"), "{newer:?}");
}

#[test]
fn probes_are_strict() {
    let probe = |dir, bytes: &[u8]| {
        let end = |port| Endpoint::new([192, 0, 2, 1].into(), port);
        let tuple = FiveTuple { client: end(1), server: end(2), transport: Transport::Tcp };
        let shape = crate::Shape::Stream { eof: false };
        let (first, time) = (Nanos(0), Nanos(0));
        Kafka::probe(&Input {
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
    let [ask, answer] = metadata(1);
    assert_eq!(probe(Dir::ToServer, &ask.bytes), Verdict::Yes);
    assert_eq!(probe(Dir::ToServer, &ask.bytes[..9]), Verdict::NeedMore);
    assert_eq!(probe(Dir::ToClient, &answer.bytes), Verdict::NeedMore);
    for other in
        [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", b"*1\r\n$4\r\nPING\r\n"]
    {
        assert_eq!(probe(Dir::ToServer, other), Verdict::No);
    }
}

/// Reads messages that the Java library wrote and compares what was found.
fn check_messages(rows: &str, all: bool) -> usize {
    let mut checked = 0;
    for row in rows.lines().filter(|row| !row.starts_with('#')) {
        let words: Vec<&str> = row.split(' ').collect();
        let [key, version, dir, hex, error, throttle, topic, group, txn] = words[..] else { panic!("{row}") };
        let hex = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..words[3].len()).step_by(2).map(hex).collect();
        let call = Call { key: key.parse().unwrap(), version: version.parse().unwrap() };
        assert!(call.is_known(), "{row}");
        let mut ids = TopicIds::default();
        let (mut facts, mut client_id) = (Facts::default(), None);
        let is_request = dir == "req";
        let mut walk = Walk {
            window: &bytes,
            at: if is_request { FIXED } else { RESPONSE },
            size: bytes.len(),
            limit: bytes.len(),
            version: call.version,
            flexible: !is_request && call.has_flexible_answer(),
            ids: &mut ids,
            steps: 0,
        };
        let text = |found: Option<&[u8]>| {
            found.map_or("-".into(), |text| String::from_utf8_lossy(text).into_owned())
        };
        let halt = if is_request {
            let halt = request_fields(&mut walk, call, &mut client_id, &mut facts);
            let client = if call.has_client_id() { "cli" } else { "-" };
            assert_eq!(text(client_id), client, "{row}");
            for (found, expected) in [(facts.topic, topic), (facts.group, group), (facts.txn, txn)] {
                assert!(text(found) == expected || (all && expected == "-"), "{row}");
            }
            halt
        } else {
            let halt = response_fields(&mut walk, call, &mut facts);
            let found = facts.error.map_or("-".into(), |error| error.to_string());
            assert_eq!(found, error, "{row}");
            assert_eq!(facts.throttle_ms, throttle.parse().unwrap_or(0), "{row}");
            halt
        };
        assert!(matches!(halt, Ok(()) | Err(Halt::Enough)), "{halt:?} {row}");
        checked += 1;
    }
    checked
}

#[test]
fn messages_of_every_version_are_read_as_the_java_library_wrote_them() {
    assert_eq!(check_messages(include_str!("golden/messages.txt"), false), 318);
    // A larger set, when there is one.
    if let Ok(path) = std::env::var("KAFKA_MESSAGES") {
        println!("{} more", check_messages(&std::fs::read_to_string(path).unwrap(), true));
    }
}

#[test]
fn golden() {
    crate::pcap::golden(Protocol::Kafka, 19192, "broker");
}

#[test]
fn damaged_conversations_end_in_errors_only() {
    let mut seed = 1u32;
    let mut random = |most: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % most.max(1)
    };
    let produced = [produce(2, -1, 3, 200), response(2, b"\0\0\0\0\0\0\0\0")];
    let talk: Vec<Said> = [metadata(1), produced, metadata(3)].concat();
    for _ in 0..3_000 {
        let mut player = Player::new(Protocol::Kafka, Start::Beginning, Limits::default());
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
