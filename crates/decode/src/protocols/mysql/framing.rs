//! Packets: three bytes of length, a number, a payload; and the integers inside.
//!
//! * In: the front of a lane, or of a payload.
//! * Out: heads, numbers, texts.
//! * Owned: nothing.
//! * Bounded by: 16 MiB a packet; longer payloads go on in the next packet.
//! * Lost: nothing.

/// Bytes of a packet's head.
pub(super) const HEAD: usize = 4;

/// The length that says that the payload goes on.
const FULL: usize = 0xff_ffff;

/// The head of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub length: usize,
    pub sequence: u8,
}

impl Head {
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let [a, b, c, sequence] = *bytes.first_chunk::<HEAD>()?;
        let length = usize::try_from(u32::from_le_bytes([a, b, c, 0])).ok()?;
        Some(Self { length, sequence })
    }

    /// Whether the next packet goes on with this one.
    pub const fn continues(self) -> bool {
        self.length == FULL
    }

    /// Bytes on the wire.
    pub const fn total(self) -> u64 {
        (self.length as u64).saturating_add(HEAD as u64)
    }
}

/// Packets that follow each other and are whole rows, as far as their heads tell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'a> {
    /// How many there are.
    pub count: u64,
    /// The number of the last one, or of the packet before.
    pub sequence: u8,
    /// What is behind them.
    pub rest: &'a [u8],
}

impl<'a> Run<'a> {
    /// Steps over rows, the first of which has the number after `sequence`. A result set has thousands of them, so
    /// each costs the step over its length; whatever is not plainly a row that ends in `bytes` ends the run: `OK`,
    /// `EOF` and `ERR` by their first bytes, empty and full packets, a wrong number.
    pub fn of(bytes: &'a [u8], sequence: u8) -> Self {
        let mut run = Self { count: 0, sequence, rest: bytes };
        while let Some(&[a, b, c, d, first]) = run.rest.first_chunk() {
            // In one load.
            let head = u32::from_le_bytes([a, b, c, d]);
            let (length, number) = ((head & 0xff_ffff) as usize, head >> 24);
            let follows = number == u32::from(run.sequence.wrapping_add(1));
            // Neither 0 nor all that three bytes can say.
            let plain = length.wrapping_sub(1) < FULL.wrapping_sub(1);
            if !(follows && plain && first < 0xfe) {
                break;
            }
            let Some(rest) = run.rest.get(HEAD.saturating_add(length)..) else { break };
            // There are fewer rows than bytes.
            run = Self { count: run.count.wrapping_add(1), sequence: run.sequence.wrapping_add(1), rest };
        }
        run
    }
}

/// Reads a payload from front to back; `None` behind its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub const fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*taken)
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A length-encoded integer.
    pub fn int(&mut self) -> Option<u64> {
        match self.u8()? {
            0xfc => self.u16().map(u64::from),
            0xfd => self.array().map(|[a, b, c]| u64::from(u32::from_le_bytes([a, b, c, 0]))),
            0xfe => self.array().map(u64::from_le_bytes),
            0xfb | 0xff => None,
            byte => Some(u64::from(byte)),
        }
    }

    /// A text behind its length.
    pub fn counted(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.int()?).ok()?;
        self.take(length)
    }

    /// A text up to a NUL, which is passed.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let at = self.rest.iter().position(|byte| *byte == 0)?;
        let text = self.take(at)?;
        self.u8()?;
        Some(text)
    }
}
