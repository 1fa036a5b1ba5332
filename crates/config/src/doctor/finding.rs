//! What a check found, and how it is shown.

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// As it should be.
    Ok,
    /// It works, with a limit worth knowing.
    Warn,
    /// It cannot work.
    Fail,
}

impl Status {
    /// The word that is printed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "FAIL",
        }
    }

    const fn color(self) -> &'static str {
        match self {
            Self::Ok => "\x1b[32m",
            Self::Warn => "\x1b[33m",
            Self::Fail => "\x1b[1;31m",
        }
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at.
    pub name: &'static str,
    /// How it went.
    pub status: Status,
    /// What was found, in a few words.
    pub found: String,
    /// Why it matters, or what the limit costs.
    pub why: String,
    /// Commands that mend it, one per line, ready to paste. `None` when nothing is to be done, or
    /// when no command can do it.
    pub fix: Option<String>,
}

impl Finding {
    pub(super) fn new(
        name: &'static str,
        status: Status,
        found: impl Into<String>,
        why: impl Into<String>,
    ) -> Self {
        Self { name, status, found: found.into(), why: why.into(), fix: None }
    }

    pub(super) fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self::new(name, Status::Ok, found, "")
    }

    pub(super) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// A kernel file that is not there: other systems, strict containers.
    pub(super) fn unreadable(name: &'static str, path: &str) -> Self {
        Self::new(name, Status::Warn, format!("{path} cannot be read"), "not checked")
    }
}

/// 1 when a check failed, 0 otherwise: a warning is no reason not to start.
pub fn exit_code(findings: &[Finding]) -> u8 {
    u8::from(findings.iter().any(|finding| finding.status == Status::Fail))
}

/// All findings as text: one line each; below it, where something is wrong, why it matters and the
/// commands that mend it, without decoration so that they can be pasted.
pub fn render(findings: &[Finding], color: bool) -> String {
    let width = findings.iter().map(|finding| finding.name.len()).max().unwrap_or_default();
    let mut out = String::new();
    for finding in findings {
        let status = format!("{:<4}", finding.status.as_str());
        let status = match color {
            true => format!("{}{status}\x1b[0m", finding.status.color()),
            false => status,
        };
        out.push_str(&format!("{status}  {:<width$}  {}\n", finding.name, finding.found));
        let indent = " ".repeat(width + 8);
        for line in wrap(&finding.why, 100usize.saturating_sub(indent.len()).max(40)) {
            out.push_str(&format!("{indent}{line}\n"));
        }
        if let Some(fix) = &finding.fix {
            out.push('\n');
            for line in fix.lines() {
                match color {
                    true => out.push_str(&format!("    \x1b[1m{line}\x1b[0m\n")),
                    false => out.push_str(&format!("    {line}\n")),
                }
            }
            out.push('\n');
        }
    }
    let count = |status| findings.iter().filter(|finding| finding.status == status).count();
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    out.push_str(&match (count(Status::Fail), count(Status::Warn)) {
        (0, 0) => "Everything is as it should be.\n".to_owned(),
        (0, warnings) => format!("{}; wirelake runs.\n", plural(warnings, "warning")),
        (failures, warnings) => {
            format!("{}, {}.\n", plural(failures, "failure"), plural(warnings, "warning"))
        }
    });
    out
}

fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A number of bytes as people say it: `128 MiB`, `1.5 GiB`.
pub(super) fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if count < 1_024 {
        return format!("{count} bytes");
    }
    let mut tenths = count.saturating_mul(10) / 1_024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1_024;
        unit += 1;
    }
    match tenths % 10 {
        0 => format!("{} {}", tenths / 10, UNITS[unit]),
        tenth => format!("{}.{tenth} {}", tenths / 10, UNITS[unit]),
    }
}
