//! TCP options, read when they are asked for.

/// The options of a segment (RFC 9293 §3.1). Reading stops at the first one that is damaged or cut.
#[derive(Clone, Copy)]
pub struct TcpOptions<'a> {
    bytes: &'a [u8],
}

/// One option that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TcpOption<'a> {
    /// The largest segment that the sender will receive (RFC 9293 §3.7.1).
    Mss(u16),
    /// How many bits to shift windows by, as it is on the wire (RFC 7323 §2).
    WindowScale(u8),
    /// Selective acknowledgements are welcome (RFC 2018 §2).
    SackPermitted,
    /// Blocks that have arrived, eight bytes each (RFC 2018 §3).
    Sack(&'a [u8]),
    /// RFC 7323 §3.
    Timestamps(Timestamps),
    /// Another one: its kind and what it holds.
    Other(u8, &'a [u8]),
}

/// The timestamps option (RFC 7323 §3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock, in a unit of its own.
    pub value: u32,
    /// The receiver's clock as the sender last saw it; means something only with ACK.
    pub echo: u32,
}

/// The largest shift that a receiver may use (RFC 7323 §2.3).
const MAX_WINDOW_SCALE: u8 = 14;

impl<'a> TcpOptions<'a> {
    /// Options out of the bytes between the fixed header and the payload.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The bytes, at most 40.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The options in their order, without padding.
    pub fn iter(&self) -> impl Iterator<Item = TcpOption<'a>> + use<'a> {
        let mut rest = self.bytes;
        core::iter::from_fn(move || {
            while let [1, after @ ..] = rest {
                rest = after;
            }
            let (option, after) = split(rest)?;
            rest = after;
            Some(option)
        })
    }

    /// The maximum segment size.
    pub fn mss(&self) -> Option<u16> {
        self.iter().find_map(|option| if let TcpOption::Mss(mss) = option { Some(mss) } else { None })
    }

    /// Bits to shift windows by, 0 to 14; a larger number counts as 14, as RFC 7323 §2.3 asks.
    pub fn window_scale(&self) -> Option<u8> {
        self.iter().find_map(|option| {
            if let TcpOption::WindowScale(shift) = option { Some(shift.min(MAX_WINDOW_SCALE)) } else { None }
        })
    }

    /// Whether selective acknowledgements are welcome.
    pub fn sack_permitted(&self) -> bool {
        self.iter().any(|option| option == TcpOption::SackPermitted)
    }

    /// The timestamps.
    pub fn timestamps(&self) -> Option<Timestamps> {
        // Most segments have this option and no other one, padded in front.
        let found = match self.bytes {
            [1, 1, 8, 10, ..] => self.bytes.get(2..).and_then(split).map(|(option, _)| option),
            _ => self.iter().find(|option| matches!(option, TcpOption::Timestamps(_))),
        };
        if let Some(TcpOption::Timestamps(times)) = found { Some(times) } else { None }
    }
}

impl core::fmt::Debug for TcpOptions<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The option at the front and what is behind it; `None` at the end and at what is damaged.
fn split(bytes: &[u8]) -> Option<(TcpOption<'_>, &[u8])> {
    let [kind, len, rest @ ..] = bytes else { return None };
    if *kind == 0 {
        return None;
    }
    let (content, after) = rest.split_at_checked(usize::from(*len).checked_sub(2)?)?;
    let option = match (*kind, content) {
        (2, [high, low]) => TcpOption::Mss(u16::from_be_bytes([*high, *low])),
        (3, [shift]) => TcpOption::WindowScale(*shift),
        (4, []) => TcpOption::SackPermitted,
        (5, blocks) => TcpOption::Sack(blocks),
        (8, [a, b, c, d, e, f, g, h]) => TcpOption::Timestamps(Timestamps {
            value: u32::from_be_bytes([*a, *b, *c, *d]),
            echo: u32::from_be_bytes([*e, *f, *g, *h]),
        }),
        (kind, content) => TcpOption::Other(kind, content),
    };
    Some((option, after))
}
