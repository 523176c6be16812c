//! What is recorded beside the music: hiss, rumble, hum.

use std::f64::consts::TAU;

use crate::base::random::Random;
use crate::base::time::ANALYSIS_RATE;

const RATE: f64 = ANALYSIS_RATE as f64;

/// Adds noise at 35 to 65 dB below the music, usually. It is limited to the band that the machine records.
pub(super) fn add_noise(random: &mut Random, sound: &mut [f32], limit_hz: f64) {
    if random.chance(0.12) {
        return;
    }
    let power = sound.iter().map(|s| f64::from(*s).powi(2)).sum::<f64>() / sound.len().max(1) as f64;
    let level = power.sqrt() * 10f64.powf(random.between(-65.0, -35.0) / 20.0);
    let is_pink = random.chance(0.5);
    let smooth = (TAU * limit_hz.min(RATE) / RATE).min(1.0) as f32;
    let mut rows = [0.0f32; 3];
    let mut limited = 0.0f32;
    let scale = level as f32 * 3f32.sqrt();
    for sample in sound.iter_mut() {
        let white = random.between(-1.0, 1.0) as f32;
        let mut noise = white;
        if is_pink {
            // Three one-pole filters, a decade apart, fall by about 3 dB per octave (Paul Kellet).
            rows[0] = 0.99765 * rows[0] + white * 0.099046;
            rows[1] = 0.963 * rows[1] + white * 0.2965164;
            rows[2] = 0.57 * rows[2] + white * 1.0526913;
            noise = 0.6 * (rows[0] + rows[1] + rows[2] + white * 0.1848);
        }
        limited += smooth * (noise - limited);
        *sample += scale * limited;
    }
    if random.chance(0.2) {
        add_hum(random, sound, level);
    }
}

/// The hum of the mains with some of its harmonics.
fn add_hum(random: &mut Random, sound: &mut [f32], level: f64) {
    let mains_hz = if random.chance(0.6) { 50.0 } else { 60.0 };
    for harmonic in 1..=4 {
        let (amplitude, phase) = (level * random.unit() / f64::from(harmonic), random.between(0.0, TAU));
        let turn = TAU * mains_hz * f64::from(harmonic) / RATE;
        let (sin, cos) = turn.sin_cos();
        let (mut x, mut y) = (amplitude * phase.cos(), amplitude * phase.sin());
        for sample in sound.iter_mut() {
            *sample += x as f32;
            (x, y) = (cos * x - sin * y, sin * x + cos * y);
        }
    }
}
