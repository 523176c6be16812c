//! What the other strings of a piano add while the pedal is down: they ring with every note that is played.

use std::f64::consts::TAU;

use super::pedal::PedalMove;
use super::spectrum::Transform;
use crate::base::error::Result;
use crate::base::random::Random;
use crate::base::time::{ANALYSIS_RATE, seconds_to_samples};

const RATE: f64 = ANALYSIS_RATE as f64;
/// How long the strings ring at most.
pub(super) const LONGEST_RING_S: f64 = 1.6;
/// Dampers need this long to leave the strings and to fall back on them.
const DAMPERS_S: f64 = 0.06;
/// Strings, from the lowest, and how many partials of each ring.
const LOWEST: u8 = 21;
const HIGHEST: u8 = 92;
const PARTIALS: usize = 7;
const HIGHEST_HZ: f64 = 6000.0;

/// Makes strings ring with sounds that are no longer than a given length.
pub(super) struct Resonance {
    transform: Transform,
}

impl Resonance {
    /// For sounds of up to `longest` samples.
    pub fn new(longest: usize) -> Self {
        Self { transform: Transform::new(longest + (LONGEST_RING_S * RATE) as usize + 1) }
    }

    /// Adds what the strings of a piano ring while its pedal is down.
    pub fn add(&self, random: &mut Random, pedal: &[PedalMove], tuning_cents: f64, sound: &mut [f32]) -> Result<()> {
        if pedal.iter().all(|change| !change.down) {
            return Ok(());
        }
        let level = 10f64.powf(random.between(-26.0, -9.0) / 20.0) as f32;
        let mut answer = self.transform.silence();
        draw_answer(random, tuning_cents, &mut answer);
        let lifted = lifted(pedal, sound.len());
        let mut driven = self.transform.silence();
        driven.iter_mut().zip(sound.iter().zip(&lifted)).for_each(|(out, (sample, lifted))| *out = sample * lifted);
        let rung = self.transform.convolved(driven, answer)?;
        let added = rung.iter().zip(&lifted).map(|(rung, lifted)| level * rung * lifted);
        sound.iter_mut().zip(added).for_each(|(sample, added)| *sample += added);
        Ok(())
    }
}

/// How far the dampers are lifted, 0 to 1, sample by sample.
fn lifted(pedal: &[PedalMove], length: usize) -> Vec<f32> {
    let step = (1.0 / (DAMPERS_S * RATE)) as f32;
    let mut moves = pedal.iter().map(|change| (seconds_to_samples(change.second.max(0.0), ANALYSIS_RATE), change.down));
    let mut next = moves.next();
    let (mut down, mut height) = (false, 0.0f32);
    let at = |sample: usize| {
        while let Some((_, now)) = next.filter(|(from, _)| *from <= sample) {
            (down, next) = (now, moves.next());
        }
        height = (height + if down { step } else { -step }).clamp(0.0, 1.0);
        height
    };
    (0..length).map(at).collect()
}

/// The answer of all strings to a click, of energy 1.
fn draw_answer(random: &mut Random, tuning_cents: f64, answer: &mut [f32]) {
    let ring_s = random.between(0.25, 0.7);
    let dullness = random.between(0.3, 1.1);
    let length = ((LONGEST_RING_S * RATE) as usize).min(answer.len());
    for pitch in LOWEST..=HIGHEST {
        let cents = tuning_cents + 3.0 * random.normal();
        let f0 = 440.0 * 2f64.powf((f64::from(pitch) - 69.0 + cents / 100.0) / 12.0);
        for partial in 1..=PARTIALS {
            let hz = partial as f64 * f0 * (1.0 + 2e-4 * (partial * partial) as f64);
            if hz > HIGHEST_HZ {
                break;
            }
            let decay_s = ring_s * (1000.0 / (400.0 + hz)).min(1.8);
            let level = random.normal() * (partial as f64).powf(-dullness);
            ring(&mut answer[..length], hz, decay_s, level, random.between(0.0, TAU));
        }
    }
    let energy: f64 = answer.iter().map(|&sample| f64::from(sample).powi(2)).sum();
    let gain = (1.0 / energy.max(1e-12).sqrt()) as f32;
    answer.iter_mut().for_each(|sample| *sample *= gain);
}

/// Adds a tone that dies away.
fn ring(answer: &mut [f32], hz: f64, decay_s: f64, level: f64, phase: f64) {
    let (sin, cos) = (TAU * hz / RATE).sin_cos();
    let fall = (-1.0 / (decay_s * RATE)).exp();
    let (sin, cos) = ((fall * sin) as f32, (fall * cos) as f32);
    let (mut x, mut y) = ((level * phase.cos()) as f32, (level * phase.sin()) as f32);
    let heard = ((9.0 * decay_s * RATE) as usize).min(answer.len());
    for sample in &mut answer[..heard] {
        *sample += y;
        (x, y) = (cos * x - sin * y, sin * x + cos * y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(moves: &[(f64, bool)]) -> Vec<PedalMove> {
        moves.iter().map(|&(second, down)| PedalMove { second, down }).collect()
    }

    #[test]
    fn strings_ring_after_a_note_while_the_pedal_is_down_and_at_no_other_time() {
        let resonance = Resonance::new(44_100);
        let mut click = vec![0.0; 44_100];
        click[11_025] = 1.0;
        let ringing = |pedal: &[PedalMove]| {
            let mut sound = click.clone();
            resonance.add(&mut Random::at(3, &[]), pedal, 0.0, &mut sound).unwrap();
            let energy = |from: usize, until: usize| sound[from..until].iter().map(|s| s * s).sum::<f32>();
            (energy(0, 11_000), energy(11_100, 22_050), energy(24_000, 44_100))
        };
        let (before, held, after) = ringing(&moves(&[(0.1, true), (1.0, false)]));
        assert!(before < 1e-9 && held > 1e-3 && after < 1e-9, "{before} {held} {after}");
        assert_eq!(ringing(&[]), (0.0, 0.0, 0.0));
        let (_, held, after) = ringing(&moves(&[(0.1, false), (0.6, true)]));
        assert!(held < 1e-9 && after < 1e-9, "the note was over before the pedal went down");
    }
}
