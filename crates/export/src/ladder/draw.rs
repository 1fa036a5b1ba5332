//! Lines of characters, then text.

use std::ops::Range;

use model::CallMessage;

use super::columns::Columns;
use super::layout::Layout;
use super::style::{self, BOLD, DIM, Glyphs, RESET, clip, clip_middle, printable};
use super::{Options, Step};
use crate::call;

/// One line that is filled cell by cell and coloured by range.
struct Line {
    cells: Vec<char>,
    paint: Vec<(Range<usize>, &'static str)>,
}

impl Line {
    fn new() -> Self {
        Self { cells: Vec::new(), paint: Vec::new() }
    }

    fn set(&mut self, at: usize, c: char) {
        if self.cells.len() <= at {
            self.cells.resize(at + 1, ' ');
        }
        if let Some(cell) = self.cells.get_mut(at) {
            *cell = c;
        }
    }

    fn put(&mut self, at: usize, text: &str) {
        for (offset, c) in text.chars().enumerate() {
            self.set(at + offset, c);
        }
    }

    /// Colours must not overlap and must come from left to right.
    fn color(&mut self, range: Range<usize>, with: &'static str) {
        self.paint.push((range, with));
    }

    fn finish(mut self, out: &mut String, options: Options) {
        self.cells.truncate(options.width);
        while self.cells.last() == Some(&' ') {
            self.cells.pop();
        }
        let mut at = 0;
        if options.color {
            for (range, with) in self.paint {
                let (start, end) = (range.start.min(self.cells.len()), range.end.min(self.cells.len()));
                if start < at || start >= end {
                    continue;
                }
                out.extend(&self.cells[at..start]);
                out.push_str(with);
                out.extend(&self.cells[start..end]);
                out.push_str(RESET);
                at = end;
            }
        }
        out.extend(&self.cells[at..]);
        out.push('\n');
    }
}

fn glyphs(options: Options) -> &'static Glyphs {
    if options.ascii { &style::ASCII } else { &style::UNICODE }
}

/// Writes the ladder: heads of the columns, then a line per message.
pub(super) fn write(out: &mut String, layout: &Layout, columns: &Columns, steps: &[Step], options: Options) {
    let glyphs = glyphs(options);
    match layout {
        Layout::Wide { at, names, notes } => {
            let mut heads = Line::new();
            for (x, name) in at.iter().zip(&columns.names) {
                let name = clip_middle(name, *names, glyphs.more);
                let start = x.saturating_sub(name.chars().count() / 2);
                heads.put(start, &name);
                heads.color(start..start + name.chars().count(), BOLD);
            }
            heads.finish(out, options);
            for step in steps {
                let mut line = lifelines(step, at, glyphs);
                arrow(&mut line, step, at, glyphs, Some(&step.label));
                note(&mut line, step, *notes, glyphs, options);
                line.finish(out, options);
            }
        }
        Layout::Narrow { at, labels } => {
            legend(out, columns, options);
            let mut heads = Line::new();
            for (column, x) in at.iter().enumerate() {
                heads.put(*x, &Columns::letter(column));
            }
            heads.finish(out, options);
            for step in steps {
                let mut line = lifelines(step, at, glyphs);
                arrow(&mut line, step, at, glyphs, None);
                beside(&mut line, step, *labels, glyphs, options);
                line.finish(out, options);
            }
        }
        Layout::List => {
            legend(out, columns, options);
            let letters = Columns::letter(columns.names.len()).len();
            let arrow: String = [glyphs.line, glyphs.line, glyphs.right].iter().collect();
            for step in steps {
                let mut line = Line::new();
                let times = step.offset.len();
                line.put(0, &step.offset);
                line.color(0..times, DIM);
                let (from, to) = (Columns::letter(step.from), Columns::letter(step.to));
                let ends = format!("{from:>letters$} {arrow} {to:<letters$}");
                line.put(times + 2, &ends);
                beside(&mut line, step, times + 4 + ends.chars().count(), glyphs, options);
                line.finish(out, options);
            }
        }
    }
}

/// The offset and a bar per column.
fn lifelines(step: &Step, at: &[usize], glyphs: &Glyphs) -> Line {
    let mut line = Line::new();
    line.put(0, &step.offset);
    line.color(0..step.offset.len(), DIM);
    for x in at {
        line.set(*x, glyphs.life);
    }
    line
}

/// The arrow of one message, with its label on it when one is given.
fn arrow(line: &mut Line, step: &Step, at: &[usize], glyphs: &Glyphs, label: Option<&str>) {
    let (Some(&from), Some(&to)) = (at.get(step.from), at.get(step.to)) else { return };
    if from == to {
        for (offset, c) in [glyphs.left, glyphs.line, glyphs.turn].into_iter().enumerate() {
            line.set(from + 1 + offset, c);
        }
        let mut end = from + 4;
        if let Some(label) = label {
            line.put(end + 1, label);
            end += 1 + label.chars().count();
        }
        line.color(from + 1..end, step.paint);
        return;
    }
    let (start, end) = (from.min(to) + 1, from.max(to));
    for x in start..end {
        let crossed = at.contains(&x);
        line.set(x, if crossed { glyphs.cross } else { glyphs.line });
    }
    match to > from {
        true => line.set(end - 1, glyphs.right),
        false => line.set(start, glyphs.left),
    }
    if let Some(label) = label {
        let room = (end - start).saturating_sub(4);
        let label = format!(" {} ", clip(label, room.saturating_sub(2), glyphs.more));
        let left = (end - start).saturating_sub(label.chars().count()) / 2;
        line.put(start + left, &label);
    }
    line.color(start..end, step.paint);
}

/// The note of a wide ladder; it moves right when a self-loop's label is in its way.
fn note(line: &mut Line, step: &Step, at: usize, glyphs: &Glyphs, options: Options) {
    if step.note.is_empty() {
        return;
    }
    let at = at.max(line.cells.len() + 2);
    let note = clip(&step.note, options.width.saturating_sub(at), glyphs.more);
    line.put(at, &note);
    line.color(at..at + note.chars().count(), DIM);
}

/// Label and note at the right of a narrow ladder.
fn beside(line: &mut Line, step: &Step, at: usize, glyphs: &Glyphs, options: Options) {
    let room = options.width.saturating_sub(at);
    let label = clip(&step.label, room, glyphs.more);
    let end = at + label.chars().count();
    line.put(at, &label);
    line.color(at..end, step.paint);
    note(line, step, end + 2, glyphs, options);
}

/// Which letter stands for which host.
fn legend(out: &mut String, columns: &Columns, options: Options) {
    let letters = Columns::letter(columns.names.len()).len();
    for (at, name) in columns.names.iter().enumerate() {
        let letter = Columns::letter(at);
        match options.color {
            true => out.push_str(&format!("{BOLD}{letter:>letters$}{RESET}  {name}\n")),
            false => out.push_str(&format!("{letter:>letters$}  {name}\n")),
        }
    }
    out.push('\n');
}

/// Writes every message in full: where, when, then its bytes with what a terminal would obey escaped.
pub(super) fn raw(out: &mut String, messages: &[CallMessage], options: Options) {
    let arrow = glyphs(options).arrow;
    for (at, message) in messages.iter().enumerate() {
        let end = |ip: Option<std::net::IpAddr>, port: u16| match ip {
            Some(ip) => std::net::SocketAddr::new(ip, port).to_string(),
            None => format!("unknown:{port}"),
        };
        let title = format!(
            "#{} {} {} {arrow} {} {}",
            at + 1,
            message.time,
            end(message.src_ip, message.src_port),
            end(message.dst_ip, message.dst_port),
            transport(message.ip_proto),
        );
        let title = match options.color {
            true => format!("{BOLD}{title}{RESET}"),
            false => title,
        };
        out.push_str(&format!("\n{title}  {}\n", call::label(message)));
        for line in String::from_utf8_lossy(&message.payload).lines() {
            out.push_str(&printable(line));
            out.push('\n');
        }
    }
}

fn transport(ip_proto: u8) -> String {
    match ip_proto {
        6 => "TCP".to_owned(),
        17 => "UDP".to_owned(),
        132 => "SCTP".to_owned(),
        other => format!("IP protocol {other}"),
    }
}
