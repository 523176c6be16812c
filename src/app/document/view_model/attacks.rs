//! Where sound begins in the recording, for a dragged onset to snap to.

/// Samples between two looks.
const HOP: usize = 128;
/// How much the level must rise (natural logarithm of power) from the average of the time just before.
const RISE: f32 = 1.0;
/// Looks that the average goes over, and that two attacks are apart at least.
const REACH: usize = 8;
/// Power below which nothing is heard.
const FLOOR: f32 = 1e-7;

/// Times of sudden rises of level, in seconds, increasing.
pub fn attacks_s(samples: &[f32], rate: u32) -> Vec<f64> {
    let mut previous = 0.0;
    // Differences of samples: high frequencies, where attacks are sharpest.
    let levels: Vec<f32> = samples
        .chunks(HOP)
        .map(|chunk| {
            let power = chunk.iter().fold(0.0, |sum, &s| {
                let difference = s - previous;
                previous = s;
                sum + difference * difference
            });
            (power / chunk.len() as f32 + FLOOR).ln()
        })
        .collect();
    let rise = |i: usize| {
        let before = &levels[i.saturating_sub(REACH)..i];
        levels[i] - before.iter().sum::<f32>() / before.len().max(1) as f32
    };
    let mut attacks = Vec::new();
    let mut blocked_until = 1;
    for i in 1..levels.len() {
        if i >= blocked_until && rise(i) > RISE {
            let summit =
                (i..(i + REACH / 2).min(levels.len())).max_by(|&a, &b| rise(a).total_cmp(&rise(b))).unwrap_or(i);
            let steepest =
                (i..=summit).max_by(|&a, &b| (levels[a] - levels[a - 1]).total_cmp(&(levels[b] - levels[b - 1])));
            attacks.push((steepest.unwrap_or(i) * HOP) as f64 / f64::from(rate));
            blocked_until = summit + REACH;
        }
    }
    attacks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plucked_tones_are_found_to_a_few_milliseconds() {
        let rate = 22_050;
        let onsets = [0.5, 0.9, 1.4, 2.2];
        let mut samples = vec![0.0f32; rate as usize * 3];
        for (k, onset) in onsets.iter().enumerate() {
            let start = (onset * f64::from(rate)) as usize;
            for i in 0..samples.len() - start {
                let t = i as f32 / rate as f32;
                samples[start + i] += 0.3 * (-4.0 * t).exp() * (t * 2764.0 * (1.0 + k as f32 * 0.2)).sin();
            }
        }
        let found = attacks_s(&samples, rate);
        assert_eq!(found.len(), onsets.len(), "{found:?}");
        for (found, onset) in found.iter().zip(onsets) {
            assert!((found - onset).abs() < 0.008, "{found} against {onset}");
        }
        assert!(attacks_s(&[0.0; 5000], rate).is_empty());
        assert!(attacks_s(&[], rate).is_empty());
    }
}
