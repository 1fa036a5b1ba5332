//! What is known about a key, and the macro that makes it known.

use super::error::Problem;
use super::input::Input;
use super::keys::Plan;

/// A table of the file.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// Its name, as in `[hep]`.
    pub name: &'static str,
    /// What it is about: lines of text.
    pub doc: &'static [&'static str],
    /// Its keys, in the order they are explained.
    pub keys: &'static [Key],
}

/// One key of the file.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The table it is in.
    pub section: &'static str,
    /// Its name in that table.
    pub name: &'static str,
    /// What it does: lines of text.
    pub doc: &'static [&'static str],
    /// What a value looks like.
    pub kind: Kind,
    /// Smallest and largest value of a number.
    pub range: Option<(u64, u64)>,
    /// Whether a reload takes it up.
    pub reload: Reload,
    pub(crate) access: Access,
}

/// What is done with the field behind a key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    /// Checks a value and stores it.
    pub(crate) store: fn(&mut Plan, &Key, &Input<'_>) -> Result<(), Problem>,
    /// The value as TOML, secrets masked.
    pub(crate) show: fn(&Plan) -> String,
    /// Whether both hold the same value.
    pub(crate) same: fn(&Plan, &Plan) -> bool,
}

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number in the unit that the key's name ends with.
    Number,
    /// Any text.
    Text,
    /// Text that is never shown.
    Secret,
    /// A path; a relative one starts from the working directory.
    Path,
    /// `IP:PORT`.
    Address,
    /// Several `IP:PORT`; one may stand without brackets.
    Addresses,
    /// Several words; one may stand without brackets.
    Words,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// Whether a change takes effect without a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reload {
    /// SIGHUP takes it up.
    Live,
    /// Only a restart takes it up.
    Restart,
}

/// Where a value came from. Later ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Origin {
    /// Nobody set it.
    #[default]
    Default,
    /// The file.
    File,
    /// An environment variable.
    Env,
    /// The command line.
    Flag,
}

impl Origin {
    /// The word that `wirelake check` prints.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Env => "env",
            Self::Flag => "flag",
        }
    }
}

impl Key {
    /// `section.name`.
    pub fn path(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }

    /// The environment variable that overrides it: `WIRELAKE_<SECTION>_<NAME>`.
    pub fn env(&self) -> String {
        format!("WIRELAKE_{}_{}", self.section, self.name).to_uppercase()
    }

    /// What a number counts, from the end of the name.
    pub fn unit(&self) -> Option<&'static str> {
        const UNITS: [(&str, &str); 6] = [
            ("_bytes", "bytes"),
            ("_kib", "KiB"),
            ("_mib", "MiB"),
            ("_ms", "milliseconds"),
            ("_s", "seconds"),
            ("_rows", "rows"),
        ];
        (self.kind == Kind::Number)
            .then(|| UNITS.iter().find(|(end, _)| self.name.ends_with(end)))
            .flatten()
            .map(|(_, unit)| *unit)
    }
}

/// Every table of the file.
pub use super::keys::SECTIONS;

/// Every key, in the order they are explained.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|section| section.keys)
}

/// The key with this `section.name`.
pub fn key(path: &str) -> Option<&'static Key> {
    let (section, name) = path.split_once('.')?;
    SECTIONS
        .iter()
        .find(|known| known.name == section)
        .and_then(|known| known.keys.iter().find(|key| key.name == name))
}

/// Turns the definitions into one struct per section, [`Plan`], and [`SECTIONS`].
macro_rules! settings {
    ($(
        $(#[doc = $section_doc:literal])*
        $section:ident: $Section:ident {$(
            $(#[doc = $doc:literal])*
            $name:ident: $type:ty = $default:expr, $reload:ident $(, $low:literal..=$high:literal)?;
        )*}
    )*) => {
        $(
            $(#[doc = $section_doc])*
            #[derive(Debug, Clone, PartialEq, Eq)]
            pub struct $Section {$(
                $(#[doc = $doc])*
                pub $name: $type,
            )*}
        )*

        /// What the product does: every key with its checked value.
        #[derive(Debug, Clone)]
        pub struct Plan {
            $(
                $(#[doc = $section_doc])*
                pub $section: $Section,
            )*
            /// What is odd but no reason to stop.
            pub warnings: Vec<super::error::Warning>,
            pub(super) origins: super::plan::Origins,
        }

        impl Plan {
            /// Every key at its default, before anything depends on the machine.
            pub(super) fn unresolved() -> Self {
                Self {
                    $($section: $Section {$($name: $default,)*},)*
                    warnings: Vec::new(),
                    origins: Default::default(),
                }
            }
        }

        /// Every table of the file.
        pub static SECTIONS: &[super::key::Section] = &[$(
            super::key::Section {
                name: stringify!($section),
                doc: &[$($section_doc),*],
                keys: &[$(
                    super::key::Key {
                        section: stringify!($section),
                        name: stringify!($name),
                        doc: &[$($doc),*],
                        kind: <$type as super::setting::Setting>::KIND,
                        range: settings!(@range $($low, $high)?),
                        reload: super::key::Reload::$reload,
                        access: super::key::Access {
                            store: |plan, key, input| {
                                plan.$section.$name =
                                    super::setting::Setting::parse(input, key)?;
                                Ok(())
                            },
                            show: |plan| super::setting::Setting::show(&plan.$section.$name),
                            same: |one, other| one.$section.$name == other.$section.$name,
                        },
                    },
                )*],
            },
        )*];
    };
    (@range) => { None };
    (@range $low:literal, $high:literal) => { Some(($low, $high)) };
}
pub(super) use settings;
