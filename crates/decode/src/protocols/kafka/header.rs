//! Frame and request header, and whether one starts at a place.

use super::api::{API_VERSIONS, Call};
use crate::{DecodeError, What};
use core::ops::ControlFlow;

/// Bytes of the length, the API key, its version and the correlation id.
pub(super) const FIXED: usize = 12;

/// Bytes of the length and the correlation id of a response.
pub(super) const RESPONSE: usize = 8;

/// The largest frame that is believed; brokers accept 100 MiB unless configured otherwise
/// (`socket.request.max.bytes`).
const MAX_FRAME_BYTES: u32 = 256 << 20;

/// Bytes of the longest client id that is plausible in a place that is not known.
const MAX_CLIENT_ID: usize = 255;

/// Bytes of what follows the length.
///
/// # Errors
/// `BadLength` for one that no broker accepts.
pub(super) fn length(bytes: [u8; 4], least: u32) -> Result<usize, DecodeError> {
    let len = u32::from_be_bytes(bytes);
    if len < least || len > MAX_FRAME_BYTES {
        return Err(DecodeError::new(What::BadLength, 0));
    }
    Ok(len as usize)
}

/// The fixed part of a request header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fixed {
    /// Bytes of the frame, its length field included.
    pub(super) size: usize,
    pub(super) call: Call,
    pub(super) correlation: i32,
}

impl Fixed {
    /// Reads it.
    ///
    /// # Errors
    /// `BadLength`; `BadMagic` for an API or version that no release has.
    pub(super) fn read(bytes: &[u8; FIXED]) -> Result<Self, DecodeError> {
        let [l0, l1, l2, l3, k0, k1, v0, v1, c0, c1, c2, c3] = *bytes;
        let size = length([l0, l1, l2, l3], 8)?.saturating_add(4);
        let call = Call { key: i16::from_be_bytes([k0, k1]), version: i16::from_be_bytes([v0, v1]) };
        if !call.is_plausible() {
            return Err(DecodeError::new(What::BadMagic, 4));
        }
        Ok(Self { size, call, correlation: i32::from_be_bytes([c0, c1, c2, c3]) })
    }
}

/// How sure it is that a request starts at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Starts {
    Surely,
    Maybe,
    No,
    /// So many bytes must be there to say.
    Need(usize),
}

/// Whether a request of a known API starts with `bytes`: its client id must be readable and fit.
pub(super) fn starts(bytes: &[u8]) -> Starts {
    match check(bytes) {
        ControlFlow::Break(answer) => answer,
        ControlFlow::Continue(()) => Starts::No,
    }
}

fn check(bytes: &[u8]) -> ControlFlow<Starts> {
    let Some(fixed) = bytes.first_chunk() else {
        // The highest byte of a length is 0 below 16 MiB, and text is not.
        let text = bytes.first().is_some_and(|byte| *byte > 0x0f);
        return ControlFlow::Break(if text { Starts::No } else { Starts::Need(FIXED) });
    };
    let Ok(fixed) = Fixed::read(fixed) else { return ControlFlow::Continue(()) };
    if !fixed.call.is_known() || fixed.correlation < 0 {
        return ControlFlow::Continue(());
    }
    if !fixed.call.has_client_id() {
        return ControlFlow::Break(if fixed.size == FIXED + 4 { Starts::Maybe } else { Starts::No });
    }
    let Some(len) = bytes.get(FIXED..).and_then(|rest| rest.first_chunk()) else {
        return ControlFlow::Break(Starts::Need(FIXED + 2));
    };
    let len = match i16::from_be_bytes(*len) {
        -1 | 0 if fixed.call.key == API_VERSIONS && fixed.size < 512 => {
            return ControlFlow::Break(Starts::Surely);
        }
        -1 | 0 => return ControlFlow::Break(Starts::Maybe),
        len => usize::try_from(len).unwrap_or(usize::MAX),
    };
    let end = FIXED.saturating_add(2).saturating_add(len);
    if len > MAX_CLIENT_ID || end > fixed.size {
        return ControlFlow::Continue(());
    }
    match bytes.get(FIXED + 2..end) {
        None => ControlFlow::Break(Starts::Need(end)),
        Some(id) if id.iter().all(|byte| (b' '..0x7f).contains(byte)) => ControlFlow::Break(Starts::Surely),
        Some(_) => ControlFlow::Continue(()),
    }
}
