//! `packets`: from the rolling store of packets to one capture file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use capture::file::{self, FileError, Reader, Writer};
use capture::filter::Program;
use model::{Frame, LinkType, Nanos};

use crate::cli::Packets;
use crate::pipeline::packets::{Kept, files};

/// Writes what is asked for, in the order of time.
pub fn run(args: &Packets) -> Result<ExitCode> {
    let filter = args.filter.as_deref().map(Program::compile).transpose()?;
    let instant = |text: &str| -> Result<Nanos> {
        let micros = lake::ask::parse_time(text, jiff::Timestamp::now()).map_err(anyhow::Error::msg)?;
        Ok(Nanos::from_micros(micros))
    };
    let since = args.since.as_deref().map(instant).transpose()?.unwrap_or(Nanos(i64::MIN));
    let until = args.until.as_deref().map(instant).transpose()?.unwrap_or(Nanos(i64::MAX));
    let kept = files(&args.from).with_context(|| {
        format!("{} cannot be read: name the folder of capture.packets_dir", args.from.display())
    })?;
    if kept.is_empty() {
        bail!("{} holds no packets: set capture.packets_dir to it and capture first", args.from.display());
    }
    let out: Box<dyn Write> = if args.write == Path::new("-") {
        Box::new(std::io::stdout().lock())
    } else {
        let file = File::create(&args.write);
        Box::new(file.with_context(|| format!("{} cannot be written", args.write.display()))?)
    };
    let mut writer = Writer::new(BufWriter::new(out))?;
    let mut threads: Vec<Thread> = Vec::new();
    for file in in_range(kept, since, until) {
        match threads.iter_mut().find(|thread| thread.number == file.thread) {
            Some(thread) => thread.files.push(file),
            None => threads.push(Thread { number: file.thread, files: vec![file], open: None, next: None }),
        }
    }
    let wanted = |frame: &Frame<'_>| {
        frame.time >= since
            && frame.time <= until
            && filter.as_ref().is_none_or(|filter| filter.matches(frame))
    };
    let mut written = 0u64;
    for thread in &mut threads {
        thread.files.reverse();
        thread.advance(&wanted)?;
    }
    while let Some(thread) = threads
        .iter_mut()
        .filter(|thread| thread.next.is_some())
        .min_by_key(|thread| thread.next.as_ref().map(|next| next.time))
    {
        if let Some(next) = &thread.next {
            writer.write(&next.frame())?;
            written += 1;
        }
        thread.advance(&wanted)?;
    }
    writer.flush()?;
    eprintln!("{written} packets");
    Ok(ExitCode::SUCCESS)
}

/// The files that may hold frames of a time: a file ends where the next one of its thread begins.
fn in_range(kept: Vec<Kept>, since: Nanos, until: Nanos) -> Vec<Kept> {
    let ends: Vec<i64> = kept
        .iter()
        .enumerate()
        .map(|(at, file)| match kept.get(at + 1) {
            Some(next) if next.thread == file.thread => next.first,
            _ => i64::MAX,
        })
        .collect();
    let in_range = |(file, end): &(Kept, i64)| *end >= since.0 && file.first <= until.0;
    kept.into_iter().zip(ends).filter(in_range).map(|(file, _)| file).collect()
}

/// The files of one thread, the newest first, and the frame that comes next.
struct Thread {
    number: usize,
    files: Vec<Kept>,
    open: Option<Reader<Box<dyn std::io::Read + Send>>>,
    next: Option<Copied>,
}

/// A frame with bytes of its own.
struct Copied {
    time: Nanos,
    link: LinkType,
    wire_len: u32,
    vlan: Option<u16>,
    bytes: Vec<u8>,
}

impl Copied {
    fn frame(&self) -> Frame<'_> {
        let Self { time, link, wire_len, vlan, .. } = *self;
        Frame { time, link, wire_len, vlan, bytes: &self.bytes }
    }
}

impl Thread {
    /// Reads on to the next frame that is wanted.
    fn advance(&mut self, wanted: &impl Fn(&Frame<'_>) -> bool) -> Result<()> {
        self.next = None;
        loop {
            let Some(reader) = &mut self.open else {
                let Some(file) = self.files.pop() else { return Ok(()) };
                // It may have been deleted since it was listed.
                self.open = file::open(&file.path).ok();
                continue;
            };
            match reader.next() {
                Ok(Some(frame)) if wanted(&frame) => {
                    let Frame { time, link, wire_len, vlan, bytes } = frame;
                    self.next = Some(Copied { time, link, wire_len, vlan, bytes: bytes.to_vec() });
                    return Ok(());
                }
                Ok(Some(_)) => {}
                // The newest file is still being written: what is whole in it counts.
                Ok(None) | Err(FileError::Cut { .. }) => self.open = None,
                Err(error) => return Err(error.into()),
            }
        }
    }
}
