//! The way from the instruments to the listener: a room, a microphone, a machine that records, with all their faults.

use realfft::num_complex::Complex;

use super::noise::add_noise;
use super::spectrum::Transform;
use crate::base::error::Result;
use crate::base::random::Random;
use crate::base::time::ANALYSIS_RATE;

const RATE: f64 = ANALYSIS_RATE as f64;
/// No room rings longer.
const LONGEST_RING_S: f64 = 2.2;
/// First reflections arrive within this time.
const EARLY_S: (f64, f64) = (0.003, 0.06);
/// A second microphone hears the same up to this much later.
const APART_S: (f64, f64) = (0.0003, 0.004);

/// Makes recordings of dry sounds that are no longer than a given length.
pub(super) struct Room {
    transform: Transform,
}

impl Room {
    /// For sounds of up to `longest` samples.
    pub fn new(longest: usize) -> Self {
        Self { transform: Transform::new(longest + (LONGEST_RING_S * RATE) as usize + 1) }
    }

    /// The recording of a dry sound: as long as that, its peak at most 0.97.
    pub fn record(&self, random: &mut Random, dry: &[f32]) -> Result<Vec<f32>> {
        let mut padded = self.transform.silence();
        padded[..dry.len()].copy_from_slice(dry);
        let mut spectrum = self.transform.spectrum(padded)?;
        if random.chance(0.88) {
            let mut echo = self.transform.silence();
            draw_echo(random, &mut echo);
            let echo = self.transform.spectrum(echo)?;
            spectrum.iter_mut().zip(&echo).for_each(|(value, echo)| *value *= echo);
        }
        let colour = Colour::draw(random);
        apply(&colour, RATE / self.transform.length() as f64, &mut spectrum);
        let mut sound = self.transform.sound(spectrum)?;
        sound.truncate(dry.len());
        scale_to_peak(&mut sound, 1.0);
        distort(random, &mut sound);
        add_noise(random, &mut sound, colour.limit_hz);
        scale_to_peak(&mut sound, 10f64.powf(random.between(-12.0, -0.3) / 20.0) as f32);
        Ok(sound)
    }
}

/// A room's answer to a click: the click itself, some reflections, and a tail that dies away.
fn draw_echo(random: &mut Random, echo: &mut [f32]) {
    let ring_s = random.between(0.2, LONGEST_RING_S);
    let level_db = if random.chance(0.1) { random.between(-6.0, 0.0) } else { random.between(-24.0, -5.0) };
    let rise_s = random.between(0.002, 0.03);
    // High sounds die away sooner: the tail grows duller.
    let (bright, dull) = (random.between(0.3, 0.95) as f32, random.between(0.05, 0.3) as f32);
    let count = ((ring_s * RATE) as usize).min(echo.len());
    let mut smooth = 0.0f32;
    let mut power = 1e-12;
    let fall = (-6.9 / (ring_s * RATE)).exp();
    let rise = (-1.0 / (rise_s * RATE)).exp();
    let (mut level, mut missing) = (1.0, 1.0);
    for (k, sample) in echo[..count].iter_mut().enumerate() {
        let share = k as f32 / count as f32;
        smooth += (bright + share * (dull - bright)) * (random.between(-1.0, 1.0) as f32 - smooth);
        *sample = smooth * (level * (1.0 - missing)) as f32;
        power += f64::from(*sample).powi(2);
        level *= fall;
        missing *= rise;
    }
    let gain = (10f64.powf(level_db / 20.0) / power.sqrt()) as f32;
    echo[..count].iter_mut().for_each(|sample| *sample *= gain);
    for _ in 0..random.below(7) {
        let at = (random.between(EARLY_S.0, EARLY_S.1) * RATE) as usize;
        echo[at.min(count - 1)] += (0.22 * random.normal()) as f32;
    }
    echo[0] = 1.0;
    // Recordings of pianos are made with two microphones and more; mixed to one they blur every attack.
    if random.chance(0.5) {
        let at = (random.between(APART_S.0, APART_S.1) * RATE) as usize;
        echo[at.min(count - 1)] += random.between(0.4, 1.0) as f32;
    }
}

/// What a microphone and a recorder do to the balance of high and low.
struct Colour {
    tilt_db: f64,
    wave_db: f64,
    wave: (f64, f64),
    low_hz: f64,
    /// Nothing is recorded above.
    limit_hz: f64,
    steepness: i32,
}

impl Colour {
    fn draw(random: &mut Random) -> Self {
        // Archives at 16 kHz, old or simple machines, or all there is.
        let (limit_hz, steepness) = match random.unit() {
            archive if archive < 0.2 => (random.between(7200.0, 7900.0), 64),
            dull if dull < 0.45 => (random.between(4200.0, 10_500.0), 16),
            _ => (f64::INFINITY, 2),
        };
        Self {
            tilt_db: if random.chance(0.7) { random.between(-4.0, 4.0) } else { 0.0 },
            wave_db: random.between(0.0, 4.0),
            wave: (random.between(0.5, 2.5), random.between(0.0, std::f64::consts::TAU)),
            low_hz: random.between(12.0, 60.0),
            limit_hz,
            steepness,
        }
    }

    /// Gain at a frequency.
    fn gain(&self, hz: f64) -> f64 {
        let octave = (hz.max(30.0) / 1000.0).log2();
        let db = self.tilt_db * octave + self.wave_db * (self.wave.0 * octave + self.wave.1).sin();
        let above = (hz / self.limit_hz).min(1e3).powi(self.steepness);
        10f64.powf(db / 20.0) * hz / (hz + self.low_hz) / (1.0 + above)
    }
}

/// Frequencies for which the gain is computed together: it changes slowly.
const BINS: usize = 64;

fn apply(colour: &Colour, hz_per_bin: f64, spectrum: &mut [Complex<f32>]) {
    for (group, bins) in spectrum.chunks_mut(BINS).enumerate() {
        let at = |bin: usize| colour.gain((group * BINS + bin) as f64 * hz_per_bin) as f32;
        let (from, to) = (at(0), at(BINS));
        for (bin, value) in bins.iter_mut().enumerate() {
            *value *= from + (to - from) * bin as f32 / BINS as f32;
        }
    }
}

/// Overdriven, clipped or levelled, sometimes.
fn distort(random: &mut Random, sound: &mut [f32]) {
    match random.unit() {
        soft if soft < 0.15 => {
            let drive = random.between(1.0, 2.5) as f32;
            sound.iter_mut().for_each(|sample| *sample = (drive * *sample).tanh() / drive);
        }
        hard if hard < 0.2 => {
            let limit = random.between(0.6, 0.95) as f32;
            sound.iter_mut().for_each(|sample| *sample = sample.clamp(-limit, limit));
        }
        levelled if levelled < 0.35 => {
            level_out(sound, random.between(0.15, 0.5) as f32, random.between(0.05, 0.4));
        }
        _ => {}
    }
}

/// Makes what is loud softer, `amount` of the difference in decibels, after `seconds`.
fn level_out(sound: &mut [f32], amount: f32, seconds: f64) {
    let follow = (1.0 - (-1.0 / (seconds * RATE)).exp()) as f32;
    let floor = 0.03f32;
    let mut power = floor * floor;
    for sample in sound {
        power += follow * (*sample * *sample - power);
        *sample *= (power.sqrt().max(floor) / 0.2).powf(-amount);
    }
}

fn scale_to_peak(sound: &mut [f32], peak: f32) {
    let largest = sound.iter().fold(0.0f32, |largest, s| largest.max(s.abs()));
    if largest > 0.0 {
        sound.iter_mut().for_each(|sample| *sample *= peak / largest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_moves_nothing_and_clips_nothing() {
        let mut dry = vec![0.0; 30_000];
        dry[10_000] = 1.0;
        let room = Room::new(40_000);
        for seed in 0..20 {
            let heard = room.record(&mut Random::at(seed, &[]), &dry).unwrap();
            assert_eq!(heard.len(), dry.len());
            let loudest = (0..heard.len()).max_by(|&a, &b| heard[a].abs().total_cmp(&heard[b].abs())).unwrap();
            assert!(loudest.abs_diff(10_000) < 30, "seed {seed}: {loudest}");
            assert!(heard.iter().all(|s| s.abs() < 0.98));
        }
    }
}
