//! How a pianist might play it: tempo that breathes with the phrases, a pause, a ritardando, shaped dynamics, pedal.

use std::f64::consts::PI;

use crate::piece::{BARS, Hand, ScoreNote, notes};
use crate::string::Random;

/// A note as performed, in seconds of the recording.
#[derive(Debug, Clone, Copy)]
pub struct PlayedNote {
    pub pitch: u8,
    pub onset_s: f64,
    /// When the damper falls, pedal included.
    pub damped_s: f64,
    /// Strength of the blow, 0 to 1.
    pub hardness: f64,
    /// Sixteenth of the score at which it stands.
    pub score_onset: u32,
}

/// Silence before the first note.
const LEAD_IN_S: f64 = 1.25;
/// Tempo in the middle of a phrase, in beats per minute: slower than the mark.
const TEMPO: f64 = 71.0;
/// Bars at which phrases begin, from 0, and where the last one ends.
const PHRASES: [f64; 4] = [0.0, 4.0, 7.0, 11.0];
/// The pause before the second phrase, in seconds.
const PAUSE_S: f64 = 0.34;
const PAUSE_AT: u32 = 4 * 16;
const SEED: u64 = 846;

/// The performance.
pub fn perform() -> Vec<PlayedNote> {
    let times = sixteenth_times();
    let mut random = Random::new(SEED);
    let played = notes().into_iter().map(|note| {
        // Hands are never quite together, and the bass likes to lead.
        let lead_s = if note.voice == 0 { 0.012 } else { 0.0 };
        let onset_s = times[note.onset as usize] - lead_s + 0.006 * (random.signed() + random.signed());
        let key_up_s = times[(note.onset + note.length) as usize] - 0.01;
        PlayedNote {
            pitch: note.pitch,
            onset_s,
            damped_s: key_up_s.max(pedal_up_s(&times, note.onset)),
            hardness: hardness(&note, &mut random),
            score_onset: note.onset,
        }
    });
    played.collect()
}

/// Time of every sixteenth, and of the end.
fn sixteenth_times() -> Vec<f64> {
    let count = BARS.len() as u32 * 16;
    let mut random = Random::new(SEED + 1);
    let mut drift = 0.0;
    let mut time = LEAD_IN_S;
    let mut times = Vec::new();
    for sixteenth in 0..=count {
        if sixteenth == PAUSE_AT {
            time += PAUSE_S;
        }
        times.push(time);
        drift = 0.8 * drift + 0.012 * random.signed();
        time += 15.0 / tempo(f64::from(sixteenth) / 16.0) * (1.0 + drift);
    }
    times
}

/// Beats per minute at a place, in bars from the start.
fn tempo(bar: f64) -> f64 {
    let phrase = PHRASES.windows(2).find(|p| bar < p[1]).unwrap_or(&PHRASES[2..]);
    let place = (bar - phrase[0]) / (phrase[1] - phrase[0]);
    // Each phrase sets out slowly, flows, and relaxes towards its end.
    let arch = 0.84 + 0.24 * (PI * place.clamp(0.0, 1.0).powf(0.85)).sin();
    // The first note of a half bar is leaned on.
    let in_half = (2.0 * bar).fract();
    let lilt = 1.0 - 0.07 * (-in_half * 8.0).exp();
    let to_the_end = (bar - 9.6) / 1.4;
    let ritardando = if to_the_end > 0.0 { 1.0 - 0.42 * to_the_end.powf(1.5) } else { 1.0 };
    TEMPO * arch * lilt * ritardando
}

/// The pedal is changed with the harmony, a moment after the bar line; at the end it stays down a while.
fn pedal_up_s(times: &[f64], onset: u32) -> f64 {
    let next_bar = (onset / 16 + 1) * 16;
    let last = times.len() - 1;
    if next_bar as usize >= last { times[last] + 2.2 } else { times[next_bar as usize] + 0.05 }
}

fn hardness(note: &ScoreNote, random: &mut Random) -> f64 {
    let bar = f64::from(note.onset) / 16.0;
    let swell = 0.12 * (PI * bar / 5.5).sin() + 0.08 * (PI * (bar - 4.0).clamp(0.0, 3.0) / 3.0).sin();
    let voicing = match (note.hand, note.voice) {
        (Hand::Left, 0) => 0.12,
        (_, 4) => 0.08,
        _ => 0.0,
    };
    // The second half of a bar answers more softly.
    let echo = if note.onset % 16 >= 8 { -0.06 } else { 0.0 };
    (0.42 + swell + voicing + echo + 0.05 * random.signed()).clamp(0.15, 0.95)
}
