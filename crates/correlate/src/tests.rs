//! Conversations as events, and the rows they must become.

use crate::order::{PAUSE_ANSWERS, PAUSE_FACTOR, QUIET_NS, ROUNDS};
use crate::{Asking, MAX_PENDING, Pairs, Pool, Roundtrip};
use decode::{Input, Key, Name, Out, Role, Shape, Status, Value};
use model::{Dir, Endpoint, FiveTuple, Heard, Nanos, Transport};

/// One flow under test: says events, collects rows as `name outcome reason`.
struct Talk {
    pairs: Pairs,
    pool: Pool,
    out: Out,
    rows: Vec<String>,
    now: i64,
    /// What the sender of what comes next has received.
    heard: Heard,
}

impl Talk {
    fn new() -> Self {
        Self::with(Pairs::new(true, Asking::Ahead))
    }

    fn with(pairs: Pairs) -> Self {
        let (pool, out) = (Pool::default(), Out::default());
        Self { pairs, pool, out, rows: Vec::new(), now: 0, heard: Heard::All }
    }

    fn say(&mut self, dir: Dir, event: impl FnOnce(&mut Out, &Input<'_>)) -> &mut Self {
        self.now += 1_000;
        let end = Endpoint::UNSET;
        let tuple = FiveTuple { client: end, server: end, transport: Transport::Tcp };
        let input = Input {
            bytes: &[],
            dir,
            first: Nanos(self.now),
            time: Nanos(self.now),
            heard: self.heard,
            cut: 0,
            shape: Shape::Stream { eof: false },
            segment_start: true,
            tuple: &tuple,
        };
        event(&mut self.out, &input);
        self.flush()
    }

    fn flush(&mut self) -> &mut Self {
        let Self { pairs, pool, out, rows, .. } = self;
        for event in out.events() {
            pairs.event(event, out.fields(), pool, &mut |row| rows.push(name(row)));
        }
        out.clear();
        self
    }

    fn ask(&mut self, what: &str) -> &mut Self {
        self.ask_key(Key::Order, what)
    }

    fn ask_key(&mut self, key: Key, what: &str) -> &mut Self {
        self.say(Dir::ToServer, |out, input| {
            out.begin(input, Role::Request, key).text(Name::Operation, what.as_bytes());
            out.end(input, Role::Request, key, 10, Status::Unset);
        })
    }

    fn answer(&mut self, what: &str) -> &mut Self {
        self.answer_key(Key::Order, what)
    }

    fn answer_key(&mut self, key: Key, what: &str) -> &mut Self {
        self.say(Dir::ToClient, |out, input| {
            out.begin(input, Role::Response, key).text(Name::Error, what.as_bytes());
            out.end(input, Role::Response, key, 20, Status::Ok);
        })
    }

    fn gap(&mut self, dir: Dir) -> &mut Self {
        self.now += 1_000;
        let Self { pairs, pool, rows, out, now, .. } = self;
        let event = decode::Event::Gap { dir, time: Nanos(*now), missing: 1 };
        pairs.event(&event, out.fields(), pool, &mut |row| rows.push(name(row)));
        self
    }

    /// A client that waits for its answers, long enough to be known for it. Its rows are not kept.
    fn waits(&mut self) -> &mut Self {
        for _ in 0..=ROUNDS {
            self.ask("w").answer("W");
        }
        self.rows.clear();
        self
    }

    fn close(&mut self) -> Vec<String> {
        let Self { pairs, pool, rows, .. } = self;
        pairs.close("closed", pool, &mut |row| rows.push(name(row)));
        std::mem::take(&mut self.rows)
    }
}

fn name(row: &Roundtrip) -> String {
    let text = |name| match row.fields.find(name) {
        Some(Value::Text(range)) => String::from_utf8_lossy(row.fields.text(range)).into_owned(),
        _ => "-".to_owned(),
    };
    let mut line = format!("{}/{} {}", text(Name::Operation), text(Name::Error), row.outcome.as_str());
    if row.confidence != crate::Confidence::Exact {
        line += &format!(" {}", row.confidence.as_str());
    }
    if let Some(reason) = row.reason {
        line += &format!(" {reason}");
    }
    line
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let mut talk = Talk::new();
    talk.ask("a").ask("b").ask("c").answer("A").answer("B").answer("C");
    assert_eq!(talk.close(), ["a/A answered", "b/B answered", "c/C answered"]);
}

#[test]
fn ids_pair_in_any_order_and_alone_are_named() {
    let mut talk = Talk::new();
    talk.ask_key(Key::Id(1), "a").ask_key(Key::Id(2), "b").answer_key(Key::Id(2), "B");
    talk.answer_key(Key::Id(9), "X").ask_key(Key::Id(1), "a2").answer_key(Key::Id(1), "A2");
    let rows = ["b/B answered", "-/X orphan", "a/- unanswered id_reused", "a2/A2 answered"];
    assert_eq!(talk.close(), rows);
}

#[test]
fn what_expects_no_answer_is_whole_at_its_end() {
    let mut talk = Talk::new();
    talk.say(Dir::ToClient, |out, input| {
        out.begin(input, Role::OneWay, Key::Order).text(Name::Operation, b"push");
        out.end(input, Role::OneWay, Key::Order, 5, Status::Unset);
    });
    assert_eq!(talk.close(), ["push/- one_way"]);
}

#[test]
fn an_answer_before_the_request_is_over_is_its_answer() {
    let mut talk = Talk::new();
    talk.say(Dir::ToServer, |out, input| {
        out.begin(input, Role::Request, Key::Order).text(Name::Operation, b"upload");
    });
    talk.answer("413");
    talk.say(Dir::ToServer, |out, input| {
        out.end(input, Role::Request, Key::Order, 100, Status::Unset);
    });
    assert_eq!(talk.close(), ["upload/413 answered"]);
}

#[test]
fn a_hidden_request_never_gives_its_answer_to_the_next() {
    // One at a time: b is hidden by the gap.
    let mut talk = Talk::new();
    talk.waits().ask("a").answer("A").gap(Dir::ToServer).answer("B").ask("c").answer("C");
    let rows = ["a/A answered", "-/B orphan after_gap", "c/C answered after_gap"];
    assert_eq!(talk.close(), rows);
}

#[test]
fn a_gap_closes_what_waits_and_the_late_answer_finds_no_one() {
    let mut talk = Talk::new();
    talk.waits()
        .ask("a")
        .ask("b")
        .gap(Dir::ToServer)
        .ask("d")
        .answer("A")
        .answer("B")
        .answer("C")
        .answer("D");
    talk.ask("e").answer("E");
    let rows = talk.close();
    assert_eq!(rows[..2], ["a/- unanswered gap", "b/- unanswered gap"]);
    assert!(rows.contains(&"e/E answered after_gap".to_owned()), "{rows:?}");
    for wrong in ["d/A", "d/B", "d/C"] {
        assert!(!rows.iter().any(|row| row.starts_with(wrong)), "{rows:?}");
    }
}

#[test]
fn a_client_that_never_waits_is_in_step_only_after_silence() {
    let mut talk = Talk::new();
    // Overlapping: c is sent while b's answer is owed and a's has come.
    talk.ask("a").ask("b").answer("A").ask("c").answer("B").answer("C");
    talk.gap(Dir::ToServer).answer("X").ask("e").answer("D").ask("f").answer("E");
    talk.now += QUIET_NS;
    talk.ask("g").answer("G");
    let rows = talk.close();
    assert!(rows.contains(&"g/G answered after_gap".to_owned()), "{rows:?}");
    assert!(!rows.iter().any(|row| row.starts_with("e/D") || row.starts_with("f/E")), "{rows:?}");
}

#[test]
fn batches_are_in_step_again_with_the_next_batch() {
    let mut talk = Talk::new();
    for _ in 0..=ROUNDS {
        talk.ask("a").ask("b").ask("c").answer("A").answer("B").answer("C");
    }
    talk.gap(Dir::ToClient).answer("C").ask("d").ask("e").answer("D").answer("E");
    let rows = talk.close();
    assert_eq!(rows[rows.len() - 2..], ["d/D answered after_gap", "e/E answered after_gap"]);
}

#[test]
fn a_flow_joined_in_its_middle_waits_for_a_sign() {
    let mut talk = Talk::with(Pairs::new(false, Asking::Ahead));
    talk.answer("?").waits().ask("a").answer("A");
    assert_eq!(talk.close(), ["a/A answered late_join"]);

    let mut talk = Talk::with(Pairs::new(false, Asking::Ahead));
    talk.ask("a").answer("A").ask("b").answer("B");
    let rows = [
        "a/- unanswered late_join late_join",
        "-/A orphan late_join",
        "b/- unanswered late_join late_join",
        "-/B orphan late_join",
    ];
    assert_eq!(talk.close(), rows, "twice may be chance");

    // Answers of requests before the capture: each round has one more of them than of requests.
    let mut talk = Talk::with(Pairs::new(false, Asking::Ahead));
    talk.ask("a").answer("?").answer("?").ask("b").ask("c").answer("A").waits();
    talk.ask("d").answer("X");
    assert_eq!(talk.close(), ["d/- unanswered late_join late_join", "-/X orphan late_join"]);

    let mut talk = Talk::with(Pairs::new(false, Asking::Alone));
    talk.ask("a").answer("A");
    assert_eq!(talk.close(), ["a/A answered late_join"], "one at a time needs no sign");

    // A request that crossed an answer was answered before it was seen.
    talk.heard = Heard::Less;
    talk.ask("b");
    talk.heard = Heard::All;
    talk.ask("c").answer("C");
    assert_eq!(talk.close(), ["b/- unanswered late_join late_join", "c/C answered late_join"]);
    // An answer that crossed the request that waits answers another.
    talk.ask("d");
    talk.heard = Heard::Less;
    talk.answer("?");
    talk.heard = Heard::All;
    talk.answer("D");
    assert_eq!(talk.close(), ["-/? orphan late_join", "d/D answered late_join"]);
    // Two that wait: the client does not ask one thing at a time, or an answer passed by unseen.
    talk.ask("e").ask("f").answer("E");
    let rows =
        ["e/- unanswered late_join late_join", "f/- unanswered late_join late_join", "-/E orphan late_join"];
    assert_eq!(talk.close(), rows);
}

#[test]
fn what_crosses_on_the_way_makes_no_round() {
    // Two requests are always under way: each is sent when the answer before the last one has come.
    for (asks, answers) in
        [(Heard::Less, Heard::All), (Heard::All, Heard::Less), (Heard::Unknown, Heard::All)]
    {
        let mut talk = Talk::with(Pairs::new(false, Asking::Ahead));
        for _ in 0..4 * ROUNDS {
            talk.heard = asks;
            talk.ask("b");
            talk.heard = answers;
            talk.answer("A");
        }
        assert!(!talk.close().iter().any(|row| row.starts_with("b/A")), "{asks:?} {answers:?}");
    }
}

#[test]
fn a_request_that_crossed_an_answer_is_remembered() {
    let mut talk = Talk::with(Pairs::new(false, Asking::Ahead));
    talk.ask("a").answer("A");
    talk.heard = Heard::Less;
    talk.ask("b");
    talk.heard = Heard::All;
    talk.answer("B").waits().ask("c").answer("C");
    talk.now += QUIET_NS;
    talk.ask("d").answer("D");
    let rows = ["c/- unanswered late_join late_join", "-/C orphan late_join", "d/D answered late_join"];
    assert_eq!(talk.close(), rows);
}

#[test]
fn an_answer_that_crosses_the_only_request_answers_another() {
    let mut talk = Talk::with(Pairs::new(false, Asking::Ahead));
    // A slow answer is owed all the time.
    talk.waits().ask("a");
    talk.heard = Heard::Less;
    talk.answer("?");
    talk.heard = Heard::All;
    talk.answer("A").ask("b").answer("B");
    let rows = [
        "a/- unanswered late_join late_join",
        "-/? orphan late_join",
        "-/A orphan late_join",
        "b/- unanswered late_join late_join",
        "-/B orphan late_join",
    ];
    assert_eq!(talk.close(), rows);

    // Nothing waits: one answer more than there were requests.
    let mut talk = Talk::with(Pairs::new(false, Asking::Ahead));
    talk.waits().ask("a").answer("?").answer("A").waits().ask("b").answer("B");
    let rows = ["b/- unanswered late_join late_join", "-/B orphan late_join"];
    assert_eq!(talk.close(), rows);

    // Part of a request is enough for a server that refuses it.
    let mut talk = Talk::with(Pairs::new(false, Asking::Ahead));
    talk.waits().say(Dir::ToServer, |out, input| {
        out.begin(input, Role::Request, Key::Order).text(Name::Operation, b"upload");
    });
    talk.heard = Heard::Less;
    talk.answer("413");
    assert_eq!(talk.close(), ["upload/413 answered late_join closed"]);
}

#[test]
fn a_client_that_pauses_has_all_its_answers() {
    let took = 3_000_000;
    let play = |pause: i64, answers: u32, crossing: bool| {
        let mut talk = Talk::with(Pairs::new(false, Asking::Ahead));
        for n in 0..answers {
            talk.heard = if crossing && n == 1 { Heard::Less } else { Heard::All };
            talk.ask("x");
            talk.heard = Heard::All;
            talk.now += took;
            talk.answer("X");
        }
        talk.now += pause;
        talk.ask("a").answer("A");
        talk.close().last().is_some_and(|row| row == "a/A answered late_join")
    };
    let long = PAUSE_FACTOR * took + 10_000;
    assert!(play(long, PAUSE_ANSWERS, false));
    assert!(!play(long, PAUSE_ANSWERS - 1, false), "how long an answer takes is not known");
    assert!(!play(long - took, PAUSE_ANSWERS, false), "too short");
    assert!(!play(long, PAUSE_ANSWERS, true), "it sends on while it is answered");
}

#[test]
fn the_oldest_makes_room() {
    let mut talk = Talk::new();
    for i in 0..=MAX_PENDING {
        talk.ask_key(Key::Id(i as u64), "x");
    }
    assert_eq!(talk.rows, ["x/- unanswered too_many_waiting"]);
    assert_eq!(talk.close().len(), MAX_PENDING + 1);
}

#[test]
fn a_cut_ends_what_has_its_key() {
    let mut talk = Talk::new();
    talk.ask_key(Key::Id(1), "a").ask_key(Key::Id(3), "b");
    talk.say(Dir::ToClient, |out, input| out.cut(input.time, Key::Id(1), "cancelled"));
    talk.answer_key(Key::Id(3), "B");
    assert_eq!(talk.close(), ["a/- unanswered cancelled", "b/B answered"]);
}

#[test]
fn an_h2c_upgrade_is_answered_on_stream_1() {
    let mut talk = Talk::new();
    talk.ask("up");
    talk.say(Dir::ToClient, |out, _| out.rekey(1));
    talk.answer_key(Key::Id(1), "200");
    assert_eq!(talk.close(), ["up/200 answered"]);
}

#[test]
fn expired_requests_do_not_give_their_answer_away() {
    let mut talk = Talk::new();
    talk.ask("a");
    talk.now += 10 * QUIET_NS;
    let before = Nanos(talk.now);
    let Talk { pairs, pool, rows, .. } = &mut talk;
    pairs.expire(before, pool, &mut |row| rows.push(name(row)));
    talk.answer("A").ask("b").answer("B");
    talk.now += QUIET_NS;
    talk.ask("c").answer("C");
    let rows = ["a/- unanswered timeout", "-/A orphan", "b/- unanswered gap", "-/B orphan", "c/C answered"];
    assert_eq!(talk.close(), rows);
}
