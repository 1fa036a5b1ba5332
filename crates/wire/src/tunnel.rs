//! Tunnels: GRE, ERSPAN, VXLAN, Geneve, IP in IP.

use crate::link::BRIDGED_ETHERNET;
use crate::walk::{Layer, Step, Walk};
use crate::{Tunnel, TunnelKind, WireError};

/// IANA's port of VXLAN (RFC 7348 §5).
const VXLAN: u16 = 4789;
/// Linux' own port of VXLAN, from before there was one; flannel and Cilium use it.
const VXLAN_LINUX: u16 = 8472;
/// VXLAN with a protocol field (draft-ietf-nvo3-vxlan-gpe).
const VXLAN_GPE: u16 = 4790;
/// RFC 8926 §3.3.
const GENEVE: u16 = 6081;

/// ERSPAN types I and II in GRE.
const ERSPAN: u16 = 0x88be;
/// ERSPAN type III in GRE.
const ERSPAN_III: u16 = 0x22eb;

/// Bits of the first byte of a GRE header (RFC 2784, RFC 2890, RFC 1701).
mod gre {
    pub const CHECKSUM: u8 = 0x80;
    pub const ROUTING: u8 = 0x40;
    pub const KEY: u8 = 0x20;
    pub const SEQUENCE: u8 = 0x10;
    /// The version, in the second byte.
    pub const VERSION: u8 = 0x07;
}

impl<'a> Walk<'a> {
    /// RFC 2003, RFC 4213.
    pub(crate) const fn ip_in_ip(&mut self, inner: Layer) -> Step<'a> {
        self.tunnel = Some(Tunnel { kind: TunnelKind::IpInIp, id: 0 });
        Step::Next(inner)
    }

    pub(crate) fn gre(&mut self) -> Result<Step<'a>, WireError> {
        let [flags, version, type_high, type_low] = self.span.take::<4>()?;
        match version & gre::VERSION {
            0 => {}
            1 => return Err(WireError::GrePptp),
            _ => return Err(WireError::GreVersion),
        }
        if flags & (gre::CHECKSUM | gre::ROUTING) != 0 {
            self.span.take::<4>()?;
        }
        let id = if flags & gre::KEY != 0 { u32::from_be_bytes(*self.span.take::<4>()?) } else { 0 };
        if flags & gre::SEQUENCE != 0 {
            self.span.take::<4>()?;
        }
        if flags & gre::ROUTING != 0 {
            self.source_routes()?;
        }
        self.tunnel = Some(Tunnel { kind: TunnelKind::Gre, id });
        match u16::from_be_bytes([*type_high, *type_low]) {
            // Type I has no header of its own and no sequence number, type II has both.
            ERSPAN if flags & gre::SEQUENCE == 0 => self.erspan(0, 0, 0),
            ERSPAN => {
                let [version, vlan, session, id, ..] = self.span.take::<8>()?;
                if version >> 4 != 1 {
                    return Err(WireError::ErspanType);
                }
                self.erspan(u16::from_be_bytes([*version, *vlan]), *session, *id)
            }
            ERSPAN_III => {
                let [version, vlan, session, id, _, _, _, _, _, _, frame, optional] =
                    self.span.take::<12>()?;
                // Only Ethernet frames are read: frame type 0, the five bits behind the first.
                if version >> 4 != 2 || (frame >> 2) & 0x1f != 0 {
                    return Err(WireError::ErspanType);
                }
                if optional & 1 == 1 {
                    self.span.take::<8>()?;
                }
                self.erspan(u16::from_be_bytes([*version, *vlan]), *session, *id)
            }
            other => Ok(Step::Next(Layer::EtherType(other))),
        }
    }

    /// The VLAN of the mirrored frame and the session of the mirror (draft-foschiano-erspan-03 §4).
    fn erspan(&mut self, vlan: u16, session: u8, id: u8) -> Result<Step<'a>, WireError> {
        self.tagged(vlan);
        let id = u32::from(u16::from_be_bytes([session & 0x03, id]));
        self.tunnel = Some(Tunnel { kind: TunnelKind::Erspan, id });
        Ok(Step::Next(Layer::Ethernet))
    }

    /// RFC 1701: entries of family, offset, length and address, up to an empty one. Each entry takes
    /// bytes, so the frame bounds the loop.
    fn source_routes(&mut self) -> Result<(), WireError> {
        loop {
            let [family_high, family_low, _, len] = self.span.take::<4>()?;
            if [*family_high, *family_low, *len] == [0, 0, 0] {
                return Ok(());
            }
            self.span.skip(usize::from(*len))?;
        }
    }

    /// What follows the UDP header when the destination port is that of a tunnel and the bytes look like
    /// its header; otherwise the datagram is a datagram.
    pub(crate) fn udp_tunnel(&mut self, port: u16) -> Result<Option<Layer>, WireError> {
        let (kind, layer) = match (port, self.span.peek::<8>()) {
            (VXLAN, Some([flags, ..])) if flags & 0x08 != 0 => (TunnelKind::Vxlan, Layer::Ethernet),
            // Other protocols use this port too: the reserved bits must be what they should be.
            (VXLAN_LINUX, Some([0x08, 0, 0, 0, _, _, _, 0])) => (TunnelKind::Vxlan, Layer::Ethernet),
            (VXLAN_GPE, Some([flags, _, _, next, ..])) if flags & 0x08 != 0 => match (flags & 0x04, next) {
                (0, _) | (_, 3) => (TunnelKind::Vxlan, Layer::Ethernet),
                (_, 1) => (TunnelKind::Vxlan, Layer::Ipv4),
                (_, 2) => (TunnelKind::Vxlan, Layer::Ipv6),
                _ => return Ok(None),
            },
            // Version 0 and clear reserved bits.
            (GENEVE, Some([version, flags, high, low, ..])) if version >> 6 == 0 && flags & 0x3f == 0 => {
                match u16::from_be_bytes([*high, *low]) {
                    BRIDGED_ETHERNET => (TunnelKind::Geneve, Layer::Ethernet),
                    number => (TunnelKind::Geneve, Layer::EtherType(number)),
                }
            }
            _ => return Ok(None),
        };
        let [first, _, _, _, a, b, c, _] = self.span.take::<8>()?;
        if kind == TunnelKind::Geneve {
            self.span.skip(usize::from(first & 0x3f).saturating_mul(4))?;
        }
        self.tunnel = Some(Tunnel { kind, id: u32::from_be_bytes([0, *a, *b, *c]) });
        Ok(Some(layer))
    }
}
