//! From the command line to what a tap and a source need.

use std::io::IsTerminal;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use correlate::{Outcome, Roundtrip};
use decode::Status;
use tap::{Options, Rule, Rules};

use crate::cli::{Decoding, Picking, When};

/// How the taps work.
pub fn tap(rules: &[String], decoding: &Decoding) -> Result<Options> {
    Ok(Options {
        rules: rules_of(rules, &decoding.decode_as, decoding.only)?,
        kept: decode::Limits {
            text: decoding.text,
            body: decoding.body,
            show_secrets: decoding.show_secrets,
            ..decode::Limits::default()
        },
        ..Options::default()
    })
}

/// Reads rules; those of `decode_as` are obeyed without probing and come first.
pub fn rules_of(rules: &[String], decode_as: &[String], only: bool) -> Result<Rules> {
    let read = |text: &String, forced: bool| -> Result<Rule> {
        let rule: Rule = text.parse().with_context(|| format!("the rule `{text}` cannot be read"))?;
        if forced && rule.ports.is_empty() && rule.host.is_none() {
            bail!("the rule `{text}` would take every flow: name its ports or its host, as in {text}=7000");
        }
        Ok(Rule { forced, ..rule })
    };
    let forced = decode_as.iter().map(|text| read(text, true));
    let list = forced.chain(rules.iter().map(|text| read(text, false))).collect::<Result<Vec<_>>>()?;
    if only && list.is_empty() {
        bail!("--only decodes what a rule names, and there is none: add one, such as redis=6379");
    }
    Ok(Rules { list, only })
}

/// Which roundtrips are shown.
#[derive(Debug, Clone, Copy)]
pub struct Picker {
    slow_ns: Option<i64>,
    errors: bool,
}

impl Picker {
    /// Reads the conditions.
    pub fn new(picking: &Picking) -> Result<Self> {
        let slow = picking.slow.as_deref().map(span).transpose()?;
        let slow_ns = slow.map(|span| i64::try_from(span.as_nanos()).unwrap_or(i64::MAX));
        Ok(Self { slow_ns, errors: picking.errors })
    }

    /// Whether this one is.
    pub fn picks(&self, row: &Roundtrip) -> bool {
        let failed = row.status == Status::Error || row.outcome == Outcome::Unanswered;
        let slow = self.slow_ns.is_none_or(|least| row.duration_ns().is_some_and(|span| span >= least));
        slow && (!self.errors || failed)
    }
}

/// Reads a span such as `250us`, `100ms`, `1.5s`, `2m`; seconds when there is no unit.
pub fn span(text: &str) -> Result<Duration> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == 'µ');
    let unit = match &text[digits.len()..] {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3_600.0,
        other => bail!("`{other}` is no unit of time: write 250us, 100ms, 1.5s or 2m"),
    };
    let number: f64 =
        digits.trim().parse().map_err(|_| anyhow!("`{text}` is no span: write 250us, 100ms, 1.5s or 2m"))?;
    Duration::try_from_secs_f64(number * unit).map_err(|_| anyhow!("`{text}` is no span that can be waited"))
}

/// Whether standard output gets colours.
pub fn color(when: When) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

/// The width of the terminal, or no bound where there is none.
pub fn width() -> usize {
    let known =
        std::io::stdout().is_terminal().then(|| rustix::termios::tcgetwinsize(std::io::stdout()).ok());
    known.flatten().map(|size| usize::from(size.ws_col)).filter(|width| *width > 0).unwrap_or(usize::MAX)
}

/// The height of the terminal.
pub fn height() -> usize {
    let known =
        std::io::stdout().is_terminal().then(|| rustix::termios::tcgetwinsize(std::io::stdout()).ok());
    known.flatten().map(|size| usize::from(size.ws_row)).filter(|height| *height > 0).unwrap_or(40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_as_people_write_them() {
        assert_eq!(span("100ms").unwrap(), Duration::from_millis(100));
        assert_eq!(span("1.5s").unwrap(), Duration::from_millis(1_500));
        assert_eq!(span("250µs").unwrap(), Duration::from_micros(250));
        assert_eq!(span("2").unwrap(), Duration::from_secs(2));
        for wrong in ["", "ms", "-1s", "1 fortnight", "nan"] {
            assert!(span(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_forced_rule_names_a_place() {
        assert!(rules_of(&[], &["redis".to_owned()], false).is_err());
        assert!(rules_of(&[], &["redis=7000".to_owned()], false).unwrap().list[0].forced);
        assert!(rules_of(&[], &[], true).is_err());
    }
}
