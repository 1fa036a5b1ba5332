//! Search: filters in, one SQL statement out.

use std::fmt::Write;
use std::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{literal, parse_time, texts, time_at};
use crate::error::LakeError;
use crate::sql::{Answer, Engine};

/// The most rows a search returns.
pub const MAX_LIMIT: usize = 10_000;
const DEFAULT_LIMIT: usize = 100;
/// Messages looked at for each call that is wanted, at first.
const MESSAGES_PER_CALL: usize = 64;
/// Messages looked at, at most, before a page of calls is left short.
const MOST_MESSAGES: usize = 1_000_000;

/// What a result row is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// One message.
    #[default]
    Message,
    /// One call: all messages with one Call-ID.
    Call,
}

/// Filters; all that are set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// SIP methods, separated by commas.
    pub method: Option<String>,
    /// User, or user@host, of From; `*` stands for any text.
    pub from: Option<String>,
    /// User, or user@host, of To; `*` stands for any text.
    pub to: Option<String>,
    /// Call-ID; `*` stands for any text.
    pub call_id: Option<String>,
    /// Address of either end; an IPv4 network such as `10.1.0.0/16` or `*` also serves.
    pub ip: Option<String>,
    /// Port of either end.
    pub port: Option<u16>,
    /// Status code, such as `486`, or a class, such as `4xx`; several separated by commas.
    pub code: Option<String>,
    /// Capture agent's number or name.
    pub node: Option<String>,
    /// Text that the message contains, in any case.
    pub text: Option<String>,
    /// Earliest time; see [`parse_time`].
    pub since: Option<String>,
    /// Latest time.
    pub until: Option<String>,
    /// Rows wanted, 100 if not said, at most 10,000.
    pub limit: Option<usize>,
    /// Rows to skip.
    pub offset: Option<usize>,
    /// What a row is.
    pub by: By,
}

impl Search {
    /// The rows that a search asks for.
    pub fn row_limit(&self) -> usize {
        self.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT)
    }

    /// Messages: the time of the last row of the page comes first, from the columns that the filters
    /// need; then only what is not older is read in full.
    ///
    /// # Errors
    /// [`LakeError::Query`] names the filter that is wrong and says what it should look like.
    pub fn run(&self, engine: &Engine, now: Timestamp) -> Result<Answer, LakeError> {
        let conditions = self.conditions(now).map_err(LakeError::Query)?;
        match self.by {
            By::Message => self.messages(engine, conditions),
            By::Call => self.calls(engine, conditions, now),
        }
    }

    fn last_of_page(&self) -> usize {
        self.row_limit().saturating_add(self.offset.unwrap_or(0)).min(1_000_000)
    }

    fn messages(&self, engine: &Engine, mut conditions: Vec<String>) -> Result<Answer, LakeError> {
        let skipped = self.last_of_page() - 1;
        let edge =
            format!("SELECT ts FROM sip{} ORDER BY ts DESC LIMIT 1 OFFSET {skipped}", filter(&conditions));
        let first = engine.query(&edge, 1)?;
        if let Some(micros) = first.batches.iter().find_map(|batch| time_at(batch.column(0).as_ref(), 0)) {
            conditions.push(format!("ts >= make_timestamptz({micros})"));
        }
        let (limit, offset) = (self.row_limit(), self.offset.unwrap_or(0));
        let rows = format!(
            "SELECT {MESSAGE_COLUMNS} FROM sip{} ORDER BY ts DESC, call_id LIMIT {limit} OFFSET {offset}",
            filter(&conditions)
        );
        Ok(engine.query(&rows, limit)?.after(first))
    }

    /// Calls: the newest matching messages name them, then all messages of those calls are read.
    fn calls(
        &self,
        engine: &Engine,
        mut conditions: Vec<String>,
        now: Timestamp,
    ) -> Result<Answer, LakeError> {
        conditions.push("call_id IS NOT NULL".to_owned());
        let filter = filter(&conditions);
        let (limit, offset) = (self.row_limit(), self.offset.unwrap_or(0));
        let mut newest = self.last_of_page().saturating_mul(MESSAGES_PER_CALL);
        let named = loop {
            let ids = format!(
                "SELECT call_id, max(ts) AS latest FROM \
                 (SELECT call_id, ts FROM sip{filter} ORDER BY ts DESC LIMIT {newest}) \
                 GROUP BY call_id ORDER BY latest DESC LIMIT {limit} OFFSET {offset}"
            );
            let named = engine.query(&ids, limit)?;
            let found: usize = named.batches.iter().map(|batch| batch.num_rows()).sum();
            // Calls of very many messages: look further back, within bounds.
            if found == limit || newest > MOST_MESSAGES || !self.may_have_more(engine, &filter, newest)? {
                break named;
            }
            newest = newest.saturating_mul(16);
        };
        let ids: Vec<String> =
            named.batches.iter().flat_map(|batch| texts(batch.column(0).as_ref())).collect();
        let list: Vec<String> = ids.iter().map(|id| literal(id)).collect();
        let mut bounds = self.times(now).map_err(LakeError::Query)?;
        bounds.push(if list.is_empty() {
            "false".to_owned()
        } else {
            format!("call_id IN ({})", list.join(", "))
        });
        Ok(engine.query(&calls_sql(&bounds.join(" AND ")), limit)?.after(named))
    }

    fn may_have_more(&self, engine: &Engine, filter: &str, seen: usize) -> Result<bool, LakeError> {
        let sql = format!("SELECT 1 FROM sip{filter} LIMIT 1 OFFSET {seen}");
        Ok(engine.query(&sql, 1)?.batches.iter().any(|batch| batch.num_rows() > 0))
    }

    fn times(&self, now: Timestamp) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        for (bound, op) in [(&self.since, ">="), (&self.until, "<=")] {
            if let Some(text) = bound.as_deref().filter(|text| !text.is_empty()) {
                found.push(format!("ts {op} make_timestamptz({})", parse_time(text, now)?));
            }
        }
        Ok(found)
    }

    fn conditions(&self, now: Timestamp) -> Result<Vec<String>, String> {
        let mut found = self.times(now)?;
        let set = |value: &Option<String>| {
            value.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        if let Some(methods) = set(&self.method) {
            let list: Vec<String> =
                methods.split(',').map(|method| literal(&method.trim().to_ascii_uppercase())).collect();
            found.push(format!("method IN ({})", list.join(", ")));
        }
        for (value, user, host) in [(&self.from, "from_user", "from_host"), (&self.to, "to_user", "to_host")]
        {
            if let Some(text) = set(value) {
                found.push(party(&text, user, host));
            }
        }
        if let Some(id) = set(&self.call_id) {
            found.push(matches("call_id", &id));
        }
        if let Some(address) = set(&self.ip) {
            found.push(ip(&address)?);
        }
        if let Some(port) = self.port {
            found.push(format!("(src_port = {port} OR dst_port = {port})"));
        }
        if let Some(codes) = set(&self.code) {
            found.push(code(&codes)?);
        }
        if let Some(node) = set(&self.node) {
            found.push(match node.parse::<u32>() {
                Ok(number) => format!("(node_id = {number} OR node_name = {})", literal(&node)),
                Err(_) => matches("node_name", &node),
            });
        }
        if let Some(text) = set(&self.text) {
            found.push(format!("contains(lower(payload), {})", literal(&text.to_lowercase())));
        }
        Ok(found)
    }
}

fn filter(conditions: &[String]) -> String {
    if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) }
}

/// One row for each call among the messages within `bounds`.
///
/// What the call is about is what its first request asks for; an ACK, which has no answer, asks for nothing. Of the
/// final answers to it, a challenge counts only while nobody took it up.
fn calls_sql(bounds: &str) -> String {
    format!(
        "WITH calls AS (SELECT call_id, min(ts) AS first_ts, max(ts) AS last_ts, count(*) AS messages, \
         arg_min(struct_pack(method := method, from_user := from_user, from_host := from_host, \
         to_user := to_user, to_host := to_host, src_ip := src_ip, dst_ip := dst_ip, node_name := node_name), \
         (ts, code IS NOT NULL)) AS opening, \
         list(struct_pack(ts := ts, method := method, code := code, reason := reason, cseq := cseq, \
         unbinds := {UNBINDS}) ORDER BY ts) AS steps FROM sip WHERE {bounds} GROUP BY call_id), \
         kinds AS (SELECT *, list_filter(steps, lambda s: s.method <> 'ACK') AS asks, \
         CASE WHEN len(list_filter(steps, lambda s: s.method = 'INVITE')) > 0 THEN 'INVITE' \
         ELSE coalesce(list_filter(asks, lambda s: s.code IS NULL)[1].method, asks[1].method) END AS kind FROM calls), \
         finals AS (SELECT *, list_filter(steps, lambda s: s.code >= 200 AND s.method = kind AND NOT (s.code IN (401, 407) \
         AND len(list_filter(steps, lambda r: r.code IS NULL AND r.method = kind AND r.cseq > s.cseq)) > 0)) AS answers \
         FROM kinds) \
         SELECT first_ts, last_ts, round((epoch_us(last_ts) - epoch_us(first_ts)) / 1000.0, 3) AS duration_ms, call_id, \
         opening.method AS method, opening.from_user AS from_user, opening.from_host AS from_host, \
         opening.to_user AS to_user, opening.to_host AS to_host, opening.src_ip AS src_ip, \
         opening.dst_ip AS dst_ip, messages, answers[-1].code AS code, answers[-1].reason AS reason, \
         {STATE} AS state, opening.node_name AS node_name FROM finals ORDER BY first_ts DESC"
    )
}

/// Whether a REGISTER takes bindings away: a contact that expires at once (RFC 3261 §10.2.2).
const UNBINDS: &str = "(method = 'REGISTER' AND code IS NULL AND contact IS NOT NULL AND \
     coalesce(TRY_CAST(regexp_extract(contact, '(?i);expires=(\\d+)', 1) AS BIGINT), expires) = 0)";

/// The columns of a result by message.
const MESSAGE_COLUMNS: &str = "ts, call_id, cid, method, code, reason, cseq, from_user, from_host, to_user, to_host, \
     src_ip, src_port, dst_ip, dst_port, transport, node_id, node_name, user_agent, code IS NULL AS is_request, parse_error";

/// What became of a call; the words and rules of `export::call::State`, over columns.
const STATE: &str = "CASE \
     WHEN len(list_filter(steps, lambda s: s.method = 'BYE')) > 0 THEN 'ended' \
     WHEN kind IS NULL THEN 'other' \
     WHEN kind = 'INVITE' AND len(list_filter(answers, lambda s: s.code < 300)) > 0 THEN 'answered' \
     WHEN kind = 'INVITE' AND answers[-1].code = 487 THEN 'cancelled' \
     WHEN answers[-1].code >= 400 THEN 'failed' \
     WHEN answers[-1].code >= 300 THEN 'redirected' \
     WHEN kind = 'REGISTER' AND len(answers) > 0 THEN CASE WHEN list_filter(steps, lambda s: s.method = kind AND \
     s.code IS NULL AND s.cseq = answers[-1].cseq)[-1].unbinds THEN 'unregistered' ELSE 'registered' END \
     WHEN len(answers) > 0 THEN 'ok' \
     WHEN kind = 'INVITE' AND len(list_filter(steps, lambda s: s.method = 'CANCEL')) > 0 THEN 'cancelled' \
     WHEN kind = 'INVITE' AND len(list_filter(steps, lambda s: s.method = kind AND s.code BETWEEN 101 AND 199)) > 0 THEN 'ringing' \
     ELSE 'trying' END";

/// Equality, or a pattern where the text has a `*`.
fn matches(column: &str, text: &str) -> String {
    if text.contains('*') {
        format!("{column} LIKE {} ESCAPE '!'", literal(&pattern(text)))
    } else {
        format!("{column} = {}", literal(text))
    }
}

fn pattern(text: &str) -> String {
    text.chars().fold(String::new(), |mut pattern, c| {
        match c {
            '*' => pattern.push('%'),
            '%' | '_' | '!' => {
                pattern.push('!');
                pattern.push(c);
            }
            _ => pattern.push(c),
        }
        pattern
    })
}

/// A user or user@host; a leading `sip:` is what people paste.
fn party(text: &str, user: &str, host: &str) -> String {
    let text = ["sip:", "sips:", "tel:"].iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(text);
    match text.split_once('@') {
        Some(("", domain)) => matches(host, domain),
        Some((name, domain)) => format!("{} AND {}", matches(user, name), matches(host, domain)),
        None => matches(user, text),
    }
}

fn ip(text: &str) -> Result<String, String> {
    let either =
        |condition: &dyn Fn(&str) -> String| format!("({} OR {})", condition("src_ip"), condition("dst_ip"));
    if text.contains('*') {
        return Ok(either(&|column| matches(column, text)));
    }
    if let Some((network, bits)) = text.split_once('/') {
        let wrong = || format!("`{text}` is no IPv4 network; write it like 10.1.0.0/16");
        let (Ok(IpAddr::V4(network)), Ok(bits)) = (network.parse::<IpAddr>(), bits.parse::<u32>()) else {
            return Err(wrong());
        };
        if bits > 32 {
            return Err(wrong());
        }
        let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
        let first = network.to_bits() & mask;
        let last = first | !mask;
        return Ok(either(&|column| {
            let mut number = String::new();
            for (part, shift) in [(1, 24), (2, 16), (3, 8), (4, 0)] {
                let plus = if part == 1 { "" } else { " + " };
                let _ = write!(
                    number,
                    "{plus}(TRY_CAST(split_part({column}, '.', {part}) AS BIGINT) << {shift})"
                );
            }
            format!("({column} NOT LIKE '%:%' AND {number} BETWEEN {first} AND {last})")
        }));
    }
    let trimmed = text.trim_start_matches('[').trim_end_matches(']');
    let address: IpAddr = trimmed.parse().map_err(|_| {
        format!("`{text}` is no IP address; write one, a network such as 10.1.0.0/16, or use *")
    })?;
    let canonical = literal(&address.to_canonical().to_string());
    Ok(either(&|column| format!("{column} = {canonical}")))
}

fn code(text: &str) -> Result<String, String> {
    let parts: Result<Vec<String>, String> = text
        .split(',')
        .map(|part| {
            let part = part.trim().to_ascii_lowercase();
            if let Some(class) = part.strip_suffix("xx").and_then(|class| class.parse::<u16>().ok()).filter(|c| (1..=6).contains(c)) {
                return Ok(format!("code BETWEEN {}00 AND {}99", class, class));
            }
            match part.parse::<u16>() {
                Ok(code) if (100..=699).contains(&code) => Ok(format!("code = {code}")),
                _ => Err(format!("`{part}` is no status code; write 486, a class such as 4xx, or several separated by commas")),
            }
        })
        .collect();
    Ok(format!("({})", parts?.join(" OR ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(search: &Search) -> Result<String, String> {
        Ok(filter(&search.conditions("2026-11-21T10:00:00Z".parse().unwrap())?))
    }

    #[test]
    fn filters_become_conditions() {
        let search = Search {
            method: Some("invite,BYE".into()),
            from: Some("sip:alice@atl*".into()),
            code: Some("4xx,200".into()),
            ip: Some("::ffff:10.0.0.1".into()),
            call_id: Some("o'brien".into()),
            ..Search::default()
        };
        let sql = sql(&search).unwrap();
        for part in [
            "method IN ('INVITE', 'BYE')",
            "from_user = 'alice' AND from_host LIKE 'atl%'",
            "(code BETWEEN 400 AND 499 OR code = 200)",
            "(src_ip = '10.0.0.1' OR dst_ip = '10.0.0.1')",
            "call_id = 'o''brien'",
        ] {
            assert!(sql.contains(part), "{part} in {sql}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (search, word) in [
            (Search { ip: Some("10.0.0".into()), ..Search::default() }, "IP address"),
            (Search { ip: Some("10.0.0.0/33".into()), ..Search::default() }, "network"),
            (Search { code: Some("abc".into()), ..Search::default() }, "status code"),
            (Search { since: Some("soon".into()), ..Search::default() }, "time"),
        ] {
            assert!(sql(&search).unwrap_err().contains(word));
        }
    }

    #[test]
    fn wildcards_do_not_let_others_through() {
        assert_eq!(matches("a", "x_%*"), "a LIKE 'x!_!%%' ESCAPE '!'");
    }
}
