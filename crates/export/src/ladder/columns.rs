//! Which column each end of a message stands in.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use model::CallMessage;

/// A column per host, in order of first appearance.
pub(super) struct Columns {
    /// Full names: an address, or address and port.
    pub(super) names: Vec<String>,
    index: HashMap<(Option<IpAddr>, Option<u16>), usize>,
    split: HashSet<Option<IpAddr>>,
}

impl Columns {
    /// A host is an address. An address that talks to itself on different ports is several hosts,
    /// one per port: two programs on one machine. Ports alone do not part a host, or each TCP
    /// connection of a client would be a column.
    pub(super) fn of(messages: &[CallMessage]) -> Self {
        let split = messages
            .iter()
            .filter(|message| {
                canonical(message.src_ip) == canonical(message.dst_ip) && message.src_port != message.dst_port
            })
            .map(|message| canonical(message.src_ip))
            .collect();
        let mut columns = Self { names: Vec::new(), index: HashMap::new(), split };
        for message in messages {
            for (ip, port) in ends(message) {
                let key = columns.key(ip, port);
                if !columns.index.contains_key(&key) {
                    columns.index.insert(key, columns.names.len());
                    columns.names.push(name(key));
                }
            }
        }
        columns
    }

    /// The columns of sender and receiver.
    pub(super) fn ends(&self, message: &CallMessage) -> (usize, usize) {
        let [from, to] =
            ends(message).map(|(ip, port)| self.index.get(&self.key(ip, port)).copied().unwrap_or_default());
        (from, to)
    }

    /// Names for when the full ones do not fit: A to Z, then AA, AB and on.
    pub(super) fn letter(mut at: usize) -> String {
        let mut letters = Vec::new();
        loop {
            letters.push(char::from(b'A' + u8::try_from(at % 26).unwrap_or_default()));
            if at < 26 {
                break;
            }
            at = at / 26 - 1;
        }
        letters.iter().rev().collect()
    }

    fn key(&self, ip: Option<IpAddr>, port: u16) -> (Option<IpAddr>, Option<u16>) {
        (ip, self.split.contains(&ip).then_some(port))
    }
}

fn ends(message: &CallMessage) -> [(Option<IpAddr>, u16); 2] {
    [(canonical(message.src_ip), message.src_port), (canonical(message.dst_ip), message.dst_port)]
}

/// `::ffff:10.0.0.1` is `10.0.0.1`: some agents report a dual-stack socket's address.
fn canonical(ip: Option<IpAddr>) -> Option<IpAddr> {
    ip.map(|ip| ip.to_canonical())
}

fn name((ip, port): (Option<IpAddr>, Option<u16>)) -> String {
    let ip = match ip {
        Some(IpAddr::V6(v6)) if port.is_some() => format!("[{v6}]"),
        Some(ip) => ip.to_string(),
        None => "unknown".to_owned(),
    };
    match port {
        Some(port) => format!("{ip}:{port}"),
        None => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::message;

    #[test]
    fn parts_a_host_that_talks_to_itself() {
        let messages = [
            message("127.0.0.1:5061", "127.0.0.1:5060").request("INVITE"),
            message("127.0.0.1:5060", "10.0.0.9:5060").request("INVITE"),
            message("10.0.0.9:40001", "127.0.0.1:5060").request("BYE"),
        ];
        let columns = Columns::of(&messages);
        assert_eq!(columns.names, ["127.0.0.1:5061", "127.0.0.1:5060", "10.0.0.9"]);
        assert_eq!(columns.ends(&messages[2]), (2, 1));
    }

    #[test]
    fn joins_a_mapped_address_with_its_own() {
        let messages = [
            message("[::ffff:10.0.0.1]:5060", "[2001:db8::1]:5060").request("INVITE"),
            message("[2001:db8::1]:5060", "10.0.0.1:5060").request("BYE"),
        ];
        assert_eq!(Columns::of(&messages).names, ["10.0.0.1", "2001:db8::1"]);
    }

    #[test]
    fn counts_letters_as_sheets_do() {
        let letters = [0, 25, 26, 51, 52, 701, 702].map(Columns::letter);
        assert_eq!(letters, ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }
}
