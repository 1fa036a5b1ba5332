//! Whether bytes are HTTP/1: for detection, and to find the next message where the place was lost.

use super::head::{Line, start_line};
use crate::Verdict;
use model::Dir;

/// Bytes that the probe looks at. A request line that is longer is likely one when its beginning is.
pub(super) const PROBE_BYTES: usize = 512;

/// The methods by which a request is recognised: those of RFC 9110 and of the registry that are in use.
const METHODS: [&[u8]; 24] = [
    b"GET",
    b"POST",
    b"HEAD",
    b"PUT",
    b"DELETE",
    b"OPTIONS",
    b"PATCH",
    b"CONNECT",
    b"TRACE",
    b"PROPFIND",
    b"PROPPATCH",
    b"MKCOL",
    b"MKCALENDAR",
    b"COPY",
    b"MOVE",
    b"LOCK",
    b"UNLOCK",
    b"REPORT",
    b"SEARCH",
    b"MERGE",
    b"ACL",
    b"PURGE",
    b"SUBSCRIBE",
    b"NOTIFY",
];

/// Whether `bytes` begin a message of this direction. `NeedMore` when the first line is not whole and all of
/// it that is there fits.
pub(super) fn verdict(dir: Dir, bytes: &[u8]) -> Verdict {
    match memchr::memchr(b'\n', bytes) {
        Some(end) => {
            let line = bytes.get(..end).unwrap_or_default();
            let known = match (dir, start_line(line.strip_suffix(b"\r").unwrap_or(line))) {
                (Dir::ToServer, Some((Line::Request { method, .. }, ..))) => METHODS.contains(&method),
                (Dir::ToClient, Some((Line::Status { .. }, ..))) => true,
                _ => false,
            };
            if known { Verdict::Yes } else { Verdict::No }
        }
        None if !may_begin(dir, bytes) => Verdict::No,
        None if bytes.len() >= PROBE_BYTES => Verdict::Likely,
        None => Verdict::NeedMore,
    }
}

/// Whether the part of a first line that is there fits.
fn may_begin(dir: Dir, bytes: &[u8]) -> bool {
    if dir == Dir::ToClient {
        return bytes.iter().zip(b"HTTP/1.").all(|(byte, wanted)| byte == wanted);
    }
    let Some(space) = memchr::memchr(b' ', bytes) else {
        return METHODS.iter().any(|method| method.starts_with(bytes));
    };
    let (method, target) = bytes.split_at_checked(space).unwrap_or_default();
    METHODS.contains(&method)
        && match target.get(1) {
            None | Some(b'/' | b'*' | b'h' | b'H') => true,
            Some(_) => method == b"CONNECT",
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_is_http() {
        let asked = |bytes: &[u8]| verdict(Dir::ToServer, bytes);
        let answered = |bytes: &[u8]| verdict(Dir::ToClient, bytes);
        assert_eq!(asked(b"GET / HTTP/1.1\r\n"), Verdict::Yes);
        assert_eq!(asked(b"GET /abc"), Verdict::NeedMore);
        assert_eq!(asked(b"PROPF"), Verdict::NeedMore);
        assert_eq!(asked(b"GET key\r\n"), Verdict::No);
        assert_eq!(asked(b"GET key"), Verdict::No);
        assert_eq!(asked(b"OPTIONS sip:a@b SIP/2.0\r\n"), Verdict::No);
        assert_eq!(asked(b"OPTIONS * RTSP/1.0\r\n"), Verdict::No);
        assert_eq!(asked(b"PRI * HTTP/2.0\r\n"), Verdict::No);
        assert_eq!(asked(b"HTTP/1.1 200 OK\r\n"), Verdict::No);
        assert_eq!(asked(&[b"GET /".as_slice(), &[b'a'; 600]].concat()), Verdict::Likely);
        assert_eq!(answered(b"HTTP/1.1 200 OK\r\n"), Verdict::Yes);
        assert_eq!(answered(b"HTTP/1"), Verdict::NeedMore);
        assert_eq!(answered(b"HTTP/2 200\r\n"), Verdict::No);
        assert_eq!(answered(b"SIP/2.0 200 OK\r\n"), Verdict::No);
    }
}
