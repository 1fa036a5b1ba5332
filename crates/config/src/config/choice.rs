//! Keys that take one of a few words.

use super::error::Problem;
use super::input::Input;
use super::key::{Key, Kind};
use super::setting::{Setting, quoted};
use super::suggest;

macro_rules! choice {
    ($(#[$doc:meta])* $Name:ident { $($(#[$variant_doc:meta])* $Variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $Name {
            $($(#[$variant_doc])* $Variant,)*
        }

        impl $Name {
            const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word in the file.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$Variant => $word,)*
                }
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Setting for $Name {
            const KIND: Kind = Kind::OneOf(Self::WORDS);

            fn parse(input: &Input<'_>, key: &Key) -> Result<Self, Problem> {
                let text = input.text().ok_or_else(|| Problem::WrongType {
                    wanted: key.kind,
                    unit: None,
                    found: input.found(),
                })?;
                match text {
                    $($word => Ok(Self::$Variant),)*
                    other => Err(Problem::NotOneOf {
                        found: other.to_owned(),
                        words: Self::WORDS,
                        hint: suggest::nearest(other, Self::WORDS.iter().copied()),
                    }),
                }
            }

            fn show(&self) -> String {
                quoted(self.as_str())
            }
        }
    };
}

choice! {
    /// Codec of the lake's files.
    Compression {
        /// Small and fast.
        Zstd = "zstd",
        /// Faster and larger.
        Lz4 = "lz4",
        /// For readers that know nothing else.
        Snappy = "snappy",
        /// Not compressed.
        None = "none",
    }
}

choice! {
    /// How severe a message must be to be written.
    LogLevel {
        /// What failed.
        Error = "error",
        /// What is odd.
        Warn = "warn",
        /// What happens once.
        Info = "info",
        /// What happens often.
        Debug = "debug",
        /// Everything.
        Trace = "trace",
    }
}

choice! {
    /// Shape of a log line.
    LogFormat {
        /// For people.
        Text = "text",
        /// One JSON object per line.
        Json = "json",
    }
}
