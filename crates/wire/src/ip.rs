//! IPv4 (RFC 791), IPv6 with its extension headers (RFC 8200) and fragments of both.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::walk::{Layer, Step, Walk};
use crate::{Body, Fragment, WireError};

const HOP_BY_HOP: u8 = 0;
const IP_IN_IP: u8 = 4;
const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV6_IN_IP: u8 = 41;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const GRE: u8 = 47;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
const MOBILITY: u8 = 135;
const MPLS_IN_IP: u8 = 137;
const HOST_IDENTITY: u8 = 139;
const SHIM6: u8 = 140;

/// The jumbo payload option (RFC 2675 §2).
const JUMBO: u8 = 0xc2;
/// The largest payload of a datagram that was fragmented.
const MAX_DATAGRAM: u32 = 65_535;

impl<'a> Walk<'a> {
    /// Either version, told apart by the first four bits.
    pub(crate) fn ip(&mut self) -> Result<Step<'a>, WireError> {
        match self.span.peek::<1>() {
            Some([first]) if first >> 4 == 4 => self.ipv4(),
            Some([first]) if first >> 4 == 6 => self.ipv6(),
            Some(_) => Err(WireError::BadIpVersion),
            None => self.span.take::<1>().and(Err(WireError::NotIp)),
        }
    }

    pub(crate) fn ipv4(&mut self) -> Result<Step<'a>, WireError> {
        let [
            first,
            _,
            len_high,
            len_low,
            id_high,
            id_low,
            place_high,
            place_low,
            ttl,
            protocol,
            _,
            _,
            addresses @ ..,
        ] = self.span.take::<20>()?;
        if first >> 4 != 4 {
            return Err(WireError::BadIpVersion);
        }
        let header = u32::from(first & 0x0f).saturating_mul(4);
        let total = u32::from(u16::from_be_bytes([*len_high, *len_low]));
        if header < 20 || (total != 0 && total < header) {
            return Err(WireError::BadIpLength);
        }
        if total != 0 {
            self.span.limit(total.saturating_sub(20));
        }
        if header > 20 {
            self.span.skip(usize::from(first & 0x0f).saturating_mul(4).saturating_sub(20))?;
        }
        let [a, b, c, d, e, f, g, h] = *addresses;
        self.enter(IpAddr::V4(Ipv4Addr::new(a, b, c, d)), IpAddr::V4(Ipv4Addr::new(e, f, g, h)), *ttl);
        self.unsized_payload = false;
        let place = u16::from_be_bytes([*place_high, *place_low]);
        let (more, offset) = (place & 0x2000 != 0, u32::from(place & 0x1fff).saturating_mul(8));
        if more || offset != 0 {
            let id = u32::from(u16::from_be_bytes([*id_high, *id_low]));
            return self.fragment(id, offset, more, *protocol);
        }
        // Most of all packets: saves a turn of the loop.
        if *protocol == TCP {
            return self.tcp();
        }
        Ok(Step::Next(Layer::Protocol(*protocol)))
    }

    pub(crate) fn ipv6(&mut self) -> Result<Step<'a>, WireError> {
        let [first, _, _, _, len_high, len_low, next, hops, addresses @ ..] = self.span.take::<40>()?;
        if first >> 4 != 6 {
            return Err(WireError::BadIpVersion);
        }
        let payload = u32::from(u16::from_be_bytes([*len_high, *len_low]));
        self.unsized_payload = payload == 0;
        if payload != 0 {
            self.span.limit(payload);
        }
        let (src, dst) = addresses.split_first_chunk::<16>().ok_or(WireError::Truncated)?;
        let dst = dst.first_chunk::<16>().ok_or(WireError::Truncated)?;
        self.enter(IpAddr::V6(Ipv6Addr::from(*src)), IpAddr::V6(Ipv6Addr::from(*dst)), *hops);
        Ok(Step::Next(Layer::Protocol(*next)))
    }

    /// What follows an IP header or an extension header.
    pub(crate) fn protocol(&mut self, number: u8) -> Result<Step<'a>, WireError> {
        match number {
            TCP => self.tcp(),
            UDP => self.udp(),
            IP_IN_IP => Ok(self.ip_in_ip(Layer::Ipv4)),
            IPV6_IN_IP => Ok(self.ip_in_ip(Layer::Ipv6)),
            GRE => self.gre(),
            MPLS_IN_IP => self.mpls(),
            AUTHENTICATION => {
                // RFC 4302 §2.2: the length counts 32-bit words, less two.
                let [next, len] = self.span.take::<2>()?;
                self.span.skip(usize::from(*len).saturating_mul(4).saturating_add(6))?;
                Ok(Step::Next(Layer::Protocol(*next)))
            }
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS | MOBILITY | HOST_IDENTITY | SHIM6
                if self.dst.is_ipv6() =>
            {
                self.extension(number)
            }
            FRAGMENT if self.dst.is_ipv6() => {
                let [next, _, place_high, place_low, id @ ..] = self.span.take::<8>()?;
                let place = u16::from_be_bytes([*place_high, *place_low]);
                let (offset, more) = (u32::from(place & 0xfff8), place & 1 == 1);
                if offset == 0 && !more {
                    // An atomic fragment is a whole packet (RFC 6946).
                    return Ok(Step::Next(Layer::Protocol(*next)));
                }
                self.fragment(u32::from_be_bytes(*id), offset, more, *next)
            }
            _ => Ok(Step::Done(Body::Other(number, self.span.bytes()))),
        }
    }

    /// An extension header of the common form (RFC 8200 §4, RFC 6564).
    fn extension(&mut self, number: u8) -> Result<Step<'a>, WireError> {
        let whole = self.span;
        let [next, len] = self.span.take::<2>()?;
        let size = usize::from(*len).saturating_mul(8).saturating_add(6);
        let content = self.span.skip(size)?;
        if number == ROUTING {
            self.route(content);
        }
        if number == HOP_BY_HOP
            && self.unsized_payload
            && let Some(payload) = jumbo(content).filter(|payload| *payload > MAX_DATAGRAM)
        {
            // It counts from behind the fixed header.
            self.span = whole;
            self.span.limit(payload);
            self.span.skip(size.saturating_add(2))?;
        }
        Ok(Step::Next(Layer::Protocol(*next)))
    }

    /// Replaces the next stop by the final destination, which is the one that the peers talk of and that
    /// transport checksums cover (RFC 8200 §8.1). `content` starts at the routing type.
    fn route(&mut self, content: &[u8]) {
        let [kind, left, _, _, _, _, addresses @ ..] = content else { return };
        let last = match (kind, left) {
            (_, 0) => None,
            // RFC 5095 (deprecated) and RFC 6275 list the stops in their order.
            (0 | 2, _) => addresses.last_chunk::<16>(),
            // Segment routing lists them from the last (RFC 8754 §2).
            (4, _) => addresses.first_chunk::<16>(),
            _ => None,
        };
        if let Some(last) = last {
            self.dst = IpAddr::V6(Ipv6Addr::from(*last));
        }
    }

    fn fragment(&mut self, id: u32, offset: u32, more: bool, protocol: u8) -> Result<Step<'a>, WireError> {
        let payload_len = self.span.wire();
        if payload_len == 0 || offset.saturating_add(payload_len) > MAX_DATAGRAM {
            return Err(WireError::BadFragment);
        }
        let payload = self.span.bytes();
        Ok(Step::Done(Body::Fragment(Fragment { id, offset, more, protocol, payload, payload_len })))
    }
}

/// The value of the jumbo payload option among the options of a hop-by-hop header.
fn jumbo(mut options: &[u8]) -> Option<u32> {
    loop {
        options = match options {
            [JUMBO, 4, a, b, c, d, ..] => return Some(u32::from_be_bytes([*a, *b, *c, *d])),
            // One byte of padding.
            [0, rest @ ..] => rest,
            [_, len, rest @ ..] => rest.get(usize::from(*len)..)?,
            _ => return None,
        };
    }
}
