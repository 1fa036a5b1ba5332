//! Filters from rules: which transports, ports and hosts there are decoders for.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use model::Transport;

use super::tree::{Family4, Node, Side, Test, ethertype, protocol};
use super::{FilterError, Program};

/// Where IANA puts the tunnels over UDP.
const VXLAN_PORT: u16 = 4_789;
const GENEVE_PORT: u16 = 6_081;

/// Traffic that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// One of these; empty for both.
    pub transports: Vec<Transport>,
    /// From or to one of these ports; empty for all.
    pub ports: Vec<RangeInclusive<u16>>,
    /// From or to this address.
    pub host: Option<IpAddr>,
}

/// Whether traffic in tunnels passes, since a rule cannot look into one: VXLAN, Geneve, GRE, IP in IP,
/// MPLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tunnels {
    /// It passes, whatever is inside.
    Pass,
    /// It is treated as what it is outside.
    Refuse,
}

/// Compiles rules: what one of them wants passes. So do later fragments of IPv4 and all fragments of IPv6,
/// because they have no ports. Other IPv6 extension headers are not walked: what is behind one is not
/// found by its port. Without rules, everything passes.
///
/// # Errors
/// When the program becomes too long for the kernel.
pub fn for_rules(rules: &[Rule], tunnels: Tunnels) -> Result<Program, FilterError> {
    if rules.is_empty() {
        return Program::compile("");
    }
    let mut wanted: Vec<Node> = rules.iter().map(wanted).collect();
    wanted.push(Test::PartWithoutPorts.into());
    if tunnels == Tunnels::Pass {
        wanted.extend(tunnelled());
    }
    Program::from_node(Node::Any(wanted))
}

fn wanted(rule: &Rule) -> Node {
    let transports: &[Transport] =
        if rule.transports.is_empty() { &[Transport::Tcp, Transport::Udp] } else { &rule.transports };
    let number = |transport: &Transport| match transport {
        Transport::Tcp => protocol::TCP,
        Transport::Udp => protocol::UDP,
    };
    let mut all = vec![Node::Any(transports.iter().map(|t| Test::Protocol(number(t)).into()).collect())];
    if !rule.ports.is_empty() {
        let port = |ports: &RangeInclusive<u16>| {
            Test::Port { side: Side::Either, low: *ports.start(), high: *ports.end() }.into()
        };
        all.push(Node::Any(rule.ports.iter().map(port).collect()));
    }
    all.extend(rule.host.map(|host| Node::Test(address(host))));
    Node::All(all)
}

fn address(host: IpAddr) -> Test {
    let side = Side::Either;
    match host.to_canonical() {
        IpAddr::V4(v4) => Test::V4 { family: Family4::Ip, side, net: v4.to_bits(), mask: u32::MAX },
        IpAddr::V6(v6) => Test::V6 { side, net: words(v6.to_bits()), mask: [u32::MAX; 4] },
    }
}

/// The four words of an IPv6 address, the first first.
pub(super) fn words(bits: u128) -> [u32; 4] {
    [96, 64, 32, 0].map(|shift| (bits >> shift) as u32)
}

fn tunnelled() -> impl Iterator<Item = Node> {
    let over_udp = [VXLAN_PORT, GENEVE_PORT].map(|port| {
        let port = Test::Port { side: Side::Destination, low: port, high: port };
        Node::All(vec![Test::Protocol(protocol::UDP).into(), port.into()])
    });
    let over_ip = [protocol::GRE, protocol::IPIP, protocol::IPV6, protocol::MPLS];
    let over_link = [ethertype::MPLS, ethertype::MPLS_MULTICAST];
    over_udp
        .into_iter()
        .chain(over_ip.map(|number| Test::Protocol(number).into()))
        .chain(over_link.map(|number| Test::Type(number).into()))
}
