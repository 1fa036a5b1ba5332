//! The interfaces of this machine.
//!
//! * In: nothing. Out: one [`Interface`] each, by number. Owned: nothing.
//! * Bounded by: how many there are. Lost: interfaces of other network namespaces, which are not seen.

use std::io;
use std::net::IpAddr;
use std::net::UdpSocket;
use std::os::fd::AsFd;

use model::LinkType;

use crate::sys::ifaces::{What, entries, mtu};

/// One interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Its number, from 1.
    pub index: u32,
    /// Its name, at most 15 bytes.
    pub name: String,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
    /// Whether it is switched on.
    pub up: bool,
    /// Whether it is loopback.
    pub loopback: bool,
    /// Its largest packet in bytes; 0 when the kernel does not tell.
    pub mtu: u32,
    /// What a live capture calls its frames. `None` when only its IP packets can be read, from their IP
    /// header on, as on Infiniband; what is no IP (802.11 monitor mode, CAN) is counted as unsupported.
    pub link: Option<LinkType>,
}

impl Interface {
    /// Whether frames can be captured now, given the capability: it is switched on and its link is known.
    pub fn can_be_captured(&self) -> bool {
        self.up && self.link.is_some()
    }
}

/// Lists the interfaces of this network namespace. Needs no privileges.
///
/// # Errors
/// When the kernel does not answer (no netlink, out of descriptors).
pub fn list() -> io::Result<Vec<Interface>> {
    let socket = UdpSocket::bind(("127.0.0.1", 0)).or_else(|_| UdpSocket::bind(("::", 0)));
    let entries = entries()?;
    let mut list: Vec<Interface> = entries
        .iter()
        .filter_map(|entry| match entry.what {
            What::Link { index, hatype } => Some(Interface {
                index,
                name: entry.name.clone(),
                addresses: Vec::new(),
                up: entry.flags & libc::IFF_UP as u32 != 0,
                loopback: entry.flags & libc::IFF_LOOPBACK as u32 != 0,
                mtu: socket.as_ref().map_or(0, |s| mtu(s.as_fd(), &entry.name).unwrap_or(0)),
                link: link(hatype),
            }),
            _ => None,
        })
        .collect();
    for entry in &entries {
        // An address may stand under a label of its interface: `eth0:1`.
        let name = entry.name.split(':').next().unwrap_or(&entry.name);
        if let (What::Address(address), Some(interface)) =
            (entry.what, list.iter_mut().find(|interface| interface.name == name))
        {
            interface.addresses.push(address);
        }
    }
    list.sort_by_key(|interface| interface.index);
    Ok(list)
}

/// The link type of a kernel's hardware type (`linux/if_arp.h`).
fn link(hatype: u16) -> Option<LinkType> {
    /// IP of a modem, without a header (Linux 4.12).
    const ARPHRD_RAWIP: u16 = 519;
    match hatype {
        libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK => Some(LinkType::Ethernet),
        libc::ARPHRD_NONE
        | ARPHRD_RAWIP
        | libc::ARPHRD_PPP
        | libc::ARPHRD_TUNNEL
        | libc::ARPHRD_TUNNEL6
        | libc::ARPHRD_SIT
        | libc::ARPHRD_IPGRE => Some(LinkType::Raw),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_there_with_its_address() {
        let list = list().unwrap();
        let lo = list.iter().find(|interface| interface.name == "lo").unwrap();
        assert!(lo.loopback && lo.index > 0 && lo.mtu >= 1_280);
        assert_eq!(lo.link, Some(LinkType::Ethernet));
        assert_eq!(lo.can_be_captured(), lo.up);
        assert!(!lo.up || lo.addresses.iter().any(IpAddr::is_loopback));
        assert!(list.is_sorted_by_key(|interface| interface.index));
    }

    #[test]
    fn header_less_links_are_raw_and_others_unknown() {
        assert_eq!(link(libc::ARPHRD_NONE), Some(LinkType::Raw));
        assert_eq!(link(libc::ARPHRD_IEEE80211_RADIOTAP), None);
    }
}
