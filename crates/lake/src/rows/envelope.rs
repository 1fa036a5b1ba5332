//! The columns that come from the HEP packet itself, in either table.

use std::fmt::Write;

use envelope::hep::{Hep, TimeSource};
use model::table::{hep, sip};

use super::Arrival;
use super::address::AddressCache;
use super::text::Escaped;
use crate::columns::Columns;

macro_rules! positions {
    ($($field:ident = $constant:ident,)*) => {
        /// Where a table keeps the columns of the envelope.
        pub struct Positions { $($field: usize,)* }
        /// Positions in `sip`.
        pub static SIP_COLUMNS: Positions = Positions { $($field: sip::$constant,)* };
        /// Positions in `hep`.
        pub static HEP_COLUMNS: Positions = Positions { $($field: hep::$constant,)* };
    };
}

positions! {
    ts = TS, received = RECEIVED, agent_ip = AGENT_IP, version = HEP_VERSION, auth = AUTH,
    src_ip = SRC_IP, src_port = SRC_PORT, dst_ip = DST_IP, dst_port = DST_PORT, transport = TRANSPORT,
    node_id = NODE_ID, node_name = NODE_NAME, vlan = VLAN, keepalive_s = KEEPALIVE_S,
    src_mac = SRC_MAC, dst_mac = DST_MAC, ethertype = ETHERTYPE, tcp_flags = TCP_FLAGS, ip_tos = IP_TOS,
    mos = MOS, r_factor = R_FACTOR, geo = GEO, jitter = JITTER, transaction_type = TRANSACTION_TYPE,
    json_keys = JSON_KEYS, tag_values = TAG_VALUES, tag_type = TAG_TYPE, event_type = EVENT_TYPE,
    group_id = GROUP_ID, other_chunks = OTHER_CHUNKS,
}

/// Sets the columns; returns where the row's time comes from, `None` when the packet has none.
#[inline]
pub fn set(
    columns: &mut Columns,
    at: &Positions,
    hep: &Hep<'_>,
    arrival: &Arrival,
    addresses: &mut AddressCache,
    escaped: &mut Escaped,
) -> Option<TimeSource> {
    let received = arrival.received_ns;
    let (time, source) = match hep.time {
        Some(raw) => {
            let (time, source) = raw.normalise(received);
            (time, Some(source))
        }
        None => (received, None),
    };
    columns.long(at.ts, time.div_euclid(1_000));
    columns.long(at.received, received.div_euclid(1_000));
    addresses.set(columns, at.agent_ip, arrival.peer);
    columns.int(at.version, i32::from(hep.version));
    if hep.auth_key.is_some() {
        columns.text(at.auth, if arrival.key_checked { "valid" } else { "unchecked" });
    }
    if let Some(address) = hep.src {
        addresses.set(columns, at.src_ip, address);
    }
    if let Some(address) = hep.dst {
        addresses.set(columns, at.dst_ip, address);
    }
    if let Some(port) = hep.src_port {
        columns.int(at.src_port, i32::from(port));
    }
    if let Some(port) = hep.dst_port {
        columns.int(at.dst_port, i32::from(port));
    }
    match hep.ip_proto {
        Some(6) => columns.text(at.transport, "tcp"),
        Some(17) => columns.text(at.transport, "udp"),
        Some(132) => columns.text(at.transport, "sctp"),
        Some(other) => columns.text(at.transport, super::itoa(other, &mut [0; 3])),
        None => {}
    }
    if let Some(id) = hep.capture_id {
        columns.long(at.node_id, i64::from(id));
    }
    if let Some(name) = hep.node_name {
        escaped.set(columns, at.node_name, name);
    }
    set_rare(columns, at, hep, escaped);
    source
}

/// The chunks that few agents send.
#[inline]
fn set_rare(columns: &mut Columns, at: &Positions, hep: &Hep<'_>, escaped: &mut Escaped) {
    let shorts = [
        (at.vlan, hep.vlan),
        (at.keepalive_s, hep.keepalive_s),
        (at.ethertype, hep.ethertype),
        (at.mos, hep.mos),
        (at.r_factor, hep.r_factor),
        (at.tag_type, hep.tag_type),
        (at.event_type, hep.event_type),
        (at.tcp_flags, hep.tcp_flags.map(u16::from)),
        (at.ip_tos, hep.ip_tos.map(u16::from)),
    ];
    for (column, value) in shorts {
        if let Some(value) = value {
            columns.int(column, i32::from(value));
        }
    }
    let texts = [
        (at.geo, hep.geo),
        (at.transaction_type, hep.transaction_type),
        (at.json_keys, hep.json_keys),
        (at.tag_values, hep.tag_values),
        (at.group_id, hep.group_id),
    ];
    for (column, value) in texts {
        if let Some(value) = value {
            escaped.set(columns, column, value);
        }
    }
    if let Some(jitter) = hep.jitter {
        columns.long(at.jitter, i64::from(jitter));
    }
    for (column, address) in [(at.src_mac, hep.src_mac), (at.dst_mac, hep.dst_mac)] {
        if let Some(address) = address {
            columns.text(column, &mac(address));
        }
    }
    if hep.has_others {
        let mut chunks = Vec::new();
        for chunk in hep.others() {
            chunks.extend_from_slice(&chunk.vendor.to_be_bytes());
            chunks.extend_from_slice(&chunk.id.to_be_bytes());
            let length = u16::try_from(chunk.body.len().saturating_add(6)).unwrap_or(u16::MAX);
            chunks.extend_from_slice(&length.to_be_bytes());
            chunks.extend_from_slice(chunk.body);
        }
        columns.bytes(at.other_chunks, &chunks);
    }
}

fn mac(address: u64) -> String {
    let [_, _, bytes @ ..] = address.to_be_bytes();
    bytes.iter().enumerate().fold(String::with_capacity(17), |mut text, (place, byte)| {
        let _ = write!(text, "{}{byte:02x}", if place == 0 { "" } else { ":" });
        text
    })
}
