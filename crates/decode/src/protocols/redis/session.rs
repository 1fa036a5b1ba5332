//! What both lanes agreed: subscriptions, transactions, the protocol version, and which requests are still
//! to be answered by something other than one plain reply.
//!
//! * Bounded by: [`MAX_SPECIAL`] such requests outstanding; a client that pipelines more of them is no longer
//!   paired until its lanes are quiet.
//! * Lost: the roundtrips between a loss and the moment from which pairing in order is certain again.

use super::commands::Topics;
use model::Nanos;
use std::collections::VecDeque;

/// Requests outstanding whose reply is special.
const MAX_SPECIAL: usize = 256;

/// After a loss: a request this long after the last byte of either lane answers to no reply under way.
const QUIET_NS: i64 = 10_000_000;

/// After a loss: so many turns of one request and one reply prove that the client does not pipeline.
const TURNS: u8 = 4;

/// A request whose reply is more than a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Special {
    /// One confirmation for each topic.
    Subscribe { topics: u32 },
    /// The same; 0 leaves all of that kind.
    Unsubscribe { kind: Topics, topics: u32 },
    /// What follows the reply is the feed.
    Monitor,
    /// What follows the reply is replication.
    Replicate,
    /// The type of the reply is that of the protocol version.
    Hello,
    /// All is as at the beginning.
    Reset,
    /// The database that was selected before, in case it fails.
    Select { before: Option<u32> },
}

/// Which commands the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Silence {
    /// All.
    #[default]
    No,
    /// All but the next (`CLIENT REPLY SKIP`).
    Next,
    /// None (`CLIENT REPLY OFF`).
    On,
}

/// Whether replies can be counted off against requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pairing {
    /// They can.
    Sure,
    /// Something was not seen: a reply may answer a request from before.
    Doubt(Doubt),
}

/// What was seen since the loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Doubt {
    /// Requests seen less replies seen.
    owed: u32,
    /// Turns of one request and one reply.
    turns: u8,
    /// When the last message was seen.
    last: Option<Nanos>,
    /// Whether a request was seen.
    asked: bool,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Session {
    /// Requests that are answered, and answers, since the beginning or the last loss.
    sent: u64,
    answered: u64,
    special: VecDeque<(u64, Special)>,
    pub pairing: Pairing,
    pub silence: Silence,
    /// Confirmations of the response under way that are still to come.
    pub confirms: u32,
    channels: u32,
    patterns: u32,
    shards: u32,
    /// Whether subscriptions from before may exist.
    unknown: bool,
    pub resp3: bool,
    pub monitor: bool,
    /// The database selected, when that was seen.
    pub database: Option<u32>,
    /// Commands queued since MULTI.
    pub queued: Option<u32>,
}

impl Session {
    pub(super) fn new(middle: bool) -> Self {
        Self {
            sent: 0,
            answered: 0,
            special: VecDeque::new(),
            pairing: if middle { Pairing::Doubt(Doubt::default()) } else { Pairing::Sure },
            silence: Silence::No,
            confirms: 0,
            channels: 0,
            patterns: 0,
            shards: 0,
            unknown: middle,
            resp3: false,
            monitor: false,
            database: None,
            queued: None,
        }
    }

    /// Bytes of a lane are missing: nothing that was outstanding is paired any more.
    pub(super) fn lose(&mut self) {
        self.special.clear();
        (self.sent, self.answered, self.confirms) = (0, 0, 0);
        self.pairing = Pairing::Doubt(Doubt::default());
        self.silence = Silence::No;
        self.database = None;
        self.queued = None;
        self.unknown = true;
    }

    /// A request that will be answered was seen; whether it can be paired.
    pub(super) fn request(&mut self, time: Nanos, special: Option<Special>) -> bool {
        if let Pairing::Doubt(doubt) = &mut self.pairing {
            let quiet = doubt.last.is_some_and(|last| time.0.saturating_sub(last.0) >= QUIET_NS);
            if doubt.owed == 0 && (quiet || doubt.turns >= TURNS) {
                self.pairing = Pairing::Sure;
            } else {
                doubt.turns = if doubt.owed == 0 { doubt.turns } else { 0 };
                *doubt =
                    Doubt { owed: doubt.owed.saturating_add(1), last: Some(time), asked: true, ..*doubt };
                return false;
            }
        }
        if let Some(special) = special {
            if self.special.len() >= MAX_SPECIAL {
                self.lose();
                return false;
            }
            self.special.push_back((self.sent, special));
        }
        self.sent = self.sent.wrapping_add(1);
        true
    }

    /// A reply begins; whether it is told, and what was special about its request.
    pub(super) fn reply(&mut self, time: Nanos) -> (bool, Option<Special>) {
        if let Pairing::Doubt(doubt) = &mut self.pairing {
            if doubt.asked {
                let turn = doubt.owed == 1;
                doubt.turns = if turn { doubt.turns.saturating_add(1) } else { 0 };
            }
            doubt.owed = doubt.owed.saturating_sub(1);
            doubt.last = Some(time);
            // Before any request was seen it answers one from before, and nothing else.
            return (!doubt.asked, None);
        }
        let special = self.next_special();
        if special.is_some() {
            self.special.pop_front();
        }
        self.answered = self.answered.wrapping_add(1);
        (true, special)
    }

    /// What is special about the request that the next reply answers.
    pub(super) fn next_special(&self) -> Option<Special> {
        self.special.front().filter(|(at, _)| *at == self.answered).map(|(_, special)| *special)
    }

    /// Whether an array can be a pushed message: a RESP2 client has subscriptions.
    pub(super) fn pushes_arrays(&self) -> bool {
        let none_asked = match self.pairing {
            Pairing::Sure => self.sent == self.answered,
            Pairing::Doubt(doubt) => doubt.owed == 0,
        };
        !self.resp3 && (self.subscribed() || (self.unknown && none_asked))
    }

    fn subscribed(&self) -> bool {
        self.channels != 0 || self.patterns != 0 || self.shards != 0
    }

    /// How many confirmations a request will get.
    pub(super) fn confirmations(&self, special: Special) -> u32 {
        match special {
            Special::Unsubscribe { kind, topics: 0 } => match kind {
                Topics::Channels => self.channels.max(1),
                Topics::Patterns => self.patterns.max(1),
                Topics::Shards => self.shards.max(1),
            },
            Special::Subscribe { topics } | Special::Unsubscribe { topics, .. } => topics.max(1),
            _ => 1,
        }
    }

    /// A confirmation says how many subscriptions there are now: channels and patterns together, shard
    /// channels for themselves.
    pub(super) fn confirmed(&mut self, kind: Topics, count: u32) {
        match kind {
            Topics::Channels => self.channels = count.saturating_sub(self.patterns),
            Topics::Patterns => self.patterns = count.saturating_sub(self.channels),
            Topics::Shards => self.shards = count,
        }
    }

    /// `RESET` was answered.
    pub(super) fn reset(&mut self) {
        (self.channels, self.patterns, self.shards) = (0, 0, 0);
        (self.unknown, self.resp3, self.monitor) = (false, false, false);
    }
}
