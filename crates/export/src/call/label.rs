//! One short name per message.

use model::CallMessage;

use super::has_sdp;

/// Reason phrases are cut after this many characters: the method behind them says more.
const REASON_CHARS: usize = 28;

/// What a message is, for one arrow of a ladder: `INVITE (SDP)`, `200 OK (INVITE)`,
/// `183 Session Progress (INVITE, SDP)`, or `not SIP: no header end` for what could not be read.
///
/// Control characters are escaped, so the label is safe in a terminal.
pub fn label(message: &CallMessage) -> String {
    let method = message.method.as_deref().filter(|method| !method.is_empty());
    let text = match (message.code, method) {
        (None, None) => match &message.parse_error {
            Some(why) => format!("not SIP: {why}"),
            None => "not SIP".to_owned(),
        },
        (None, Some(method)) if has_sdp(message) => format!("{method} (SDP)"),
        (None, Some(method)) => method.to_owned(),
        (Some(code), method) => {
            let mut text = code.to_string();
            if let Some(reason) = message.reason.as_deref().filter(|reason| !reason.is_empty()) {
                text.push(' ');
                text.extend(reason.chars().take(REASON_CHARS));
                if reason.chars().nth(REASON_CHARS).is_some() {
                    text.push('…');
                }
            }
            match (method, has_sdp(message)) {
                (Some(method), true) => text.push_str(&format!(" ({method}, SDP)")),
                (Some(method), false) => text.push_str(&format!(" ({method})")),
                (None, true) => text.push_str(" (SDP)"),
                (None, false) => {}
            }
            text
        }
    };
    crate::ladder::printable(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::message;

    #[test]
    fn names_each_kind_of_message() {
        let ends = || message("10.0.0.1:5060", "10.0.0.2:5060");
        assert_eq!(label(&ends().request("BYE")), "BYE");
        assert_eq!(label(&ends().sdp().request("INVITE")), "INVITE (SDP)");
        assert_eq!(label(&ends().response(180, "Ringing", "INVITE")), "180 Ringing (INVITE)");
        assert_eq!(label(&ends().sdp().response(200, "OK", "INVITE")), "200 OK (INVITE, SDP)");
        assert_eq!(label(&ends().response(200, "", "BYE")), "200 (BYE)");
        let mut broken = ends().request("");
        broken.method = None;
        assert_eq!(label(&broken), "not SIP");
        broken.parse_error = Some("no start line".into());
        assert_eq!(label(&broken), "not SIP: no start line");
    }

    #[test]
    fn cannot_drive_the_terminal() {
        let hostile = message("10.0.0.1:1", "10.0.0.2:2").response(200, "\x1b[2JOK\r\n", "BYE");
        assert_eq!(label(&hostile), "200 \\x1b[2JOK\\r\\n (BYE)");
    }
}
