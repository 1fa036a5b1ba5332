//! One media description and the lines that shape it.

use core::net::IpAddr;

use model::Endpoint;

use crate::{
    number::{decimal, port},
    text::Text,
};

/// One `m=` line with what the lines below it, or the session above it, say about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Media<'a> {
    /// Media type, e.g. `audio`.
    pub kind: &'a [u8],
    /// Transport port of RTP; 0 refuses the media (RFC 3264 §6).
    pub port: u16,
    /// How many ports with a stride of two are used (`49170/2`); 1 when not given.
    pub ports: u16,
    /// Transport protocol, e.g. `RTP/AVP`.
    pub transport: &'a [u8],
    /// First format, for RTP a payload type number.
    pub format: Option<&'a [u8]>,
    /// Encoding name of the first format: from its `a=rtpmap`, else from the static assignments of
    /// RFC 3551 §6.
    pub codec: Option<&'a [u8]>,
    /// Clock rate of that encoding in Hz, from `a=rtpmap`.
    pub clock_hz: Option<u32>,
    /// Connection address as written, without TTL and count; of the media, else of the session.
    /// A host name is allowed.
    pub address: Option<&'a [u8]>,
    /// Port of `a=rtcp` (RFC 3605).
    pub rtcp_port: Option<u16>,
    /// Address of `a=rtcp`.
    pub rtcp_address: Option<&'a [u8]>,
    /// `a=rtcp-mux` (RFC 5761): RTCP comes to the RTP port.
    pub rtcp_mux: bool,
}

impl<'a> Media<'a> {
    /// The connection address, when it is one and not a name.
    pub fn ip(&self) -> Option<IpAddr> {
        ip(self.address?)
    }

    /// Where RTCP is expected: the port of `a=rtcp`, the RTP port with `a=rtcp-mux`, else the next
    /// higher one. `None` when the media is refused or there is no such port.
    pub fn rtcp(&self) -> Option<u16> {
        match self.port {
            0 => None,
            port if self.rtcp_mux => Some(port),
            port => self.rtcp_port.or_else(|| port.checked_add(1)),
        }
    }

    /// Where RTP and RTCP will be received; nowhere when the media is refused, is no RTP, or has a name or the
    /// unspecified address for an address.
    pub fn endpoints(&self) -> [Option<Endpoint>; 2] {
        let is_rtp = self.transport.windows(4).any(|part| part.eq_ignore_ascii_case(b"RTP/"));
        let Some(ip) = self.ip().filter(|ip| is_rtp && self.port != 0 && !ip.is_unspecified()) else {
            return [None; 2];
        };
        let rtcp = self.rtcp().filter(|port| *port != self.port);
        let rtcp_ip = self.rtcp_address.and_then(self::ip).unwrap_or(ip);
        [Some(Endpoint::new(ip, self.port)), rtcp.map(|port| Endpoint::new(rtcp_ip, port))]
    }

    /// Reads the value of an `m=` line; `None` without a usable port and transport.
    pub(super) fn parse(value: Text<'a>) -> Option<Self> {
        let (kind, rest) = value.split_once(b' ')?;
        let (ports, rest) = rest.trim().split_once(b' ')?;
        let (number, count) = ports.split_before([b'/']);
        let (transport, formats) = rest.trim().split_before([b' ']);
        let (format, _) = formats.trim().split_before([b' ']);
        Some(Self {
            kind: kind.get(),
            port: port(number)?,
            ports: port(count.skip(1)).unwrap_or(1),
            transport: transport.get(),
            format: format.some(),
            codec: static_codec(format.get()),
            ..Self::default()
        })
    }

    /// Takes in the value of an `a=` line of this media.
    pub(super) fn attribute(&mut self, value: Text<'a>) {
        let (name, value) = value.split_before([b':']);
        let value = value.skip(1).trim();
        match name.get() {
            b"rtcp-mux" => self.rtcp_mux = true,
            b"rtcp" => {
                let (number, rest) = value.split_before([b' ']);
                self.rtcp_port = port(number);
                self.rtcp_address = connection(rest.trim());
            }
            b"rtpmap" => self.rtpmap(value),
            _ => {}
        }
    }

    /// `0 PCMU/8000/1`; only that of the first format counts.
    fn rtpmap(&mut self, value: Text<'a>) {
        let Some((format, encoding)) = value.split_once(b' ') else { return };
        if format.some() != self.format {
            return;
        }
        let (name, rest) = encoding.trim().split_before([b'/']);
        let (clock, _) = rest.skip(1).split_before([b'/']);
        self.codec = name.some().or(self.codec);
        self.clock_hz = decimal(clock);
    }
}

/// Reads the value of a `c=` line: `IN IP4 224.2.1.1/127/3` gives the address.
pub(super) fn connection(value: Text<'_>) -> Option<&[u8]> {
    let (net, rest) = value.split_once(b' ')?;
    let (_family, address) = rest.trim().split_once(b' ')?;
    if !net.eq_ignore_case(b"IN") {
        return None;
    }
    address.trim().split_before([b'/', b' ']).0.some()
}

fn ip(text: &[u8]) -> Option<IpAddr> {
    core::str::from_utf8(text).ok()?.parse().ok()
}

/// Encoding names of static payload types, RFC 3551 §6 tables 4 and 5.
fn static_codec(format: &[u8]) -> Option<&'static [u8]> {
    Some(match format {
        b"0" => b"PCMU",
        b"3" => b"GSM",
        b"4" => b"G723",
        b"5" | b"6" | b"16" | b"17" => b"DVI4",
        b"7" => b"LPC",
        b"8" => b"PCMA",
        b"9" => b"G722",
        b"10" | b"11" => b"L16",
        b"12" => b"QCELP",
        b"13" => b"CN",
        b"14" => b"MPA",
        b"15" => b"G728",
        b"18" => b"G729",
        b"25" => b"CelB",
        b"26" => b"JPEG",
        b"28" => b"nv",
        b"31" => b"H261",
        b"32" => b"MPV",
        b"33" => b"MP2T",
        b"34" => b"H263",
        _ => return None,
    })
}
