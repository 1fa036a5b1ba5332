//! An estimate of how a call sounded: the E-model of ITU-T G.107, reduced to what a tap can know.
//!
//! R = 93.2 − Id − Ie,eff with the default values of G.107 for all that is not measured.
//!
//! * Id = 0.024 d + 0.11 (d − 177.3) for d > 177.3, else 0.024 d, where d is the one-way delay in milliseconds:
//!   half of the round trip that RTCP tells, if it does, and twice the mean jitter for the receiver's buffer.
//! * Ie,eff = Ie + (95 − Ie) · Ppl / (Ppl + Bpl) with Ppl the loss in percent, taken as random (BurstR = 1), and
//!   Ie, Bpl of the codec by G.113 Appendix I.
//! * MOS = 1 + 0.035 R + R (R − 60) (100 − R) · 7·10⁻⁶ (G.107 Annex B).

/// The R-factor, 0 to 93.2.
///
/// `loss` in percent, `jitter_ms` the mean, `rtt_ms` where it is known.
pub(super) fn r_factor((ie, bpl): (f64, f64), loss: f64, jitter_ms: f64, rtt_ms: Option<f64>) -> f64 {
    let delay = rtt_ms.unwrap_or(0.0) / 2.0 + 2.0 * jitter_ms;
    let late = (delay - 177.3).max(0.0);
    let id = 0.024 * delay + 0.11 * late;
    let ie_eff = ie + (95.0 - ie) * loss / (loss + bpl);
    (93.2 - id - ie_eff).clamp(0.0, 93.2)
}

/// The mean opinion score of an R-factor, 1 to 4.5.
pub(super) fn mos(r: f64) -> f64 {
    if r <= 0.0 {
        return 1.0;
    }
    (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).clamp(1.0, 4.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_scores() {
        // G.107 table: R 93.2 is MOS 4.41, R 80 is 4.03, R 70 is 3.60, R 60 is 3.10, R 50 is 2.58.
        for (r, score) in [(93.2, 4.41), (80.0, 4.02), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)] {
            assert!((mos(r) - score).abs() < 0.011, "{r}: {}", mos(r));
        }
        assert_eq!(mos(-5.0), 1.0);
        let clean = r_factor((0.0, 25.1), 0.0, 0.0, None);
        let lossy = r_factor((0.0, 25.1), 5.0, 10.0, Some(100.0));
        let late = r_factor((0.0, 25.1), 5.0, 10.0, Some(600.0));
        assert_eq!(clean, 93.2);
        // 95 · 5 / 30.1 = 15.78; 0.024 · 70 = 1.68.
        assert!((lossy - (93.2 - 15.78 - 1.68)).abs() < 0.01, "{lossy}");
        assert!(late < lossy - 20.0);
    }
}
