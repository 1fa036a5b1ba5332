//! Link headers: Ethernet II and IEEE 802.3 with VLAN tags, Linux cooked captures, BSD loopback, PPPoE.

use crate::walk::{Layer, Step, Walk};
use crate::{Tunnel, TunnelKind, WireError};

/// IEEE 802.1Q customer tag.
const VLAN: u16 = 0x8100;
/// IEEE 802.1ad service tag.
const SERVICE_VLAN: u16 = 0x88a8;
/// QinQ before 802.1ad.
const OLD_QINQ: u16 = 0x9100;
pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const IPV6: u16 = 0x86dd;
/// Transparent Ethernet bridging: an Ethernet frame follows (GRE, Geneve).
pub(crate) const BRIDGED_ETHERNET: u16 = 0x6558;
pub(crate) const MPLS: u16 = 0x8847;
pub(crate) const MPLS_MULTICAST: u16 = 0x8848;
/// RFC 2516, session stage.
const PPPOE_SESSION: u16 = 0x8864;
/// Smaller numbers are the length of an IEEE 802.3 frame.
const SMALLEST_ETHER_TYPE: u16 = 0x0600;
/// `LINUX_SLL_P_802_2`: an 802.2 header follows.
const SLL_802_2: u16 = 0x0004;

impl<'a> Walk<'a> {
    pub(crate) fn ethernet(&mut self) -> Result<Step<'a>, WireError> {
        let [.., high, low] = self.span.take::<14>()?;
        // Most of all frames: saves two turns of the loop.
        if u16::from_be_bytes([*high, *low]) == IPV4 {
            return self.ipv4();
        }
        Ok(self.type_or_length(u16::from_be_bytes([*high, *low])))
    }

    /// <https://www.tcpdump.org/linktypes/LINKTYPE_LINUX_SLL.html>.
    pub(crate) fn linux_sll(&mut self) -> Result<Step<'a>, WireError> {
        let [.., high, low] = self.span.take::<16>()?;
        Ok(cooked(u16::from_be_bytes([*high, *low])))
    }

    /// <https://www.tcpdump.org/linktypes/LINKTYPE_LINUX_SLL2.html>.
    pub(crate) fn linux_sll2(&mut self) -> Result<Step<'a>, WireError> {
        let [high, low, ..] = self.span.take::<20>()?;
        Ok(cooked(u16::from_be_bytes([*high, *low])))
    }

    /// The address family numbers are those of the system that captured: 2 is IPv4 everywhere, IPv6 differs.
    pub(crate) fn loopback(&mut self, either_order: bool) -> Result<Step<'a>, WireError> {
        let bytes = *self.span.take::<4>()?;
        let (big, little) = (u32::from_be_bytes(bytes), u32::from_le_bytes(bytes));
        let family = if either_order { big.min(little) } else { big };
        match family {
            2 => Ok(Step::Next(Layer::Ipv4)),
            // Linux, Windows, NetBSD and OpenBSD, FreeBSD, Darwin.
            10 | 23 | 24 | 28 | 30 => Ok(Step::Next(Layer::Ipv6)),
            _ => Err(WireError::NotIp),
        }
    }

    /// What an EtherType announces, in Ethernet, in a tag, in a cooked header or in a tunnel.
    pub(crate) fn ether_type(&mut self, number: u16) -> Result<Step<'a>, WireError> {
        match number {
            IPV4 => Ok(Step::Next(Layer::Ipv4)),
            IPV6 => Ok(Step::Next(Layer::Ipv6)),
            VLAN | SERVICE_VLAN | OLD_QINQ => {
                let [tci_high, tci_low, high, low] = self.span.take::<4>()?;
                self.tagged(u16::from_be_bytes([*tci_high, *tci_low]));
                Ok(self.type_or_length(u16::from_be_bytes([*high, *low])))
            }
            MPLS | MPLS_MULTICAST => self.mpls(),
            PPPOE_SESSION => self.pppoe(),
            BRIDGED_ETHERNET => Ok(Step::Next(Layer::Ethernet)),
            _ => Err(WireError::NotIp),
        }
    }

    /// IEEE 802.2 with or without the SNAP header of RFC 1042.
    pub(crate) fn llc(&mut self) -> Result<Step<'a>, WireError> {
        match self.span.take::<3>()? {
            [0xaa, 0xaa, 0x03] => {
                let [a, b, c, high, low] = self.span.take::<5>()?;
                // EtherTypes follow under the OUI of RFC 1042 and under that of bridges (IEEE 802.1H).
                if !matches!([a, b, c], [0, 0, 0 | 0xf8]) {
                    return Err(WireError::NotIp);
                }
                Ok(Step::Next(Layer::EtherType(u16::from_be_bytes([*high, *low]))))
            }
            [0x06, 0x06, 0x03] => Ok(Step::Next(Layer::Ipv4)),
            _ => Err(WireError::NotIp),
        }
    }

    /// RFC 2516 §4 and RFC 1661 §2. The length is not looked at: that of the IP packet inside decides.
    fn pppoe(&mut self) -> Result<Step<'a>, WireError> {
        let [0x11, 0, session_high, session_low, _, _] = self.span.take::<6>()? else {
            return Err(WireError::NotIp);
        };
        let id = u32::from(u16::from_be_bytes([*session_high, *session_low]));
        self.tunnel = Some(Tunnel { kind: TunnelKind::Pppoe, id });
        // An odd first byte is a protocol number that was compressed to one byte (RFC 1661 §6.5).
        let protocol = match self.span.take::<1>()? {
            [low] if low % 2 == 1 => u16::from(*low),
            [high] => {
                let [low] = self.span.take::<1>()?;
                u16::from_be_bytes([*high, *low])
            }
        };
        match protocol {
            0x0021 => Ok(Step::Next(Layer::Ipv4)),
            0x0057 => Ok(Step::Next(Layer::Ipv6)),
            0x0281 => self.mpls(),
            _ => Err(WireError::NotIp),
        }
    }

    fn type_or_length(&mut self, number: u16) -> Step<'a> {
        if number >= SMALLEST_ETHER_TYPE {
            return Step::Next(Layer::EtherType(number));
        }
        if u32::from(number) < self.span.wire() {
            self.span.limit(u32::from(number));
        }
        Step::Next(Layer::Llc)
    }
}

const fn cooked<'a>(protocol: u16) -> Step<'a> {
    Step::Next(if protocol == SLL_802_2 { Layer::Llc } else { Layer::EtherType(protocol) })
}
