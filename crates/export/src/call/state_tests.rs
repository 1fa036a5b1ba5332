use super::*;
use crate::testkit::message;

/// Builds a leg from words: `INVITE`, `INVITE/2` (CSeq 2), `180`, `407/1`, `200 BYE`.
fn leg(words: &[&str]) -> Vec<CallMessage> {
    words
        .iter()
        .map(|word| {
            let (what, method) = word.split_once(' ').unwrap_or((word, "INVITE"));
            let (what, cseq) = what.split_once('/').unwrap_or((what, "1"));
            let cseq = cseq.parse().unwrap();
            match what.parse::<u16>() {
                Ok(code) => message("10.0.0.2:5060", "10.0.0.1:5060").cseq(cseq).response(code, "x", method),
                Err(_) => message("10.0.0.1:5060", "10.0.0.2:5060").cseq(cseq).request(what),
            }
        })
        .collect()
}

fn state(words: &[&str]) -> &'static str {
    let messages = leg(words);
    State::of(&messages.iter().collect::<Vec<_>>()).as_str()
}

#[test]
fn follows_a_call() {
    assert_eq!(state(&["INVITE"]), "trying");
    assert_eq!(state(&["INVITE", "100"]), "trying");
    assert_eq!(state(&["INVITE", "100", "180"]), "ringing");
    assert_eq!(state(&["INVITE", "183"]), "ringing");
    assert_eq!(state(&["INVITE", "180", "200"]), "answered");
    assert_eq!(state(&["INVITE", "180", "200", "ACK", "BYE/2"]), "ended");
    assert_eq!(state(&["BYE/2", "200/2 BYE"]), "ended");
}

#[test]
fn a_challenge_taken_up_is_no_failure() {
    assert_eq!(state(&["INVITE", "407", "ACK"]), "failed");
    assert_eq!(state(&["INVITE", "407", "ACK", "INVITE/2"]), "trying");
    assert_eq!(state(&["INVITE", "407", "ACK", "INVITE/2", "180/2"]), "ringing");
    assert_eq!(state(&["INVITE", "407", "ACK", "INVITE/2", "200/2"]), "answered");
    assert_eq!(state(&["INVITE", "407", "ACK", "INVITE/2", "403/2"]), "failed");
}

#[test]
fn forks_reinvites_and_cancels() {
    assert_eq!(state(&["INVITE", "486", "200"]), "answered");
    assert_eq!(state(&["INVITE", "200", "ACK", "INVITE/2", "488/2"]), "answered");
    assert_eq!(state(&["INVITE", "180", "CANCEL", "200 CANCEL", "487"]), "cancelled");
    assert_eq!(state(&["INVITE", "180", "CANCEL"]), "cancelled");
    assert_eq!(state(&["INVITE", "302"]), "redirected");
    assert_eq!(state(&["INVITE", "503"]), "failed");
}

#[test]
fn other_methods() {
    assert_eq!(state(&["OPTIONS", "200 OPTIONS"]), "ok");
    assert_eq!(state(&["OPTIONS"]), "trying");
    assert_eq!(state(&["MESSAGE", "404 MESSAGE"]), "failed");
    assert_eq!(state(&["REGISTER", "401 REGISTER", "REGISTER/2", "200/2 REGISTER"]), "registered");
    assert_eq!(state(&["REGISTER", "401 REGISTER"]), "failed");
    assert_eq!(state(&["200 OPTIONS"]), "ok");
    assert_eq!(state(&["ACK"]), "other");
    assert_eq!(state(&[]), "other");
}

#[test]
fn tells_a_removal_of_bindings() {
    let mut messages = leg(&["REGISTER", "200 REGISTER"]);
    messages[0].payload = b"REGISTER sip:a SIP/2.0\r\nContact: *\r\nExpires: 0\r\n\r\n".to_vec();
    assert_eq!(State::of(&messages.iter().collect::<Vec<_>>()), State::Unregistered);
}
