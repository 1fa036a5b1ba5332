//! Which statements a user may run: exactly one, and one that reads.
//!
//! The engine has no tables of its own and no access beyond the lake's folder; this guard keeps a
//! statement from writing into that folder (`COPY ... TO`) or changing the session.

/// Words that a reading statement may start with.
const READING: &[&str] = &[
    "SELECT",
    "WITH",
    "FROM",
    "VALUES",
    "TABLE",
    "DESCRIBE",
    "DESC",
    "SHOW",
    "SUMMARIZE",
    "EXPLAIN",
    "PIVOT",
    "UNPIVOT",
];

/// The statement without its final semicolon.
///
/// # Errors
/// One sentence that says what is wrong.
pub fn reading_statement(sql: &str) -> Result<&str, String> {
    let words = Words::scan(sql)?;
    let statement = match words.semicolon {
        Some(at) if words.ends_after(sql, at) => &sql[..at],
        Some(_) => return Err("one statement at a time, please".to_owned()),
        None => sql,
    };
    let mut first = words.leading.iter().map(String::as_str).peekable();
    let mut explain = false;
    while first.peek().is_some_and(|word| matches!(*word, "EXPLAIN" | "ANALYZE")) {
        explain = true;
        first.next();
    }
    match first.next() {
        Some(word) if READING.contains(&word) => Ok(statement.trim()),
        Some(word) => Err(format!(
            "{word} is not allowed here: the lake is read only; start with SELECT, WITH, FROM, DESCRIBE, SHOW, SUMMARIZE or EXPLAIN"
        )),
        None if explain => Err("EXPLAIN needs a statement".to_owned()),
        None => Err("the query is empty".to_owned()),
    }
}

/// What a look at the text without strings, quoted names and comments shows.
struct Words {
    /// The first words, upper case.
    leading: Vec<String>,
    /// Position of the first semicolon.
    semicolon: Option<usize>,
    /// Position behind the last thing that is not space or comment.
    end: usize,
}

impl Words {
    fn scan(sql: &str) -> Result<Self, String> {
        let bytes = sql.as_bytes();
        let mut words = Self { leading: Vec::new(), semicolon: None, end: 0 };
        let mut at = 0;
        while at < bytes.len() {
            let rest = &sql[at..];
            let next = if rest.starts_with("--") {
                at + rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                at + rest.find("*/").ok_or("a comment is not closed")? + 2
            } else if bytes[at].is_ascii_whitespace() {
                at + 1
            } else {
                let next = match bytes[at] {
                    quote @ (b'\'' | b'"') => skip_quoted(bytes, at, quote)?,
                    b'$' => skip_dollar(sql, at)?,
                    b';' => {
                        words.semicolon.get_or_insert(at);
                        at + 1
                    }
                    byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                        let length =
                            rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                        if words.leading.len() < 4 {
                            words.leading.push(rest[..length].to_ascii_uppercase());
                        }
                        at + length
                    }
                    _ => at + rest.chars().next().map_or(1, char::len_utf8),
                };
                words.end = next;
                next
            };
            at = next;
        }
        Ok(words)
    }

    fn ends_after(&self, sql: &str, semicolon: usize) -> bool {
        sql[semicolon..self.end].bytes().all(|byte| byte == b';' || byte.is_ascii_whitespace())
    }
}

fn skip_quoted(bytes: &[u8], start: usize, quote: u8) -> Result<usize, String> {
    // E'...' strings know backslash escapes; taking a backslash before a quote for an escape in every
    // string could hide a semicolon from us, so only a doubled quote continues a string here.
    let mut at = start + 1;
    while at < bytes.len() {
        if bytes[at] == quote {
            if bytes.get(at + 1) == Some(&quote) {
                at += 2;
                continue;
            }
            return Ok(at + 1);
        }
        at += 1;
    }
    Err(format!("a {} is not closed", if quote == b'"' { "quoted name" } else { "string" }))
}

fn skip_dollar(sql: &str, start: usize) -> Result<usize, String> {
    let rest = &sql[start..];
    let Some(tag_end) = rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_') else {
        return Ok(sql.len());
    };
    if !rest[1 + tag_end..].starts_with('$') {
        return Ok(start + 1);
    }
    let tag = &rest[..tag_end + 2];
    let close = rest[tag.len()..].find(tag).ok_or("a dollar-quoted string is not closed")?;
    Ok(start + tag.len() + close + tag.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_statements_pass() {
        for sql in [
            "SELECT 1",
            " -- count\n select count(*) from sip ;\n",
            "WITH a AS (SELECT ';') SELECT * FROM a",
            "FROM sip LIMIT 3",
            "EXPLAIN ANALYZE SELECT 1",
            "describe sip",
            "SELECT $$;$$, \"a;b\" /* ; */ FROM x",
        ] {
            assert!(reading_statement(sql).is_ok(), "{sql}");
        }
        assert_eq!(reading_statement("SELECT 1;").unwrap(), "SELECT 1");
    }

    #[test]
    fn everything_else_is_refused() {
        for sql in [
            "",
            ";",
            "COPY sip TO 'x'",
            "EXPLAIN ANALYZE COPY (SELECT 1) TO 'x'",
            "SELECT 1; SELECT 2",
            "SELECT ''; DROP VIEW sip --'",
            "SET threads=1",
            "ATTACH 'x'",
            "PRAGMA database_list",
            "SELECT 'open",
            "INSTALL httpfs",
            "/* open",
        ] {
            assert!(reading_statement(sql).is_err(), "{sql}");
        }
    }
}
