//! What happens to frames between the wire and a capture file.

use crate::frames::Shot;
use crate::random::Random;

/// How a capture is damaged.
#[derive(Debug, Clone, Copy, Default)]
pub struct Damage {
    /// Frames that are lost, of a thousand. Their receivers had them.
    pub lost: u64,
    /// Frames that change places with one of the next three of their flow, of a thousand.
    pub swapped: u64,
    /// Whether those get the time of their new place.
    pub restamped: bool,
    /// Frames that are seen twice, of a thousand.
    pub repeated: u64,
    /// Bytes of a frame that are kept; 0 keeps all.
    pub snaplen: usize,
    /// Frames before the capture began.
    pub skipped: usize,
}

impl Damage {
    pub fn to(self, shots: &[Shot], random: &mut Random) -> Vec<Shot> {
        let mut left: Vec<Shot> = Vec::with_capacity(shots.len());
        for shot in shots.get(self.skipped..).unwrap_or_default() {
            if random.happens(self.lost) {
                continue;
            }
            left.push(shot.clone());
            if random.happens(self.repeated) {
                left.push(shot.clone());
            }
        }
        for at in 0..left.len() {
            if !random.happens(self.swapped) {
                continue;
            }
            let flow = left[at].flow;
            let steps = random.below(3) as usize;
            let of_flow = (at + 1..left.len()).filter(|next| left[*next].flow == flow);
            if let Some(with) = of_flow.take(4).nth(steps) {
                left.swap(at, with);
                if self.restamped {
                    // Stamped where they are written; otherwise time goes back.
                    let (first, second) = (left[with].time, left[at].time);
                    (left[at].time, left[with].time) = (first, second);
                }
            }
        }
        if self.snaplen > 0 {
            left.iter_mut().for_each(|shot| shot.bytes.truncate(self.snaplen));
        }
        left
    }
}
