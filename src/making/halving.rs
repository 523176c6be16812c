//! Half the sample rate, without delay and without what the new rate cannot hold.

use std::sync::OnceLock;

/// Taps on either side of the middle one, at odd distances; the others of a half-band filter are zero.
const SIDE: usize = 24;

/// Every second sample of a sound, after a linear-phase low-pass filter: sample `k` is the sound at its sample `2 k`.
pub(super) fn halve(sound: &[f32]) -> Vec<f32> {
    let taps = taps();
    let reach = 2 * SIDE - 1;
    let mut padded = vec![0.0; sound.len() + 2 * reach + 1];
    padded[reach..reach + sound.len()].copy_from_slice(sound);
    // The odd samples in a row: the filter runs over neighbours.
    let (even, odd): (Vec<f32>, Vec<f32>) = padded.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
    // `reach` is odd, so the middle of the window stands among the odd samples and its neighbours among the even ones.
    let count = sound.len().div_ceil(2);
    (0..count)
        .map(|k| {
            let window = &even[k..k + 2 * SIDE];
            0.5 * odd[k + SIDE - 1] + window.iter().zip(taps).map(|(sample, tap)| sample * tap).sum::<f32>()
        })
        .collect()
}

/// The taps at odd distances, from the earliest to the latest.
fn taps() -> &'static [f32; 2 * SIDE] {
    static TAPS: OnceLock<[f32; 2 * SIDE]> = OnceLock::new();
    TAPS.get_or_init(|| {
        let tap = |index: usize| {
            let distance = 2.0 * (index as f64 - SIDE as f64) + 1.0;
            let window = 0.5 + 0.5 * (std::f64::consts::PI * distance / (2.0 * SIDE as f64)).cos();
            window * (std::f64::consts::FRAC_PI_2 * distance).sin() / (std::f64::consts::PI * distance)
        };
        let raw: [f64; 2 * SIDE] = std::array::from_fn(tap);
        // A constant stays what it is.
        let scale = 0.5 / raw.iter().sum::<f64>();
        raw.map(|tap| (tap * scale) as f32)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(hz: f64, rate: f64, count: usize) -> Vec<f32> {
        (0..count).map(|k| (std::f64::consts::TAU * hz * k as f64 / rate).sin() as f32).collect()
    }

    #[test]
    fn low_tones_stay_in_place_and_high_ones_go() {
        let low = halve(&tone(3000.0, 44_100.0, 8001));
        assert_eq!(low.len(), 4001);
        for (k, (a, b)) in low.iter().zip(tone(3000.0, 22_050.0, 4001)).enumerate().skip(100).take(3800) {
            assert!((a - b).abs() < 1e-3, "{k}: {a} against {b}");
        }
        let high = halve(&tone(14_000.0, 44_100.0, 8000));
        assert!(high[100..3900].iter().all(|s| s.abs() < 2e-3));
    }
}
