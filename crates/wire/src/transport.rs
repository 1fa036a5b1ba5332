//! TCP (RFC 9293) and UDP (RFC 768).

use crate::walk::{Step, Walk};
use crate::{Body, Datagram, Segment, TcpFlags, TcpOptions, WireError};

impl<'a> Walk<'a> {
    pub(crate) fn tcp(&mut self) -> Result<Step<'a>, WireError> {
        let [sh, sl, dh, dl, seq @ .., a0, a1, a2, a3, offset, flags, wh, wl, _, _, _, _] =
            self.span.take::<20>()?;
        let header = u32::from(offset >> 4).saturating_mul(4);
        let options = header.checked_sub(20).ok_or(WireError::BadTcpLength)?;
        // Options that the snapshot length cut are no reason to lose the segment.
        let options = self.span.skip_captured(options).map_err(|_| WireError::BadTcpLength)?;
        Ok(Step::Done(Body::Tcp(Segment {
            src_port: u16::from_be_bytes([*sh, *sl]),
            dst_port: u16::from_be_bytes([*dh, *dl]),
            seq: u32::from_be_bytes(*seq),
            ack: u32::from_be_bytes([*a0, *a1, *a2, *a3]),
            flags: TcpFlags(*flags),
            window: u16::from_be_bytes([*wh, *wl]),
            options: TcpOptions::new(options),
            payload: self.span.bytes(),
            payload_len: self.span.wire(),
        })))
    }

    pub(crate) fn udp(&mut self) -> Result<Step<'a>, WireError> {
        let [sh, sl, dh, dl, len_high, len_low, _, _] = self.span.take::<8>()?;
        // 0 means "to the end" in a jumbogram (RFC 2675 §4); senders of large offloads use it too.
        let len = u32::from(u16::from_be_bytes([*len_high, *len_low]));
        if len != 0 {
            let payload = len.checked_sub(8).ok_or(WireError::BadUdpLength)?;
            if payload > self.span.wire() {
                return Err(WireError::BadUdpLength);
            }
            self.span.limit(payload);
        }
        let (src_port, dst_port) = (u16::from_be_bytes([*sh, *sl]), u16::from_be_bytes([*dh, *dl]));
        if let Some(layer) = self.udp_tunnel(dst_port)? {
            return Ok(Step::Next(layer));
        }
        Ok(Step::Done(Body::Udp(Datagram {
            src_port,
            dst_port,
            payload: self.span.bytes(),
            payload_len: self.span.wire(),
        })))
    }
}
