//! A value that is never shown.

use std::fmt;

/// A key or token. Its text leaves only through [`Secret::expose`].
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Whether there is one.
    pub fn is_set(&self) -> bool {
        !self.0.is_empty()
    }

    /// The text itself; empty when there is none.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_set() { "***" } else { "none" })
    }
}
