//! The head of a message: what stands before its documents, and whether one starts at a place.

use super::walk::Walk;
use super::wire::{HEADER, Header, MAX_MESSAGE_BYTES, Opcode, le_i32, le_u32};
use super::{CHECKSUM_PRESENT, EXHAUST_ALLOWED, MORE_TO_COME, bson, compressed};
use crate::{DecodeError, What};

/// Bytes of the longest namespace in a legacy message.
const MAX_NAMESPACE: usize = 512;

/// Bytes that tell whether a message starts here: header, flags, section kind, and the first type and key.
pub(super) const START_BYTES: usize = 32;

/// The flags that a receiver must understand and that no version defines.
const UNDEFINED_FLAGS: u32 = 0xfffc;

/// What the head of a message said.
pub(super) struct Head<'a> {
    pub(super) opcode: Opcode,
    pub(super) compressor: Option<&'static str>,
    pub(super) flags: u32,
    /// `db.collection` of a legacy message.
    pub(super) namespace: Option<&'a [u8]>,
    pub(super) label: Option<&'static str>,
    pub(super) unknown: bool,
}

impl Head<'_> {
    pub(super) const fn new(opcode: Opcode) -> Self {
        Self { opcode, compressor: None, flags: 0, namespace: None, label: None, unknown: false }
    }
}

/// What stands before the documents: the head, its bytes, and the walk that follows.
pub(super) type Read<'a> = (Head<'a>, usize, Option<Walk>);

/// Reads what stands before the documents of a message of `left` bytes; `Err(n)` when `n` bytes are needed.
pub(super) fn head(
    opcode: Opcode,
    bytes: &[u8],
    left: u32,
    reply: bool,
) -> Result<Result<Read<'_>, usize>, DecodeError> {
    let mut head = Head::new(opcode);
    let behind = |fixed: usize| left.saturating_sub(u32::try_from(fixed).unwrap_or(u32::MAX));
    let fixed = match opcode {
        Opcode::Msg => {
            let Some(flags) = le_u32(bytes, 0) else { return Ok(Err(4)) };
            if flags & UNDEFINED_FLAGS != 0 {
                return Err(DecodeError::new(What::BadMagic, HEADER));
            }
            head.flags = flags;
            let walk = Walk::sections(behind(4), flags & CHECKSUM_PRESENT != 0, reply);
            return Ok(Ok((head, 4, Some(walk))));
        }
        Opcode::Reply => {
            let (Some(flags), Some(count)) = (le_u32(bytes, 0), le_i32(bytes, 16)) else {
                return Ok(Err(20));
            };
            head.flags = flags & 3;
            let walk = (count == 1 && left > 20).then(|| Walk::document(behind(20), true));
            return Ok(Ok((head, 20, walk)));
        }
        Opcode::KillCursors => {
            head.label = Some("killCursors");
            return Ok(Ok((head, 8, None)));
        }
        // Compressed inside of compressed does not exist.
        Opcode::Compressed => return Err(DecodeError::new(What::BadMagic, HEADER)),
        Opcode::Insert => "insert",
        Opcode::Update => "update",
        Opcode::Delete => "delete",
        Opcode::GetMore => "getMore",
        Opcode::Query => "find",
    };
    head.label = Some(fixed);
    let rest = bytes.get(4..).unwrap_or_default();
    let Some(namespace) = bson::cstring(rest, MAX_NAMESPACE) else {
        if rest.len() >= MAX_NAMESPACE {
            return Err(DecodeError::new(What::TooLarge, HEADER));
        }
        return Ok(Err(bytes.len().saturating_add(1).max(5)));
    };
    head.namespace = Some(namespace);
    let fixed = namespace.len().saturating_add(5);
    if opcode == Opcode::Query && namespace.ends_with(b".$cmd") {
        head.label = None;
        let fixed = fixed.saturating_add(8);
        return Ok(Ok((head, fixed, Some(Walk::document(behind(fixed), false)))));
    }
    Ok(Ok((head, fixed, None)))
}

/// Whether a message starts here; `None` when it takes more bytes to say.
pub(super) fn starts(bytes: &[u8]) -> Option<Option<Header>> {
    let Some(first) = bytes.first_chunk() else {
        // The length alone rules out most.
        let long = le_u32(bytes, 0).is_some_and(|len| !(16..=MAX_MESSAGE_BYTES).contains(&len));
        return if long { Some(None) } else { None };
    };
    let Ok(header) = Header::read(first) else { return Some(None) };
    let body = bytes.get(HEADER..).unwrap_or_default();
    if body.len() < START_BYTES.saturating_sub(HEADER).min(header.len.saturating_sub(16) as usize) {
        return None;
    }
    let most = header.len.saturating_sub(16);
    let likely = match header.opcode {
        Opcode::Msg => {
            let flags = le_u32(body, 0).unwrap_or(u32::MAX);
            let defined = flags & !(CHECKSUM_PRESENT | MORE_TO_COME | EXHAUST_ALLOWED) == 0;
            defined
                && match body.get(4) {
                    Some(0) => {
                        let section = body.get(5..).unwrap_or_default();
                        bson::plausible(section, most.saturating_sub(5))
                    }
                    Some(1) => le_u32(body, 5).is_some_and(|len| len >= 5 && len < most),
                    _ => false,
                }
        }
        Opcode::Compressed => {
            let inner = le_u32(body, 0).and_then(Opcode::from_number);
            let id = body.get(8).copied();
            inner.is_some_and(|inner| inner != Opcode::Compressed)
                && le_u32(body, 4).is_some_and(|len| len <= MAX_MESSAGE_BYTES)
                && id.is_some_and(|id| compressed::compressor(id).is_some())
        }
        Opcode::Reply => {
            le_u32(body, 0).is_some_and(|flags| flags < 16) && le_i32(body, 12).is_some_and(|n| n >= 0)
        }
        Opcode::KillCursors => {
            le_u32(body, 0) == Some(0)
                && le_u32(body, 4).and_then(|n| n.checked_mul(8)).and_then(|n| n.checked_add(8)) == Some(most)
        }
        Opcode::Query => le_u32(body, 0).is_some_and(|flags| flags < 256) && namespace(body),
        Opcode::Insert => le_u32(body, 0).is_some_and(|flags| flags < 2) && namespace(body),
        _ => le_u32(body, 0) == Some(0) && namespace(body),
    };
    Some(likely.then_some(header))
}

/// Whether a readable namespace stands behind the flags, as far as it is there.
fn namespace(body: &[u8]) -> bool {
    let name = body.get(4..).unwrap_or_default();
    let readable = name.iter().take_while(|byte| **byte != 0);
    name.first().is_some_and(|byte| *byte != 0) && readable.into_iter().all(|byte| *byte >= b' ')
}
