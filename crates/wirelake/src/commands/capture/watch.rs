//! `watch`: requests and responses as they pass an interface.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use capture::filter::Program;
use capture::live::{Live, LiveOptions, State};
use capture::privileges;
use model::Nanos;
use tap::replay::Collect;
use tap::{Ledger, SourceTotals, Tap};

use super::line::Style;
use super::options::{self, Picker};
use super::read::write_ledger;
use super::show::{Line, Show, Shown};
use crate::cli::Watch;

/// How long one look at the ring may wait: also how late a key press is heard.
const LOOK: Duration = Duration::from_millis(100);

/// How often the table of `--stat` is drawn.
const DRAW: Duration = Duration::from_secs(1);

/// Captures until it is told to end.
pub fn run(args: &Watch) -> Result<ExitCode> {
    let filter = args.filter.as_deref().map(Program::compile).transpose()?;
    let tap_options = options::tap(&args.rules, &args.decoding)?;
    let picker = Picker::new(&args.picking)?;
    let limit = args.r#for.as_deref().map(options::span).transpose()?;
    let mut live = Live::open(&LiveOptions {
        interfaces: args.interface.iter().filter(|name| *name != "any").cloned().collect(),
        promiscuous: !args.no_promiscuous,
        ring_bytes: args.ring << 20,
        filter: filter.as_ref(),
        snaplen: args.snaplen,
        ..LiveOptions::default()
    })?;
    privileges::drop_privileges(None).context("the privileges of capture could not be given up")?;
    let color = options::color(args.color);
    let show = match (args.stat, args.json) {
        (true, _) => Show::Nothing,
        (_, true) => Show::Json,
        _ => Show::Lines(Style { color, width: options::width() }),
    };
    let mut tap = Tap::new(tap_options, Shown::new(show, picker, args.stat, None));
    let stop = stop_on_signals()?;
    let terminal = std::io::stdout().is_terminal();
    if std::io::stderr().is_terminal() {
        let place =
            if args.interface.is_empty() { "all interfaces".to_owned() } else { args.interface.join(", ") };
        eprintln!("watching {place}; end with Ctrl-C");
    }
    let started = Instant::now();
    let mut screen = Screen { drawn: started, terminal, lines: Vec::new(), shown: 0 };
    while !stop.load(Ordering::Relaxed)
        && limit.is_none_or(|limit| started.elapsed() < limit)
        && args.count.is_none_or(|count| screen.shown < count)
    {
        live.poll(LOOK, &mut |frame| tap.frame(&frame))?;
        live.changes(&mut |name, state| tell(name, state));
        tap.tick(now());
        if !screen.update(&mut tap, args.count) {
            break;
        }
    }
    // What arrived before the end was asked for.
    live.poll(Duration::ZERO, &mut |frame| tap.frame(&frame))?;
    tap.finish();
    screen.finish(&mut tap, args.count);
    let rows = tap.sink().rows;
    let drops = live.drops();
    let source = SourceTotals { drops: drops.kernel, filtered: 0, unknown_link: drops.unsupported };
    let ledger = Ledger::new([&tap.page(source, rows)]);
    if let Some(path) = &args.ledger {
        write_ledger(path, &ledger)?;
    }
    eprintln!(
        "{} packets, {} lost by the kernel, {} flows, {} roundtrips{}",
        ledger.frames.taken,
        drops.kernel,
        ledger.flows.opened,
        ledger.roundtrips.total,
        if ledger.balanced { "" } else { "; the books do not balance" }
    );
    if drops.kernel > 0 {
        eprintln!("lift the loss with a larger ring (--ring {}) or a filter (-f)", args.ring * 4);
    }
    Ok(ExitCode::SUCCESS)
}

/// What is on standard output.
struct Screen {
    drawn: Instant,
    terminal: bool,
    lines: Vec<Line>,
    shown: u64,
}

impl Screen {
    /// Writes what is new; false when nobody reads any more.
    fn update(&mut self, tap: &mut Tap<Shown>, count: Option<u64>) -> bool {
        if let Some(stat) = tap.sink().stat() {
            let seconds = self.drawn.elapsed().as_secs_f64();
            if seconds < DRAW.as_secs_f64() {
                return true;
            }
            self.drawn = Instant::now();
            let clear = if self.terminal { "\x1b[H\x1b[2J" } else { "" };
            let lines = if self.terminal { options::height().saturating_sub(4) } else { usize::MAX };
            let text = format!("{clear}{}\n", stat.render(seconds, lines));
            return write(text.as_bytes());
        }
        tap.sink().take(&mut self.lines);
        if self.lines.is_empty() {
            return true;
        }
        let room = count.map_or(u64::MAX, |count| count - self.shown);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let text: String = self.lines.iter().take(room).map(|line| line.text.as_str()).collect();
        self.shown += self.lines.len().min(room) as u64;
        self.lines.clear();
        write(text.as_bytes())
    }

    fn finish(&mut self, tap: &mut Tap<Shown>, count: Option<u64>) {
        self.drawn -= DRAW.min(self.drawn.elapsed() + DRAW);
        self.update(tap, count);
    }
}

/// Writes and flushes; false when standard output is closed.
fn write(bytes: &[u8]) -> bool {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).is_ok()
}

fn tell(name: &str, state: State) {
    match state {
        State::Up => eprintln!("{name} is up again"),
        State::Down => eprintln!("{name} is down; capture goes on when it is up again"),
        State::Gone => eprintln!("{name} is gone; capture goes on when one of that name is there"),
    }
}

fn now() -> Nanos {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Nanos(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// A flag that SIGINT and SIGTERM set. The second one ends the program the usual way.
fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .context("signals cannot be heard")?;
    }
    Ok(stop)
}
