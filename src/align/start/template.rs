//! What a score should sound like, as a semitone spectrum made from its notes alone: no synthesis, any tempo.

use super::LogSpectrum;
use super::spectrum::{BANDS, LOWEST_PITCH, compress};
use crate::align::tone::{INAUDIBLE, held_decay_s, level, partials};
use crate::score::Score;

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
        let held_decay = held_decay_s(note.pitch);
        let band = usize::try_from(i32::from(note.pitch) + transposition - LOWEST_PITCH as i32);
        let bands: Vec<(usize, f32)> = band.into_iter().flat_map(|band| partials(band, BANDS)).collect();
        let first = (onset / hop_s).ceil().max(0.0) as usize;
        for frame in first..frames {
            let since = frame as f64 * hop_s - onset;
            let released = (frame as f64 * hop_s - offset).max(0.0);
            let level = level(held_decay, since, released);
            if level < INAUDIBLE {
                break;
            }
            let row = &mut values[frame * BANDS..(frame + 1) * BANDS];
            for &(band, amplitude) in &bands {
                row[band] += amplitude * level as f32;
            }
        }
    }
    compress(&mut values);
    LogSpectrum { hop_s, values, tuning_semitones: 0.0 }
}
