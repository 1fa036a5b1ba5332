//! Views with the table names of Homer 11, so that its queries and dashboards keep working.
//!
//! In them `method` holds the status code of a response, as there; `cseq_method` holds the method.

use duckdb::Connection;

/// The columns that its call, registration and default tables share.
const COMMON: &str = "ts AT TIME ZONE 'UTC' AS \"timestamp\", date, call_id AS session_id, \
    from_user AS caller, coalesce(ruri_user, to_user) AS callee, src_ip, dst_ip, src_port, dst_port, \
    coalesce(CAST(code AS VARCHAR), method) AS method, CAST(code AS VARCHAR) AS response_code, \
    method AS cseq_method, CASE transport WHEN 'udp' THEN 17 WHEN 'tcp' THEN 6 WHEN 'sctp' THEN 132 END AS protocol, \
    CAST(node_id AS VARCHAR) AS node_id, coalesce(cid, call_id) AS cid, payload, \
    to_user AS aor, contact, expires, user_agent, \
    json_object('from_host', from_host, 'to_host', to_host, 'user_agent', user_agent, 'via', via_branch, \
    'contact', contact, 'content_type', content_type, 'content_length', content_length, 'cseq', cseq, \
    'expires', expires, 'max_forwards', max_forwards, 'response_code', code, 'response_reason', reason, \
    'request_uri', ruri, 'from_tag', from_tag, 'to_tag', to_tag, 'branch', via_branch) AS data_extra";

const CALL: &str = "'INVITE','ACK','PRACK','UPDATE','BYE','CANCEL','INFO'";

/// Makes the views that `sql` names.
///
/// # Errors
/// What the engine says.
pub fn create(connection: &Connection, sql: &str) -> duckdb::Result<()> {
    let sql = sql.to_ascii_lowercase();
    let all = sql.contains("show");
    for (name, condition) in [
        ("hep_proto_1_call", format!("method IN ({CALL})")),
        ("hep_proto_1_registration", "method = 'REGISTER'".to_owned()),
        ("hep_proto_1_default", format!("method IS NULL OR method NOT IN ({CALL},'REGISTER')")),
    ] {
        if all || sql.contains(name) {
            connection.execute_batch(&format!(
                "CREATE OR REPLACE TEMP VIEW {name} AS SELECT {COMMON} FROM sip WHERE {condition}"
            ))?;
        }
    }
    Ok(())
}
