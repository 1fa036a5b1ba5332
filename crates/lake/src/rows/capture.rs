//! Rows of `roundtrips`, `flows` and `sip`, from what a tap gives.

use ::envelope::hep::{Hep, RawTime};
use flow::Flow;
use model::table::{FLOWS, Kind, ROUNDTRIPS, Table};
use model::{Dir, Nanos, Transport};
use tap::{Cell, Row};

use super::address::AddressCache;
use super::text::Escaped;
use super::{Arrival, Payload, RowOptions, Rows, Sealed};
use crate::columns::Columns;

/// The growing rows of one shard's capture.
#[derive(Debug)]
pub struct CaptureRows {
    roundtrips: Growing,
    flows: Growing,
    sip: Rows,
    sip_bytes: usize,
}

/// The growing rows of one table.
#[derive(Debug)]
struct Growing {
    table: &'static Table,
    columns: Columns,
    addresses: AddressCache,
    escaped: Escaped,
    json: Vec<u8>,
    text_bytes: usize,
}

impl CaptureRows {
    /// Rows for batches of about `capacity` rows.
    pub fn new(capacity: usize) -> Self {
        Self {
            roundtrips: Growing::new(&ROUNDTRIPS, capacity),
            flows: Growing::new(&FLOWS, capacity.min(4_096)),
            sip: Rows::new(capacity.min(4_096), RowOptions::default()),
            sip_bytes: 0,
        }
    }

    /// Rows in the growing batches.
    pub fn len(&self) -> usize {
        self.roundtrips.columns.rows() + self.flows.columns.rows() + self.sip.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of text in the growing batches.
    pub fn text_bytes(&self) -> usize {
        self.roundtrips.text_bytes + self.flows.text_bytes + self.sip_bytes
    }

    /// Makes the row.
    pub fn append(&mut self, row: &Row<'_>) {
        match row {
            Row::Roundtrip(..) => self.roundtrips.append(row),
            Row::Flow(..) => self.flows.append(row),
        }
    }

    /// Makes a row of `sip` of a message seen on the wire, as a capture agent would have mirrored it.
    pub fn append_sip(&mut self, flow: &Flow, dir: Dir, time: Nanos, message: &[u8]) {
        let (from, to) = (flow.tuple.sender(dir), flow.tuple.sender(dir.reverse()));
        let micros = u64::try_from(time.micros()).unwrap_or(0);
        let packet = Hep {
            ip_proto: Some(if flow.tuple.transport == Transport::Tcp { 6 } else { 17 }),
            src: Some(from.ip),
            dst: Some(to.ip),
            src_port: Some(from.port),
            dst_port: Some(to.port),
            time: Some(RawTime {
                sec: u32::try_from(micros / 1_000_000).unwrap_or(u32::MAX),
                usec: u32::try_from(micros % 1_000_000).unwrap_or(0),
            }),
            vlan: flow.vlan,
            node_name: Some(b"capture"),
            ..Hep::default()
        };
        let arrival = Arrival { received_ns: time.0, peer: from.ip, key_checked: false };
        self.sip.append(&packet, Payload::Plain(message), &arrival);
        self.sip_bytes += message.len();
    }

    /// Closes the growing batches and hands them to `out`.
    pub fn seal(&mut self, mut out: impl FnMut(Sealed)) {
        self.sip_bytes = 0;
        self.sip.seal(&mut out);
        for growing in [&mut self.roundtrips, &mut self.flows] {
            growing.addresses.clear();
            growing.text_bytes = 0;
            if let Some((rows, held_bytes)) = growing.columns.seal() {
                out(Sealed { table: growing.table, rows, held_bytes });
            }
        }
    }
}

impl Growing {
    fn new(table: &'static Table, capacity: usize) -> Self {
        Self {
            table,
            columns: Columns::new(table, capacity),
            addresses: AddressCache::default(),
            escaped: Escaped::default(),
            json: Vec::new(),
            text_bytes: 0,
        }
    }

    fn append(&mut self, row: &Row<'_>) {
        let Self { table, columns, addresses, escaped, json, text_bytes } = self;
        row.cells(&mut |column, cell| match cell {
            Cell::Time(time) => columns.long(column, time.micros()),
            Cell::Int(number) => match table.columns[column].kind {
                Kind::Int => columns.int(column, i32::try_from(number).unwrap_or(i32::MAX)),
                Kind::Text => columns.text(column, &number.to_string()),
                Kind::Long | Kind::Time | Kind::Bytes | Kind::Double => columns.long(column, number),
            },
            Cell::Ip(ip) => addresses.set(columns, column, ip),
            Cell::Str(text) => columns.text(column, text),
            Cell::Text(text) => {
                *text_bytes += text.len();
                escaped.set(columns, column, text);
            }
            Cell::Notices(_) | Cell::Attributes(_) => {
                json.clear();
                tap::json::cell_text(cell, json);
                *text_bytes += json.len();
                escaped.set(columns, column, json);
            }
        });
        columns.end_row();
    }
}
