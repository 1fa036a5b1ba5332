//! Random input for what the fuzz targets assert, and seeds for them.

use crate::golden::goldens;
use crate::random::Random;
use decode::Protocol;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use wire::Body;

/// Inputs of the two targets made from a recording: for each flow the pieces of `decoders`, and all of it as
/// operations of `tap`.
fn inputs() -> Vec<(String, Vec<Vec<u8>>, Vec<u8>)> {
    let mut inputs = Vec::new();
    for golden in goldens() {
        let name = golden.name.split('-').next().unwrap_or_default();
        let Some(protocol) = Protocol::by_name(name) else { continue };
        let mut flows: HashMap<usize, (Vec<u8>, u16)> = HashMap::new();
        let mut ops = Vec::new();
        for shot in &golden.shots {
            let frame = crate::play::frame(shot);
            let Ok(packet) = wire::parse(&frame) else { continue };
            let (src, payload) = match &packet.body {
                Body::Tcp(segment) => (segment.src_port, segment.payload),
                Body::Udp(datagram) => (datagram.src_port, datagram.payload),
                _ => continue,
            };
            let fresh = flows.len() as u8;
            let (pieces, client) =
                flows.entry(shot.flow).or_insert_with(|| (vec![protocol as u8, fresh << 1], src));
            let dir = u8::from(src != *client);
            let len = (payload.len().min(8_000) as u16).to_le_bytes();
            let payload = &payload[..payload.len().min(8_000)];
            let which = (shot.flow % 16) as u8 * Protocol::ALL.len() as u8 + protocol as u8;
            if pieces.len() == 2 {
                ops.extend([5, which, 0, 0, 5 | 8, which, 0, 0]);
            }
            if !payload.is_empty() {
                pieces.push(dir);
                pieces.extend(len);
                pieces.extend(payload);
                ops.extend([dir << 3, which]);
                ops.extend(len);
                ops.extend(payload);
            }
        }
        let pieces = flows.into_values().map(|(pieces, _)| pieces).collect();
        inputs.push((golden.name, pieces, ops));
    }
    inputs
}

/// Changes some bytes, takes some out, puts some in.
fn mutate(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.below(6) + 1 {
        let at = random.below(bytes.len() as u64 + 1) as usize;
        match random.below(4) {
            0 => {
                let end = (at + random.below(40) as usize).min(bytes.len());
                bytes.drain(at.min(end)..end);
            }
            1 => {
                let more: Vec<u8> = (0..random.below(20)).map(|_| random.next() as u8).collect();
                bytes.splice(at..at, more);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.pick(&[0, 1, 0x7F, 0x80, 0xFF, random.clone().next() as u8]);
                }
                random.next();
            }
        }
    }
    bytes
}

#[test]
fn mutated_recordings_break_no_invariant() {
    let mut random = Random::new(5);
    for (_, pieces, ops) in inputs() {
        for piece in pieces.iter().filter(|piece| piece.len() > 20).take(6) {
            decode::fuzz::decoders(piece);
            for _ in 0..10 {
                decode::fuzz::decoders(&mutate(piece, &mut random));
            }
        }
        tap::fuzz::chain(&ops);
        for _ in 0..10 {
            tap::fuzz::chain(&mutate(&ops, &mut random));
        }
    }
}

/// `FUZZ_SEEDS=FOLDER` names where the seeds go.
#[test]
#[ignore = "writes files"]
fn seeds() {
    let folder = std::env::var("FUZZ_SEEDS").expect("FUZZ_SEEDS names a folder");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    for target in ["decoders", "tap"] {
        fs::create_dir_all(folder.join(target)).expect("a folder to write to");
    }
    for (name, pieces, ops) in inputs() {
        for (i, piece) in pieces.iter().enumerate() {
            fs::write(folder.join(format!("decoders/{name}-{i}")), piece).expect("a folder to write to");
        }
        fs::write(folder.join(format!("tap/{name}")), ops).expect("a folder to write to");
    }
}
