//! The machines a call went through.

use std::net::IpAddr;

use model::CallMessage;

/// One address that sent or received a message of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The address; `None` for messages whose envelope carried none.
    pub ip: Option<IpAddr>,
    /// Ports it used, in order of first appearance.
    pub ports: Vec<u16>,
}

/// Hosts in order of first appearance, the sender of a message before its receiver.
pub fn hosts(messages: &[CallMessage]) -> Vec<Host> {
    let mut found: Vec<Host> = Vec::new();
    for message in messages {
        let ends = [(message.src_ip, message.src_port), (message.dst_ip, message.dst_port)];
        for (ip, port) in ends {
            match found.iter_mut().find(|host| host.ip == ip) {
                Some(host) if host.ports.contains(&port) => {}
                Some(host) => host.ports.push(port),
                None => found.push(Host { ip, ports: vec![port] }),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::message;

    #[test]
    fn keeps_the_order_and_collects_ports() {
        let messages = [
            message("10.0.0.1:5060", "10.0.0.2:5060").request("INVITE"),
            message("10.0.0.2:5080", "10.0.0.3:5060").request("INVITE"),
            message("10.0.0.1:5060", "10.0.0.2:5060").request("ACK"),
        ];
        let found = hosts(&messages);
        let as_text: Vec<_> =
            found.iter().map(|host| (host.ip.unwrap().to_string(), host.ports.clone())).collect();
        assert_eq!(
            as_text,
            [
                ("10.0.0.1".to_owned(), vec![5060]),
                ("10.0.0.2".to_owned(), vec![5060, 5080]),
                ("10.0.0.3".to_owned(), vec![5060]),
            ]
        );
    }
}
