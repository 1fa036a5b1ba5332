//! The message header, and the opcodes.
//!
//! <https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/>

use crate::{DecodeError, What};

/// Bytes of the header: length, request id, response-to, opcode.
pub(super) const HEADER: usize = 16;

/// The largest message a server accepts (`maxMessageSizeBytes`), and 16 KiB of slack for its envelope.
pub(super) const MAX_MESSAGE_BYTES: u32 = 48_000_000 + 16 * 1_024;

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opcode {
    Reply,
    Update,
    Insert,
    Query,
    GetMore,
    Delete,
    KillCursors,
    Compressed,
    Msg,
}

impl Opcode {
    pub(super) const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Reply,
            2001 => Self::Update,
            2002 => Self::Insert,
            2004 => Self::Query,
            2005 => Self::GetMore,
            2006 => Self::Delete,
            2007 => Self::KillCursors,
            2012 => Self::Compressed,
            2013 => Self::Msg,
            _ => return None,
        })
    }

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Reply => "OP_REPLY",
            Self::Update => "OP_UPDATE",
            Self::Insert => "OP_INSERT",
            Self::Query => "OP_QUERY",
            Self::GetMore => "OP_GET_MORE",
            Self::Delete => "OP_DELETE",
            Self::KillCursors => "OP_KILL_CURSORS",
            Self::Compressed => "OP_COMPRESSED",
            Self::Msg => "OP_MSG",
        }
    }

    /// The fewest bytes a message of this kind has.
    const fn least(self) -> u32 {
        match self {
            // Flags, one section kind, an empty document.
            Self::Msg => 16 + 4 + 1 + 5,
            Self::Reply => 16 + 20,
            Self::Compressed => 16 + 9,
            Self::Query => 16 + 4 + 1 + 8 + 5,
            Self::GetMore => 16 + 4 + 1 + 12,
            Self::KillCursors => 16 + 8,
            Self::Insert => 16 + 4 + 1,
            Self::Update | Self::Delete => 16 + 4 + 1 + 4,
        }
    }
}

/// A message header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    /// Bytes of the message, header included.
    pub(super) len: u32,
    pub(super) request_id: u32,
    pub(super) response_to: u32,
    pub(super) opcode: Opcode,
}

impl Header {
    /// Reads the first 16 bytes.
    ///
    /// # Errors
    /// `BadLength` outside of what the opcode and the server's limit allow, `BadMagic` for an unknown opcode.
    pub(super) fn read(bytes: &[u8; HEADER]) -> Result<Self, DecodeError> {
        let number = |at| le_u32(bytes, at).unwrap_or_default();
        let opcode = Opcode::from_number(number(12)).ok_or_else(|| DecodeError::new(What::BadMagic, 12))?;
        let len = number(0);
        if len < opcode.least() || len > MAX_MESSAGE_BYTES {
            return Err(DecodeError::new(What::BadLength, 0));
        }
        Ok(Self { len, request_id: number(4), response_to: number(8), opcode })
    }
}

/// A little-endian `u32` at an offset.
#[inline]
pub(super) fn le_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|four| u32::from_le_bytes(*four))
}

/// A little-endian `i32` at an offset.
#[inline]
pub(super) fn le_i32(bytes: &[u8], at: usize) -> Option<i32> {
    bytes.get(at..)?.first_chunk().map(|four| i32::from_le_bytes(*four))
}

/// A little-endian `i64` at an offset.
#[inline]
pub(super) fn le_i64(bytes: &[u8], at: usize) -> Option<i64> {
    bytes.get(at..)?.first_chunk().map(|eight| i64::from_le_bytes(*eight))
}
