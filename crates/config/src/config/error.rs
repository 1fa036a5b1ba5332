//! What is wrong, where, and the way out: the whole message that a user reads.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::key::Kind;

/// Why there is no plan. Its text is complete: nothing needs to be added when it is shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{}: the configuration cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not TOML.
    #[error("{place}: this is not TOML: {}{}", source.message().trim_end(), place.snippet())]
    Syntax {
        /// Where.
        place: Box<Place>,
        /// What the parser says.
        source: Box<toml::de::Error>,
    },
    /// A key without a value.
    #[error("{place}: a value is missing after `=`{}", place.snippet())]
    NoValue {
        /// Where.
        place: Box<Place>,
    },
    /// A table that does not exist.
    #[error(
        "{place}: there is no section [{name}]{}{}",
        place.snippet(),
        Hint(hint.as_deref())
    )]
    UnknownSection {
        /// Where.
        place: Box<Place>,
        /// What was written.
        name: String,
        /// What was probably meant.
        hint: Option<String>,
    },
    /// A key outside any table.
    #[error(
        "{place}: `{name}` stands in no section{}{}",
        place.snippet(),
        Hint(hint.as_deref())
    )]
    NoSection {
        /// Where.
        place: Box<Place>,
        /// What was written.
        name: String,
        /// What was probably meant.
        hint: Option<String>,
    },
    /// A value where a table belongs.
    #[error("{place}: `{name}` is a section: write [{name}] once, and its keys below it{}", place.snippet())]
    NotASection {
        /// Where.
        place: Box<Place>,
        /// The table.
        name: &'static str,
    },
    /// A key that does not exist.
    #[error(
        "{place}: there is no key `{name}` in [{section}]{}{}",
        place.snippet(),
        Hint(hint.as_deref())
    )]
    UnknownKey {
        /// Where.
        place: Box<Place>,
        /// The table it is in.
        section: &'static str,
        /// What was written.
        name: String,
        /// What was probably meant.
        hint: Option<String>,
    },
    /// A value that cannot be.
    #[error("{given}: `{key}` {problem}{}", given.snippet())]
    Value {
        /// Where the value was given.
        given: Source,
        /// `section.name`.
        key: String,
        /// What is wrong with it.
        problem: Problem,
    },
    /// `--set` without a key that exists.
    #[error("--set {text}: it must be SECTION.KEY=VALUE with a key that exists{}", Hint(hint.as_deref()))]
    Set {
        /// What was written.
        text: String,
        /// What was probably meant.
        hint: Option<String>,
    },
    /// A secret cannot be had from its file.
    #[error("`{key}` names {}, which {problem}", path.display())]
    Secret {
        /// `section.name` of the key that names the file.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: SecretProblem,
    },
    /// Values that are right alone and wrong together.
    #[error("{0}")]
    Conflict(#[from] Conflict),
    /// More than one of these, in the order they were found.
    #[error("{}", Lines(.0))]
    Several(Vec<ConfigError>),
}

/// A place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Characters to point at.
    pub length: usize,
    /// The line's text.
    pub text: String,
}

impl Place {
    /// The place of a byte range.
    pub(super) fn of(path: &std::path::Path, text: &str, range: std::ops::Range<usize>) -> Box<Self> {
        let start = range.start.min(text.len());
        let before = text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line_text = text.get(line_start..).unwrap_or_default().lines().next();
        let line_text = line_text.unwrap_or_default().trim_end().to_owned();
        let line_text = masked(line_text);
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        let column = column.min(line_text.chars().count() + 1);
        let marked = text.get(start..range.end.max(start)).unwrap_or_default();
        let marked = marked.lines().next().unwrap_or_default().chars().count();
        let room = (line_text.chars().count() + 1).saturating_sub(column).max(1);
        Box::new(Self {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column,
            length: marked.clamp(1, room),
            text: line_text,
        })
    }

    fn snippet(&self) -> String {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        // Tabs keep their width only when the line below has them too.
        let indent: String =
            self.text.chars().take(self.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        format!("\n{margin} |\n{number} | {}\n{margin} | {indent}{}", self.text, "^".repeat(self.length))
    }
}

/// A line without the secret it may hold: errors end up in logs.
fn masked(line: String) -> String {
    let Some((name, _)) = line.split_once('=') else { return line };
    let last = name.rsplit('.').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    let secret = super::key::keys().any(|key| key.kind == Kind::Secret && key.name == last);
    if secret { format!("{name}= ***") } else { line }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

/// Where a value was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// In the file.
    File(Box<Place>),
    /// In this environment variable.
    Env(String),
    /// With this flag.
    Flag(String),
}

impl Source {
    fn snippet(&self) -> String {
        match self {
            Self::File(place) => place.snippet(),
            Self::Env(_) | Self::Flag(_) => String::new(),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(place) => place.fmt(f),
            Self::Env(name) => write!(f, "environment variable {name}"),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// What is wrong with one value. Completes a sentence that begins with the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Another type is wanted.
    #[error("must be {}, not {found}", Wanted(*wanted, *unit))]
    WrongType {
        /// What is wanted.
        wanted: Kind,
        /// What a number counts.
        unit: Option<&'static str>,
        /// What was found.
        found: String,
    },
    /// A number was written as text with a unit.
    #[error("is a plain number{}: write {value}", In(*unit))]
    HasUnit {
        /// The number to write.
        value: u64,
        /// What it counts.
        unit: Option<&'static str>,
    },
    /// Too small or too large.
    #[error("must be from {low} to {high}{}", Unit(*unit))]
    OutOfRange {
        /// Smallest value.
        low: u64,
        /// Largest value.
        high: u64,
        /// What it counts.
        unit: Option<&'static str>,
    },
    /// Not one of the words.
    #[error("must be one of {}, not \"{found}\"{}", words.join(", "), Meant(*hint))]
    NotOneOf {
        /// What was written.
        found: String,
        /// The words.
        words: &'static [&'static str],
        /// What was probably meant.
        hint: Option<&'static str>,
    },
    /// Not `IP:PORT`.
    #[error("must be IP:PORT, as in \"0.0.0.0:9060\" or \"[::]:9060\", not \"{found}\"{}", Meant(hint.as_deref()))]
    NotAnAddress {
        /// What was written.
        found: String,
        /// What was probably meant.
        hint: Option<String>,
    },
    /// Not the name of a SIP header.
    #[error("must hold names of SIP headers, and \"{found}\" cannot be one")]
    NotAHeader {
        /// What was written.
        found: String,
    },
    /// Empty, or with white space in it.
    #[error("must hold words without white space, not \"{found}\"")]
    NotAWord {
        /// What was written.
        found: String,
    },
}

/// What is wrong with the file of a secret. Completes a sentence that begins with the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretProblem {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// It holds only white space.
    #[error("is empty")]
    Empty,
}

/// Values that are right alone and wrong together. Each text says the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Conflict {
    /// The interface is open to the network and asks nobody who they are.
    #[error(
        "`api.listen` is {listen}, which others can reach, and no token is set: set `api.token_file` \
         or `api.token`, or listen on 127.0.0.1:{}", listen.port()
    )]
    OpenWithoutToken {
        /// Where it would listen.
        listen: SocketAddr,
    },
    /// A secret and its file.
    #[error("`{key}` and `{key}_file` are both set: remove one of them")]
    SecretTwice {
        /// `section.name` of the secret.
        key: &'static str,
    },
    /// The block memory does not hold what the shards need.
    #[error(
        "{shards} shards need two blocks of {block_kib} KiB each, {needed_mib} MiB in all, and \
         `memory.budget_mib` is {budget_mib}: raise it to {needed_mib} or more, or lower \
         `memory.block_kib` or `threads.shards`"
    )]
    BudgetTooSmall {
        /// `threads.shards`.
        shards: usize,
        /// `memory.block_kib`.
        block_kib: usize,
        /// What that comes to.
        needed_mib: usize,
        /// `memory.budget_mib`.
        budget_mib: usize,
    },
    /// The memory would be full before anything is written.
    #[error(
        "`lake.flush_mib` is {flush_mib} and `memory.budget_mib` is {budget_mib}: rows would fill \
         the memory before they are written, so `lake.flush_mib` must be lower than the budget"
    )]
    FlushAboveBudget {
        /// `lake.flush_mib`.
        flush_mib: usize,
        /// `memory.budget_mib`.
        budget_mib: usize,
    },
    /// A batch would be larger than what is written at once.
    #[error(
        "`lake.seal_rows` is {seal_rows} and `lake.flush_rows` is {flush_rows}: a batch must not \
         be larger than what is written at once, so lower the first or raise the second"
    )]
    SealAboveFlush {
        /// `lake.seal_rows`.
        seal_rows: usize,
        /// `lake.flush_rows`.
        flush_rows: usize,
    },
    /// A batch would be sealed after it should have been written.
    #[error(
        "`lake.seal_ms` is {seal_ms} and `lake.flush_s` is {flush_s}: a batch must be sealed before \
         it is written, so lower the first or raise the second"
    )]
    SealAfterFlush {
        /// `lake.seal_ms`.
        seal_ms: u64,
        /// `lake.flush_s`.
        flush_s: u64,
    },
    /// A level for a codec without levels.
    #[error(
        "`lake.compression_level` is set and `lake.compression` is \"{compression}\", which has no levels: remove the level"
    )]
    LevelWithoutZstd {
        /// `lake.compression`.
        compression: super::Compression,
    },
    /// A listener that needs a certificate has none.
    #[error(
        "`loggregator.listen` is set and `{missing}` is not: agents are served with mutual TLS alone, so name the \
         certificate of their authority, this server's certificate and its key"
    )]
    NoCertificate {
        /// `section.name` of the first file that is missing.
        missing: &'static str,
    },
    /// Two listeners want one TCP port.
    #[error("`{one}` and `{other}` both want {address} over {transport}: give one of them another port")]
    SamePort {
        /// `section.name` of the first.
        one: &'static str,
        /// `section.name` of the second.
        other: &'static str,
        /// What both want.
        address: SocketAddr,
        /// `TCP` or `UDP`.
        transport: &'static str,
    },
    /// The data directory is something else.
    #[error("`data.dir` is {}, which is not a directory: name another path", path.display())]
    DataIsNoDirectory {
        /// `data.dir`.
        path: PathBuf,
    },
    /// The data directory has no name.
    #[error("`data.dir` is empty: name a directory, or remove the key for ./wirelake-data")]
    NoData,
}

/// What is odd but no reason to stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A variable that nothing reads.
    #[error("environment variable {name} is not known and was ignored{}", Meant(hint.as_deref()))]
    UnknownEnv {
        /// Its name.
        name: String,
        /// What was probably meant.
        hint: Option<String>,
    },
    /// A secret on the command line.
    #[error("{flag} shows the secret to everyone who can list processes: use `{key}_file` or {env} instead")]
    SecretOnCommandLine {
        /// The flag.
        flag: String,
        /// `section.name`.
        key: String,
        /// The variable that hides it.
        env: String,
    },
}

struct Hint<'a>(Option<&'a str>);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |hint| write!(f, "\nDid you mean {hint}?"))
    }
}

struct Meant<'a>(Option<&'a str>);

impl fmt::Display for Meant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |hint| write!(f, "; did you mean \"{hint}\"?"))
    }
}

struct Unit(Option<&'static str>);

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |unit| write!(f, " {unit}"))
    }
}

struct In(Option<&'static str>);

impl fmt::Display for In {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |unit| write!(f, " of {unit}"))
    }
}

struct Wanted(Kind, Option<&'static str>);

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.1) {
            (Kind::Number, Some(unit)) => write!(f, "a whole number of {unit}"),
            (kind, _) => kind.fmt(f),
        }
    }
}

impl fmt::Display for Kind {
    /// What a value looks like, with its article.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("true or false"),
            Self::Number => f.write_str("a whole number"),
            Self::Text | Self::Secret => f.write_str("a string"),
            Self::Path => f.write_str("a path in quotes"),
            Self::Address => f.write_str("an address in quotes (\"IP:PORT\")"),
            Self::Addresses => f.write_str("a list of addresses ([\"IP:PORT\", ...])"),
            Self::Words => f.write_str("a list of strings"),
            Self::OneOf(words) => write!(f, "one of \"{}\"", words.join("\", \"")),
        }
    }
}

struct Lines<'a>(&'a [ConfigError]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n\n")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}
