//! What is under way on the channels of a connection.

use crate::{Key, Role};
use model::{Dir, Nanos};
use std::collections::VecDeque;

/// Channels that are followed; methods on more are not paired.
const MAX_CHANNELS: usize = 256;

/// Questions waiting on one channel, the oldest out.
const MAX_ASKS: usize = 32;

/// Publishes of a connection that wait for their confirm; later ones are not paired.
const MAX_UNCONFIRMED: usize = 4_096;

/// A question without an answer yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask {
    pub(super) method: (u16, u16),
    pub(super) dir: Dir,
    pub(super) key: Key,
}

/// A content under way: its method was seen.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) method: (u16, u16),
    pub(super) time: Nanos,
    pub(super) role: Role,
    pub(super) key: Key,
    /// Bytes of the frames so far.
    pub(super) bytes: u64,
    /// Bytes of the body that have not been seen; `None` before the header.
    pub(super) left: Option<u64>,
}

/// One channel.
#[derive(Debug, Default)]
pub(super) struct Channel {
    id: u16,
    /// The client wants confirms, and every publish since was seen.
    pub(super) confirms: bool,
    published: u64,
    asks: VecDeque<Ask>,
    unconfirmed: VecDeque<u64>,
    /// By direction.
    pub(super) contents: [Option<Content>; 2],
    /// The arguments of the methods of those, kept until their header tells the rest.
    pub(super) args: [Vec<u8>; 2],
}

/// The channels.
#[derive(Debug, Default)]
pub(super) struct Channels {
    known: Vec<Channel>,
    last: usize,
    unconfirmed: usize,
    questions: u64,
}

impl Channels {
    /// A channel, made when it is new; `None` when there are too many.
    pub(super) fn channel(&mut self, id: u16) -> Option<&mut Channel> {
        if self.known.get(self.last).is_none_or(|channel| channel.id != id) {
            self.last = match self.known.iter().position(|channel| channel.id == id) {
                Some(at) => at,
                None if self.known.len() < MAX_CHANNELS => {
                    self.known.push(Channel { id, ..Channel::default() });
                    self.known.len().saturating_sub(1)
                }
                None => return None,
            };
        }
        self.known.get_mut(self.last)
    }

    /// Forgets a channel.
    pub(super) fn close(&mut self, id: u16) {
        if let Some(at) = self.known.iter().position(|channel| channel.id == id) {
            let channel = self.known.swap_remove(at);
            self.unconfirmed = self.unconfirmed.saturating_sub(channel.unconfirmed.len());
        }
    }

    /// Remembers a question; its key, or `None` when it cannot be followed.
    pub(super) fn ask(&mut self, id: u16, method: (u16, u16), dir: Dir) -> Option<Key> {
        let key = self.fresh(id);
        let channel = self.channel(id)?;
        if channel.asks.len() >= MAX_ASKS {
            channel.asks.pop_front();
        }
        channel.asks.push_back(Ask { method, dir, key });
        Some(key)
    }

    /// Takes the question that something from `dir` answers: the oldest that fits. What was asked before it
    /// will not be answered any more.
    pub(super) fn answer(
        &mut self,
        id: u16,
        dir: Dir,
        fits: impl Fn((u16, u16)) -> bool,
        mut skipped: impl FnMut(Key),
    ) -> Option<Ask> {
        let channel = self.channel(id)?;
        let at = channel.asks.iter().position(|ask| ask.dir != dir && fits(ask.method))?;
        let mut found = None;
        let mut index = 0usize;
        channel.asks.retain(|ask| {
            let (here, earlier) = (index == at, index < at);
            index = index.saturating_add(1);
            if here {
                found = Some(*ask);
            } else if earlier && ask.dir != dir {
                skipped(ask.key);
            } else {
                return true;
            }
            false
        });
        found
    }

    /// Everything that a channel will not answer any more.
    pub(super) fn give_up(&mut self, id: u16, mut each: impl FnMut(Key)) {
        let Some(channel) = self.channel(id) else { return };
        let count = channel.unconfirmed.len();
        for ask in channel.asks.drain(..) {
            each(ask.key);
        }
        for tag in channel.unconfirmed.drain(..) {
            each(publish_key(id, tag));
        }
        channel.contents = [None, None];
        channel.confirms = false;
        self.unconfirmed = self.unconfirmed.saturating_sub(count);
    }

    /// The same for all channels.
    pub(super) fn give_up_all(&mut self, mut each: impl FnMut(Key)) {
        let mut at = 0usize;
        while let Some(id) = self.known.get(at).map(|channel| channel.id) {
            self.give_up(id, &mut each);
            at = at.saturating_add(1);
        }
    }

    /// The channel at a place of the list.
    pub(super) fn id(&self, at: usize) -> Option<u16> {
        self.known.get(at).map(|channel| channel.id)
    }

    /// A key that nothing else has.
    pub(super) fn fresh(&mut self, id: u16) -> Key {
        self.questions = self.questions.wrapping_add(1);
        // Publishes count per channel, questions per connection: the top bit tells them apart.
        Key::Id(1 << 63 | u64::from(id) << 47 | self.questions & ((1 << 47) - 1))
    }

    /// Confirms are wanted: the next publish is number 1.
    pub(super) fn confirm(&mut self, id: u16) {
        if let Some(channel) = self.channel(id)
            && !channel.confirms
        {
            channel.confirms = true;
            channel.published = 0;
        }
    }

    /// Counts a publish; its key when it will be confirmed and is followed.
    pub(super) fn publish(&mut self, id: u16) -> Option<Key> {
        let full = self.unconfirmed >= MAX_UNCONFIRMED;
        let channel = self.channel(id)?;
        if !channel.confirms {
            return None;
        }
        channel.published = channel.published.wrapping_add(1);
        let tag = channel.published;
        if full {
            return None;
        }
        channel.unconfirmed.push_back(tag);
        self.unconfirmed = self.unconfirmed.saturating_add(1);
        Some(publish_key(id, tag))
    }

    /// Takes the publishes that a confirm of `tag` is for.
    pub(super) fn confirmed(&mut self, id: u16, tag: u64, multiple: bool, mut each: impl FnMut(Key)) {
        let Some(channel) = self.channel(id) else { return };
        let before = channel.unconfirmed.len();
        if !multiple {
            if let Some(at) = channel.unconfirmed.iter().position(|waiting| *waiting == tag) {
                channel.unconfirmed.remove(at);
                each(publish_key(id, tag));
            }
        } else {
            // Tag 0 is every one so far.
            let most = if tag == 0 { u64::MAX } else { tag };
            channel.unconfirmed.retain(|waiting| {
                let confirmed = *waiting <= most;
                if confirmed {
                    each(publish_key(id, *waiting));
                }
                !confirmed
            });
        }
        let taken = before.saturating_sub(channel.unconfirmed.len());
        self.unconfirmed = self.unconfirmed.saturating_sub(taken);
    }

    /// Bytes of a lane are missing: contents under way in it are lost; from the client, the count of its
    /// publishes is.
    pub(super) fn gap(&mut self, dir: Dir) {
        for channel in &mut self.known {
            if let Some(content) = channel.contents.get_mut(dir.index()) {
                *content = None;
            }
            channel.asks.clear();
            if dir == Dir::ToServer {
                channel.confirms = false;
                channel.unconfirmed.clear();
            }
        }
        if dir == Dir::ToServer {
            self.unconfirmed = 0;
        }
    }
}

const fn publish_key(id: u16, tag: u64) -> Key {
    Key::Id((id as u64) << 47 | tag & ((1 << 47) - 1))
}
