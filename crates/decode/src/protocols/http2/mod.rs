//! HTTP/2: not decoded yet.

use crate::{AfterGap, DecodeError, Decoder, Input, Meta, Out, Progress, Start, Verdict};
use model::{Dir, Transport};

/// HTTP/2.
#[derive(Debug)]
pub struct Http2;

impl Decoder for Http2 {
    const META: Meta = Meta {
        name: "http2",
        title: "HTTP/2",
        transports: &[Transport::Tcp],
        ports: &[50051],
        probe_bytes: 16,
        max_message: 65_536,
        specs: &[],
        decoded: "",
        not_decoded: "",
    };

    fn open(_: Start) -> Self {
        Self
    }

    fn probe(_: &Input<'_>) -> Verdict {
        Verdict::No
    }

    fn decode(&mut self, input: &Input<'_>, _: &mut Out) -> Result<Progress, DecodeError> {
        Ok(Progress::stop(input.bytes.len()))
    }

    fn gap(&mut self, _: Dir, _: u64, _: &mut Out) -> AfterGap {
        AfterGap::Stop
    }
}
