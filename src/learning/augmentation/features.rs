//! Changes of the features of a recording, for extractors: cheap enough to be redrawn every epoch.
//!
//! All of it happens on decibels per band, so it needs no audio. Chroma has no frequency axis, so what is drawn for it
//! differs by pitch class. A CQT frame has lost its level, because it was scaled to length one; a typical level stands
//! in for it.

use serde::{Deserialize, Serialize};

use crate::base::random::Random;
use crate::features::FeatureKind;

/// How strong the changes may be. Each is drawn anew for every slice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::learning) struct Augmentation {
    /// Louder or softer by up to this, in dB.
    pub level_db: f64,
    /// Tone: from the lowest to the highest band up to this much more or less, in dB.
    pub tilt_db: f64,
    /// Resonances: ripples over the bands of up to this height, in dB.
    pub ripple_db: f64,
    /// How often the highest bands are missing, as in recordings of a low sample rate. For mel features only: the others
    /// end below any recording's limit.
    pub limit_chance: f64,
    /// Share of the bands that is left at least.
    pub narrowest_limit: f64,
    /// How often noise is added.
    pub noise_chance: f64,
    /// Noise below the loudest value, in dB: the softest.
    pub softest_noise_db: f64,
    /// Noise below the loudest value, in dB: the loudest.
    pub loudest_noise_db: f64,
    /// How often reverberation is added.
    pub reverb_chance: f64,
    /// Longest reverberation: seconds until it is 60 dB down.
    pub longest_reverb_s: f64,
    /// How often the score's tempo is changed.
    pub tempo_chance: f64,
    /// By how much at most, as a share.
    pub tempo_range: f64,
}

impl Default for Augmentation {
    fn default() -> Self {
        Self {
            level_db: 10.0,
            tilt_db: 12.0,
            ripple_db: 4.0,
            limit_chance: 0.5,
            narrowest_limit: 0.75,
            noise_chance: 0.5,
            softest_noise_db: 75.0,
            loudest_noise_db: 45.0,
            reverb_chance: 0.4,
            longest_reverb_s: 1.5,
            tempo_chance: 0.5,
            tempo_range: 0.06,
        }
    }
}

/// Values further below the loudest are as silent as silence, as in the features themselves.
const RANGE_DB: f32 = 80.0;
/// Length of a typical CQT frame before it is scaled to one, in dB.
const TYPICAL_CQT_LENGTH: f32 = 300.0;

impl Augmentation {
    /// Factor on the score's times.
    pub(in crate::learning) fn draw_tempo(&self, random: &mut Random) -> f64 {
        let (changed, change) = (random.chance(self.tempo_chance), random.between(-self.tempo_range, self.tempo_range));
        if changed { 1.0 + change } else { 1.0 }
    }

    /// Changes the raw features of a recording in place. `frame_s` is the time from one frame to the next.
    pub(in crate::learning) fn apply(&self, kind: FeatureKind, frame_s: f64, values: &mut [f32], random: &mut Random) {
        let dim = kind.dim();
        if kind == FeatureKind::Cqt {
            values.iter_mut().for_each(|value| *value *= TYPICAL_CQT_LENGTH);
        }
        // Everything is drawn, used or not: one change switched off leaves the others as they were.
        let gains = self.draw_gains(kind, random);
        let (reverberates, reverb_s) =
            (random.chance(self.reverb_chance), random.between(0.2, self.longest_reverb_s.max(0.2)));
        let wet_db = random.between(-18.0, -6.0);
        let (is_limited, limit) = (random.chance(self.limit_chance), random.between(self.narrowest_limit, 1.0));
        let (is_noisy, noise_db) =
            (random.chance(self.noise_chance), random.between(self.softest_noise_db, self.loudest_noise_db));
        if reverberates && kind != FeatureKind::Chroma {
            let decay = 10_f64.powf(-6.0 * frame_s / reverb_s);
            add_reverb(values, dim, decay as f32, 10_f64.powf(wet_db / 10.0) as f32);
        }
        for frame in values.chunks_exact_mut(dim) {
            frame.iter_mut().zip(&gains).for_each(|(value, gain)| *value += gain);
        }
        let loudest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        if is_noisy {
            let noise = power(loudest - noise_db as f32);
            for value in values.iter_mut() {
                // The power of noise in a band is never steady: half to one and a half of its mean.
                *value = decibel(power(*value) + noise * (0.5 + random.unit() as f32));
            }
        }
        if is_limited && kind == FeatureKind::Mel {
            for frame in values.chunks_exact_mut(dim) {
                frame[(limit * dim as f64) as usize..].fill(f32::NEG_INFINITY);
            }
        }
        values.iter_mut().for_each(|value| *value = value.max(loudest - RANGE_DB));
        if kind == FeatureKind::Cqt {
            // Zero is the loudest value of a recording; the changes may have moved it.
            let excess = loudest.max(0.0);
            for frame in values.chunks_exact_mut(dim) {
                frame.iter_mut().for_each(|value| *value -= excess);
                let length = frame.iter().map(|v| v * v).sum::<f32>().sqrt().max(1e-6);
                frame.iter_mut().for_each(|value| *value /= length);
            }
        }
    }

    fn draw_gains(&self, kind: FeatureKind, random: &mut Random) -> Vec<f32> {
        let dim = kind.dim();
        let level = random.between(-self.level_db, self.level_db);
        let tilt = random.between(-self.tilt_db, self.tilt_db);
        let height = random.between(0.0, self.ripple_db);
        let (waves, phase) = (random.between(1.0, 6.0), random.between(0.0, std::f64::consts::TAU));
        let gain = |band: usize| {
            let place = band as f64 / (dim - 1) as f64;
            let ripple = height * (std::f64::consts::TAU * waves * place + phase).sin();
            match kind {
                FeatureKind::Mel => level + tilt * (place - 0.5) + ripple,
                FeatureKind::Cqt => tilt * (place - 0.5) + ripple,
                FeatureKind::Chroma => ripple,
            }
        };
        (0..dim).map(|band| gain(band) as f32).collect()
    }
}

/// Adds a tail to every sound: the power of the frames before, decaying.
fn add_reverb(values: &mut [f32], dim: usize, decay: f32, wet: f32) {
    let mut tail = vec![0.0; dim];
    for frame in values.chunks_exact_mut(dim) {
        for (value, tail) in frame.iter_mut().zip(&mut tail) {
            let dry = power(*value);
            *value = decibel(dry + *tail);
            *tail = decay * (*tail + wet * dry);
        }
    }
}

fn power(decibel: f32) -> f32 {
    10_f32.powf(decibel / 10.0)
}

fn decibel(power: f32) -> f32 {
    10.0 * power.max(1e-20).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME_S: f64 = 1024.0 / 22_050.0;
    const KINDS: [FeatureKind; 3] = [FeatureKind::Cqt, FeatureKind::Chroma, FeatureKind::Mel];

    fn features(kind: FeatureKind) -> Vec<f32> {
        let mut values: Vec<f32> = (0..20 * kind.dim()).map(|i| -60.0 * (0.37 * i as f32).sin().powi(2)).collect();
        if kind == FeatureKind::Cqt {
            for frame in values.chunks_exact_mut(kind.dim()) {
                let length = frame.iter().map(|v| v * v).sum::<f32>().sqrt();
                frame.iter_mut().for_each(|v| *v /= length);
            }
        }
        values
    }

    fn augmented(augmentation: &Augmentation, kind: FeatureKind, seed: u64) -> Vec<f32> {
        let mut values = features(kind);
        augmentation.apply(kind, FRAME_S, &mut values, &mut Random::at(seed, &[]));
        values
    }

    #[test]
    fn what_comes_out_is_a_possible_feature_sequence_and_differs_by_draw() {
        for kind in KINDS {
            for seed in 0..30 {
                let values = augmented(&Augmentation::default(), kind, seed);
                assert!(values.iter().all(|v| v.is_finite()));
                assert_eq!(values, augmented(&Augmentation::default(), kind, seed));
                assert_ne!(values, augmented(&Augmentation::default(), kind, seed + 1));
                if kind == FeatureKind::Cqt {
                    for frame in values.chunks_exact(48) {
                        assert!((frame.iter().map(|v| v * v).sum::<f32>() - 1.0).abs() < 1e-4);
                        assert!(frame.iter().all(|v| *v <= 1e-6));
                    }
                } else {
                    let loudest = values.iter().copied().fold(f32::MIN, f32::max);
                    assert!(values.iter().all(|v| *v >= loudest - RANGE_DB - 2.0));
                }
            }
        }
    }

    #[test]
    fn nothing_drawn_means_nothing_changed() {
        let none = Augmentation {
            level_db: 0.0,
            tilt_db: 0.0,
            ripple_db: 0.0,
            limit_chance: 0.0,
            noise_chance: 0.0,
            reverb_chance: 0.0,
            tempo_chance: 0.0,
            ..Augmentation::default()
        };
        for kind in KINDS {
            let (before, after) = (features(kind), augmented(&none, kind, 4));
            assert!(before.iter().zip(&after).all(|(a, b)| (a - b).abs() < 1e-4), "{kind:?}");
        }
        assert_eq!(none.draw_tempo(&mut Random::at(1, &[])), 1.0);
    }

    #[test]
    fn a_limited_recording_is_silent_above_its_limit_and_as_it_was_below() {
        let limited = Augmentation { limit_chance: 1.0, narrowest_limit: 0.75, ..Augmentation::default() };
        let open = Augmentation { limit_chance: 0.0, ..limited };
        let (with, without) = (augmented(&limited, FeatureKind::Mel, 5), augmented(&open, FeatureKind::Mel, 5));
        let loudest = with.iter().copied().fold(f32::MIN, f32::max);
        let silent = |frame: &[f32], band: usize| frame[band] <= loudest - RANGE_DB + 3.0;
        let first = with.chunks_exact(128).next().unwrap();
        let limit = (0..128).rev().take_while(|&band| silent(first, band)).last().unwrap();
        assert!(limit >= 96, "{limit}");
        for (a, b) in with.chunks_exact(128).zip(without.chunks_exact(128)) {
            assert_eq!(a[..96], b[..96]);
            assert!((limit..128).all(|band| silent(a, band)));
        }
    }

    #[test]
    fn reverberation_decays_by_sixty_decibel_in_its_time() {
        let mut values = vec![-200.0_f32; 11];
        values[0] = 0.0;
        add_reverb(&mut values, 1, 10_f32.powf(-0.6), 0.1);
        assert!((values[1] - -16.0).abs() < 0.01, "{values:?}");
        assert!((values[10] - values[1] - -54.0).abs() < 0.1, "{values:?}");
    }
}
