//! The auth key of a packet (chunk 0x0e).

use subtle::ConstantTimeEq;

/// Whether a packet carries the expected key. The time taken depends on the lengths alone. A
/// packet without a key is never right.
pub fn auth_ok(expected: &[u8], got: Option<&[u8]>) -> bool {
    got.is_some_and(|got| bool::from(expected.ct_eq(got)))
}

#[cfg(test)]
mod tests {
    use super::auth_ok;

    #[test]
    fn only_the_same_key() {
        assert!(auth_ok(b"myHep", Some(b"myHep")));
        assert!(!auth_ok(b"myHep", Some(b"myHeq")));
        assert!(!auth_ok(b"myHep", Some(b"myHep1")));
        assert!(!auth_ok(b"myHep", Some(b"")));
        assert!(!auth_ok(b"myHep", None));
        assert!(!auth_ok(b"", None));
    }
}
