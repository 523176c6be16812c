//! What a score should sound like, as a semitone spectrum made from its notes alone: no synthesis, any tempo.

use crate::score::Score;

use super::LogSpectrum;
use super::spectrum::{BANDS, LOWEST_PITCH, compress};

/// Partials of a piano tone in semitones above the fundamental, each 0.8 of the one before.
const PARTIAL_SEMITONES: [usize; 8] = [0, 12, 19, 24, 28, 31, 34, 36];
const PARTIAL_RATIO: f32 = 0.8;
/// Decay of middle C while held; two octaves higher it is half as long.
const HELD_DECAY_S: f64 = 0.8;
/// Decay after the key is released. Longer than a damper's, because the pedal may be down.
const RELEASED_DECAY_S: f64 = 0.25;
/// A tone is drawn until it has fallen to this.
const INAUDIBLE: f64 = 0.02;

/// Renders the score's notes, re-timed by `time_of` (score seconds to output seconds) and transposed, into frames of
/// `hop_s`. Output time 0 is frame 0; notes before it are cut.
pub fn render(
    score: &Score,
    time_of: &dyn Fn(f64) -> f64,
    transposition: i32,
    hop_s: f64,
    frames: usize,
) -> LogSpectrum {
    let mut values = vec![0.0f32; frames * BANDS];
    for note in &score.notes {
        let (onset, offset) = (time_of(note.onset_s), time_of(note.offset_s));
        let held_decay = HELD_DECAY_S * 2f64.powf((60.0 - f64::from(note.pitch)) / 24.0);
        let bands = partial_bands(i32::from(note.pitch) + transposition);
        let first = (onset / hop_s).ceil().max(0.0) as usize;
        for frame in first..frames {
            let since = frame as f64 * hop_s - onset;
            let released = (frame as f64 * hop_s - offset).max(0.0);
            let level = (-(since - released) / held_decay - released / RELEASED_DECAY_S).exp();
            if level < INAUDIBLE {
                break;
            }
            let row = &mut values[frame * BANDS..(frame + 1) * BANDS];
            for &(band, amplitude) in bands.iter().flatten() {
                row[band] += amplitude * level as f32;
            }
        }
    }
    compress(&mut values);
    LogSpectrum { hop_s, values, tuning_semitones: 0.0 }
}

/// The bands that a pitch sounds in, with their amplitudes.
fn partial_bands(pitch: i32) -> [Option<(usize, f32)>; PARTIAL_SEMITONES.len()] {
    std::array::from_fn(|h| {
        let band = usize::try_from(pitch).ok()?.checked_add(PARTIAL_SEMITONES[h])?.checked_sub(LOWEST_PITCH)?;
        (band < BANDS).then(|| (band, PARTIAL_RATIO.powi(h as i32)))
    })
}
