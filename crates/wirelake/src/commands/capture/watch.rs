//! `watch`: requests and responses as they pass an interface.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use capture::filter::Program;
use capture::live::{Live, LiveOptions, State};
use capture::privileges;
use model::Frame;
use tap::{Ledger, SourceTotals, Tap};

use super::line::Style;
use super::options::{self, Picker};
use super::read::write_ledger;
use super::show::{Show, Shown};
use crate::cli::Watch;
use crate::pipeline::now;

/// How long one look at the ring may wait: also how late a key press is heard.
const LOOK: Duration = Duration::from_millis(100);

/// Text that is written at once.
const WRITE_BYTES: usize = 256 << 10;

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
    let mut tap = Tap::new(tap_options, Shown::new(show, false, picker, args.stat, None));
    let stop = stop_on_signals()?;
    let terminal = std::io::stdout().is_terminal();
    if std::io::stderr().is_terminal() {
        let place =
            if args.interface.is_empty() { "all interfaces".to_owned() } else { args.interface.join(", ") };
        eprintln!("watching {place}; end with Ctrl-C");
    }
    let started = Instant::now();
    let mut screen = Screen { drawn: started, terminal, left: args.count.unwrap_or(u64::MAX), open: true };
    while !stop.load(Ordering::Relaxed)
        && limit.is_none_or(|limit| started.elapsed() < limit)
        && screen.left > 0
        && screen.open
    {
        live.poll(LOOK, &mut |frame| screen.take(&mut tap, &frame))?;
        live.changes(&mut |name, state| tell(name, state));
        tap.tick(now());
        screen.update(&mut tap);
    }
    // What arrived before the end was asked for.
    live.poll(Duration::ZERO, &mut |frame| screen.take(&mut tap, &frame))?;
    tap.finish();
    screen.finish(&mut tap);
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
    /// Roundtrips that may still be shown.
    left: u64,
    /// Whether somebody reads.
    open: bool,
}

impl Screen {
    /// Takes one frame and writes what has come together: a ring may hold more rows than memory should.
    fn take(&mut self, tap: &mut Tap<Shown>, frame: &Frame<'_>) {
        tap.frame(frame);
        if tap.sink().text().len() >= WRITE_BYTES {
            self.update(tap);
        }
    }

    /// Writes what is new.
    fn update(&mut self, tap: &mut Tap<Shown>) {
        if let Some(stat) = tap.sink().stat() {
            let seconds = self.drawn.elapsed().as_secs_f64();
            if seconds < DRAW.as_secs_f64() {
                return;
            }
            self.drawn = Instant::now();
            let clear = if self.terminal { "\x1b[H\x1b[2J" } else { "" };
            let lines = if self.terminal { options::height().saturating_sub(4) } else { usize::MAX };
            let text = format!("{clear}{}\n", stat.render(seconds, lines));
            self.open &= write(text.as_bytes());
            return;
        }
        let shown = std::mem::take(&mut tap.sink().shown);
        let text = tap.sink().text();
        let wanted = if shown > self.left { nth_line(text, self.left) } else { text.len() };
        self.left -= shown.min(self.left);
        if wanted > 0 && self.open {
            self.open = write(text.get(..wanted).unwrap_or(text));
        }
        text.clear();
    }

    fn finish(&mut self, tap: &mut Tap<Shown>) {
        self.drawn = self.drawn.checked_sub(DRAW).unwrap_or(self.drawn);
        self.update(tap);
    }
}

/// Where the line of a number (from 0) starts.
fn nth_line(text: &[u8], number: u64) -> usize {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let skip = usize::try_from(number).unwrap_or(usize::MAX);
    std::iter::once(0).chain(ends).nth(skip).unwrap_or(text.len())
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
