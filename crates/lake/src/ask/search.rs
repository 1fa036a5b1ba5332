//! Search: filters in, one SQL statement out.

use std::fmt::Write;
use std::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{literal, parse_time};

/// The most rows a search returns.
pub const MAX_LIMIT: usize = 10_000;
const DEFAULT_LIMIT: usize = 100;

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

    /// The statement that answers the search.
    ///
    /// # Errors
    /// One sentence that names the filter and says what it should look like.
    pub fn sql(&self, now: Timestamp) -> Result<String, String> {
        let conditions = self.conditions(now)?;
        let filter = if conditions.is_empty() {
            String::new()
        } else {
            format!(" WHERE {}", conditions.join(" AND "))
        };
        let page = format!("LIMIT {} OFFSET {}", self.row_limit(), self.offset.unwrap_or(0));
        Ok(match self.by {
            By::Message => {
                format!("SELECT {MESSAGE_COLUMNS} FROM sip{filter} ORDER BY ts DESC, call_id {page}")
            }
            By::Call => self.calls(&filter, &page, now)?,
        })
    }

    /// Calls with a message that matches: the filter finds Call-IDs, the times bound what is read of them.
    fn calls(&self, filter: &str, page: &str, now: Timestamp) -> Result<String, String> {
        let times = self.times(now)?;
        let mut parts = vec!["call_id IS NOT NULL".to_owned()];
        parts.extend(times);
        if let Some(id) = self.call_id.as_deref().filter(|id| !id.is_empty()) {
            parts.push(matches("call_id", id));
        }
        let bounds = parts.join(" AND ");
        // Without a filter beyond time and Call-ID every call in the range matches: no second look.
        let narrowed = self.conditions(now)?.len() + 1 > parts.len();
        let wanted = if narrowed {
            format!(" AND call_id IN (SELECT call_id FROM sip{filter})")
        } else {
            String::new()
        };
        Ok(format!(
            "WITH calls AS (SELECT call_id, min(ts) AS first_ts, max(ts) AS last_ts, count(*) AS messages, \
             arg_min(struct_pack(method := method, from_user := from_user, from_host := from_host, \
             to_user := to_user, to_host := to_host, src_ip := src_ip, dst_ip := dst_ip, node_name := node_name), \
             (ts, code IS NOT NULL)) AS opening, \
             list(struct_pack(ts := ts, method := method, code := code, reason := reason) ORDER BY ts) AS steps \
             FROM sip WHERE {bounds}{wanted} GROUP BY call_id ORDER BY first_ts DESC {page}), \
             finals AS (SELECT *, list_filter(steps, lambda s: s.code >= 200 AND s.method = opening.method) AS answers, \
             list_filter(steps, lambda s: s.code IS NULL) AS requests FROM calls) \
             SELECT first_ts, last_ts, round((epoch_us(last_ts) - epoch_us(first_ts)) / 1000.0, 3) AS duration_ms, call_id, \
             opening.method AS method, opening.from_user AS from_user, opening.from_host AS from_host, \
             opening.to_user AS to_user, opening.to_host AS to_host, opening.src_ip AS src_ip, \
             opening.dst_ip AS dst_ip, messages, answers[-1].code AS code, answers[-1].reason AS reason, \
             {STATE} AS state, opening.node_name AS node_name FROM finals ORDER BY first_ts DESC"
        ))
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

/// The columns of a result by message.
const MESSAGE_COLUMNS: &str = "ts, call_id, cid, method, code, reason, cseq, from_user, from_host, to_user, to_host, \
     src_ip, src_port, dst_ip, dst_port, transport, node_id, node_name, user_agent, code IS NULL AS is_request, parse_error";

/// What became of a call, from its first method and final answer.
const STATE: &str = "CASE \
     WHEN opening.method = 'INVITE' AND len(list_filter(requests, lambda s: s.method = 'BYE')) > 0 THEN 'ended' \
     WHEN opening.method = 'INVITE' AND (answers[-1].code = 487 OR len(list_filter(requests, lambda s: s.method = 'CANCEL')) > 0) THEN 'cancelled' \
     WHEN answers[-1].code IN (401, 407) THEN 'challenged' \
     WHEN answers[-1].code >= 400 THEN 'failed' \
     WHEN answers[-1].code >= 300 THEN 'redirected' \
     WHEN opening.method = 'INVITE' AND answers[-1].code >= 200 THEN 'answered' \
     WHEN opening.method = 'REGISTER' AND answers[-1].code >= 200 THEN 'registered' \
     WHEN answers[-1].code >= 200 THEN 'ok' \
     WHEN opening.method = 'INVITE' AND len(list_filter(steps, lambda s: s.code BETWEEN 180 AND 189)) > 0 THEN 'ringing' \
     WHEN opening.method = 'INVITE' THEN 'trying' ELSE 'other' END";

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
                Ok(code) => Ok(format!("code = {code}")),
                Err(_) => Err(format!("`{part}` is no status code; write 486, a class such as 4xx, or several separated by commas")),
            }
        })
        .collect();
    Ok(format!("({})", parts?.join(" OR ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sql(search: &Search) -> Result<String, String> {
        search.sql("2026-11-21T10:00:00Z".parse().unwrap())
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
