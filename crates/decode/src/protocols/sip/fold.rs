//! Folded header values (RFC 3261 §7.3.1).

use crate::text::{Text, is_space};

/// Appends `value` to `out` with each fold, a line end followed by white space, as one space.
///
/// White space around the fold goes with it; white space elsewhere stays. Allocates only when
/// `out` has not room for `value.len()` more bytes.
pub fn unfold(value: &[u8], out: &mut Vec<u8>) {
    out.reserve(value.len());
    let mut rest = value;
    while let Some(at) = Text::new(rest).find([b'\n']) {
        let (before, fold) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        let end = fold.iter().position(|byte| !is_space(*byte)).unwrap_or(fold.len());
        out.extend_from_slice(Text::new(before).trim_end().get());
        rest = fold.get(end..).unwrap_or(&[]);
        if !rest.is_empty() && !out.is_empty() {
            out.push(b' ');
        }
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::unfold;

    #[test]
    fn folds_become_one_space() {
        let cases: [(&[u8], &[u8]); 6] = [
            (b"a b", b"a b"),
            (b"I know \r\n\tyou're  there,\n  pick up", b"I know you're  there, pick up"),
            (b"\r\n x", b"x"),
            (b"x\r\n ", b"x"),
            (b"", b""),
            (b" \r\n \r\n ", b""),
        ];
        for (folded, flat) in cases {
            let mut out = Vec::new();
            unfold(folded, &mut out);
            assert_eq!(out, flat, "{folded:?}");
        }
    }
}
