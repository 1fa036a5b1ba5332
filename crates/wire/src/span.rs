//! The bytes of one layer: those that were captured, and how many there were on the wire.

use crate::WireError;

/// A part of a frame that is read from the front.
///
/// Invariant: `wire >= bytes.len()`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<'a> {
    bytes: &'a [u8],
    wire: u32,
}

impl<'a> Span<'a> {
    /// Captured bytes, of which there were `wire` on the wire; a number that is too small is not believed.
    pub fn new(bytes: &'a [u8], wire: u32) -> Self {
        Self { bytes, wire: wire.max(len(bytes)) }
    }

    /// What is left of the captured bytes.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// How many bytes were left on the wire.
    pub const fn wire(&self) -> u32 {
        self.wire
    }

    /// Takes a header of `N` bytes.
    pub fn take<const N: usize>(&mut self) -> Result<&'a [u8; N], WireError> {
        let Some((header, rest)) = self.bytes.split_first_chunk::<N>() else { return Err(self.short(N)) };
        self.bytes = rest;
        self.wire = self.wire.saturating_sub(const { small(N) });
        Ok(header)
    }

    /// The next `N` bytes, which stay; `None` when they are not there.
    pub fn peek<const N: usize>(&self) -> Option<&'a [u8; N]> {
        self.bytes.first_chunk::<N>()
    }

    /// Takes `n` bytes.
    pub fn skip(&mut self, n: usize) -> Result<&'a [u8], WireError> {
        let Some((skipped, rest)) = self.bytes.split_at_checked(n) else { return Err(self.short(n)) };
        self.bytes = rest;
        self.wire = self.wire.saturating_sub(len(skipped));
        Ok(skipped)
    }

    /// Takes `n` bytes or as many of them as were captured. `Truncated` when there were fewer on the wire.
    pub fn skip_captured(&mut self, n: u32) -> Result<&'a [u8], WireError> {
        self.wire = self.wire.checked_sub(n).ok_or(WireError::Truncated)?;
        let n = usize::try_from(n).unwrap_or(usize::MAX).min(self.bytes.len());
        let (skipped, rest) = self.bytes.split_at_checked(n).unwrap_or((self.bytes, &[]));
        self.bytes = rest;
        Ok(skipped)
    }

    /// A length field says that the layer has `n` bytes: what is behind them does not belong to it, and
    /// what is missing of them was not captured.
    pub fn limit(&mut self, n: u32) {
        let captured = usize::try_from(n).unwrap_or(usize::MAX);
        self.bytes = self.bytes.get(..captured).unwrap_or(self.bytes);
        self.wire = n;
    }

    #[cold]
    fn short(&self, n: usize) -> WireError {
        if usize::try_from(self.wire).is_ok_and(|wire| wire < n) {
            WireError::Truncated
        } else {
            WireError::Cut
        }
    }
}

fn len(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

/// The size of a header, which is checked while compiling.
const fn small(n: usize) -> u32 {
    assert!(n < 256, "a header of a fixed size is short");
    let [low, ..] = n.to_le_bytes();
    low as u32
}
