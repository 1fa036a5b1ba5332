//! The query of a URL, with the values of secret keys replaced.

use crate::{Message, Name, Notice};

/// What stands in place of a secret.
pub(crate) const REDACTED: &[u8] = b"[redacted]";

/// Secrets replaced one by one in a query; behind the last of them the rest is replaced as a whole.
const MAX_SECRETS: usize = 8;

/// A key that contains one of these holds a secret.
const CONTAINED: [&[u8]; 9] = [
    b"password",
    b"passwd",
    b"passphrase",
    b"secret",
    b"token",
    b"signature",
    b"credential",
    b"api_key",
    b"apikey",
];

/// A key that is one of these holds a secret.
const EQUAL: [&[u8]; 7] = [b"pwd", b"pass", b"auth", b"authorization", b"sig", b"api-key", b"awsaccesskeyid"];

/// Whether the value of `key` is a secret. Upper and lower case are the same.
pub(crate) fn is_secret(key: &[u8]) -> bool {
    let equal = |word: &&[u8]| key.eq_ignore_ascii_case(word);
    let contained = |word: &&[u8]| key.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    EQUAL.iter().any(equal) || CONTAINED.iter().any(contained)
}

/// Adds the pairs of `query` (`a=1&b=2`, of a URL or of a form) as field `name`.
pub(crate) fn write<'o>(message: Message<'o>, name: Name, query: &[u8], show: bool) -> Message<'o> {
    // Two parts a secret: what precedes its value, and what stands for it.
    let mut parts: [&[u8]; MAX_SECRETS * 2 + 1] = [&[]; MAX_SECRETS * 2 + 1];
    let mut free = parts.iter_mut();
    let (mut kept, mut at) = (0usize, 0usize);
    let mut redacted = false;
    for pair in query.split(|byte| matches!(byte, b'&' | b';')) {
        let end = at.saturating_add(pair.len());
        if let Some(equals) = memchr::memchr(b'=', pair)
            && !show
            && is_secret(pair.get(..equals).unwrap_or_default())
        {
            let value = at.saturating_add(equals).saturating_add(1);
            if let (Some(before), Some(place)) = (free.next(), free.next()) {
                *before = query.get(kept..value).unwrap_or_default();
                *place = REDACTED;
                kept = if free.len() > 1 { end } else { query.len() };
                redacted = true;
            }
        }
        at = end.saturating_add(1);
    }
    if let Some(last) = free.next() {
        *last = query.get(kept..).unwrap_or_default();
    }
    let message = message.parts(name, &parts);
    if redacted { message.notice(Notice::Redacted) } else { message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, Out, Role, Value};
    use model::{Dir, Nanos};

    fn redacted(query: &str) -> String {
        let mut out = Out::default();
        let message = out.begin_at(Dir::ToServer, Nanos(0), Role::Request, Key::Order);
        let _ = write(message, Name::Resource, query.as_bytes(), false);
        let Some(Value::Text(range)) = out.fields().find(Name::Resource) else { panic!() };
        String::from_utf8(out.fields().text(range).to_vec()).unwrap()
    }

    #[test]
    fn values_of_secret_keys_are_replaced() {
        assert_eq!(redacted("a=1&b=2"), "a=1&b=2");
        assert_eq!(redacted("a=1&Password=x&b=2"), "a=1&Password=[redacted]&b=2");
        assert_eq!(redacted("access_token=x"), "access_token=[redacted]");
        assert_eq!(redacted("X-Amz-Signature=ab&sig=;c"), "X-Amz-Signature=[redacted]&sig=[redacted];c");
        assert_eq!(redacted("tokenless"), "tokenless");
        assert_eq!(redacted(""), "");
        let many = "token=x&".repeat(20);
        assert_eq!(redacted(&many), ["token=[redacted]"; MAX_SECRETS].join("&"));
    }
}
