//! Which messages were only sent again.

use std::collections::HashMap;
use std::net::IpAddr;

use model::CallMessage;

/// After the first copy, how long a copy is still a retransmission: 64*T1 of RFC 3261 §17, after
/// which every transaction timer has given up.
const LIFETIME_NS: i64 = 32_000_000_000;

/// What two copies have in common. The capture agent belongs to it: one message seen by two agents
/// was sent once.
type Sending<'a> = (Option<IpAddr>, u16, Option<IpAddr>, u16, u8, Option<u32>, Option<&'a str>, &'a [u8]);

/// Marks each message that repeats an earlier one: same payload (and so same method, code, CSeq and
/// branch), same ends and transport, same capture agent, within 32 s of the first copy.
///
/// What is not SIP is never marked: keep-alives are alike by nature.
pub fn retransmits(messages: &[CallMessage]) -> Vec<bool> {
    let mut first_seen: HashMap<Sending<'_>, i64> = HashMap::new();
    messages
        .iter()
        .map(|message| {
            if message.method.is_none() && message.code.is_none() {
                return false;
            }
            let sending = (
                message.src_ip,
                message.src_port,
                message.dst_ip,
                message.dst_port,
                message.ip_proto,
                message.node_id,
                message.node_name.as_deref(),
                message.payload.as_slice(),
            );
            let first = first_seen.entry(sending).or_insert(i64::MIN);
            let again = *first != i64::MIN && message.time.0.saturating_sub(*first) <= LIFETIME_NS;
            if !again {
                *first = message.time.0;
            }
            again
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::message;

    #[test]
    fn marks_copies_and_nothing_else() {
        let a_to_b = || message("10.0.0.1:5060", "10.0.0.2:5060");
        let b_to_a = || message("10.0.0.2:5060", "10.0.0.1:5060");
        let other_agent = {
            let mut seen_twice = a_to_b().at_ms(600).request("INVITE");
            seen_twice.node_id = Some(7);
            seen_twice
        };
        let messages = [
            a_to_b().at_ms(0).request("INVITE"),
            a_to_b().at_ms(500).request("INVITE"),
            other_agent,
            b_to_a().at_ms(700).response(200, "OK", "INVITE"),
            b_to_a().at_ms(900).response(200, "OK", "INVITE"),
            a_to_b().at_ms(1_000).cseq(2).request("INVITE"),
            a_to_b().at_ms(60_000).request("INVITE"),
        ];
        assert_eq!(retransmits(&messages), [false, true, false, false, true, false, false]);
    }

    #[test]
    fn leaves_keep_alives_alone() {
        let mut ping = message("10.0.0.1:5060", "10.0.0.2:5060").request("");
        ping.method = None;
        ping.payload = b"\r\n\r\n".to_vec();
        assert_eq!(retransmits(&[ping.clone(), ping]), [false, false]);
    }
}
