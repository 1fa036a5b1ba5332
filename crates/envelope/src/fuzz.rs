//! What must hold for any input: called by the fuzz targets and by stable tests over the same
//! corpus. A function here panics when an invariant is broken.

use crate::hep::{self, Frame, Hep};

/// Any bytes as a HEP packet, and its payload as SIP.
pub fn hep(bytes: &[u8]) {
    let Ok(packet) = hep::open(bytes) else { return };
    assert!(packet.consumed <= bytes.len(), "a packet is longer than its bytes");
    assert!(matches!(packet.version, 1..=3));
    assert_eq!(packet.others().next().is_some(), packet.has_others);
    if packet.version == 3 {
        assert_eq!(hep::frame_len(bytes), Frame::Len(packet.consumed));
        same_without_trailing_bytes(bytes, &packet);
        round_trip(&packet);
    }
    if let Some(time) = packet.time {
        let (ns, _) = time.normalise(1_700_000_000_000_000_000);
        assert!((946_684_800_000_000_000..=1_700_086_400_000_000_000).contains(&ns));
    }
    if let Some(payload) = packet.payload {
        if payload.compressed {
            let mut out = Vec::new();
            let result = hep::inflate(payload.bytes, &mut out, 4096);
            assert!(out.len() <= 4096 && (result.is_ok() || out.is_empty()));
        }
        decode::fuzz::sip(payload.bytes);
    }
}

fn same_without_trailing_bytes(bytes: &[u8], packet: &Hep<'_>) {
    let exact = bytes.get(..packet.consumed).map(hep::open);
    assert!(exact.is_some_and(|exact| exact.is_ok_and(|exact| same_fields(&exact, packet))));
}

/// Encoding what was opened and opening it again gives the same fields.
fn round_trip(packet: &Hep<'_>) {
    // Eight-byte MAC addresses may make a packet of six-byte ones too large.
    let Ok(again) = hep::encode(packet) else { return };
    let again = hep::open(&again);
    assert!(again.is_ok_and(|again| same_fields(&again, packet)));
}

/// Whether two packets say the same, but for what their encoding decides.
pub fn same_fields(a: &Hep<'_>, b: &Hep<'_>) -> bool {
    let fields = |hep: &Hep<'_>| {
        let hep = Hep {
            has_others: false,
            notices: hep::Notices::NONE,
            consumed: 0,
            chunks: &[],
            version: 3,
            ..hep.clone()
        };
        format!("{hep:?}")
    };
    fields(a) == fields(b)
}

/// Any bytes as a stream that arrives in pieces. The first byte picks the size of the pieces.
///
/// However the stream is cut, the same packets come out of it, and what is not HEP is refused no
/// later than with its sixth byte.
pub fn tcp_framing(bytes: &[u8]) {
    let Some((step, stream)) = bytes.split_first() else { return };
    let whole = packets(stream, stream.len().max(1));
    let pieces = packets(stream, usize::from(*step).max(1));
    assert_eq!(whole, pieces, "the cut of a stream changes its packets");
}

/// The packets of a stream that arrives in pieces of `step` bytes: where each one ends, and whether
/// the stream was refused.
fn packets(stream: &[u8], step: usize) -> (Vec<usize>, bool) {
    let (mut ends, mut start, mut arrived) = (Vec::new(), 0usize, 0usize);
    loop {
        let waiting = stream.get(start..arrived).unwrap_or(&[]);
        match hep::frame_len(waiting) {
            Frame::Bad => return (ends, true),
            Frame::Len(len) if len <= waiting.len() => {
                assert!(len >= 6, "a packet without a header");
                let _ = waiting.get(..len).map(hep::open);
                start = start.saturating_add(len);
                ends.push(start);
                continue;
            }
            Frame::Len(_) => {}
            Frame::NeedMore => assert!(waiting.len() < 6, "six bytes are enough"),
        }
        if arrived >= stream.len() {
            return (ends, false);
        }
        arrived = arrived.saturating_add(step).min(stream.len());
    }
}
