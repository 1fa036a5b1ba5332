//! Record batches: how many records a set of them holds.
//!
//! <https://kafka.apache.org/documentation/#recordbatch>

/// Bytes of a batch up to and including its record count.
pub(super) const HEAD: usize = 61;

/// Bytes before the part that a batch's own length counts.
const BEFORE_LENGTH: usize = 12;

/// The records in a set of batches of `len` bytes, of which the front is there; `None` for the formats
/// before version 2, which do not say.
///
/// # Errors
/// How many bytes must be there to say.
pub(super) fn records(bytes: &[u8], len: usize) -> Result<Option<u32>, usize> {
    let mut records = 0u32;
    let mut at = 0usize;
    while at < len {
        let end = at.saturating_add(HEAD);
        if end > len {
            return Ok(None);
        }
        let Some(head) = bytes.get(at..end) else { return Err(end) };
        let number = |at: usize| head.get(at..)?.first_chunk().map(|four| u32::from_be_bytes(*four));
        let (Some(2), Some(size), Some(count)) = (head.get(16), number(8), number(57)) else {
            return Ok(None);
        };
        let Some(sum) = records.checked_add(count) else { return Ok(None) };
        records = sum;
        at = at.saturating_add(BEFORE_LENGTH).saturating_add(size as usize);
    }
    Ok((at == len).then_some(records))
}
