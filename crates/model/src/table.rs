//! The tables of the lake: one definition each, from which the Arrow and Delta schemas, the JSON names
//! and the documentation are made.

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An instant, microseconds UTC: the resolution of Delta's `timestamp`, and of HEP.
    Time,
    /// UTF-8 text.
    Text,
    /// Bytes as they were.
    Bytes,
    /// A signed 32-bit number; holds every u16 of the wire.
    Int,
    /// A signed 64-bit number; holds every u32 of the wire.
    Long,
    /// An IEEE 754 double.
    Double,
}

/// One column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name in SQL and JSON.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// One sentence for people.
    pub doc: &'static str,
    /// Whether files carry a bloom filter for it.
    pub bloom: bool,
}

/// One table.
#[derive(Debug)]
pub struct Table {
    /// Its name in SQL and its folder in the lake.
    pub name: &'static str,
    /// What a row is.
    pub doc: &'static str,
    /// Its columns; the first one is the time that files are sorted and partitioned by.
    pub columns: &'static [Column],
}

impl Table {
    /// The position of a column by name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

macro_rules! table {
    ($module:ident, $static:ident, $name:literal, $doc:literal,
     $($constant:ident $column:literal $kind:ident $($bloom:ident)? $help:literal;)*) => {
        #[doc = concat!("Column positions of the table `", $name, "`.")]
        #[allow(missing_docs)]
        pub mod $module {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            #[repr(usize)]
            enum Position { $($constant,)* }
            $(#[doc = $help] pub const $constant: usize = Position::$constant as usize;)*
        }

        #[doc = $doc]
        pub static $static: Table = Table {
            name: $name,
            doc: $doc,
            columns: &[$(Column {
                name: $column,
                kind: Kind::$kind,
                doc: $help,
                bloom: table!(@bloom $($bloom)?),
            },)*],
        };
    };
    (@bloom bloom) => { true };
    (@bloom) => { false };
}

table! { sip, SIP, "sip", "One SIP message mirrored by a capture agent.",
    TS "ts" Time "When the capture agent saw the message; the time of receipt where it did not say.";
    CALL_ID "call_id" Text bloom "Call-ID.";
    CID "cid" Text bloom "Correlation id: HEP chunk 0x11, else the first configured correlation header.";
    METHOD "method" Text "Request method; for a response the method of its CSeq.";
    CODE "code" Int "Status code of a response; null for a request.";
    REASON "reason" Text "Reason phrase of a response.";
    CSEQ "cseq" Long "CSeq number.";
    FROM_USER "from_user" Text "User part of From; the number of a tel: URI.";
    FROM_HOST "from_host" Text "Host part of From, IPv6 without brackets.";
    FROM_TAG "from_tag" Text "Tag of From.";
    TO_USER "to_user" Text "User part of To; the number of a tel: URI.";
    TO_HOST "to_host" Text "Host part of To, IPv6 without brackets.";
    TO_TAG "to_tag" Text "Tag of To.";
    RURI "ruri" Text "Request-URI as it was.";
    RURI_USER "ruri_user" Text "User part of the Request-URI.";
    RURI_HOST "ruri_host" Text "Host part of the Request-URI.";
    CONTACT "contact" Text "First Contact as it was.";
    CONTACT_USER "contact_user" Text "User part of the first Contact.";
    CONTACT_HOST "contact_host" Text "Host part of the first Contact.";
    USER_AGENT "user_agent" Text "User-Agent, else Server.";
    VIA_BRANCH "via_branch" Text "Branch of the topmost Via.";
    VIA_HOST "via_host" Text "Sent-by host of the topmost Via.";
    CONTENT_TYPE "content_type" Text "Content-Type.";
    CONTENT_LENGTH "content_length" Long "Content-Length as announced; the body is kept whatever it says.";
    MEDIA "media" Text "Media endpoints of the SDP body, as `audio:192.0.2.1:3456` joined by spaces.";
    MAX_FORWARDS "max_forwards" Int "Max-Forwards.";
    EXPIRES "expires" Long "Expires, seconds.";
    AUTH_USER "auth_user" Text "Username of Authorization or Proxy-Authorization; never the digest.";
    P_ASSERTED_IDENTITY "p_asserted_identity" Text "P-Asserted-Identity.";
    REMOTE_PARTY_ID "remote_party_id" Text "Remote-Party-ID.";
    DIVERSION "diversion" Text "First Diversion.";
    PRIVACY "privacy" Text "Privacy.";
    REASON_HEADER "reason_header" Text "The header Reason (RFC 3326).";
    ORGANIZATION "organization" Text "Organization.";
    SESSION_ID "session_id" Text "Session-ID (RFC 7989).";
    X_RTP_STAT "x_rtp_stat" Text "X-RTP-Stat.";
    SRC_IP "src_ip" Text "Sender's address, in the form of RFC 5952.";
    SRC_PORT "src_port" Int "Sender's port.";
    DST_IP "dst_ip" Text "Receiver's address, in the form of RFC 5952.";
    DST_PORT "dst_port" Int "Receiver's port.";
    TRANSPORT "transport" Text "Transport of the message: udp, tcp, sctp or the protocol's number.";
    NODE_ID "node_id" Long "Capture agent's number.";
    NODE_NAME "node_name" Text "Capture agent's name.";
    VLAN "vlan" Int "IEEE 802.1Q VLAN id.";
    RECEIVED "received" Time "When this machine received the packet.";
    AGENT_IP "agent_ip" Text "Address that the packet came from.";
    HEP_VERSION "hep_version" Int "Version of HEP: 1, 2 or 3.";
    AUTH "auth" Text "The packet's key: valid, or unchecked when none is configured; null without one.";
    KEEPALIVE_S "keepalive_s" Int "Keep-alive timer, seconds.";
    SRC_MAC "src_mac" Text "Sender's MAC address.";
    DST_MAC "dst_mac" Text "Receiver's MAC address.";
    ETHERTYPE "ethertype" Int "Ethernet type.";
    TCP_FLAGS "tcp_flags" Int "TCP flags.";
    IP_TOS "ip_tos" Int "IP type of service.";
    MOS "mos" Int "Mean opinion score as the agent sent it.";
    R_FACTOR "r_factor" Int "R-factor as the agent sent it.";
    GEO "geo" Text "Geographic location.";
    JITTER "jitter" Long "Jitter as the agent sent it.";
    TRANSACTION_TYPE "transaction_type" Text "Transaction type, such as call or registration.";
    JSON_KEYS "json_keys" Text "Keys of the JSON payload that the agent names.";
    TAG_VALUES "tag_values" Text "Tag values.";
    TAG_TYPE "tag_type" Int "Tag type.";
    EVENT_TYPE "event_type" Int "Event type: 1 recording, 2 lawful interception.";
    GROUP_ID "group_id" Text "Group id.";
    OTHER_CHUNKS "other_chunks" Bytes "Vendor chunks and unknown generic chunks, each with its header, as they were.";
    PARSE_ERROR "parse_error" Text "Why the payload could not be read as SIP, or what it lacks; null when whole.";
    PAYLOAD "payload" Text "The message; bytes that are not UTF-8 are written as \\xHH.";
    PAYLOAD_RAW "payload_raw" Bytes "The exact bytes, only where payload is not them.";
}

table! { hep, HEP, "hep", "One HEP packet that carries something other than SIP.",
    TS "ts" Time "When the capture agent saw the payload; the time of receipt where it did not say.";
    CID "cid" Text bloom "Correlation id: HEP chunk 0x11.";
    PROTO_TYPE "proto_type" Int "HEP protocol type.";
    PROTO "proto" Text "Name of the protocol type: rtcp, log, dns, diameter...; its number where it has no name.";
    SRC_IP "src_ip" Text "Sender's address, in the form of RFC 5952.";
    SRC_PORT "src_port" Int "Sender's port.";
    DST_IP "dst_ip" Text "Receiver's address, in the form of RFC 5952.";
    DST_PORT "dst_port" Int "Receiver's port.";
    TRANSPORT "transport" Text "Transport of the payload: udp, tcp, sctp or the protocol's number.";
    NODE_ID "node_id" Long "Capture agent's number.";
    NODE_NAME "node_name" Text "Capture agent's name.";
    VLAN "vlan" Int "IEEE 802.1Q VLAN id.";
    RECEIVED "received" Time "When this machine received the packet.";
    AGENT_IP "agent_ip" Text "Address that the packet came from.";
    HEP_VERSION "hep_version" Int "Version of HEP: 1, 2 or 3.";
    AUTH "auth" Text "The packet's key: valid, or unchecked when none is configured; null without one.";
    KEEPALIVE_S "keepalive_s" Int "Keep-alive timer, seconds.";
    SRC_MAC "src_mac" Text "Sender's MAC address.";
    DST_MAC "dst_mac" Text "Receiver's MAC address.";
    ETHERTYPE "ethertype" Int "Ethernet type.";
    TCP_FLAGS "tcp_flags" Int "TCP flags.";
    IP_TOS "ip_tos" Int "IP type of service.";
    MOS "mos" Int "Mean opinion score as the agent sent it.";
    R_FACTOR "r_factor" Int "R-factor as the agent sent it.";
    GEO "geo" Text "Geographic location.";
    JITTER "jitter" Long "Jitter as the agent sent it.";
    TRANSACTION_TYPE "transaction_type" Text "Transaction type, such as call or registration.";
    JSON_KEYS "json_keys" Text "Keys of the JSON payload that the agent names.";
    TAG_VALUES "tag_values" Text "Tag values.";
    TAG_TYPE "tag_type" Int "Tag type.";
    EVENT_TYPE "event_type" Int "Event type: 1 recording, 2 lawful interception.";
    GROUP_ID "group_id" Text "Group id.";
    OTHER_CHUNKS "other_chunks" Bytes "Vendor chunks and unknown generic chunks, each with its header, as they were.";
    PAYLOAD "payload" Text "The payload; bytes that are not UTF-8 are written as \\xHH.";
    PAYLOAD_RAW "payload_raw" Bytes "The exact bytes, only where payload is not them.";
}

table! { roundtrips, ROUNDTRIPS, "roundtrips", "One request with its response, or one of them alone, as seen on the wire.",
    TS "ts" Time "When the first byte of it was seen.";
    FIRST_BYTE "first_byte" Time "When the first byte of the response was seen.";
    LAST_BYTE "last_byte" Time "When the last byte of it was seen.";
    DURATION_NS "duration_ns" Long "From the first byte of the request to the last of the response, nanoseconds; null when one of them is missing.";
    FIRST_BYTE_NS "first_byte_ns" Long "From the first byte of the request to the first of the response, nanoseconds.";
    PROTOCOL "protocol" Text "Protocol: http, http2, grpc, redis, mysql, postgresql, mongodb, kafka, amqp, dns, sip, rtp.";
    OPERATION "operation" Text "What was asked for: a method, a command, a verb.";
    RESOURCE "resource" Text "On what: a path, a table, a topic, a key, a name.";
    OUTCOME "outcome" Text "answered, unanswered, orphan or one_way.";
    STATUS "status" Text "ok or error; null where the protocol does not say.";
    STATUS_CODE "status_code" Text "The protocol's own code: 404, 42P01, NXDOMAIN.";
    ERROR "error" Text "The message of an error.";
    REASON "reason" Text "Why there is no whole answer: gap, closed, reset, timeout, capture_ended, cancelled...";
    CONFIDENCE "confidence" Text "exact, late_join (the flow was under way when the capture began) or after_gap (bytes of the flow are missing).";
    CLIENT_IP "client_ip" Text "Client's address, in the form of RFC 5952.";
    CLIENT_PORT "client_port" Int "Client's port.";
    SERVER_IP "server_ip" Text "Server's address, in the form of RFC 5952.";
    SERVER_PORT "server_port" Int "Server's port.";
    TRANSPORT "transport" Text "tcp or udp.";
    DIRECTION "direction" Text "Which way the request, or the message that is alone, goes: to_server or to_client.";
    REQUEST_BYTES "request_bytes" Long "Size of the request on the wire, framing included.";
    RESPONSE_BYTES "response_bytes" Long "Size of the response on the wire, framing included.";
    TRACE_ID "trace_id" Text bloom "Trace id that the request carried (W3C traceparent, B3, Session-ID).";
    SPAN_ID "span_id" Text "Span id of the sender.";
    CALL_ID "call_id" Text bloom "Call-ID of SIP, and of media that SIP announced.";
    VLAN "vlan" Int "IEEE 802.1Q VLAN id.";
    NOTICES "notices" Text "Oddities, joined by commas: text_cut, unknown, redacted, malformed, fields_cut.";
    ATTRIBUTES "attributes" Text "The other fields as a JSON object, named by OpenTelemetry's semantic conventions.";
}

table! { flows, FLOWS, "flows", "One TCP or UDP flow, both directions.",
    TS "ts" Time "When its first packet was seen.";
    LAST "last" Time "When its last packet was seen.";
    DURATION_NS "duration_ns" Long "From the first packet to the last, nanoseconds.";
    TRANSPORT "transport" Text "tcp or udp.";
    CLIENT_IP "client_ip" Text "Client's address, in the form of RFC 5952.";
    CLIENT_PORT "client_port" Int "Client's port.";
    SERVER_IP "server_ip" Text "Server's address, in the form of RFC 5952.";
    SERVER_PORT "server_port" Int "Server's port.";
    PROTOCOL "protocol" Text "The protocol it speaks; null when that is not known.";
    VISIBILITY "visibility" Text "plain; or why it shows no (more) roundtrips: tls, websocket, compressed, replication, unreadable, unknown, silent.";
    START "start" Text "handshake, or middle when it was under way as the capture began.";
    ENDED "ended" Text "fin, reset, timeout, evicted or stopped (the capture ended first).";
    ROUNDTRIPS "roundtrips" Long "Its roundtrips, of every outcome.";
    CLIENT_RTT_US "client_rtt_us" Long "From SYN-ACK to ACK, microseconds: the way to the client and back.";
    SERVER_RTT_US "server_rtt_us" Long "From SYN to SYN-ACK, microseconds: the way to the server and back.";
    CLIENT_PACKETS "client_packets" Long "Packets that the client sent.";
    SERVER_PACKETS "server_packets" Long "Packets that the server sent.";
    CLIENT_BYTES "client_bytes" Long "Bytes that the client sent, headers included.";
    SERVER_BYTES "server_bytes" Long "Bytes that the server sent, headers included.";
    CLIENT_PAYLOAD "client_payload" Long "Payload bytes that the client sent.";
    SERVER_PAYLOAD "server_payload" Long "Payload bytes that the server sent.";
    CLIENT_RETRANSMITS "client_retransmits" Long "Segments that the client sent again.";
    SERVER_RETRANSMITS "server_retransmits" Long "Segments that the server sent again.";
    CLIENT_OUT_OF_ORDER "client_out_of_order" Long "Segments of the client that came before an earlier one.";
    SERVER_OUT_OF_ORDER "server_out_of_order" Long "Segments of the server that came before an earlier one.";
    CLIENT_GAP_BYTES "client_gap_bytes" Long "Bytes of the client that were never seen.";
    SERVER_GAP_BYTES "server_gap_bytes" Long "Bytes of the server that were never seen.";
    GAPS "gaps" Int "How many gaps both sides have.";
    ZERO_WINDOWS "zero_windows" Int "How often a receive window closed.";
    RESETS "resets" Int "RST segments.";
    DECODE_ERRORS "decode_errors" Int "Errors of the decoder.";
    LAST_ERROR "last_error" Text "Cause of the last one.";
    VLAN "vlan" Int "IEEE 802.1Q VLAN id.";
    ATTRIBUTES "attributes" Text "What the flow told about itself as a JSON object: server name, ALPN, JA4...";
}

table! { logs, LOGS, "logs", "One log line of an application or component, in the shape of OpenTelemetry's log records.",
    TS "ts" Time "When it was written.";
    SEVERITY "severity" Text "INFO for standard output, ERROR for standard error.";
    SEVERITY_NUMBER "severity_number" Int "OpenTelemetry's number of it: 9 or 17.";
    BODY "body" Text "The line; bytes that are not UTF-8 are written as \\xHH.";
    BODY_RAW "body_raw" Bytes "The exact bytes, only where body is not them.";
    SOURCE_ID "source_id" Text bloom "Application or component that wrote it.";
    INSTANCE_ID "instance_id" Text "Which instance of it.";
    TRACE_ID "trace_id" Text bloom "Trace that it belongs to.";
    SPAN_ID "span_id" Text "Span that it belongs to.";
    SOURCE_TYPE "source_type" Text "Part of the platform that speaks: APP, RTR, CELL, API...";
    ORIGIN "origin" Text "Program that emitted it.";
    DEPLOYMENT "deployment" Text "Deployment of that program.";
    JOB "job" Text "Its job.";
    INDEX "index" Text "Which instance of the job.";
    IP "ip" Text "Its machine's address.";
    EVENT_TYPE "event_type" Text "Dropsonde's event type where it came as version 1; `event` for an event.";
    RECEIVED "received" Time "When this machine received it.";
    ATTRIBUTES "attributes" Text "The other tags as a JSON object.";
}

table! { metrics, METRICS, "metrics", "One value of one metric at one moment, in the shape of OpenTelemetry's number data points.",
    TS "ts" Time "When it was measured.";
    NAME "name" Text bloom "Its name.";
    KIND "kind" Text "sum for a counter, which only grows; gauge for a value that goes up and down.";
    VALUE "value" Double "Its value; of a counter the total.";
    DELTA "delta" Long "By how much a counter grew.";
    UNIT "unit" Text "Unit of the value.";
    SOURCE_ID "source_id" Text bloom "Application or component that is measured.";
    INSTANCE_ID "instance_id" Text "Which instance of it.";
    ORIGIN "origin" Text "Program that emitted it.";
    DEPLOYMENT "deployment" Text "Deployment of that program.";
    JOB "job" Text "Its job.";
    INDEX "index" Text "Which instance of the job.";
    IP "ip" Text "Its machine's address.";
    EVENT_TYPE "event_type" Text "Dropsonde's event type where it came as version 1.";
    RECEIVED "received" Time "When this machine received it.";
    ATTRIBUTES "attributes" Text "The other tags as a JSON object.";
}

table! { spans, SPANS, "spans", "One timed operation, in the shape of OpenTelemetry's spans.",
    TS "ts" Time "When it began.";
    ENDED "ended" Time "When it ended.";
    DURATION_NS "duration_ns" Long "From one to the other, nanoseconds.";
    NAME "name" Text "Its name; http for a request that a router served.";
    KIND "kind" Text "client or server, where it says so.";
    STATUS_CODE "status_code" Int "Status code of an HTTP request.";
    METHOD "method" Text "Method of an HTTP request.";
    URI "uri" Text "What an HTTP request asked for.";
    TRACE_ID "trace_id" Text bloom "Trace that it belongs to.";
    SPAN_ID "span_id" Text "Its own id.";
    PARENT_SPAN_ID "parent_span_id" Text "The span that caused it.";
    SOURCE_ID "source_id" Text bloom "Application or component that did it.";
    INSTANCE_ID "instance_id" Text "Which instance of it.";
    ORIGIN "origin" Text "Program that emitted it.";
    DEPLOYMENT "deployment" Text "Deployment of that program.";
    JOB "job" Text "Its job.";
    INDEX "index" Text "Which instance of the job.";
    IP "ip" Text "Its machine's address.";
    EVENT_TYPE "event_type" Text "Dropsonde's event type where it came as version 1.";
    RECEIVED "received" Time "When this machine received it.";
    ATTRIBUTES "attributes" Text "The other tags as a JSON object.";
}

/// Every table of the lake.
pub static TABLES: &[&Table] = &[&SIP, &HEP, &ROUNDTRIPS, &FLOWS, &LOGS, &METRICS, &SPANS];

/// The table of a name.
pub fn by_name(name: &str) -> Option<&'static Table> {
    TABLES.iter().copied().find(|table| table.name == name)
}

/// The name of a HEP protocol type (HEP specification rev 37, plus the two in common use: 38 and 100).
pub fn proto_name(proto_type: u8) -> Option<&'static str> {
    Some(match proto_type {
        1 => "sip",
        2 => "xmpp",
        3 => "sdp",
        4 => "rtp",
        5 => "rtcp",
        6 => "mgcp",
        7 => "megaco",
        8 => "m2ua",
        9 => "m3ua",
        10 => "iax",
        11 => "h322",
        12 => "h321",
        13 => "m2pa",
        34 => "rtpagent",
        35 => "rtcpxr",
        38 => "horaclifix",
        50 => "sip_json",
        53 => "dns",
        54 => "isup",
        55 => "rtsp",
        56 => "diameter",
        57 => "gsm_map",
        58 => "rtcp_pion",
        60 => "cdr",
        61 => "verto",
        100 => "log",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_names_agree() {
        assert_eq!(SIP.columns[sip::CALL_ID].name, "call_id");
        assert_eq!(SIP.columns[sip::PAYLOAD_RAW].name, "payload_raw");
        assert_eq!(SIP.position("parse_error"), Some(sip::PARSE_ERROR));
        assert_eq!(HEP.columns[hep::CID].name, "cid");
        assert_eq!(HEP.columns.len() - 1, hep::PAYLOAD_RAW);
        for table in TABLES {
            assert_eq!(table.columns[0].kind, Kind::Time);
            let mut names: Vec<_> = table.columns.iter().map(|column| column.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), table.columns.len(), "a column of {} is named twice", table.name);
        }
    }
}
