//! The target of a request (RFC 9112 §3.2) and the address that names the server.

/// What a request is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Target<'a> {
    /// The path, or `*`, or the authority of a CONNECT.
    pub path: &'a [u8],
    /// What follows the `?`.
    pub query: Option<&'a [u8]>,
    /// Host and port, when the target names them.
    pub authority: Option<&'a [u8]>,
}

impl<'a> Target<'a> {
    /// Takes a target apart: origin, absolute, authority or asterisk form.
    pub(crate) fn parse(method: &[u8], target: &'a [u8]) -> Self {
        if method == b"CONNECT" {
            return Self { path: target, authority: Some(target), ..Self::default() };
        }
        if target.first() == Some(&b'/') {
            return Self::origin(target);
        }
        let Some(colon) = memchr::memmem::find(target, b"://") else {
            return Self::origin(target);
        };
        let rest = target.get(colon.saturating_add(3)..).unwrap_or_default();
        let end = memchr::memchr3(b'/', b'?', b'#', rest).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end).unwrap_or_default();
        // User and password before an `@` are not the server's address.
        let host = memchr::memrchr(b'@', authority).map_or(0, |at| at.saturating_add(1));
        let mut parsed = Self::origin(path);
        if parsed.path.is_empty() {
            parsed.path = b"/";
        }
        Self { authority: authority.get(host..), ..parsed }
    }

    fn origin(target: &'a [u8]) -> Self {
        let target = memchr::memchr(b'#', target).and_then(|end| target.get(..end)).unwrap_or(target);
        match memchr::memchr(b'?', target) {
            Some(mark) => Self {
                path: target.get(..mark).unwrap_or_default(),
                query: target.get(mark.saturating_add(1)..),
                ..Self::default()
            },
            None => Self { path: target, ..Self::default() },
        }
    }
}

/// Splits `host`, `host:port` or `[v6]:port`; brackets are dropped.
pub(crate) fn host_and_port(authority: &[u8]) -> (&[u8], Option<u16>) {
    let (host, port) = match authority.strip_prefix(b"[") {
        Some(v6) => match memchr::memchr(b']', v6) {
            Some(close) => (v6.get(..close), v6.get(close.saturating_add(2)..)),
            None => (Some(v6), None),
        },
        None => match memchr::memrchr(b':', authority) {
            Some(colon) => (authority.get(..colon), authority.get(colon.saturating_add(1)..)),
            None => (Some(authority), None),
        },
    };
    let port = port.and_then(super::head::decimal).and_then(|port| u16::try_from(port).ok());
    (host.unwrap_or_default(), port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form() {
        let origin = Target::parse(b"GET", b"/where?q=now#part");
        assert_eq!((origin.path, origin.query), (&b"/where"[..], Some(&b"q=now"[..])));
        let absolute = Target::parse(b"GET", b"http://user:pw@www.example.org:81/p?q");
        assert_eq!(absolute.authority, Some(&b"www.example.org:81"[..]));
        assert_eq!((absolute.path, absolute.query), (&b"/p"[..], Some(&b"q"[..])));
        let bare = Target::parse(b"GET", b"http://www.example.org");
        assert_eq!((bare.path, bare.query), (&b"/"[..], None));
        let connect = Target::parse(b"CONNECT", b"www.example.com:80");
        assert_eq!(connect.authority, Some(&b"www.example.com:80"[..]));
        assert_eq!(Target::parse(b"OPTIONS", b"*").path, b"*");
    }

    #[test]
    fn hosts_and_ports() {
        assert_eq!(host_and_port(b"example.org"), (&b"example.org"[..], None));
        assert_eq!(host_and_port(b"example.org:8080"), (&b"example.org"[..], Some(8_080)));
        assert_eq!(host_and_port(b"[2001:db8::1]:80"), (&b"2001:db8::1"[..], Some(80)));
        assert_eq!(host_and_port(b"[2001:db8::1]"), (&b"2001:db8::1"[..], None));
        assert_eq!(host_and_port(b"a:99999"), (&b"a"[..], None));
    }
}
