//! Numbers as text, without an allocation.

/// An integer in decimal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decimal {
    bytes: [u8; 20],
    start: usize,
}

impl Decimal {
    pub(crate) fn new(value: i64) -> Self {
        let mut decimal = Self::unsigned(value.unsigned_abs());
        if value < 0 {
            decimal.push(b'-');
        }
        decimal
    }

    pub(crate) fn unsigned(mut value: u64) -> Self {
        let mut decimal = Self { bytes: [0; 20], start: 20 };
        loop {
            let [digit, ..] = (value % 10).to_le_bytes();
            decimal.push(b'0' | digit);
            value /= 10;
            if value == 0 {
                return decimal;
            }
        }
    }

    #[inline(always)]
    fn push(&mut self, byte: u8) {
        self.start = self.start.saturating_sub(1);
        if let Some(place) = self.bytes.get_mut(self.start) {
            *place = byte;
        }
    }

    #[inline(always)]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_range() {
        for value in [0, 7, -7, 10, 1_000, i64::MAX, i64::MIN] {
            assert_eq!(Decimal::new(value).as_bytes(), value.to_string().as_bytes());
        }
        assert_eq!(Decimal::unsigned(u64::MAX).as_bytes(), u64::MAX.to_string().as_bytes());
    }
}
