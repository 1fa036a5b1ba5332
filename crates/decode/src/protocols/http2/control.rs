//! Frames that say something about streams or the connection: SETTINGS, RST_STREAM, GOAWAY.

use super::Http2;
use super::frame::Frame;
use crate::{DecodeError, Input, Key, Out, Role, Status, What};
use model::Dir;

impl Http2 {
    /// What one side announces binds the other side's lane.
    pub(super) fn settings(&mut self, dir: Dir, frame: Frame, payload: &[u8]) -> Result<(), DecodeError> {
        let (settings, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() || frame.stream != 0 {
            return Err(DecodeError::new(What::BadLength, 0));
        }
        let lane = self.lane(dir.reverse());
        for [high, low, value @ ..] in settings {
            let value = u32::from_be_bytes(*value);
            match u16::from_be_bytes([*high, *low]) {
                1 => lane.table.allow(usize::try_from(value).unwrap_or(usize::MAX)),
                5 => lane.max_frame = lane.max_frame.max(value.min(0x00ff_ffff)),
                _ => {}
            }
        }
        Ok(())
    }

    /// A stream is over without, or in the middle of, its response.
    pub(super) fn reset(&mut self, input: &Input<'_>, out: &mut Out, frame: Frame, code: u32) {
        let Some(stream) = self.streams.find(frame.stream) else { return };
        let [request, response] = stream.halves;
        self.streams.close(frame.stream);
        let key = Key::Id(u64::from(frame.stream));
        if !response.ended {
            out.cut(input.time, key, reset_name(code));
        } else if request.begun && !request.ended {
            // §8.1: the server needs no more of the request, having answered it whole.
            out.end_at(Dir::ToServer, input.time, Role::Request, key, request.bytes, Status::Unset);
        }
    }

    /// GOAWAY: what was asked on later streams was not looked at.
    pub(super) fn refuse(&mut self, input: &Input<'_>, out: &mut Out, last: u32) {
        while let Some(stream) = self.streams.unanswered_above(last) {
            self.streams.close(stream);
            out.cut(input.time, Key::Id(u64::from(stream)), "goaway");
        }
    }
}

/// The error codes of §7 as column `error` shows them.
const fn reset_name(code: u32) -> &'static str {
    match code {
        0 => "reset: no error",
        1 => "reset: protocol error",
        2 => "reset: internal error",
        3 => "reset: flow control error",
        4 => "reset: settings timeout",
        5 => "reset: stream closed",
        6 => "reset: frame size error",
        7 => "refused",
        8 => "cancelled",
        9 => "reset: compression error",
        10 => "reset: connect error",
        11 => "reset: enhance your calm",
        12 => "reset: inadequate security",
        13 => "reset: HTTP/1.1 required",
        _ => "reset",
    }
}
