//! A call as a person reads it in a terminal: who, when, and one arrow per message.
//!
//! In: the messages of one call, oldest first, and the terminal's width. Out: text, one line per
//! message, that no message can use to drive the terminal. Three layouts, the first that fits:
//!
//! 1. *wide*: a column per host, the label on the arrow;
//! 2. *narrow*: columns are letters with a legend, the label beside the ladder;
//! 3. *list*: no columns, `A ──▶ B  INVITE`.

mod columns;
mod draw;
mod header;
mod layout;
mod style;

use model::CallMessage;

use crate::call::{self, CallSummary};
use columns::Columns;
use layout::Layout;

pub(crate) use style::printable;

/// How to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Terminal columns to use; less than 40 counts as 40.
    pub width: usize,
    /// Whether to colour with ANSI sequences.
    pub color: bool,
    /// Whether to add every message in full below the ladder.
    pub raw: bool,
    /// Whether to keep to ASCII in what is drawn.
    pub ascii: bool,
}

impl Default for Options {
    /// 100 columns of plain Unicode text.
    fn default() -> Self {
        Self { width: 100, color: false, raw: false, ascii: false }
    }
}

/// One message as the ladder shows it.
struct Step {
    /// Seconds since the first message, right-aligned: equally long in every step.
    offset: String,
    /// What goes on the arrow.
    label: String,
    /// What goes beside the ladder: leg, retransmission, why it could not be read.
    note: String,
    /// Column indexes.
    from: usize,
    to: usize,
    /// ANSI colour of the arrow and its label.
    paint: &'static str,
}

/// Draws a call. Every line ends with a newline; no line of the ladder is wider than asked.
pub fn text(messages: &[CallMessage], options: Options) -> String {
    if messages.is_empty() {
        return "no messages\n".to_owned();
    }
    let options = Options { width: options.width.max(40), ..options };
    let summary = call::summarize(messages);
    let columns = Columns::of(messages);
    let steps = steps(messages, &summary, &columns);
    let layout = Layout::choose(&columns, &steps, options.width);

    let mut out = String::new();
    header::write(&mut out, &summary, options);
    out.push('\n');
    draw::write(&mut out, &layout, &columns, &steps, options);
    if options.raw {
        draw::raw(&mut out, messages, options);
    }
    out
}

fn steps(messages: &[CallMessage], summary: &CallSummary, columns: &Columns) -> Vec<Step> {
    let offsets: Vec<String> =
        messages.iter().map(|message| offset(message.time.0.saturating_sub(summary.first.0))).collect();
    let width = offsets.iter().map(String::len).max().unwrap_or_default();
    messages
        .iter()
        .zip(call::retransmits(messages))
        .zip(offsets)
        .map(|((message, again), offset)| {
            let unreadable = message.method.is_none() && message.code.is_none();
            let mut notes = Vec::new();
            if summary.call_ids.len() > 1
                && let Some(leg) = summary.call_ids.iter().position(|id| *id == message.call_id)
            {
                notes.push(format!("leg {}", leg + 1));
            }
            if again {
                notes.push("retransmit".to_owned());
            }
            if let Some(why) = &message.parse_error {
                notes.push(printable(why));
            }
            let (from, to) = columns.ends(message);
            Step {
                offset: format!("{offset:>width$}"),
                label: if unreadable { "not SIP".to_owned() } else { call::label(message) },
                note: notes.join(", "),
                from,
                to,
                paint: style::of(message),
            }
        })
        .collect()
}

/// `+12.004`: seconds and milliseconds.
fn offset(ns: i64) -> String {
    let ms = ns / 1_000_000;
    format!("+{}.{:03}", ms / 1_000, ms % 1_000)
}

#[cfg(test)]
mod tests;
