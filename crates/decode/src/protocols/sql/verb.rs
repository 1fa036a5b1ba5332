//! The verbs of SQL, and where each has its first table.

/// Where the first table of a statement is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nowhere.
    None,
    /// Right behind the verb.
    Next,
    /// Behind `FROM` that is not inside parentheses.
    From,
    /// Behind `INTO`.
    Into,
    /// Behind `TABLE`.
    Table,
}

/// Verbs as rows show them, and their tables' places.
const VERBS: &[(&str, Place)] = &[
    ("SELECT", Place::From),
    ("INSERT", Place::Into),
    ("UPDATE", Place::Next),
    ("DELETE", Place::From),
    ("BEGIN", Place::None),
    ("COMMIT", Place::None),
    ("END", Place::None),
    ("ROLLBACK", Place::None),
    ("SET", Place::None),
    ("SHOW", Place::From),
    ("START", Place::None),
    ("REPLACE", Place::Into),
    ("MERGE", Place::Into),
    ("COPY", Place::Next),
    ("CALL", Place::Next),
    ("CREATE", Place::Table),
    ("ALTER", Place::Table),
    ("DROP", Place::Table),
    ("TRUNCATE", Place::Next),
    ("LOCK", Place::Table),
    ("UNLOCK", Place::None),
    ("RENAME", Place::Table),
    ("OPTIMIZE", Place::Table),
    ("REPAIR", Place::Table),
    ("CHECK", Place::Table),
    ("CHECKSUM", Place::Table),
    ("ANALYZE", Place::Table),
    ("ANALYSE", Place::Table),
    ("VACUUM", Place::None),
    ("EXPLAIN", Place::From),
    ("DESCRIBE", Place::Next),
    ("DESC", Place::Next),
    ("TABLE", Place::Next),
    ("VALUES", Place::None),
    ("LOAD", Place::Table),
    ("USE", Place::Next),
    ("DO", Place::None),
    ("HANDLER", Place::Next),
    ("PREPARE", Place::None),
    ("EXECUTE", Place::None),
    ("DEALLOCATE", Place::None),
    ("DECLARE", Place::From),
    ("FETCH", Place::None),
    ("MOVE", Place::None),
    ("CLOSE", Place::None),
    ("SAVEPOINT", Place::None),
    ("RELEASE", Place::None),
    ("ABORT", Place::None),
    ("DISCARD", Place::None),
    ("RESET", Place::None),
    ("LISTEN", Place::None),
    ("UNLISTEN", Place::None),
    ("NOTIFY", Place::None),
    ("GRANT", Place::None),
    ("REVOKE", Place::None),
    ("COMMENT", Place::None),
    ("REFRESH", Place::None),
    ("REINDEX", Place::Table),
    ("CLUSTER", Place::None),
    ("CHECKPOINT", Place::None),
    ("SECURITY", Place::None),
    ("REASSIGN", Place::None),
    ("IMPORT", Place::None),
    ("KILL", Place::None),
    ("FLUSH", Place::None),
    ("PURGE", Place::None),
    ("CHANGE", Place::None),
    ("STOP", Place::None),
    ("XA", Place::None),
    ("INSTALL", Place::None),
    ("UNINSTALL", Place::None),
    ("SIGNAL", Place::None),
    ("HELP", Place::None),
    ("BACKUP", Place::None),
    ("IDENTIFY_SYSTEM", Place::None),
    ("START_REPLICATION", Place::None),
    ("CREATE_REPLICATION_SLOT", Place::None),
    ("DROP_REPLICATION_SLOT", Place::None),
    ("TIMELINE_HISTORY", Place::None),
    ("BASE_BACKUP", Place::None),
];

/// What a row shows for a word that is no verb.
pub(super) const OTHER: &str = "OTHER";

/// Words that may stand between the word that announces a table and its name.
const MODIFIERS: &[&[u8]] = &[
    b"only",
    b"ignore",
    b"low_priority",
    b"delayed",
    b"high_priority",
    b"quick",
    b"if",
    b"not",
    b"exists",
    b"concurrently",
    b"table",
    b"into",
    b"lateral",
];

/// The verb that a word is.
pub(super) fn find(word: &[u8]) -> Option<(&'static str, Place)> {
    VERBS.iter().copied().find(|(verb, _)| word.eq_ignore_ascii_case(verb.as_bytes()))
}

/// Whether a word ends the list of a `WITH`.
pub(super) fn is_main(word: &[u8]) -> bool {
    ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "VALUES", "TABLE"]
        .iter()
        .any(|main| word.eq_ignore_ascii_case(main.as_bytes()))
}

/// Whether a word stands before a table's name without being it.
pub(super) fn is_modifier(word: &[u8]) -> bool {
    MODIFIERS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

impl Place {
    /// Whether a word, outside of parentheses, announces the table.
    pub fn is_announced_by(self, word: &[u8]) -> bool {
        let by: &[u8] = match self {
            Self::From => b"from",
            Self::Into => b"into",
            Self::Table => b"table",
            Self::None | Self::Next => return false,
        };
        word.eq_ignore_ascii_case(by)
    }
}
