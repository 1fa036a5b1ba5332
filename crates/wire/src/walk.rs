//! From header to header: one loop, no recursion, with a bound on its steps.

use std::net::{IpAddr, Ipv4Addr};

use model::LinkType;

use crate::{Body, Packet, Tunnel, WireError, span::Span};

/// The largest number of headers that are followed in one frame: tags, labels, extension headers, tunnels
/// and what they carry. A frame of a provider's network has about ten.
pub const MAX_LAYERS: usize = 32;

/// What comes next in the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layer {
    Ethernet,
    LinuxSll,
    LinuxSll2,
    /// BSD loopback; whether its family may be in either byte order.
    Loopback {
        either_order: bool,
    },
    /// What an EtherType announces.
    EtherType(u16),
    /// An IEEE 802.2 header.
    Llc,
    /// IP of either version.
    Ip,
    Ipv4,
    Ipv6,
    /// What an IP protocol number announces.
    Protocol(u8),
}

impl Layer {
    pub const fn of(link: LinkType) -> Self {
        match link {
            LinkType::Null => Self::Loopback { either_order: true },
            LinkType::Loop => Self::Loopback { either_order: false },
            LinkType::Ethernet => Self::Ethernet,
            LinkType::LinuxSll => Self::LinuxSll,
            LinkType::LinuxSll2 => Self::LinuxSll2,
            LinkType::Raw => Self::Ip,
            LinkType::Ipv4 => Self::Ipv4,
            LinkType::Ipv6 => Self::Ipv6,
        }
    }
}

/// What reading one header gave.
pub(crate) enum Step<'a> {
    Next(Layer),
    Done(Body<'a>),
}

/// Where the reading of a frame is, and what it has learned.
pub(crate) struct Walk<'a> {
    pub span: Span<'a>,
    pub src: IpAddr,
    pub dst: IpAddr,
    pub ttl: u8,
    pub vlan: Option<u16>,
    pub tunnel: Option<Tunnel>,
    /// The IPv6 header had a payload length of 0: a jumbo option may say what it is.
    pub unsized_payload: bool,
}

impl<'a> Walk<'a> {
    pub const fn new(span: Span<'a>, vlan: Option<u16>) -> Self {
        let nobody = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        Self { span, src: nobody, dst: nobody, ttl: 0, vlan, tunnel: None, unsized_payload: false }
    }

    /// An IP header was read.
    pub const fn enter(&mut self, src: IpAddr, dst: IpAddr, ttl: u8) {
        self.src = src;
        self.dst = dst;
        self.ttl = ttl;
    }

    /// A VLAN tag was read: the outermost id stays. Id 0 is a priority without a VLAN (IEEE 802.1Q §9.6).
    pub const fn tagged(&mut self, tci: u16) {
        let id = tci & 0x0fff;
        if id != 0 && self.vlan.is_none() {
            self.vlan = Some(id);
        }
    }

    pub fn run(mut self, first: Layer) -> Result<Packet<'a>, WireError> {
        let mut layer = first;
        for _ in 0..MAX_LAYERS {
            layer = match self.step(layer)? {
                Step::Next(layer) => layer,
                Step::Done(body) => {
                    let Self { src, dst, ttl, vlan, tunnel, .. } = self;
                    return Ok(Packet { src, dst, vlan, tunnel, ttl, body });
                }
            };
        }
        Err(WireError::TooDeep)
    }

    fn step(&mut self, layer: Layer) -> Result<Step<'a>, WireError> {
        match layer {
            Layer::Ethernet => self.ethernet(),
            Layer::LinuxSll => self.linux_sll(),
            Layer::LinuxSll2 => self.linux_sll2(),
            Layer::Loopback { either_order } => self.loopback(either_order),
            Layer::EtherType(number) => self.ether_type(number),
            Layer::Llc => self.llc(),
            Layer::Ip => self.ip(),
            Layer::Ipv4 => self.ipv4(),
            Layer::Ipv6 => self.ipv6(),
            Layer::Protocol(number) => self.protocol(number),
        }
    }
}
