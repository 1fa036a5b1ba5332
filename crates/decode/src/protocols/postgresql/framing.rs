//! Boundaries of messages: a type byte, a length that counts itself, a body.
//!
//! * In: the front of a lane.
//! * Out: type and length, or whether bytes look like messages at all.
//! * Owned: nothing.
//! * Bounded by: [`MAX_LENGTH`]; [`MAX_WALK`] messages when bytes are judged.
//! * Lost: nothing.

use crate::{DecodeError, What};
use model::Dir;

/// Type and length.
pub(super) const HEAD: usize = 5;

/// The longest message: a server refuses to send or take more.
const MAX_LENGTH: u32 = 0x3fff_ffff;

/// Messages that are looked at to judge a segment.
const MAX_WALK: usize = 16;

/// What the front of a lane tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tell {
    /// A message: its type and the bytes of its body.
    Message(u8, usize),
    /// More bytes are needed.
    More,
}

/// Whether bytes look like messages from their first to their last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walk {
    Fits,
    Fails,
}

/// Reads the head of a message.
pub(super) fn tell(bytes: &[u8], dir: Dir) -> Result<Tell, DecodeError> {
    let Some([kind, a, b, c, d]) = bytes.first_chunk::<HEAD>().copied() else {
        return match bytes.first() {
            Some(kind) if bounds(*kind, dir).is_none() => Err(DecodeError::new(What::BadMagic, 0)),
            _ => Ok(Tell::More),
        };
    };
    let (least, most) = bounds(kind, dir).ok_or(DecodeError::new(What::BadMagic, 0))?;
    let length = u32::from_be_bytes([a, b, c, d]);
    match length.checked_sub(4) {
        Some(body) if (least..=most).contains(&length) => {
            let body = usize::try_from(body).map_err(|_| DecodeError::new(What::BadLength, 1))?;
            Ok(Tell::Message(kind, body))
        }
        _ => Err(DecodeError::new(What::BadLength, 1)),
    }
}

/// The least and the most that the length field of a type may say.
const fn bounds(kind: u8, dir: Dir) -> Option<(u32, u32)> {
    let bounds = match (dir, kind) {
        (Dir::ToServer, b'Q') => (5, MAX_LENGTH),
        (Dir::ToServer, b'P') => (8, MAX_LENGTH),
        (Dir::ToServer, b'B') => (12, MAX_LENGTH),
        (Dir::ToServer, b'E') => (9, 65_536),
        (Dir::ToServer, b'D' | b'C') => (6, 65_536),
        (Dir::ToServer, b'S' | b'H' | b'X' | b'c') => (4, 4),
        (Dir::ToServer, b'F') => (14, MAX_LENGTH),
        (Dir::ToServer, b'p') => (4, 65_536),
        (_, b'd') => (4, MAX_LENGTH),
        (Dir::ToServer, b'f') => (5, 65_536),
        (Dir::ToClient, b'1' | b'2' | b'3' | b'n' | b's' | b'I' | b'c') => (4, 4),
        (Dir::ToClient, b'Z') => (5, 5),
        (Dir::ToClient, b'T' | b'D' | b't') => (6, MAX_LENGTH),
        (Dir::ToClient, b'C') => (5, 1_024),
        (Dir::ToClient, b'E' | b'N') => (5, MAX_LENGTH),
        (Dir::ToClient, b'S') => (6, MAX_LENGTH),
        (Dir::ToClient, b'A') => (10, 65_536),
        (Dir::ToClient, b'K') => (12, 1_024),
        (Dir::ToClient, b'R') => (8, 65_536),
        (Dir::ToClient, b'G' | b'H' | b'W') => (7, 65_536),
        (Dir::ToClient, b'V') => (8, MAX_LENGTH),
        (Dir::ToClient, b'v') => (12, 65_536),
        _ => return None,
    };
    Some(bounds)
}

/// Judges a segment. From the client it must start with what an idle session is asked, from the server
/// with the start of a session or end with `ReadyForQuery`.
pub(super) fn walk(bytes: &[u8], dir: Dir) -> Walk {
    let starts = match dir {
        Dir::ToServer => matches!(bytes, [b'Q' | b'P' | b'B' | b'D' | b'C' | b'F', _, _, _, _, ..]),
        Dir::ToClient => matches!(bytes, [b'R', 0, 0, ..]) || ends_ready(bytes),
    };
    if !starts {
        return Walk::Fails;
    }
    let mut rest = bytes;
    for _ in 0..MAX_WALK {
        let Ok(Tell::Message(kind, length)) = tell(rest, dir) else {
            return if rest.len() < HEAD { Walk::Fits } else { Walk::Fails };
        };
        let body = rest.get(HEAD..).unwrap_or_default();
        let (body, behind) = match body.split_at_checked(length) {
            Some((body, behind)) => (Some(body), behind),
            None => (None, &[][..]),
        };
        let sound = match (dir, kind, body) {
            (Dir::ToServer, b'Q', Some([text @ .., 0])) => !text.contains(&0),
            (Dir::ToServer, b'D' | b'C', Some([b'S' | b'P', .., 0])) => true,
            (Dir::ToServer, b'Q' | b'D' | b'C', Some(_)) => false,
            (Dir::ToClient, b'R', Some([0, 0, 0, code, ..])) => *code <= 12,
            (Dir::ToClient, b'R', Some(_)) => false,
            _ => true,
        };
        if !sound {
            return Walk::Fails;
        }
        if behind.is_empty() {
            return Walk::Fits;
        }
        rest = behind;
    }
    Walk::Fits
}

/// Whether bytes end with `ReadyForQuery`.
pub(super) fn ends_ready(bytes: &[u8]) -> bool {
    matches!(bytes, [.., b'Z', 0, 0, 0, 5, b'I' | b'T' | b'E'])
}

/// The text up to the next NUL, and what is behind it.
pub(super) fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == 0)?;
    let (text, rest) = bytes.split_at_checked(at)?;
    Some((text, rest.get(1..)?))
}
