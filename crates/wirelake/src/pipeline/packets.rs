//! The packets themselves, for a while: pcapng files of bounded size in a folder, the oldest deleted first.
//!
//! A file is named `THREAD-NANOSECONDS.pcapng` by the time of its first frame, so that who looks for a time
//! opens few of them. What cannot be written is counted and said once a file; capture goes on.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use capture::file::Writer;
use model::Frame;

/// Files that the budget of one thread is cut into.
const FILES: u64 = 16;

/// The smallest file, bytes.
const LEAST_BYTES: u64 = 1 << 20;

/// The ending of the files.
const ENDING: &str = "pcapng";

/// The store of one capture thread.
#[derive(Debug)]
pub struct PacketStore {
    folder: PathBuf,
    thread: usize,
    /// Bytes that all files of this thread may have.
    budget: u64,
    open: Option<Writer<BufWriter<File>>>,
    failed: bool,
}

impl PacketStore {
    /// A store of `budget` bytes for all of `threads` threads together.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn open(folder: &Path, thread: usize, budget: u64, threads: usize) -> Result<Self> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("the folder of the packets, {}, cannot be made", folder.display()))?;
        let budget = (budget / threads.max(1) as u64).max(LEAST_BYTES * 2);
        Ok(Self { folder: folder.to_owned(), thread, budget, open: None, failed: false })
    }

    /// Keeps a copy of the frame.
    pub fn add(&mut self, frame: &Frame<'_>) {
        let full = (self.budget / FILES).max(LEAST_BYTES);
        if self.open.as_ref().is_some_and(|writer| writer.written() >= full) {
            self.turn();
        }
        if self.open.is_none() && !self.failed {
            let path = self.folder.join(format!("{}-{:020}.{ENDING}", self.thread, frame.time.0.max(0)));
            match File::create(&path).and_then(|file| Writer::new(BufWriter::with_capacity(1 << 16, file))) {
                Ok(writer) => self.open = Some(writer),
                Err(error) => self.fail(&error),
            }
        }
        if let Some(writer) = &mut self.open
            && let Err(error) = writer.write(frame)
        {
            self.fail(&error);
        }
    }

    /// Makes everything visible to readers.
    pub fn flush(&mut self) {
        self.failed = false;
        if let Some(writer) = &mut self.open
            && let Err(error) = writer.flush()
        {
            self.fail(&error);
        }
    }

    /// Ends the last file.
    pub fn close(mut self) {
        self.flush();
    }

    fn turn(&mut self) {
        self.flush();
        self.open = None;
        let mut files = files(&self.folder).unwrap_or_default();
        files.retain(|file| file.thread == self.thread);
        let mut bytes: u64 = files.iter().map(|file| file.bytes).sum();
        for file in files {
            // Room for the file to come.
            if bytes + (self.budget / FILES).max(LEAST_BYTES) <= self.budget {
                break;
            }
            bytes -= file.bytes;
            let _ = std::fs::remove_file(file.path);
        }
    }

    /// Gives the file up; the next look at the ring tries another one.
    fn fail(&mut self, error: &std::io::Error) {
        tracing::warn!("packets are not kept: {} cannot be written: {error}", self.folder.display());
        self.open = None;
        self.failed = true;
    }
}

/// A file of the store.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kept {
    /// The thread that wrote it.
    pub thread: usize,
    /// The time of its first frame, nanoseconds.
    pub first: i64,
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// The files of a store: by thread, oldest first.
///
/// # Errors
/// When the folder cannot be read.
pub fn files(folder: &Path) -> std::io::Result<Vec<Kept>> {
    let mut found: Vec<Kept> = std::fs::read_dir(folder)?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let (thread, first) = name.strip_suffix(ENDING)?.strip_suffix('.')?.split_once('-')?;
            Some(Kept {
                thread: thread.parse().ok()?,
                first: first.parse().ok()?,
                path: entry.path(),
                bytes: entry.metadata().ok()?.len(),
            })
        })
        .collect();
    found.sort();
    Ok(found)
}
