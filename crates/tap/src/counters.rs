//! What a tap counts beside the flow table.

use correlate::Outcome;
use decode::What;
use wire::WireError;

/// Plain numbers of one shard.
#[derive(Debug, Clone)]
pub struct Counters {
    /// Frames taken.
    pub frames: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Frames that hold no packet, by cause.
    pub refused: [u64; WireError::ALL.len()],
    /// Errors of decoders, by cause.
    pub decode_errors: [u64; What::ALL.len()],
    /// Roundtrips by outcome, in the order of [`Outcome::ALL`].
    pub roundtrips: [u64; Outcome::ALL.len()],
    /// Flows that were given up after too many errors.
    pub given_up: u64,
    /// Bytes of flows whose protocol is not known.
    pub unknown_bytes: u64,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            frames: 0,
            bytes: 0,
            refused: [0; WireError::ALL.len()],
            decode_errors: [0; What::ALL.len()],
            roundtrips: [0; Outcome::ALL.len()],
            given_up: 0,
            unknown_bytes: 0,
        }
    }
}

impl Counters {
    pub(crate) fn refuse(&mut self, error: WireError) {
        if let Some(at) = WireError::ALL.iter().position(|other| *other == error) {
            self.refused[at] = self.refused[at].saturating_add(1);
        }
    }

    pub(crate) fn decode_error(&mut self, what: What) {
        let slot = &mut self.decode_errors[what as usize];
        *slot = slot.saturating_add(1);
    }

    pub(crate) fn roundtrip(&mut self, outcome: Outcome) {
        let slot = &mut self.roundtrips[outcome as usize];
        *slot = slot.saturating_add(1);
    }

    /// Frames that hold no packet.
    pub fn refused_frames(&self) -> u64 {
        self.refused.iter().sum()
    }
}
