//! DATA frames (RFC 9113 §6.1): skipped, but for the prefixes of gRPC's messages.

use super::frame::{self, Frame, HEADER};
use super::{Http2, Phase, wait};
use crate::{DecodeError, Input, Out, Progress, What};

impl Http2 {
    /// The header of a DATA frame, and the length of its padding.
    pub(super) fn data_frame(
        &mut self,
        input: &Input<'_>,
        out: &mut Out,
        frame: Frame,
    ) -> Result<Progress, DecodeError> {
        let (mut head, mut pad) = (HEADER, 0);
        if frame.has(frame::PADDED) {
            let Some(length) = input.bytes.get(HEADER) else {
                return Ok(wait(input, HEADER.saturating_add(1)));
            };
            head = head.saturating_add(1);
            pad = u32::from(*length);
        }
        // The byte that counts the padding is part of the payload.
        let overhead = pad.saturating_add(u32::from(frame.has(frame::PADDED)));
        let body = frame.len.checked_sub(overhead).ok_or(DecodeError::new(What::BadLength, 0))?;
        let mut looked_at = false;
        if let Some(stream) = self.streams.find(frame.stream) {
            let half = stream.half(input.dir);
            half.bytes = half.bytes.saturating_add(frame.size() as u64);
            half.body = half.body.saturating_add(u64::from(body));
            looked_at = half.messages.is_some();
        }
        let end = frame.has(frame::END_STREAM);
        let lane = self.lane(input.dir);
        let stream = frame.stream;
        if body == 0 && pad == 0 {
            lane.phase = Phase::Frame;
            if end {
                self.end(input, out, stream, false);
            }
            return Ok(Progress::consumed(head));
        }
        if looked_at && body > 0 {
            lane.phase = Phase::Data { stream, left: body, pad, end };
            return Ok(Progress::consumed(head));
        }
        lane.phase = Phase::Data { stream, left: 0, pad: 0, end };
        Ok(Progress::skip(head, u64::from(body).saturating_add(u64::from(pad))))
    }

    /// What follows the header of a DATA frame.
    pub(super) fn data(
        &mut self,
        input: &Input<'_>,
        out: &mut Out,
        stream: u32,
        (left, pad): (u32, u32),
        end: bool,
    ) -> Progress {
        if input.is_last() && (left == 0 || input.bytes.is_empty()) {
            // The lane was closed within the frame.
            self.lane(input.dir).phase = Phase::Frame;
            return Progress::consumed(input.bytes.len());
        }
        if left > 0 && input.bytes.is_empty() {
            return Progress::at_least(1);
        }
        let here = usize::try_from(left).unwrap_or(usize::MAX).min(input.bytes.len());
        let taken = input.bytes.get(..here).unwrap_or_default();
        let mut left = left.saturating_sub(u32::try_from(here).unwrap_or(u32::MAX));
        let half = self.streams.find(stream).map(|stream| stream.half(input.dir));
        let mut unread = match half.and_then(|half| half.messages.as_mut()) {
            Some(messages) => {
                let unread = messages.feed(taken).min(left);
                messages.pass(unread);
                unread
            }
            // The stream was reset meanwhile.
            None => left,
        };
        left = left.saturating_sub(unread);
        // The padding passes with the last of the data.
        let pad = if left == 0 {
            unread = unread.saturating_add(pad);
            0
        } else {
            pad
        };
        let lane = self.lane(input.dir);
        if left == 0 && unread == 0 {
            lane.phase = Phase::Frame;
            if end {
                self.end(input, out, stream, false);
            }
            return Progress::consumed(here);
        }
        lane.phase = Phase::Data { stream, left, pad, end };
        if unread == 0 { Progress::consumed(here) } else { Progress::skip(here, u64::from(unread)) }
    }
}
