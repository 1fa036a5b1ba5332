//! Packets in, rows and books out, compared with tests/golden. `UPDATE_GOLDEN=1` writes what there is now.
//!
//! One file a group: each packet with the row that it became (columns without a value are left out), then the books.

mod common;

use std::fs;
use std::io::Write;
use std::net::UdpSocket;
use std::path::Path;

use common::packets::{EPOCH, VECTORS, answer, envelope, request, wrap};
use common::{Server, folder};
use envelope::hep::{self, Encoder, Hep, Payload, RawTime, id};
use serde_json::{Map, Value, json};

/// Packets by name; each has a source port of its own, by which its row is found.
struct Group {
    name: &'static str,
    arguments: &'static [&'static str],
    packets: Vec<(String, u16, Vec<u8>)>,
}

impl Group {
    fn new(name: &'static str, arguments: &'static [&'static str]) -> Self {
        Self { name, arguments, packets: Vec::new() }
    }

    fn raw(&mut self, name: &str, port: u16, packet: Vec<u8>) {
        self.packets.push((name.to_owned(), port, packet));
    }

    /// The envelope of the next packet: its port and its second are its own.
    fn next(&self) -> Hep<'static> {
        let number = u16::try_from(self.packets.len()).unwrap() + 1;
        let time = RawTime { sec: EPOCH + u32::from(number), usec: 123_456 };
        Hep { src_port: Some(1_000 + number), time: Some(time), ..envelope() }
    }

    /// A packet with this envelope, whose port must be that of [`Group::next`].
    fn hep(&mut self, name: &str, hep: &Hep<'_>) {
        self.raw(name, hep.src_port.unwrap(), hep::encode(hep).unwrap());
    }

    /// A packet of chunks by themselves.
    fn chunks(&mut self, name: &str, more: impl FnOnce(&mut Encoder)) {
        let next = self.next();
        let mut encoder = Encoder::new();
        encoder.chunk(0, id::SRC_PORT, &next.src_port.unwrap().to_be_bytes());
        encoder.chunk(0, id::SEC, &next.time.unwrap().sec.to_be_bytes());
        more(&mut encoder);
        self.raw(name, next.src_port.unwrap(), encoder.finish().unwrap());
    }

    /// SIP in the usual envelope.
    fn sip(&mut self, name: &str, payload: impl AsRef<[u8]>) {
        let next = self.next();
        self.raw(name, next.src_port.unwrap(), wrap(&next, payload.as_ref()));
    }

    /// Something else in the usual envelope.
    fn other(&mut self, name: &str, proto_type: Option<u8>, payload: &[u8]) {
        let next = Hep { proto_type, ip_proto: Some(17), ..self.next() };
        self.raw(name, next.src_port.unwrap(), wrap(&next, payload));
    }

    fn check(self) {
        let data = folder();
        let mut arguments = vec!["--shards", "1"];
        arguments.extend(self.arguments);
        let server = Server::start(data.path(), &arguments);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        for (_, _, packet) in &self.packets {
            socket.send_to(packet, server.udp()).unwrap();
        }
        server.settled(self.packets.len() as u64);
        let rows: Vec<(&str, Map<String, Value>)> = ["sip", "hep"]
            .into_iter()
            .flat_map(|table| {
                let found = server.sql(&format!("SELECT *, ts = received AS at_receipt FROM {table}"));
                found.into_iter().map(move |row| (table, row.as_object().unwrap().clone()))
            })
            .collect();
        // What can be read back from the files is what could be read before.
        let ledger = server.stop().well();
        let again = Server::start(data.path(), &arguments);
        for table in ["sip", "hep"] {
            let count = rows.iter().filter(|(of, _)| *of == table).count() as u64;
            assert_eq!(again.rows(table), count);
        }
        let packets: Vec<Value> =
            self.packets.iter().map(|(name, port, _)| described(name, *port, &rows)).collect();
        let kept = packets.iter().filter(|packet| packet["table"] != Value::Null).count();
        assert_eq!(kept, rows.len(), "a port stands for two packets");
        let books = books(&ledger);
        let text =
            serde_json::to_string_pretty(&json!({ "packets": packets, "ledger": books })).unwrap() + "\n";
        compare(self.name, &text);
    }
}

/// A packet and its row.
fn described(name: &str, port: u16, rows: &[(&'static str, Map<String, Value>)]) -> Value {
    let Some((table, row)) = rows.iter().find(|(_, row)| row.get("src_port") == Some(&port.into())) else {
        return json!({ "packet": name, "table": null });
    };
    let mut row = row.clone();
    row.remove("received");
    if row.remove("at_receipt") == Some(true.into()) {
        row.insert("ts".to_owned(), "time of receipt".into());
        row.remove("date");
    }
    row.retain(|_, value| !value.is_null());
    json!({ "packet": name, "table": table, "row": row })
}

/// The books without what is said for people.
fn books(ledger: &Value) -> Value {
    let by = |list: &str, name: &str| -> Map<String, Value> {
        let list = ledger[list].as_array().unwrap();
        list.iter().map(|one| (one[name].as_str().unwrap().to_owned(), one["count"].clone())).collect()
    };
    json!({
        "in": ledger["in"], "out": ledger["out"], "drops": by("drops", "reason"), "notices": by("notices", "name"),
        "store": ledger["store"], "balanced": ledger["balanced"],
    })
}

fn compare(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.json"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, found).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if expected == found {
        return;
    }
    let line = expected.lines().zip(found.lines()).position(|(one, other)| one != other);
    let line = line.unwrap_or_else(|| expected.lines().count().min(found.lines().count()));
    let at = |text: &str| text.lines().skip(line).take(3).collect::<Vec<_>>().join("\n");
    panic!(
        "{} differs from line {} on; expected\n{}\nfound\n{}\n`UPDATE_GOLDEN=1` rewrites the file",
        path.display(),
        line + 1,
        at(&expected),
        at(found)
    );
}

/// Every field that HEP3 has.
fn everything(group: &Group) -> Hep<'static> {
    Hep {
        keepalive_s: Some(30),
        auth_key: Some(b"myHep"),
        correlation_id: Some(b"leg-a@atlanta"),
        vlan: Some(100),
        node_name: Some(b"edge-1"),
        src_mac: Some(0x0200_5e10_0001),
        dst_mac: Some(0x0200_5e10_0002),
        ethertype: Some(0x0800),
        tcp_flags: Some(0x18),
        ip_tos: Some(0xb8),
        mos: Some(410),
        r_factor: Some(93),
        geo: Some(b"52.5,13.4"),
        jitter: Some(70_000),
        transaction_type: Some(b"call"),
        json_keys: Some(b"a,b"),
        tag_values: Some(b"x=1"),
        tag_type: Some(7),
        event_type: Some(2),
        group_id: Some(b"group-7"),
        payload: Some(Payload { bytes: b"OPTIONS sip:b@h SIP/2.0\r\nVia: SIP/2.0/UDP h\r\nFrom: <sip:a@h>;tag=1\r\nTo: <sip:b@h>\r\nCall-ID: c1\r\nCSeq: 1 OPTIONS\r\n\r\n", compressed: false }),
        ..group.next()
    }
}

#[test]
fn chunks() {
    let mut group = Group::new("chunks", &[]);
    let all = everything(&group);
    group.hep("every generic chunk", &all);
    let [v6_source, v6_target] = ["2001:db8::1", "2001:db8:0:0:1::2"].map(|text| text.parse().ok());
    let all = everything(&group);
    group.hep(
        "IPv6 over TCP",
        &Hep { family: Some(10), src: v6_source, dst: v6_target, ip_proto: Some(6), ..all },
    );
    let mapped = "::ffff:192.0.2.1".parse().ok();
    let all = group.next();
    group.hep(
        "IPv4 in IPv6 over SCTP",
        &Hep {
            family: Some(10),
            src: mapped,
            ip_proto: Some(132),
            payload: everything(&group).payload,
            ..all
        },
    );
    let all = group.next();
    group.hep(
        "an IP protocol without a name",
        &Hep { ip_proto: Some(41), payload: everything(&group).payload, ..all },
    );

    let sip = request("OPTIONS", "chunk-order");
    group.chunks("payload first, correlation id last", |packet| {
        packet
            .chunk(0, id::PAYLOAD, sip.as_bytes())
            .chunk(0, id::PROTO_TYPE, &[1])
            .chunk(0, id::CAPTURE_ID, &[0, 0, 7, 0xd1])
            .chunk(0, id::DST_V4, &[10, 0, 0, 2])
            .chunk(0, id::SRC_V4, &[10, 0, 0, 1])
            .chunk(0, id::CORRELATION_ID, b"after-the-payload");
    });
    group.chunks("vendor chunks with the types of generic ones", |packet| {
        packet
            .chunk(0xaaaa, id::CORRELATION_ID, b"not this one")
            .chunk(0xaaaa, id::CAPTURE_ID, &[0, 0, 0, 9])
            .chunk(2, id::PAYLOAD, b"nor this")
            .chunk(3, id::SRC_V4, &[1])
            .chunk(0, id::CORRELATION_ID, b"this-one")
            .chunk(0, id::CAPTURE_ID, &[0, 0, 0, 5])
            .chunk(0, id::PAYLOAD, sip.as_bytes());
    });
    group.chunks("unknown generic chunks", |packet| {
        packet.chunk(0, 0x1f, b"reserved").chunk(0, 0x7f, b"").chunk(0, id::PAYLOAD, sip.as_bytes());
    });
    group.chunks("chunks of a wrong size", |packet| {
        packet
            .chunk(0, id::CAPTURE_ID, &[7, 0xd1])
            .chunk(0, id::DST_PORT, &[1])
            .chunk(0, id::DST_V4, &[10, 0, 0])
            .chunk(0, id::PAYLOAD, sip.as_bytes());
    });
    group.chunks("chunks that occur twice", |packet| {
        packet
            .chunk(0, id::CAPTURE_ID, &[0, 0, 0, 1])
            .chunk(0, id::CAPTURE_ID, &[0, 0, 0, 2])
            .chunk(0, id::PAYLOAD, sip.as_bytes())
            .chunk(0, id::PAYLOAD, b"second");
    });
    group.chunks("chunks without a byte", |packet| {
        packet
            .chunk(0, id::CORRELATION_ID, b"")
            .chunk(0, id::NODE_NAME, b"")
            .chunk(0, id::AUTH_KEY, b"")
            .chunk(0, id::PAYLOAD, sip.as_bytes());
    });
    group.chunks("text chunks that are not UTF-8", |packet| {
        packet.chunk(0, id::NODE_NAME, b"caf\xe9").chunk(0, id::CORRELATION_ID, b"id\xff\x00").chunk(
            0,
            id::PAYLOAD,
            sip.as_bytes(),
        );
    });
    group.chunks("MAC addresses of six bytes", |packet| {
        packet
            .chunk(0, id::SRC_MAC, &[2, 0, 0x5e, 0x10, 0, 1])
            .chunk(0, id::DST_MAC, &[0, 0, 2, 0, 0x5e, 0x10, 0, 2])
            .chunk(0, id::PAYLOAD, sip.as_bytes());
    });
    group.chunks("no payload", |packet| {
        packet.chunk(0, id::PROTO_TYPE, &[1]).chunk(0, id::KEEPALIVE, &[0, 60]).chunk(
            0,
            id::NODE_NAME,
            b"edge-1",
        );
    });
    group.chunks("nothing but a payload", |packet| {
        packet.chunk(0, id::PAYLOAD, sip.as_bytes());
    });
    for magic in [b"EEP1", b"EEP3"] {
        let next = group.next();
        let mut packet = wrap(&next, sip.as_bytes());
        packet[..4].copy_from_slice(magic);
        group.raw(std::str::from_utf8(magic).unwrap(), next.src_port.unwrap(), packet);
    }
    let next = group.next();
    let trailing = [wrap(&next, sip.as_bytes()), b"behind the end".to_vec()].concat();
    group.raw("bytes behind the end", next.src_port.unwrap(), trailing);
    for (name, sec, usec) in [
        ("microseconds beyond the second", EPOCH, 1_000_000),
        ("seconds since 1900", EPOCH + 2_208_988_800, 5),
        ("time zero", 0, 0),
        ("time before 2000", 900_000_000, 0),
        ("time in ten years", EPOCH + 400_000_000, 0),
    ] {
        let next = Hep { time: Some(RawTime { sec, usec }), ..group.next() };
        group.raw(name, next.src_port.unwrap(), wrap(&next, sip.as_bytes()));
    }
    group.check();
}

/// HEP1, or HEP2 with this time header.
fn old(version: u8, port: u16, v6: bool, time: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![version, if v6 { 40 } else { 16 }, if v6 { 10 } else { 2 }, 17];
    packet.extend(port.to_be_bytes());
    packet.extend(5061u16.to_be_bytes());
    for last in [1, 2] {
        if v6 {
            packet.extend([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
        } else {
            packet.extend([10, 0, 0, last]);
        }
    }
    packet.extend(time);
    packet.extend(payload);
    packet
}

#[test]
fn versions() {
    let mut group = Group::new("versions", &[]);
    for (name, vector) in VECTORS {
        let mut packet = vector.to_vec();
        let port = match name {
            "hep3_invite" => 5060,
            "hep3_spec_example" => 12_010,
            _ => group.next().src_port.unwrap(),
        };
        if packet[0] != b'H' {
            packet[4..6].copy_from_slice(&port.to_be_bytes());
        }
        group.raw(name, port, packet);
    }
    let sip = request("OPTIONS", "old");
    let little =
        [&EPOCH.to_le_bytes()[..], &123_456u32.to_le_bytes(), &2001u16.to_le_bytes(), &[0, 0]].concat();
    let big = [&EPOCH.to_be_bytes()[..], &123_456u32.to_be_bytes(), &2001u16.to_be_bytes(), &[0, 0]].concat();
    let impossible = [0xff; 12];
    for (name, version, v6, time, payload) in [
        ("HEP1 over IPv4", 1, false, &[][..], sip.as_bytes()),
        ("HEP1 over IPv6", 1, true, &[], sip.as_bytes()),
        ("HEP1 without payload", 1, false, &[], b""),
        ("HEP2 over IPv4, little endian", 2, false, &little, sip.as_bytes()),
        ("HEP2 over IPv4, big endian", 2, false, &big, sip.as_bytes()),
        ("HEP2 over IPv6, little endian", 2, true, &little, sip.as_bytes()),
        ("HEP2 over IPv6, big endian", 2, true, &big, sip.as_bytes()),
        ("HEP2 without padding, little endian", 2, false, &little[..10], sip.as_bytes()),
        ("HEP2 without padding, big endian", 2, false, &big[..10], sip.as_bytes()),
        ("HEP2 with an impossible time", 2, false, &impossible, sip.as_bytes()),
        ("HEP2 without payload", 2, false, &little, b""),
        ("HEP2 that ends within its time", 2, false, &little[..7], b""),
        ("HEP3's number where the version stands", 3, false, &[], sip.as_bytes()),
    ] {
        let port = group.next().src_port.unwrap();
        group.raw(name, port, old(version, port, v6, time, payload));
    }
    let port = group.next().src_port.unwrap();
    let mut wrong = old(1, port, false, &[], sip.as_bytes());
    wrong[1] = 17;
    group.raw("HEP1 with a header length that does not exist", port, wrong);
    group.check();
}

#[test]
fn sip() {
    let mut group = Group::new("sip", &[]);
    group.sip(
        "INVITE with SDP",
        "INVITE sip:bob;x=1@biloxi.example.com:5070;transport=tcp?Subject=hi SIP/2.0\r\n\
         Via: SIP/2.0/TCP client.atlanta.example.com:5060;branch=z9hG4bK74bf9;rport\r\n\
         Via: SIP/2.0/UDP bottom.example.com;branch=z9hG4bKbottom\r\n\
         Max-Forwards: 70\r\n\
         From: \"Alice; <tag=no>\" <sip:alice:secret@atlanta.example.com:5060;user=phone>;tag=9fxced76sl\r\n\
         To: Bob <sips:bob@biloxi.example.com>\r\n\
         Call-ID: 3848276298220188511@atlanta.example.com\r\n\
         CSeq: 4294967295 INVITE\r\n\
         Contact: <sip:alice@client.atlanta.example.com;transport=tcp>;expires=60, <sip:other@h>\r\n\
         User-Agent: SoftPhone/1.0 (ünï)\r\n\
         Content-Type: application/sdp\r\n\
         Content-Length: 223\r\n\r\n\
         v=0\r\no=alice 1 1 IN IP4 client.atlanta.example.com\r\ns=-\r\nc=IN IP4 192.0.2.101\r\nt=0 0\r\n\
         m=audio 49172/2 RTP/AVP 0 8\r\na=rtpmap:0 PCMU/8000\r\n\
         m=video 49180 RTP/AVP 31\r\nc=IN IP6 2001:db8::9\r\nm=application 0 UDP/DTLS/SCTP x\r\n",
    );
    group.sip(
        "an answer has the method of its CSeq",
        answer(200, "OK", "INVITE", "answered").replace("Via:", "Server: PBX 2\r\nVia:"),
    );
    group.sip("a reason of several words and none", answer(603, "", "INVITE", "declined"));
    group.sip(
        "compact forms",
        "REFER sip:b@h SIP/2.0\r\nv: SIP/2.0/UDP top.example.com;branch=z9hG4bKc\r\nf: \"A\" <sip:a@h>;tag=1\r\nt: sip:b@h;tag=2\r\n\
         i: compact-1\r\nm: <sip:a@c>\r\nc: text/plain\r\nl: 2\r\nk: 100rel\r\ns: subject\r\nx: 1800\r\ne: gzip\r\nr: <sip:c@h>\r\n\
         b: <sip:d@h>\r\no: presence\r\nCSeq: 2 REFER\r\n\r\nhi",
    );
    group.sip(
        "folded headers",
        "OPTIONS sip:b@h SIP/2.0\r\nVia: SIP/2.0/UDP\r\n  fold.example.com;\r\n\tbranch=z9hG4bKfold\r\nFrom: \"A\r\n folded\"\r\n \
         <sip:alice@atlanta>;\r\n\ttag=f1\r\nTo: <sip:bob@biloxi>\r\nCall-ID:\r\n folded-1\r\nCSeq: 3\r\n OPTIONS\r\nUser-Agent: one\r\n two\r\n\r\n",
    );
    group.sip("LF only", request("OPTIONS", "lf-only").replace("\r\n", "\n"));
    group.sip("leading CRLF", format!("\r\n\r\n{}", request("OPTIONS", "leading")));
    group.sip(
        "leading CRLF before an answer with LF",
        format!("\n\r\n{}", answer(180, "Ringing", "INVITE", "leading-lf").replace("\r\n", "\n")),
    );
    group.sip(
        "several Vias in one header",
        "OPTIONS sip:b@h SIP/2.0\r\nVia: SIP / 2.0 / UDP first.example.com:4000 ;ttl=16 ;branch=z9hG4bK1, SIP/2.0/TCP second;branch=z9hG4bK2\r\n\
         From: <sip:a@h>;tag=1\r\nTo: <sip:b@h>\r\nCall-ID: vias\r\nCSeq: 1 OPTIONS\r\n\r\n",
    );
    group.sip(
        "IPv6 hosts",
        "INVITE sip:bob@[2001:db8::2]:5060 SIP/2.0\r\nVia: SIP/2.0/UDP [2001:db8::1]:5060;branch=z9hG4bKv6\r\nFrom: <sip:alice@[2001:db8::1]>;tag=1\r\n\
         To: <sip:bob@[2001:db8:0:0::2]>\r\nCall-ID: v6@[2001:db8::1]\r\nCSeq: 1 INVITE\r\nContact: <sip:alice@[2001:db8::1]:5060>\r\n\r\n",
    );
    group.sip(
        "tel: URIs",
        "INVITE tel:+1-201-555-0123;phone-context=example.com SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKtel\r\nFrom: <tel:+49301234567>;tag=1\r\n\
         To: tel:7042;phone-context=example.com\r\nCall-ID: tel\r\nCSeq: 1 INVITE\r\n\r\n",
    );
    group.sip(
        "a header of two letters that nobody knows",
        request("OPTIONS", "two-letters").replace("CSeq", "xx: <sip:evil@h>;tag=evil\r\nft: 1\r\nCSeq"),
    );
    group.sip("correlation header", request("INVITE", "leg-b").replace("CSeq", "X-CID: leg-a\r\nCSeq"));
    let next = group.next();
    group.raw(
        "correlation chunk before the header",
        next.src_port.unwrap(),
        wrap(
            &Hep { correlation_id: Some(b"from-the-chunk"), ..next.clone() },
            request("INVITE", "leg-c").replace("CSeq", "x-cid: from-the-header\r\nCSeq").as_bytes(),
        ),
    );
    group.sip(
        "REGISTER with Authorization",
        "REGISTER sip:h SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKr\r\nFrom: <sip:a@h>;tag=1\r\nTo: <sip:a@h>\r\nCall-ID: register\r\nCSeq: 2 REGISTER\r\n\
         Contact: *\r\nExpires: 0\r\nAuthorization: Digest username=\"al\\\"ice\", realm=\"h\", nonce=\"n\", uri=\"sip:h\", response=\"0123456789abcdef\"\r\n\r\n",
    );
    group.sip(
        "Proxy-Authorization",
        request("INVITE", "proxied")
            .replace("CSeq", "Proxy-Authorization: Digest realm=\"h\",username=bare,response=\"x\"\r\nCSeq"),
    );
    group.sip(
        "the headers that few send",
        request("INVITE", "rare").replace(
            "CSeq",
            "P-Asserted-Identity: \"A\" <sip:a@h>, <tel:+1>\r\nRemote-Party-ID: <sip:rp@h>;party=calling\r\nDiversion: <sip:d1@h>;reason=unconditional\r\n\
             Diversion: <sip:d2@h>\r\nPrivacy: id;critical\r\nReason: Q.850;cause=16;text=\"Terminated\"\r\nOrganization: Org Ltd\r\n\
             Session-ID: ab30317f1a784dc48ff824d0d3715d86;remote=0\r\nX-RTP-Stat: CS=0;PS=1207\r\nExpires: 3600\r\nCSeq",
        ),
    );
    group.sip(
        "addresses without angle brackets",
        "OPTIONS sip:h SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKb\r\nFrom: sip:a@h:5080;tag=1\r\nTo:sip:h\r\nCall-ID : space-before-colon \t\r\nCSeq:   7   OPTIONS  \r\n\
         Contact: sip:%61lice@h;transport=udp\r\n\r\n",
    );
    group.sip("a method of somebody's own", request("FOO-bar.1", "own-method"));
    group.sip(
        "header names in any case",
        request("OPTIONS", "any-case").replace("Call-ID", "CALL-id").replace("From", "fRoM"),
    );
    group.sip("two Call-IDs", request("OPTIONS", "first").replace("CSeq", "Call-ID: second\r\nCSeq"));
    group.sip("a method that is not CSeq's", request("OPTIONS", "mismatch").replace("1 OPTIONS", "1 INVITE"));
    group.sip("no Call-ID", request("OPTIONS", "gone").replace("Call-ID: gone\r\n", ""));
    group.sip("no CSeq, no From, no To, no Via", "OPTIONS sip:h SIP/2.0\r\nCall-ID: lonely\r\n\r\n");
    group.sip("a CSeq that is no number", request("OPTIONS", "bad-cseq").replace("1 OPTIONS", "one OPTIONS"));
    group.sip(
        "an answer without CSeq",
        answer(200, "OK", "INVITE", "no-cseq").replace("CSeq: 1 INVITE\r\n", ""),
    );
    group.sip(
        "a status of four digits",
        answer(200, "OK", "INVITE", "status").replace("SIP/2.0 200", "SIP/2.0 2000"),
    );
    group.sip(
        "a version that is none",
        request("OPTIONS", "version").replace("SIP/2.0\r\nVia", "SIP/9\r\nVia"),
    );
    group.sip("no end of the head", request("OPTIONS", "no-end").trim_end());
    group.sip("the head ends within a header", &request("OPTIONS", "cut")[..120]);
    group.sip(
        "a line without a colon",
        request("OPTIONS", "colon").replace("CSeq", "this is no header\r\nCSeq"),
    );
    group.check();
}

#[test]
fn payloads() {
    let mut group = Group::new("payloads", &[]);
    let sip = request("MESSAGE", "bytes");
    group.sip("NUL in the body", [sip.as_bytes(), b"a\0b\0"].concat());
    group.sip("a body that is not UTF-8", [sip.as_bytes(), b"\xff\xfe\x00caf\xe9"].concat());
    let latin = sip.replace("\"Alice\" <sip:alice@", "\"Ren@\" <sip:ren@e@").into_bytes();
    let latin: Vec<u8> = replaced(&latin, b"ren@e", b"ren\xe9");
    group.sip("a header that is not UTF-8", latin);
    group.sip("text beyond ASCII", sip.replace("\"Alice\" <sip:alice@", "\"Ålice 😀\" <sip:ålice@"));
    group.sip("an escape that looks like ours", sip.replace("alice@", "al\\xFFice@"));
    for (name, bytes) in [
        ("keep-alive of CRLF", &b"\r\n\r\n"[..]),
        ("keep-alive of NUL", b"\0\0\0\0"),
        ("keep-alive of a proxy", b"jaK\0"),
        ("empty", b""),
        ("words", b"hello"),
        ("binary", b"\x80\x00\x12\x34\xff\xfe"),
        ("half a start line", b"INVITE sip:bob"),
        ("HTTP", b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
    ] {
        group.sip(name, bytes);
    }
    let sip = request("INVITE", "packed") + &"body ".repeat(100);
    for (name, bytes) in
        [("gzip", gzip(sip.as_bytes())), ("zlib", zlib(sip.as_bytes())), ("deflate", deflate(sip.as_bytes()))]
    {
        let next = group.next();
        group.hep(name, &Hep { payload: Some(Payload { bytes: &bytes, compressed: true }), ..next });
    }
    let bytes = gzip(sip.as_bytes());
    let next = group.next();
    group.hep(
        "gzip that ends early",
        &Hep { payload: Some(Payload { bytes: &bytes[..40], compressed: true }), ..next },
    );
    let bytes = gzip(&[b'x'; 300_000]);
    let next = group.next();
    group.hep(
        "gzip of more than is allowed",
        &Hep { payload: Some(Payload { bytes: &bytes, compressed: true }), ..next },
    );
    group.chunks("a plain payload beside a compressed one", |packet| {
        packet.chunk(0, id::COMPRESSED, &gzip(b"compressed")).chunk(
            0,
            id::PAYLOAD,
            request("OPTIONS", "plain").as_bytes(),
        );
    });
    group.check();
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|window| window == from).unwrap();
    [&bytes[..at], to, &bytes[at + from.len()..]].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn others() {
    let mut group = Group::new("others", &[]);
    let rtcp = br#"{"sender_information":{"packets":300},"ssrc":1,"type":200,"report_blocks":[{"fraction_lost":0}]}"#;
    let next = group.next();
    let next = Hep { proto_type: Some(5), correlation_id: Some(b"call-1"), ..next };
    group.raw("RTCP as JSON", next.src_port.unwrap(), wrap(&next, rtcp));
    let next = group.next();
    let next =
        Hep { proto_type: Some(100), correlation_id: Some(b"call-1"), node_name: Some(b"edge-1"), ..next };
    group.raw("log line", next.src_port.unwrap(), wrap(&next, b"call-1 was routed to gw-2\n"));
    for (name, proto_type) in [
        ("RTP agent", 34),
        ("RTCP-XR", 35),
        ("horaclifix", 38),
        ("DNS", 53),
        ("diameter", 56),
        ("CDR", 60),
        ("reserved", 0),
        ("a type without a name", 200),
    ] {
        group.other(name, Some(proto_type), format!("{{\"type\":\"{name}\"}}").as_bytes());
    }
    group.other("RTP in binary", Some(4), b"\x80\x08\x00\x01\xff\xfe\xfd");
    group.other("no type, so SIP", None, request("OPTIONS", "no-type").as_bytes());
    let next = group.next();
    let packed = gzip(rtcp);
    group.hep(
        "compressed RTCP",
        &Hep { proto_type: Some(5), payload: Some(Payload { bytes: &packed, compressed: true }), ..next },
    );
    group.check();
}

#[test]
fn refused() {
    let mut group = Group::new("refused", &["--set", "hep.key=right"]);
    let sip = request("OPTIONS", "keyed");
    for (name, key) in
        [("no key", None), ("a wrong key", Some(&b"wrong"[..])), ("the right key", Some(b"right"))]
    {
        let next = Hep { auth_key: key, ..group.next() };
        group.raw(name, next.src_port.unwrap(), wrap(&next, sip.as_bytes()));
    }
    let whole = wrap(&envelope(), sip.as_bytes());
    for (name, packet) in [
        ("no byte", vec![]),
        ("not HEP", b"hello".to_vec()),
        ("SIP without HEP", sip.clone().into_bytes()),
        ("half a packet", whole[..whole.len() / 2].to_vec()),
        ("a length of zero", b"HEP3\0\0".to_vec()),
        ("a length of five", b"HEP3\0\x05\0".to_vec()),
        ("the header alone", b"HEP3\0\x06".to_vec()),
        ("HEP1", old(1, 1, false, &[], sip.as_bytes())),
    ] {
        group.raw(name, 0, packet);
    }
    let mut short = Encoder::new();
    short.chunk(0, id::PAYLOAD, b"x");
    let mut packet = short.finish().unwrap();
    packet[10..12].copy_from_slice(&5u16.to_be_bytes());
    group.raw("a chunk shorter than its header", 0, packet.clone());
    packet[10..12].copy_from_slice(&50u16.to_be_bytes());
    group.raw("a chunk longer than its packet", 0, packet);
    group.check();
}
