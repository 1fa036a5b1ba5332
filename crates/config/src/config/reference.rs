//! The documentation of every key, from its definition.

use super::key::{Key, Kind, Reload, SECTIONS};
use super::keys::Plan;

/// The reference, in Markdown.
pub fn reference() -> String {
    let defaults = Plan::unresolved();
    let mut out = String::from(INTRODUCTION);
    for section in SECTIONS {
        out.push_str(&format!("\n## [{}]\n\n{}\n", section.name, paragraph(section.doc)));
        for key in section.keys {
            out.push_str(&format!("\n### {}\n\n{}\n\n", key.path(), paragraph(key.doc)));
            out.push_str("| value | default | range | reloads | environment |\n");
            out.push_str("|---|---|---|---|---|\n");
            out.push_str(&format!(
                "| {} | `{}` | {} | {} | `{}` |\n",
                kind(key),
                (key.access.show)(&defaults),
                range(key),
                match key.reload {
                    Reload::Live => "yes",
                    Reload::Restart => "no",
                },
                key.env(),
            ));
        }
    }
    out
}

/// A file with every key at its default, explained.
pub fn sample() -> String {
    let defaults = Plan::unresolved();
    let mut out = String::from("# Every key with its default. Nothing here needs to be set.\n");
    for section in SECTIONS {
        out.push_str(&format!("\n{}[{}]\n", comment(section.doc), section.name));
        for (at, key) in section.keys.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            out.push_str(&comment(key.doc));
            if let Kind::OneOf(words) = key.kind {
                out.push_str(&format!("# One of {}.\n", words.join(", ")));
            }
            if key.range.is_some() {
                let unit = key.unit().map(|unit| format!(" {unit}")).unwrap_or_default();
                out.push_str(&format!("# {}{unit}.\n", range(key)));
            }
            out.push_str(&format!("{} = {}\n", key.name, (key.access.show)(&defaults)));
        }
    }
    out
}

const INTRODUCTION: &str = "\
# Configuration

Generated from the code by the tests of `crates/config`; `UPDATE_GOLDEN=1` rewrites it.

`wirelake serve` runs without a file. With one, each key is looked up in this order, and the last that has it wins:
its default, the file (`--config FILE` or `WIRELAKE_CONFIG`), its environment variable, the command line
(a flag of its own, or `--set SECTION.KEY=VALUE`). An unknown key in the file is refused; `wirelake check` shows every value
and where it came from.

In an environment variable and with `--set`, a list is written with commas. A key that *reloads* is taken up by SIGHUP;
the others need a restart.
";

fn kind(key: &Key) -> String {
    match (key.kind, key.unit()) {
        (Kind::Number, Some(unit)) => unit.to_owned(),
        (Kind::Number, None) => "number".to_owned(),
        (Kind::Flag, _) => "true or false".to_owned(),
        (Kind::Text, _) => "text".to_owned(),
        (Kind::Secret, _) => "text, never shown".to_owned(),
        (Kind::Path, _) => "path".to_owned(),
        (Kind::Address, _) => "IP:PORT".to_owned(),
        (Kind::Addresses, _) => "IP:PORT, or a list of them".to_owned(),
        (Kind::Words, _) => "a word, or a list of them".to_owned(),
        (Kind::OneOf(words), _) => {
            words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
        }
    }
}

fn range(key: &Key) -> String {
    key.range.map(|(low, high)| format!("{low} to {high}")).unwrap_or_default()
}

fn paragraph(doc: &[&str]) -> String {
    doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

fn comment(doc: &[&str]) -> String {
    doc.iter().map(|line| format!("# {}\n", line.trim())).collect()
}
