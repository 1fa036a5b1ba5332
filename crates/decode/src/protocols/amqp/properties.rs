//! The content header: body size and properties.

use crate::Cursor;

/// Entries of a header table that are looked at for a trace context.
const MAX_HEADERS: usize = 64;

/// What a content header says.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Properties<'a> {
    pub(super) body: u64,
    pub(super) content_type: &'a [u8],
    pub(super) delivery_mode: Option<u8>,
    pub(super) correlation_id: &'a [u8],
    pub(super) reply_to: &'a [u8],
    pub(super) message_id: &'a [u8],
    pub(super) kind: &'a [u8],
    pub(super) app_id: &'a [u8],
    /// The header `traceparent` (<https://www.w3.org/TR/trace-context/>).
    pub(super) traceparent: &'a [u8],
}

/// Reads a content header; properties behind a damaged one are missing. `None` when even the size is.
pub(super) fn read(payload: &[u8]) -> Option<Properties<'_>> {
    let mut cursor = Cursor::new(payload);
    cursor.take(4).ok()?;
    let mut properties = Properties { body: cursor.be_u64().ok()?, ..Properties::default() };
    let flags = cursor.be_u16().ok()?;
    let _ = fields(&mut cursor, flags, &mut properties);
    Some(properties)
}

fn fields<'a>(cursor: &mut Cursor<'a>, flags: u16, into: &mut Properties<'a>) -> Option<()> {
    for bit in (2..16u16).rev() {
        if flags >> bit & 1 == 0 {
            continue;
        }
        match bit {
            15 => into.content_type = short(cursor)?,
            13 => {
                let len = cursor.be_u32().ok()?;
                let table = cursor.take(len as usize).ok()?;
                into.traceparent = find(table, b"traceparent").unwrap_or_default();
            }
            12 => into.delivery_mode = Some(cursor.u8().ok()?),
            11 => {
                cursor.u8().ok()?;
            }
            10 => into.correlation_id = short(cursor)?,
            9 => into.reply_to = short(cursor)?,
            7 => into.message_id = short(cursor)?,
            6 => {
                cursor.be_u64().ok()?;
            }
            5 => into.kind = short(cursor)?,
            3 => into.app_id = short(cursor)?,
            _ => {
                short(cursor)?;
            }
        }
    }
    Some(())
}

fn short<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let len = cursor.u8().ok()?;
    cursor.take(usize::from(len)).ok()
}

/// The text of a key in a field table, with the types that RabbitMQ knows
/// (<https://www.rabbitmq.com/amqp-0-9-1-errata.html#section_3>).
fn find<'a>(table: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let mut cursor = Cursor::new(table);
    for _ in 0..MAX_HEADERS {
        let name = short(&mut cursor)?;
        let len = match cursor.u8().ok()? {
            b't' | b'b' | b'B' => 1,
            b's' | b'u' | b'U' => 2,
            b'I' | b'i' | b'f' => 4,
            b'D' => 5,
            b'l' | b'L' | b'd' | b'T' => 8,
            b'V' => 0,
            b'S' | b'A' | b'F' | b'x' => cursor.be_u32().ok()? as usize,
            _ => return None,
        };
        let value = cursor.take(len).ok()?;
        if name == key {
            return Some(value);
        }
    }
    None
}

/// Trace id and span id of a `traceparent`, when it is sound.
pub(super) fn trace(traceparent: &[u8]) -> Option<(&[u8], &[u8])> {
    let [_, _, b'-', rest @ ..] = traceparent else { return None };
    let (trace, rest) = rest.split_first_chunk::<32>()?;
    let (span, rest) = rest.strip_prefix(b"-")?.split_first_chunk::<16>()?;
    let hex = |text: &[u8]| text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let zero = |text: &[u8]| text.iter().all(|byte| *byte == b'0');
    let sound = rest.first() == Some(&b'-') && hex(trace) && hex(span) && !zero(trace) && !zero(span);
    sound.then_some((trace, span))
}
