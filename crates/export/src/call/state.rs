//! How a call stands: one word.

use std::fmt;

use model::CallMessage;

use super::sip::unregisters;

/// The state of a call, a registration, or any other SIP exchange.
///
/// Only the caller's leg counts: the messages with the Call-ID of the first message. The first
/// request's method (or the CSeq method of the first response, when no request was seen) says what
/// kind of exchange it is.
///
/// A 401 or 407 is a challenge: it decides nothing when the same method is asked again with a higher
/// CSeq. One that nobody takes up is a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// Asked, and no answer beyond 100 Trying yet.
    Trying,
    /// INVITE with a provisional answer above 100.
    Ringing,
    /// INVITE with a 2xx from any branch, and no BYE.
    Answered,
    /// A BYE was seen, whether or not its answer was.
    Ended,
    /// INVITE whose last final answer is 487, or one with CANCEL and no final answer.
    Cancelled,
    /// The last final answer is 4xx (other than 487 of an INVITE), 5xx or 6xx.
    Failed,
    /// The last final answer is 3xx.
    Redirected,
    /// REGISTER with a 2xx.
    Registered,
    /// REGISTER that takes its bindings away, with a 2xx.
    Unregistered,
    /// Any other method with a 2xx.
    Ok,
    /// Nothing in it could be read as SIP, or only an ACK was seen.
    Other,
}

impl State {
    /// The word, as in JSON and on screen.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trying => "trying",
            Self::Ringing => "ringing",
            Self::Answered => "answered",
            Self::Ended => "ended",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Redirected => "redirected",
            Self::Registered => "registered",
            Self::Unregistered => "unregistered",
            Self::Ok => "ok",
            Self::Other => "other",
        }
    }

    /// The state after all messages of the caller's leg, oldest first.
    pub(super) fn of(leg: &[&CallMessage]) -> Self {
        let of_method = |method: &'static str| {
            leg.iter().copied().filter(move |message| message.method.as_deref() == Some(method))
        };
        if of_method("INVITE").next().is_some() {
            return invite(leg);
        }
        if of_method("BYE").next().is_some() {
            return Self::Ended; // the capture began inside the call
        }
        let opening = leg
            .iter()
            .find(|message| message.is_request() && decides(message))
            .or_else(|| leg.iter().find(|message| decides(message)))
            .and_then(|message| message.method.as_deref());
        let Some(method) = opening else { return Self::Other };
        let success = match method {
            "REGISTER" => registration(leg),
            _ => Self::Ok,
        };
        finals(leg, method).last().map_or(Self::Trying, |&code| match code {
            200..=299 => success,
            300..=399 => Self::Redirected,
            _ => Self::Failed,
        })
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An ACK has no answer, so it cannot open an exchange.
fn decides(message: &CallMessage) -> bool {
    message.method.as_deref().is_some_and(|method| !method.is_empty() && method != "ACK")
}

/// Final answers to a method, in time order, without the challenges that were taken up.
fn finals(leg: &[&CallMessage], method: &str) -> Vec<u16> {
    let mut codes = Vec::new();
    let mut asked_later = None;
    for message in leg.iter().rev().filter(|message| message.method.as_deref() == Some(method)) {
        match message.code {
            None => asked_later = asked_later.max(message.cseq),
            Some(401 | 407) if asked_later > message.cseq => {}
            Some(code) if code >= 200 => codes.push(code),
            Some(_) => {}
        }
    }
    codes.reverse();
    codes
}

fn invite(leg: &[&CallMessage]) -> State {
    let seen = |method: &str| leg.iter().any(|message| message.method.as_deref() == Some(method));
    if seen("BYE") {
        return State::Ended;
    }
    let finals = finals(leg, "INVITE");
    if finals.iter().any(|code| code / 100 == 2) {
        return State::Answered;
    }
    match finals.last() {
        Some(487) => State::Cancelled,
        Some(300..=399) => State::Redirected,
        Some(_) => State::Failed,
        None if seen("CANCEL") => State::Cancelled,
        None => {
            let rings = leg.iter().any(|message| {
                message.method.as_deref() == Some("INVITE")
                    && message.code.is_some_and(|code| (101..200).contains(&code))
            });
            if rings { State::Ringing } else { State::Trying }
        }
    }
}

/// What the last REGISTER that succeeded asked for.
fn registration(leg: &[&CallMessage]) -> State {
    let answered = leg
        .iter()
        .rfind(|message| message.code.is_some_and(|code| code / 100 == 2))
        .and_then(|message| message.cseq);
    let request =
        leg.iter().rfind(|message| message.is_request() && (answered.is_none() || message.cseq == answered));
    match request {
        Some(request) if unregisters(&request.payload) => State::Unregistered,
        _ => State::Registered,
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
