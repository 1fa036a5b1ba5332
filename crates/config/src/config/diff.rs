//! What a reload would change.

use super::key::{Reload, keys};
use super::keys::Plan;

/// Keys whose values differ between two plans, as `section.name`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diff {
    /// Taken up by a reload.
    pub reloadable: Vec<String>,
    /// Taken up by a restart only.
    pub needs_restart: Vec<String>,
}

impl Plan {
    /// What differs from `new`.
    pub fn diff(&self, new: &Self) -> Diff {
        let mut diff = Diff::default();
        for key in keys().filter(|key| !(key.access.same)(self, new)) {
            match key.reload {
                Reload::Live => diff.reloadable.push(key.path()),
                Reload::Restart => diff.needs_restart.push(key.path()),
            }
        }
        diff
    }
}
