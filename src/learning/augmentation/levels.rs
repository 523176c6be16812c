//! Changes of the semitone levels of a recording, for ears.

use crate::base::random::Random;
use crate::features::SEMITONE_BANDS;

/// How one example is made to sound.
#[derive(Debug, Clone)]
pub(in crate::learning) struct LevelChange {
    /// Factor on the amplitude of each band.
    gains: [f32; SEMITONE_BANDS],
    /// Amplitude of noise in each band, relative to what is loud.
    noise: f32,
    /// Share of the sound that moves to the band beside: a piano out of tune.
    detuned: f32,
    beside: isize,
    /// Bands that are there at all.
    heard: std::ops::Range<isize>,
    attack: f32,
    attack_noise: f32,
}

impl LevelChange {
    /// Draws one. One in five leaves all as it is.
    pub(in crate::learning) fn draw(random: &mut Random) -> Self {
        if random.chance(0.2) {
            return Self::none();
        }
        let level = random.between(-10.0, 6.0);
        let tilt = random.between(-12.0, 12.0);
        let height = random.between(0.0, 5.0);
        let (waves, phase) = (random.between(1.0, 8.0), random.between(0.0, std::f64::consts::TAU));
        let gain = |band: usize| {
            let place = band as f64 / (SEMITONE_BANDS - 1) as f64;
            let ripple = height * (std::f64::consts::TAU * waves * place + phase).sin();
            10f64.powf((level + tilt * (place - 0.5) + ripple) / 20.0) as f32
        };
        let noise_db = random.between(25.0, 70.0);
        let (is_detuned, detuned) = (random.chance(0.4), random.between(0.0, 0.3));
        let beside = if random.chance(0.5) { 1 } else { -1 };
        let (is_telephone, is_limited) = (random.chance(0.07), random.chance(0.2));
        let limit = random.between(0.7, 1.0);
        let heard = match (is_telephone, is_limited) {
            (true, _) => 41..84,
            (_, true) => 0..(limit * SEMITONE_BANDS as f64) as isize,
            _ => 0..SEMITONE_BANDS as isize,
        };
        Self {
            gains: std::array::from_fn(gain),
            noise: if random.chance(0.5) { 10f64.powf(-noise_db / 20.0) as f32 } else { 0.0 },
            detuned: if is_detuned { detuned as f32 } else { 0.0 },
            beside,
            heard,
            attack: random.between(0.4, 1.2) as f32,
            attack_noise: random.between(0.0, 0.08) as f32,
        }
    }

    /// Nothing is changed.
    pub(in crate::learning) fn none() -> Self {
        Self {
            gains: [1.0; SEMITONE_BANDS],
            noise: 0.0,
            detuned: 0.0,
            beside: 1,
            heard: 0..SEMITONE_BANDS as isize,
            attack: 1.0,
            attack_noise: 0.0,
        }
    }

    /// The level of a band, `level` being that of the bands round it as they are.
    pub(in crate::learning) fn level(&self, level: &dyn Fn(isize) -> f32, band: isize, random: &mut Random) -> f32 {
        let Some(&gain) = usize::try_from(band).ok().and_then(|band| self.gains.get(band)) else { return 0.0 };
        // Levels are ln(1 + 100 a).
        let amplitude = |offset: isize| level(offset).exp_m1();
        let mut sound = amplitude(0);
        if self.detuned > 0.0 {
            sound = (1.0 - self.detuned) * sound + self.detuned * amplitude(self.beside);
        }
        sound = if self.heard.contains(&band) { gain * sound } else { 0.0 };
        if self.noise > 0.0 {
            let noise = 100.0 * self.noise * (0.6 + 0.8 * random.unit() as f32);
            sound = (sound * sound + noise * noise).sqrt();
        }
        sound.ln_1p()
    }

    /// The attack as a whole.
    pub(in crate::learning) fn attack(&self, attack: f32, random: &mut Random) -> f32 {
        self.attack * attack + self.attack_noise * random.unit() as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_change_changes_nothing_and_any_other_keeps_levels_possible() {
        let mut random = Random::at(2, &[]);
        let level = |_: isize| 2.5f32;
        assert!((LevelChange::none().level(&level, 40, &mut random) - 2.5).abs() < 1e-5);
        assert_eq!(LevelChange::none().attack(0.4, &mut random), 0.4);
        for _ in 0..200 {
            let change = LevelChange::draw(&mut random);
            for band in -12..110 {
                let value = change.level(&level, band, &mut random);
                assert!((0.0..8.0).contains(&value), "{value}");
            }
        }
    }
}
