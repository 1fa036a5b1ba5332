//! Arbitrary input: bytes, and messages put together from pieces that parsers trip over.

use decode::fuzz;
use proptest::prelude::*;

const PIECES: [&str; 44] = [
    "INVITE",
    " ",
    "sip:",
    "SIP/2.0",
    "\r\n",
    "\n",
    "\r",
    "\t",
    ":",
    ";",
    ",",
    "<",
    ">",
    "\"",
    "\\",
    "@",
    "?",
    "=",
    "[",
    "]",
    "/",
    "*",
    "From",
    "To",
    "t",
    "Via",
    "v",
    "CSeq",
    "Call-ID",
    "Contact",
    "tag",
    "branch",
    "tel:",
    "urn:",
    "1",
    "99999999999",
    "é",
    "\0",
    "Content-Length",
    "P-Asserted-Identity",
    "v=0",
    "m=audio 1 RTP/AVP 0",
    "c=IN IP4 1.2.3.4",
    "--",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        fuzz::sip(&bytes);
        fuzz::sdp(&bytes);
    }

    #[test]
    fn pieces(pieces in prop::collection::vec(0..PIECES.len(), 0..120)) {
        let text: String = pieces.iter().map(|at| PIECES[*at]).collect();
        fuzz::sip(text.as_bytes());
        fuzz::sdp(text.as_bytes());
        fuzz::sip(format!("OPTIONS sip:a@b SIP/2.0\r\n{text}").as_bytes());
        fuzz::sip(format!("SIP/2.0 200 OK\r\nFrom: {text}\r\nVia: {text}\r\nContact: {text}\r\nCSeq: {text}\r\n\r\n").as_bytes());
    }
}
