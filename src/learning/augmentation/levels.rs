//! Changes of the levels of a recording, for ears.

use crate::base::random::Random;
use crate::features::{EAR_BANDS, EAR_ROW};

/// Kinds of windows that levels are measured with.
const KINDS: usize = 4;

/// How one example is made to sound.
#[derive(Debug, Clone)]
pub(in crate::learning) struct LevelChange {
    /// Factor on the amplitude of each band.
    gains: [f32; EAR_BANDS],
    /// Amplitude of noise in each band, relative to what is loud.
    noise: f32,
    /// Share of the sound that moves to the band beside: a piano out of tune.
    detuned: f32,
    beside: isize,
    /// Bands that are there at all.
    heard: std::ops::Range<usize>,
    /// Factor on the levels of the attack.
    attack: f32,
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
            let place = band as f64 / (EAR_BANDS - 1) as f64;
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
            (_, true) => 0..(limit * EAR_BANDS as f64) as usize,
            _ => 0..EAR_BANDS,
        };
        Self {
            gains: std::array::from_fn(gain),
            noise: if random.chance(0.5) { 10f64.powf(-noise_db / 20.0) as f32 } else { 0.0 },
            detuned: if is_detuned { detuned as f32 } else { 0.0 },
            beside,
            heard,
            attack: random.between(0.6, 1.15) as f32,
        }
    }

    /// Nothing is changed.
    pub(in crate::learning) fn none() -> Self {
        Self { gains: [1.0; EAR_BANDS], noise: 0.0, detuned: 0.0, beside: 1, heard: 0..EAR_BANDS, attack: 1.0 }
    }

    /// Changes rows of levels as an ear hears them.
    pub(in crate::learning) fn apply(&self, rows: &mut [f32], random: &mut Random) {
        for row in rows.chunks_exact_mut(EAR_ROW) {
            let (levels, attacks) = row.split_at_mut(KINDS * EAR_BANDS);
            levels.chunks_exact_mut(EAR_BANDS).for_each(|levels| self.change(levels, random));
            attacks.iter_mut().for_each(|attack| *attack *= self.attack);
        }
    }

    /// Changes the levels of all bands with one kind of window.
    fn change(&self, levels: &mut [f32], random: &mut Random) {
        // Levels are ln(1 + 100 a).
        let amplitudes: Vec<f32> = levels.iter().map(|level| level.exp_m1()).collect();
        for (band, (level, gain)) in levels.iter_mut().zip(self.gains).enumerate() {
            let mut sound = amplitudes[band];
            if self.detuned > 0.0 {
                let beside = band.checked_add_signed(self.beside).and_then(|band| amplitudes.get(band));
                sound = (1.0 - self.detuned) * sound + self.detuned * beside.copied().unwrap_or(0.0);
            }
            sound = if self.heard.contains(&band) { gain * sound } else { 0.0 };
            if self.noise > 0.0 {
                let noise = 100.0 * self.noise * (0.6 + 0.8 * random.unit() as f32);
                sound = (sound * sound + noise * noise).sqrt();
            }
            *level = sound.ln_1p();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_change_changes_nothing_and_any_other_keeps_levels_possible() {
        let mut random = Random::at(2, &[]);
        let rows: Vec<f32> = (0..2 * EAR_ROW).map(|i| 2.5 + 2.0 * (0.1 * i as f32).sin()).collect();
        let mut same = rows.clone();
        LevelChange::none().apply(&mut same, &mut random);
        assert!(rows.iter().zip(&same).all(|(a, b)| (a - b).abs() < 1e-5));
        for _ in 0..50 {
            let mut changed = rows.clone();
            LevelChange::draw(&mut random).apply(&mut changed, &mut random);
            assert!(changed.iter().all(|level| (0.0..8.0).contains(level)), "{changed:?}");
        }
    }
}
