//! Colours, glyphs, and text that is safe to print.

use model::CallMessage;

pub(super) const BOLD: &str = "\x1b[1m";
pub(super) const DIM: &str = "\x1b[2m";
pub(super) const RESET: &str = "\x1b[0m";

/// Colour of a message: requests bold, responses by class, what is not SIP red.
pub(super) fn of(message: &CallMessage) -> &'static str {
    match (message.code, &message.method) {
        (None, Some(_)) => BOLD,
        (None, None) => "\x1b[31m",
        (Some(100..=199), _) => "\x1b[36m",
        (Some(200..=299), _) => "\x1b[32m",
        (Some(300..=399), _) => "\x1b[35m",
        (Some(400..=499), _) => "\x1b[33m",
        (Some(_), _) => "\x1b[31m",
    }
}

/// What lines and arrows are made of.
pub(super) struct Glyphs {
    pub(super) life: char,
    pub(super) line: char,
    pub(super) cross: char,
    pub(super) right: char,
    pub(super) left: char,
    pub(super) turn: char,
    pub(super) more: char,
    pub(super) arrow: &'static str,
}

/// Box characters.
pub(super) const UNICODE: Glyphs =
    Glyphs {
        life: '│', line: '─', cross: '┼', right: '▶', left: '◀', turn: '╮', more: '…', arrow: "→"
    };

/// For terminals and mails without them.
pub(super) const ASCII: Glyphs =
    Glyphs { life: '|', line: '-', cross: '+', right: '>', left: '<', turn: '.', more: '~', arrow: "->" };

/// Text with every control and direction-changing character escaped, so that a message cannot move
/// the cursor, colour the screen or hide what follows.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\r' => out.push_str("\\r"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x80 && c.is_control() => {
                out.push_str(&format!("\\x{:02x}", c as u32));
            }
            c if is_hidden(c) => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// C1 controls, zero-width characters and bidirectional overrides.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// At most `width` characters, the last one `more` when something was cut.
pub(super) fn clip(text: &str, width: usize, more: char) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    if width > 0 {
        cut.push(more);
    }
    cut
}

/// At most `width` characters, cut in the middle: both ends of an address tell it apart.
pub(super) fn clip_middle(text: &str, width: usize, more: char) -> String {
    let length = text.chars().count();
    if length <= width || width < 3 {
        return clip(text, width, more);
    }
    let tail = width / 2;
    let head = width - 1 - tail;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}{more}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_drives_a_terminal() {
        assert_eq!(printable("a\x1b[2J\r\n\u{9b}\u{202e}ü"), "a\\x1b[2J\\r\\n\\u{9b}\\u{202e}ü");
    }

    #[test]
    fn clips_at_the_end_and_in_the_middle() {
        assert_eq!(clip("INVITE", 6, '…'), "INVITE");
        assert_eq!(clip("INVITE", 4, '…'), "INV…");
        assert_eq!(clip("INVITE", 0, '…'), "");
        assert_eq!(clip_middle("2001:db8:0:1::42", 9, '…'), "2001…::42");
        assert_eq!(clip_middle("10.0.0.1", 9, '…'), "10.0.0.1");
    }
}
