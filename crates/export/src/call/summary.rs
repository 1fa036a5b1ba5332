//! The facts of a call in one value.

use model::{CallMessage, Nanos};

use super::hosts::{Host, hosts};
use super::state::State;

/// What a call was. Durations are nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSummary {
    /// Time of the earliest message; zero when there is none.
    pub first: Nanos,
    /// Time of the latest message; zero when there is none.
    pub last: Nanos,
    /// Who called: `user@host` of From in the first message that has one; empty when unknown.
    pub from: String,
    /// Who was called: `user@host` of To, from the same message.
    pub to: String,
    /// How the caller's leg stands.
    pub state: State,
    /// From the first INVITE to its first sign of life at the far end: the first 18x or 2xx on the
    /// caller's leg. It is the Session Request Delay of RFC 6076 §4.3.1 for a session that was
    /// set up, with a challenge's round trip included, as the caller waits for that too.
    pub setup_ns: Option<i64>,
    /// From the first 2xx of the INVITE to the first BYE on the caller's leg: the Session Duration
    /// Time of RFC 6076 §4.5.
    pub talk_ns: Option<i64>,
    /// Every address it went through, in order of first appearance.
    pub hosts: Vec<Host>,
    /// Call-IDs of the legs in order of first appearance; the first is the caller's.
    pub call_ids: Vec<String>,
    /// How many messages were seen, retransmissions included.
    pub messages: usize,
    /// How many of them were retransmissions.
    pub retransmits: usize,
}

/// Sums up the messages of one call, oldest first.
pub fn summarize(messages: &[CallMessage]) -> CallSummary {
    let mut call_ids: Vec<String> = Vec::new();
    for message in messages {
        if !message.call_id.is_empty() && !call_ids.contains(&message.call_id) {
            call_ids.push(message.call_id.clone());
        }
    }
    let leg: Vec<&CallMessage> = match call_ids.first() {
        Some(id) => messages.iter().filter(|message| message.call_id == *id).collect(),
        None => messages.iter().collect(),
    };
    let named = leg
        .iter()
        .find(|message| message.is_request() && message.from_host.is_some())
        .or_else(|| leg.iter().find(|message| message.from_host.is_some()));
    CallSummary {
        first: messages.iter().map(|message| message.time).min().unwrap_or_default(),
        last: messages.iter().map(|message| message.time).max().unwrap_or_default(),
        from: named.map_or_else(String::new, |m| party(&m.from_user, &m.from_host)),
        to: named.map_or_else(String::new, |m| party(&m.to_user, &m.to_host)),
        state: State::of(&leg),
        setup_ns: setup(&leg),
        talk_ns: talk(&leg),
        hosts: hosts(messages),
        call_ids,
        messages: messages.len(),
        retransmits: super::retransmits(messages).into_iter().filter(|again| *again).count(),
    }
}

/// `user@host`, or whichever part is there.
fn party(user: &Option<String>, host: &Option<String>) -> String {
    let part = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    match (part(user), part(host)) {
        (Some(user), Some(host)) if host.contains(':') && !host.starts_with('[') => {
            format!("{user}@[{host}]")
        }
        (Some(user), Some(host)) => format!("{user}@{host}"),
        (user, host) => user.or(host).unwrap_or_default(),
    }
}

/// Time of the first INVITE request.
fn asked(leg: &[&CallMessage]) -> Option<Nanos> {
    leg.iter()
        .find(|message| message.is_request() && message.method.as_deref() == Some("INVITE"))
        .map(|message| message.time)
}

/// Time of the first answer to an INVITE with a code in the range, not before `after`.
fn answer(leg: &[&CallMessage], codes: impl Fn(u16) -> bool, after: Option<Nanos>) -> Option<Nanos> {
    leg.iter()
        .filter(|message| message.method.as_deref() == Some("INVITE"))
        .filter(|message| after.is_none_or(|after| message.time >= after))
        .find(|message| message.code.is_some_and(&codes))
        .map(|message| message.time)
}

fn setup(leg: &[&CallMessage]) -> Option<i64> {
    let asked = asked(leg)?;
    let alive = answer(leg, |code| matches!(code, 180..=189 | 200..=299), Some(asked))?;
    alive.0.checked_sub(asked.0)
}

fn talk(leg: &[&CallMessage]) -> Option<i64> {
    let answered = answer(leg, |code| code / 100 == 2, asked(leg))?;
    let bye = leg.iter().find(|message| {
        message.is_request() && message.method.as_deref() == Some("BYE") && message.time >= answered
    })?;
    bye.time.0.checked_sub(answered.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{b2bua_call, basic_call, message};

    #[test]
    fn sums_up_a_basic_call() {
        let summary = summarize(&basic_call());
        assert_eq!(summary.from, "alice@atlanta.example.com");
        assert_eq!(summary.to, "bob@biloxi.example.com");
        assert_eq!(summary.state, State::Ended);
        assert_eq!(summary.setup_ns, Some(120_000_000));
        assert_eq!(summary.talk_ns, Some(9_750_000_000));
        assert_eq!(summary.messages, 7);
        assert_eq!(summary.call_ids, ["basic@atlanta.example.com"]);
        assert_eq!(summary.last.0 - summary.first.0, 12_010_000_000);
    }

    #[test]
    fn takes_the_callers_leg_of_a_b2bua() {
        let summary = summarize(&b2bua_call());
        assert_eq!(summary.call_ids, ["leg-a@pbx", "leg-b@pbx"]);
        assert_eq!(summary.hosts.len(), 3);
        assert_eq!(summary.state, State::Answered);
    }

    #[test]
    fn knows_nothing_of_nothing() {
        let summary = summarize(&[]);
        assert_eq!(summary.state, State::Other);
        assert_eq!((summary.setup_ns, summary.talk_ns), (None, None));
        assert!(summary.hosts.is_empty() && summary.call_ids.is_empty());
    }

    #[test]
    fn writes_a_party_with_what_is_there() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(party(&some("a"), &some("::1")), "a@[::1]");
        assert_eq!(party(&None, &some("h")), "h");
        assert_eq!(party(&some("+49"), &some("")), "+49");
        assert_eq!(party(&None, &None), "");
    }

    #[test]
    fn does_not_measure_what_it_did_not_see() {
        let ringing = message("10.0.0.2:5060", "10.0.0.1:5060").response(180, "Ringing", "INVITE");
        assert_eq!(summarize(&[ringing]).setup_ns, None);
    }
}
