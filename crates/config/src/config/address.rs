//! `IP:PORT`, and what people write instead.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::error::Problem;
use super::key::Key;

/// Reads an address; what is close to one is refused with what to write.
pub(super) fn parse(text: &str, key: &Key) -> Result<SocketAddr, Problem> {
    let text = text.trim();
    // The interface answers this machine unless told otherwise; HEP comes from others.
    let usual = match key.section {
        "api" => SocketAddr::from((Ipv4Addr::LOCALHOST, 8_080)),
        _ => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 9_060)),
    };
    text.parse().map_err(|_| Problem::NotAnAddress { found: text.to_owned(), hint: hint(text, usual) })
}

fn hint(text: &str, usual: SocketAddr) -> Option<String> {
    if let Ok(port) = text.trim_start_matches(['*', ':']).parse::<u16>() {
        return Some(SocketAddr::new(usual.ip(), port).to_string());
    }
    if let Ok(ip) = text.trim_matches(['[', ']']).parse::<IpAddr>()
        && !text.contains("::")
    {
        return Some(SocketAddr::new(ip, usual.port()).to_string());
    }
    let (host, port) = text.rsplit_once(':')?;
    let port = port.parse().ok()?;
    match host {
        "localhost" => Some(SocketAddr::from(([127, 0, 0, 1], port)).to_string()),
        host => host.parse().ok().map(|ip: IpAddr| SocketAddr::new(ip, port).to_string()),
    }
}

/// The address to use on a kernel without IPv6: `0.0.0.0` with the same port for `[::]`, nothing
/// for any other IPv6 address, the address itself for IPv4.
pub fn without_ipv6(address: SocketAddr) -> Option<SocketAddr> {
    match address.ip() {
        IpAddr::V4(_) => Some(address),
        IpAddr::V6(ip) if ip.is_unspecified() => {
            Some(SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port())))
        }
        IpAddr::V6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_to_write_instead() {
        let hints = ["9060", ":9060", "*:9060", "localhost:80", "10.0.0.1", "::1:9060", "host:1"]
            .map(|text| hint(text, "[::]:9060".parse().unwrap()).unwrap_or_default());
        assert_eq!(
            hints,
            ["[::]:9060", "[::]:9060", "[::]:9060", "127.0.0.1:80", "10.0.0.1:9060", "[::1]:9060", ""]
        );
    }

    #[test]
    fn falls_back_to_ipv4_for_any_address_only() {
        let fall = |text: &str| without_ipv6(text.parse().unwrap()).map(|a| a.to_string());
        assert_eq!(fall("[::]:9060").as_deref(), Some("0.0.0.0:9060"));
        assert_eq!(fall("[::1]:9060"), None);
        assert_eq!(fall("10.0.0.1:9060").as_deref(), Some("10.0.0.1:9060"));
    }
}
