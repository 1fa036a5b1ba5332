//! A value before it is checked.

use toml::de::DeValue;

/// A value of the file, or text from the environment or the command line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Input<'a> {
    Toml(&'a DeValue<'a>),
    Text(&'a str),
}

impl<'a> Input<'a> {
    /// The text of a string; `None` for any other type.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Toml(DeValue::String(text)) => Some(text),
            Self::Toml(_) => None,
            Self::Text(text) => Some(text),
        }
    }

    /// The number: of an integer, or of text from outside the file. `None` when it is none;
    /// saturates, so that a range check names the range.
    pub(super) fn number(&self) -> Option<i128> {
        let (digits, radix) = match self {
            Self::Toml(DeValue::Integer(integer)) => (integer.as_str().to_owned(), integer.radix()),
            Self::Toml(_) => return None,
            Self::Text(text) => (text.trim().replace('_', ""), 10),
        };
        let bare = digits.trim_start_matches(['-', '+']);
        if bare.is_empty() || !bare.chars().all(|digit| digit.is_digit(radix)) {
            return None;
        }
        let end = if digits.starts_with('-') { i128::MIN } else { i128::MAX };
        Some(i128::from_str_radix(&digits, radix).unwrap_or(end))
    }

    /// `true` or `false`.
    pub(super) fn flag(&self) -> Option<bool> {
        match self {
            Self::Toml(DeValue::Boolean(flag)) => Some(*flag),
            Self::Toml(_) => None,
            Self::Text(text) => text.trim().parse().ok(),
        }
    }

    /// The texts of a list, of a single string, or of text with commas; `None` for another type,
    /// or a list that holds something else.
    pub(super) fn list(&self) -> Option<Vec<&str>> {
        match self {
            Self::Toml(DeValue::Array(items)) => items.iter().map(|item| item.get_ref().as_str()).collect(),
            Self::Toml(DeValue::String(text)) => Some(vec![text]),
            Self::Toml(_) => None,
            Self::Text(text) => {
                Some(text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect())
            }
        }
    }

    /// What it is: a type with its article, or the text itself.
    pub(super) fn found(&self) -> String {
        let kind = match self {
            Self::Text(text) => return format!("\"{text}\""),
            Self::Toml(value) => match value {
                DeValue::String(_) => "a string",
                DeValue::Integer(_) => "a whole number",
                DeValue::Float(_) => "a number with a fraction",
                DeValue::Boolean(_) => "true or false",
                DeValue::Datetime(_) => "a date",
                DeValue::Array(_) => "a list",
                DeValue::Table(_) => "a table",
            },
        };
        kind.to_owned()
    }
}
