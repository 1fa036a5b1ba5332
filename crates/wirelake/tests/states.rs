//! How a call stands is worked out twice, over columns for a search and over messages for one call: both must say
//! the same of every exchange.

mod common;

use std::io::Write;
use std::net::TcpStream;

use common::packets::{EPOCH, answer, envelope, request, wrap};
use common::{Server, folder};
use envelope::hep::{Hep, RawTime};

/// Exchanges in words: `INVITE`, `INVITE/2` (CSeq 2), `180`, `200/2 BYE`; an answer is to INVITE where it says nothing.
const EXCHANGES: [(&[&str], &str); 30] = [
    (&["INVITE"], "trying"),
    (&["INVITE", "100"], "trying"),
    (&["INVITE", "100", "180"], "ringing"),
    (&["INVITE", "199"], "ringing"),
    (&["INVITE", "180", "200"], "answered"),
    (&["INVITE", "180", "200", "ACK", "BYE/2"], "ended"),
    (&["BYE/2", "200/2 BYE"], "ended"),
    (&["OPTIONS", "200 OPTIONS", "BYE/2"], "ended"),
    (&["INVITE", "407", "ACK"], "failed"),
    (&["INVITE", "407", "ACK", "INVITE/2"], "trying"),
    (&["INVITE", "407", "ACK", "INVITE/2", "180/2"], "ringing"),
    (&["INVITE", "407", "ACK", "INVITE/2", "200/2"], "answered"),
    (&["INVITE", "407", "ACK", "INVITE/2", "403/2"], "failed"),
    (&["INVITE", "486", "200"], "answered"),
    (&["INVITE", "200", "ACK", "INVITE/2", "488/2"], "answered"),
    (&["INVITE", "180", "CANCEL", "200 CANCEL", "487"], "cancelled"),
    (&["INVITE", "180", "CANCEL"], "cancelled"),
    (&["INVITE", "302"], "redirected"),
    (&["INVITE", "503"], "failed"),
    (&["OPTIONS", "200 OPTIONS"], "ok"),
    (&["OPTIONS"], "trying"),
    (&["MESSAGE", "404 MESSAGE"], "failed"),
    (&["MESSAGE", "401 MESSAGE", "MESSAGE/2"], "trying"),
    (&["REGISTER", "401 REGISTER", "REGISTER/2", "200/2 REGISTER"], "registered"),
    (&["REGISTER+0", "401 REGISTER", "REGISTER+0/2", "200/2 REGISTER"], "unregistered"),
    (&["REGISTER+3600", "200 REGISTER", "REGISTER+0/2", "200/2 REGISTER"], "unregistered"),
    (&["REGISTER+0", "200 REGISTER", "REGISTER+3600/2", "200/2 REGISTER"], "registered"),
    (&["REGISTER", "401 REGISTER"], "failed"),
    (&["200 OPTIONS"], "ok"),
    (&["ACK"], "other"),
];

/// The message that a word stands for, and whether the caller sends it.
fn message(word: &str, call_id: &str) -> (String, bool) {
    let (what, method) = word.split_once(' ').unwrap_or((word, "INVITE"));
    let (what, cseq) = what.split_once('/').unwrap_or((what, "1"));
    let (what, expires) = what.split_once('+').map_or((what, None), |(what, seconds)| (what, Some(seconds)));
    let (text, asks) = match what.parse() {
        Ok(code) => (answer(code, "Reason", method, call_id), false),
        Err(_) => (request(what, call_id), true),
    };
    let text = text.replace("CSeq: 1 ", &format!("CSeq: {cseq} "));
    match expires {
        None => (text, asks),
        Some(seconds) => {
            let contact = format!("Contact: <sip:alice@10.0.0.1>;expires={seconds}\r\nContent-Length");
            (text.replace("Content-Length", &contact), asks)
        }
    }
}

#[test]
fn a_search_and_a_call_say_the_same() {
    let data = folder();
    let server = Server::start(data.path(), &[]);
    let mut stream = TcpStream::connect(server.tcp()).unwrap();
    let there = envelope();
    let back = Hep { src: there.dst, dst: there.src, ..there.clone() };
    let mut count = 0;
    for (number, (words, _)) in EXCHANGES.iter().enumerate() {
        for (step, word) in words.iter().enumerate() {
            let (text, asks) = message(word, &format!("call-{number}"));
            let time = Some(RawTime { sec: EPOCH, usec: u32::try_from(step).unwrap() * 1_000 });
            let hep = Hep { time, ..if asks { there.clone() } else { back.clone() } };
            stream.write_all(&wrap(&hep, text.as_bytes())).unwrap();
            count += 1;
        }
    }
    server.settled(count);
    let found = server.json("/api/search?by=call&limit=100");
    let found = found["rows"].as_array().unwrap();
    assert_eq!(found.len(), EXCHANGES.len());
    for (number, (words, state)) in EXCHANGES.iter().enumerate() {
        let id = format!("call-{number}");
        let row = found.iter().find(|row| row["call_id"] == id.as_str()).unwrap();
        assert_eq!(row["state"], *state, "search: {words:?}");
        assert_eq!(server.json(&format!("/api/calls/{id}"))["state"], *state, "call: {words:?}");
    }
}
