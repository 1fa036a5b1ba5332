//! What both lanes agreed: subscriptions, transactions, the protocol version, and which requests are still
//! to be answered by something other than one plain reply.
//!
//! * Bounded by: [`MAX_SPECIAL`] such requests outstanding; the reply to a further one is taken for a plain one.
//! * Lost: after missing bytes, what was special about the requests outstanding. Whether replies can be given
//!   to requests then is for the pairing to say.

use super::commands::Topics;
use std::collections::VecDeque;

/// Requests outstanding whose reply is special.
const MAX_SPECIAL: usize = 256;

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

/// See the module.
#[derive(Debug)]
pub(super) struct Session {
    /// Requests that are answered, and answers, since the beginning or the last loss.
    sent: u64,
    answered: u64,
    special: VecDeque<(u64, Special)>,
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
        self.silence = Silence::No;
        self.database = None;
        self.queued = None;
        self.unknown = true;
    }

    /// A request that will be answered was seen.
    pub(super) fn request(&mut self, special: Option<Special>) {
        if let Some(special) = special
            && self.special.len() < MAX_SPECIAL
        {
            self.special.push_back((self.sent, special));
        }
        self.sent = self.sent.wrapping_add(1);
    }

    /// A reply begins; gives what was special about its request.
    pub(super) fn reply(&mut self) -> Option<Special> {
        let special = self.next_special();
        if special.is_some() {
            self.special.pop_front();
        }
        // A reply to a request from before the capture or a loss counts for none.
        if self.answered != self.sent {
            self.answered = self.answered.wrapping_add(1);
        }
        special
    }

    /// What is special about the request that the next reply answers.
    pub(super) fn next_special(&self) -> Option<Special> {
        self.special.front().filter(|(at, _)| *at == self.answered).map(|(_, special)| *special)
    }

    /// Whether an array can be a pushed message: a RESP2 client has subscriptions.
    pub(super) fn pushes_arrays(&self) -> bool {
        let none_asked = self.sent == self.answered;
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
