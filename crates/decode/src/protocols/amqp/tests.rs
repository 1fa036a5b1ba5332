use super::*;
use crate::testkit::{Player, Said, assert_cuts_do_not_matter, client, play, play_coalesced, server};
use crate::{Limits, Protocol, pcap};
use model::{Endpoint, FiveTuple, Heard, Nanos};

fn frame(what: u8, channel: u16, payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u32).to_be_bytes();
    [&[what][..], &channel.to_be_bytes(), &len, payload, &[END]].concat()
}

fn call(channel: u16, class: u16, id: u16, args: &[u8]) -> Vec<u8> {
    frame(1, channel, &[&class.to_be_bytes()[..], &id.to_be_bytes(), args].concat())
}

fn short(text: &str) -> Vec<u8> {
    [&[text.len() as u8], text.as_bytes()].concat()
}

/// A content of `size` bytes in frames of at most 100, with the properties of `flags` and bytes.
fn content(channel: u16, size: usize, flags: u16, properties: &[u8]) -> Vec<u8> {
    let head = [&b"\0\x3c\0\0"[..], &(size as u64).to_be_bytes(), &flags.to_be_bytes(), properties].concat();
    let mut bytes = frame(2, channel, &head);
    for part in vec![0x41; size].chunks(100) {
        bytes.extend(frame(3, channel, part));
    }
    bytes
}

fn publish(channel: u16, key: &str, size: usize) -> Vec<u8> {
    let args = [&b"\0\0"[..], &short("ex"), &short(key), &[0]].concat();
    [call(channel, 60, 40, &args), content(channel, size, 0, b"")].concat()
}

fn declare(channel: u16, queue: &str, bits: u8) -> Vec<u8> {
    call(channel, 50, 10, &[&b"\0\0"[..], &short(queue), &[bits], &[0; 4]].concat())
}

fn declared(channel: u16, queue: &str) -> Vec<u8> {
    call(channel, 50, 11, &[&short(queue)[..], &[0; 8]].concat())
}

fn ack(channel: u16, id: u16, tag: u64, multiple: bool) -> Vec<u8> {
    call(channel, 60, id, &[&tag.to_be_bytes()[..], &[u8::from(multiple)]].concat())
}

fn close(channel: u16, id: u16, code: u16, failing: (u16, u16)) -> Vec<u8> {
    let class = if id == 50 { 10 } else { 20 };
    let args = [&code.to_be_bytes()[..], &short("why"), &failing.0.to_be_bytes(), &failing.1.to_be_bytes()];
    call(channel, class, id, &args.concat())
}

fn all(talk: &[Said]) -> Vec<String> {
    assert_cuts_do_not_matter(Protocol::Amqp, Start::Beginning, talk)
}

/// A line without its key and time, which count and pass.
fn gist(line: &str) -> String {
    let words = line.split(' ').filter(|word| !word.starts_with("Id(") && !word.starts_with('t'));
    words.filter(|word| !word.starts_with("messaging.system")).collect::<Vec<_>>().join(" ")
}

fn key(line: &str) -> &str {
    line.split(' ').find(|word| word.starts_with("Id(")).unwrap()
}

#[test]
fn questions_are_answered_on_their_channel() {
    let talk = [
        client(b"AMQP\0\0\x09\x01"),
        client(declare(1, "a", 0)),
        client(declare(2, "b", 0)),
        server(declared(2, "b")),
        server(declared(1, "a")),
        client(declare(1, "quiet", 1 << 4)),
        client(frame(8, 0, b"")),
    ];
    let lines = all(&talk);
    assert_eq!(
        gist(&lines[0]),
        "> begin Request operation=queue.declare messaging.rabbitmq.channel=1 resource=a \
         messaging.destination.name=a"
    );
    assert_eq!(key(&lines[2]), key(&lines[4]));
    assert_eq!(key(&lines[0]), key(&lines[6]));
    assert_eq!(gist(&lines[7]), "< end Response bytes=22 Ok");
    assert!(lines[8].starts_with("> begin OneWay"), "nowait");
    assert_eq!(lines.len(), 10);
}

#[test]
fn a_publish_without_confirms_is_one_way_with_its_properties() {
    let table = [&short("x")[..], b"I\0\0\0\x01", &short("traceparent"), b"S\0\0\0\x37"].concat();
    let parent = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let table = [&table[..], parent].concat();
    let properties = [
        &short("text/plain")[..],
        &(table.len() as u32).to_be_bytes(),
        &table,
        &[2],
        &short("corr"),
        &short("reply"),
        &short("msg"),
        &[0; 8],
        &short("kind"),
        &short("app"),
    ];
    let flags = 1 << 15 | 1 << 13 | 1 << 12 | 1 << 10 | 1 << 9 | 1 << 7 | 1 << 6 | 1 << 5 | 1 << 3;
    let args = [&b"\0\0"[..], &short("ex"), &short("k"), &[0]].concat();
    let method = call(1, 60, 40, &args);
    let lines = all(&[client([method, content(1, 250, flags, &properties.concat())].concat())]);
    assert_eq!(
        gist(&lines[0]),
        "> begin OneWay operation=basic.publish messaging.rabbitmq.channel=1 resource=ex:k \
         messaging.destination.name=ex:k messaging.rabbitmq.destination.routing_key=k \
         messaging.message.body.size=250 messaging.message.id=msg messaging.message.conversation_id=corr \
         messaging.rabbitmq.message.content_type=text/plain messaging.rabbitmq.message.reply_to=reply \
         messaging.rabbitmq.message.type=kind messaging.rabbitmq.message.app_id=app \
         messaging.rabbitmq.message.delivery_mode=2 span_id=b7ad6b7169203331"
    );
    assert!(lines[0].contains("trace_id=0af7651916cd43dd8448eb211c80319c"));
    assert!(lines[1].contains("> end OneWay") && lines.len() == 2);
}

#[test]
fn confirms_answer_every_publish_up_to_their_tag() {
    let select = call(1, 85, 10, &[0]);
    let publishes: Vec<u8> = (0..4).flat_map(|_| publish(1, "k", 150)).collect();
    let talk = [
        client(select),
        server(call(1, 85, 11, b"")),
        client(publishes),
        server(ack(1, 80, 2, true)),
        server(ack(1, 120, 4, false)),
        server(ack(1, 80, 3, false)),
        server(ack(1, 80, 3, false)),
    ];
    let lines = all(&talk);
    assert_eq!(lines.len(), 4 + 8 + 8, "{lines:#?}");
    let tags: Vec<&str> = [4, 6, 8, 10].map(|at| key(&lines[at])).to_vec();
    let answered: Vec<&str> = [12, 14, 16, 18].map(|at| key(&lines[at])).to_vec();
    assert_eq!(answered, [tags[0], tags[1], tags[3], tags[2]]);
    assert_eq!(gist(&lines[17]), "< end Response bytes=21 Error status_code=nack");
    assert_eq!(gist(&lines[15]), "< end Response bytes=0 Ok", "one frame is counted once");
}

#[test]
fn interleaved_channels_and_a_gap_inside_a_body() {
    let a = publish(1, "a", 150);
    let b = publish(2, "b", 150);
    let cut = a.len() - 58;
    let talk = [client([&a[..cut], &b, &a[cut..]].concat())];
    let lines = all(&talk);
    assert_eq!(lines.iter().filter(|line| line.contains("begin")).count(), 2);
    assert_eq!(lines.iter().filter(|line| line.ends_with("bytes=208")).count(), 2, "{lines:?}");
    let mut player = Player::new(Protocol::Amqp, Start::Beginning, Limits::default());
    let head = a.len() - 58 - 30;
    player.bytes(Dir::ToServer, &a[..head], true);
    player.gap(Dir::ToServer, 20);
    player.bytes(Dir::ToServer, &a[head + 20..], true);
    assert_eq!(player.finish().len(), 2);
}

#[test]
fn get_has_its_content_and_returns_fail() {
    let get = call(1, 60, 70, &[&b"\0\0"[..], &short("q"), &[0]].concat());
    let got = call(1, 60, 71, &[&[0; 8][..], &[1], &short(""), &short("q"), &[0; 4]].concat());
    let back =
        call(1, 60, 50, &[&312u16.to_be_bytes()[..], &short("NO_ROUTE"), &short("ex"), &short("k")].concat());
    let talk = [
        client(get.clone()),
        server([got, content(1, 10, 0, b"")].concat()),
        client(get),
        server(call(1, 60, 72, &[0])),
        server([back, content(1, 0, 0, b"")].concat()),
    ];
    let lines = all(&talk);
    assert!(lines[2].contains("redelivered=true") && lines[2].contains("body.size=10"), "{}", lines[2]);
    assert_eq!(key(&lines[0]), key(&lines[2]));
    assert!(lines[3].ends_with("Ok") && lines[7].ends_with("Ok"));
    assert!(lines[8].starts_with("< begin OneWay"));
    assert!(lines[9].ends_with("Error status_code=312 error=NO_ROUTE"), "{}", lines[9]);
}

#[test]
fn a_close_answers_the_question_that_failed() {
    let talk =
        [client(declare(3, "none", 1)), server(close(3, 40, 404, (50, 10))), client(call(3, 20, 41, b""))];
    let lines = all(&talk);
    assert_eq!(key(&lines[0]), key(&lines[2]));
    assert_eq!(gist(&lines[3]), "< end Response bytes=22 Error status_code=404 error=why");
    assert_eq!(lines.len(), 4);

    // What nobody asked for is a question itself; what waits on the channel is cut.
    let talk = [
        client(publish(3, "k", 1)),
        client(declare(3, "q", 0)),
        server(close(3, 40, 404, (60, 40))),
        client(call(3, 20, 41, b"")),
    ];
    let lines = all(&talk);
    assert!(lines[4].starts_with("cut Id(") && lines[4].ends_with("channel_closed"));
    assert!(lines[5].contains("begin Request") && lines[6].ends_with("Error status_code=404 error=why"));
    assert_eq!(gist(&lines[8]), "> end Response bytes=12");

    // A connection: on whatever channel the question was.
    let talk = [client(declare(3, "q", 0)), server(close(0, 50, 505, (50, 10)))];
    let lines = all(&talk);
    assert_eq!(key(&lines[0]), key(&lines[2]));
    let normal = all(&[client(close(0, 50, 200, (0, 0))), server(call(0, 10, 51, b""))]);
    assert!(normal[1].ends_with("Ok"));
}

#[test]
fn secrets_are_not_kept_and_the_frame_size_is_agreed_on() {
    let start_ok =
        [&[0; 4][..], &short("PLAIN"), &[0, 0, 0, 12], b"\0bob\0geheim!", &short("en_US")].concat();
    let talk = [
        server(call(0, 10, 10, &[&[0, 9, 0, 0, 0, 0][..], &[0; 8]].concat())),
        client(call(0, 10, 11, &start_ok)),
        server(call(0, 10, 30, &[0, 0, 0, 0, 0x10, 0, 0, 60])),
        client(call(0, 10, 31, &[0, 0, 0, 0, 0x10, 0, 0, 60])),
        client(call(0, 10, 40, &[&short("/v")[..], &[0, 0]].concat())),
        server(call(0, 10, 41, &[0])),
        client(b"\x03\0\x01\0\0\x20\0"),
    ];
    let lines = all(&talk);
    assert!(!lines.concat().contains("geheim"));
    assert!(lines[2].ends_with("sasl_mechanism=PLAIN"));
    assert!(lines[8].contains("operation=connection.open") && lines[8].ends_with("resource=/v"));
    assert_eq!(lines.last().unwrap(), "errors 1 bad_length", "larger than was agreed on");
}

#[test]
fn joined_in_the_middle_confirms_are_not_guessed() {
    let talk = [
        client([&[0x41; 40][..], &publish(1, "lost", 5)].concat()),
        client(publish(1, "k", 5)),
        server(ack(1, 80, 40, false)),
        server(declared(1, "old")),
        client(declare(1, "new", 0)),
        server(declared(1, "new")),
    ];
    let lines = play(Protocol::Amqp, Start::Middle, &talk);
    assert!(lines[0].starts_with("> begin OneWay") && lines[0].contains("resource=ex:k "));
    assert!(lines[2].contains("begin Response") && lines[2].contains("operation=queue.declare-ok"));
    assert_eq!(key(&lines[4]), key(&lines[6]));
    assert_eq!(lines.len(), 8, "{lines:#?}");

    // After missing bytes the count of publishes is not known any more.
    let mut player = Player::new(Protocol::Amqp, Start::Beginning, Limits::default());
    player.bytes(Dir::ToServer, &[call(1, 85, 10, &[0]), publish(1, "a", 1)].concat(), true);
    player.gap(Dir::ToServer, 500);
    player.bytes(Dir::ToServer, &publish(1, "b", 1), true);
    player.bytes(Dir::ToClient, &ack(1, 80, 2, false), true);
    let lines = player.finish();
    assert!(lines[5].starts_with("> begin OneWay") && lines.len() == 7, "{lines:#?}");
}

#[test]
fn a_question_held_back_behind_a_gap_takes_no_answer_of_another() {
    let mut player = Player::new(Protocol::Amqp, Start::Beginning, Limits::default());
    player.clock = 2_000;
    player.bytes(Dir::ToClient, &declared(1, "a"), true);
    player.gap(Dir::ToServer, 100);
    player.clock = 1_000;
    player.bytes(Dir::ToServer, &declare(1, "a", 0), true);
    player.clock = 3_000;
    player.bytes(Dir::ToClient, &declared(1, "b"), true);
    let lines = player.finish();
    assert!(lines[3].contains("begin Request") && lines[5].contains("begin Response"));
    assert_ne!(key(&lines[3]), key(&lines[5]));
}

#[test]
fn amqp_1_0_is_opaque() {
    assert_eq!(
        play(Protocol::Amqp, Start::Beginning, &[client(b"AMQP\0\x01\0\0"), client(b"rest")]),
        ["opaque amqp-1.0"]
    );
    assert_eq!(play(Protocol::Amqp, Start::Beginning, &[client(b"AMQP\x03\x01\0\0")]), ["opaque amqp-1.0"]);
    assert_eq!(play(Protocol::Amqp, Start::Beginning, &[client(b"AMQP\x01\x01\x08\0")]), ["opaque amqp"]);
}

#[test]
fn every_cause_of_an_error() {
    let cause = |bytes: &[u8]| {
        let lines = play(Protocol::Amqp, Start::Beginning, &[client(bytes)]);
        lines.last().unwrap().clone()
    };
    assert_eq!(cause(b"\x07\0\0\0\0\0\0\xce"), "errors 1 bad_magic");
    assert_eq!(cause(b"AXYZ\0\0\x09\x01"), "errors 1 bad_magic");
    assert_eq!(cause(b"\x01\0\0\0\0\0\x03abc\xce"), "errors 1 bad_length");
    assert_eq!(cause(b"\x08\0\0\0\0\0\0\xcf"), "errors 1 bad_magic");
    assert_eq!(cause(b"\x03\0\0\0\0\0\x01a\xcf"), "errors 1 bad_magic");
    let unknown = play(Protocol::Amqp, Start::Beginning, &[client(call(1, 60, 99, b""))]);
    assert!(unknown[0].ends_with("notices=2"), "{unknown:?}");
}

#[test]
fn many_in_one_segment() {
    let talk = [client(declare(1, "a", 0)), client(publish(1, "k", 0)), client(declare(1, "b", 0))];
    assert_eq!(play_coalesced(Protocol::Amqp, Start::Beginning, &talk).len(), 6);
}

#[test]
fn probes_are_strict() {
    let probe = |bytes: &[u8]| {
        let end = |port| Endpoint::new([192, 0, 2, 1].into(), port);
        let tuple = FiveTuple { client: end(1), server: end(2), transport: Transport::Tcp };
        let shape = crate::Shape::Stream { eof: false };
        let (first, time, dir) = (Nanos(0), Nanos(0), Dir::ToServer);
        Amqp::probe(&Input {
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
    assert_eq!(probe(b"AMQP\0\0\x09\x01"), Verdict::Yes);
    assert_eq!(probe(b"AMQP\x03\x01\0\0"), Verdict::Yes);
    assert_eq!(probe(b"AMQ"), Verdict::NeedMore);
    assert_eq!(probe(&declare(1, "q", 0)), Verdict::Yes);
    assert_eq!(probe(&declare(1, "q", 0)[..15]), Verdict::NeedMore);
    for other in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
        &[0; 20],
        b"AMEN to that",
    ] {
        assert_eq!(probe(other), Verdict::No);
    }
}

#[test]
fn golden() {
    pcap::golden(Protocol::Amqp, 15673, "pika");
}

#[test]
fn damaged_conversations_end_in_errors_only() {
    let mut seed = 1u32;
    let mut random = |most: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as usize % most.max(1)
    };
    let talk: Vec<Said> = vec![
        client(call(1, 85, 10, &[0])),
        client(publish(1, "k", 120)),
        server(ack(1, 80, 1, true)),
        client(declare(1, "q", 0)),
        server(declared(1, "q")),
        server(close(1, 40, 404, (50, 10))),
    ];
    for _ in 0..3_000 {
        let mut player = Player::new(Protocol::Amqp, Start::Beginning, Limits::default());
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
