//! A piano that is made up: strings with random stiffness, hammers, soundboard and dampers. There are only a few recorded
//! pianos that anyone may use; an ear that is to know all pianos needs more of them.

use super::soundboard::Soundboard;
use crate::base::random::Random;
use crate::base::simd::vectorised;
use crate::base::time::ANALYSIS_RATE;

const RATE: f64 = ANALYSIS_RATE as f64;
/// Oscillators that are computed together.
const LANES: usize = 8;
/// Samples that are computed before it is looked which oscillators have died away.
const BLOCK: usize = 128;
/// Below this an oscillator is not heard any more; a loud note has a peak of about 1.
const DIED_AWAY: f32 = 2e-5;
const MOST_PARTIALS: usize = 48;
const HIGHEST_HZ: f64 = 10_200.0;
/// Keys above have no dampers.
const LAST_DAMPED: u8 = 88;

/// What one piano has of its own.
#[derive(Debug, Clone)]
pub(super) struct RandomPiano {
    seed: u64,
    stiffness: f64,
    stiffness_growth: f64,
    strike: f64,
    rolloff: f64,
    brightness_hz: f64,
    touch_brightness: f64,
    touch_loudness: f64,
    ragged_db: f64,
    ring_s: f64,
    treble_shortness: f64,
    high_damping_hz: f64,
    prompt_share: f64,
    aftersound: f64,
    detuning_cents: f64,
    out_of_tune_cents: f64,
    stretch_cents: f64,
    contact_s: f64,
    thump: f64,
    thump_s: f64,
    thump_hz: f64,
    damper_s: f64,
    /// What all strings sound through.
    pub soundboard: Soundboard,
}

/// What is to be played.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blow {
    pub pitch: u8,
    pub velocity: u8,
    /// Samples until the damper falls.
    pub held: usize,
    pub tuning_cents: f64,
}

/// Damped oscillators in groups of [`LANES`].
#[derive(Default)]
struct Strings {
    x: Vec<[f32; LANES]>,
    y: Vec<[f32; LANES]>,
    cos: Vec<[f32; LANES]>,
    sin: Vec<[f32; LANES]>,
    count: usize,
}

impl RandomPiano {
    pub fn draw(random: &mut Random) -> Self {
        Self {
            seed: (random.unit() * 1e15) as u64,
            stiffness: 10f64.powf(random.between(-3.8, -3.1)),
            stiffness_growth: random.between(0.07, 0.1),
            strike: random.between(0.105, 0.16),
            rolloff: random.between(0.3, 1.3),
            brightness_hz: random.between(700.0, 2600.0),
            touch_brightness: random.between(0.5, 1.3),
            touch_loudness: random.between(1.2, 2.1),
            ragged_db: random.between(1.0, 6.0),
            ring_s: random.between(1.6, 5.0),
            treble_shortness: random.between(0.025, 0.045),
            high_damping_hz: random.between(1200.0, 6000.0),
            prompt_share: random.between(0.12, 0.4),
            aftersound: random.between(0.1, 0.45),
            detuning_cents: random.between(0.1, 2.2),
            out_of_tune_cents: random.between(0.0, 3.5),
            stretch_cents: random.between(0.0, 20.0),
            contact_s: 10f64.powf(random.between(-3.4, -2.3)),
            thump: if random.chance(0.85) { random.between(0.02, 0.35) } else { 0.0 },
            thump_s: random.between(0.001, 0.008),
            thump_hz: random.between(150.0, 3500.0),
            damper_s: random.between(0.04, 0.15),
            soundboard: Soundboard::draw(random),
        }
    }

    /// The sound of a note, from the first touch of the hammer on.
    pub fn play(&self, random: &mut Random, blow: Blow) -> Vec<f32> {
        let mut strings = self.strings(blow);
        let damps = blow.pitch <= LAST_DAMPED;
        let damping = (-1.0 / (self.damper_s / 2.5 * RATE)).exp() as f32;
        let end =
            if damps { blow.held + (3.0 * self.damper_s * RATE) as usize } else { blow.held + (2.5 * RATE) as usize };
        let mut sound = Vec::with_capacity(end + BLOCK);
        let mut is_damped = false;
        while sound.len() < end && strings.count > 0 {
            if damps && !is_damped && sound.len() + BLOCK > blow.held {
                strings.damp(damping);
                is_damped = true;
            }
            let from = sound.len();
            sound.resize(from + BLOCK, 0.0);
            ring(&mut strings, &mut sound[from..]);
            strings.drop_silent();
        }
        let loudness = (f64::from(blow.velocity) / 127.0).powf(self.touch_loudness);
        let low = 2f64.powf((60.0 - f64::from(blow.pitch)) / 36.0);
        soften_blow(&mut sound, (self.contact_s * low * (1.4 - loudness) * RATE) as usize);
        self.add_thump(random, &mut sound, low);
        sound.iter_mut().for_each(|sample| *sample *= loudness as f32);
        sound
    }

    fn strings(&self, blow: Blow) -> Strings {
        let pitch = f64::from(blow.pitch);
        // What belongs to the key is the same at every blow.
        let mut key = Random::at(self.seed, &[u64::from(blow.pitch)]);
        let away = (pitch - 60.0) / 44.0;
        let cents = blow.tuning_cents + self.stretch_cents * away.powi(3) + self.out_of_tune_cents * key.normal();
        let f0 = 440.0 * 2f64.powf((pitch - 69.0 + cents / 100.0) / 12.0);
        let stiffness =
            self.stiffness * ((self.stiffness_growth * (pitch - 60.0)).exp() + (0.06 * (40.0 - pitch)).exp());
        let touch = (f64::from(blow.velocity) / 80.0).powf(self.touch_brightness);
        let bright = self.brightness_hz * touch * 2f64.powf((pitch - 60.0) / 30.0);
        let ring = self.ring_s * (-self.treble_shortness * (pitch - 60.0)).exp();
        let detuned = self.detuning_cents * key.between(0.3, 1.0);
        let mut strings = Strings::default();
        let mut power = 1e-9;
        let mut partials = Vec::new();
        for k in 1..=MOST_PARTIALS {
            let n = k as f64;
            let hz = n * f0 * (1.0 + stiffness * n * n).sqrt();
            let ragged = 10f64.powf(self.ragged_db * key.normal() / 20.0);
            if hz > HIGHEST_HZ {
                break;
            }
            let level = (std::f64::consts::PI * n * self.strike).sin().abs() * n.powf(-self.rolloff) * ragged;
            let level = level * (-hz / bright).exp() * if hz < 90.0 { (hz / 90.0).powi(2) } else { 1.0 };
            power += level * level;
            partials.push((hz, level, key.unit(), key.between(0.6, 1.5)));
        }
        for (hz, level, phase, luck) in partials {
            let level = 0.35 * level / f64::sqrt(power);
            let slow_s = luck * ring / (1.0 + hz / self.high_damping_hz);
            let other_hz = hz * 2f64.powf(detuned / 1200.0);
            strings.add(hz, level, slow_s * self.prompt_share, phase);
            strings.add(other_hz, level * self.aftersound, slow_s, phase);
        }
        strings
    }

    /// The knock of the hammer and the key: a burst of noise of the piano's own colour.
    fn add_thump(&self, random: &mut Random, sound: &mut [f32], low: f64) {
        let smooth = (1.0 - (-std::f64::consts::TAU * self.thump_hz / RATE).exp()) as f32;
        let fall = (-1.0 / (self.thump_s * RATE)).exp() as f32;
        let mut level = (self.thump * low.min(2.0) * 0.6 / f64::from(smooth).sqrt()) as f32;
        let mut noise = 0.0f32;
        for sample in sound.iter_mut().take((8.0 * self.thump_s * RATE) as usize) {
            noise += smooth * (random.between(-1.0, 1.0) as f32 - noise);
            *sample += level * noise;
            level *= fall;
        }
    }
}

impl Strings {
    fn add(&mut self, hz: f64, level: f64, decay_s: f64, phase: f64) {
        if level < f64::from(DIED_AWAY) {
            return;
        }
        let lane = self.count % LANES;
        if lane == 0 {
            self.lists().into_iter().for_each(|list| list.push([0.0; LANES]));
        }
        let group = self.count / LANES;
        let (turn, shrink) = (std::f64::consts::TAU * hz / RATE, (-1.0 / (decay_s.max(0.01) * RATE)).exp());
        // Strings that are struck start from rest: near the sine, a little apart so that they do not all peak at once.
        let phase = 0.5 * (phase - 0.5);
        self.x[group][lane] = (level * phase.sin()) as f32;
        self.y[group][lane] = (-level * phase.cos()) as f32;
        self.cos[group][lane] = (shrink * turn.cos()) as f32;
        self.sin[group][lane] = (shrink * turn.sin()) as f32;
        self.count += 1;
    }

    fn lists(&mut self) -> [&mut Vec<[f32; LANES]>; 4] {
        [&mut self.x, &mut self.y, &mut self.cos, &mut self.sin]
    }

    /// Multiplies every decay.
    fn damp(&mut self, factor: f32) {
        self.cos.iter_mut().chain(&mut self.sin).flatten().for_each(|value| *value *= factor);
    }

    /// Forgets groups of oscillators that are not heard any more.
    fn drop_silent(&mut self) {
        for group in (0..self.x.len()).rev() {
            let heard = (0..LANES).any(|lane| self.x[group][lane].abs() + self.y[group][lane].abs() > DIED_AWAY);
            if !heard {
                for list in self.lists() {
                    list.swap_remove(group);
                }
            }
        }
        self.count = self.x.len() * LANES;
    }
}

vectorised! {
    /// Lets the oscillators turn for the length of `out`, at most [`BLOCK`] samples, and adds them up.
    fn ring(strings: &mut Strings, out: &mut [f32]) {
        let mut sums = [[0.0f32; LANES]; BLOCK];
        for group in 0..strings.x.len() {
            let (cos, sin) = (strings.cos[group], strings.sin[group]);
            let (mut x, mut y) = (strings.x[group], strings.y[group]);
            for sum in sums.iter_mut().take(out.len()) {
                for lane in 0..LANES {
                    sum[lane] += x[lane];
                    let turned = cos[lane] * x[lane] - sin[lane] * y[lane];
                    y[lane] = sin[lane] * x[lane] + cos[lane] * y[lane];
                    x[lane] = turned;
                }
            }
            strings.x[group] = x;
            strings.y[group] = y;
        }
        for (sample, sum) in out.iter_mut().zip(&sums) {
            *sample = sum.iter().sum();
        }
    }
}

/// The hammer leaves the string after some time: the sound is not there at once.
fn soften_blow(sound: &mut [f32], contact: usize) {
    for (k, sample) in sound.iter_mut().take(contact).enumerate() {
        *sample *= 0.5 - 0.5 * (std::f32::consts::PI * (k as f32 + 0.5) / contact as f32).cos();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Energy, and the share of it that lies in steps from one sample to the next: the brighter, the more.
    fn energy(sound: &[f32]) -> (f32, f32) {
        let all: f32 = sound.iter().map(|s| s * s).sum();
        let steps: f32 = sound.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
        (all, steps / all)
    }

    #[test]
    fn a_harder_blow_is_louder_and_brighter_and_a_damped_string_falls_silent() {
        for seed in 0..12 {
            let piano = RandomPiano::draw(&mut Random::at(seed, &[]));
            let play = |velocity| {
                let blow = Blow { pitch: 52, velocity, held: 22_050, tuning_cents: 0.0 };
                piano.play(&mut Random::at(seed, &[1]), blow)
            };
            let (soft, hard) = (play(30), play(110));
            let ((soft_all, soft_bright), (hard_all, hard_bright)) = (energy(&soft[..11_025]), energy(&hard[..11_025]));
            assert!(hard_all > 5.0 * soft_all && hard_bright > soft_bright, "seed {seed}");
            let late = &hard[hard.len().min(22_050 + 6_600)..];
            let peak = |sound: &[f32]| sound.iter().fold(0.0f32, |peak, s| peak.max(s.abs()));
            assert!(peak(late) < 0.02 * peak(&hard), "seed {seed}");
            assert!(peak(&hard[..22_050]) < 2.0 && hard.iter().all(|s| s.is_finite()), "seed {seed}");
        }
    }
}
