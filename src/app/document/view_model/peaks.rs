//! The waveform at every zoom: smallest and largest sample of ever longer stretches.

/// Samples in a stretch of the finest level.
const FINEST: usize = 64;
/// How many stretches of one level make one of the next.
const STEP: usize = 4;

/// What a stretch of samples is like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Smallest sample.
    pub min: f32,
    /// Largest sample.
    pub max: f32,
    /// Mean of the squares.
    pub power: f32,
}

impl Peak {
    const SILENT: Self = Self { min: 0.0, max: 0.0, power: 0.0 };

    fn of(samples: &[f32]) -> Self {
        let Some(&first) = samples.first() else { return Self::SILENT };
        let mut peak = Self { min: first, max: first, power: 0.0 };
        for &sample in samples {
            peak.min = peak.min.min(sample);
            peak.max = peak.max.max(sample);
            peak.power += sample * sample;
        }
        peak.power /= samples.len() as f32;
        peak
    }

    fn merged(peaks: &[Self]) -> Self {
        let Some(&first) = peaks.first() else { return Self::SILENT };
        let mut all =
            peaks.iter().fold(first, |a, b| Self { min: a.min.min(b.min), max: a.max.max(b.max), power: 0.0 });
        all.power = peaks.iter().map(|peak| peak.power).sum::<f32>() / peaks.len() as f32;
        all
    }
}

/// The levels, finest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Peaks {
    levels: Vec<Vec<Peak>>,
}

impl Peaks {
    /// Measures a recording.
    pub fn new(samples: &[f32]) -> Self {
        let mut levels: Vec<Vec<Peak>> = vec![samples.chunks(FINEST).map(Peak::of).collect()];
        while let Some(finer) = levels.last().filter(|level| level.len() > STEP) {
            let coarser = finer.chunks(STEP).map(Peak::merged).collect();
            levels.push(coarser);
        }
        Self { levels }
    }

    /// The largest sample of all, whichever its sign.
    pub fn loudest(&self) -> f32 {
        let coarsest = self.levels.last().into_iter().flatten();
        coarsest.fold(0.0, |loudest, peak| loudest.max(peak.max).max(-peak.min))
    }

    /// What the samples from `from` to `to` are like: exact for short stretches, to within a stretch of the level that
    /// suits longer ones.
    pub fn between(&self, samples: &[f32], from: usize, to: usize) -> Peak {
        let to = to.min(samples.len());
        let from = from.min(to);
        let width = to - from;
        if width <= 2 * FINEST {
            return Peak::of(&samples[from..to]);
        }
        let mut level = 0;
        let mut size = FINEST;
        while level + 1 < self.levels.len() && size * STEP * 2 <= width {
            level += 1;
            size *= STEP;
        }
        let peaks = &self.levels[level];
        let end = to.div_ceil(size).min(peaks.len());
        Peak::merged(&peaks[(from / size).min(end)..end])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_sample_is_left_out_at_any_zoom(
            samples in prop::collection::vec(-1.0f32..1.0, 0..5000),
            from in 0usize..5200,
            width in 0usize..5200,
        ) {
            let peaks = Peaks::new(&samples);
            let peak = peaks.between(&samples, from, from + width);
            for &sample in &samples[from.min(samples.len())..(from + width).min(samples.len())] {
                prop_assert!(peak.min <= sample && sample <= peak.max);
            }
            prop_assert!(peak.power >= 0.0);
        }
    }

    #[test]
    fn a_single_click_stays_visible_in_an_hour() {
        let mut samples = vec![0.0; 1_000_000];
        samples[777_777] = 0.8;
        let peaks = Peaks::new(&samples);
        let columns: Vec<Peak> = (0..100).map(|c| peaks.between(&samples, c * 10_000, (c + 1) * 10_000)).collect();
        assert_eq!(columns[77].max, 0.8);
        assert_eq!(columns[70].max, 0.0);
        assert_eq!(peaks.loudest(), 0.8);
        assert_eq!(Peaks::new(&[]).loudest(), 0.0);
    }
}
