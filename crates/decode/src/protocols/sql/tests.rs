use super::*;
use crate::Limits;

fn read(text: &str, dialect: Dialect) -> (String, String, String) {
    let mut statement = Statement::default();
    statement.set(text.as_bytes(), true, dialect, &Limits::default());
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (statement.verb().to_owned(), show(statement.table()), show(statement.text()))
}

#[test]
fn verb_and_table() {
    let cases = [
        ("SELECT 1", "SELECT", ""),
        ("SELECT 1; SELECT * FROM t", "SELECT", ""),
        ("select a, b from users where id = 1", "SELECT", "users"),
        ("  -- hello\n /* a /* b */ c */ ((SELECT * FROM \"public\".\"Us er\"))", "SELECT", "public.Us er"),
        ("SELECT extract(year FROM ts) FROM t", "SELECT", "t"),
        ("SELECT * FROM generate_series(1, 2)", "SELECT", ""),
        ("SELECT * FROM (SELECT * FROM x) y", "SELECT", ""),
        (
            "WITH a AS (SELECT * FROM x), b(c) AS (DELETE FROM y) INSERT INTO s.t SELECT * FROM a",
            "INSERT",
            "s.t",
        ),
        ("WITH RECURSIVE a AS MATERIALIZED (SELECT 1) SELECT * FROM a", "SELECT", "a"),
        ("UPDATE ONLY t SET x = 1", "UPDATE", "t"),
        ("DELETE FROM ONLY t", "DELETE", "t"),
        ("CREATE TABLE IF NOT EXISTS t (a int)", "CREATE", "t"),
        ("DROP TABLE IF EXISTS a, b", "DROP", "a"),
        ("CREATE INDEX i ON t (a)", "CREATE", ""),
        ("TRUNCATE TABLE t", "TRUNCATE", "t"),
        ("truncate t", "TRUNCATE", "t"),
        ("COPY t (a) FROM STDIN", "COPY", "t"),
        ("COPY (SELECT 1) TO STDOUT", "COPY", ""),
        ("call p(1)", "CALL", "p"),
        ("", "", ""),
        (";", "", ""),
        ("frobnicate t", "OTHER", ""),
        ("SELECT $$ FROM x $$, $a$ ' $a$, $1 FROM t", "SELECT", "t"),
        ("SELECT E'\\' FROM x' FROM t", "SELECT", "t"),
        ("SELECT '\\' FROM t", "SELECT", "t"),
    ];
    for (text, verb, table) in cases {
        let got = read(text, Dialect::Postgresql);
        assert_eq!((got.0.as_str(), got.1.as_str()), (verb, table), "{text}");
        assert_eq!(got.2, text.trim_end());
    }
    let cases = [
        ("/*!40101 SET NAMES utf8 */", "SET", ""),
        ("/*M!100100 SELECT */ * from `a`.`b`", "SELECT", "a.b"),
        ("# hello\nREPLACE INTO t VALUES ('\\' FROM x', \"y\")", "REPLACE", "t"),
        ("INSERT LOW_PRIORITY IGNORE INTO `t` VALUES (1)", "INSERT", "t"),
        ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t", "LOAD", "t"),
        ("SHOW FULL COLUMNS FROM t", "SHOW", "t"),
    ];
    for (text, verb, table) in cases {
        let got = read(text, Dialect::Mysql);
        assert_eq!((got.0.as_str(), got.1.as_str()), (verb, table), "{text}");
    }
}

#[test]
fn secrets_are_redacted() {
    let cases = [
        (
            "ALTER USER u WITH ENCRYPTED PASSWORD 'x''y' VALID UNTIL 'z'",
            "ALTER USER u WITH ENCRYPTED PASSWORD '[redacted]' VALID UNTIL 'z'",
        ),
        (
            "CREATE USER MAPPING FOR u SERVER s OPTIONS (user 'u', password 'x')",
            "CREATE USER MAPPING FOR u SERVER s OPTIONS (user 'u', password '[redacted]')",
        ),
        ("SELECT dblink('host=h password=x', 'SELECT 1')", "SELECT dblink('[redacted]', 'SELECT 1')"),
        ("SELECT dblink_connect('postgresql://u:p@h/d')", "SELECT dblink_connect('[redacted]')"),
        ("SELECT 'http://h/a:b@c'", "SELECT 'http://h/a:b@c'"),
        ("DO $$ BEGIN ALTER ROLE r PASSWORD 'x'; END $$", "DO $$[redacted]$$"),
        (
            "SELECT * FROM u WHERE password = crypt('x', 's') AND n = 'y'",
            "SELECT * FROM u WHERE password = crypt('[redacted]', 's') AND n = 'y'",
        ),
        ("SELECT password FROM u WHERE n = 'y'", "SELECT password FROM u WHERE n = 'y'"),
        ("INSERT INTO u (n, password) VALUES ('a', 'b')", "INSERT INTO u (n, password) VALUES ('a', 'b')"),
        ("ALTER ROLE r PASSWORD 'cut off", "ALTER ROLE r PASSWORD '[redacted]"),
        ("SET password_encryption = 'md5'", "SET password_encryption = 'md5'"),
    ];
    for (text, want) in cases {
        assert_eq!(read(text, Dialect::Postgresql).2, want);
    }
    let cases = [
        ("CREATE USER 'u'@'%' IDENTIFIED BY 'x'", "CREATE USER 'u'@'%' IDENTIFIED BY '[redacted]'"),
        (
            "CREATE USER u IDENTIFIED WITH 'm' AS '*A'",
            "CREATE USER u IDENTIFIED WITH '[redacted]' AS '[redacted]'",
        ),
        (
            "ALTER USER u IDENTIFIED VIA m USING PASSWORD(\"x\")",
            "ALTER USER u IDENTIFIED VIA m USING PASSWORD(\"[redacted]\")",
        ),
        ("SET PASSWORD FOR 'u'@'h' = PASSWORD('x')", "SET PASSWORD FOR 'u'@'h' = PASSWORD('[redacted]')"),
        ("SET PASSWORD FOR 'u' = 'x'", "SET PASSWORD FOR 'u' = '[redacted]'"),
        ("SET PASSWORD = 'x'", "SET PASSWORD = '[redacted]'"),
        (
            "CHANGE MASTER TO MASTER_USER='u', MASTER_PASSWORD='x'",
            "CHANGE MASTER TO MASTER_USER='u', MASTER_PASSWORD='[redacted]'",
        ),
    ];
    for (text, want) in cases {
        assert_eq!(read(text, Dialect::Mysql).2, want);
    }
    let mut statement = Statement::default();
    let shown = Limits { show_secrets: true, ..Limits::default() };
    statement.set(b"SET PASSWORD = 'x'", true, Dialect::Mysql, &shown);
    assert_eq!(statement.text(), b"SET PASSWORD = 'x'");
}

#[test]
fn any_cut_of_a_statement_can_be_read() {
    let text = "WITH a AS (SELECT $x$ y $x$) /* c */ UPDATE \"s\".t SET p = E'\\'' WHERE password = 'z' -- e";
    for end in 0..=text.len() {
        for dialect in [Dialect::Postgresql, Dialect::Mysql] {
            let shown = read(&text[..end], dialect).2;
            assert!(!shown.contains('z'), "{shown}");
        }
    }
}

#[test]
fn statements_are_bounded_and_the_least_used_goes_first() {
    let limits = Limits::default();
    let mut cache = Statements::default();
    let put = |cache: &mut Statements, i: usize| {
        cache.insert(format!("s{i}").as_bytes(), b"SELECT 1", true, Dialect::Postgresql, &limits)
    };
    let first = put(&mut cache, 0);
    for i in 1..=MAX_STATEMENTS {
        assert_eq!(cache.by_name(b"s0"), Some(first));
        put(&mut cache, i);
    }
    assert!(cache.by_name(b"s0").is_some() && cache.by_name(b"s1").is_none());
    cache.remove_name(b"s0");
    assert!(cache.by_name(b"s0").is_none() && cache.get(first).is_some(), "a portal may still use it");
    put(&mut cache, 1_000);
    assert!(cache.get(first).is_none(), "its place was given away");

    let mut cache = Statements::default();
    let long = vec![b'x'; 1_000];
    for i in 0..MAX_STATEMENTS {
        cache.insert(format!("s{i}").as_bytes(), &long, true, Dialect::Postgresql, &limits);
    }
    let held = cache.held_bytes();
    assert!(held <= MAX_CACHED_BYTES && held > MAX_CACHED_BYTES / 2, "{held}");
    let limits_of_long = Limits { text: MAX_TEXT, ..limits };
    for _ in 0..3 {
        cache.insert_unnumbered(&vec![b'x'; MAX_TEXT], true, Dialect::Mysql, &limits_of_long);
    }
    assert!(cache.held_bytes() <= MAX_CACHED_BYTES, "{}", cache.held_bytes());
    let last = cache.insert_unnumbered(b"SELECT 7", true, Dialect::Mysql, &limits);
    cache.number(last, 7);
    assert_eq!(cache.by_number(7), Some(last));
    cache.remove_number(7);
    assert_eq!(cache.by_number(7), None);
}

#[test]
fn every_word_that_announces_a_secret_does() {
    for word in super::secrets::ANNOUNCE {
        let word = core::str::from_utf8(word).unwrap().to_uppercase();
        let shown = read(&format!("UPDATE t SET {word} = 'x'"), Dialect::Mysql).2;
        assert_eq!(shown, format!("UPDATE t SET {word} = '[redacted]'"));
    }
}
