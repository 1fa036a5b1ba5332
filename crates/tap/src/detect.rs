//! Which protocol a flow speaks.
//!
//! `decode_as` rules are obeyed without a look at the bytes. Otherwise the first bytes of the flow are shown
//! to the probes; a port rule, what was seen before at the same server endpoint, and the usual ports decide
//! who is asked first and whose "likely" is believed. The verdict is per flow, so that several protocols may
//! share a port.

use decode::{Input, Protocol, Verdict};
use model::{Endpoint, FiveTuple, Nanos};
use std::collections::HashMap;
use std::net::IpAddr;
use std::str::FromStr;

/// Bytes of one lane that are kept until the protocol is known.
pub const PROBE_BYTES: usize = 2_048;

/// Segments or datagrams of a flow that are looked at before it counts as unknown.
pub const PROBE_PIECES: u8 = 16;

/// Server endpoints that are remembered.
const MEMORY: usize = 4_096;

/// How long an endpoint is remembered after its last flow, nanoseconds of packet time.
const MEMORY_NS: i64 = 600_000_000_000;

/// Says which protocol is spoken at ports, and maybe only of one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The protocol.
    pub protocol: Protocol,
    /// Its ports; none means any.
    pub ports: Vec<u16>,
    /// Its host; `None` means any.
    pub host: Option<IpAddr>,
    /// Obeyed without probing.
    pub forced: bool,
}

impl Rule {
    fn matches(&self, server: Endpoint) -> bool {
        (self.ports.is_empty() || self.ports.contains(&server.port))
            && self.host.is_none_or(|host| host == server.ip)
    }
}

/// Why a rule could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// No such protocol.
    #[error("`{0}` is no protocol; there are {all}", all = names())]
    Protocol(String),
    /// Not a port.
    #[error(
        "`{0}` is no port: ports are numbers from 1 to 65535, separated by commas, as in redis=6379,6380"
    )]
    Port(String),
    /// Not an address.
    #[error("`{0}` is no address: a rule names its host as in redis=6379@192.0.2.1")]
    Host(String),
}

fn names() -> String {
    let names: Vec<_> = Protocol::ALL.iter().map(|protocol| protocol.as_str()).collect();
    names.join(", ")
}

impl FromStr for Rule {
    type Err = RuleError;

    /// Reads `PROTOCOL[=PORT,PORT...][@HOST]`, as in `redis=6379,6380`, `http`, `mysql=3306@192.0.2.1`.
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let (rest, host) = match text.split_once('@') {
            Some((rest, host)) => {
                let bare = host.trim_matches(['[', ']']);
                (rest, Some(bare.parse().map_err(|_| RuleError::Host(host.to_owned()))?))
            }
            None => (text, None),
        };
        let (name, ports) = rest.split_once('=').unwrap_or((rest, ""));
        let protocol = match name.trim() {
            // gRPC is HTTP/2 on the wire.
            "grpc" => Protocol::Http2,
            name => Protocol::by_name(name).ok_or_else(|| RuleError::Protocol(name.to_owned()))?,
        };
        let ports = ports
            .split(',')
            .map(str::trim)
            .filter(|port| !port.is_empty())
            .map(|port| match port.parse() {
                Ok(number) if number > 0 => Ok(number),
                _ => Err(RuleError::Port(port.to_owned())),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { protocol, ports, host, forced: false })
    }
}

/// What to decode.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// In order; the first that matches counts.
    pub list: Vec<Rule>,
    /// Only flows that a rule names are decoded.
    pub only: bool,
}

/// What is known of a server endpoint before the first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// A `decode_as` rule.
    Forced(Protocol),
    /// A port rule, or an earlier flow to the same endpoint.
    Believed(Protocol),
    /// The usual port.
    Usual(Protocol),
    /// Nothing.
    None,
    /// Rules are given and none matches.
    Excluded,
}

impl Hint {
    /// The protocol hinted at.
    pub const fn protocol(self) -> Option<Protocol> {
        match self {
            Self::Forced(protocol) | Self::Believed(protocol) | Self::Usual(protocol) => Some(protocol),
            Self::None | Self::Excluded => None,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Remembered {
    protocol: Protocol,
    last: Nanos,
}

/// Rules and memory of one shard.
#[derive(Debug)]
pub struct Detector {
    rules: Rules,
    memory: HashMap<Endpoint, Remembered>,
}

impl Detector {
    /// A detector that remembers nothing.
    pub fn new(rules: Rules) -> Self {
        Self { rules, memory: HashMap::new() }
    }

    /// What is known of a flow's server.
    pub fn hint(&self, tuple: &FiveTuple, now: Nanos) -> Hint {
        let speaks = |protocol: Protocol| protocol.meta().transports.contains(&tuple.transport);
        let rule = |server| self.rules.list.iter().find(|rule| speaks(rule.protocol) && rule.matches(server));
        // A flow joined in its middle may be seen the wrong way round.
        if let Some(rule) = rule(tuple.server).or_else(|| rule(tuple.client)) {
            return if rule.forced { Hint::Forced(rule.protocol) } else { Hint::Believed(rule.protocol) };
        }
        if self.rules.only {
            return Hint::Excluded;
        }
        if let Some(seen) = self.memory.get(&tuple.server)
            && now.0.saturating_sub(seen.last.0) < MEMORY_NS
            && speaks(seen.protocol)
        {
            return Hint::Believed(seen.protocol);
        }
        let usual =
            |port| Protocol::ALL.iter().copied().find(|p| speaks(*p) && p.meta().ports.contains(&port));
        match usual(tuple.server.port).or_else(|| usual(tuple.client.port)) {
            Some(protocol) => Hint::Usual(protocol),
            None => Hint::None,
        }
    }

    /// Remembers what a server speaks.
    pub fn remember(&mut self, server: Endpoint, protocol: Protocol, now: Nanos) {
        if self.memory.len() >= MEMORY && !self.memory.contains_key(&server) {
            self.memory.retain(|_, seen| now.0.saturating_sub(seen.last.0) < MEMORY_NS);
            if self.memory.len() >= MEMORY {
                return;
            }
        }
        self.memory.insert(server, Remembered { protocol, last: now });
    }
}

/// The protocols that a flow may still speak, a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidates(u32);

const _: () = assert!(Protocol::ALL.len() <= 32);

/// What the probes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It is this one.
    This(Protocol),
    /// More bytes are needed.
    More,
    /// None of them.
    Nothing,
}

impl Candidates {
    /// Every protocol of the flow's transport.
    pub fn all(tuple: &FiveTuple) -> Self {
        let bits = Protocol::ALL
            .iter()
            .filter(|protocol| protocol.meta().transports.contains(&tuple.transport))
            .fold(0, |bits, protocol| bits | 1 << *protocol as u32);
        Self(bits)
    }

    /// Shows the bytes to those that are left. The hinted one is believed when it finds them likely;
    /// another only where nobody may still say yes.
    pub fn probe(&mut self, input: &Input<'_>, hint: Hint) -> Found {
        let mut likely = None;
        let mut more = false;
        let hinted = hint.protocol();
        let order = hinted.into_iter().chain(Protocol::ALL.iter().copied().filter(|p| Some(*p) != hinted));
        for protocol in order {
            let bit = 1 << protocol as u32;
            if self.0 & bit == 0 {
                continue;
            }
            match protocol.probe(input) {
                Verdict::Yes => return Found::This(protocol),
                Verdict::Likely if Some(protocol) == hinted => return Found::This(protocol),
                Verdict::Likely => likely = likely.or(Some(protocol)),
                Verdict::NeedMore => more = true,
                Verdict::No => self.0 &= !bit,
            }
        }
        match likely {
            Some(protocol) if !more => Found::This(protocol),
            None if !more => Found::Nothing,
            _ => Found::More,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_read_as_people_write_them() {
        let rule: Rule = "redis=6379, 6380@[2001:db8::1]".parse().unwrap();
        assert_eq!((rule.protocol, rule.ports), (Protocol::Redis, vec![6379, 6380]));
        assert_eq!(rule.host, Some("2001:db8::1".parse().unwrap()));
        let any: Rule = "http".parse().unwrap();
        assert!(any.ports.is_empty() && any.host.is_none());
        assert_eq!("grpc=50051".parse::<Rule>().unwrap().protocol, Protocol::Http2);
        assert!(matches!("gopher=70".parse::<Rule>(), Err(RuleError::Protocol(_))));
        assert!(matches!("http=0".parse::<Rule>(), Err(RuleError::Port(_))));
        assert!(matches!("http=99999".parse::<Rule>(), Err(RuleError::Port(_))));
        assert!(matches!("http@there".parse::<Rule>(), Err(RuleError::Host(_))));
    }
}
