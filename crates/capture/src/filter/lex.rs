//! From text to words and signs.

use super::{Cause, FilterError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A keyword, name, address or number, in lower case.
    Word(String),
    /// An operator or bracket.
    Sign(&'static str),
}

/// A token and its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) column: usize,
    pub(super) token: Token,
}

/// Longer ones first, so that `<<` is not taken for `<`.
const SIGNS: [&str; 23] = [
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "(", ")", "[", "]", "<", ">", "=", "!", "+", "-", "*",
    "/", "&", "|", "%",
];

/// Cuts the text. Inside brackets `:` and `-` are signs; outside they are parts of addresses and ranges.
pub(super) fn lex(text: &str) -> Result<Vec<Placed>, FilterError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut column = 1;
    let mut brackets = 0usize;
    while let Some(first) = rest.chars().next() {
        let (len, token) = if first.is_whitespace() {
            (first.len_utf8(), None)
        } else if let Some(len) = word(rest, brackets > 0) {
            let (word, _) = rest.split_at(len);
            (len, Some(Token::Word(word.trim_start_matches('\\').to_ascii_lowercase())))
        } else if brackets > 0 && first == ':' {
            (1, Some(Token::Sign(":")))
        } else if first == '^' {
            (1, Some(Token::Sign("^")))
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            match sign {
                "[" => brackets += 1,
                "]" => brackets = brackets.saturating_sub(1),
                _ => {}
            }
            (sign.len(), Some(Token::Sign(sign)))
        } else {
            let cause = Cause::Unexpected {
                found: format!("{first:?}"),
                expected: "a word, a number, an address or an operator",
            };
            return Err(FilterError { column, cause });
        };
        let (eaten, left) = rest.split_at(len);
        tokens.extend(token.map(|token| Placed { column, token }));
        column += eaten.chars().count();
        rest = left;
    }
    Ok(tokens)
}

/// How many bytes at the front are one word.
fn word(text: &str, in_brackets: bool) -> Option<usize> {
    let number = text.starts_with(|c: char| c.is_ascii_digit());
    let part = |c: char| match c {
        '-' => !(in_brackets && number),
        ':' | '.' => !in_brackets,
        '_' | '\\' => true,
        _ => c.is_ascii_alphanumeric(),
    };
    let len = text.find(|c: char| !part(c)).unwrap_or(text.len());
    // A minus sign alone is a sign.
    (len > 0 && !text.starts_with('-')).then_some(len)
}
