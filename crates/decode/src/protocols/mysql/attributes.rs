//! The attributes that a query may carry in front of its text (`CLIENT_QUERY_ATTRIBUTES`).

use super::framing::Reader;

/// What stands behind the command byte of `COM_QUERY`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behind<'a> {
    /// The text.
    Text(&'a [u8]),
    /// Attributes that could not be passed over.
    Unknown,
}

/// Passes over the attributes. `agreed` is `None` when the capabilities were not seen: then they are there
/// when the first byte cannot be of a statement and the number of sets is 1, as it always is.
pub(super) fn pass(body: &[u8], agreed: Option<bool>) -> Behind<'_> {
    let there = agreed
        .unwrap_or_else(|| matches!(body, [count, 1, ..] if *count < b' ' && !count.is_ascii_whitespace()));
    if !there {
        return Behind::Text(body);
    }
    text(body).map_or(Behind::Unknown, Behind::Text)
}

fn text(body: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader::new(body);
    let count = usize::try_from(reader.int()?).ok()?;
    reader.int()?;
    if count == 0 {
        return Some(reader.rest());
    }
    let nulls = reader.take(count.div_ceil(8))?;
    // The types always come with a query.
    reader.u8()?;
    let mut types = reader;
    for _ in 0..count {
        reader.u16()?;
        reader.counted()?;
    }
    for i in 0..count {
        let kind = types.u16()? & 0xff;
        types.counted()?;
        let null = nulls.get(i / 8).is_some_and(|bits| bits >> (i % 8) & 1 == 1);
        if !null {
            value(&mut reader, kind)?;
        }
    }
    Some(reader.rest())
}

/// Passes over a binary value of a column type.
fn value(reader: &mut Reader<'_>, kind: u16) -> Option<()> {
    let length = match kind {
        1 => 1,
        2 | 13 => 2,
        3 | 4 | 9 => 4,
        5 | 8 => 8,
        6 => 0,
        7 | 10 | 11 | 12 => usize::from(reader.u8()?),
        _ => return reader.counted().map(|_| ()),
    };
    reader.take(length).map(|_| ())
}
