//! Names that stand for numbers.

/// The number of a name.
pub(super) fn lookup(names: &[(&str, u32)], name: &str) -> Option<u32> {
    names.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
}

/// Offsets and bits that pcap-filter(7) names.
pub(super) const NUMBERS: [(&str, u32); 21] = [
    ("tcpflags", 13),
    ("tcp-fin", 0x01),
    ("tcp-syn", 0x02),
    ("tcp-rst", 0x04),
    ("tcp-push", 0x08),
    ("tcp-ack", 0x10),
    ("tcp-urg", 0x20),
    ("tcp-ece", 0x40),
    ("tcp-cwr", 0x80),
    ("icmptype", 0),
    ("icmpcode", 1),
    ("icmp-echoreply", 0),
    ("icmp-unreach", 3),
    ("icmp-redirect", 5),
    ("icmp-echo", 8),
    ("icmp-timxceed", 11),
    ("icmp-paramprob", 12),
    ("icmp6type", 0),
    ("icmp6code", 1),
    ("icmp6-echo", 128),
    ("icmp6-echoreply", 129),
];

/// Services that people write by name (IANA service names).
pub(super) const PORTS: [(&str, u32); 24] = [
    ("ftp", 21),
    ("ssh", 22),
    ("telnet", 23),
    ("smtp", 25),
    ("domain", 53),
    ("http", 80),
    ("pop3", 110),
    ("ntp", 123),
    ("imap2", 143),
    ("snmp", 161),
    ("ldap", 389),
    ("https", 443),
    ("syslog", 514),
    ("ldaps", 636),
    ("imaps", 993),
    ("pop3s", 995),
    ("mysql", 3_306),
    ("postgresql", 5_432),
    ("sip", 5_060),
    ("sip-tls", 5_061),
    ("amqp", 5_672),
    ("redis", 6_379),
    ("http-alt", 8_080),
    ("kafka", 9_092),
];

/// Assigned Internet protocol numbers.
pub(super) const PROTOCOLS: [(&str, u32); 13] = [
    ("icmp", 1),
    ("igmp", 2),
    ("ipip", 4),
    ("tcp", 6),
    ("udp", 17),
    ("ipv6", 41),
    ("gre", 47),
    ("esp", 50),
    ("ah", 51),
    ("icmp6", 58),
    ("pim", 103),
    ("vrrp", 112),
    ("sctp", 132),
];

/// Ethernet types.
pub(super) const TYPES: [(&str, u32); 6] = [
    ("ip", 0x0800),
    ("arp", 0x0806),
    ("rarp", 0x8035),
    ("ip6", 0x86dd),
    ("loopback", 0x9000),
    ("lldp", 0x88cc),
];
