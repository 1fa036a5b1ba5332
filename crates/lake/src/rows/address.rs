//! IP addresses as text, written once per batch.

use std::fmt::Write;
use std::net::IpAddr;

use mem::views::View;

use crate::columns::Columns;

/// Addresses remembered; a power of two. Senders are few, and a miss only costs writing it again.
const SLOTS: usize = 256;

/// The text of the addresses seen last in the growing batch.
#[derive(Debug)]
pub struct AddressCache {
    slots: Vec<Option<(IpAddr, View)>>,
    text: String,
}

impl Default for AddressCache {
    fn default() -> Self {
        Self { slots: vec![None; SLOTS], text: String::new() }
    }
}

impl AddressCache {
    /// Sets a text column of the current row to the address in the form of RFC 5952; an IPv4 address
    /// mapped into IPv6 is written as IPv4.
    #[inline]
    pub fn set(&mut self, columns: &mut Columns, column: usize, address: IpAddr) {
        let slot = slot_of(&address);
        let known = self.slots.get(slot).copied().flatten();
        let view = match known {
            Some((known, view)) if known == address => view,
            _ => self.place(columns, slot, address),
        };
        columns.view(column, view);
    }

    #[cold]
    fn place(&mut self, columns: &mut Columns, slot: usize, address: IpAddr) -> View {
        self.text.clear();
        let _ = write!(self.text, "{}", address.to_canonical());
        let view = columns.place(&self.text);
        if let Some(place) = self.slots.get_mut(slot) {
            *place = Some((address, view));
        }
        view
    }

    /// Forgets everything: views belong to one batch.
    pub fn clear(&mut self) {
        self.slots.fill(None);
    }
}

fn slot_of(address: &IpAddr) -> usize {
    let bits = match address {
        IpAddr::V4(v4) => u64::from(v4.to_bits()),
        IpAddr::V6(v6) => {
            let bits = v6.to_bits();
            (bits as u64) ^ ((bits >> 64) as u64)
        }
    };
    (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % SLOTS
}
