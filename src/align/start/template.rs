//! What a score should sound like, as a semitone spectrum made from its notes alone: no synthesis, any tempo.

use super::LogSpectrum;
use super::spectrum::{BANDS, FRAME_S, LOWEST_PITCH, compress};
use crate::align::heard::Heard;
use crate::align::tone::{INAUDIBLE, held_decay_s, level, partials};
use crate::score::{Score, Take};

/// The spectrum of a take, made as a score's is: the two differ in what was played differently only.
pub fn take_spectrum(take: &Take) -> LogSpectrum {
    let frames = (take.duration_s() / FRAME_S).ceil() as usize + 1;
    render(&take.played, &|second| second, 0, FRAME_S, frames)
}

/// Renders the score's notes, re-timed by `time_of` (score seconds to output seconds) and transposed, into frames of
/// `hop_s`. Output time 0 is frame 0; notes before it are cut.
pub fn render(
    score: &Score,
    time_of: &dyn Fn(f64) -> f64,
    transposition: i32,
    hop_s: f64,
    frames: usize,
) -> LogSpectrum {
    let notes = score
        .notes
        .iter()
        .map(|note| (i32::from(note.pitch) + transposition, time_of(note.onset_s), time_of(note.offset_s)));
    of_notes(notes, hop_s, frames)
}

/// The spectrum of notes that were heard, made as a score's is: it does not depend on the timbre.
pub fn heard_spectrum(heard: &Heard, tuning_semitones: f64) -> LogSpectrum {
    let frames = (heard.frames() as f64 * Heard::step_s() / FRAME_S).ceil() as usize + 1;
    let notes = heard.notes();
    let notes = notes.iter().map(|note| (i32::from(note.pitch), note.onset_s, note.offset_s));
    LogSpectrum { tuning_semitones, ..of_notes(notes, FRAME_S, frames) }
}

/// The spectrum of notes, each with its pitch, onset and offset.
fn of_notes(notes: impl Iterator<Item = (i32, f64, f64)>, hop_s: f64, frames: usize) -> LogSpectrum {
    let mut values = vec![0.0f32; frames * BANDS];
    for (pitch, onset, offset) in notes {
        let held_decay = held_decay_s(pitch.clamp(0, 127) as u8);
        let band = usize::try_from(pitch - LOWEST_PITCH as i32);
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
