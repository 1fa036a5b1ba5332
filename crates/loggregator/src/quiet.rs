//! One line of log for a cause, however often it comes.

use std::time::Duration;

use tokio::time::Instant;

/// Lines of one cause are at least this far apart.
const EVERY: Duration = Duration::from_secs(30);

/// Says when the next line may be written.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    last: Option<Instant>,
    kept_back: u64,
}

impl Quiet {
    /// How many lines were kept back since the last one, if one may be written now.
    pub fn permit(&mut self) -> Option<u64> {
        let now = Instant::now();
        if self.last.is_some_and(|last| now.saturating_duration_since(last) < EVERY) {
            self.kept_back = self.kept_back.saturating_add(1);
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.kept_back))
    }
}
