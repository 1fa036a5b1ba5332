//! What stands above the ladder.

use super::style::{BOLD, DIM, RESET, printable};
use super::{Options, style};
use crate::call::CallSummary;

/// Writes the facts of the call, one per line.
pub(super) fn write(out: &mut String, summary: &CallSummary, options: Options) {
    let mut fact = |name: &str, value: &str| {
        if options.color {
            out.push_str(&format!("{DIM}{name:<9}{RESET} {value}\n"));
        } else {
            out.push_str(&format!("{name:<9} {value}\n"));
        }
    };
    match summary.call_ids.as_slice() {
        [] => fact("Call-ID", "none"),
        [one] => fact("Call-ID", &printable(one)),
        several => {
            for (at, id) in several.iter().enumerate() {
                fact(&format!("Call-ID {}", at + 1), &printable(id));
            }
        }
    }
    let arrow = if options.ascii { style::ASCII.arrow } else { style::UNICODE.arrow };
    let known = |party: &str| match party {
        "" => "unknown".to_owned(),
        party => printable(party),
    };
    fact("Parties", &format!("{} {arrow} {}", known(&summary.from), known(&summary.to)));
    fact("Start", &summary.first.to_string());

    let state = match options.color {
        true => format!("{BOLD}{}{RESET}", summary.state),
        false => summary.state.to_string(),
    };
    let mut facts = vec![state];
    if let Some(ns) = summary.setup_ns {
        facts.push(format!("setup {}", duration(ns)));
    }
    if let Some(ns) = summary.talk_ns {
        facts.push(format!("talk {}", duration(ns)));
    }
    facts.push(format!("total {}", duration(summary.last.0.saturating_sub(summary.first.0))));
    fact("State", &facts.join(", "));

    let plural = if summary.messages == 1 { "" } else { "s" };
    let mut count = format!("{} message{plural}", summary.messages);
    if summary.retransmits > 0 {
        count.push_str(&format!(", {} of them sent again", summary.retransmits));
    }
    fact("Seen", &count);
}

/// A length of time to the millisecond: `3 ms`, `12.010 s`, `1 min 05.250 s`, `2 h 03 min 04.000 s`.
fn duration(ns: i64) -> String {
    let ms = ns / 1_000_000;
    let (seconds, fraction) = (ms / 1_000, ms % 1_000);
    match seconds {
        0 => format!("{ms} ms"),
        1..=59 => format!("{seconds}.{fraction:03} s"),
        60..=3_599 => format!("{} min {:02}.{fraction:03} s", seconds / 60, seconds % 60),
        _ => {
            format!("{} h {:02} min {:02}.{fraction:03} s", seconds / 3_600, seconds / 60 % 60, seconds % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_lengths_of_time() {
        let written = [3_000_000, 12_010_000_000, 65_250_000_000, 7_384_000_000_000].map(duration);
        assert_eq!(written, ["3 ms", "12.010 s", "1 min 05.250 s", "2 h 03 min 04.000 s"]);
    }
}
