//! The types a key can have: how a value is read, checked and shown.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::address;
use super::error::Problem;
use super::input::Input;
use super::key::{Key, Kind};
use super::secret::Secret;
use super::suggest;

/// The type of a key.
pub(crate) trait Setting: Sized {
    const KIND: Kind;

    /// Reads and checks a value.
    fn parse(input: &Input<'_>, key: &Key) -> Result<Self, Problem>;

    /// The value as TOML; a secret is masked.
    fn show(&self) -> String;
}

fn wrong_type(input: &Input<'_>, key: &Key) -> Problem {
    Problem::WrongType { wanted: key.kind, unit: key.unit(), found: input.found() }
}

/// Text as a TOML string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn list<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", "))
}

fn number(input: &Input<'_>, key: &Key) -> Result<u64, Problem> {
    let Some(value) = input.number() else {
        if let Some(text) = input.text()
            && let Some(value) = suggest::quantity(text, key)
        {
            return Err(Problem::HasUnit { value, unit: key.unit() });
        }
        return Err(wrong_type(input, key));
    };
    let (low, high) = key.range.unwrap_or((0, u64::MAX));
    u64::try_from(value).ok().filter(|value| (low..=high).contains(value)).ok_or(Problem::OutOfRange {
        low,
        high,
        unit: key.unit(),
    })
}

impl Setting for bool {
    const KIND: Kind = Kind::Flag;

    fn parse(input: &Input<'_>, key: &Key) -> Result<Self, Problem> {
        input.flag().ok_or_else(|| wrong_type(input, key))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting for u64 {
    const KIND: Kind = Kind::Number;

    fn parse(input: &Input<'_>, key: &Key) -> Result<Self, Problem> {
        number(input, key)
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting for usize {
    const KIND: Kind = Kind::Number;

    fn parse(input: &Input<'_>, key: &Key) -> Result<Self, Problem> {
        let (low, high) = key.range.unwrap_or((0, u64::MAX));
        Self::try_from(number(input, key)?).map_err(|_| Problem::OutOfRange { low, high, unit: key.unit() })
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting for String {
    const KIND: Kind = Kind::Text;

    fn parse(input: &Input<'_>, key: &Key) -> Result<Self, Problem> {
        input.text().map(str::to_owned).ok_or_else(|| wrong_type(input, key))
    }

    fn show(&self) -> String {
        quoted(self)
    }
}

impl Setting for Secret {
    const KIND: Kind = Kind::Secret;

    fn parse(input: &Input<'_>, key: &Key) -> Result<Self, Problem> {
        input.text().map(Self::new).ok_or_else(|| wrong_type(input, key))
    }

    fn show(&self) -> String {
        quoted(if self.is_set() { "***" } else { "" })
    }
}

impl Setting for PathBuf {
    const KIND: Kind = Kind::Path;

    fn parse(input: &Input<'_>, key: &Key) -> Result<Self, Problem> {
        input.text().map(Self::from).ok_or_else(|| wrong_type(input, key))
    }

    fn show(&self) -> String {
        quoted(&self.to_string_lossy())
    }
}

impl Setting for SocketAddr {
    const KIND: Kind = Kind::Address;

    fn parse(input: &Input<'_>, key: &Key) -> Result<Self, Problem> {
        address::parse(input.text().ok_or_else(|| wrong_type(input, key))?, key)
    }

    fn show(&self) -> String {
        quoted(&self.to_string())
    }
}

impl Setting for Vec<SocketAddr> {
    const KIND: Kind = Kind::Addresses;

    fn parse(input: &Input<'_>, key: &Key) -> Result<Self, Problem> {
        let items = input.list().ok_or_else(|| wrong_type(input, key))?;
        items.into_iter().map(|item| address::parse(item, key)).collect()
    }

    fn show(&self) -> String {
        list(self, Setting::show)
    }
}

impl Setting for Vec<String> {
    const KIND: Kind = Kind::Words;

    fn parse(input: &Input<'_>, key: &Key) -> Result<Self, Problem> {
        words(input, |c| !c.is_whitespace() && !c.is_control()).map_err(|found| {
            found.map_or_else(|| wrong_type(input, key), |found| Problem::NotAWord { found })
        })
    }

    fn show(&self) -> String {
        list(self, |word| quoted(word))
    }
}

/// Names of SIP headers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderNames(pub Vec<String>);

impl Setting for HeaderNames {
    const KIND: Kind = Kind::Words;

    fn parse(input: &Input<'_>, key: &Key) -> Result<Self, Problem> {
        words(input, is_token).map(Self).map_err(|found| {
            found.map_or_else(|| wrong_type(input, key), |found| Problem::NotAHeader { found })
        })
    }

    fn show(&self) -> String {
        self.0.show()
    }
}

/// The items of a list, each made of such characters; the first that is not, or nothing where it is no list.
fn words(input: &Input<'_>, fits: fn(char) -> bool) -> Result<Vec<String>, Option<String>> {
    let items = input.list().ok_or(None)?;
    items
        .into_iter()
        .map(|word| match word.chars().all(fits) && !word.is_empty() {
            true => Ok(word.to_owned()),
            false => Err(Some(word.to_owned())),
        })
        .collect()
}

/// RFC 3261 §25.1 `token`: what a header name is made of.
fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-.!%*_+`'~".contains(c)
}
