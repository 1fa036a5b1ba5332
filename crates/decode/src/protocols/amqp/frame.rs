//! Frames: type, channel, length, payload, end.

use super::method;
use crate::{DecodeError, What};

/// Bytes before the payload.
pub(super) const HEAD: usize = 7;

/// The last byte of every frame.
pub(super) const END: u8 = 0xce;

/// The largest payload that is believed before or without an agreement.
pub(super) const MAX_PAYLOAD: u32 = 128 << 20;

/// The largest payload of a frame whose lane has lost its place: RabbitMQ's default.
const USUAL_PAYLOAD: u32 = 131_072;

/// What a frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Method,
    Header,
    Body,
    Heartbeat,
}

/// The head of a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) what: Type,
    pub(super) channel: u16,
    /// Bytes of the payload.
    pub(super) payload: u32,
}

impl Frame {
    /// Reads the first seven bytes.
    ///
    /// # Errors
    /// `BadMagic` for a type that does not exist, `BadLength` beyond `most`.
    pub(super) fn read(bytes: &[u8; HEAD], most: u32) -> Result<Self, DecodeError> {
        let [what, c0, c1, l0, l1, l2, l3] = *bytes;
        let what = match what {
            1 => Type::Method,
            2 => Type::Header,
            3 => Type::Body,
            8 => Type::Heartbeat,
            _ => return Err(DecodeError::new(What::BadMagic, 0)),
        };
        let payload = u32::from_be_bytes([l0, l1, l2, l3]);
        let least = match what {
            Type::Method => 4,
            Type::Header => 14,
            Type::Body | Type::Heartbeat => 0,
        };
        if payload < least || payload > most {
            return Err(DecodeError::new(What::BadLength, 3));
        }
        Ok(Self { what, channel: u16::from_be_bytes([c0, c1]), payload })
    }

    /// Bytes of the frame.
    pub(super) const fn size(&self) -> usize {
        (self.payload as usize).saturating_add(HEAD + 1)
    }
}

/// Whether a frame starts with `bytes`: `Ok` when it does, `Err(0)` when not, else how many bytes it takes
/// to say. A body may look like anything, so that none is believed.
pub(super) fn starts(bytes: &[u8], window: usize) -> Result<(), usize> {
    let Some(head) = bytes.first_chunk() else {
        return Err(if matches!(bytes.first(), None | Some(1 | 2 | 8)) { HEAD } else { 0 });
    };
    let Ok(frame) = Frame::read(head, USUAL_PAYLOAD) else { return Err(0) };
    let payload = bytes.get(HEAD..).unwrap_or_default();
    let known = match (frame.what, payload.first_chunk::<4>()) {
        (Type::Body, _) => return Err(0),
        (Type::Heartbeat, _) => frame.channel == 0 && frame.payload == 0,
        (_, None) => return Err(HEAD + 4),
        (Type::Method, Some([c0, c1, m0, m1])) => {
            method::find(u16::from_be_bytes([*c0, *c1]), u16::from_be_bytes([*m0, *m1])).is_some()
        }
        (Type::Header, Some([c0, c1, w0, w1])) => {
            u16::from_be_bytes([*c0, *c1]) == method::BASIC && [*w0, *w1] == [0, 0]
        }
    };
    let size = frame.size();
    if !known || size > window {
        return Err(0);
    }
    match bytes.get(size.saturating_sub(1)) {
        None => Err(size),
        Some(&END) => Ok(()),
        Some(_) => Err(0),
    }
}
