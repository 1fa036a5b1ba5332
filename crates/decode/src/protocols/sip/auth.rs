//! Credentials (RFC 8760, RFC 7616): only the name, never what proves it.

use super::params::{end_of, unquote};
use crate::text::Text;

/// The `username` of an Authorization value: `Digest username="bob", realm=...`.
#[inline(never)]
pub(super) fn username(value: &[u8]) -> Option<&[u8]> {
    let (_scheme, mut rest) = Text::new(value).trim_start().split_before([b' ', b'\t', b'\r', b'\n']);
    while !rest.is_empty() {
        let end = end_of(rest, [b',', b'"']);
        if let Some((name, value)) = rest.upto(end).split_once(b'=')
            && name.trim().eq_ignore_case(b"username")
        {
            return unquote(value.trim()).some();
        }
        rest = rest.from(end).skip(1);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::username;

    #[test]
    fn the_name_only() {
        let value = b"Digest realm=\"a, username=no\",\r\n UserName = \"bob\", nonce=\"84a4\"";
        assert_eq!(username(value), Some(&b"bob"[..]));
        assert_eq!(username(b"Digest username=bob"), Some(&b"bob"[..]));
        assert_eq!(username(b"Digest xusername=\"bob\""), None);
        assert_eq!(username(b"Digest username=\"\""), None);
        assert_eq!(username(b"Bearer abc"), None);
        assert_eq!(username(b""), None);
    }
}
