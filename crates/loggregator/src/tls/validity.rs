//! From when until when a certificate is valid.
//!
//! ```text
//! Certificate ::= SEQUENCE { TBSCertificate ::= SEQUENCE {
//!     [0] version OPTIONAL, serial INTEGER, signature SEQUENCE, issuer SEQUENCE,
//!     validity SEQUENCE { notBefore Time, notAfter Time } ...
//! ```
//!
//! RFC 5280 section 4.1. rustls checks the validity of others' certificates but tells nothing about one's own.

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Unix seconds of the first and the last moment, or nothing where the bytes are no certificate.
pub fn of(certificate: &[u8]) -> Option<(i64, i64)> {
    let certificate = &mut expect(&mut &certificate[..], SEQUENCE)?;
    let tbs = &mut expect(certificate, SEQUENCE)?;
    if tbs.first() == Some(&VERSION) {
        expect(tbs, VERSION)?;
    }
    for tag in [INTEGER, SEQUENCE, SEQUENCE] {
        expect(tbs, tag)?;
    }
    let validity = &mut expect(tbs, SEQUENCE)?;
    Some((time(validity)?, time(validity)?))
}

/// Takes one element off the front and gives its content.
fn expect<'a>(rest: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (found, bytes) = element(rest)?;
    (found == tag).then_some(bytes)
}

fn element<'a>(rest: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (&tag, after) = rest.split_first()?;
    let (&first, mut after) = after.split_first()?;
    let mut length = usize::from(first);
    if first & 0x80 != 0 {
        // DER: the number of bytes of the length; four are more than any certificate needs.
        let (bytes, behind) = after.split_at_checked(usize::from(first & 0x7f).min(5))?;
        if bytes.len() > 4 {
            return None;
        }
        length = bytes.iter().fold(0, |length, byte| (length << 8) | usize::from(*byte));
        after = behind;
    }
    let (bytes, behind) = after.split_at_checked(length)?;
    *rest = behind;
    Some((tag, bytes))
}

/// `YYMMDDHHMMSSZ` with years from 1950, or `YYYYMMDDHHMMSSZ`.
fn time(rest: &mut &[u8]) -> Option<i64> {
    let (tag, text) = element(rest)?;
    let mut text = text.strip_suffix(b"Z")?;
    let mut pair = || {
        let (digits, after) = text.split_first_chunk::<2>()?;
        text = after;
        let [tens, ones] = digits.map(|digit| i64::from(digit.wrapping_sub(b'0')));
        (tens < 10 && ones < 10).then(|| tens * 10 + ones)
    };
    let year = match tag {
        UTC_TIME => pair().map(|year| if year < 50 { 2000 + year } else { 1900 + year })?,
        GENERALIZED_TIME => pair()? * 100 + pair()?,
        _ => return None,
    };
    let (month, day, hour, minute, second) = (pair()?, pair()?, pair()?, pair()?, pair()?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !text.is_empty() {
        return None;
    }
    // Days since 1970 by counting from the 1st of March, so that the leap day comes last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrap(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
        let content = parts.concat();
        let mut out = vec![tag, 0x82];
        out.extend_from_slice(&u16::try_from(content.len()).unwrap().to_be_bytes());
        out.extend_from_slice(&content);
        out
    }

    fn certificate(from: &[u8], until: &[u8]) -> Vec<u8> {
        let validity = wrap(SEQUENCE, &[&wrap(UTC_TIME, &[from]), &wrap(GENERALIZED_TIME, &[until])]);
        let tbs =
            wrap(SEQUENCE, &[&[VERSION, 3, 2, 1, 2], &[2, 1, 9], &[SEQUENCE, 0], &[SEQUENCE, 0], &validity]);
        wrap(SEQUENCE, &[&tbs])
    }

    #[test]
    fn times_are_read() {
        let bytes = certificate(b"700101000000Z", b"20240229235959Z");
        assert_eq!(of(&bytes), Some((0, 1_709_251_199)));
        let bytes = certificate(b"491231235959Z", b"20500101000000Z");
        assert_eq!(of(&bytes), Some((2_524_607_999, 2_524_608_000)));
    }

    #[test]
    fn what_is_no_certificate_gives_nothing() {
        let bytes = certificate(b"700101000000Z", b"20240229235959Z");
        for cut in 0..bytes.len() {
            assert_eq!(of(&bytes[..cut]), None);
        }
        for bad in
            [&b"701301000000Z"[..], b"70010100000Z", b"7001010000001Z", b"7a0101000000Z", b"700101000000"]
        {
            assert_eq!(of(&certificate(bad, b"20240229235959Z")), None);
        }
        assert_eq!(of(&[SEQUENCE, 0x89, 1, 1, 1, 1, 1, 1, 1, 1, 1]), None);
    }

    #[test]
    fn a_real_certificate_is_read() {
        let mut wanted = rcgen::CertificateParams::new(vec!["metron".to_owned()]).unwrap();
        wanted.not_before = rcgen::date_time_ymd(2001, 2, 3);
        wanted.not_after = rcgen::date_time_ymd(2051, 1, 1);
        let key = rcgen::KeyPair::generate().unwrap();
        let made = wanted.self_signed(&key).unwrap();
        assert_eq!(of(made.der()), Some((981_158_400, 2_556_144_000)));
    }
}
