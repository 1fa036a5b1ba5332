//! Where the columns stand.

use super::Step;
use super::columns::Columns;

/// Blanks, line ends and the head around a label on its arrow.
const AROUND_LABEL: usize = 7;
/// The widest gap between two columns that a label may ask for.
const WIDEST_GAP: usize = 44;
/// A wide ladder whose arrows have less room than this is drawn narrow instead.
const ROOM_FOR_LABEL: usize = 18;
/// Gap between two columns of a narrow ladder.
const NARROW_GAP: usize = 5;
/// What a narrow ladder keeps free at its right for labels.
const LABEL_ROOM: usize = 24;

/// How the ladder is laid out.
pub(super) enum Layout {
    /// Host names above, labels on the arrows. The x of each column, and where notes start.
    Wide { at: Vec<usize>, names: usize, notes: usize },
    /// Letters above, labels beside.
    Narrow { at: Vec<usize>, labels: usize },
    /// One line of text per message.
    List,
}

impl Layout {
    /// The richest layout that fits.
    pub(super) fn choose(columns: &Columns, steps: &[Step], width: usize) -> Self {
        let gaps = columns.names.len().saturating_sub(1);
        let times = steps.first().map_or(0, |step| step.offset.len());
        let notes = steps.iter().map(|step| step.note.chars().count()).max().unwrap_or_default();
        let notes = if notes > 0 { notes.min(20) + 2 } else { 0 };

        let longest_name = columns.names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
        let wanted = steps
            .iter()
            .map(|step| {
                let room = step.label.chars().count() + AROUND_LABEL;
                room.div_ceil(step.from.abs_diff(step.to).max(1))
            })
            .max()
            .unwrap_or_default()
            .clamp(ROOM_FOR_LABEL, WIDEST_GAP)
            .max(longest_name.min(WIDEST_GAP) + 3);

        // Half a name stands left of the first column and half right of the last.
        let edges = times + 2 + longest_name + notes;
        let gap = match gaps {
            0 => wanted,
            _ => wanted.min(width.saturating_sub(edges) / gaps),
        };
        if gap >= ROOM_FOR_LABEL.min(wanted) || gaps == 0 {
            let names = if gaps == 0 { width.saturating_sub(times + 4) } else { gap - 2 };
            let first = times + 2 + longest_name.min(names) / 2;
            let at: Vec<usize> = (0..=gaps).map(|column| first + column * gap).collect();
            let last = first + gaps * gap;
            return Self::Wide { at, names, notes: last + longest_name.min(names) / 2 + 2 };
        }

        let first = times + 2;
        let labels = first + gaps * NARROW_GAP + 3;
        if labels + LABEL_ROOM <= width {
            let at = (0..=gaps).map(|column| first + column * NARROW_GAP).collect();
            return Self::Narrow { at, labels };
        }
        Self::List
    }
}
