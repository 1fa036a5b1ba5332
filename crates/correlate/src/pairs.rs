//! The messages of one flow that are under way or wait for an answer.

use crate::order::Step;
use crate::roundtrip::{Confidence, Outcome, Part, Roundtrip};
use decode::{Event, Fields, Key, Role, Status};
use model::{Dir, Heard, Nanos};
use std::collections::VecDeque;
use std::ops::Range;

/// The most roundtrips of one flow that may be under way; the oldest is closed as unanswered for the next.
pub const MAX_PENDING: usize = 1_024;

/// Slots that are free, kept for reuse.
const FREE_SLOTS: usize = 4_096;

/// A slot whose texts grew beyond this is not kept.
const KEPT_TEXT_BYTES: usize = 16_384;

/// Free slots of a shard: in steady state no roundtrip allocates.
#[derive(Debug, Default)]
// A slot moves between here and a flow as a pointer, without its 200 bytes.
#[allow(clippy::vec_box)]
pub struct Pool {
    free: Vec<Box<Roundtrip>>,
}

impl Pool {
    fn take(&mut self, key: Key, dir: Dir) -> Box<Roundtrip> {
        let mut slot = self.free.pop().unwrap_or_else(|| Box::new(Roundtrip::empty()));
        slot.reset(key, dir);
        slot
    }

    fn give(&mut self, slot: Box<Roundtrip>) {
        if self.free.len() < FREE_SLOTS && slot.fields.text_bytes() <= KEPT_TEXT_BYTES {
            self.free.push(slot);
        }
    }
}

/// The pairing of one flow.
#[derive(Debug)]
pub struct Pairs {
    waiting: VecDeque<Box<Roundtrip>>,
    step: Step,
    confidence: Confidence,
    asking: Asking,
}

/// How clients of a protocol may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// The next request after the answer: the protocol forbids anything else.
    Alone,
    /// Further requests before the answers.
    Ahead,
}

impl Pairs {
    /// The pairing of a flow seen from its first byte (`whole`), or joined in its middle.
    pub fn new(whole: bool, asking: Asking) -> Self {
        Self {
            waiting: VecDeque::new(),
            step: Step::new(whole || asking == Asking::Alone),
            asking,
            confidence: if whole { Confidence::Exact } else { Confidence::LateJoin },
        }
    }

    /// A flow that was joined after it had been silent is in step.
    pub fn joined_in_silence(&mut self) {
        self.step = Step::new(true);
    }

    /// When the oldest of them began.
    pub fn oldest(&self) -> Option<Nanos> {
        self.waiting.front().map(|slot| slot.start())
    }

    /// Takes one event; `each` is given what is complete.
    pub fn event(
        &mut self,
        event: &Event,
        fields: &Fields,
        pool: &mut Pool,
        each: &mut impl FnMut(&Roundtrip),
    ) {
        match event {
            Event::Begin { role, dir, key, time, heard, fields: range, notices } => {
                self.begin(*role, *dir, *key, (*time, *heard), pool, each);
                if let Some(slot) = self.under_way(*role, *dir, *key) {
                    slot.fields.extend(fields, range.clone());
                    slot.notices |= notices;
                }
            }
            Event::End { role, dir, key, time, bytes, status, fields: range, notices } => {
                let end = End { time: *time, bytes: *bytes, status: *status, notices: *notices };
                self.end(*role, *dir, *key, end, (fields, range), pool, each);
            }
            Event::Gap { time, .. } => self.gap(*time, pool, each),
            Event::Cut { key, time, why } => self.cut(*key, *time, why, pool, each),
            Event::Rekey { id } => {
                if let Some(slot) = self.waiting.iter_mut().find(|slot| slot.key == Key::Order) {
                    slot.key = Key::Id(*id);
                }
            }
            Event::Flow { .. } | Event::Expect(_) | Event::Raw { .. } | Event::Opaque(_) => {}
        }
    }

    /// Closes everything that is under way, because the flow ended for `reason`.
    pub fn close(&mut self, reason: &'static str, pool: &mut Pool, each: &mut impl FnMut(&Roundtrip)) {
        while let Some(slot) = self.waiting.pop_front() {
            finish(slot, Some(reason), pool, each);
        }
    }

    /// Closes what began before `before` and is still without its end.
    pub fn expire(&mut self, before: Nanos, pool: &mut Pool, each: &mut impl FnMut(&Roundtrip)) {
        while self.waiting.front().is_some_and(|slot| slot.end() < before) {
            let Some(slot) = self.waiting.pop_front() else { return };
            let in_order = slot.key == Key::Order && slot.outcome != Outcome::OneWay;
            finish(slot, Some("timeout"), pool, each);
            if in_order {
                // Its answer may still come, and must not be given to the next.
                self.step.lose();
            }
        }
    }

    fn begin(
        &mut self,
        role: Role,
        dir: Dir,
        key: Key,
        (time, heard): (Nanos, Heard),
        pool: &mut Pool,
        each: &mut impl FnMut(&Roundtrip),
    ) {
        let part = Part { first: time, last: None, bytes: 0 };
        match role {
            Role::Request => {
                if key == Key::Order {
                    if self.doubts_one_at_a_time(dir) {
                        self.asking = Asking::Ahead;
                        self.step.lose();
                        self.close_waiting_in_order(self.why_out_of_step(), pool, each);
                    }
                    let was = self.step.holds();
                    let answering =
                        self.waiting.iter().any(|slot| slot.dir == dir && slot.response.is_some())
                            || self.answering(dir);
                    self.step.request(time, heard, answering);
                    if !was && self.step.holds() {
                        self.close_waiting_in_order(self.why_out_of_step(), pool, each);
                    }
                } else {
                    self.step.seen(time);
                    if let Some(at) = self.waiting.iter().position(|slot| slot.key == key && slot.dir == dir)
                    {
                        self.close_at(at, Some("id_reused"), pool, each);
                    }
                }
                let crossed = key == Key::Order && self.crossed(heard);
                let why = self.why_out_of_step();
                let slot = self.push(key, dir, pool, each);
                slot.request = Some(part);
                if crossed {
                    slot.reason = Some(why);
                }
            }
            Role::OneWay => {
                self.step.seen(time);
                let slot = self.push(key, dir, pool, each);
                slot.request = Some(part);
                slot.outcome = Outcome::OneWay;
            }
            Role::Response => {
                let asked = dir.reverse();
                if key == Key::Order {
                    self.step.response(time, heard);
                    if self.is_mistaken(asked, heard) {
                        self.step.mistaken();
                        self.close_waiting_in_order(self.why_out_of_step(), pool, each);
                    }
                } else {
                    self.step.seen(time);
                }
                let in_step = self.step.holds() && !self.crossed(heard);
                let found = self.waiting.iter_mut().find(|slot| {
                    slot.outcome == Outcome::Unanswered
                        && slot.reason.is_none()
                        && slot.response.is_none()
                        && slot.dir == asked
                        && slot.key == key
                        && (in_step || key != Key::Order)
                });
                match found {
                    Some(slot) => {
                        slot.response = Some(part);
                        slot.outcome = Outcome::Answered;
                    }
                    None => {
                        let slot = self.push(key, asked, pool, each);
                        slot.response = Some(part);
                        slot.outcome = Outcome::Orphan;
                    }
                }
            }
        }
    }

    /// Whether a client that is to ask one thing at a time asks another while one waits, in a flow that was joined or had
    /// a gap: either the answer passed by unseen, or it does not keep to that. From then on it must show that it waits.
    fn doubts_one_at_a_time(&self, dir: Dir) -> bool {
        self.asking == Asking::Alone
            && self.confidence != Confidence::Exact
            && self.waiting.iter().any(|slot| {
                slot.key == Key::Order
                    && slot.dir == dir
                    && slot.response.is_none()
                    && slot.outcome == Outcome::Unanswered
            })
    }

    /// Whether a message of a client that asks one thing at a time crossed one of the other side, in a flow that was
    /// joined or had a gap: such a request was answered before it was seen, and such a response answers another.
    fn crossed(&self, heard: Heard) -> bool {
        self.asking == Asking::Alone && self.confidence != Confidence::Exact && heard == Heard::Less
    }

    /// Whether a response shows that the flow is not in step, as it was taken to be since it was joined or had a
    /// gap: it answers none of the requests that wait, because there are none, or because the server had not
    /// received the only one when it sent it.
    fn is_mistaken(&self, dir: Dir, heard: Heard) -> bool {
        if !self.step.holds() || self.confidence == Confidence::Exact || self.asking == Asking::Alone {
            return false;
        }
        let mut waiting = self.waiting.iter().filter(|slot| {
            slot.key == Key::Order
                && slot.dir == dir
                && slot.response.is_none()
                && slot.outcome == Outcome::Unanswered
        });
        match (waiting.next().and_then(|slot| slot.request), waiting.next()) {
            (None, _) => true,
            // One that is still being sent may be answered already.
            (Some(only), None) => heard == Heard::Less && only.last.is_some(),
            (Some(_), Some(_)) => false,
        }
    }

    /// Whether a batch of requests is answered in part: the oldest waiting one was sent before the answer
    /// that was seen last.
    fn answering(&self, dir: Dir) -> bool {
        let oldest = self.waiting.iter().find(|slot| slot.dir == dir && slot.key == Key::Order);
        match (oldest.and_then(|slot| slot.request), self.step.last_answer()) {
            (Some(request), Some(answer)) => request.first < answer,
            _ => false,
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn end(
        &mut self,
        role: Role,
        dir: Dir,
        key: Key,
        end: End,
        (fields, range): (&Fields, &Range<usize>),
        pool: &mut Pool,
        each: &mut impl FnMut(&Roundtrip),
    ) {
        let Some(at) = self.position_under_way(role, dir, key) else {
            self.step.seen(end.time);
            return;
        };
        if role == Role::Response && key == Key::Order {
            self.step.answered(end.time);
        } else {
            self.step.seen(end.time);
        }
        let in_step = self.step.holds();
        let Some(slot) = self.waiting.get_mut(at) else { return };
        let part = if role == Role::Response { &mut slot.response } else { &mut slot.request };
        if let Some(part) = part {
            part.last = Some(end.time);
            part.bytes = end.bytes;
        }
        slot.fields.extend(fields, range.clone());
        slot.notices |= end.notices;
        if end.status != Status::Unset {
            slot.status = end.status;
        }
        let request_ended = slot.request.is_none_or(|part| part.last.is_some());
        match role {
            Role::OneWay => self.close_at(at, None, pool, each),
            Role::Response if request_ended => self.close_at(at, None, pool, each),
            // The server answered before the request was over.
            Role::Request if slot.response.is_some_and(|part| part.last.is_some()) => {
                self.close_at(at, None, pool, each);
            }
            Role::Request if key == Key::Order && (!in_step || slot.reason.is_some()) => {
                let why = self.why_out_of_step();
                self.close_at(at, Some(why), pool, each);
            }
            Role::Request | Role::Response => {}
        }
    }

    /// Nothing in order is paired across missing bytes, and no message of the lane goes on behind them.
    fn gap(&mut self, time: Nanos, pool: &mut Pool, each: &mut impl FnMut(&Roundtrip)) {
        self.confidence = Confidence::AfterGap;
        self.close_waiting_in_order("gap", pool, each);
        for slot in &mut self.waiting {
            slot.confidence = Confidence::AfterGap;
        }
        if self.asking == Asking::Ahead {
            self.step.lose();
        }
        self.step.seen(time);
    }

    /// Why a request cannot be given its answer now.
    const fn why_out_of_step(&self) -> &'static str {
        match self.confidence {
            Confidence::LateJoin => "late_join",
            Confidence::Exact | Confidence::AfterGap => "gap",
        }
    }

    fn cut(
        &mut self,
        key: Key,
        time: Nanos,
        why: &'static str,
        pool: &mut Pool,
        each: &mut impl FnMut(&Roundtrip),
    ) {
        let Some(at) = self.waiting.iter().position(|slot| slot.key == key) else { return };
        if let Some(slot) = self.waiting.get_mut(at) {
            for part in [&mut slot.request, &mut slot.response].into_iter().flatten() {
                part.last.get_or_insert(time);
            }
            slot.status = Status::Error;
        }
        self.close_at(at, Some(why), pool, each);
    }

    fn close_waiting_in_order(
        &mut self,
        reason: &'static str,
        pool: &mut Pool,
        each: &mut impl FnMut(&Roundtrip),
    ) {
        while let Some(at) = self.waiting.iter().position(|slot| slot.key == Key::Order) {
            self.close_at(at, Some(reason), pool, each);
        }
    }

    fn push(
        &mut self,
        key: Key,
        dir: Dir,
        pool: &mut Pool,
        each: &mut impl FnMut(&Roundtrip),
    ) -> &mut Roundtrip {
        if self.waiting.len() >= MAX_PENDING {
            let in_order = self.waiting.front().is_some_and(|slot| slot.key == Key::Order);
            self.close_at(0, Some("too_many_waiting"), pool, each);
            if in_order {
                self.step.lose();
            }
        }
        let mut slot = pool.take(key, dir);
        slot.confidence = self.confidence;
        self.waiting.push_back(slot);
        // Just pushed.
        let last = self.waiting.len().saturating_sub(1);
        &mut self.waiting[last]
    }

    fn under_way(&mut self, role: Role, dir: Dir, key: Key) -> Option<&mut Roundtrip> {
        let at = self.position_under_way(role, dir, key)?;
        self.waiting.get_mut(at).map(|slot| &mut **slot)
    }

    /// Where the message is that began last with this role, direction and key, and has not ended.
    fn position_under_way(&self, role: Role, dir: Dir, key: Key) -> Option<usize> {
        self.waiting.iter().rposition(|slot| {
            let (part, asked) = match role {
                Role::Response => (slot.response, dir.reverse()),
                Role::Request | Role::OneWay => (slot.request, dir),
            };
            slot.key == key
                && slot.dir == asked
                && (slot.outcome == Outcome::OneWay) == (role == Role::OneWay)
                && part.is_some_and(|part| part.last.is_none())
        })
    }

    fn close_at(
        &mut self,
        at: usize,
        reason: Option<&'static str>,
        pool: &mut Pool,
        each: &mut impl FnMut(&Roundtrip),
    ) {
        if let Some(slot) = self.waiting.remove(at) {
            finish(slot, reason, pool, each);
        }
    }
}

/// What the end of a message told.
struct End {
    time: Nanos,
    bytes: u64,
    status: Status,
    notices: u8,
}

fn finish(
    mut slot: Box<Roundtrip>,
    reason: Option<&'static str>,
    pool: &mut Pool,
    each: &mut impl FnMut(&Roundtrip),
) {
    slot.reason = reason;
    if reason.is_some() && slot.outcome == Outcome::Answered {
        // Half an answer is no success.
        slot.status = Status::Error;
    }
    each(&slot);
    pool.give(slot);
}
