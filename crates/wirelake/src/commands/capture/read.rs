//! `read`: a capture file, or a stream of one, into roundtrips.

use std::io::{BufWriter, Read as _, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use capture::file::{self, FileError, Reader};
use capture::filter::Program;
use lake::Lake;
use model::Frame;
use tap::{Ledger, Page, SourceTotals, Tap};

use super::line::Style;
use super::options::{self, Picker};
use super::show::{Show, Shown};
use super::stat::Stat;
use crate::cli::{Read, ReadFormat, Settings};
use crate::commands::{plan, serve::lake_options};

/// The most taps.
const MAX_SHARDS: usize = 64;

/// Reads the file to its end.
pub fn run(args: &Read) -> Result<ExitCode> {
    let filter = args.filter.as_deref().map(Program::compile).transpose()?;
    let tap_options = options::tap(&args.rules, &args.decoding)?;
    let picker = Picker::new(&args.picking)?;
    let lake = args
        .into_lake
        .as_deref()
        .map(|folder| -> Result<_> {
            let plan = plan(&Settings::default())?;
            Ok(Lake::open(folder, lake_options(&plan))?)
        })
        .transpose()
        .context("the lake cannot be opened")?;
    let stream = args.file == Path::new("-");
    let mut reader = open(&args.file)?;
    let show = match args.format {
        _ if args.stat => Show::Nothing,
        ReadFormat::Table => {
            Show::Lines(Style { color: options::color(args.color), width: options::width() })
        }
        ReadFormat::Jsonl if args.flows => Show::JsonFlows,
        ReadFormat::Jsonl => Show::Json,
        ReadFormat::None => Show::Nothing,
    };
    let shards = match args.shards {
        _ if stream => 1,
        0 => std::thread::available_parallelism().map_or(1, usize::from).min(8),
        wanted => wanted.min(MAX_SHARDS),
    };
    let taps = (0..shards)
        .map(|_| Tap::new(tap_options.clone(), Shown::new(show, true, picker, args.stat, lake.as_ref())))
        .collect();
    let mut filtered = 0;
    let accept = |frame: &Frame<'_>| {
        let wanted = filter.as_ref().is_none_or(|filter| filter.matches(frame));
        filtered += u64::from(!wanted);
        wanted
    };
    let mut out = BufWriter::with_capacity(if stream { 0 } else { 1 << 16 }, std::io::stdout().lock());
    let mut closed = None;
    let (mut taps, ended) = tap::replay::replay(&mut reader, taps, stream, accept, |line| {
        if closed.is_none() {
            closed = out.write_all(&line.text).err();
        }
    });
    if let Some(error) = closed.or_else(|| out.flush().err()) {
        // Whoever read has had enough, as `head` does.
        if error.kind() != std::io::ErrorKind::BrokenPipe {
            return Err(error).context("standard output cannot be written");
        }
    }
    let mut stat = Stat::default();
    for tap in &mut taps {
        tap.sink().seal();
        if let Some(theirs) = tap.sink().stat() {
            stat.merge(theirs);
        }
    }
    if args.stat {
        let text = stat.render(f64::INFINITY, usize::MAX);
        out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
    }
    let totals = *reader.totals();
    let mut pages: Vec<Page> = taps
        .iter_mut()
        .map(|tap| {
            let rows = tap.sink().rows;
            tap.page(SourceTotals::default(), rows)
        })
        .collect();
    if let Some(first) = pages.first_mut() {
        first.source = source(&totals, filtered);
    }
    if let Some(lake) = lake {
        close(&lake)?;
    }
    let ledger = Ledger::new(&pages);
    if let Some(path) = &args.ledger {
        write_ledger(path, &ledger)?;
    }
    match ended {
        Ok(()) => {
            tell(&ledger, filtered);
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            tell(&ledger, filtered);
            Err(error).with_context(|| format!("{} was read up to the damage", args.file.display()))
        }
    }
}

fn open(path: &Path) -> Result<Reader<Box<dyn std::io::Read + Send>>, FileError> {
    if path == Path::new("-") {
        let stdin: Box<dyn std::io::Read + Send> = Box::new(std::io::stdin().take(u64::MAX));
        return file::stream(stdin);
    }
    file::open(path)
}

fn source(totals: &file::Totals, filtered: u64) -> SourceTotals {
    SourceTotals { drops: totals.interface_drops, filtered, unknown_link: totals.unknown_link }
}

/// Says on standard error what would otherwise go unseen.
fn tell(ledger: &Ledger, filtered: u64) {
    let frames = &ledger.frames;
    if frames.taken == 0 && filtered == 0 && frames.unknown_link == 0 {
        eprintln!("the file holds no packets");
    }
    if frames.unknown_link > 0 {
        eprintln!("{} frames of a link type that is not read were left out", frames.unknown_link);
    }
    if frames.source_drops > 0 {
        eprintln!("{} packets were lost when the file was captured, says the file", frames.source_drops);
    }
    if !ledger.balanced {
        eprintln!("the books do not balance: {}", serde_json::to_string(&ledger.checks).unwrap_or_default());
    }
}

/// Writes the books.
pub fn write_ledger(path: &Path, ledger: &Ledger) -> Result<()> {
    let text = serde_json::to_string_pretty(ledger)? + "\n";
    if path == Path::new("-") {
        eprint!("{text}");
        return Ok(());
    }
    std::fs::write(path, text).with_context(|| format!("the ledger cannot be written to {}", path.display()))
}

/// Writes what the lake still has in memory.
fn close(lake: &Arc<Lake>) -> Result<()> {
    let lost = lake.close();
    if lost > 0 {
        anyhow::bail!("{lost} rows could not be written to the lake");
    }
    Ok(())
}
