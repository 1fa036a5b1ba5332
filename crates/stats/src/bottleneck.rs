//! Which stage is the limit, and why.
//!
//! In: two moments of a running program, each with its meters, its losses and what waits for the store. Out: a
//! [`Report`] of the time between them: a line per stage, and the one stage that would have to be quicker for more to
//! get through. Pure: two moments make the same report at any time.
//!
//! The rules, in this order, because a stage that is held up by a later one is not the limit:
//!
//! 1. The store, when it holds others up, or when what waits for it has nearly reached its limit, or when a writer
//!    hardly ever waits for work. Its stage that takes the most time is the limit.
//! 2. Where packets were lost: the stage that keeps the losing thread busy, when it is busy; otherwise the queue in
//!    front of it, which was too short for what came at once.
//! 3. A thread that hardly ever waits for work, though nothing is lost (yet): its stage that takes the most time.
//! 4. Nothing is at its limit. The stage that would be the first is named all the same.

use std::fmt::Write;

use serde::Serialize;

use crate::meter::{Activity, Crew, Meter, Snapshot, Span};

/// Receivers that are held up for this share of their time show that the store is the limit.
const HELD: f64 = 0.05;
/// So does this much of the memory for rows that wait to be written.
const BACKLOG: f64 = 0.8;
/// A thread that works for this share of its time is at its limit.
const BUSY: f64 = 0.9;
/// When packets were lost meanwhile, this share is enough: losses happen in the busiest moments.
const BUSY_AND_LOSING: f64 = 0.7;
/// Below this share of work nothing is worth naming.
const AT_REST: f64 = 0.001;

/// What the meters do not know.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts {
    /// Datagrams that the kernel dropped at the sockets, since the start.
    pub datagrams_lost: u64,
    /// Frames that the kernel dropped at the capture rings, since the start.
    pub frames_lost: u64,
    /// Sealed batches that wait to be written or are being written.
    pub backlog_batches: u64,
    /// Memory that they keep in use.
    pub backlog_bytes: u64,
    /// The most that they may keep.
    pub backlog_limit: u64,
}

/// A running program at one moment.
#[derive(Debug, Clone)]
pub struct Moment {
    /// The meters of all its threads.
    pub meters: Snapshot,
    /// The rest.
    pub facts: Facts,
}

/// What is the limit: a stage, or a queue of the kernel in front of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A stage.
    Stage(Meter),
    /// The receive buffers of the UDP sockets.
    Socket,
    /// The capture rings.
    Ring,
    /// The memory for rows that wait to be written.
    Memory,
}

impl Limit {
    /// The label in reports and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stage(stage) => stage.as_str(),
            Self::Socket => "hep.socket",
            Self::Ring => "capture.ring",
            Self::Memory => "store.memory",
        }
    }
}

/// What waits in front of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Queue {
    /// How much.
    pub length: u64,
    /// How much may.
    pub limit: u64,
    /// What of.
    pub unit: &'static str,
}

/// The line of one stage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageLine {
    /// Its name.
    pub stage: &'static str,
    /// The threads that it is a stage of.
    pub threads: &'static str,
    /// Whether its time is `work`, `idle` (waiting for work) or `held` (waiting for a later stage).
    pub activity: &'static str,
    /// Its share of the time of these threads, 0 to 1; they sum to 1 over the stages of the same threads.
    pub share: f64,
    /// Its share of the time of the busiest of them.
    pub share_of_busiest: f64,
    /// Seconds that it took, over all of them.
    pub seconds: f64,
    /// Batches that went through.
    pub batches: u64,
    /// Units that went through.
    pub units: u64,
    /// Units per second.
    pub units_per_s: f64,
    /// Units per batch.
    pub batch: Option<f64>,
    /// Nanoseconds per unit.
    pub ns_per_unit: Option<f64>,
    /// What a unit is.
    pub unit: &'static str,
    /// What waits in front of it now.
    pub queue: Option<Queue>,
    /// How many times as much it could take if it had its thread for itself.
    pub headroom: Option<f64>,
    /// One sentence for people.
    pub help: &'static str,
}

/// Threads that do the same work.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrewLine {
    /// Their name.
    pub threads: &'static str,
    /// How many there are.
    pub count: usize,
    /// The share of its time that the busiest works.
    pub busy: f64,
    /// The share of its time that it is held up by a later stage.
    pub held: f64,
    /// What is left of its time.
    pub headroom: f64,
}

/// Where time went between two moments, and what the limit was.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Time between the moments.
    pub seconds: f64,
    /// The limit, or what would be the first to become it; `None` when the program is at rest.
    pub stage: Option<&'static str>,
    /// Whether it was reached.
    pub limited: bool,
    /// Why, in a sentence.
    pub why: String,
    /// Datagrams that the kernel dropped at the sockets.
    pub datagrams_lost: u64,
    /// Frames that the kernel dropped at the capture rings.
    pub frames_lost: u64,
    /// The threads, by kind; kinds without a thread are left out.
    pub threads: Vec<CrewLine>,
    /// The stages, in the order of the pipeline.
    pub stages: Vec<StageLine>,
    /// The limit as a value.
    #[serde(skip)]
    pub limit: Option<Limit>,
}

/// How the busiest thread of a crew spends its time.
#[derive(Debug, Clone)]
struct Busiest {
    crew: Crew,
    shares: Vec<(Meter, f64)>,
}

impl Busiest {
    fn all(span: &Span<'_>) -> Vec<Self> {
        let of = |crew| span.busiest(crew).map(|shares| Self { crew, shares });
        Crew::ALL.into_iter().filter_map(of).collect()
    }

    fn share(&self, of: Activity) -> f64 {
        self.shares.iter().filter(|(stage, _)| stage.activity() == of).map(|(_, share)| share).sum()
    }

    fn busy(&self) -> f64 {
        self.share(Activity::Work)
    }

    fn held(&self) -> f64 {
        self.share(Activity::Held)
    }

    /// The stage of work that takes the most time.
    fn first(&self) -> Option<(Meter, f64)> {
        let work = self.shares.iter().filter(|(stage, _)| stage.activity() == Activity::Work);
        work.copied().max_by(|one, other| one.1.total_cmp(&other.1))
    }
}

impl Report {
    /// What happened from one moment to a later one of the same program.
    pub fn between(from: &Moment, to: &Moment) -> Self {
        let span = to.meters.since(&from.meters);
        let crews = Busiest::all(&span);
        let lost = |of: fn(&Facts) -> u64| of(&to.facts).saturating_sub(of(&from.facts));
        let datagrams_lost = lost(|facts| facts.datagrams_lost);
        let frames_lost = lost(|facts| facts.frames_lost);
        let verdict = store(&crews, &to.facts)
            .or_else(|| losing(&crews, datagrams_lost, frames_lost))
            .or_else(|| busiest(&crews))
            .unwrap_or_else(|| at_ease(&crews));
        Self {
            seconds: span.seconds(),
            stage: verdict.limit.map(Limit::as_str),
            limited: verdict.limited,
            why: verdict.why,
            datagrams_lost,
            frames_lost,
            threads: crews.iter().map(|crew| crew_line(&span, crew)).collect(),
            stages: crews.iter().flat_map(|crew| stage_lines(&span, crew, &to.facts)).collect(),
            limit: verdict.limit,
        }
    }

    /// The report in Prometheus' text format. It should span the life of the program, because times are counters.
    pub fn prometheus(&self, recent: &Self, text: &mut String) {
        type Value = fn(&StageLine) -> Option<f64>;
        let counters: [(&str, &str, Value); 3] = [
            ("stage_seconds_total", "Time that threads spent in a stage.", |line| Some(line.seconds)),
            ("stage_batches_total", "Batches that went through a stage.", |line| Some(line.batches as f64)),
            ("stage_units_total", "Units that went through a stage.", |line| Some(line.units as f64)),
        ];
        let gauges: [(&str, &str, Value); 4] = [
            ("stage_share", "Share of its thread's time that a stage took, over the last seconds.", |line| {
                Some(line.share)
            }),
            ("stage_queue_length", "What waits in front of a stage.", |line| {
                line.queue.map(|queue| queue.length as f64)
            }),
            ("stage_queue_limit", "How much may wait in front of a stage.", |line| {
                line.queue.map(|queue| queue.limit as f64)
            }),
            ("stage_headroom", "How many times as much a stage could take.", |line| line.headroom),
        ];
        for (report, kind, metrics) in [(self, "counter", &counters[..]), (recent, "gauge", &gauges[..])] {
            for (name, help, value) in metrics {
                let _ = writeln!(text, "# HELP wirelake_{name} {help}\n# TYPE wirelake_{name} {kind}");
                for line in &report.stages {
                    if let Some(value) = value(line) {
                        let _ = writeln!(text, "wirelake_{name}{{stage=\"{}\"}} {value}", line.stage);
                    }
                }
            }
        }
        let name = "bottleneck";
        let help = "1 for the stage that is the limit, over the last seconds; without a line, none is.";
        let _ = writeln!(text, "# HELP wirelake_{name} {help}\n# TYPE wirelake_{name} gauge");
        if let (true, Some(stage)) = (recent.limited, recent.stage) {
            let _ = writeln!(text, "wirelake_{name}{{stage=\"{stage}\"}} 1");
        }
    }
}

struct Verdict {
    limit: Option<Limit>,
    limited: bool,
    why: String,
}

impl Verdict {
    fn of(limit: Limit, why: String) -> Self {
        Self { limit: Some(limit), limited: true, why }
    }
}

/// Rule 1.
fn store(crews: &[Busiest], facts: &Facts) -> Option<Verdict> {
    let writers = crews.iter().find(|crew| crew.crew == Crew::Writers)?;
    let held = crews.iter().map(Busiest::held).fold(0.0, f64::max);
    let full = facts.backlog_bytes as f64 >= facts.backlog_limit as f64 * BACKLOG && facts.backlog_limit > 0;
    let busy = writers.busy();
    if held < HELD && !full && busy < BUSY {
        return None;
    }
    let (stage, share) = writers.first()?;
    let mut why = format!("store: the busiest writer works {} of the time", percent(busy));
    let _ =
        write!(why, ", {} of it in {} ({})", percent(share / busy.max(share)), stage.as_str(), say(stage));
    let _ = write!(why, ", and {} batches wait", facts.backlog_batches);
    if held >= HELD {
        let _ = write!(why, "; receiving is held up {} of the time", percent(held));
    }
    // Writers that have time to spare are not what receivers wait for: rows may not pile up until a flush is due.
    let limit = if busy < BUSY / 2.0 { Limit::Memory } else { Limit::Stage(stage) };
    if limit == Limit::Memory {
        why.push_str("; the memory for rows that wait is spent before a flush is due");
    }
    Some(Verdict::of(limit, why))
}

/// Rule 2.
fn losing(crews: &[Busiest], datagrams: u64, frames: u64) -> Option<Verdict> {
    let places = [
        (
            Crew::Shards,
            datagrams,
            "datagrams",
            Limit::Socket,
            "the receive buffer of the sockets is too small for what comes at once",
        ),
        (
            Crew::Capture,
            frames,
            "frames",
            Limit::Ring,
            "the capture ring is too small for what comes at once",
        ),
    ];
    let (crew, lost, what, queue, short) =
        places.into_iter().max_by_key(|place| place.1).filter(|place| place.1 > 0)?;
    let threads = crews.iter().find(|busiest| busiest.crew == crew)?;
    let busy = threads.busy();
    let work = threads.first().filter(|_| busy >= BUSY_AND_LOSING);
    Some(match work {
        Some((stage, share)) => Verdict::of(
            Limit::Stage(stage),
            format!(
                "{}: the busiest of the {} works {} of the time, {} of it {}, and the kernel dropped {lost} {what}",
                stage.as_str(),
                crew.as_str(),
                percent(busy),
                percent(share / busy),
                say(stage),
            ),
        ),
        None => Verdict::of(
            queue,
            format!(
                "{}: the kernel dropped {lost} {what} while the busiest of the {} worked only {} of the time: {short}",
                queue.as_str(),
                crew.as_str(),
                percent(busy),
            ),
        ),
    })
}

/// Rule 3.
fn busiest(crews: &[Busiest]) -> Option<Verdict> {
    let crew = crews.iter().max_by(|one, other| one.busy().total_cmp(&other.busy()))?;
    let (stage, share) = crew.first().filter(|_| crew.busy() >= BUSY)?;
    Some(Verdict::of(
        Limit::Stage(stage),
        format!(
            "{}: the busiest of the {} works {} of the time, {} of it {}; nothing is lost so far",
            stage.as_str(),
            crew.crew.as_str(),
            percent(crew.busy()),
            percent(share / crew.busy()),
            say(stage),
        ),
    ))
}

/// Rule 4.
fn at_ease(crews: &[Busiest]) -> Verdict {
    let crew = crews.iter().max_by(|one, other| one.busy().total_cmp(&other.busy()));
    match crew.and_then(|crew| Some((crew, crew.first()?))).filter(|(crew, _)| crew.busy() >= AT_REST) {
        Some((crew, (stage, _))) => Verdict {
            limit: Some(Limit::Stage(stage)),
            limited: false,
            why: format!(
                "nothing is at its limit; the first to reach it would be {}: the busiest of the {} works {} of the time",
                stage.as_str(),
                crew.crew.as_str(),
                percent(crew.busy()),
            ),
        },
        None => Verdict {
            limit: None,
            limited: false,
            why: "nothing is at its limit: every stage waits for work".to_owned(),
        },
    }
}

/// A stage's help, to stand inside a sentence.
fn say(stage: Meter) -> String {
    let help = stage.help().trim_end_matches('.');
    // "recvmmsg" is a name; the others begin a sentence.
    let mut letters = help.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent < 10.0 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

fn crew_line(span: &Span<'_>, busiest: &Busiest) -> CrewLine {
    let (busy, held) = (busiest.busy(), busiest.held());
    CrewLine {
        threads: busiest.crew.as_str(),
        count: span.threads(busiest.crew),
        busy,
        held,
        headroom: (1.0 - busy - held).max(0.0),
    }
}

fn stage_lines(span: &Span<'_>, busiest: &Busiest, facts: &Facts) -> Vec<StageLine> {
    let life: f64 = busiest.crew.stages().iter().map(|stage| span.time(*stage)).sum();
    let seconds = span.seconds();
    busiest
        .shares
        .iter()
        .map(|(stage, share_of_busiest)| {
            let (time, batches, units) = (span.time(*stage), span.batches(*stage), span.units(*stage));
            let share = if life > 0.0 { time / life } else { 0.0 };
            let work = stage.activity() == Activity::Work;
            StageLine {
                stage: stage.as_str(),
                threads: stage.crew().as_str(),
                activity: match stage.activity() {
                    Activity::Idle => "idle",
                    Activity::Work => "work",
                    Activity::Held => "held",
                },
                share,
                share_of_busiest: *share_of_busiest,
                seconds: time,
                batches,
                units,
                units_per_s: if seconds > 0.0 { units as f64 / seconds } else { 0.0 },
                batch: (batches > 0).then(|| units as f64 / batches as f64),
                ns_per_unit: (units > 0 && work).then(|| time * 1e9 / units as f64),
                unit: stage.unit(),
                queue: queue(span, *stage, facts),
                headroom: (work && *share_of_busiest > 0.0).then(|| 1.0 / share_of_busiest),
                help: stage.help(),
            }
        })
        .collect()
}

fn queue(span: &Span<'_>, stage: Meter, facts: &Facts) -> Option<Queue> {
    let own = |unit| span.queue(stage).map(|(length, limit)| Queue { length, limit, unit });
    match stage {
        Meter::HepReceive => own("bytes in sockets"),
        Meter::HepHeld => own("blocks in use"),
        Meter::StoreEncode => {
            Some(Queue { length: facts.backlog_bytes, limit: facts.backlog_limit, unit: "bytes of rows" })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crew(crew: Crew, shares: &[(Meter, f64)]) -> Busiest {
        let work: f64 = shares.iter().map(|(_, share)| share).sum();
        let idle = crew.stages()[0];
        let shares = shares.iter().copied().chain([(idle, 1.0 - work)]).collect();
        Busiest { crew, shares }
    }

    fn judge(
        crews: &[Busiest],
        facts: &Facts,
        datagrams: u64,
        frames: u64,
    ) -> (Option<&'static str>, bool, String) {
        let verdict = store(crews, facts)
            .or_else(|| losing(crews, datagrams, frames))
            .or_else(|| busiest(crews))
            .unwrap_or_else(|| at_ease(crews));
        (verdict.limit.map(Limit::as_str), verdict.limited, verdict.why)
    }

    const NOTHING_WAITS: Facts =
        Facts { datagrams_lost: 0, frames_lost: 0, backlog_batches: 1, backlog_bytes: 1, backlog_limit: 100 };

    #[test]
    fn a_store_that_holds_others_up_comes_before_what_it_causes() {
        let shards = crew(Crew::Shards, &[(Meter::HepHeld, 0.6), (Meter::HepDecode, 0.39)]);
        let writers = crew(Crew::Writers, &[(Meter::StoreEncode, 0.2), (Meter::StoreSync, 0.78)]);
        let facts = Facts { backlog_batches: 31, ..NOTHING_WAITS };
        let (stage, limited, why) = judge(&[shards, writers], &facts, 1_000, 0);
        assert_eq!((stage, limited), (Some("store.sync"), true));
        assert_eq!(
            why,
            "store: the busiest writer works 98 % of the time, 80 % of it in store.sync (waiting for the disk to have \
             what was written), and 31 batches wait; receiving is held up 60 % of the time"
        );
    }

    #[test]
    fn memory_that_is_spent_while_writers_rest() {
        let shards = crew(Crew::Shards, &[(Meter::HepHeld, 0.5)]);
        let writers = crew(Crew::Writers, &[(Meter::StoreEncode, 0.1)]);
        let (stage, ..) = judge(&[shards, writers], &NOTHING_WAITS, 0, 0);
        assert_eq!(stage, Some("store.memory"));
    }

    #[test]
    fn losses_at_idle_threads_are_the_buffers() {
        let idle = crew(Crew::Shards, &[(Meter::HepReceive, 0.03), (Meter::HepDecode, 0.02)]);
        let writers = crew(Crew::Writers, &[(Meter::StoreEncode, 0.01)]);
        let (stage, limited, why) = judge(&[idle.clone(), writers.clone()], &NOTHING_WAITS, 700, 0);
        assert_eq!((stage, limited), (Some("hep.socket"), true));
        assert!(why.contains("700 datagrams") && why.contains("5.0 %") && why.contains("too small"), "{why}");
        let busy = crew(Crew::Shards, &[(Meter::HepReceive, 0.2), (Meter::HepDecode, 0.6)]);
        assert_eq!(judge(&[busy, writers.clone()], &NOTHING_WAITS, 700, 0).0, Some("hep.decode"));
        let capture = crew(Crew::Capture, &[(Meter::CaptureDecode, 0.3)]);
        assert_eq!(judge(&[idle, capture, writers], &NOTHING_WAITS, 0, 9).0, Some("capture.ring"));
    }

    #[test]
    fn without_losses_the_busiest_thread_decides() {
        let shards = crew(Crew::Shards, &[(Meter::HepRead, 0.3), (Meter::HepAppend, 0.65)]);
        let writers = crew(Crew::Writers, &[(Meter::StoreEncode, 0.7)]);
        let (stage, limited, _) = judge(&[shards, writers.clone()], &NOTHING_WAITS, 0, 0);
        assert_eq!((stage, limited), (Some("hep.append"), true));
        let (stage, limited, why) = judge(&[writers], &NOTHING_WAITS, 0, 0);
        assert_eq!((stage, limited), (Some("store.encode"), false));
        assert!(why.starts_with("nothing is at its limit"), "{why}");
        let (stage, limited, _) = judge(&[crew(Crew::Shards, &[])], &NOTHING_WAITS, 0, 0);
        assert_eq!((stage, limited), (None, false));
    }

    #[test]
    fn a_report_adds_up() {
        let board = crate::Board::default();
        let mut shard = board.shard();
        let moment = |lost| Moment {
            meters: board.meters().snapshot(),
            facts: Facts { datagrams_lost: lost, ..NOTHING_WAITS },
        };
        let before = moment(3);
        shard.meters.enter(Meter::HepReceive);
        shard.meters.batch(Meter::HepReceive, 64);
        shard.meters.enter(Meter::HepWait);
        std::thread::sleep(std::time::Duration::from_millis(20));
        shard.publish();
        let report = Report::between(&before, &moment(8));
        assert_eq!((report.datagrams_lost, report.stage, report.limited), (5, Some("hep.socket"), true));
        let sum: f64 = report.stages.iter().map(|line| line.share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{report:#?}");
        let receive = report.stages.iter().find(|line| line.stage == "hep.receive").unwrap();
        assert_eq!((receive.batches, receive.units, receive.batch), (1, 64, Some(64.0)));
        let mut text = String::new();
        report.prometheus(&report, &mut text);
        assert!(text.contains("wirelake_stage_units_total{stage=\"hep.receive\"} 64"), "{text}");
        assert!(text.contains("wirelake_bottleneck{stage=\"hep.socket\"} 1"), "{text}");
    }
}
