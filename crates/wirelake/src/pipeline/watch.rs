//! What the bottleneck report of a running program is made of: a moment of each of the last seconds.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use api::{Bottleneck, Remedy};
use config::Plan;
use config::doctor::{System, remedies};
use lake::Lake;
use stats::bottleneck::{Facts, Moment, Report};
use stats::{Board, DropReason};

use super::Pages;

/// Moments that are kept, one a second.
const KEPT: usize = 10;

/// Looks at a running program once a second.
#[derive(Debug)]
pub struct Watch {
    board: Board,
    lake: Arc<Lake>,
    pages: Pages,
    plan: Plan,
    first: Moment,
    recent: Mutex<VecDeque<Moment>>,
}

impl Watch {
    /// A watch that starts now.
    pub fn new(board: Board, lake: Arc<Lake>, pages: Pages, plan: Plan) -> Self {
        let first = moment(&board, &lake, &pages);
        Self { board, lake, pages, plan, first, recent: Mutex::default() }
    }

    /// Notes the moment. Call once a second.
    pub fn note(&self) {
        let now = moment(&self.board, &self.lake, &self.pages);
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.len() == KEPT {
            recent.pop_front();
        }
        recent.push_back(now);
    }

    /// Where time went: from the oldest moment that is kept until now, and since the start.
    pub fn report(&self) -> Bottleneck {
        let now = moment(&self.board, &self.lake, &self.pages);
        let oldest = self.recent.lock().unwrap_or_else(PoisonError::into_inner).front().cloned();
        let recent = Report::between(oldest.as_ref().unwrap_or(&self.first), &now);
        let limit = recent.stage.filter(|_| recent.limited);
        let remedies = limit.map_or_else(Vec::new, |limit| remedies(limit, &self.plan, &System::this()));
        Bottleneck {
            since_start: Report::between(&self.first, &now),
            remedies: remedies
                .into_iter()
                .map(|remedy| Remedy { what: remedy.what, command: remedy.command })
                .collect(),
            recent,
        }
    }
}

fn moment(board: &Board, lake: &Lake, pages: &Pages) -> Moment {
    let backlog = lake.backlog();
    Moment {
        meters: board.meters().snapshot().with(lake.meters().snapshot()),
        facts: Facts {
            datagrams_lost: board.totals().dropped(DropReason::KernelBuffer),
            frames_lost: pages.ledger().map_or(0, |ledger| ledger.frames.source_drops),
            backlog_batches: backlog.batches,
            backlog_bytes: backlog.bytes,
            backlog_limit: backlog.limit_bytes,
        },
    }
}
