//! Where the kernel's files are.

use std::path::{Path, PathBuf};

/// A machine, seen through its `/proc`, `/sys` and `/run`.
#[derive(Debug, Clone)]
pub struct System {
    /// What those paths are below: `/`, or a folder of files made for a test.
    pub root: PathBuf,
}

impl System {
    /// The machine this runs on.
    pub fn this() -> Self {
        Self { root: PathBuf::from("/") }
    }

    /// A path on that machine.
    pub(super) fn path(&self, absolute: &str) -> PathBuf {
        self.root.join(absolute.trim_start_matches('/'))
    }

    /// A small file's text, without white space at its ends.
    pub(super) fn text(&self, absolute: &str) -> Option<String> {
        read(&self.path(absolute))
    }

    /// A file that holds one number.
    pub(super) fn number(&self, absolute: &str) -> Option<u64> {
        self.text(absolute)?.parse().ok()
    }

    /// The rest of the line that begins with `name`, as in `MemAvailable:  123 kB`.
    pub(super) fn field(&self, absolute: &str, name: &str) -> Option<String> {
        let text = self.text(absolute)?;
        text.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()))
    }

    /// Whether one of these is there.
    pub(super) fn has_any(&self, paths: &[&'static str]) -> Option<&'static str> {
        paths.iter().copied().find(|path| self.path(path).exists())
    }
}

fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}
